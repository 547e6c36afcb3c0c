"""Work cut into jobs beforehand, which can be interrupted between two jobs.

Jobs are done by threads of this process, or by the workers of a Ray cluster. What a job gives
depends on the job alone, so the results are the same either way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, Literal, TypeVar

from thirtyone_env.threads import checked_threads

Job = TypeVar("Job")
Result = TypeVar("Result")
SAME_INTERRUPT = 1.0
"""Seconds after an interrupt in which another one counts as the same."""


@dataclass(frozen=True)
class Backend:
    """Where jobs are done."""

    name: Literal["local", "ray"] = "local"
    """Threads of this process, or a Ray cluster."""
    address: str | None = None
    """Of the cluster; None: one on this machine, for the time of the study."""


LOCAL = Backend()


def chunks_of(deals: int, size: int) -> list[range]:
    """The numbers of deals, cut into chunks of one size and a last one of what is left."""
    return [range(first, min(first + size, deals)) for first in range(0, deals, size)]


@contextmanager
def session(backend: Backend, workers: int | None) -> Iterator[None]:
    """Keep a cluster for several calls of `run_jobs`; nothing for threads.

    Args:
        backend: where jobs are done.
        workers: processes of a cluster on this machine.

    Raises:
        ValueError: as `run_jobs`.
    """
    if backend.name != "ray":
        yield
        return
    from agents.evaluation.ray_jobs import connected

    with connected(workers, backend.address):
        yield


def run_jobs(
    jobs: Sequence[Job],
    work: Callable[[Job], Result],
    *,
    workers: int | None,
    keep: Callable[[Job, Any], Any] | None = None,
    done: Callable[[Job], None] | None = None,
    backend: Backend = LOCAL,
) -> tuple[list[Any], bool]:
    """Do jobs, in their order as far as several workers can.

    Args:
        jobs: what to do; a job looks at nothing that another one does.
        work: does one, in any thread or process: with Ray it and all that it holds travel there.
        workers: threads, or processes of a cluster on this machine; None for as many as this
            process may run at once.
        keep: called with every result, in this process, in any thread; what it returns is the
            result then.
        done: called after every job, from this thread.
        backend: where they are done.

    Returns:
        The result of every job, None where it was not done; and whether an interrupt (Ctrl-C) came.
        Jobs that had begun by then are finished.

    Raises:
        ValueError: for a number of workers below 1, or a backend that is not there.
    """
    if backend.name == "ray":
        from agents.evaluation.ray_jobs import run_on_ray

        return run_on_ray(jobs, work, workers, keep, done, backend.address)
    results: list[Any] = [None] * len(jobs)
    crew = _Crew(jobs, work, keep)
    interrupted = False
    threads = [Thread(target=crew.toil) for _ in range(checked_threads(workers))]
    try:
        for thread in threads:
            thread.start()
        for _ in jobs:
            i, results[i], error = crew.finished.get()
            if error is not None:
                raise error
            if done is not None:
                done(jobs[i])
    except KeyboardInterrupt:
        interrupted = True
    finally:
        crew.stop.set()
        _joined(threads)
    while not crew.finished.empty():
        i, result, error = crew.finished.get()
        results[i] = result if error is None else None
    return results, interrupted


class _Crew:
    """Jobs that threads take one after the other.

    Futures are not used: an interrupt while one waits for many of them leaves them locked.
    """

    def __init__(
        self,
        jobs: Sequence[Any],
        work: Callable[[Any], Any],
        keep: Callable[[Any, Any], Any] | None,
    ) -> None:
        self.work, self.keep = work, keep
        self.left, self.lock, self.stop = iter(enumerate(jobs)), Lock(), Event()
        self.finished: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()
        """Number of the job, its result, and what went wrong."""

    def toil(self) -> None:
        """Do jobs until there are none left, or somebody says stop."""
        while not self.stop.is_set():
            with self.lock:
                i, job = next(self.left, (-1, None))
            if i < 0:
                return
            try:
                result = self.work(job)
                if self.keep is not None:
                    result = self.keep(job, result)
            except BaseException as error:
                self.finished.put((i, None, error))
                return
            self.finished.put((i, result, None))


def _joined(threads: Sequence[Thread]) -> None:
    """Wait for threads; a second interrupt at once is the same one, sent to a group of processes.

    Raises:
        KeyboardInterrupt: for one that comes later.
    """
    begun = time.monotonic()
    left = [thread for thread in threads if thread.ident is not None]
    while left:
        try:
            left[-1].join()
            left.pop()
        except KeyboardInterrupt:
            if time.monotonic() - begun > SAME_INTERRUPT:
                raise
