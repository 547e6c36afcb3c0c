"""What the subcommands that play matches and write a page have in common."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from rich.console import Console

from agents.evaluation.jobs import Backend
from agents.evaluation.options import HouseRules, joined
from agents.evaluation.recording import Recording
from agents.evaluation.tables import DataTable, to_json

INTERRUPTED = 130
"""Exit status after Ctrl-C."""


def check_format(format: str, out: Path | None) -> None:
    """Refuse Parquet without a folder to put it in."""
    if format == "parquet" and out is None:
        raise ValueError("--format parquet needs --out: it writes files")


@dataclass(frozen=True)
class Recorded:
    """Options of studies that write match records."""

    record: Path | None = None
    """A new file for match records, .jsonl or .jsonl.gz."""
    record_matches: int | None = None
    """How many matches are recorded, the first deals of all line-ups; all if not given."""

    @contextmanager
    def recording(self, out: Path | None) -> Iterator[Recording | None]:
        """Where the records go; None if they are not wanted.

        Args:
            out: a folder in which parts are kept until the study is finished, if there is one.

        Raises:
            ValueError: for a file that is there, or numbers that are not allowed.
        """
        if self.record is None:
            if self.record_matches is not None:
                raise ValueError("--record-matches needs --record FILE")
            yield None
            return
        folder = out / "records" if out is not None else None
        recording = Recording(self.record, self.record_matches, folder)
        try:
            yield recording
        finally:
            recording.close()


@dataclass(frozen=True)
class Spread:
    """Options of studies whose matches can be spread over a cluster."""

    backend: Literal["local", "ray"] = "local"
    """Threads of this process, or tasks on a Ray cluster; the numbers are the same."""
    ray_address: str | None = None
    """Of a cluster that is there, such as auto or ray://head:10001; none: one of its own on this
    machine, with --workers processes."""

    def where(self) -> Backend:
        """Where the matches are played.

        Raises:
            ValueError: for an address without Ray.
        """
        if self.ray_address is not None and self.backend != "ray":
            raise ValueError("--ray-address needs --backend ray")
        return Backend(self.backend, self.ray_address)


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
