"""Training in small: it learns, repeats, saves when interrupted, and leaves nothing changed."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from agents.evaluation.match import play
from agents.policies import KnockPolicy
from agents.training import cli, knock_ppo
from agents.training.config import BenchmarkConfig, KnockPpoConfig
from thirtyone_env import Rules

ROOT = Path(__file__).parents[2]
TINY = KnockPpoConfig(
    name="tiny",
    steps=4_000,
    rows=64,
    rollout=16,
    batch=256,
    hidden=(16,),
    benchmark=BenchmarkConfig(players=(2,), opponents=("random",), deals=20, workers=1),
)


def test_it_learns_to_beat_a_bot_that_knocks_too_early(tmp_path):
    config = replace(
        TINY, steps=150_000, rows=256, batch=1024, players=(2,), opponents={"threshold:21": 1.0}
    )
    policy = knock_ppo.train(config, tmp_path)
    rate = play([policy, "threshold:21"], rules=Rules.preset("danish"), deals=1500, seed=9)
    assert rate.win_rate(0).low > 0.52


def test_the_same_training_gives_the_same_weights(tmp_path):
    one, two = (knock_ppo.train(TINY, tmp_path) for _ in range(2))
    other = knock_ppo.train(replace(TINY, seed=2), tmp_path)
    same = [np.array_equal(a, b) for a, b in zip(one.weights, two.weights, strict=True)]
    assert all(same)
    assert any(not np.array_equal(a, b) for a, b in zip(one.weights, other.weights, strict=True))


def test_global_generators_and_threads_are_given_back(tmp_path):
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    torch.manual_seed(1)
    before = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()  # noqa: NPY002
    threads = torch.get_num_threads()
    knock_ppo.train(TINY, tmp_path)
    after = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()  # noqa: NPY002
    assert after == before
    assert torch.get_num_threads() == threads


def test_no_steps_save_what_it_started_with(tmp_path):
    policy = knock_ppo.train(replace(TINY, steps=0), tmp_path)
    assert policy.config.training["steps"] == 0
    assert KnockPolicy.load(tmp_path).config == policy.config


def test_steps_are_whole_rollouts(tmp_path):
    seen = []
    policy = knock_ppo.train(TINY, tmp_path, seen.append)
    assert seen == [1024] * 4
    assert knock_ppo.planned_steps(TINY) == 4096 == policy.config.training["steps"]
    lines = (tmp_path / "training.csv").read_text().splitlines()
    assert len(lines) == 1 + 4
    assert lines[0].startswith("steps,reward_per_round")


def test_an_interrupted_training_saves(tmp_path):
    def stop(steps):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        knock_ppo.train(TINY, tmp_path, stop)
    assert KnockPolicy.load(tmp_path).config.training["steps"] == 1024


def small_file(tmp_path, **changes):
    values = {
        "name": "small",
        "runs": str(tmp_path / "runs"),
        "rows": 64,
        "rollout": 16,
        "batch": 256,
        "benchmark": {"players": [2], "opponents": ["random", "danish"], "deals": 40},
    }
    path = tmp_path / "small.yaml"
    path.write_text(json.dumps(values | changes), "utf-8")
    return path


def test_the_command_leaves_a_whole_run_folder(tmp_path, capsys):
    assert cli.main([str(small_file(tmp_path)), "--steps", "2000", "--seed", "4"]) == 0
    folder = tmp_path / "runs" / "small-1"
    names = {path.name for path in folder.iterdir()}
    assert names >= {
        "config.yaml",
        "policy.json",
        "policy.safetensors",
        "training.csv",
        "benchmark.json",
        "benchmark.csv",
        "report.html",
        "knock_chart.png",
        "win_rates.png",
    }
    out = capsys.readouterr().out
    assert "training: 2,048 of 2,048 steps" in out
    assert "Heads-up" in out
    assert KnockPolicy.load(folder).config.training["config"]["seed"] == 4
    assert (
        "--players 2 --opponents random,danish --deals 40" in (folder / "report.html").read_text()
    )


def test_a_second_run_leaves_the_first_alone(tmp_path):
    for _ in range(2):
        assert cli.main([str(small_file(tmp_path)), "--steps", "0"]) == 0
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["small-1", "small-2"]


@pytest.mark.integration
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_saves_and_exits_with_130(tmp_path):
    """Also where the shell lets background commands ignore it."""
    path = small_file(tmp_path, steps=10**9, save_every=1)
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "train.py"), str(path)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    saved = tmp_path / "runs" / "small-1" / "policy.safetensors"
    end = time.monotonic() + 120
    while not saved.exists() and time.monotonic() < end:
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted; the policy so far is in" in out
    assert KnockPolicy.load(saved.parent).config.training["steps"] > 0
    assert not list(saved.parent.glob(".*"))
