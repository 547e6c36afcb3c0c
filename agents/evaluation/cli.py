"""The command `evaluate.py`, one dataclass a subcommand."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tyro
from rich.console import Console

from agents.evaluation import benchmark, report, study, threshold_study, tournament
from agents.evaluation.advise import AdviseCommand
from agents.evaluation.claims.command import ClaimsCommand
from agents.evaluation.commands import (
    INTERRUPTED,
    Recorded,
    SeveralRules,
    Spread,
    StudyCommand,
    say,
)
from agents.evaluation.jobs import session
from agents.evaluation.knock_study import ChartCommand
from agents.evaluation.options import Names, SeatCounts, some
from agents.evaluation.play import PlayCommand
from agents.evaluation.progress import progress
from agents.evaluation.standings import Standings, standings
from agents.evaluation.store import PartStore
from agents.evaluation.threshold_tables import summary_of, sweep_shares, sweep_table, tables_of
from agents.evaluation.watch import ReplayCommand, WatchCommand
from agents.policies import TablePolicy, make, trusted_files
from agents.policies.files import write_bytes
from thirtyone_env.rules import Rules

FAILED = 1
WRONG_USE = 2
BROKEN_PIPE = 141
TRUST = "--trust"
MOST_POINTS = 60
"""The highest threshold of a bot."""


@dataclass(frozen=True)
class BenchmarkCommand(StudyCommand, Spread, Recorded):
    """Play policies against bots: heads-up, and alone among copies of each bot.

    Every deal is played once in every rotation of the seats, by all policies alike. The numbers
    are the same whatever the number of workers.
    """

    policies: tyro.conf.Positional[tuple[str, ...]] = ()
    """Bots by name, or saved policies by the path of their run folder."""
    players: SeatCounts = (2, 4)
    """Seat counts of the tables."""
    opponents: Names = benchmark.OPPONENTS
    """Bots or saved policies; each fills all other seats in turn."""
    deals: int = 10_000
    """Deals a pairing."""

    def command_line(self) -> str:
        """The command that gives the same numbers."""
        words = ["benchmark", *self.policies, *self.common_words()]
        words += ["--players", ",".join(str(size) for size in self.players)]
        words += ["--opponents", ",".join(self.opponents)]
        return self.joined([*words, "--deals", str(self.deals)])

    def __call__(self) -> int:
        """Run, print, and write what was asked for."""
        if not self.policies:
            raise ValueError("name at least one policy: a bot, or the path of a run folder")
        some(players=self.players, opponents=self.opponents)
        self.check_output()
        policies = [make(name, outside=True) for name in self.policies]
        opponents = [make(name, outside=True) for name in self.opponents]
        table: dict[str, Any] = {"rules": self.the_rules(), "players": self.players}
        table |= {"deals": self.deals, "seed": self.seed}
        store = None
        if self.out is not None:
            store = benchmark.open_store(self.out, policies, opponents, **table)
        total = benchmark.count_deals(len(policies), len(opponents), len(self.players), self.deals)
        errors = Console(stderr=True, highlight=False, soft_wrap=True)
        with (
            self.recording(self.out) as recording,
            progress(errors, "benchmark", total, "deals") as advance,
        ):
            results = benchmark.run(
                policies,
                opponents,
                **table,
                store=store,
                recording=recording,
                workers=self.workers,
                backend=self.where(),
                progress=advance,
            )
        if results.rows:
            self.show(policies, results, errors)
        if results.planned is None:
            return 0
        pairings = total // self.deals
        whole = sum(row.deals == self.deals for row in results.rows)
        done = f"{whole:,} of {pairings:,} pairings are finished"
        if results.rows:
            done += f", {len(results.rows):,} are shown, each with the deals that it has"
        return self.stopped(done, store is not None)

    def show(
        self, policies: Sequence[TablePolicy], results: benchmark.Benchmark, errors: Console
    ) -> None:
        """Print, and write the folder."""
        if self.format == "json":
            sys.stdout.write(benchmark.to_json(results))
        elif self.format == "csv":
            sys.stdout.write(benchmark.to_csv(results))
        elif self.format == "table":
            Console(highlight=False).print(report.table(results))
        if self.out is not None:
            title = f"Benchmark: {', '.join(policy.name for policy in policies)}"
            page = report.write(results, self.out, title=title, repeat=self.command_line())
            if self.format == "parquet":
                write_bytes(self.out / "benchmark.parquet", benchmark.to_parquet(results))
            errors.print(f"report: {page}", markup=False)


@dataclass(frozen=True)
class TournamentCommand(StudyCommand, Spread, Recorded):
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
        return self.joined(words)

    def __call__(self) -> int:
        """Play, print, and write what was asked for."""
        self.check_output()
        rules = self.the_rules()
        roster = [make(name, outside=True) for name in self.policies]
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
        store = None if self.out is None else tournament.Store(self.out, plan)
        errors = Console(stderr=True, highlight=False, soft_wrap=True)
        with (
            self.recording(self.out) as recording,
            progress(errors, "tournament", plan.matches, "matches") as advance,
        ):
            results = tournament.run(
                plan,
                roster,
                rules=rules,
                store=store,
                recording=recording,
                workers=self.workers,
                backend=self.where(),
                progress=advance,
            )
        if len(results.deals) >= 2:
            self.show(plan, results, standings(results), errors)
        if results.complete:
            return 0
        shown = "shown above" if len(results.deals) >= 2 else "too few to show"
        done = (
            f"{results.chunks_done:,} of {len(plan.chunks) * len(plan.line_ups):,} parts are "
            f"finished, {len(results.deals):,} of {plan.deals:,} deals by all line-ups ({shown})"
        )
        return self.stopped(done, store is not None)

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
            "Rules": report.rules_name(self.the_rules()),
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
class ThresholdsCommand(SeveralRules, Spread):
    """Play knock thresholds against each other: payoffs, best replies, the unbeaten mixture.

    Heads-up every threshold meets every other in both seatings of every deal; at larger tables each
    sits alone among copies of every other. Several rule sets make a sweep, with a folder each in
    that of --out. With --out a study that was stopped goes on where it was.
    """

    rules: Names = ("danish",)  # type: ignore[assignment]  # several
    """Presets that are played."""
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
        return self.joined(words)

    def __call__(self) -> int:
        """Play, print, and write what was asked for."""
        some(players=self.players)
        self.check_output()
        for name, limit in (("first", self.first), ("last", self.last)):
            if not 0 <= limit <= MOST_POINTS:
                raise ValueError(f"--{name} {limit}: thresholds are 0 … {MOST_POINTS} points")
        if not self.first < self.last:
            raise ValueError(f"--first {self.first} must lie below --last {self.last}")
        rule_sets = self.named_rules()
        if not rule_sets:
            raise ValueError("--rules must name at least one preset")
        limits = range(self.first, self.last + 1)
        table: dict[str, Any] = {"players": self.players, "thresholds": limits}
        table |= {"deals": self.deals, "larger_deals": self.larger_deals, "seed": self.seed}
        stores = self._stores(rule_sets, table)
        matches = threshold_study.count_matches(
            self.players, len(limits), self.deals, self.larger_deals
        )
        errors = Console(stderr=True, highlight=False, soft_wrap=True)
        found: list[tuple[str, threshold_study.Study]] = []
        total = matches * len(rule_sets)
        with (
            session(self.where(), self.workers),
            progress(errors, "thresholds", total, "matches") as advance,
        ):
            for (name, rules), store in zip(rule_sets, stores, strict=True):
                results = threshold_study.run(
                    rules,
                    **table,
                    store=store,
                    workers=self.workers,
                    backend=self.where(),
                    progress=advance,
                )
                found.append((name, results))
                if results.interrupted:
                    break
        told = [(name, results) for name, results in found if results.payoffs]
        if told:
            self.show(told, len(rule_sets) > 1)
        if not found[-1][1].interrupted:
            return 0
        parts = [f"{len(found) - 1} of {len(rule_sets)} rule sets are finished, and of "]
        parts = [*(parts if len(rule_sets) > 1 else []), f"{found[-1][0]} "]
        deals = [f"{p.deals:,} deals at {p.players} seats" for p in found[-1][1].payoffs]
        return self.stopped("".join(parts) + (", ".join(deals) or "nothing"), self.out is not None)

    def _stores(
        self, rule_sets: Sequence[tuple[str, Rules]], table: Mapping[str, Any]
    ) -> Sequence[PartStore | None]:
        """Where the parts are kept: in the folder, or in one of each rule set's own there."""
        if self.out is None:
            return [None] * len(rule_sets)
        folders = [self.folder(name, len(rule_sets) > 1) for name, _ in rule_sets]
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        return [
            threshold_study.open_store(folder, rules, **table)
            for folder, (_, rules) in zip(folders, rule_sets, strict=True)
        ]

    def folder(self, name: str, sweep: bool) -> Path:
        """Where the study of one rule set is written."""
        assert self.out is not None
        return self.out / re.sub(r"[^\w=.,-]+", "_", name) if sweep else self.out

    def show(self, found: Sequence[tuple[str, threshold_study.Study]], sweep: bool) -> None:
        """Print, and write the folder."""
        if not sweep:
            ((name, results),) = found
            self.print_tables(self.facts(results), tables_of(results), summary_of(results))
            if self.out is not None:
                say(f"report: {self.write(name, results, sweep)}")
            return
        table = sweep_table(found)
        facts: dict[str, object] = {
            "study": "thresholds",
            "rules": {name: results.rules.to_dict() for name, results in found},
            "seed": self.seed,
        }
        self.print_tables(facts, [table, sweep_shares(found)])
        if self.out is None:
            return
        for name, results in found:
            self.write(name, results, sweep)
        page = study.write_study(
            self.out,
            "thresholds",
            title=f"Knock thresholds {self.first} to {self.last} under {len(found)} rule sets",
            summary=[],
            sections=[study.Section("Unbeaten mixtures", [table])],
            tables=[table, sweep_shares(found)],
            facts=facts,
            shown_facts={"Rules": ", ".join(name for name, _ in found), "Seed": str(self.seed)},
            repeat=self.command_line(),
            parquet=self.format == "parquet",
        )
        say(f"report: {page}, and one of each rule set in its folder")

    def facts(self, results: threshold_study.Study) -> dict[str, object]:
        """What the files say besides the tables."""
        return {
            "study": "thresholds",
            "rules": results.rules.to_dict(),
            "players": [payoffs.players for payoffs in results.payoffs],
            "deals": [payoffs.deals for payoffs in results.payoffs],
            "seed": self.seed,
            "level": results.payoffs[0].level,
            "summary": summary_of(results),
        }

    def write(self, name: str, results: threshold_study.Study, sweep: bool) -> Path:
        """Write the folder of one rule set; its page."""
        matches = ", ".join(f"{p.matches:,} at {p.players} seats" for p in results.payoffs)
        more = f" ({name})" if sweep else ""
        return study.write_study(
            self.folder(name, sweep),
            "thresholds",
            title=f"Knock thresholds {self.first} to {self.last}{more}",
            summary=summary_of(results),
            sections=study.threshold_sections(results),
            tables=tables_of(results),
            facts=self.facts(results),
            shown_facts={
                "Rules": report.rules_name(results.rules),
                "Matches a pair": matches,
                "Seed": str(self.seed),
            },
            repeat=self.command_line(),
            parquet=self.format == "parquet",
        )


COMMANDS: dict[str, Callable[..., Callable[[], int | None]]] = {
    "advise": AdviseCommand,
    "benchmark": BenchmarkCommand,
    "tournament": TournamentCommand,
    "thresholds": ThresholdsCommand,
    "chart": ChartCommand,
    "claims": ClaimsCommand,
    "watch": WatchCommand,
    "replay": ReplayCommand,
    "play": PlayCommand,
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
        The exit status: 0, 1 where a file cannot be written, 2 for a wrong command line, 130 when
        interrupted, 141 when nobody reads the output any more.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    trust = arguments.count(TRUST) > 0
    try:
        command = tyro.extras.subcommand_cli_from_dict(
            dict(commands),
            args=[word for word in arguments if word != TRUST],
            prog="evaluate.py",
            description="Policies are bots by name, or saved policies by the path of their run "
            f"folder. {TRUST} among the words lets files of Stable-Baselines3 (.zip) be loaded "
            "too; such a file can run any code.",
        )
        with trusted_files() if trust else nullcontext():
            status = command()
    except ValueError as error:
        say(f"error: {error}")
        return WRONG_USE
    except KeyboardInterrupt:
        say("interrupted: nothing was finished that could be shown")
        return INTERRUPTED
    except BrokenPipeError:  # whoever read the output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:  # a full disk, a folder that may not be written
        say(f"error: {error}; what was written before is there")
        return FAILED
    return status or 0
