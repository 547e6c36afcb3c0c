"""RLlib: the environment class, its episodes inside RLlib, masks, ends and seeds."""

import numpy as np
import pytest

pytest.importorskip("tree")  # Ray alone is here for studies; RLlib needs this too

import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import (
    ActionMaskingTorchRLModule,
)

from tests.integrations.shared import generator, legal, payoffs
from thirtyone_env.adapters.rllib import ThirtyOneMultiAgentEnv

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own, many


SHORT = {"preset": "danish", "max_rounds": 1}


class Logged(ThirtyOneMultiAgentEnv):
    """Notes what every finished match paid, by the engine."""

    finished: list[dict] = []  # noqa: RUF012 (RLlib makes the environments)

    def step(self, action_dict):
        result = super().step(action_dict)
        if self.env.over:
            self.finished.append(
                dict(zip(self.possible_agents, payoffs(self.env).tolist(), strict=True))
            )
        return result


def play(env, rng, seed):
    """A match of random legal actions; every agent's sum of rewards."""
    seen, _ = env.reset(seed=seed)
    totals, over = dict.fromkeys(env.possible_agents, 0.0), False
    finished = set()
    while not over:
        (actor,) = set(seen) - finished
        for agent, view in seen.items():
            assert env.observation_spaces[agent].contains(view)
        mask = seen[actor]["action_mask"]
        assert np.flatnonzero(mask).tolist() == legal(env.env).tolist()
        action = int(rng.choice(np.flatnonzero(mask)))
        seen, rewards, ended, cut, _ = env.step({actor: action})
        assert not finished & (set(seen) | set(rewards))
        for agent, reward in rewards.items():
            totals[agent] += reward
        finished |= {agent for agent in rewards if ended[agent] or cut[agent]}
        over = ended["__all__"] or cut["__all__"]
        assert finished <= set(env.possible_agents)
        assert set(env.agents) == set(env.possible_agents) - finished
    assert finished == set(env.possible_agents)
    return totals


@pytest.mark.parametrize("num_players", [2, 4, 9])
@pytest.mark.parametrize("observation_format", ["full", "compact"])
def test_matches_pay_what_the_engine_pays(num_players, observation_format):
    rng = generator("rllib", num_players, observation_format)
    env = ThirtyOneMultiAgentEnv(
        {"num_players": num_players, "observation_format": observation_format}
    )
    for _ in range(5):
        totals = play(env, rng, int(rng.integers(1 << 60)))
        np.testing.assert_allclose(list(totals.values()), payoffs(env.env), atol=1e-5)


def test_the_same_seed_plays_the_same():
    def trace(seed):
        env = ThirtyOneMultiAgentEnv({"num_players": 3})
        seen, _ = env.reset(seed=seed)
        kept = []
        for _ in range(30):
            actor = env.env.agent_selection
            kept.append((actor, seen[actor]["observations"].tobytes()))
            action = int(np.flatnonzero(seen[actor]["action_mask"])[0])
            seen, *_ = env.step({actor: action})
        return kept

    assert trace(3) == trace(3)
    assert trace(3) != trace(4)


def test_actions_of_others_and_illegal_ones_are_refused():
    env = ThirtyOneMultiAgentEnv({"num_players": 3})
    env.reset(seed=1)
    actor = env.env.agent_selection
    other = next(agent for agent in env.possible_agents if agent != actor)
    with pytest.raises(ValueError, match=f"{actor} is to act"):
        env.step({other: 0})
    with pytest.raises(ValueError, match="illegal"):
        env.step({actor: 64})


@pytest.fixture(scope="module")
def cluster():
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def algorithm(**table):
    module = RLModuleSpec(
        module_class=ActionMaskingTorchRLModule,
        model_config=DefaultModelConfig(fcnet_hiddens=[32]),
    )
    return (
        PPOConfig()
        .environment(Logged, env_config={"rules": "danish", **table}, disable_env_checking=True)
        .env_runners(num_env_runners=0, batch_mode="complete_episodes")
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, episode: "shared")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"shared": module}))
        .training(train_batch_size_per_learner=128, minibatch_size=64, num_epochs=1)
        .debugging(seed=0, log_level="ERROR")
        .build_algo()
    )


@pytest.mark.parametrize("num_players", [2, 4])
def test_episodes_inside_rllib_are_paid_and_masked(cluster, num_players):
    algo = algorithm(num_players=num_players)
    Logged.finished.clear()
    episodes = algo.env_runner.sample(num_episodes=4)
    assert len(episodes) == 4
    for episode, paid in zip(episodes, Logged.finished, strict=False):
        assert episode.is_terminated
        for agent, part in episode.agent_episodes.items():
            assert part.get_return() == pytest.approx(paid[agent], abs=1e-5)
            assert part.is_terminated
            for step, action in enumerate(part.get_actions()):
                assert part.get_observations(step)["action_mask"][action] == 1
    algo.stop()


def test_cut_matches_are_truncated_and_not_terminated():
    env = ThirtyOneMultiAgentEnv({"num_players": 3, "rules": SHORT})
    rng = generator("rllib cut")
    seen, _ = env.reset(seed=int(rng.integers(1 << 60)))
    over = False
    while not over:
        actor = env.env.agent_selection
        action = int(rng.choice(np.flatnonzero(seen[actor]["action_mask"])))
        seen, _, ended, cut, _ = env.step({actor: action})
        over = cut["__all__"]
    assert set(seen) == set(env.possible_agents)
    assert not any(ended.values())
    assert all(cut.values())


def test_cut_matches_reach_the_learner(cluster):
    algo = algorithm(num_players=3, rules=SHORT)
    episodes = algo.env_runner.sample(num_episodes=3)
    assert all(episode.is_truncated for episode in episodes)
    algo.stop()


def test_training_steps_stay_finite(cluster):
    algo = algorithm(num_players=2, observation_format="compact")
    algo.train()
    weights = algo.get_module("shared").state_dict()
    assert all(bool(value.isfinite().all()) for value in weights.values())
    algo.stop()
