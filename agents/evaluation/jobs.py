"""Work cut into jobs beforehand, done by threads, that can be interrupted between two jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

from thirtyone_env.threads import checked_threads

Job = TypeVar("Job")
Result = TypeVar("Result")


def run_jobs(
    jobs: Sequence[Job],
    work: Callable[[Job], Result],
    *,
    workers: int | None,
    done: Callable[[Job], None] | None = None,
) -> tuple[list[Result | None], bool]:
    """Do jobs, in their order as far as several threads can.

    Args:
        jobs: what to do; a job looks at nothing that another one does.
        work: does one, in any thread.
        workers: threads, None for as many as this process may run at once.
        done: called after every job, from this thread.

    Returns:
        The result of every job, None where it was not done; and whether an interrupt (Ctrl-C) came.
        Jobs that had begun by then are finished.

    Raises:
        ValueError: for a number of workers below 1.
    """
    results: list[Result | None] = [None] * len(jobs)
    interrupted = False
    with ThreadPoolExecutor(checked_threads(workers)) as pool:
        futures = {pool.submit(work, job): i for i, job in enumerate(jobs)}
        try:
            for future in as_completed(futures):
                results[futures[future]] = future.result()
                if done is not None:
                    done(jobs[futures[future]])
        except KeyboardInterrupt:
            interrupted = True
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    for future, i in futures.items():
        if not future.cancelled() and future.exception() is None:
            results[i] = future.result()
    return results, interrupted
