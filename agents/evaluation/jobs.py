"""Work cut into jobs beforehand, which can be interrupted between two jobs.

Jobs are done by threads of this process, or by the workers of a Ray cluster. What a job gives
depends on the job alone, so the results are the same either way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from thirtyone_env.threads import checked_threads

Job = TypeVar("Job")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Backend:
    """Where jobs are done."""

    name: Literal["local", "ray"] = "local"
    """Threads of this process, or a Ray cluster."""
    address: str | None = None
    """Of the cluster; None: one on this machine, for the time of the study."""


LOCAL = Backend()


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
    interrupted = False

    def whole(job: Job) -> Any:
        result = work(job)
        return result if keep is None else keep(job, result)

    with ThreadPoolExecutor(checked_threads(workers)) as pool:
        futures = {pool.submit(whole, job): i for i, job in enumerate(jobs)}
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
