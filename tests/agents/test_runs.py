"""Runs as processes: signals, kills, full disks, two at once."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from agents.policies import KnockPolicy

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(os.name == "nt", reason="signals"),
]
VALUES = {
    "name": "small",
    "players": [2],
    "rows": 64,
    "rollout": 16,
    "batch": 256,
    "hidden": [16],
    "steps": 10**9,
    "save_every": 2048,
    "panel": {"every": 0},
    "benchmark": {"players": [2], "opponents": ["random"], "deals": 20, "exploit_deals": 0},
}


def start(tmp_path, *words, **options):
    return subprocess.Popen(
        [sys.executable, str(ROOT / "train.py"), *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def finish(process):
    """Its exit status, output and errors."""
    out, err = process.communicate(timeout=240)
    return process.returncode, out, err


def config(tmp_path, **changes):
    (tmp_path / "small.yaml").write_text(json.dumps(VALUES | changes), "utf-8")
    return "small.yaml"


def wait_for(folder, number=2):
    """Until a run has saved so many checkpoints."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if any(int(path.stem[5:]) >= 2048 * (number - 1) for path in folder.glob("c*/step-*")):
            return
        time.sleep(0.05)
    raise AssertionError("no checkpoint came")


def weights(folder):
    return KnockPolicy.load(folder).weights


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_and_stops(tmp_path, number, status):
    """Also where the shell lets background commands ignore Ctrl-C."""
    process = start(
        tmp_path,
        config(tmp_path),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    folder = tmp_path / "runs" / "small-1"
    wait_for(folder)
    process.send_signal(number)
    code, out, err = finish(process)
    assert code == status, err
    assert "interrupted; the policy so far is in runs/small-1; go on with: train.py --res" in out
    assert "saving, then stopping" in err or number == signal.SIGTERM
    steps = KnockPolicy.load(folder).config.training["steps"]
    assert (folder / "checkpoints" / f"step-{steps:012d}.safetensors").exists()
    assert not list(folder.rglob(".*"))


def test_a_second_signal_quits_at_once(tmp_path):
    code = (
        "from agents.training.stopping import stopping\n"
        "import time\n"
        "with stopping() as stop, stop.at_checks():\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(60); time.sleep(60)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline() == "\n"
    assert "Ctrl-C once more quits at once" in process.stderr.readline()
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert finish(process)[0] == 130


def test_a_killed_run_goes_on_and_ends_with_the_same_bits(tmp_path):
    path = config(tmp_path, steps=40_000)
    process = start(tmp_path, path)
    killed = tmp_path / "runs" / "small-1"
    wait_for(killed, 4)
    process.kill()
    assert finish(process)[0] == -signal.SIGKILL
    code, out, err = finish(start(tmp_path, "--resume", "runs/small-1"))
    assert code == 0, err
    assert "training: 40,960 of 40,960 steps" in out
    assert finish(start(tmp_path, path))[0] == 0
    whole = tmp_path / "runs" / "small-2"
    for one, other in zip(weights(killed / "last"), weights(whole / "last"), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (killed / "training.csv").read_text() == (whole / "training.csv").read_text()


def test_a_full_disk_ends_the_run_and_keeps_the_last_checkpoint(tmp_path):
    """The limit of a file's size stands for the disk: a longer file cannot be written."""
    import resource

    process = start(tmp_path, config(tmp_path, steps=80_000, save_every=10**6))
    folder = tmp_path / "runs" / "small-1"
    wait_for(folder, 1)
    process.send_signal(signal.SIGTERM)
    assert finish(process)[0] == 143
    before = {path.name: path.read_bytes() for path in (folder / "checkpoints").iterdir()}

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    code, _, err = finish(start(tmp_path, "--resume", "runs/small-1", preexec_fn=limit))
    assert code == 1, err
    assert "File too large" in err
    assert "go on with: train.py --resume runs/small-1" in err
    assert "Traceback" not in err
    after = {path.name: path.read_bytes() for path in (folder / "checkpoints").iterdir()}
    assert after == before
    assert finish(start(tmp_path, "--resume", "runs/small-1"))[0] == 0


def test_a_run_that_is_being_trained_is_left_alone(tmp_path):
    process = start(tmp_path, config(tmp_path))
    wait_for(tmp_path / "runs" / "small-1")
    code, _, err = finish(start(tmp_path, "--resume", "runs/small-1"))
    process.kill()
    finish(process)
    assert code == 2
    assert "is being trained by another process" in err


def test_four_runs_at_once_get_folders_of_their_own(tmp_path):
    path = config(tmp_path, steps=2_000)
    runs = [start(tmp_path, path) for _ in range(4)]
    assert [finish(run)[0] for run in runs] == [0] * 4
    folders = sorted((tmp_path / "runs").iterdir())
    assert [folder.name for folder in folders] == [f"small-{i}" for i in (1, 2, 3, 4)]
    assert len({KnockPolicy.load(folder).weights[0].tobytes() for folder in folders}) == 1
