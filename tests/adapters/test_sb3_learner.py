"""Stable-Baselines3: the vector environment, MaskablePPO on every kind, models as policies."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from functools import partial
from multiprocessing.reduction import ForkingPickler
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecEnv, VecMonitor

import thirtyone_env
from tests.env.helpers import BOTS, generator
from tests.env.oracle import random_table
from tests.env.test_single import Outside, for_knocking
from tests.env.test_vector import legal_actions
from thirtyone_env import PRESETS, game, make_bot
from thirtyone_env.adapters.sb3 import (
    KnockTimingVecEnv,
    MaskedEvalCallback,
    ModelPolicy,
    ThirtyOneVecEnv,
    evaluate_masked,
    load_policy,
)
from thirtyone_env.arena import Tables


@pytest.fixture(autouse=True)
def one_torch_thread() -> Iterator[None]:
    """Two threads on a busy machine are many times slower than one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


IDS = {"ThirtyOne-v0": ThirtyOneVecEnv, "KnockTiming-v0": KnockTimingVecEnv}


def one_env(name: str, options: dict[str, Any]) -> gymnasium.Env[Any, Any]:
    return gymnasium.make(
        f"thirtyone_env:{name}", **{"illegal": "raise", "flatten": True, **options}
    )


def dummy(name: str, rows: int, **options: Any) -> VecEnv:
    return DummyVecEnv([partial(one_env, name, options)] * rows)


def native(name: str, rows: int, **options: Any) -> ThirtyOneVecEnv:
    return IDS[name](rows, **{"illegal": "raise", **options})


def masks_of(env: VecEnv) -> np.ndarray:
    return np.stack(env.env_method("action_masks"))


@pytest.mark.parametrize("flatten", [True, False])
@pytest.mark.parametrize("name", IDS)
def test_native_is_the_vector_of_singles(name, flatten):
    rng = generator("sb3", name, flatten)
    ended = 0
    for preset in rng.choice(list(PRESETS), 4, replace=False):
        table = random_table(rng, str(preset))
        table = for_knocking(table) if name == "KnockTiming-v0" else table
        table["opponents"] = [str(bot) for bot in rng.choice(BOTS, table["num_players"] - 1)]
        table["learner_seat"] = ["rotate", "random", 1][rng.integers(3)]
        one = native(name, 5, flatten=flatten, **table)
        two = dummy(name, 5, **{**table, "flatten": flatten})
        assert one.observation_space == two.observation_space
        assert one.action_space == two.action_space
        seed = int(rng.integers(1 << 30))
        one.seed(seed)
        two.seed(seed)
        same(one.reset(), two.reset())
        for _ in range(120):
            masks = masks_of(one)
            assert masks.dtype == bool
            assert (masks == masks_of(two)).all()
            actions = legal_actions(rng, masks, 0.5)
            seen, rewards, dones, infos = one.step(actions)
            seen_too, rewards_too, dones_too, infos_too = two.step(actions)
            same(seen, seen_too)
            assert rewards.tolist() == rewards_too.tolist()
            assert dones.tolist() == dones_too.tolist()
            for info, info_too, done in zip(infos, infos_too, dones, strict=True):
                if done:
                    ended += 1
                    same(info["terminal_observation"], info_too["terminal_observation"])
                    assert info["TimeLimit.truncated"] == info_too["TimeLimit.truncated"]
                    assert info["winner"] == info_too["winner"]
    assert ended > 20


def same(one: Any, two: Any) -> None:
    if isinstance(one, dict):
        assert one.keys() == two.keys()
        for key in one:
            same(one[key], two[key])
    else:
        assert (one.dtype, one.shape) == (two.dtype, two.shape)
        assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize("name", IDS)
def test_rows_in_the_middle_of_a_match_share_one_empty_info(name):
    env = native(name, 20)
    env.reset()
    rng, kept = generator("infos", name), []
    for _ in range(40):
        actions = legal_actions(rng, env.action_masks(), 0.5)
        seen, rewards, dones, infos = env.step(actions)
        unfinished = [info for info, done in zip(infos, dones, strict=True) if not done]
        assert len({id(info) for info in unfinished}) <= 1
        assert all(info == {} for info in unfinished)
        kept += [(seen, seen.tobytes()), (rewards, rewards.tobytes())]
        kept += [
            (info["terminal_observation"], info["terminal_observation"].tobytes())
            for info in infos
            if info
        ]
    assert all(array.tobytes() == was for array, was in kept)
    assert len(kept) > 90


@pytest.mark.parametrize("name", IDS)
def test_episode_returns_are_the_payoffs_of_the_engine(name):
    """A second batch of the same matches, played without resets, says what each is worth."""
    rng = generator("sb3 payoffs", name)
    for preset in PRESETS:
        table = random_table(rng, preset)
        table = for_knocking(table) if name == "KnockTiming-v0" else table
        kind = table["reward"] or ("match" if table["episode"] == "match" else "lives")
        env = native(name, 30, seed=int(rng.integers(1 << 30)), learner_seat="random", **table)
        other = copy.deepcopy(env)
        env.reset()
        other.reset()
        at_start = 1.0 / table["num_players"] if kind == "equity" else 0.0
        sums, over = np.zeros(30), np.zeros(30, bool)
        core = other._core
        for _ in range(60):
            actions = legal_actions(rng, env.action_masks(), 0.0)
            _, rewards, dones, _ = env.step(actions)
            live = np.flatnonzero(~over)
            core.step(live, actions[live], other._seen, other._mask)
            sums[~over] += rewards[~over]
            for row in np.flatnonzero(dones & ~over):
                states = core.tables.states[row : row + 1]
                paid = game.payoffs(states, kind)[core.learners["seat"][row]]
                assert sums[row] == pytest.approx(paid - at_start, abs=1e-5)
            over |= dones
            if over.all():
                break


# --- training ------------------------------------------------------------------------------------


def learn(env: VecEnv, steps: int = 512) -> MaskablePPO:
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=64, batch_size=64, n_epochs=1, seed=5, device="cpu"
    )
    return model.learn(steps)


def opponents() -> tuple[Any, ...]:
    return ("danish", Outside("random"), make_bot("swedish"))


@pytest.mark.integration
@pytest.mark.parametrize("name", IDS)
def test_maskable_ppo_learns_on_every_kind_with_the_same_masks(name):
    """Strict environments: an illegal action would raise."""
    options = {"opponents": opponents(), "learner_seat": "random", "observation_format": "compact"}
    subprocesses = SubprocVecEnv([partial(one_env, name, options)] * 2, start_method="spawn")
    try:
        models = [
            learn(env)
            for env in (native(name, 2, **options), dummy(name, 2, **options), subprocesses)
        ]
    finally:
        subprocesses.close()
    masks = [model.rollout_buffer.action_masks.tobytes() for model in models]
    seen = [model.rollout_buffer.observations.tobytes() for model in models]
    assert masks[0] == masks[1] == masks[2]
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.integration
def test_a_dict_of_observations_is_learned_from_too():
    env = VecMonitor(native("ThirtyOne-v0", 4, flatten=False, num_players=2))
    model = MaskablePPO("MultiInputPolicy", env, n_steps=16, batch_size=64, n_epochs=1)
    before = [weights.clone() for weights in model.policy.parameters()]
    assert model.learn(128).num_timesteps == 128
    after = model.policy.parameters()
    assert any((one != two).any() for one, two in zip(before, after, strict=True))


@pytest.mark.integration
@pytest.mark.parametrize("algorithm", [PPO, DQN])
def test_algorithms_without_masks_learn_when_to_knock(algorithm):
    """Both actions are always legal; in a match decided early they are one."""
    env = KnockTimingVecEnv(4, observation_format="compact", seed=3)
    options = {"n_steps": 32, "n_epochs": 1} if algorithm is PPO else {"buffer_size": 1000}
    model = algorithm("MlpPolicy", env, seed=1, device="cpu", **options)
    before = [weights.clone() for weights in model.policy.parameters()]
    assert model.learn(300).num_timesteps >= 300
    after = model.policy.parameters()
    assert any((one != two).any() for one, two in zip(before, after, strict=True))


@pytest.mark.integration
def test_evaluation_while_training_knows_masks(tmp_path):
    env = VecMonitor(native("ThirtyOne-v0", 4, num_players=2))
    callback = MaskedEvalCallback(
        VecMonitor(native("ThirtyOne-v0", 2, num_players=2)),
        eval_freq=32,
        n_eval_episodes=2,
        log_path=str(tmp_path),
        verbose=0,
    )
    MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=1).learn(256, callback)
    assert len(callback.evaluations_results) >= 1


class Random:
    """A model that draws from the legal actions."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(1)

    def predict(
        self, observation: Any, deterministic: bool = True, action_masks: Any = None
    ) -> tuple[np.ndarray, None]:
        return legal_actions(self.rng, action_masks, 0.0), None


def test_masked_evaluation_plays_as_many_episodes_as_asked_for():
    for env in (native("ThirtyOne-v0", 7, num_players=2), dummy("ThirtyOne-v0", 3, num_players=2)):
        returns, lengths = evaluate_masked(Random(), env, 30)
        assert returns.shape == lengths.shape == (30,)
        assert set(returns.tolist()) <= {-1.0, 0.0, 1.0}
        assert (lengths >= 1).all()
    returns, _ = evaluate_masked(Random(), one_env("ThirtyOne-v0", {"num_players": 2}), 5)
    assert returns.shape == (5,)
    with pytest.raises(ValueError, match="has no action_masks"):
        evaluate_masked(Random(), gymnasium.make("CartPole-v1"), 1)


# --- models as policies --------------------------------------------------------------------------

MODELS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("ThirtyOne-v0", {}, {}),
    ("ThirtyOne-v0", {"action_format": "slot", "canonical_suits": True}, {"canonical_suits": True}),
    ("ThirtyOne-v0", {"observation_format": "compact", "action_format": "slot"}, {}),
    ("KnockTiming-v0", {"observation_format": "compact"}, {}),
    ("KnockTiming-v0", {"draws": "swedish"}, {"draws": "swedish"}),
]


def model_for(name: str, options: dict[str, Any]) -> Any:
    env = native(name, 2, num_players=3, **options)
    return MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=16, seed=2, device="cpu")


@pytest.mark.parametrize(("name", "options", "reading"), MODELS, ids=str)
def test_a_model_plays_as_a_policy_what_it_plays_as_a_learner(name, options, reading):
    """Learner's seat of a batch; the seat of a bot in PettingZoo; all rows and one by one."""
    model = model_for(name, options)
    policy = ModelPolicy(model, **reading)
    env = native(name, 20, num_players=3, seed=4, learner_seat=1, **options)
    seen = env.reset()
    tables = Tables(env._core.rules, 3, seed=4, matches=np.zeros(20, np.int64))
    for _ in range(25):
        masks = env.action_masks()
        expected, _ = model.predict(seen, deterministic=True, action_masks=masks)
        live = np.flatnonzero(env._core.learners["status"] == 1)
        tables.states[:] = env._core.tables.states
        answers = policy.act_batch(tables, live)
        alone = [policy.act_batch(tables, np.array([row]))[0] for row in live]
        assert answers.tolist() == alone
        if policy.controller == "external":
            other = copy.deepcopy(tables)
            tables.act(expected[live], live, slots=env._core.slots, canonical=env._core.canonical)
            other.act(answers, live)
            for field in ("hands", "discards", "phase", "seat", "decisions", "upcard"):
                assert (tables.states[field] == other.states[field]).all()
        else:
            assert answers.tolist() == expected[live].tolist()
        seen, *_ = env.step(expected)
    board = thirtyone_env.env(num_players=3)
    board.reset(seed=1)
    for agent in board.agent_iter():
        _, _, terminated, truncated, _ = board.last()
        bot = policy if agent == "player_1" else make_bot("danish")
        board.step(None if terminated or truncated else bot.act(board))


@pytest.mark.parametrize(("name", "options", "reading"), MODELS, ids=str)
def test_a_model_is_an_opponent(name, options, reading, tmp_path):
    model = model_for(name, options)
    model.save(tmp_path / "rival.zip")
    states = random.getstate(), np.random.get_state()[1].tobytes(), torch.get_rng_state()  # noqa: NPY002
    rival = load_policy(tmp_path / "rival.zip", **reading)
    assert states[0] == random.getstate()
    assert states[1] == np.random.get_state()[1].tobytes()  # noqa: NPY002
    assert (states[2] == torch.get_rng_state()).all()
    assert rival.name == "rival"
    line_up = (rival, "danish")
    one = native("ThirtyOne-v0", 8, num_players=3, opponents=line_up, seed=2)
    two = native("ThirtyOne-v0", 8, num_players=3, opponents=line_up, seed=2)
    one.reset()
    two.reset()
    rng = generator("rival", name)
    for step in range(40):
        if step % 7 == 3:
            torch.manual_seed(step)
        actions = legal_actions(rng, one.action_masks(), 0.5)
        if step == 20:
            two = ForkingPickler.loads(ForkingPickler.dumps(two))
        same(one.step(actions)[0], two.step(actions)[0])


def test_a_model_refuses_what_it_was_not_made_for():
    policy = ModelPolicy(model_for("ThirtyOne-v0", {}), name="trio")
    with pytest.raises(ValueError, match="trio learned at tables of 3, not of 4"):
        policy.act(thirtyone_env.env(num_players=4))
    with pytest.raises(ValueError, match="trio learned at tables of 3, not of 2"):
        native("ThirtyOne-v0", 2, num_players=2, opponents=policy)
    with pytest.raises(ValueError, match="actions of a model = 4"):
        ModelPolicy(PPO("MlpPolicy", Quad()))
    with pytest.raises(FileNotFoundError):
        load_policy("there_is_none.zip")


class Quad(gymnasium.Env[Any, Any]):
    """Four actions and nothing to see."""

    observation_space = gymnasium.spaces.Box(0, 1, (2,))
    action_space = gymnasium.spaces.Discrete(4)


# --- at the border -------------------------------------------------------------------------------


def test_calls_and_values_are_checked():
    env = ThirtyOneVecEnv(2, illegal="raise")
    for call in (lambda: env.step(np.zeros(2, int)), env.action_masks):
        with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
            call()
    env.reset()
    for bad in (np.zeros(2), np.zeros(3, int), np.array([0, 65]), np.array([-1, 0])):
        with pytest.raises(ValueError, match="2 whole numbers in 0 … 64"):
            env.step(bad)
    illegal = [int(np.flatnonzero(~mask)[0]) for mask in env.action_masks()]
    with pytest.raises(ValueError, match="is illegal"):
        env.step(np.array(illegal))
    with pytest.raises(ValueError, match="cannot be set for some"):
        env.set_attr("x", 1, indices=[0])
    with pytest.raises(AttributeError, match="render_me"):
        env.env_method("render_me")
    assert env.env_method("action_masks", indices=[1]).shape == (1, 65)
    assert env.has_attr("action_masks")
    assert not env.has_attr("nonsense")
    for options in ({"rows": 0}, {"seed": -1}, {"flatten": 2}):
        with pytest.raises(ValueError, match=next(iter(options))):
            ThirtyOneVecEnv(**{"rows": 1, **options})


def test_rows_can_be_left_to_the_number_of_seats():
    assert ThirtyOneVecEnv("auto").num_envs == 512
    assert ThirtyOneVecEnv("auto", num_players=9).num_envs == 256
    assert ThirtyOneVecEnv("auto", observation_format="compact").num_envs == 512
    assert KnockTimingVecEnv("auto", num_players=2).num_envs == 512


def test_unknown_options_are_named():
    for options in ({"foo": 1}, {"render_mode": "ansi"}, {"draws": "greedy"}):
        with pytest.raises(
            TypeError, match=f"ThirtyOneVecEnv has no option '{next(iter(options))}'"
        ):
            ThirtyOneVecEnv(2, **options)
    with pytest.raises(TypeError, match="KnockTimingVecEnv has no option 'action_format'"):
        KnockTimingVecEnv(2, action_format="slot")
    with pytest.raises(ValueError, match="draws = None"):
        KnockTimingVecEnv(2, draws=None)


def test_an_illegal_action_is_told_at_the_end():
    env = ThirtyOneVecEnv(3, seed=1)
    env.reset()
    actions = np.argmax(env.action_masks(), axis=1)
    actions[1] = np.flatnonzero(~env.action_masks()[1])[0]
    _, rewards, dones, infos = env.step(actions)
    assert dones.tolist() == [False, True, False]
    assert rewards[1] == -1.0
    assert infos[1]["illegal_action"] == actions[1]


def test_a_seed_begins_at_the_next_reset():
    one, two = ThirtyOneVecEnv(4, num_players=2, seed=1), ThirtyOneVecEnv(4, num_players=2, seed=1)
    rng = generator("seed")
    one.reset()
    two.reset()
    two.seed(3)
    for _ in range(60):
        actions = legal_actions(rng, one.action_masks(), 0.0)
        same(one.step(actions)[0], two.step(actions)[0])
    one.seed(3)
    same(one.reset(), two.reset())
    other = copy.copy(one)
    kept = one._core.tables.states.tobytes()
    other.step(np.argmax(other.action_masks(), axis=1))
    assert one._core.tables.states.tobytes() == kept


def test_bad_options_change_nothing_and_are_forgotten():
    env = ThirtyOneVecEnv(2, num_players=2, seed=5)
    env.set_options([{"lives": [1, 1]}, {"lives": [1]}])
    with pytest.raises(ValueError, match="lives = "):
        env.reset()
    env.reset()
    assert env._core.tables.states["lives"][:, :2].tolist() == [[3, 3], [3, 3]]


def test_evaluation_names_what_it_cannot_evaluate():
    with pytest.raises(ValueError, match=r"n_eval_episodes = 2\.5"):
        evaluate_masked(Random(), native("ThirtyOne-v0", 2), 2.5)
    with pytest.raises(ValueError, match="raw_env is not allowed"):
        evaluate_masked(Random(), thirtyone_env.env(), 2)


def test_options_of_the_next_reset_are_those_of_the_single_environment():
    env = ThirtyOneVecEnv(2, num_players=2, seed=5)
    env.set_options([{"lives": [1, 2]}, {}])
    env.reset()
    assert env._core.tables.states["lives"][:, :2].tolist() == [[1, 2], [3, 3]]
    env.reset()
    assert env._core.tables.states["lives"][:, :2].tolist() == [[1, 2], [3, 3]]
    env.seed(1)
    env.reset()
    assert env._core.tables.states["lives"][:, :2].tolist() == [[3, 3], [3, 3]]
