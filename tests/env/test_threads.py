"""Threads: as many as the process may use, work spread over them, and forks afterwards."""

from __future__ import annotations

import multiprocessing
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from tests.engine.processes import finished, start
from thirtyone_env import PRESETS, threads
from thirtyone_env.arena import Tables, play_matches

# --- how many ------------------------------------------------------------------------------------


def limits(folder: Path, groups: str, **files: str) -> int:
    """Cores by some lines of groups and some files below the mount."""
    (folder / "groups").write_text(groups)
    for name, text in files.items():
        path = folder / "mount" / name.replace("__", "/").replace("_max", ".max")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return threads.cgroup_cores(folder / "groups", folder / "mount")


@pytest.mark.parametrize(
    ("quota", "cores"),
    [("200000 100000", 2), ("150000 100000", 2), ("50000 100000", 1), ("max 100000", 1 << 10)],
)
def test_a_quota_of_version_2(tmp_path, quota, cores):
    assert limits(tmp_path, "0::/a/b\n", a__b__cpu_max=quota + "\n") == cores


def test_the_tightest_quota_on_the_way_up_counts(tmp_path):
    found = limits(
        tmp_path,
        "0::/a/b\n",
        a__b__cpu_max="max 100000\n",
        a__cpu_max="300000 100000\n",
        cpu_max="800000 100000\n",
    )
    assert found == 3


def test_a_container_sees_its_own_group_as_the_root(tmp_path):
    assert limits(tmp_path, "0::/not/there\n", cpu_max="100000 100000\n") == 1


@pytest.mark.parametrize("controllers", ["cpu,cpuacct", "cpu"])
@pytest.mark.parametrize(("quota", "cores"), [(250_000, 3), (-1, 1 << 10)])
def test_a_quota_of_version_1(tmp_path, controllers, quota, cores):
    folder = tmp_path / "mount" / controllers / "a"
    folder.mkdir(parents=True)
    (folder / "cpu.cfs_quota_us").write_text(f"{quota}\n")
    (folder / "cpu.cfs_period_us").write_text("100000\n")
    assert limits(tmp_path, f"5:memory:/a\n4:{controllers}:/a\n0::/\n") == cores


@pytest.mark.parametrize("text", ["", "nonsense", "1 0\n"])
def test_unreadable_quotas_are_no_limits(tmp_path, text):
    assert limits(tmp_path, "0::/\n", cpu_max=text) == 1 << 10
    assert threads.cgroup_cores(tmp_path / "none", tmp_path) == 1 << 10


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity masks here")
def test_the_affinity_mask_counts(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5, 7})
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(threads, "cgroup_cores", lambda: 1 << 10)
    assert threads.usable_cores() == 3
    assert threads.checked_threads(None) == 3
    monkeypatch.setattr(threads, "cgroup_cores", lambda: 2)
    assert threads.usable_cores() == 2
    assert Tables(PRESETS["danish"], 2, seed=1, matches=[0], threads=None).threads == 2


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "all", 1 << 11])
def test_other_numbers_of_threads_are_refused(number):
    with pytest.raises(ValueError, match="threads = "):
        threads.checked_threads(number)
    with pytest.raises(ValueError, match="threads = "):
        play_matches(PRESETS["danish"], ["random"] * 2, seed=1, matches=[0], threads=number)


# --- spread --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 7, 64, 1000])
@pytest.mark.parametrize("number", [1, 2, 3, 8])
def test_everything_is_done_once(size, number):
    done = np.zeros(size, int)

    def work(first: int, after: int) -> None:
        assert 0 <= first <= after <= size
        done[first:after] += 1

    threads.spread(work, size, number, 1)
    assert (done == 1).all()


def test_little_work_stays_in_one_thread():
    seen = set()
    threads.spread(lambda first, after: seen.add(threading.get_ident()), 100, 8, 64)
    assert seen == {threading.get_ident()}


def test_two_threads_work_at_once():
    meeting = threading.Barrier(2, timeout=60)
    met = []

    def work(first: int, after: int) -> None:
        if first < 2:  # whoever takes one of the first two pieces waits for the other
            meeting.wait()
            met.append(threading.get_ident())

    threads.spread(work, 2 * threads.PIECES_A_THREAD, 2, 1)
    assert len(set(met)) == 2


@pytest.mark.parametrize("first_bad", [0, 40])
def test_an_error_reaches_the_caller(first_bad):
    def work(first: int, after: int) -> None:
        if after > first_bad:
            raise ArithmeticError("bad piece")

    with pytest.raises(ArithmeticError, match="bad piece"):
        threads.spread(work, 100, 3, 1)


# --- forks ---------------------------------------------------------------------------------------

POOL = """
import hashlib
import multiprocessing
import sys
import threading
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from thirtyone_env import PRESETS, arena, threads
from thirtyone_env.arena import Tables, play_matches

arena.LEAST_MATCHES = threads.LEAST_ROWS = 1


def work(start):
    matches = np.arange(start, start + 64)
    digest = hashlib.sha256(
        play_matches(PRESETS["danish"], ["threshold:25"] * 3, seed=1, matches=matches, threads=4)
    )
    tables = Tables(PRESETS["danish"], 2, seed=1, matches=matches, threads=4)
    tables.play()
    digest.update(tables.observe("full"))
    digest.update(tables.action_mask())
    return digest.hexdigest()


if __name__ == "__main__":
    starts = range(0, 400, 100)
    alone = [work(start) for start in starts]
    stop = threading.Event()

    def go_on():
        while not stop.is_set():
            work(0)

    busy = threading.Thread(target=go_on)
    busy.start()  # processes begin while threads are at work
    context = multiprocessing.get_context(sys.argv[1])
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(work, starts, timeout=300)) == alone
    stop.set()
    busy.join()
    assert [work(start) for start in starts] == alone
    print("done")
"""


@pytest.mark.integration
@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_a_pool_of_processes_after_work_in_all_threads(tmp_path, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    script = tmp_path / "pool.py"
    script.write_text(POOL)
    process = start(str(script), method)
    try:
        out, _ = finished(process, timeout=600)
    finally:
        process.kill()
    assert out == "done\n"
