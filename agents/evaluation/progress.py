"""Progress of a long command: a bar in a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

SECONDS_BETWEEN_LINES = 10.0


class Meter:
    """What a command calls while it goes on.

    Args:
        advance: takes the number of units done since the last call, from any thread.
        note: takes a few words that are shown behind the rest from then on.
    """

    def __init__(self, advance: Callable[[int], None], note: Callable[[str], None]) -> None:
        self._advance = advance
        self.note = note

    def __call__(self, count: int) -> None:
        """So many units more are done."""
        self._advance(count)


class SpeedColumn(ProgressColumn):
    """Units a second."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self.unit = unit

    def render(self, task: Task) -> Text:
        """The speed, or nothing before there is one."""
        speed = task.finished_speed or task.speed
        return Text(f"{_speed(speed)} {self.unit}/s" if speed else "", style="progress.data.speed")


@contextmanager
def progress(console: Console, label: str, total: int, unit: str, done: int = 0) -> Iterator[Meter]:
    """Show how far something is, how fast it goes and how long it will take.

    Args:
        console: where; if it is no terminal, a line is written every ten seconds.
        label: what is going on.
        total: units in all.
        unit: their name, in the plural.
        done: units that were done before.

    Yields:
        To be called with the number of units done since its last call, from any thread.
    """
    if console.is_terminal:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            SpeedColumn(unit),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[note]}"),
        )
        with Progress(*columns, console=console) as bar:
            task = bar.add_task(label, total=total, completed=done, note="")
            yield Meter(
                lambda count: bar.advance(task, count), lambda text: bar.update(task, note=text)
            )
    else:
        lines = _Lines(console, label, total, unit, done)
        yield Meter(lines.advance, lines.note)
        lines.write()


class _Lines:
    def __init__(self, console: Console, label: str, total: int, unit: str, done: int) -> None:
        self._console, self._label, self._total, self._unit = console, label, total, unit
        self._begun = self._done = self._before = done
        self._note = ""
        self._start = self._first = self._last = time.monotonic()
        self._lock = Lock()

    def advance(self, count: int) -> None:
        with self._lock:
            if self._done == self._begun:  # what came before, such as compiling, is left out
                self._before, self._first = self._done + count, time.monotonic()
            self._done += count
            if time.monotonic() - self._last >= SECONDS_BETWEEN_LINES and self._done < self._total:
                self._last = time.monotonic()
                self.write()

    def note(self, text: str) -> None:
        self._note = text

    def write(self) -> None:
        now = time.monotonic()
        parts = [f"{self._label}: {self._done:,} of {self._total:,} {self._unit}"]
        speed = (self._done - self._before) / max(now - self._first, 1e-9)
        if speed:
            parts.append(f"{_speed(speed)} {self._unit}/s")
        if self._done >= self._total:
            parts.append(f"took {_clock(now - self._start)}")
        elif speed:
            parts.append(f"{_clock((self._total - self._done) / speed)} left")
        if self._note:
            parts.append(self._note)
        self._console.print(", ".join(parts), highlight=False)


def _speed(speed: float) -> str:
    return f"{speed:,.0f}" if speed >= 10 else f"{speed:.1g}"


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes}:{seconds:02d}"
