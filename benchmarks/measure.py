"""How time is measured here: CPU time of one thread on one core, the median of several runs."""

from __future__ import annotations

import contextlib
import os
import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np

from thirtyone_env.arena import Tables

RUNS = 5


@contextlib.contextmanager
def pinned() -> Iterator[None]:
    """Stay on one core meanwhile, where the system can do that."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Time that some work takes once, by a clock."""
    before = clock()
    work()
    return clock() - before


def median(work: Callable[[], object], runs: int = RUNS) -> float:
    """Median CPU time of some work, after one run that is not counted."""
    work()
    return statistics.median(seconds(work) for _ in range(runs))


def random_actions(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """int64[B]: one legal action a row, each as likely."""
    ranks = np.cumsum(masks, axis=1, dtype=np.int16)
    chosen = rng.integers(0, np.maximum(ranks[:, -1], 1))
    return np.argmax(ranks > chosen[:, None], axis=1)


def renew(tables: Tables) -> None:
    """Deal the next match where one is over, and play to the first decision from outside."""
    while tables.over.any():
        done = np.flatnonzero(tables.over)
        tables.deal(done, tables.states["match"][done] + tables.size)
        tables.play(done)
