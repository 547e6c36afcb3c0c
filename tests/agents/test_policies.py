"""Saved policies come back the same, and damaged ones give one clear error."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import thirtyone_env
from agents.evaluation.match import play
from agents.policies import (
    PRETRAINED,
    KnockPolicy,
    PolicyFileError,
    ScriptedPolicy,
    make,
    pretrained_names,
    seated,
    split_names,
)
from tests.agents.small import small_policy, threshold_policy
from tests.engine.situations import fresh_seed
from thirtyone_env import Rules
from thirtyone_env.observation import COMPACT_SIZE

ROOT = Path(__file__).parents[2]
DANISH = Rules.preset("danish")


@pytest.fixture
def policy():
    return small_policy()


def observations(count=500, seed=3):
    return np.random.default_rng(seed).normal(0, 1, (count, COMPACT_SIZE)).astype(np.float32)


def test_a_saved_policy_comes_back_the_same(policy, tmp_path):
    policy.save(tmp_path)
    for path in (tmp_path, tmp_path / "policy.safetensors", tmp_path / "policy.json"):
        again = KnockPolicy.load(path)
        assert again.config == policy.config
        assert again.name == tmp_path.name
        same = again.knock_probability(observations()) == policy.knock_probability(observations())
        assert same.all()


def test_saving_twice_gives_the_same_bytes(policy, tmp_path):
    first = policy.save(tmp_path).read_bytes()
    assert policy.save(tmp_path).read_bytes() == first
    assert sorted(p.name for p in tmp_path.iterdir()) == ["policy.json", "policy.safetensors"]


def test_the_configuration_can_be_read_by_people(policy, tmp_path):
    policy.save(tmp_path)
    data = json.loads((tmp_path / "policy.json").read_text())
    assert data["players"] == [2, 4]
    assert data["rules"]["lives"] == 3


def test_rows_do_not_depend_on_each_other(policy):
    rows = observations()
    alone = np.concatenate([policy.knock_probability(row[None]) for row in rows])
    np.testing.assert_allclose(policy.knock_probability(rows), alone, rtol=1e-12)
    assert (policy.decide(rows) == (alone >= 0.5)).all()


def truncate(path):
    path.write_bytes(path.read_bytes()[:-40])


def empty(path):
    path.write_bytes(b"")


def scribble(path):
    path.write_bytes(b"hello" * 100)


def drop_header(path):
    save_file(load_file(path), path)


def rewrite(**changes):
    def change(path):
        header = json.loads(path.with_suffix(".json").read_text()) | changes
        save_file(load_file(path), path, metadata={"policy": json.dumps(header)})

    return change


def cut_layer(path):
    tensors = load_file(path)
    tensors["layer1.weight"] = tensors["layer1.weight"][:3].copy()
    header = path.with_suffix(".json").read_text()
    save_file(tensors, path, metadata={"policy": header})


def poison(path):
    tensors = load_file(path)
    tensors["layer0.bias"][0] = np.nan
    header = path.with_suffix(".json").read_text()
    save_file(tensors, path, metadata={"policy": header})


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (truncate, "not a readable policy"),
        (empty, "not a readable policy"),
        (scribble, "not a readable policy"),
        (drop_header, "not a readable policy"),
        (cut_layer, "do not fit together"),
        (poison, "finite"),
        (rewrite(version=99), "version 99"),
        (rewrite(format="other"), "does not say"),
        (rewrite(activation="exec"), "activation 'exec'"),
        (rewrite(players=None), "not a readable policy"),
        (rewrite(observation=["x"]), "other observations .*1 numbers, now .*gone: x"),
    ],
)
def test_a_damaged_file_is_one_clear_error(policy, tmp_path, damage, message):
    path = policy.save(tmp_path)
    damage(path)
    with pytest.raises(PolicyFileError, match=message) as caught:
        make(str(tmp_path))
    assert "policy.safetensors" in str(caught.value)


def test_a_table_that_it_was_not_made_for_is_refused(policy):
    policy.check(DANISH, 2)
    with pytest.raises(ValueError, match="tables of 2 and 4, not of 3"):
        policy.check(DANISH, 3)
    other = Rules.preset("danish", min_knock=17, lives=4)
    with pytest.raises(ValueError, match=r"lives is 3 for the policy, 4 at .*min_knock is 0 .* 17"):
        policy.check(other, 2)


def test_names_and_paths(policy, tmp_path):
    assert make("threshold:25") == ScriptedPolicy("threshold:25")
    policy.save(tmp_path)
    assert isinstance(make(str(tmp_path)), KnockPolicy)
    with pytest.raises(ValueError, match=r"'dannish' is neither a bot .*did you mean 'danish'"):
        make("dannish")
    with pytest.raises(PolicyFileError, match="no saved policy at runs/none"):
        make("runs/none")
    with pytest.raises(PolicyFileError, match="no saved policy"):
        make(str(tmp_path.parent))


def test_what_can_be_seated(policy):
    assert seated("danish").controller == "danish"
    assert seated(thirtyone_env.make_bot("danish")).controller == "danish"
    assert seated(policy) is policy
    with pytest.raises(TypeError, match="no policy"):
        seated(3)  # type: ignore[arg-type]


def test_split_names():
    assert split_names("random, threshold_by_turn:21,25.5,danish,,threshold:25") == (
        "random",
        "threshold_by_turn:21,25.5",
        "danish",
        "threshold:25",
    )


def test_it_plays_in_the_environment_like_the_bot_it_imitates():
    net, bot = threshold_policy(25), thirtyone_env.make_bot("threshold:25")
    env = thirtyone_env.env(rules="danish", num_players=3)
    env.reset(seed=5)
    knocks = 0
    for _ in env.agent_iter():
        *_, terminated, truncated, _ = env.last()
        action = None if terminated or truncated else net.act(env)
        if action is not None:
            assert action == bot.act(env)
            knocks += thirtyone_env.action_name(action) == "knock"
        env.step(action)
    assert knocks > 0


def test_it_refuses_an_environment_of_other_rules():
    env = thirtyone_env.env(rules="swedish", num_players=2)
    env.reset(seed=5)
    with pytest.raises(ValueError, match=r"learned by danish, not swedish: .*free_ride is False"):
        small_policy().act(env)
    with pytest.raises(TypeError, match="not an environment"):
        small_policy().act(object())


@pytest.mark.parametrize("name", pretrained_names())
def test_networks_that_come_with_the_checkout_play_and_have_a_card(name):
    policy = make(name)
    assert policy.name == name
    rules = Rules.from_dict(policy.config.rules[0])
    for size in policy.config.players:
        play([policy] * size, rules=rules, deals=20, seed=fresh_seed())
    folder = PRETRAINED / name.removeprefix("network:")
    card = (folder / "card.md").read_text("utf-8")
    assert card.startswith(f"# {name}\n")
    first = card.split("\n")[2]
    assert all(f"`{Rules.from_dict(rules).preset_name}`" in first for rules in policy.config.rules)
    assert "runs" not in policy.config.training["config"]
    assert (ROOT / "configs" / f"{folder.name}.yaml").exists()


def test_there_is_a_network_and_others_are_refused():
    assert "network:ppo_danish_heads_up" in pretrained_names()
    with pytest.raises(
        ValueError, match="there is no 'network:nobody'; there are network:generalist"
    ):
        make("network:nobody")
