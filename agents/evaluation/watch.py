"""The commands `watch` and `replay`: a match in the terminal, event by event."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

import tyro
from rich.console import Console
from rich.live import Live

from agents.evaluation.commands import INTERRUPTED, Output, Ruled, say
from agents.evaluation.decisions import Decisions, seen_event
from agents.evaluation.keys import END, Keys
from agents.evaluation.live import LiveMatch, Moment, replayed
from agents.evaluation.options import Names, at_least
from agents.evaluation.picture import (
    chances_words,
    event_words,
    frame,
    match_words,
    round_words,
    sees,
)
from agents.policies import TablePolicy, make
from thirtyone_env.record import Json, read
from thirtyone_env.record.checking import dump
from thirtyone_env.record.files import open_to_write
from thirtyone_env.rules import Rules
from thirtyone_env.state import NOBODY

FASTEST, SLOWEST = 64.0, 0.125
"""Events a second that the keys + and − lead to."""
FAILED = 1
PAUSE_AT_THE_END = 3
"""Events' time that a settled round stays."""


class Stopped(Exception):
    """The viewer has seen enough."""


@dataclass(frozen=True)
class Show:
    """How matches are shown."""

    viewer: int | None
    """A seat, None for all cards, NOBODY for what everybody sees."""
    speed: float
    step: bool
    plain: bool
    asked: bool = False
    """Whether probabilities are those of policies that only look on."""


def lines_of(
    moment: Moment, names: Sequence[str | None], show: Show, *, chances: bool = True
) -> list[str]:
    """What happened, in words."""
    viewer, lines = show.viewer, []
    if moment.dealt:
        row = moment.row
        open_cards = f"upcard {row['upcard']}" if row["upcard"] else "table " + _table(row)
        decider = ", a decider" if row["decider"] else ""
        lines.append(f"round {moment.round + 1}{decider}: seat {row['dealer']} deals; {open_cards}")
    for event in moment.events:
        lines.append("  " + event_words(event, names, viewer))
        if event is moment.events[0] and chances and sees(viewer, moment.seat):
            lines[-1] += chances_words(moment.chances, show.asked)
    if moment.settled:
        lines += ["  " + line for line in round_words(moment.states, moment.row, names, viewer)]
    return lines


def _table(row: Json) -> str:
    return " ".join(row["table"]) if row["table"] else "still closed"


def show_match(
    moments: Iterable[Moment], names: Sequence[str | None], show: Show, console: Console
) -> None:
    """Show a match: in a terminal as a picture that changes, elsewhere as lines.

    Raises:
        Stopped: if the viewer quits by key.
    """
    if show.plain or not console.is_terminal:
        for moment in moments:
            for line in lines_of(moment, names, show):
                console.print(line, markup=False, soft_wrap=True)
        return
    told: list[str] = []
    pace = _Pace(show)
    with Keys() as keys, Live(console=console, auto_refresh=False) as live:
        for moment in moments:
            told += lines_of(moment, names, show, chances=False)
            live.update(frame(moment, names, show.viewer, told, pace.foot(keys)), refresh=True)
            pace.wait(keys, moment.settled)


class _Pace:
    """When the next event comes."""

    def __init__(self, show: Show) -> None:
        self.step, self.speed = show.step, show.speed

    def foot(self, keys: Keys) -> str:
        if not keys.there:
            return ""
        if self.step:
            return "space or enter: next    g: go on by itself    q: quit"
        return f"{self.speed:g} events/s    + −: faster, slower    s: step by step    q: quit"

    def wait(self, keys: Keys, settled: bool) -> None:
        if not keys.there:
            time.sleep((PAUSE_AT_THE_END if settled else 1) / self.speed)
            return
        end = time.monotonic() + (PAUSE_AT_THE_END if settled else 1) / self.speed
        while True:
            left = None if self.step else max(0.0, end - time.monotonic())
            key = keys.wait(left)
            if key in ("q", END):
                raise Stopped
            if key == "+":
                self.speed = min(2 * self.speed, FASTEST)
            elif key in ("-", "−"):
                self.speed = max(self.speed / 2, SLOWEST)
            elif key == "s":
                self.step = True
            elif key == "g":
                self.step = False
                return
            elif not key or key in " \n\r":
                return


def json_lines(moments: Iterable[Moment], match: int, show: Show) -> Iterator[str]:
    """One JSON object an event, hidden cards left out."""
    for moment in moments:
        seen = sees(show.viewer, moment.seat)
        for event in moment.events:
            found: Json = {"match": match, "round": moment.round, **seen_event(event, seen)}
            if event is moment.events[0] and seen:
                found["probabilities"] = moment.chances
            yield json.dumps(found)
        if moment.settled:
            row = moment.row
            found = {"match": match, "round": moment.round, "seat": None, "action": "end"}
            yield json.dumps(found | {key: row[key] for key in ("end", "losses", "lives")})


@dataclass(frozen=True, kw_only=True)
class _ShowCommand(Output):
    """Options that `watch` and `replay` share."""

    hidden: bool = False
    """Show what everybody at the table sees; otherwise all cards are open."""
    seat: int | None = None
    """Show what this seat sees, from 0."""
    speed: float = 1.0
    """Events a second in a terminal; the keys + and − change it."""
    step: bool = False
    """Wait for a key after every event."""
    plain: bool = False
    """Lines instead of a picture; so it is where the output is no terminal."""
    format: Literal["table", "json", "csv", "parquet"] = "table"
    """The match for people, one JSON object an event, or the table of the decisions; parquet goes
    to the folder."""

    def show(self, seats: int, asked: bool = False) -> Show:
        """How matches are shown.

        Raises:
            ValueError: for a seat that there is not, or a speed that is none.
        """
        if self.seat is not None and not 0 <= self.seat < seats:
            raise ValueError(f"--seat {self.seat}: seats are 0 … {seats - 1}")
        if not self.speed > 0:
            raise ValueError(f"--speed {self.speed:g} is not above 0")
        if self.hidden and self.seat is not None:
            raise ValueError("--hidden and --seat exclude each other")
        viewer = NOBODY if self.hidden else self.seat
        return Show(viewer, self.speed, self.step, self.plain, asked)

    def present(
        self,
        moments: Iterable[Moment],
        match: int,
        names: Sequence[str | None],
        show: Show,
        console: Console,
        decisions: Decisions,
    ) -> None:
        """Show one match in the way that was asked for."""
        kept = self.kept(moments, match, names, decisions)
        if self.format == "json":
            for line in json_lines(kept, match, show):
                sys.stdout.write(line + "\n")
        elif self.format == "table":
            show_match(kept, names, show, console)
        else:
            for _ in kept:
                pass

    @staticmethod
    def kept(
        moments: Iterable[Moment], match: int, names: Sequence[str | None], decisions: Decisions
    ) -> Iterator[Moment]:
        """The moments, taken down as they pass."""
        for moment in moments:
            decisions.add(moment, match, names)
            yield moment

    def finish(self, name: str, facts: Json, decisions: Decisions) -> None:
        """Print and write the tables that were asked for."""
        tables = decisions.tables()
        if self.format == "csv":
            sys.stdout.write(tables[0].to_csv())
        self.write_files(name, facts, tables)


@dataclass(frozen=True)
class WatchCommand(_ShowCommand, Ruled):
    """Watch a match between policies, event by event, with the probabilities of their actions.

    Charts, solvers and networks say how likely each of their actions is; other bots are certain of
    what they do. The match is the one that a tournament plays on the same deal.
    """

    policies: tyro.conf.Positional[tuple[str, ...]] = ()
    """One a seat; fewer than --players are repeated around the table."""
    players: int | None = None
    """Seats; as many as there are policies if not given."""
    deal: int = 0
    """Number of the first match under that seed."""
    matches: int = 1
    """How many matches."""
    record: Path | None = None
    """A new file for the match records, .jsonl or .jsonl.gz."""

    def __call__(self) -> int:
        """Play and show."""
        if not self.policies:
            raise ValueError("name at least one policy, such as threshold:25")
        if self.matches < 1:
            raise ValueError(f"--matches {self.matches}: at least 1")
        at_least(0, deal=self.deal)
        self.check_output()
        rules = self.the_rules()
        seats = self.players or max(2, len(self.policies))
        if seats < len(self.policies):
            raise ValueError(f"--players {seats} for {len(self.policies)} policies")
        made = [make(name, outside=True) for name in self.policies]
        roster = [made[seat % len(made)] for seat in range(seats)]
        show = self.show(seats)
        decisions = Decisions(show.viewer)
        with RecordFile(self.record) as records:
            status = self.watch(rules, roster, show, records, decisions)
        facts: Json = {"study": "watch", "policies": [policy.name for policy in roster]}
        facts |= {"rules": rules.to_dict(), "seed": self.seed, "deal": self.deal}
        self.finish("watch", facts, decisions)
        return status

    def watch(
        self,
        rules: Rules,
        roster: Sequence[TablePolicy],
        show: Show,
        records: RecordFile,
        decisions: Decisions,
    ) -> int:
        """Play and show the matches; the exit status."""
        console = Console(highlight=False)
        for number in range(self.deal, self.deal + self.matches):
            match = LiveMatch(rules, roster, seed=self.seed, deal=number)
            try:
                self.present(match.play(), number, match.names, show, console, decisions)
            except (KeyboardInterrupt, Stopped, ValueError) as stop:
                records.add(match.recorder.record)
                _say_stopped(match.recorder.record, records, stop)
                if isinstance(stop, Stopped):
                    return 0
                return INTERRUPTED if isinstance(stop, KeyboardInterrupt) else FAILED
            records.add(match.recorder.record)
            if self.format == "table":
                console.print(match_words(match.recorder.record, match.names, show.viewer))
        return 0


def _say_stopped(record: Json, records: RecordFile, stop: BaseException) -> None:
    if isinstance(stop, ValueError):  # a policy that fails
        say(f"error: {stop}")
    written = f"; {records.path} has it as far as it went" if records.path else ""
    say(f"stopped in round {len(record['rounds'])}{written}")


@dataclass(frozen=True)
class ReplayCommand(_ShowCommand):
    """Watch a recorded match, event by event; it is checked against its rules first."""

    file: tyro.conf.Positional[Path] = Path()
    """A file of match records, .jsonl or .jsonl.gz."""
    match: int = 1
    """Which line of it, from 1."""
    ask: Names = ()
    """Policies that say how likely they would take each action."""

    def __call__(self) -> int:
        """Read and show."""
        if self.file == Path():
            raise ValueError("name a file of match records, .jsonl or .jsonl.gz")
        self.check_output()
        record = _record(self.file, self.match)
        show = self.show(record["num_players"], bool(self.ask))
        moments = replayed(record, [make(name, outside=True) for name in self.ask])
        console, decisions = Console(highlight=False), Decisions(show.viewer)
        status, names = 0, record["policies"]
        try:
            with closing(moments):
                self.present(moments, self.match, names, show, console, decisions)
            if self.format == "table":
                console.print(match_words(record, names, show.viewer))
        except (KeyboardInterrupt, Stopped) as stop:
            status = 0 if isinstance(stop, Stopped) else INTERRUPTED
            done = len({row[1] for row in decisions.events})
            say(f"stopped in round {done} of {len(record['rounds'])}")
        facts = {"study": "replay", "file": str(self.file), "match": self.match}
        self.finish("replay", facts | {"policies": names, "rules": record["rules"]}, decisions)
        return status


def _record(path: Path, number: int) -> Json:
    line = 0
    try:
        for line, record in read(path):
            if line == number:
                return record
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from error
    raise ValueError(f"--match {number}: {path} has matches 1 … {line}")


class RecordFile:
    """A new file of match records, or none; it appears under its name when it is closed."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._opened = open_to_write(path) if path is not None else None
        self._file: IO[bytes] | None = None

    def __enter__(self) -> RecordFile:
        if self._opened is not None:
            try:
                self._file = self._opened.__enter__()
            except OSError as error:
                raise ValueError(str(error)) from error
        return self

    def __exit__(self, *error: object) -> None:
        if self._opened is not None:
            self._opened.__exit__(*error)  # type: ignore[arg-type]

    def add(self, record: Json) -> None:
        """Write one record."""
        self.write((dump(record) + "\n").encode())

    def write(self, lines: bytes) -> None:
        """Write records that are lines already."""
        if self._file is not None:
            self._file.write(lines)
