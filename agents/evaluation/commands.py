"""What the subcommands that play matches and write a page have in common."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from rich.console import Console

from agents.evaluation.options import HouseRules, joined
from agents.evaluation.tables import DataTable, to_json

INTERRUPTED = 130
"""Exit status after Ctrl-C."""


def check_format(format: str, out: Path | None) -> None:
    """Refuse Parquet without a folder to put it in."""
    if format == "parquet" and out is None:
        raise ValueError("--format parquet needs --out: it writes files")


@dataclass(frozen=True)
class StudyCommand:
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

    @staticmethod
    def joined(words: Sequence[str]) -> str:
        """Words as one command line."""
        return f"python evaluate.py {shlex.join(words)}"

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
