"""How many threads may run, and work that is spread over them.

Threads are those of Python (the kernels release the GIL); they end with the call that started
them, so that nothing is left to hang in a forked child.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue

from thirtyone_env.checks import checked_number

MOST_THREADS = 1 << 10
LEAST_ROWS = 256
"""Rows below which another thread, or another piece, costs more than it gains."""
PIECES_A_THREAD = 32
"""Pieces of work for each thread, so that one on a busy core leaves work to the others."""


def checked_threads(threads: int | None) -> int:
    """A number of threads; None stands for as many as this process may run at once.

    Raises:
        ValueError: for anything but 1 … 1024 and None.
    """
    if threads is None:
        return usable_cores()
    return checked_number("threads", threads, 1, MOST_THREADS)


def usable_cores() -> int:
    """Processor cores that this process may use: by its affinity mask and its cgroups' quotas."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, min(cores, cgroup_cores()))


@functools.cache
def cgroup_cores(
    groups: Path = Path("/proc/self/cgroup"), mount: Path = Path("/sys/fs/cgroup")
) -> int:
    """Processor time that the cgroups allow, in whole cores rounded up; many without a limit.

    It is read once: quotas seldom change, and a short call must not wait for files.

    Args:
        groups: the groups of this process: lines ``number:controllers:path``, the number 0 and no
            controllers in version 2.
        mount: where the hierarchies are mounted.
    """
    try:
        lines = groups.read_text().splitlines()
    except OSError:
        return MOST_THREADS
    quotas = [quota for line in lines for quota in _quotas(line, mount)]
    return min([MOST_THREADS, *quotas])


def _quotas(line: str, mount: Path) -> Iterator[int]:
    """Cores allowed by a group and those that it lies in."""
    _, controllers, path = line.split(":", 2)
    names: tuple[str, ...] = ("cpu.max",)
    if controllers == "":
        roots = (mount, mount / "unified")
    elif "cpu" in controllers.split(","):
        roots = (mount / controllers, mount / "cpu")
        names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
    else:
        return
    group = Path(path.lstrip("/"))
    for root in roots:  # inside a container the group's own path may be missing: its root counts
        for folder in (group, *group.parents):
            with contextlib.suppress(OSError, ValueError, IndexError, ZeroDivisionError):
                words = " ".join((root / folder / name).read_text() for name in names).split()
                quota, period = int(words[0]), int(words[1])  # "max" or −1 without a limit
                if quota > 0:
                    yield -(-quota // period)


def spread(
    work: Callable[[int, int], None], size: int, threads: int, least: int | None = None
) -> None:
    """Run ``work(first, after)`` over 0 … size in contiguous pieces.

    Whichever thread is free takes the next piece; this one works too.

    Args:
        work: releases the GIL; it may be called from any thread.
        size: how much there is to do.
        threads: at most so many work at once.
        least: the smallest piece that is worth a call; None: `LEAST_ROWS`.
    """
    least = LEAST_ROWS if least is None else least
    threads = min(threads, size // (2 * least))
    if threads <= 1:
        work(0, size)
        return
    piece = max(least, -(-size // (threads * PIECES_A_THREAD)))
    waiting: SimpleQueue[int] = SimpleQueue()
    for first in range(0, size, piece):
        waiting.put(first)

    def take_pieces() -> None:
        with contextlib.suppress(Empty):
            while True:
                first = waiting.get_nowait()
                work(first, min(first + piece, size))

    with ThreadPoolExecutor(threads - 1) as pool:
        others = [pool.submit(take_pieces) for _ in range(threads - 1)]
        take_pieces()
    for other in others:
        other.result()
