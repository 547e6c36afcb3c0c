"""The guard against slow kernels sees a slow kernel, and the benchmarks run."""

import json

import numpy as np
import pytest

from benchmarks import counts, guard, results, speed
from thirtyone_env._jit import INTERPRETED, entry

compiled_only = pytest.mark.skipif(INTERPRETED, reason="speed of compiled kernels")


def test_a_fifth_is_the_limit():
    known = {"draw": 1.0, "mask": 2.0}
    assert guard.slow({"draw": 1.24, "mask": 2.4}, known) == {}
    assert guard.slow({"draw": 1.3, "mask": 1.0}, known) == {"draw": pytest.approx(1.3)}


@compiled_only
def test_every_kernel_has_its_share(monkeypatch):
    monkeypatch.setattr(guard, "PIECES", 1)
    found = guard.shares()
    assert found.keys() == json.loads(guard.SHARES.read_text()).keys()
    assert min(found.values()) > 0


@compiled_only
def test_a_slow_kernel_is_called_slow(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(guard, "PIECES", 1)
    file = tmp_path / "shares.json"
    file.write_text(json.dumps(dict.fromkeys(guard.kernels(), 1e-6)))
    assert guard.main(str(file)) == 1
    assert "draw takes" in capsys.readouterr().out


# --- counts --------------------------------------------------------------------------------------


@entry
def summed(numbers, rounds):
    """As many rounds as asked for, each looking at a number."""
    total = 0
    for place in range(rounds):
        total = (total * 31) ^ numbers[(total + place) & 7]
    return total


@compiled_only
def test_twice_the_work_is_counted_twice():
    numbers = np.arange(8)
    count = counts.Counted(summed, numbers, 1)
    none, once, twice = (count(numbers, rounds) for rounds in (0, 1000, 2000))
    assert count(numbers, 1000) == once
    assert twice - once == pytest.approx(once - none, rel=0.02)
    assert 3000 < once - none < 30_000


def test_a_fifth_more_is_the_limit():
    known = {"draw": 1000, "mask": 10}
    assert counts.more({"draw": 1249, "mask": 12}, known) == {}
    assert counts.more({"draw": 1000, "mask": 13}, known) == {"mask": 1.3}


def test_counts_of_other_versions_are_not_compared(monkeypatch, capsys):
    monkeypatch.setattr(counts, "versions", lambda: "others")
    monkeypatch.setattr(counts, "count_all", lambda: pytest.fail("counted"))
    assert counts.main() == 0
    assert "not compared" in capsys.readouterr().out


@pytest.mark.parametrize(("factor", "status"), [(0.5, 0), (1.0, 0), (1.2, 0), (1.26, 1), (3, 1)])
def test_too_much_executed_fails(monkeypatch, capsys, factor, status):
    known = json.loads(counts.COUNTS.read_text())
    found = known["counts"] | {"draw": int(known["counts"]["draw"] * factor)}
    monkeypatch.setattr(counts, "versions", lambda: known["versions"])
    monkeypatch.setattr(counts, "count_all", lambda: found)
    assert counts.main() == status
    assert ("draw executes" in capsys.readouterr().out) == bool(status)


@compiled_only
@pytest.mark.parametrize("part", [speed.batches, speed.interfaces, speed.memory])
def test_the_benchmarks_run(monkeypatch, part):
    monkeypatch.setattr(speed, "BATCH", 64)
    monkeypatch.setattr(speed, "STEPS", 2)
    assert all(row.value > 0 for row in part())


@pytest.mark.parametrize("page", results.PAGES, ids=lambda page: page.stem)
def test_the_pages_of_results_hold_the_numbers_that_were_kept(page):
    text = page.read_text(encoding="utf-8")
    assert results.rendered(text, results.known()) == text, "`python -m benchmarks.results`"
    changed = text.replace("| counter |", "| clever |")
    assert changed != text
    assert results.rendered(changed, results.known()) == text
