"""Configuration files: what is wrong is refused by name, what is right comes back the same."""

from pathlib import Path

import pytest

from agents.evaluation.options import ConfigError, joined
from agents.training.cli import main, parse
from agents.training.config import KnockPpoConfig, load, to_yaml

CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))


def file(tmp_path, text):
    path = tmp_path / "some.yaml"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_configuration_loads(path):
    assert load(path).name == path.stem


def test_a_number_with_an_exponent_is_a_number(tmp_path):
    config = load(file(tmp_path, "learning_rate: 5e-4\nsteps: 8_000_000\n"))
    assert (config.learning_rate, config.steps) == (5e-4, 8_000_000)


def test_an_empty_file_is_the_default(tmp_path):
    assert load(file(tmp_path, "# nothing\n")) == KnockPpoConfig()


def test_what_was_in_effect_can_be_run_again(tmp_path):
    config = parse(
        str(file(tmp_path, "house_rules: {min_knock: 21, three_of_a_kind: null}\n")),
        ["--seed", "3", "--opponents", "random=1,threshold_by_turn:21,25=0.5"],
    )
    assert config.opponents == {"random": 1.0, "threshold_by_turn:21,25": 0.5}
    assert load(file(tmp_path, to_yaml(config))) == config


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "learning_rat: 0.1",
            "unknown key learning_rat, did you mean learning_rate.; allowed: acti",
        ),
        ("benchmark: {deal: 10}", r"unknown key benchmark.deal, did you mean deals.; allowed"),
        ("steps: many", "steps must be a whole number, not 'many'"),
        ("steps: 1.5", "steps must be a whole number"),
        ("steps: true", "steps must be a whole number"),
        ("gamma: '1'", "gamma must be a number, not '1'"),
        ("players: 2", "players must be a list, not 2"),
        ("players: [2, x]", r"players\[1\] must be a whole number"),
        ("reward: equty", "reward must be one of equity, lives, not 'equty', did you mean equity"),
        ("opponents: {random: x}", "opponents.random must be a number"),
        ("opponents: [random]", "opponents must be keys and values"),
        ("opponents: {random: 0}", "weight above 0"),
        ("opponents: {thresholt: 1}", "unknown bot 'thresholt'"),
        ("opponents: {}", "weight above 0"),
        ("benchmark: 3", "benchmark must be keys and values"),
        ("benchmark: {deals: 1}", "deals must be at least 2"),
        ("algorithm: knock_pop", r"one of knock_ppo, .*not 'knock_pop', did you mean knock_"),
        ("rules: danisch", "danish"),
        ("house_rules: {min_nock: 3}", "min_knock"),
        ("house_rules: {min_knock: [3]}", "house_rules.min_knock must be a number, text"),
        ("players: [1]", "players"),
        ("copies: 2", "copies must lie between 0 and 1"),
        ("hidden: []", "hidden must name"),
        ("rows: 10\nrollout: 3\nbatch: 20", "batch must divide"),
        ("name: a/b", "name of a folder"),
        ("seed: -1", "seed must be at least 0"),
        ("steps: 1\nsteps: 2", "line 2: found duplicate key"),
        ("steps: [", "line 1"),
        ("- 1", "must be keys and values"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message) as caught:
        load(file(tmp_path, text))
    assert "some.yaml: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path, capsys):
    assert main([str(tmp_path / "none.yaml")]) == 2
    assert "none.yaml: No such file" in capsys.readouterr().err


def test_a_bad_override_ends_with_status_2(tmp_path, capsys):
    with pytest.raises(SystemExit) as caught:
        main([str(file(tmp_path, "")), "--stepz", "3"])
    assert caught.value.code == 2
    assert "--steps" in capsys.readouterr().err


def test_a_bad_opponent_of_the_benchmark_is_found_before_the_training(tmp_path, capsys):
    path = str(file(tmp_path, f"runs: {tmp_path / 'runs'}"))
    assert main([path, "--benchmark.opponents", "random,thresholt:3"]) == 2
    assert "thresholt:3" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_the_help_tells_what_stands_below_the_fields(tmp_path, capsys):
    with pytest.raises(SystemExit) as caught:
        main([str(file(tmp_path, "")), "--help"])
    assert caught.value.code == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Tables played side by side" in out


@pytest.mark.parametrize(("words", "status"), [([], 2), (["--help"], 0), (["--steps"], 2)])
def test_the_configuration_comes_first(words, status, capsys):
    assert main(words) == status
    assert "usage: train.py CONFIG.yaml" in "".join(capsys.readouterr())


def test_joined_is_what_the_command_line_takes():
    assert joined({"min_knock": 21, "ties": "suit", "jokers": None}) == (
        "min_knock=21,ties=suit,jokers=null"
    )
