"""The command `evaluate.py claims`."""

from __future__ import annotations

from dataclasses import dataclass

import tyro
from rich.console import Console

from agents.evaluation import study
from agents.evaluation.claims import report
from agents.evaluation.claims.claims import (
    Checked,
    Trial,
    Verdict,
    check,
    deals_of,
    load_all,
    open_store,
    trials_of,
)
from agents.evaluation.commands import SeveralRules, Spread
from agents.evaluation.options import Names, SeatCounts
from agents.evaluation.progress import progress

FEW = 4
"""Claims that are named where they are left out; of more the number is told."""
SHOWN_WHOLE = 3
"""Claims up to which the terminal shows every figure."""


@dataclass(frozen=True)
class ClaimsCommand(SeveralRules, Spread):
    """Check the advice of the written sources: every claim with its figures and a verdict.

    A claim is a file in configs/studies/claims that says what is measured, under which rules, and
    which figures make it true, before any is seen. Under other rules or numbers of players than
    its own it may find another verdict.
    """

    names: tyro.conf.Positional[tuple[str, ...]] = ()
    """Claims by the names of their files; all if none is named."""
    rules: Names = ()  # type: ignore[assignment]  # several
    """Presets to check under, in place of those that each claim names."""
    players: SeatCounts = ()
    """Seat counts of the tables, in place of those that each claim names."""
    deals: int | None = None
    """Deals a figure; none: what each claim says."""

    def command_line(self) -> str:
        """The command that gives the same numbers."""
        words = ["claims", *self.names, *self.common_words()]
        if self.players:
            words += ["--players", ",".join(str(size) for size in self.players)]
        if self.deals is not None:
            words += ["--deals", str(self.deals)]
        return self.joined(words)

    def __call__(self) -> int:
        """Play, print, and write what was asked for."""
        self.check_output()
        trials = trials_of(load_all(self.names), self.named_rules(), self.players)
        total = sum(deals_of(trial, self.deals) for trial in trials if not trial.refused)
        store = None
        if self.out is not None:
            store = open_store(self.out, trials, seed=self.seed, deals=self.deals)
        errors = Console(stderr=True, highlight=False, soft_wrap=True)
        with progress(errors, "claims", total, "deals") as advance:
            checked = check(
                trials,
                seed=self.seed,
                deals=self.deals,
                store=store,
                workers=self.workers,
                backend=self.where(),
                progress=advance,
            )
        if checked.verdicts:
            self.show(checked, errors)
        if checked.interrupted:
            few = len(checked.left_out) <= FEW
            left = ", ".join(checked.left_out) if few else f"{len(checked.left_out)} others"
            left = f", left out are {left}" if checked.left_out else ""
            done = f"{len(checked.verdicts)} claims are finished{left}"
            return self.stopped(done, store is not None)
        return 0

    def show(self, checked: Checked, errors: Console) -> None:
        """Print, and write the folder."""
        facts: dict[str, object] = {
            "study": "claims",
            "seed": checked.seed,
            "rules": {t.rules_name: t.rules.to_dict() for v in checked.verdicts for t in _all(v)},
            "left_out": list(checked.left_out),
        }
        tables = [report.finding_table(checked), report.verdict_table(checked)]
        whole = len(checked.verdicts) <= SHOWN_WHOLE
        details = [report.claim_table(verdict) for verdict in checked.verdicts] if whole else []
        shown = tables if self.format == "json" else [*tables, *details]
        self.print_tables(facts, shown, [])
        if self.out is None:
            return
        names = dict.fromkeys(t.rules_name for v in checked.verdicts for t in _all(v))
        made = {"Rules": ", ".join(names), "Seed": str(checked.seed)}
        if checked.left_out:
            made["Not finished"] = ", ".join(checked.left_out)
        page = study.write_study(
            self.out,
            "claims",
            title="What the rule books say",
            summary=report.summary_of(checked),
            sections=report.sections(checked),
            tables=tables,
            facts=facts,
            shown_facts=made,
            repeat=self.command_line(),
            parquet=self.format == "parquet",
        )
        errors.print(f"report: {page}", markup=False)


def _all(verdict: Verdict) -> list[Trial]:
    return [finding.trial for finding in verdict.findings] + list(verdict.refused)
