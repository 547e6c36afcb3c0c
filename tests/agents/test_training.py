"""Training in small: it learns, repeats, stops and goes on, and leaves nothing changed."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from agents.evaluation import cli as evaluation
from agents.evaluation.match import play
from agents.evaluation.progress import Meter
from agents.evaluation.statistics import Estimate
from agents.policies import KnockPolicy
from agents.training import cli, knock_dqn, knock_ppo
from agents.training.config import (
    BenchmarkConfig,
    KnockDqnConfig,
    KnockPpoConfig,
    PanelConfig,
    to_yaml,
)
from agents.training.learning import learn
from agents.training.panel import Panel, PanelResult
from agents.training.run import DivergedError, RunError
from agents.training.stopping import Interrupted, Stop
from thirtyone_env import Rules

PANEL = PanelConfig(every=4_000, deals=20, players=(2,), opponents=("random", "danish"), workers=1)
TINY = KnockPpoConfig(
    name="tiny",
    steps=8_000,
    rows=64,
    rollout=16,
    batch=256,
    hidden=(16,),
    save_every=3_000,
    panel=PANEL,
    benchmark=BenchmarkConfig(
        players=(2,), opponents=("random",), deals=20, exploit_deals=0, workers=1
    ),
)
TINY_DQN = KnockDqnConfig(
    name="tiny",
    steps=12_000,
    rows=64,
    batch=64,
    hidden=(16,),
    warm_up=1_000,
    buffer=4_096,
    target_every=192,
    save_every=5_000,
    save_replay=True,
    panel=PANEL,
)


def meter(seen, stop=None, at=10**9):
    """A meter that writes down the steps, and asks to stop."""

    def advance(count):
        seen.append(count)
        if stop is not None and sum(seen) >= at:
            stop.number = 2

    return Meter(advance, lambda note: None)


def train(config, folder, **options):
    module = knock_dqn if isinstance(config, KnockDqnConfig) else knock_ppo
    folder.mkdir(exist_ok=True)
    return learn(module.prepare, config, folder, **options)


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one.weights, other.weights, strict=True))


@pytest.mark.parametrize(
    "config",
    [
        replace(TINY, steps=150_000, rows=256, batch=1024),
        replace(TINY_DQN, steps=150_000, rows=128, batch=512, target_every=2_048, buffer=50_000),
    ],
    ids=["ppo", "dqn"],
)
def test_it_learns_to_beat_a_bot_that_knocks_too_early(tmp_path, config):
    config = replace(
        config, players=(2,), opponents={"threshold:21": 1.0}, panel=replace(PANEL, every=0)
    )
    policy = train(config, tmp_path)
    rate = play([policy, "threshold:21"], rules=Rules.preset("danish"), deals=1500, seed=9)
    assert rate.win_rate(0).low > 0.52


@pytest.mark.parametrize("config", [TINY, TINY_DQN], ids=["ppo", "dqn"])
def test_the_same_training_gives_the_same_weights(tmp_path, config):
    one = train(config, tmp_path / "one")
    assert same(one, train(config, tmp_path / "two"))
    assert not same(one, train(replace(config, seed=2), tmp_path / "other"))


@pytest.mark.parametrize("config", [TINY, TINY_DQN], ids=["ppo", "dqn"])
def test_a_resumed_run_ends_with_the_bits_of_an_uninterrupted_one(tmp_path, config):
    whole = train(config, tmp_path / "whole")
    for at in (1, 5_000):
        stop = Stop()
        with pytest.raises(Interrupted):
            train(config, tmp_path / "parts", meter=meter([], stop, at), stop=stop)
    parts = train(config, tmp_path / "parts")
    assert same(whole, parts)
    assert whole.config == parts.config
    for name in ("training.csv", "panel.csv"):
        assert (tmp_path / "parts" / name).read_text() == (tmp_path / "whole" / name).read_text()
    best = [KnockPolicy.load(tmp_path / name, "best") for name in ("whole", "parts")]
    assert same(*best)
    assert best[0].config == best[1].config


def test_lines_that_were_written_after_the_checkpoint_are_written_once(tmp_path):
    """As after a kill: the curve is further than the checkpoint, its last line cut."""
    train(replace(TINY, steps=4_000), tmp_path / "whole")
    stop = Stop()
    with pytest.raises(Interrupted):
        train(replace(TINY, steps=4_000), tmp_path / "cut", meter=meter([], stop, 2_000), stop=stop)
    with (tmp_path / "cut" / "training.csv").open("a") as file:
        file.write("3072,0.1,0.2,0.3,0.4\n4096,0.1,")
    train(replace(TINY, steps=4_000), tmp_path / "cut")
    texts = [(tmp_path / name / "training.csv").read_text() for name in ("whole", "cut")]
    assert texts[0] == texts[1]


def test_without_its_replay_buffer_a_run_fills_a_new_one(tmp_path):
    config = replace(TINY_DQN, save_replay=False)
    stop = Stop()
    with pytest.raises(Interrupted):
        train(config, tmp_path / "run", meter=meter([], stop, 6_000), stop=stop)
    seen = []
    policy = train(config, tmp_path / "run", meter=meter(seen))
    assert policy.config.training["steps"] == knock_dqn.planned_steps(config) == 12_288
    assert sum(seen) == 12_288 - 6_144
    lines = (tmp_path / "run" / "training.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == [str(2_048 * i) for i in range(1, 7)]


def test_global_generators_and_threads_are_given_back(tmp_path):
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    torch.manual_seed(1)

    def states():
        numpy = np.random.get_state()[1].tolist()  # noqa: NPY002
        return random.getstate(), numpy, torch.get_rng_state().tolist()

    before, threads = states(), torch.get_num_threads()
    train(TINY, tmp_path)
    assert states() == before
    assert torch.get_num_threads() == threads


def test_the_panel_changes_nothing_of_what_is_learned(tmp_path):
    one = train(TINY, tmp_path / "with")
    assert same(one, train(replace(TINY, panel=replace(PANEL, every=0)), tmp_path / "without"))
    assert not (tmp_path / "without" / "panel.csv").exists()
    assert same(one, KnockPolicy.load(tmp_path / "without"))


@pytest.mark.parametrize("rows", [32, 128])
def test_the_panel_comes_by_environment_steps_whatever_the_rows(tmp_path, rows):
    train(replace(TINY, rows=rows), tmp_path)
    lines = (tmp_path / "panel.csv").read_text().splitlines()
    assert lines[0] == "steps,score,low,high,random@2,danish@2"
    assert [line.split(",")[0] for line in lines[1:]] == ["4096", "8192"]


def test_the_best_by_the_panel_is_kept_beside_the_last(tmp_path, monkeypatch):
    scores = iter([0.6, 0.7, 0.5])

    def judge(self, policy, step):
        score = next(scores)
        return PanelResult(step, Estimate(score, score - 0.1, score + 0.1), ())

    monkeypatch.setattr(Panel, "judge", judge)
    last = train(replace(TINY, panel=replace(PANEL, every=3_000)), tmp_path)
    best = KnockPolicy.load(tmp_path)
    assert best.config.training["steps"] == 6_144
    assert KnockPolicy.load(tmp_path / "last").config.training["steps"] == 8_192
    assert same(last, KnockPolicy.load(tmp_path / "last"))
    assert KnockPolicy.load(tmp_path / "last").name == f"{tmp_path.name}-last"


def test_no_steps_save_what_it_started_with(tmp_path):
    policy = train(replace(TINY, steps=0), tmp_path)
    assert policy.config.training["steps"] == 0
    assert KnockPolicy.load(tmp_path).config == policy.config


def test_steps_are_whole_rollouts(tmp_path):
    seen = []
    policy = train(replace(TINY, steps=4_000), tmp_path, meter=meter(seen))
    assert seen == [1024] * 4
    assert policy.config.training["steps"] == 4096
    lines = (tmp_path / "training.csv").read_text().splitlines()
    assert len(lines) == 1 + 4
    assert lines[0].startswith("steps,reward_per_round")


@pytest.mark.parametrize("rate", [1e30, float("inf")])
def test_a_training_that_diverges_stops_and_keeps_the_last_good_checkpoint(tmp_path, rate):
    with pytest.raises(DivergedError, match=r"by step \d.*last good checkpoint is that of step"):
        train(replace(TINY, learning_rate=rate), tmp_path)
    policy = KnockPolicy.load(tmp_path)
    assert all(np.isfinite(array).all() for array in policy.weights)


def test_another_configuration_is_refused_by_its_keys(tmp_path):
    stop = Stop()
    with pytest.raises(Interrupted):
        train(TINY, tmp_path, meter=meter([], stop, 1), stop=stop)
    with pytest.raises(RunError, match=r"panel.deals was 20 and is 30; batch was 256 and is 512"):
        train(replace(TINY, batch=512, panel=replace(PANEL, deals=30)), tmp_path)


def run_folder(tmp_path, config=TINY):
    """A run that was stopped after a thousand steps."""
    folder = tmp_path / "tiny-1"
    folder.mkdir()
    (folder / "config.yaml").write_text(to_yaml(config), "utf-8")
    (folder / "run.json").write_text('{"stage": "training", "sessions": []}')
    stop = Stop()
    with pytest.raises(Interrupted):
        train(config, folder, meter=meter([], stop, 1), stop=stop)
    return folder


def test_the_command_resumes_to_the_end_and_then_refuses(tmp_path, capsys):
    folder = run_folder(tmp_path)
    assert cli.main(["--resume", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "going on at step 1,024 of 8,192" in out
    assert "training: 8,192 of 8,192 steps" in out
    assert "panel " in out
    whole = train(TINY, tmp_path / "whole")
    assert same(whole, KnockPolicy.load(folder / "last"))
    assert "# tiny-1" in (folder / "card.md").read_text("utf-8")
    assert cli.main(["--resume", str(folder)]) == 2
    assert "is finished; its report is" in capsys.readouterr().err


def test_what_cannot_be_resumed_is_said(tmp_path, capsys):
    def refused(*words):
        assert cli.main(["--resume", *map(str, words)]) == 2
        return capsys.readouterr().err

    assert "takes one run folder and nothing else, not 0" in refused()
    assert "there is no run folder" in refused(tmp_path / "none")
    assert "is no run folder: there is no config.yaml in it" in refused(tmp_path)
    folder = run_folder(tmp_path)
    assert "what a run was begun with cannot be changed" in refused(folder, "--seed", 2)
    text = (folder / "config.yaml").read_text("utf-8")
    (folder / "config.yaml").write_text(text.replace("seed: 1\n", "seed: 2\n"), "utf-8")
    assert "another configuration: seed was 1 and is 2" in refused(folder)
    (folder / "config.yaml").write_text(text, "utf-8")
    for path in (folder / "checkpoints").iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    assert "is not a readable checkpoint" in refused(folder)
    (folder / "config.yaml").write_text("algorithm: chart\n", "utf-8")
    assert "a run of chart cannot be resumed" in refused(folder)


def small_file(tmp_path, **changes):
    values = {
        "name": "small",
        "runs": str(tmp_path / "runs"),
        "rows": 64,
        "rollout": 16,
        "batch": 256,
        "panel": {"opponents": ["random", "danish"], "deals": 20},
        "benchmark": {
            "players": [2],
            "opponents": ["random", "danish"],
            "deals": 40,
            "exploit_deals": 10,
        },
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
        "panel.csv",
        "run.json",
        "card.md",
        "last",
        "checkpoints",
        "tensorboard",
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
    about = json.loads((folder / "run.json").read_text("utf-8"))
    assert about["stage"] == "finished"
    assert about["sessions"][0]["packages"]["numpy"] == np.__version__
    card = (folder / "card.md").read_text("utf-8")
    for text in ("2,048 steps with seed 4", "![", "Exploitability", "the best by the panel"):
        assert text in card
    assert card.count("| `danish` | heads-up |") == 2  # the panel's row and the benchmark's
    assert (
        "--players 2 --opponents random,danish --deals 40" in (folder / "report.html").read_text()
    )


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a graphics card")
def test_a_device_that_there_is_not_is_refused_before_the_run(tmp_path, capsys):
    assert cli.main([str(small_file(tmp_path)), "--device", "cuda"]) == 2
    assert "there is no cuda here; cpu is quicker" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_a_second_run_leaves_the_first_alone(tmp_path):
    for _ in range(2):
        assert cli.main([str(small_file(tmp_path)), "--steps", "0"]) == 0
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["small-1", "small-2"]


def test_a_model_for_stable_baselines_is_read_only_when_it_is_trusted(tmp_path, capsys):
    folder = run_folder(tmp_path, replace(TINY, draws="swedish"))
    assert cli.main(["--export", str(folder)]) == 0
    path = folder / "model.zip"
    assert f"written: {path}" in capsys.readouterr().out.replace("\n", "")
    words = ["benchmark", str(path), "--players", "2", "--opponents", "danish", "--deals", "20"]
    assert evaluation.main(words) == 2
    assert "it can run any code while it is loaded; say --trust" in capsys.readouterr().err
    assert evaluation.main(["--trust", *words, "--format", "json"]) == 0
    exported = json.loads(capsys.readouterr().out)["rows"][0]
    assert evaluation.main([words[0], str(folder / "last"), *words[2:], "--format", "json"]) == 0
    saved = json.loads(capsys.readouterr().out)["rows"][0]
    assert exported.pop("policy") == "tiny-1-model"
    assert saved.pop("policy") == "tiny-1-last"
    assert exported == saved
    (folder / "bad.zip").write_bytes(b"no zip")
    assert evaluation.main(["--trust", "benchmark", str(folder / "bad.zip")]) == 2
    assert "bad.zip is no model of Stable-Baselines3" in capsys.readouterr().err


def test_only_models_can_be_exported(tmp_path, capsys):
    assert cli.main(["--export", str(tmp_path)]) == 2
    assert "is no run folder" in capsys.readouterr().err
