"""What the subcommands have in common: rules, cards, output, records, where they are played."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from rich.console import Console

from agents.evaluation.jobs import Backend
from agents.evaluation.options import HouseRules, Names, joined, rules_of
from agents.evaluation.recording import Recording
from agents.evaluation.tables import DataTable, to_json, write_tables
from thirtyone_env.rules import Rules

INTERRUPTED = 130
"""Exit status after Ctrl-C."""


def say(text: str) -> None:
    """A line for people, beside what is printed for programs."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(text, markup=False)


@dataclass(frozen=True, kw_only=True)
class Output:
    """What is printed and written, of every command alike."""

    format: Literal["table", "json", "csv", "parquet"] = "table"
    """What is printed: the tables, all data, or the main table; parquet goes to the folder."""
    out: Path | None = None
    """A folder for what is found, as files; it is made if need be."""

    def check_output(self) -> None:
        """Refuse Parquet without a folder to put it in, and make the folder.

        Raises:
            ValueError: for a folder that is missing or cannot be one.
        """
        if self.format == "parquet" and self.out is None:
            raise ValueError("--format parquet needs --out: it writes files")
        if self.out is not None:
            try:
                self.out.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ValueError(f"--out {self.out}: {error.strerror or error}") from error

    def print_tables(
        self, facts: Mapping[str, object], tables: Sequence[DataTable], summary: Sequence[str] = ()
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

    def write_files(
        self, name: str, facts: Mapping[str, object], tables: Sequence[DataTable]
    ) -> None:
        """Write `NAME.json` and a CSV file a table (Parquet too, if asked for), with --out."""
        if self.out is not None:
            write_tables(self.out, name, facts, tables, self.format == "parquet")
            say(f"written: {self.out / name}.json and {tables[0].name}.csv")


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Options of studies whose matches can be spread over a cluster."""

    backend: Literal["local", "ray"] = "local"
    """Threads of this process, or tasks on a Ray cluster; the numbers are the same."""
    ray_address: str | None = None
    """Of a cluster that is there, such as auto or ray://head:10001; none: one of its own on this
    machine, with --workers processes."""

    def where(self) -> Backend:
        """Where the work is done.

        Raises:
            ValueError: for an address without Ray.
        """
        if self.ray_address is not None and self.backend != "ray":
            raise ValueError("--ray-address needs --backend ray")
        return Backend(self.backend, self.ray_address)


@dataclass(frozen=True, kw_only=True)
class Ruled:
    """Which game is played, with which cards."""

    rules: str = "danish"
    """The preset that is played."""
    house_rules: HouseRules = field(default_factory=dict)
    """Fields of the rules that differ from the preset."""
    seed: int = 2_000
    """Start of the cards and of the bots' randomness."""

    def the_rules(self) -> Rules:
        """The rules that are played.

        Raises:
            ConfigError: if they do not exist or do not fit together.
        """
        return rules_of(self.rules, self.house_rules)

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


@dataclass(frozen=True, kw_only=True)
class StudyCommand(Output, Ruled):
    """Options and ways of a study that plays matches and writes a page."""

    workers: int | None = None
    """Threads; none: as many as this process may run at once."""

    def stopped(self, what: str, kept: bool) -> int:
        """Say that Ctrl-C came, and what is there.

        Args:
            what: is finished.
            kept: whether the same command goes on from there.

        Returns:
            The exit status.
        """
        again = "the same command goes on from there" if kept else "name --out to keep the parts"
        say(f"interrupted: {what}; {again}")
        return INTERRUPTED


@dataclass(frozen=True, kw_only=True)
class SeveralRules(StudyCommand):
    """A study that can be made of several rule sets."""

    rules: Names = ()  # type: ignore[assignment]  # several, unlike other studies
    """Presets that are played."""

    def named_rules(self) -> list[tuple[str, Rules]]:
        """The rule sets, by what tables call them.

        Raises:
            ValueError: if they do not exist or do not fit together.
        """
        if self.house_rules and not self.rules:
            raise ValueError("--house-rules needs --rules: the presets that they change")
        more = f" with {joined(self.house_rules)}" if self.house_rules else ""
        return [
            (f"{name}{more}", rules_of(name, self.house_rules))
            for name in dict.fromkeys(self.rules)
        ]

    def common_words(self) -> list[str]:
        """The words of the command line that name rules and seed."""
        words = ["--rules", ",".join(self.rules)] if self.rules else []
        if self.house_rules:
            words += ["--house-rules", joined(self.house_rules)]
        return [*words, "--seed", str(self.seed)]
