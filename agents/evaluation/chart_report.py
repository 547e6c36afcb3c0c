"""Charts as pictures and as a page: heat maps by turn and value, differences, and the figures.

One panel shows one seat and one situation (whether an opponent picked up, what the upcard would
add); its columns are the own turns of the round, its rows the values of the hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from agents.evaluation import chart as figures
from agents.evaluation.pages import environment
from agents.evaluation.report import rules_name
from agents.policies.files import write_bytes, write_text
from thirtyone_env.charts import Chart, ChartError

PAGE = "chart.html"
LOWEST_SHOWN = 30
"""Half points of the lowest hand that is drawn; below it a chart hardly ever knocks."""


def picture(chart: Chart, players: int, lives: tuple[int, int] = (1, 1)) -> Figure:
    """Heat map of how often a chart knocks, one panel a feature.

    Args:
        chart: the chart.
        players: one of its numbers of players.
        lives: own and other losses to go, where the chart tells them apart.
    """
    shares = _shares(chart, players, lives)
    return _panels(chart, players, 100 * shares, "viridis", (0, 100), "knocks, %")


def difference(chart: Chart, other: Chart, players: int) -> Figure:
    """Heat map of how much more often one chart knocks than another one.

    Raises:
        ChartError: if the two have other axes.
    """
    if chart.axes != other.axes:
        raise ChartError(f"{chart.name} and {other.name} have other axes: they cannot be compared")
    less = _shares(chart, players, (1, 1)) - _shares(other, players, (1, 1))
    label = f"knocks more than {other.name}, percentage points"
    return _panels(chart, players, 100 * less, "RdBu_r", (-100, 100), label)


def _shares(chart: Chart, players: int, lives: tuple[int, int]) -> np.ndarray:
    """float64[seats, turns, pick-ups, gains, values] of one number of players."""
    table = chart.probabilities[chart.players.index(players)]
    shares: np.ndarray = table[lives[0] - 1, lives[1] - 1][:players]
    return shares


def _situations(chart: Chart) -> list[tuple[int, int, str]]:
    """Pick-up and gain of every column of panels, with its heading."""
    edges = chart.axes.gains
    exchange = chart.rules.family == "exchange"
    card, act = ("exchange", "an exchange") if exchange else ("upcard", "a pick-up")
    names = [f"{card} adds\nnothing" if edges else ""]
    for low, high in zip(edges, [*edges[1:], None], strict=True):
        step = chart.axes.value_step
        least = -(-low // step) * step / 2
        to = "or more" if high is None else f"to {(high - 1) // step * step / 2:g}"
        names.append(f"{card} adds\n{least:g} {to}")
    result = []
    for pick_up in range(chart.axes.pick_ups):
        for gain, name in enumerate(names):
            result.append((pick_up, gain, name + (f"\nafter {act}" if pick_up else "\n")))
    return result


def _panels(
    chart: Chart,
    players: int,
    shares: np.ndarray,
    colours: str,
    limits: tuple[int, int],
    label: str,
) -> Figure:
    first = max(0, (LOWEST_SHOWN - chart.axes.first_value) // chart.axes.value_step)
    points = chart.axes.points[first:]
    step = chart.axes.value_step / 4
    turns, situations = chart.axes.turns, _situations(chart)
    with mpl.rc_context({**figures.STYLE, "axes.titleweight": "normal", "axes.titlesize": 7.5}):
        size = (1.1 + 1.05 * len(situations), 1.3 + 1.55 * len(shares))
        figure = Figure(figsize=size)
        figure.set_layout_engine("constrained", w_pad=0.02, h_pad=0.02)
        grid = figure.subplots(
            len(shares), len(situations), sharex=True, sharey=True, squeeze=False
        )
        for seat, row in enumerate(grid):
            for panel, (pick_up, gain, heading) in zip(row, situations, strict=True):
                mesh = panel.pcolormesh(
                    np.arange(turns + 1) + 0.5,
                    np.append(points - step, points[-1] + step),
                    shares[seat, :, pick_up, gain, first:].T,
                    cmap=colours,
                    vmin=limits[0],
                    vmax=limits[1],
                    linewidth=0,
                )
                panel.set_xticks(range(1, turns + 1))
                panel.set_yticks([value for value in range(15, 32) if value % 5 == 0])
                for spine in panel.spines.values():
                    spine.set_visible(False)
                if seat == 0:
                    panel.set_title(heading, loc="center")
            row[0].set_ylabel(f"place {seat + 1}\nhand, points", fontsize=7.5)
        figure.supxlabel("own turn in the round (the last column: and later)", fontsize=8)
        bar = figure.colorbar(mesh, ax=grid, location="right", aspect=30, pad=0.015)
        bar.set_label(label)
        bar.outline.set_visible(False)
    return figure


def write(
    chart: Chart,
    folder: Path,
    measured: Sequence[Mapping[str, Any]] = (),
    *,
    facts: Mapping[str, str] | None = None,
    compare: Chart | None = None,
) -> Path:
    """Write the pictures and the page into an existing folder.

    Args:
        chart: the chart.
        folder: where `chart.html`, `chart_N.png` and `.svg`, `difference_N.png` go.
        measured: the figures of each number of players, as in the chart's card.
        facts: further lines of "how it was made", by their label.
        compare: a chart to show the differences from.

    Returns:
        The path of the page.
    """
    drawings = []
    for players in chart.players:
        name = f"{players} players, {chart.name}"
        drawings.append((f"chart_{players}", name, picture(chart, players)))
        if compare is not None:
            drawing = difference(chart, compare, players)
            drawings.append((f"difference_{players}", f"{name} less {compare.name}", drawing))
    pictures = []
    for file, name, drawing in drawings:
        write_bytes(folder / f"{file}.png", figures.png(drawing))
        write_text(folder / f"{file}.svg", figures.svg_file(drawing))
        pictures.append((name, figures.inline_svg(drawing, file)))
    page = (
        environment()
        .get_template(PAGE)
        .render(
            title=f"Knock chart: {chart.name}",
            summary=_summary(chart, measured),
            rows=[_row(each) for each in measured],
            tables=[(each["players"], _lines(each)) for each in measured],
            pictures=pictures,
            facts={
                "Rules": rules_name(chart.rules),
                "Draws and discards": chart.draws,
                "Cells": f"{chart.axes.size:,}",
                **(facts or {}),
            },
            repeat=None,
        )
    )
    write_text(folder / PAGE, page)
    return folder / PAGE


def number(estimate: Sequence[float]) -> tuple[str, str]:
    """A mean and its interval as text, in lives a round."""
    mean, low, high = estimate
    return f"{mean:+.4f}", f"{low:+.4f} … {high:+.4f}"


def worst(table: Mapping[str, Sequence[float]]) -> tuple[str, Sequence[float]]:
    """The threshold with the lowest lower end."""
    name = min(table, key=lambda each: table[each][1])
    return name, table[name]


def _row(measured: Mapping[str, Any]) -> tuple[str, ...]:
    cells = [str(measured["players"]), *number(measured["exploitability"])]
    for key in ("alone_among_threshold", "field_against_threshold"):
        name, estimate = worst(measured[key])
        cells.append(f"{name}: {number(estimate)[0]}")
    return tuple(cells)


def _lines(measured: Mapping[str, Any]) -> list[tuple[str, ...]]:
    alone, field = measured["alone_among_threshold"], measured["field_against_threshold"]
    return [(name, *number(alone[name]), *number(field[name])) for name in alone]


def _summary(chart: Chart, measured: Sequence[Mapping[str, Any]]) -> str:
    if not measured:
        return "Not measured."
    keys = ("alone_among_threshold", "field_against_threshold")
    beaten = sum(worst(each[key])[1][1] > 0 for each in measured for key in keys)
    whole = "every" if beaten == 2 * len(measured) else "not every"
    gains = [each["exploitability"][2] for each in measured]
    return (
        f"It beats {whole} fixed threshold, alone among them and as the field, at "
        f"{chart.players[0]} to {chart.players[-1]} players; a best response fitted within its "
        f"own information gains at most {max(gains):.4f} lives a round (upper ends of intervals)."
    )
