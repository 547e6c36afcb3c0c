"""The command `evaluate.py claims`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field

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
    trials_of,
)
from agents.evaluation.commands import INTERRUPTED, StudyCommand, check_format
from agents.evaluation.options import HouseRules, Names, SeatCounts, joined, rules_of
from agents.evaluation.progress import progress
from thirtyone_env import Rules

SHOWN_WHOLE = 3
"""Claims up to which the terminal shows every figure."""


@dataclass(frozen=True)
class ClaimsCommand(StudyCommand):
    """Check the advice of the written sources: every claim with its figures and a verdict.

    A claim is a file in configs/studies/claims that says what is measured, under which rules, and
    which figures make it true, before any is seen. Under other rules or numbers of players than
    its own it may find another verdict.
    """

    names: tyro.conf.Positional[tuple[str, ...]] = ()
    """Claims by the names of their files; all if none is named."""
    rules: Names = ()  # type: ignore[assignment]  # several, unlike other studies
    """Presets to check under, in place of those that each claim names."""
    house_rules: HouseRules = field(default_factory=dict)
    """Fields of the rules that differ from the presets; `rules` must be given."""
    players: SeatCounts = ()
    """Seat counts of the tables, in place of those that each claim names."""
    deals: int | None = None
    """Deals a figure; none: what each claim says."""

    def command_line(self) -> str:
        """The command that gives the same numbers."""
        words = ["claims", *self.names, "--seed", str(self.seed)]
        if self.rules:
            words += ["--rules", ",".join(self.rules)]
        if self.house_rules:
            words += ["--house-rules", joined(self.house_rules)]
        if self.players:
            words += ["--players", ",".join(str(size) for size in self.players)]
        if self.deals is not None:
            words += ["--deals", str(self.deals)]
        return f"python evaluate.py {shlex.join(words)}"

    def named_rules(self) -> list[tuple[str, Rules]]:
        """The rule sets that were asked for, by what tables call them.

        Raises:
            ConfigError: if they do not exist or do not fit together.
        """
        if self.house_rules and not self.rules:
            raise ValueError("--house-rules needs --rules: the presets that they change")
        more = f" with {joined(self.house_rules)}" if self.house_rules else ""
        return [(f"{name}{more}", rules_of(name, self.house_rules)) for name in self.rules]

    def __call__(self) -> int:
        """Play, print, and write what was asked for."""
        check_format(self.format, self.out)
        trials = trials_of(load_all(self.names), self.named_rules(), self.players)
        total = sum(deals_of(trial, self.deals) for trial in trials if not trial.refused)
        errors = Console(stderr=True, highlight=False, soft_wrap=True)
        with progress(errors, "claims", total, "deals") as advance:
            checked = check(
                trials, seed=self.seed, deals=self.deals, workers=self.workers, progress=advance
            )
        if checked.verdicts:
            self.show(checked, errors)
        if checked.interrupted:
            errors.print(
                f"interrupted: {len(checked.verdicts)} claims are finished"
                + (f", left out are {', '.join(checked.left_out)}" if checked.left_out else ""),
                markup=False,
            )
            return INTERRUPTED
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
        self.out.mkdir(parents=True, exist_ok=True)
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
