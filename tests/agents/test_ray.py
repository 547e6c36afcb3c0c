"""Studies on a Ray cluster: the same bytes as here, also when a worker is lost in the middle."""

import csv
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from agents.evaluation import benchmark, threshold_study, tournament
from agents.evaluation.jobs import Backend, run_jobs
from agents.evaluation.recording import Recording
from agents.policies import make
from agents.training.config import load
from agents.training.trial import TrialJob, brought_back, train_trial
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
class DeadlyTrial:
    """Trains a trial, and ends the process that does it, once, when it has a checkpoint."""

    home: int
    lost: Path

    def __call__(self, job):
        if os.getpid() != self.home and not self.lost.exists():
            threading.Thread(target=self.end, args=(job.folder / "checkpoints",)).start()
        return train_trial(job)

    def end(self, checkpoints):
        while not list(checkpoints.glob("step-*")):
            time.sleep(0.01)
        self.lost.write_text(str(checkpoints))
        os.kill(os.getpid(), signal.SIGKILL)


SWEEP = {
    "base": {
        "rows": 32,
        "rollout": 16,
        "batch": 256,
        "hidden": [8],
        "players": [2],
        "steps": 6_000,
        "save_every": 1_000,
        "panel": {"every": 10_000, "deals": 10, "opponents": ["random"]},
    },
    "sweep": {"name": "sw", "space": {"epochs": {"choices": [1, 2, 3]}}},
}


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore")
def test_a_sweep_of_trainings_and_a_lost_worker(cluster, tmp_path, monkeypatch, capsys):
    """Trials at the same time; the one whose worker was lost ends as if nothing had been."""
    from agents.training import cli, sweep

    lost = tmp_path / "lost"
    base, file = tmp_path / "base.yaml", tmp_path / "sweep.yaml"
    base.write_text(json.dumps(SWEEP["base"] | {"runs": str(tmp_path / "runs")}), "utf-8")
    words = [str(base), "--sweep", str(file), "--backend", "ray", "--workers", "2"]
    file.write_text(json.dumps(SWEEP["sweep"] | {"trials": 3}), "utf-8")
    monkeypatch.setattr(sweep, "train_trial", DeadlyTrial(os.getpid(), lost))
    assert cli.main(words) == 0
    assert lost.exists(), "a worker was lost"
    monkeypatch.undo()
    file.write_text(json.dumps(SWEEP["sweep"] | {"trials": 4}), "utf-8")
    assert cli.main(words) == 0, "it goes on with the same study"
    assert "The best of 4 trials" in capsys.readouterr().out
    with (tmp_path / "runs" / "sw" / "trials.csv").open() as text:
        rows = list(csv.DictReader(text))
    assert [row["state"] for row in rows] == ["complete"] * 4
    for row in rows:
        again = train_trial(
            TrialJob(0, load(Path(row["folder"]) / "config.yaml"), tmp_path / "a" / row["trial"])
        )
        assert again.score == float(row["panel"]), "the same as trained here without a stop"


def test_a_trial_elsewhere_hands_its_files_back(tmp_path):
    from agents.training.config import KnockPpoConfig, from_mapping

    config = from_mapping({**SWEEP["base"], "steps": 1_000})
    assert isinstance(config, KnockPpoConfig)
    away, here = tmp_path / "away" / "trial-1", tmp_path / "here" / "trial-1"
    outcome = train_trial(TrialJob(0, config, away, mark="of the driver"))
    assert not away.exists()
    brought_back(outcome, here)
    assert make(str(here)).config.training["steps"] >= 1_000
    assert train_trial(TrialJob(0, config, here)).score == outcome.score, "it is finished"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--backend", "ray"], "is for sweeps alone"),
        (["--sweep", "x.yaml", "--backend", "slurm"], "allowed are local and ray"),
        (["--sweep", "x.yaml", "--workers", "2"], "needs --backend ray"),
        (["--sweep", "x.yaml", "--backend", "ray", "--workers", "0"], "at least 1"),
    ],
)
def test_wrong_words_for_sweeps(more, message, capsys):
    from agents.training import cli

    assert cli.main([str(ROOT / "configs" / "quickstart.yaml"), *more]) == 2
    assert message in capsys.readouterr().err


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
@pytest.mark.parametrize(
    "words",
    [
        ["claims", "a_blitz_is_rare", "do_not_chase_31", "--players", "2", "--deals", "600"],
        ["exploit", "danish", "--exploiters", "dutch,random", "--learn", "0", "--deals", "2100"],
        [
            "thresholds",
            "--rules",
            "danish,finnish",
            "--first",
            "27",
            "--last",
            "29",
            "--deals",
            "600",
        ],
    ],
)
def test_commands_print_the_same(cluster, words, capsys):
    from agents.evaluation.cli import COMMANDS, main
    from agents.training.exploit import ExploitCommand

    found = []
    for backend in ("ray", "local"):
        command = [*words, "--format", "json", "--backend", backend]
        assert main(command, {**COMMANDS, "exploit": ExploitCommand}) == 0
        found.append(capsys.readouterr().out)
    assert found[0] == found[1]
    assert json.loads(found[0])


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore")
def test_an_error_of_a_job_is_the_error_of_the_study(cluster):
    def wrong(job):
        raise ValueError(f"job {job} cannot be done")

    with pytest.raises(ValueError, match=r"^job 7 cannot be done$"):
        run_jobs([7], wrong, workers=None, backend=RAY)
