"""Jobs on a Ray cluster: one on this machine, or one that is there already.

The packages of the checkout travel to the workers, so that a cluster needs their dependencies
alone. A worker that is lost, with its process or its whole machine, has its jobs done by others;
since a job's result depends on the job alone, nothing of that shows in the results.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import agents
import thirtyone_env
from thirtyone_env.threads import checked_threads

RETRIES = 5
"""How often a job whose worker was lost is done again."""
AHEAD = 4
"""Jobs handed over for each core of the cluster, so that no core waits."""


def run_on_ray(
    jobs: Iterable[Any],
    work: Callable[[Any], Any],
    workers: int | None,
    keep: Callable[[Any, Any], Any] | None,
    done: Callable[[Any], None] | None,
    address: str | None,
    *,
    cores: int = 1,
    at_once: int | None = None,
    patience: float = 0.0,
) -> tuple[list[Any], bool]:
    """As `jobs.run_jobs`, by Ray tasks.

    Args:
        jobs: may be made as they are asked for: one is taken when there is room for it.
        work, workers, keep, done: as for `jobs.run_jobs`.
        address: of the cluster; None: one on this machine.
        cores: of each task.
        at_once: jobs handed over at a time; None: some for each core of the cluster, so that none
            of them waits.
        patience: seconds that jobs are given to save what they have, after an interrupt.

    Raises:
        ValueError: if Ray is not installed, or there is no cluster at the address.
    """
    with connected(workers, address) as ray:
        most = at_once or max(1, int(AHEAD * ray.cluster_resources().get("CPU", 1)))
        task = ray.remote(num_cpus=cores, max_retries=RETRIES)(_in_worker)
        return _run(ray, task, jobs, work, keep, done, most, patience)


@contextmanager
def connected(workers: int | None, address: str | None) -> Iterator[Any]:
    """Ray, connected to a cluster; one that is begun here ends here.

    Args:
        workers: processes of a cluster on this machine; None for as many as this process may run.
        address: of a cluster that is there; None: one on this machine.

    Raises:
        ValueError: if Ray is not installed, or there is no cluster at the address.
    """
    try:
        import ray
    except ImportError as error:
        raise ValueError("--backend ray needs Ray: pip install 'ray>=2.60'") from error
    begun = _connect(ray, workers, address)
    try:
        yield ray
    finally:
        if begun:
            ray.shutdown()


def _connect(ray: Any, workers: int | None, address: str | None) -> bool:
    """Connect; False where that was done before."""
    if ray.is_initialized():
        return False
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address is None:
        options |= {"num_cpus": checked_threads(workers), "include_dashboard": False}
        with _found_by_workers():
            ray.init(**options)
        return True
    packages = [str(Path(p.__file__ or "").parent) for p in (agents, thirtyone_env)]
    try:
        ray.init(address=address, runtime_env={"py_modules": packages}, **options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ValueError(f"--ray-address {address}: no cluster there: {error}") from error
    return True


@contextmanager
def _found_by_workers() -> Iterator[None]:
    """Let processes that are begun meanwhile find the packages of the checkout."""
    folder = str(Path(agents.__file__ or "").resolve().parent.parent)
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([folder, *([before] if before else [])])
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def _run(
    ray: Any,
    task: Any,
    jobs: Iterable[Any],
    work: Callable[[Any], Any],
    keep: Callable[[Any, Any], Any] | None,
    done: Callable[[Any], None] | None,
    most: int,
    patience: float,
) -> tuple[list[Any], bool]:
    results: list[Any] = [None] * (len(jobs) if isinstance(jobs, Sized) else 0)
    shared = ray.put(work)
    waiting: dict[Any, tuple[int, Any]] = {}
    left = iter(jobs)
    numbers = itertools.count()

    def take(reference: Any) -> None:
        i, job = waiting.pop(reference)
        result = ray.get(reference)
        results[i] = result if keep is None else keep(job, result)
        if done is not None:
            done(job)

    try:
        while True:
            for job in itertools.islice(left, most - len(waiting)):
                i = next(numbers)
                results += [None] * (i + 1 - len(results))
                waiting[task.remote(shared, job)] = i, job
            if not waiting:
                return results, False
            ready, _ = ray.wait(list(waiting), num_returns=1)
            for reference in ready:
                take(reference)
    except KeyboardInterrupt:
        ready = ray.wait(list(waiting), num_returns=len(waiting), timeout=0)[0] if waiting else []
        for reference in ready:
            take(reference)
        for reference in waiting:
            ray.cancel(reference)
        if waiting and patience:
            ray.wait(list(waiting), num_returns=len(waiting), timeout=patience)
        return results, True
    except ray.exceptions.RayTaskError as error:
        raise error.cause or error from None
    except ray.exceptions.RayError as error:
        raise ValueError(f"a job was lost {RETRIES + 1} times: {error}") from error


def _in_worker(work: Callable[[Any], Any], job: Any) -> Any:
    return work(job)
