"""Parts of a study: found again where they were finished before, else played, kept and counted.

Every study cuts its work into parts before anything is played. A part is a dictionary of arrays
that depends on its number alone, so a study that was stopped and goes on ends with the same bytes
as one that was not, wherever its parts were played.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.evaluation.jobs import LOCAL, Backend, run_jobs
from agents.evaluation.recording import Recording
from agents.evaluation.store import PartStore

LINES = "lines"
"""Beside its arrays a part may hold the match records that were wanted, as bytes."""
Part = Mapping[str, Any]


@dataclass(frozen=True)
class Parts:
    """How the parts of a study are played and where they are kept."""

    store: PartStore | None = None
    """Where finished parts are kept and found again; None: nowhere."""
    recording: Recording | None = None
    """Where match records go. With a store the file is written when the study is finished."""
    workers: int | None = 1
    """Threads, None for as many as this process may run at once; the parts do not depend on
    them."""
    backend: Backend = LOCAL
    """Where they are played; nor on that."""
    progress: Callable[[int], None] | None = None
    """Called with the size of every part that is done."""

    def play(
        self,
        names: Sequence[str],
        jobs: Sequence[Any],
        work: Callable[[Any], Part],
        sizes: Sequence[int],
        *,
        fields: Iterable[str] = (),
        records: Sequence[int] = (),
    ) -> tuple[list[dict[str, np.ndarray] | None], bool]:
        """Arrays of every part, None where it was not played; and whether an interrupt came.

        Args:
            names: of the parts.
            jobs: what to do.
            work: does one, anywhere: with Ray it travels with all that it holds.
            sizes: of the parts, for `progress`.
            fields: arrays that a part must have; one that has others is played again.
            records: numbers of match records that the parts hold.
        """
        matches = records or [0] * len(jobs)
        found = self._found(names, matches, set(fields))
        for i, part in enumerate(found):
            if part is not None:
                self._done(sizes[i])
        missing = [i for i, part in enumerate(found) if part is None]

        def keep(i: int, part: Part) -> dict[str, np.ndarray]:
            arrays = dict(part)
            lines = arrays.pop(LINES, b"")
            if self.recording is not None:
                self.recording.keep(names[i], matches[i], lines)
            if self.store is not None:
                self.store.save_arrays(names[i], arrays)
            return arrays

        results, interrupted = run_jobs(
            missing,
            lambda i: work(jobs[i]),
            workers=self.workers,
            keep=keep,
            done=lambda i: self._done(sizes[i]),
            backend=self.backend,
        )
        for i, arrays in zip(missing, results, strict=True):
            found[i] = arrays
        return found, interrupted

    def write_records(self, names: Sequence[str], records: Sequence[int], complete: bool) -> None:
        """Put the file of match records together, from the finished parts in this order.

        Args:
            names: of the finished parts.
            records: their numbers of match records.
            complete: whether the study is finished.
        """
        if self.recording is not None and (complete or self.store is None):
            self.recording.write(zip(names, records, strict=True))

    def _found(
        self, names: Sequence[str], matches: Sequence[int], fields: set[str]
    ) -> list[dict[str, np.ndarray] | None]:
        """The parts that were finished before, with their records."""
        found: list[dict[str, np.ndarray] | None] = [None] * len(names)
        for i, name in enumerate(names if self.store is not None else ()):
            if self.recording is not None and not self.recording.has(name, matches[i]):
                continue
            part = self.store.load_arrays(name) if self.store is not None else None
            if part is not None and fields <= set(part):
                found[i] = part
        return found

    def _done(self, size: int) -> None:
        if self.progress is not None:
            self.progress(size)
