"""The guard against slow kernels sees a slow kernel, and the benchmarks run."""

import json

import pytest

from benchmarks import guard, speed
from thirtyone_env._jit import INTERPRETED

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


@compiled_only
@pytest.mark.parametrize("part", [speed.batches, speed.interfaces, speed.memory])
def test_the_benchmarks_run(monkeypatch, part):
    monkeypatch.setattr(speed, "BATCH", 64)
    monkeypatch.setattr(speed, "STEPS", 2)
    assert all(row.value > 0 for row in part())
