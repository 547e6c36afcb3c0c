"""The learning curve as a figure: what the panel said, by steps."""

from __future__ import annotations

import csv
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from agents.evaluation.chart import GREY, STYLE, WIDTH, colour, table_name

PANEL_CURVE = "panel.csv"
HEIGHT = 2.7
"""Inches."""
Lines = dict[int, dict[str, list[float]]]
"""Shares of matches won by number of players and opponent."""


def read(path: Path) -> tuple[list[int], Lines]:
    """The steps of a `panel.csv`, and its lines."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    steps = [int(row["steps"]) for row in rows]
    lines: Lines = {}
    for name in rows[0] if rows else ():
        opponent, at, players = name.rpartition("@")
        if at:
            lines.setdefault(int(players), {})[opponent] = [float(row[name]) for row in rows]
    return steps, lines


def learning_curve(path: Path) -> Figure | None:
    """Matches won against each of the panel, a picture a size of table; None of one point alone.

    Args:
        path: `panel.csv` of a run.
    """
    if not path.exists():
        return None
    steps, lines = read(path)
    if len(steps) < 2:
        return None
    millions = [step / 1e6 for step in steps]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, HEIGHT * len(lines)))
        figure.set_layout_engine("constrained", h_pad=0.05)
        panels = figure.subplots(len(lines), 1, squeeze=False)[:, 0]
        for panel, (players, curves) in zip(panels, sorted(lines.items()), strict=True):
            for i, (opponent, rates) in enumerate(curves.items()):
                look = {"marker": "o", "markersize": 3, "linewidth": 1.3}
                won = [100 * rate for rate in rates]
                style = "-" if i < 5 else "--"
                panel.plot(millions, won, style, color=colour(i), label=opponent, **look)
            panel.axhline(100 / players, color=GREY, linewidth=1, linestyle="--", zorder=0)
            panel.set_xlim(0)
            panel.grid(axis="y")
            panel.set_axisbelow(True)
            panel.set_title(table_name(players))
            panel.set_ylabel("matches won, %")
        panels[-1].set_xlabel("million steps")
        names, handles = panels[0].get_legend_handles_labels()
        figure.legend(names, handles, loc="outside lower center", frameon=False, ncols=3)
    return figure
