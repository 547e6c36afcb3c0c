"""Curves of a run: lines of a CSV file, each written when it is known, and TensorBoard scalars."""

from __future__ import annotations

import csv
import io
import math
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from agents.policies.files import write_text

STEPS = "steps"


class Curve:
    """A CSV file whose first column is the step.

    Args:
        path: the file. What it says up to `step` stays; later lines, and a half-written one, are
            of a process that was stopped after its last checkpoint, and are taken away.
        step: where the run begins or goes on.
    """

    def __init__(self, path: Path, step: int = 0) -> None:
        self.path = path
        rows = list(csv.reader(io.StringIO(path.read_text("utf-8")))) if path.exists() else []
        self._names = tuple(rows[0][1:]) if rows else ()
        good = [row for row in rows[1:] if len(row) == len(rows[0]) and int(row[0]) <= step]
        if rows:
            write_text(path, _lines([rows[0], *good]))

    def add(self, step: int, numbers: Mapping[str, float]) -> None:
        """Write one line.

        Raises:
            ValueError: if the columns are not those of the first line.
            OSError: if it cannot be written.
        """
        if not self._names:
            self._names = tuple(numbers)
            write_text(self.path, _lines([[STEPS, *numbers]]))
        if tuple(numbers) != self._names:
            raise ValueError(f"columns {tuple(numbers)} instead of {self._names}")
        with self.path.open("a", encoding="utf-8", newline="") as file:
            file.write(_lines([[step, *(round(float(value), 5) for value in numbers.values())]]))


class Scalars:
    """Scalars for TensorBoard, in a file of their own for every session of a run.

    They are written at once and by this thread, so that a full disk is met where it can be dealt
    with.

    Args:
        folder: where the file goes; made if need be.
        step: where the run begins or goes on; what older files say of later steps is not shown.
    """

    def __init__(self, folder: Path, step: int = 0) -> None:
        folder.mkdir(exist_ok=True)
        name = f"events.out.tfevents.{time.time_ns() // 1000:017d}.{os.getpid()}"
        self._file = (folder / name).open("xb")
        self._writer = RecordWriter(self._file)
        self._write(Event(file_version="brain.Event:2"))
        if step:
            self._write(Event(step=step + 1, session_log=SessionLog(status=SessionLog.START)))

    def add(self, step: int, numbers: Mapping[str, float]) -> None:
        """Write numbers by their names; those that are none (NaN) are left out.

        Raises:
            OSError: if they cannot be written.
        """
        there = {tag: float(number) for tag, number in numbers.items() if not math.isnan(number)}
        values = [Summary.Value(tag=tag, simple_value=number) for tag, number in there.items()]
        self._write(Event(step=step, summary=Summary(value=values)))

    def _write(self, event: Event) -> None:
        event.wall_time = time.time()
        self._writer.write(event.SerializeToString())
        self._file.flush()

    def close(self) -> None:
        """No more will come."""
        self._file.close()


def _lines(rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
