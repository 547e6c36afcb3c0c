"""The command `evaluate.py`, one dataclass a subcommand."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import tyro
from rich.console import Console

from agents.evaluation import benchmark, report, study, threshold_study, tournament
from agents.evaluation.advise import AdviseCommand
from agents.evaluation.options import HouseRules, Names, SeatCounts, joined, rules_of
from agents.evaluation.progress import progress
from agents.evaluation.standings import Standings, standings
from agents.evaluation.tables import DataTable, to_json
from agents.evaluation.threshold_tables import summary_of, tables_of
from agents.policies import make, trusted_files
from agents.policies.files import write_bytes

INTERRUPTED = 130
WRONG_USE = 2
TRUST = "--trust"


def check_format(format: str, out: Path | None) -> None:
    """Refuse Parquet without a folder to put it in."""
    if format == "parquet" and out is None:
        raise ValueError("--format parquet needs --out: it writes files")


@dataclass(frozen=True)
class BenchmarkCommand:
    """Play policies against bots: heads-up, and alone among copies of each bot.

    Every deal is played once in every rotation of the seats, by all policies alike. The numbers
    are the same whatever the number of workers.
    """

    policies: tyro.conf.Positional[tuple[str, ...]]
    """Bots by name, or saved policies by the path of their run folder."""
    rules: str = "danish"
    """The preset that is played."""
    house_rules: HouseRules = field(default_factory=dict)
    """Fields of the rules that differ from the preset."""
    players: SeatCounts = (2, 4)
    """Seat counts of the tables."""
    opponents: Names = benchmark.OPPONENTS
    """Bots or saved policies; each fills all other seats in turn."""
    deals: int = 10_000
    """Deals a pairing."""
    seed: int = 2_000
    """Start of the cards and of the bots' randomness."""
    workers: int | None = None
    """Threads; none: as many as this process may run at once."""
    format: Literal["table", "json", "csv", "parquet"] = "table"
    """What is printed; parquet goes to the folder."""
    out: Path | None = None
    """A folder for the numbers, the figures and the report; it is made if need be."""

    def command_line(self) -> str:
        """The command that gives the same numbers."""
        words = ["benchmark", *self.policies, "--rules", self.rules]
        if self.house_rules:
            words += ["--house-rules", joined(self.house_rules)]
        words += ["--players", ",".join(str(size) for size in self.players)]
        words += ["--opponents", ",".join(self.opponents)]
        words += ["--deals", str(self.deals), "--seed", str(self.seed)]
        return f"python evaluate.py {shlex.join(words)}"

    def __call__(self) -> None:
        """Run, print, and write what was asked for."""
        if not self.policies:
            raise ValueError("name at least one policy: a bot, or the path of a run folder")
        check_format(self.format, self.out)
        policies = [make(name) for name in self.policies]
        opponents = [make(name) for name in self.opponents]
        total = benchmark.count_deals(len(policies), len(opponents), len(self.players), self.deals)
        with progress(Console(stderr=True), "benchmark", total, "deals") as advance:
            results = benchmark.run(
                policies,
                opponents,
                rules=rules_of(self.rules, self.house_rules),
                players=self.players,
                deals=self.deals,
                seed=self.seed,
                workers=self.workers,
                progress=advance,
            )
        if self.format == "json":
            sys.stdout.write(benchmark.to_json(results))
        elif self.format == "csv":
            sys.stdout.write(benchmark.to_csv(results))
        elif self.format == "table":
            Console(highlight=False).print(report.table(results))
        if self.out is not None:
            self.out.mkdir(parents=True, exist_ok=True)
            title = f"Benchmark: {', '.join(policy.name for policy in policies)}"
            page = report.write(results, self.out, title=title, repeat=self.command_line())
            if self.format == "parquet":
                write_bytes(self.out / "benchmark.parquet", benchmark.to_parquet(results))
            Console(stderr=True, highlight=False).print(f"report: {page}", markup=False)


@dataclass(frozen=True)
class _StudyCommand:
    """Options and ways of a study that plays matches and writes a page."""

    rules: str = "danish"
    """The preset that is played."""
    house_rules: HouseRules = field(default_factory=dict)
    """Fields of the rules that differ from the preset."""
    seed: int = 2_000
    """Start of the cards and of the bots' randomness."""
    workers: int | None = None
    """Threads; none: as many as this process may run at once."""
    format: Literal["table", "json", "csv", "parquet"] = "table"
    """What is printed: the tables, all data, or the main table; parquet goes to the folder."""
    out: Path | None = None
    """A folder for the numbers, the figures and the report; it is made if need be."""

    def common_words(self) -> list[str]:
        """The words of the command line that name rules and seed."""
        words = ["--rules", self.rules]
        if self.house_rules:
            words += ["--house-rules", joined(self.house_rules)]
        return [*words, "--seed", str(self.seed)]

    def print_tables(
        self, facts: dict[str, object], tables: Sequence[DataTable], summary: Sequence[str]
    ) -> None:
        """Print what was asked for."""
        if self.format == "json":
            sys.stdout.write(to_json(facts, tables))
        elif self.format == "csv":
            sys.stdout.write(tables[0].to_csv())
        elif self.format == "table":
            console = Console(highlight=False)
            for table in tables:
                if table.screen and not table.data:
                    console.print(table.to_rich())
                    if table.note:
                        console.print(table.note, style="dim")
            for line in summary:
                console.print(line, markup=False)


@dataclass(frozen=True)
class TournamentCommand(_StudyCommand):
    """Play policies against each other: standings, ratings, payoff matrix, mixtures, knocks.

    Every deal is played in every rotation of the seats, by all line-ups alike. With --out a
    tournament that was stopped goes on where it was. The numbers are the same whatever the number
    of workers.
    """

    policies: tyro.conf.Positional[tuple[str, ...]] = ()
    """Bots by name, or saved policies by the path of their run folder; at least two."""
    players: int = 2
    """Seats of a table."""
    pairing: Literal["auto", "all", "duel", "lone"] = "auto"
    """Who meets: all combinations at the table, every two heads-up, or every policy against copies
    of every other; by default duels heads-up, else all combinations."""
    deals: int = 5_000
    """Deals a line-up."""
    line_ups: int = 120
    """Most line-ups; of more combinations so many are drawn by lot."""
    adjust: bool = True
    """Whether to measure luck of the draw, which narrows the intervals of lives per round."""

    def command_line(self) -> str:
        """The command that gives the same numbers."""
        words = ["tournament", *self.policies, *self.common_words()]
        words += ["--players", str(self.players), "--pairing", self.pairing]
        words += ["--deals", str(self.deals), "--line-ups", str(self.line_ups)]
        if not self.adjust:
            words.append("--no-adjust")
        return f"python evaluate.py {shlex.join(words)}"

    def __call__(self) -> int:
        """Play, print, and write what was asked for."""
        check_format(self.format, self.out)
        rules = rules_of(self.rules, self.house_rules)
        roster = [make(name) for name in self.policies]
        pairing = self.pairing
        if pairing == "auto":
            pairing = "duel" if self.players == 2 else "all"
        plan = tournament.make_plan(
            roster,
            rules=rules,
            players=self.players,
            deals=self.deals,
            seed=self.seed,
            pairing=pairing,
            most_line_ups=self.line_ups,
            luck=self.adjust,
        )
        store = None
        if self.out is not None:
            self.out.mkdir(parents=True, exist_ok=True)
            store = tournament.Store(self.out, plan)
        errors = Console(stderr=True, highlight=False, soft_wrap=True)
        with progress(errors, "tournament", plan.matches, "matches") as advance:
            results = tournament.run(
                plan, roster, rules=rules, store=store, workers=self.workers, progress=advance
            )
        if len(results.deals) >= 2:
            self.show(plan, results, standings(results), errors)
        if results.complete:
            return 0
        again = "the same command goes on from there" if store else "name --out to keep them"
        errors.print(
            f"interrupted: {results.chunks_done:,} of {len(plan.chunks) * len(plan.line_ups):,} "
            f"parts are finished, {len(results.deals):,} of {plan.deals:,} deals by all line-ups "
            f"({'shown above' if len(results.deals) >= 2 else 'too few to show'}); {again}",
            markup=False,
        )
        return INTERRUPTED

    def show(
        self,
        plan: tournament.Plan,
        results: tournament.Results,
        found: Standings,
        errors: Console,
    ) -> None:
        """Print, and write the folder."""
        facts: dict[str, object] = {
            "study": "tournament",
            "policies": list(plan.names),
            "rules": plan.rules,
            "players": plan.players,
            "pairing": plan.pairing,
            "line_ups": [[plan.names[i] for i in members] for members in plan.line_ups],
            "deals": len(results.deals),
            "deals_planned": plan.deals,
            "seed": plan.seed,
            "level": found.level,
            "summary": list(found.summary),
        }
        self.print_tables(facts, found.tables, found.summary)
        if self.out is None:
            return
        rotations = f"each played once in each of {plan.players} rotations of the seats"
        shown = {
            "Rules": report.rules_name(rules_of(self.rules, self.house_rules)),
            "Table": f"{plan.players} players, {len(plan.line_ups):,} line-ups",
            "Deals": f"{len(results.deals):,} a line-up, {rotations}",
            "Seed": str(plan.seed),
        }
        if not results.complete:
            shown["Not finished"] = f"{plan.deals:,} deals were planned"
        page = study.write_study(
            self.out,
            "tournament",
            title=f"Tournament of {len(plan.names)} policies",
            summary=found.summary,
            sections=study.tournament_sections(found),
            tables=found.tables,
            facts=facts,
            shown_facts=shown,
            repeat=self.command_line(),
            parquet=self.format == "parquet",
        )
        errors.print(f"report: {page}", markup=False)


@dataclass(frozen=True)
class ThresholdsCommand(_StudyCommand):
    """Play knock thresholds against each other: payoffs, best replies, the unbeaten mixture.

    Heads-up every threshold meets every other in both seatings of every deal; at larger tables each
    sits alone among copies of every other.
    """

    players: SeatCounts = (2,)
    """Seat counts of the tables."""
    first: int = 17
    """Lowest threshold, in points."""
    last: int = 31
    """Highest threshold."""
    deals: int = 50_000
    """Deals a pair heads-up, each in both seatings."""
    larger_deals: int = 2_000
    """Deals a pair at larger tables, each in all rotations."""

    def command_line(self) -> str:
        """The command that gives the same numbers."""
        words = ["thresholds", *self.common_words()]
        words += ["--players", ",".join(str(size) for size in self.players)]
        words += ["--first", str(self.first), "--last", str(self.last)]
        words += ["--deals", str(self.deals), "--larger-deals", str(self.larger_deals)]
        return f"python evaluate.py {shlex.join(words)}"

    def __call__(self) -> int:
        """Play, print, and write what was asked for."""
        check_format(self.format, self.out)
        if not self.first < self.last:
            raise ValueError(f"--first {self.first} must lie below --last {self.last}")
        rules = rules_of(self.rules, self.house_rules)
        limits = range(self.first, self.last + 1)
        total = threshold_study.count_matches(
            self.players, len(limits), self.deals, self.larger_deals
        )
        errors = Console(stderr=True, highlight=False, soft_wrap=True)
        with progress(errors, "thresholds", total, "matches") as advance:
            results = threshold_study.run(
                rules,
                players=self.players,
                thresholds=limits,
                deals=self.deals,
                larger_deals=self.larger_deals,
                seed=self.seed,
                workers=self.workers,
                progress=advance,
            )
        facts: dict[str, object] = {
            "study": "thresholds",
            "rules": rules.to_dict(),
            "players": [payoffs.players for payoffs in results.payoffs],
            "deals": [payoffs.deals for payoffs in results.payoffs],
            "seed": self.seed,
            "level": results.payoffs[0].level,
            "summary": summary_of(results),
        }
        tables = tables_of(results)
        self.print_tables(facts, tables, summary_of(results))
        if self.out is not None:
            self.out.mkdir(parents=True, exist_ok=True)
            matches = ", ".join(f"{p.matches:,} at {p.players} seats" for p in results.payoffs)
            page = study.write_study(
                self.out,
                "thresholds",
                title=f"Knock thresholds {self.first} to {self.last}",
                summary=summary_of(results),
                sections=study.threshold_sections(results),
                tables=tables,
                facts=facts,
                shown_facts={
                    "Rules": report.rules_name(rules),
                    "Matches a pair": matches,
                    "Seed": str(self.seed),
                },
                repeat=self.command_line(),
                parquet=self.format == "parquet",
            )
            errors.print(f"report: {page}", markup=False)
        if results.interrupted:
            errors.print(
                "interrupted: the numbers are those of the deals that were finished", markup=False
            )
            return INTERRUPTED
        return 0


COMMANDS: dict[str, Callable[..., Callable[[], int | None]]] = {
    "advise": AdviseCommand,
    "benchmark": BenchmarkCommand,
    "tournament": TournamentCommand,
    "thresholds": ThresholdsCommand,
}
"""The subcommands; a new one is a dataclass that is called without arguments."""


def main(
    argv: Sequence[str] | None = None,
    commands: Mapping[str, Callable[..., Callable[[], int | None]]] = COMMANDS,
) -> int:
    """Run the command.

    Args:
        argv: the words after the program's name; those of the process if not given.
        commands: the subcommands; the script adds those that learn.

    Returns:
        The exit status: 0, 2 for a wrong command line, 130 when interrupted.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    trust = arguments.count(TRUST) > 0
    command = tyro.extras.subcommand_cli_from_dict(
        dict(commands),
        args=[word for word in arguments if word != TRUST],
        prog="evaluate.py",
        description="Policies are bots by name, or saved policies by the path of their run folder. "
        f"{TRUST} among the words lets files of Stable-Baselines3 (.zip) be loaded too; such a "
        "file can run any code.",
    )
    try:
        with trusted_files() if trust else nullcontext():
            status = command()
    except ValueError as error:
        Console(stderr=True, highlight=False, soft_wrap=True).print(f"error: {error}", markup=False)
        return WRONG_USE
    except KeyboardInterrupt:
        return INTERRUPTED
    return status or 0
