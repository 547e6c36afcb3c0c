"""AgileRL: masked actions of DQN in every mood, returns, learning and seeds."""

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")  # AgileRL's own and its dependencies'
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("agilerl")
    from agilerl.algorithms import DQN
    from agilerl.components import ReplayBuffer

from tensordict import TensorDict  # noqa: E402

import thirtyone_env  # noqa: E402
from tests.integrations.shared import generator, legal, payoffs  # noqa: E402


def agent_for(env):
    name = env.possible_agents[0]
    return DQN(env.observation_space(name)["observation"], env.action_space(name), batch_size=32)


def play(env, agent, epsilon, seed):
    env.reset(seed=seed)
    totals, kept = dict.fromkeys(env.possible_agents, 0.0), []
    for name in env.agent_iter(2_000):
        seen, reward, terminated, truncated, _ = env.last()
        totals[name] += reward
        if terminated or truncated:
            env.step(None)
            continue
        mask = seen["action_mask"][None]
        assert np.flatnonzero(mask).tolist() == legal(env).tolist()
        action = int(agent.get_action(seen["observation"][None], epsilon, action_mask=mask)[0])
        kept.append((name, seen["observation"], action))
        env.step(action)
    return totals, kept


@pytest.mark.parametrize("num_players", [2, 4])
def test_matches_pay_what_the_engine_pays(num_players):
    rng = generator("agilerl", num_players)
    torch.manual_seed(int(rng.integers(1 << 60)))
    env = thirtyone_env.env(num_players=num_players)
    agent = agent_for(env)
    for _ in range(5):
        totals, _ = play(env, agent, 1.0, int(rng.integers(1 << 60)))
        np.testing.assert_allclose(list(totals.values()), payoffs(env), atol=1e-5)


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_greedy_and_half_greedy_actions_are_legal(epsilon):
    rng = generator("agilerl", epsilon)
    torch.manual_seed(int(rng.integers(1 << 60)))
    env = thirtyone_env.env(num_players=2, episode="round")
    agent = agent_for(env)
    for _ in range(5):
        totals, kept = play(env, agent, epsilon, int(rng.integers(1 << 60)))
        assert kept
        assert sum(totals.values()) == pytest.approx(0.0, abs=1e-6)


def test_learning_from_played_decisions_stays_finite():
    env = thirtyone_env.env(num_players=2, episode="round")
    agent, memory = agent_for(env), ReplayBuffer(max_size=1_000)
    torch.manual_seed(int(generator("agilerl learns").integers(1 << 60)))
    while len(memory) < 64:
        totals, kept = play(env, agent, 1.0, None)
        seen = torch.as_tensor(np.array([entry[1] for entry in kept], np.float32))
        columns = {
            "obs": seen,
            "action": torch.tensor([float(entry[2]) for entry in kept]),
            "reward": torch.tensor([totals[entry[0]] for entry in kept]),
            "next_obs": seen,
            "done": torch.ones(len(kept)),
        }
        memory.add(TensorDict(columns, batch_size=[len(kept)]))
    before = [value.clone() for value in agent.actor.parameters()]
    assert np.isfinite(agent.learn(memory.sample(32)))
    pairs = list(zip(before, agent.actor.parameters(), strict=True))
    assert any((old != new).any() for old, new in pairs)
    assert all(new.isfinite().all() for _, new in pairs)


def test_the_same_seed_plays_the_same():
    env = thirtyone_env.env(num_players=3)
    agent = agent_for(env)

    def trace(seed):
        torch.manual_seed(0)
        return [
            (name, seen.tobytes(), action) for name, seen, action in play(env, agent, 1.0, seed)[1]
        ]

    assert trace(3) == trace(3)
    assert trace(3) != trace(4)
