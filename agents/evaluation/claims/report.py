"""Tables and figures of claims: one source for the terminal, the page and the files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure as Drawing

from agents.evaluation.chart import COLOURS, GREY, INK, STYLE, WIDTH
from agents.evaluation.claims.claims import RISK, Checked, Finding, Trial, Verdict
from agents.evaluation.claims.experiments import Unit
from agents.evaluation.statistics import LEVEL
from agents.evaluation.study import Picture, Section
from agents.evaluation.tables import Column, DataTable, Kind

UNITS: dict[Unit, str] = {
    "share": "share",
    "lives": "lives a round",
    "turns": "own turns",
    "times": "times as much",
}
KINDS: dict[Unit, Kind] = {
    "share": "percent",
    "lives": "signed",
    "turns": "number",
    "times": "number",
}
TONES = {"yes": COLOURS[0], "no": COLOURS[1], "open": GREY}
NOTE = (
    f"Intervals are {LEVEL:.0%}, clustered by deal. An answer is yes or no where the figure lies "
    "on one side of the limit beyond chance, adjusted for all figures of the run (Holm): the "
    f"chance of a single wrong answer among them is at most {RISK:.0%}."
)
EXPLANATIONS = {
    "true": "the figure is on the claim's side of the limit everywhere",
    "false": "it is on the other side everywhere",
    "depends": "on one side here, on the other there",
    "undecided": "some figures are too close to the limit to say",
    "does not apply": "it says nothing about these rules",
}


ON_PAGE = 4
"""Columns of the table of verdicts that a page shows."""


def number(unit: Unit, value: float) -> str:
    """A figure or limit as people read it."""
    return Column("", "", "", KINDS[unit]).show(value)


def limit_of(trial: Trial) -> str:
    """What the claim needs the figure to be."""
    case = trial.case
    side = "above" if case.above is not None else "below"
    unit = case.experiment.unit
    plain = f"{100 * case.limit:g} %" if unit == "share" else f"{case.limit:g}"
    return f"{side} {plain}"


def title_of(trial: Trial) -> str:
    """Which figure of its claim a trial is."""
    parts = [trial.case.name, f"{trial.players} players", trial.rules_name]
    return ", ".join(part for part in parts if part)


def main_figures(verdict: Verdict) -> str:
    """The span of a claim's figures, with the limit where all cases have one."""
    found = [(f, f.figure) for f in verdict.findings if f.figure is not None]
    if not found:
        return "–"
    unit = found[0][0].unit
    means = sorted(figure.mean for _, figure in found)
    low, high = number(unit, means[0]), number(unit, means[-1])
    span = low if low == high else f"{low} … {high}"
    limits = {limit_of(finding.trial) for finding, _ in found}
    return f"{span}, {UNITS[unit]}" + (f" ({limits.pop()}?)" if len(limits) == 1 else "")


def verdict_table(checked: Checked) -> DataTable:
    """One row a claim."""
    columns = (
        Column("verdict", "verdict", "word", "text"),
        Column("text", "advice", "text", "text"),
        Column("details", "on what", "text", "text"),
        Column("figures", "figures", "least and greatest mean", "text", wide=True),
        Column("claim", "claim", "name", "text", wide=True),
        Column("source", "source", "text", "text", wide=True),
        Column("test", "read as", "text", "text", wide=True),
    )
    rows = tuple(
        (
            verdict.word,
            verdict.claim.text,
            verdict.details,
            main_figures(verdict),
            verdict.claim.name,
            verdict.claim.source,
            verdict.claim.test,
        )
        for verdict in checked.verdicts
    )
    return DataTable("verdicts", "Verdicts", columns, rows, NOTE)


def finding_table(checked: Checked) -> DataTable:
    """Every figure as a number, for files."""
    columns = (
        Column("claim", "claim", "name", "text"),
        Column("case", "case", "name", "text"),
        Column("rules", "rules", "preset", "text"),
        Column("players", "players", "seats", "count"),
        Column("unit", "unit", "what the figure counts", "text"),
        Column("figure", "figure", "see unit", "number", interval=True),
        Column("error", "standard error", "see unit"),
        Column("above", "above", "see unit; what the claim says"),
        Column("below", "below", "see unit; what the claim says"),
        Column("answer", "answer", "yes, no, open, or does not apply", "text"),
        Column("chance", "adjusted chance", "probability"),
        Column("deals", "deals", "deals that had something to say", "count"),
        Column("observations", "observations", "hands, decisions or rounds", "count"),
        Column("note", "note", "text", "text"),
    )
    rows: list[tuple[Any, ...]] = [
        (
            *_trial_cells(finding.trial),
            finding.figure.interval() if finding.figure else None,
            finding.figure.error if finding.figure else None,
            finding.trial.case.above,
            finding.trial.case.below,
            finding.answer,
            finding.chance,
            finding.figure.deals if finding.figure else 0,
            finding.figure.observations if finding.figure else 0,
            finding.figure.note if finding.figure else "too few deals had such a moment",
        )
        for verdict in checked.verdicts
        for finding in verdict.findings
    ]
    rows += [
        (*_trial_cells(trial), None, None, trial.case.above, trial.case.below)
        + ("does not apply", None, 0, 0, trial.refused)
        for verdict in checked.verdicts
        for trial in verdict.refused
    ]
    return DataTable("findings", "Figures", columns, tuple(rows), data=True)


def _trial_cells(trial: Trial) -> tuple[str, str, str, int, str]:
    unit = UNITS[trial.case.experiment.unit]
    return trial.claim.name, trial.case.name, trial.rules_name, trial.players, unit


def claim_table(verdict: Verdict, screen: bool = False) -> DataTable:
    """The figures of one claim."""
    trials = [finding.trial for finding in verdict.findings] + list(verdict.refused)
    unit = trials[0].case.experiment.unit
    columns = (
        Column("case", "case", "name", "text"),
        Column("players", "players", "seats", "count"),
        Column("rules", "rules", "preset", "text"),
        Column("figure", UNITS[unit], UNITS[unit], KINDS[unit], interval=True),
        Column("limit", "claimed", "limit", "text"),
        Column("answer", "answer", "yes, no, open, or does not apply", "text"),
        Column("observations", "counted", "hands, decisions or rounds", "count"),
        Column("note", "", "text", "text", wide=not screen),
    )
    rows: tuple[tuple[Any, ...], ...] = tuple(
        (
            finding.trial.case.name or "–",
            finding.trial.players,
            finding.trial.rules_name,
            finding.figure.interval() if finding.figure else None,
            limit_of(finding.trial),
            finding.answer,
            finding.figure.observations if finding.figure else 0,
            finding.figure.note if finding.figure else "too few such moments",
        )
        for finding in verdict.findings
    )
    rows += tuple(
        (trial.case.name or "–", trial.players, trial.rules_name, None, limit_of(trial))
        + ("does not apply", 0, trial.refused)
        for trial in verdict.refused
    )
    note = f"{verdict.claim.test} Source: {verdict.claim.source}."
    refused = sorted({f"{title_of(t)}: {t.refused}" for t in verdict.refused})
    if refused:
        note += f" Does not apply: {'; '.join(refused)}."
    return DataTable(verdict.claim.name, verdict.claim.text, columns, rows, note)


def summary_of(checked: Checked) -> list[str]:
    """The verdicts in sentences."""
    lines = []
    for word, explanation in EXPLANATIONS.items():
        names = [verdict.claim.text for verdict in checked.verdicts if verdict.word == word]
        if names:
            count = f"{len(names)} of {len(checked.verdicts)}"
            lines.append(f"{word.capitalize()}, {count} ({explanation}): {' '.join(names)}")
    return lines


def forest(verdict: Verdict) -> Drawing:
    """Every figure of a claim with its interval, and the limits."""
    findings = [finding for finding in verdict.findings if finding.figure is not None]
    with mpl.rc_context(STYLE):
        figure = Drawing(figsize=(WIDTH, 0.75 + 0.19 * len(findings)))
        figure.set_layout_engine("constrained", h_pad=0.05)
        _draw(figure.subplots(), findings, names=True)
    return figure


def _draw(panel: mpl.axes.Axes, findings: Sequence[Finding], *, names: bool) -> None:
    scale = 100 if findings[0].unit == "share" else 1
    for y, finding in enumerate(findings):
        assert finding.figure is not None
        estimate = finding.figure.interval()
        limit = finding.trial.case.limit
        panel.plot([scale * limit] * 2, [y - 0.5, y + 0.5], color=INK, linewidth=1)
        panel.errorbar(
            scale * estimate.mean,
            y,
            xerr=[[scale * estimate.half]] * 2,
            fmt={"yes": "o", "no": "s", "open": "D"}[finding.answer],
            markersize=3.4,
            color=TONES[finding.answer],
            markerfacecolor="none" if finding.answer == "open" else TONES[finding.answer],
            capsize=0,
            linewidth=1.3,
        )
    labels = [title_of(finding.trial) for finding in findings] if names else []
    panel.set_yticks(range(len(findings)) if names else [], labels)
    panel.set_ylim(len(findings) - 0.4, -0.6)
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="x")
    panel.set_axisbelow(True)
    panel.spines["left"].set_visible(False)
    unit = findings[0].unit
    panel.set_xlabel("%" if unit == "share" else UNITS[unit])


def overview(checked: Checked) -> Drawing:
    """All claims side by side, one panel each."""
    shown = [v for v in checked.verdicts if any(f.figure is not None for f in v.findings)]
    columns = 2
    rows = (len(shown) + columns - 1) // columns
    with mpl.rc_context(STYLE):
        figure = Drawing(figsize=(2 * WIDTH, 0.5 + 1.5 * rows))
        figure.set_layout_engine("constrained", h_pad=0.08, w_pad=0.12)
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for panel, verdict in zip(panels, shown, strict=False):
            _draw(panel, [f for f in verdict.findings if f.figure is not None], names=False)
            panel.set_title(f"{_short(verdict.claim.text)}\n{verdict.word}", fontsize=8)
        for panel in panels[len(shown) :]:
            panel.set_visible(False)
        handles = [
            mpl.lines.Line2D([], [], color=TONES["yes"], marker="o", label="as claimed"),
            mpl.lines.Line2D([], [], color=TONES["no"], marker="s", label="the other way"),
            mpl.lines.Line2D([], [], color=GREY, marker="D", markerfacecolor="none", label="open"),
            mpl.lines.Line2D([], [], color=INK, label="limit that the claim was given"),
        ]
        figure.legend(handles=handles, loc="outside upper left", frameon=False, ncols=4)
    return figure


def _short(text: str) -> str:
    return text if len(text) <= 58 else text[: text.rindex(" ", 0, 57)] + " …"


def sections(checked: Checked) -> list[Section]:
    """The page: verdicts, then every claim."""
    table = verdict_table(checked)
    short = replace(  # what is left out stands with each claim
        table,
        columns=table.columns[:ON_PAGE],
        rows=tuple(row[:ON_PAGE] for row in table.rows),
    )
    found = [Section("Verdicts", [short])]
    for verdict in checked.verdicts:
        pictures = []
        if any(finding.figure is not None for finding in verdict.findings):
            caption = "Black: the limit. Blue: as claimed; orange: the other way; grey: open."
            pictures = [Picture(verdict.claim.name, forest(verdict), caption)]
        title = f"{verdict.claim.text} {verdict.word.capitalize()}."
        found.append(Section(title, [claim_table(verdict)], pictures))
    return found
