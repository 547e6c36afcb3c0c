"""Charts as pictures, as a page and as a card: heat maps by turn and value, and the figures.

One panel shows one seat and one situation (what opponents picked up, what the upcard would add);
its columns are the own turns of the round, its rows the values of the hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from agents.evaluation import chart as figures
from agents.evaluation.pages import environment
from agents.evaluation.report import rules_name
from agents.policies.files import write_bytes, write_text
from thirtyone_env.charts import AXES, Chart, ChartError

PAGE = "chart.html"
CARD = "card.md"
PICTURED = (2, 4)
"""Numbers of players whose pictures a card shows."""
RECIPE = (
    "seed",
    "bank",
    "batch",
    "passes",
    "tremble",
    "rate",
    "temperature",
    "final_temperature",
    "cooled",
    "averaged",
    "shape",
    "fit_rounds",
    "score_rounds",
    "table_rounds",
)
"""What of the recipe a card shows; the axes say the rest."""
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
    acts = ["", "one taken earlier", f"after {act}"]
    if chart.axes.pick_ups < len(acts):
        del acts[1]
    names = [f"{card} adds\nnothing" if edges else ""]
    for low, high in zip(edges, [*edges[1:], None], strict=True):
        step = chart.axes.value_step
        least = -(-low // step) * step / 2
        to = "or more" if high is None else f"to {(high - 1) // step * step / 2:g}"
        names.append(f"{card} adds\n{least:g} {to}")
    result = []
    for pick_up in range(chart.axes.pick_ups):
        for gain, name in enumerate(names):
            result.append((pick_up, gain, f"{name}\n{acts[pick_up]}"))
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
    shown = {players: f"chart_{players}.png" for players in pictured(chart)}
    measured_chart = replace(chart, card={**chart.card, "figures": list(measured)})
    write_text(folder / CARD, card(measured_chart, f"# {chart.name}", shown))
    return folder / PAGE


def pictured(chart: Chart) -> list[int]:
    """The numbers of players whose pictures a card shows."""
    return [size for size in PICTURED if size in chart.players] or [chart.players[0]]


def card(chart: Chart, heading: str, pictures: Mapping[int, str]) -> str:
    """What a chart is, how it was learned, how good it is and how it looks, as Markdown.

    Args:
        chart: the chart, with its recipe and figures in its card.
        heading: the first line.
        pictures: links to pictures, by number of players.
    """
    recipe, figures_ = chart.card.get("recipe", {}), chart.card.get("figures", ())
    sizes = " to ".join(str(size) for size in dict.fromkeys((chart.players[0], chart.players[-1])))
    axes = ", ".join(
        f"{name.replace('_', ' ')} {length}"
        for name, length in zip(AXES, chart.axes.shape, strict=True)
        if length > 1
    )
    lines = [
        heading,
        "",
        f"When to knock at tables of {sizes} players; draws and discards by `{chart.draws}`. "
        f"{chart.axes.size:,} cells: {axes}.",
        "",
        "| rules | |",
        "| --- | --- |",
        *(f"| `{name}` | {_plain(value)} |" for name, value in chart.rules.to_dict().items()),
        "",
        "| recipe | |",
        "| --- | --- |",
        *(f"| `{name}` | {_plain(recipe[name])} |" for name in RECIPE if name in recipe),
    ]
    if figures_:
        lines += [
            "",
            "Lives a round, 95 % intervals: what the best fitted answer gains, and what the chart "
            "gains against the hardest of the fixed thresholds 17 … 31, alone among them and as "
            "the field.",
            "",
            "| players | answered by | alone among thresholds | as the field |",
            "| --- | --- | --- | --- |",
            *(_figures_line(each) for each in figures_),
        ]
    for size, link in pictures.items():
        lines += ["", f"![How often {chart.name} knocks, {size} players]({link})"]
    return "\n".join(lines) + "\n"


def _plain(value: Any) -> str:
    """A rule or an option as a card says it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value)) or "none"
    if value is None or value in ("", {}):
        return "none"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _figures_line(measured: Mapping[str, Any]) -> str:
    def told(estimate: Sequence[float]) -> str:
        mean, low, high = estimate
        return f"{mean:.4f} ({low:.4f} … {high:.4f})"

    cells = [str(measured["players"]), told(measured["exploitability"])]
    for key in ("alone_among_threshold", "field_against_threshold"):
        name, estimate = worst(measured[key])
        cells.append(f"{name}: {told(estimate)}")
    return f"| {' | '.join(cells)} |"


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
