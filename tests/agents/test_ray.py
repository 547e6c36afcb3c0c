"""Studies on a Ray cluster: the same bytes as here, also when a worker is lost in the middle."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from agents.evaluation import benchmark, threshold_study, tournament
from agents.evaluation.jobs import Backend, run_jobs
from agents.evaluation.recording import Recording
from agents.policies import make
from tests.agents.small import threshold_policy
from thirtyone_env import Rules

ROOT = Path(__file__).resolve().parents[2]
DANISH = Rules.preset("danish")
LOCAL, RAY = Backend(), Backend("ray")


def test_nothing_imports_ray_unasked():
    code = (
        "import sys, agents.evaluation.cli, agents.training.cli, thirtyone_env; "
        "sys.exit('ray' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=600).returncode == 0


def test_without_ray_it_is_said_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match="pip install"):
        run_jobs([1], abs, workers=1, backend=RAY)


@pytest.fixture(scope="module")
def cluster():
    """A cluster on this machine with two workers, for all tests here."""
    ray = pytest.importorskip("ray")
    from agents.evaluation import ray_jobs

    assert ray_jobs._connect(ray, 2, None)
    yield ray
    ray.shutdown()


@dataclass(frozen=True)
class Deadly:
    """Ends the process that asks it, once, in the middle of the work, unless that is `home`."""

    home: int
    lost: Path
    name: str = "deadly"
    controller: str = "external"

    def check(self, rules, num_players):
        pass

    def act_batch(self, tables, rows):
        late = tables.states["match"][rows].min() >= 20
        if late and os.getpid() != self.home and not self.lost.exists():
            self.lost.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return tables.action_mask(rows).argmax(axis=1)


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore")
def test_a_tournament_is_the_same_and_a_lost_worker_does_not_show(cluster, tmp_path):
    lost = tmp_path / "lost"
    roster = [make("danish"), threshold_policy(25), Deadly(os.getpid(), lost)]
    plan = tournament.make_plan(roster, rules=DANISH, players=2, deals=60, seed=3, luck=False)
    plan = type(plan)(**{**vars(plan), "chunk": 10})
    folders, files = [], []
    for name, backend in (("here", LOCAL), ("there", RAY)):
        folder, file = tmp_path / name, tmp_path / f"{name}.jsonl"
        folder.mkdir()
        store, recording = tournament.Store(folder, plan), Recording(file, None)
        results = tournament.run(
            plan, roster, rules=DANISH, store=store, recording=recording, backend=backend
        )
        recording.close()
        assert results.complete
        folders.append(folder)
        files.append(file.read_bytes())
    assert lost.exists(), "a worker was lost"
    assert files[0] == files[1]
    here, there = ({p.name: p.read_bytes() for p in (f / "matches").iterdir()} for f in folders)
    assert here == there


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore")
def test_benchmarks_and_thresholds_are_the_same(cluster):
    options = {"rules": DANISH, "players": (2,), "deals": 1100, "seed": 5}
    line_up = [make("danish")], [make("random"), make("dutch")]
    found = [benchmark.to_json(benchmark.run(*line_up, **options, backend=b)) for b in (RAY, LOCAL)]
    assert found[0] == found[1]
    sizes = {"thresholds": (25, 29), "players": (2, 3), "deals": 600, "larger_deals": 100}
    one, other = (threshold_study.run(DANISH, **sizes, backend=b) for b in (RAY, LOCAL))
    for mine, yours in zip(one.payoffs, other.payoffs, strict=True):
        assert np.array_equal(mine.matrix, yours.matrix)
        assert mine.shares == yours.shares


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore")
def test_an_error_of_a_job_is_the_error_of_the_study(cluster):
    def wrong(job):
        raise ValueError(f"job {job} cannot be done")

    with pytest.raises(ValueError, match=r"^job 7 cannot be done$"):
        run_jobs([7], wrong, workers=None, backend=RAY)
