"""Sweeps: values are checked before anything is trained, and a sweep that was cut goes on."""

import csv
import dataclasses
import json

import pytest

from agents.evaluation import benchmark
from agents.evaluation.exploit import Exploitation
from agents.evaluation.options import ConfigError
from agents.training import cli, trial
from agents.training.config import KnockPpoConfig
from agents.training.sweep_config import load_sweep

BASE = {
    "name": "base",
    "rows": 64,
    "rollout": 16,
    "batch": 256,
    "hidden": [8],
    "players": [2],
    "steps": 3_000,
    "panel": {"every": 10_000, "deals": 10, "opponents": ["random"]},
}
SPACE = {
    "learning_rate": {"low": 1e-3, "high": 1e-2, "log": True},
    "epochs": {"low": 1, "high": 3},
    "hidden": {"choices": [[8], [4, 4]]},
}


def files(tmp_path, trials=3, space=SPACE):
    base, file = tmp_path / "base.yaml", tmp_path / "sweep.yaml"
    base.write_text(json.dumps(BASE | {"runs": str(tmp_path / "runs")}), "utf-8")
    file.write_text(json.dumps({"name": "sw", "trials": trials, "space": space}), "utf-8")
    return [str(base), "--sweep", str(file)]


def rows(tmp_path):
    with (tmp_path / "runs" / "sw" / "trials.csv").open() as file:
        return list(csv.DictReader(file))


def test_a_sweep_goes_on_where_it_was_and_can_grow(tmp_path, capsys, monkeypatch):
    learn, count = trial.learn, []

    def cut(*arguments, **options):
        count.append(0)
        if len(count) == 2:
            options["stop"].number = 2  # Ctrl-C during the second trial
        return learn(*arguments, **options)

    monkeypatch.setattr(trial, "learn", cut)
    assert cli.main(files(tmp_path)) == 130
    monkeypatch.setattr(trial, "learn", learn)
    assert cli.main(files(tmp_path)) == 0
    out = capsys.readouterr().out
    assert "The best of 3 trials" in out
    assert [row["state"] for row in rows(tmp_path)] == ["complete"] * 3
    folders = sorted(path.name for path in (tmp_path / "runs" / "sw").glob("trial-*"))
    assert folders == ["trial-1", "trial-2", "trial-3"]
    assert cli.main(files(tmp_path, 4)) == 0
    found = rows(tmp_path)
    assert len(found) == 4
    assert len({row["learning_rate"] for row in found}) == 4
    for row in found:
        assert 1e-3 <= float(row["learning_rate"]) <= 1e-2
        assert row["hidden"] in ("[8]", "[4, 4]")
    config = (tmp_path / "runs" / "sw" / "trial-2" / "config.yaml").read_text("utf-8")
    assert f"learning_rate: {found[1]['learning_rate']}" in config


@pytest.mark.parametrize("part", ["benchmark", "exploiters"])
def test_a_policy_whose_measuring_is_stopped_gets_no_report(part, tmp_path, monkeypatch, capsys):
    base, _, _ = files(tmp_path)
    words = [base, "--benchmark.deals", "8", "--benchmark.exploit-deals", "8"]
    words += ["--benchmark.players", "2"]
    if part == "benchmark":
        whole = benchmark.run
        monkeypatch.setattr(
            benchmark, "run", lambda *a, **more: dataclasses.replace(whole(*a, **more), planned=8)
        )
    else:
        none = Exploitation("some", 2, 8, (), None, interrupted=True)
        monkeypatch.setattr(cli, "exploit", lambda *a, **more: none)
    assert cli.main(words) == 130
    folder = tmp_path / "runs" / "base-1"
    assert not (folder / "card.md").exists()
    monkeypatch.undo()
    assert cli.main(["--resume", str(folder)]) == 0
    assert (folder / "card.md").exists()


def test_a_sweep_of_something_else_is_refused(tmp_path, capsys):
    assert cli.main(files(tmp_path, 1)) == 0
    assert cli.main([*files(tmp_path, 1), "--rows", "128"]) == 2
    assert "was begun with something else: config.rows was 64 and is 128" in capsys.readouterr().err
    assert cli.main(files(tmp_path, 1, {"epochs": {"low": 1, "high": 4}})) == 2
    assert "sweep.space.learning_rate was" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("space: {learning_rat: {low: 1, high: 2}}", "learning_rat is no key of the configuration"),
        ("space: {panel: {low: 1, high: 2}}", "panel cannot be varied"),
        ("space: {epochs: {low: 1.5, high: 2}}", "epochs: low and high must be whole numbers"),
        ("space: {epochs: {low: 1, hig: 2}}", "unknown key space.epochs.hig, did you mean high"),
        ("space: {epochs: {low: 1}}", "either low and high, or choices"),
        ("space: {epochs: {low: 3, high: 2}}", "low must be less than high"),
        ("space: {epochs: {low: 0, high: 2, log: true}}", "log needs a low above 0"),
        ("space: {epochs: {choices: [1, two]}}", "epochs must be a whole number, not 'two'"),
        ("space: {hidden: {low: 1, high: 2}}", "hidden needs choices: hidden is no number"),
        ("space: {hidden: {choices: [64]}}", "hidden must be a list, not 64"),
        ("space: {}", "space must name at least one key"),
        ("trials: 0\nspace: {epochs: {low: 1, high: 2}}", "trials must be at least 1"),
        ("trial: 3", "unknown key trial, did you mean trials"),
        ("[]", "must be keys and values"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, message):
    path = tmp_path / "some.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=message) as caught:
        load_sweep(path, KnockPpoConfig())
    assert "some.yaml: " in str(caught.value)


def test_a_sweep_needs_a_panel(tmp_path, capsys):
    assert cli.main([*files(tmp_path), "--panel.every", "0"]) == 2
    assert "a sweep needs an algorithm with a panel" in capsys.readouterr().err
    assert cli.main([files(tmp_path)[0], "--sweep"]) == 2
    assert "--sweep takes a file" in capsys.readouterr().err


def test_the_shipped_sweeps_fit_their_configurations():
    from agents.training.config import load
    from tests.agents.test_config import CONFIGS

    folder = CONFIGS[0].parent / "sweeps"
    fitting = {"knock_ppo.yaml": "quickstart.yaml"}
    assert {path.name for path in folder.iterdir()} == set(fitting)
    for name, config in fitting.items():
        load_sweep(folder / name, load(folder.parent / config))
