"""The figures: win rates with intervals, and the knock chart.

Figures are made without pyplot, so that drawing leaves no state behind, and narrow enough to be
read on a phone without zooming. An SVG takes its text colour from the page around it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from agents.evaluation.benchmark import Benchmark, Row

MIN_DECISIONS = 10
"""A cell of the knock chart with fewer decisions counts as not reached."""
MAX_COLUMNS = 12
"""Own turns shown in the knock chart."""
MAX_LEAD = 34
"""Percentage points above par that the win-rate plot shows; a better rate is an arrow at its edge,
so that one helpless opponent does not take the room of all others."""
WIDTH = 4.4
"""Inches."""
HEAD = 0.25
"""Inches, of the line that says whose picture it is."""
DPI = 220

# Stand-ins for colours that the page chooses; see `svg`.
INK, LINE = "#101112", "#d0d1d2"
GREY = "#9b9b9b"
COLOURS = ("#2a78b5", "#d1661f", "#2e8b57", "#8a5bb0", "#b5872a")
STYLE: Any = {
    "font.size": 8.5,
    "font.family": "DejaVu Sans",
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "axes.labelcolor": INK,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": LINE,
    "grid.linewidth": 0.7,
    "svg.fonttype": "path",
    "svg.hashsalt": "thirtyone",
    "path.simplify": False,
}


def percent(share: float, digits: int = 1) -> str:
    """A share as a percentage, "54.3 %"; the one way numbers are written in tables and plots."""
    return f"{100 * share:.{digits}f} %"


def table_name(players: int) -> str:
    """What a table of this size is called."""
    return "Heads-up" if players == 2 else f"One of {players}"


def win_rates(benchmark: Benchmark) -> Figure:
    """Win rate against every opponent, with intervals and the par line; one panel a seat count."""
    sizes = sorted({row.players for row in benchmark.rows})
    policies = list(dict.fromkeys(row.policy for row in benchmark.rows))
    opponents = list(dict.fromkeys(row.opponent for row in benchmark.rows))
    lines = len(opponents) * max(1.0, 0.62 * len(policies))
    with mpl.rc_context(STYLE):
        height = 0.75 + HEAD + len(sizes) * (0.62 + 0.2 * lines)
        figure = Figure(figsize=(WIDTH, height))
        figure.set_layout_engine("constrained", h_pad=0.06)
        panels = figure.subplots(len(sizes), 1, squeeze=False)[:, 0]
        for panel, size in zip(panels, sizes, strict=True):
            rows = [row for row in benchmark.rows if row.players == size]
            _win_rate_panel(panel, rows, policies, opponents)
            panel.set_title(f"{table_name(size)} (par {percent(1 / size, 0)})")
        panels[-1].set_xlabel(
            f"matches won, % ({benchmark.level:.0%} intervals{_deals(benchmark)})"
        )
        if len(policies) == 1:
            _head(figure, policies[0])
        else:
            handles = [Patch(color=colour(i), label=name) for i, name in enumerate(policies)]
            figure.legend(handles=handles, loc="outside upper left", frameon=False, ncols=2)
    return figure


def _head(figure: Figure, policy: str) -> None:
    """Whose picture it is, above everything."""
    figure.suptitle(policy, x=0.01, ha="left", fontsize=9, fontweight="bold")


def _deals(benchmark: Benchmark) -> str:
    """How many deals a pairing had, if all had as many."""
    deals = {row.deals for row in benchmark.rows}
    return f", {deals.pop():,} deals a pairing" if len(deals) == 1 else ""


def _win_rate_panel(
    panel: mpl.axes.Axes, rows: Sequence[Row], policies: Sequence[str], opponents: Sequence[str]
) -> None:
    spread = 0.6 / len(policies)
    low = min([100 * row.win_rate_low for row in rows] + [100 * rows[0].par]) - 2
    high = min(101, max(100 * row.win_rate_high for row in rows) + 2)
    if len(policies) == 1:
        high = min(high, 100 * rows[0].par + MAX_LEAD)
    for row in rows:
        i = policies.index(row.policy)
        y = opponents.index(row.opponent) + (i - (len(policies) - 1) / 2) * spread
        if 100 * row.win_rate > high:
            panel.plot(high, y, ">", markersize=5, color=colour(i), clip_on=False)
            _write_rate(panel, row, y)
            continue
        error = [[row.win_rate - row.win_rate_low], [row.win_rate_high - row.win_rate]]
        tone = colour(i) if row.verdict == "above" else GREY
        panel.errorbar(
            100 * row.win_rate,
            y,
            xerr=100 * np.maximum(error, 0),
            fmt={"above": "o", "at": "D", "below": "s"}[row.verdict],
            markersize=3.6,
            color=tone,
            markerfacecolor=tone if row.verdict == "above" else "none",
            capsize=2.2,
            linewidth=1.2,
        )
        if len(policies) == 1:
            _write_rate(panel, row, y)
    panel.axvline(100 * rows[0].par, color=INK, linewidth=1, linestyle=(0, (4, 2)))
    panel.set_yticks(range(len(opponents)), opponents)
    panel.set_ylim(len(opponents) - 0.4, -0.6)
    panel.tick_params(axis="y", length=0)
    panel.set_xlim(max(0, low), high)
    panel.grid(axis="x")
    panel.set_axisbelow(True)
    panel.spines["left"].set_visible(False)


def _write_rate(panel: mpl.axes.Axes, row: Row, y: float) -> None:
    """The numbers, in a column at the right."""
    half = (row.win_rate_high - row.win_rate_low) / 2
    panel.annotate(
        f"{100 * row.win_rate:.1f} ± {100 * half:.1f}",
        (1.04, y),
        xycoords=("axes fraction", "data"),
        va="center",
        fontsize=7.5,
        annotation_clip=False,
    )


def knock_chart(benchmark: Benchmark, policy: str) -> Figure:
    """Heat map of how often it knocks, by own turn and hand value; one panel a seat count.

    A cell is the mean over the opponents, each counting alike, of the share of decisions that were
    knocks. Opponents against which it was there fewer than `MIN_DECISIONS` times are left out; a
    cell without any is grey.

    Raises:
        ValueError: if the policy decided nothing: bots of the kernel have no chart.
    """
    sizes = sorted({size for name, size, _ in benchmark.knocks if name == policy})
    shares = {size: knock_shares(benchmark, policy, size) for size in sizes}
    shares = {size: share for size, share in shares.items() if not share.mask.all()}
    if not shares:
        raise ValueError(f"{policy} made too few knock decisions for a chart")
    return share_panels(shares, name=policy)


def share_panels(
    shares: Mapping[int, np.ma.MaskedArray],
    *,
    name: str = "",
    colours: str = "viridis",
    limits: tuple[float, float] = (0, 100),
    label: str = "knocks, % of decisions",
) -> Figure:
    """Heat maps by own turn and hand value, one panel a seat count.

    Args:
        shares: float64[turns, values] by seat count, masked where it never was; one at least has a
            cell that is not.
        name: whose they are, if it is to be said.
        colours: name of the colour map.
        limits: percentages at its ends.
        label: what the colours mean.
    """
    reached = np.any([~share.mask for share in shares.values()], axis=0)
    turns, values = (np.flatnonzero(np.any(reached, axis=a)) for a in (1, 0))
    columns = int(min(MAX_COLUMNS, turns.max() + 1))
    low, high = int(values.min()), int(values.max())
    with mpl.rc_context(STYLE):
        height = 1.35 + (HEAD if name else 0) + 0.148 * (high - low + 1)
        figure = Figure(figsize=(WIDTH, height))
        figure.set_layout_engine("constrained", w_pad=0.03)
        if name:
            _head(figure, name)
        panels = figure.subplots(1, len(shares), sharey=True, squeeze=False)[0]
        for panel, (size, share) in zip(panels, shares.items(), strict=True):
            mesh = _heat_map(panel, share[:columns, low : high + 1].T, low, colours, limits)
            panel.set_title(table_name(size))
            panel.set_xlabel("own turn in the round")
        panels[0].set_ylabel("hand value, points")
        bar = figure.colorbar(mesh, ax=panels, location="bottom", aspect=32, pad=0.02)
        bar.set_label(label)
        bar.outline.set_visible(False)
        grey = Patch(
            facecolor=GREY, alpha=0.35, label=f"not reached (under {MIN_DECISIONS} decisions)"
        )
        figure.legend(handles=[grey], loc="outside lower left", frameon=False, fontsize=7.5)
    return figure


def knock_shares(benchmark: Benchmark, policy: str, players: int) -> np.ma.MaskedArray:
    """The numbers of the knock chart: float64[turns, values], masked where it never was."""
    counts = [
        c for (name, size, _), c in benchmark.knocks.items() if (name, size) == (policy, players)
    ]
    decisions = np.array([c.decisions for c in counts])
    knocks = np.array([c.knocks for c in counts])
    few = decisions < MIN_DECISIONS
    share: np.ma.MaskedArray = np.ma.masked_array(knocks / np.maximum(decisions, 1), mask=few)
    return np.ma.masked_array(share.mean(axis=0), mask=few.all(axis=0))


def _heat_map(
    panel: mpl.axes.Axes,
    share: np.ma.MaskedArray,
    low: int,
    colours: str,
    limits: tuple[float, float],
) -> QuadMesh:
    """Draw shares [values, turns], the first row being the value `low`."""
    rows, columns = share.shape
    panel.set_facecolor(mpl.colors.to_rgba(GREY, 0.35))
    mesh = panel.pcolormesh(
        np.arange(columns + 1) + 0.5,
        np.arange(low, low + rows + 1) - 0.5,
        100 * share,
        cmap=colours,
        vmin=limits[0],
        vmax=limits[1],
        edgecolors="none",
        linewidth=0,
    )
    panel.set_xticks(range(1, columns + 1, 1 if columns <= 6 else 2))
    panel.set_yticks([value for value in range(low, low + rows) if value % 2 == 0])
    for spine in panel.spines.values():
        spine.set_visible(False)
    return mesh


def svg(figure: Figure) -> str:
    """The figure as an SVG element; text and lines take the colours of the page around it."""
    text = io.StringIO()
    with mpl.rc_context(STYLE):
        figure.savefig(text, format="svg", facecolor="none", metadata={"Date": None})
    body = text.getvalue()
    body = re.sub(r"<metadata>.*?</metadata>", "", body[body.index("<svg") :], flags=re.DOTALL)
    return body.replace(INK, "currentColor").replace(LINE, "var(--line, #d0d0d0)")


def svg_file(figure: Figure) -> str:
    """The figure as an SVG file of its own, black on white."""
    text = io.StringIO()
    with mpl.rc_context(STYLE):
        figure.savefig(text, format="svg", facecolor="white", metadata={"Date": None})
    return text.getvalue()


def png(figure: Figure) -> bytes:
    """The figure as a PNG file, black on white."""
    data = io.BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(data, format="png", dpi=DPI, facecolor="white", metadata={"Software": ""})
    return data.getvalue()


def inline_svg(figure: Figure, name: str) -> str:
    """The figure for a page that holds several: ids made unlike those of other figures."""
    body = svg(figure)
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = re.sub(r'href="#', f'href="#{name}-', body)
    return re.sub(r"url\(#", f"url(#{name}-", body)


def colour(i: int) -> str:
    """The i-th colour, from the first again after the last."""
    return COLOURS[i % len(COLOURS)]
