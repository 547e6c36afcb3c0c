"""The command `evaluate.py`, one dataclass a subcommand."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import tyro
from rich.console import Console

from agents.evaluation import benchmark, report
from agents.evaluation.advise import AdviseCommand
from agents.evaluation.options import HouseRules, Names, SeatCounts, joined, rules_of
from agents.evaluation.progress import progress
from agents.policies import make

INTERRUPTED = 130
WRONG_USE = 2


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
    format: Literal["table", "json", "csv"] = "table"
    """What is printed."""
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
        else:
            Console(highlight=False).print(report.table(results))
        if self.out is not None:
            self.out.mkdir(parents=True, exist_ok=True)
            title = f"Benchmark: {', '.join(policy.name for policy in policies)}"
            page = report.write(results, self.out, title=title, repeat=self.command_line())
            Console(stderr=True, highlight=False).print(f"report: {page}", markup=False)


COMMANDS: dict[str, Callable[..., Callable[[], None]]] = {
    "advise": AdviseCommand,
    "benchmark": BenchmarkCommand,
}
"""The subcommands; a new one is a dataclass that is called without arguments."""


def main(
    argv: Sequence[str] | None = None,
    commands: Mapping[str, Callable[..., Callable[[], None]]] = COMMANDS,
) -> int:
    """Run the command.

    Args:
        argv: the words after the program's name; those of the process if not given.
        commands: the subcommands; the script adds those that learn.

    Returns:
        The exit status: 0, 2 for a wrong command line, 130 when interrupted.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    command = tyro.extras.subcommand_cli_from_dict(
        dict(commands), args=arguments, prog="evaluate.py"
    )
    try:
        command()
    except ValueError as error:
        Console(stderr=True, highlight=False, soft_wrap=True).print(f"error: {error}", markup=False)
        return WRONG_USE
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0
