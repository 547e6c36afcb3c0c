"""The figures of tournaments and of threshold studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from agents.evaluation.chart import COLOURS, GREY, INK, STYLE, WIDTH, colour
from agents.evaluation.standings import Standings
from agents.evaluation.statistics import Estimate
from agents.evaluation.threshold_study import ByLives, ByTurn, Payoffs
from thirtyone_env.tally import Knock

MIN_ASKED = 20
"""A cell of a knock chart with fewer questions counts as not reached."""
MAX_TURNS = 8
"""Own turns that a knock chart shows."""
MAX_WRITTEN = 9
"""Strategies up to which a payoff matrix has its numbers written in."""


def ratings(standings: Standings) -> Figure:
    """Ratings with intervals, best on top."""
    points = [rating.points for rating in standings.ratings]
    label = f"rating, points ({standings.level:.0%} intervals)"
    return estimates(standings.names, points, label, 0)


def estimates(names: Sequence[str], values: Sequence[Estimate], label: str, digits: int) -> Figure:
    """Estimates with intervals, greatest on top, each with its number.

    Args:
        names: of the rows.
        values: of the rows.
        label: of the axis.
        digits: of the numbers, after the point.
    """
    order = np.argsort([value.mean for value in values])
    with mpl.rc_context(STYLE):
        figure, panel = _one(0.9 + 0.21 * len(order))
        for y, i in enumerate(order):
            _bar_of(panel, values[i], y, colour(0), 1.0)
            panel.annotate(
                f"{values[i].mean:+.{digits}f} ± {values[i].half:.{digits}f}",
                (1.03, y),
                xycoords=("axes fraction", "data"),
                va="center",
                fontsize=7.5,
                annotation_clip=False,
            )
        panel.axvline(0, color=INK, linewidth=1, linestyle=(0, (4, 2)))
        _names(panel, [names[i] for i in order])
        panel.set_xlabel(label)
    return figure


def _one(height: float) -> tuple[Figure, mpl.axes.Axes]:
    figure = Figure(figsize=(WIDTH, height))
    figure.set_layout_engine("constrained", h_pad=0.05)
    return figure, figure.subplots()


def _names(panel: mpl.axes.Axes, names: Sequence[str]) -> None:
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(-0.6, len(names) - 0.4)
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="x")
    panel.set_axisbelow(True)
    panel.spines["left"].set_visible(False)


def _bar_of(panel: mpl.axes.Axes, estimate: Estimate, y: float, tone: str, scale: float) -> None:
    error = [[estimate.mean - estimate.low], [estimate.high - estimate.mean]]
    panel.errorbar(
        scale * estimate.mean,
        y,
        xerr=scale * np.maximum(error, 0),
        fmt="o",
        markersize=3.6,
        color=tone,
        capsize=2.2,
        linewidth=1.2,
    )


def mixture(standings: Standings) -> Figure:
    """The unbeaten mixture and α-Rank, side by side.

    Raises:
        ValueError: where some policies did not meet.
    """
    if standings.mixture is None or standings.ranks is None:
        raise ValueError("there is no mixture where some policies did not meet")
    order = np.argsort([rating.points.mean for rating in standings.ratings])
    with mpl.rc_context(STYLE):
        figure, panel = _one(1.05 + 0.27 * len(order))
        for values, shift, label, tone in (
            (standings.mixture.shares, 0.18, "Nash mixture", COLOURS[0]),
            (standings.ranks, -0.18, "α-Rank", COLOURS[1]),
        ):
            panel.barh(
                np.arange(len(order)) + shift,
                100 * values[order],
                height=0.34,
                color=tone,
                label=label,
            )
        _names(panel, [standings.names[i] for i in order])
        panel.set_xlim(0, 100)
        panel.set_xlabel("share, %")
        figure.legend(loc="outside upper left", frameon=False, ncols=2)
    return figure


def payoff_matrix(
    labels: Sequence[str], values: np.ndarray, label: str, digits: int, middle: float = 0.0
) -> Figure:
    """Heat map of what rows get against columns; blue above the middle, red below."""
    size = len(labels)
    spread = max(float(np.nanmax(np.abs(values - middle))), 1e-9)
    with mpl.rc_context(STYLE):
        figure, panel = _one(1.2 + WIDTH * 0.72)
        panel.set_facecolor(mpl.colors.to_rgba(GREY, 0.35))
        mesh = panel.pcolormesh(
            np.ma.masked_invalid(values),
            cmap="RdBu",
            vmin=middle - spread,
            vmax=middle + spread,
        )
        ticks = np.arange(size) + 0.5
        upright = max(map(len, labels)) > 3
        panel.set_xticks(ticks, labels, rotation=90 if upright else 0)
        panel.set_yticks(ticks, labels)
        panel.set_ylim(size, 0)
        panel.tick_params(length=0)
        for spine in panel.spines.values():
            spine.set_visible(False)
        if size <= MAX_WRITTEN:
            _write_cells(panel, values, digits, middle, spread)
        panel.set_ylabel("policy" if upright else "threshold of the row")
        panel.set_xlabel("against" if upright else "against threshold")
        bar = figure.colorbar(mesh, ax=panel, location="bottom", aspect=32, pad=0.02)
        bar.set_label(label)
        bar.outline.set_visible(False)
    return figure


def _write_cells(
    panel: mpl.axes.Axes, values: np.ndarray, digits: int, middle: float, spread: float
) -> None:
    for (row, column), value in np.ndenumerate(values):
        if row == column or np.isnan(value):
            continue
        dark = abs(value - middle) > 0.6 * spread
        panel.text(
            column + 0.5,
            row + 0.5,
            f"{value:+.{digits}f}" if middle == 0 else f"{value:.{digits}f}",
            ha="center",
            va="center",
            fontsize=6.5,
            color="white" if dark else "#222222",
        )


def knock_charts(standings: Standings) -> Figure:
    """How often every policy knocked, by own turn and value."""
    asked, knocked = standings.knocks[:, Knock.ASKED], standings.knocks[:, Knock.KNOCKED]
    share = np.ma.masked_array(knocked / np.maximum(asked, 1), asked < MIN_ASKED)[:, :MAX_TURNS]
    values = np.flatnonzero((asked >= MIN_ASKED).any(axis=(0, 1)))
    low, high = (int(values.min()), int(values.max())) if values.size else (0, 31)
    columns = 3
    rows = -(-len(standings.names) // columns)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 1.0 + 1.75 * rows))
        figure.set_layout_engine("constrained", w_pad=0.02)
        panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for i, panel in enumerate(panels.flat):
            if i >= len(standings.names):
                panel.set_visible(False)
                continue
            mesh = _turns_by_value(
                panel, 100 * share[i, :, low : high + 1].T, low, "viridis", 0, 100
            )
            panel.set_title(standings.names[i], fontsize=7.5)
            if i + columns >= len(standings.names):
                panel.set_xlabel("own turn")
                panel.tick_params(labelbottom=True)
        figure.supylabel("hand value, points", fontsize=8.5)
        bar = figure.colorbar(mesh, ax=panels, location="bottom", aspect=36, pad=0.02)
        bar.set_label("knocks, % of the turns at which it was legal")
        bar.outline.set_visible(False)
    return figure


def _turns_by_value(
    panel: mpl.axes.Axes,
    cells: np.ma.MaskedArray,
    low: int,
    colours: str,
    least: float,
    most: float,
) -> mpl.collections.QuadMesh:
    rows, columns = cells.shape
    panel.set_facecolor(mpl.colors.to_rgba(GREY, 0.35))
    mesh = panel.pcolormesh(
        np.arange(columns + 1) + 0.5,
        np.arange(low, low + rows + 1) - 0.5,
        cells,
        cmap=colours,
        vmin=least,
        vmax=most,
        linewidth=0,
    )
    panel.set_xticks(range(1, columns + 1, 2))
    panel.set_yticks(range(low + low % 2, low + rows, 4 if rows > 16 else 2))
    for spine in panel.spines.values():
        spine.set_visible(False)
    return mesh


def lengths(standings: Standings) -> Figure:
    """Turns of a round and rounds of a match."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 2.0))
        figure.set_layout_engine("constrained")
        panels = figure.subplots(1, 2)
        for panel, counts, label in zip(
            panels,
            standings.lengths,
            ("turns of a round", "rounds of a match"),
            strict=True,
        ):
            share = 100 * counts / max(int(counts.sum()), 1)
            last = int(np.searchsorted(np.cumsum(share), 99.5)) + 1
            panel.bar(np.arange(last + 1), share[: last + 1], width=0.9, color=colour(0))
            panel.set_xlabel(label)
            panel.grid(axis="y")
            panel.set_axisbelow(True)
        panels[0].set_ylabel("share, %")
    return figure


# --- thresholds ----------------------------------------------------------------------------------


def threshold_matrix(payoffs: Payoffs) -> Figure:
    """Payoff matrix of thresholds; heads-up as the share of matches won where it is one."""
    labels = [f"{limit:g}" for limit in payoffs.thresholds]
    if payoffs.players == 2:
        return payoff_matrix(labels, 50 + 50 * payoffs.matrix, "matches won, %", 0, 50.0)
    return payoff_matrix(labels, payoffs.matrix, "payoff of one among copies, stakes", 2)


def threshold_mixture(payoffs: Payoffs) -> Figure:
    """The shares of the unbeaten mixture, with bootstrap intervals."""
    with mpl.rc_context(STYLE):
        figure, panel = _one(2.1)
        shares = 100 * np.array([(s.mean, s.low, s.high) for s in payoffs.shares]).T
        panel.bar(payoffs.thresholds, shares[0], width=0.7, color=colour(0))
        panel.errorbar(
            payoffs.thresholds,
            shares[0],
            yerr=[shares[0] - shares[1], shares[2] - shares[0]],
            fmt="none",
            ecolor=INK,
            capsize=2,
            linewidth=1,
        )
        panel.set_xticks(payoffs.thresholds)
        panel.set_xlabel("knock threshold, points")
        panel.set_ylabel("share of the mixture, %")
        panel.grid(axis="y")
        panel.set_axisbelow(True)
    return figure


def thresholds_by_lives(payoffs: Payoffs, lives: ByLives) -> Figure:
    """Mean threshold of the unbeaten play, by the losses that both have to go."""
    limits = np.array(payoffs.thresholds, float)
    maps = (lives.begins @ limits, (lives.other @ limits).T)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 3.0))
        figure.set_layout_engine("constrained")
        panels = figure.subplots(1, 2)
        for panel, cells, title in zip(panels, maps, ("begins", "comes second"), strict=True):
            size = len(cells)
            mesh = panel.pcolormesh(cells, cmap="viridis", vmin=limits.min(), vmax=limits.max())
            for (row, column), value in np.ndenumerate(cells):
                bright = value > (limits.min() + limits.max()) / 2
                panel.text(
                    column + 0.5,
                    row + 0.5,
                    f"{value:.1f}",
                    ha="center",
                    va="center",
                    fontsize=7.5,
                    color="black" if bright else "white",
                )
            panel.set_xticks(np.arange(size) + 0.5, [str(n + 1) for n in range(size)])
            panel.set_yticks(np.arange(size) + 0.5, [str(n + 1) for n in range(size)])
            panel.set_aspect("equal")
            panel.tick_params(length=0)
            panel.set_title(title)
            panel.set_xlabel("other's losses to go")
        panels[0].set_ylabel("own losses to go")
        bar = figure.colorbar(mesh, ax=panels, location="bottom", aspect=32, pad=0.02)
        bar.set_label("mean threshold, points")
        bar.outline.set_visible(False)
    return figure


def gains_by_turn(turns: ByTurn) -> Figure:
    """What a knock gains over going on, by own turn and value."""
    cells = np.ma.masked_invalid(turns.gain)
    values = np.flatnonzero((~np.ma.getmaskarray(cells)).any(axis=(0, 1)))
    low, high = (max(int(values.min()), 12), int(values.max())) if values.size else (12, 31)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 4.2))
        figure.set_layout_engine("constrained")
        panels = figure.subplots(1, 2, sharey=True)
        for panel, part, title in zip(panels, cells, ("begins", "comes second"), strict=True):
            mesh = _turns_by_value(panel, part[:, low : high + 1].T, low, "RdBu", -0.6, 0.6)
            panel.set_title(title)
            panel.set_xlabel("own turn in the round")
        panels[0].set_ylabel("hand value, points")
        bar = figure.colorbar(
            mesh, ax=panels, location="bottom", aspect=32, pad=0.02, extend="both"
        )
        bar.set_label("gain of knocking over going on, life swings")
        bar.outline.set_visible(False)
    return figure


def falling(curves: Mapping[str, Mapping[int, float]], label: str, axis: str) -> Figure:
    """Curves that fall towards zero, both axes logarithmic.

    Args:
        curves: by name, values above 0 by step.
        label: of the values.
        axis: of the steps.
    """
    with mpl.rc_context(STYLE):
        figure, panel = _one(2.9)
        for k, (name, curve) in enumerate(curves.items()):
            steps, values = list(curve), list(curve.values())
            look = {"marker": "o", "markersize": 3.2, "linewidth": 1.2}
            panel.loglog(steps, values, color=colour(k), label=name, **look)
        panel.grid(axis="y")
        panel.set_axisbelow(True)
        panel.set_xlabel(axis)
        panel.set_ylabel(label)
        if len(curves) > 1:
            figure.legend(loc="outside upper left", frameon=False, ncols=2)
    return figure
