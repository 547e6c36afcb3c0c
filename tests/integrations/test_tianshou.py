"""Tianshou: masked collectors, rewards of every seat, ends, seeds and Monte Carlo targets."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tianshou")

from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm  # noqa: E402
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm  # noqa: E402
from tianshou.data import Collector, VectorReplayBuffer  # noqa: E402
from tianshou.env import DummyVectorEnv, PettingZooEnv  # noqa: E402

from tests.integrations.shared import generator, legal, table  # noqa: E402


def random_players(env):
    """Masked random play for every seat."""
    return MultiAgentOffPolicyAlgorithm(
        algorithms=[
            MARLRandomDiscreteMaskedOffPolicyAlgorithm(env.action_space) for _ in env.agents
        ],
        env=env,
    )


def collect(num_players, seed, matches, **options):
    """Matches of random players: the logged environment, the buffer, the statistics."""
    log = table(num_players, **options)
    envs = DummyVectorEnv([lambda: PettingZooEnv(log)])
    envs.seed(seed)
    buffer = VectorReplayBuffer(50_000, 1)
    np.random.seed(seed)  # noqa: NPY002 (Tianshou's random player draws from there)
    stats = Collector(random_players(PettingZooEnv(table(num_players))), envs, buffer).collect(
        n_episode=matches, reset_before_collect=True
    )
    return log, buffer, stats


@pytest.mark.parametrize("num_players", [2, 4])
def test_collected_matches_pay_what_the_engine_pays(num_players):
    seed = int(generator("tianshou", num_players).integers(1 << 31))
    log, buffer, stats = collect(num_players, seed, 5)
    assert stats.n_collected_episodes == len(log.finished) == 5
    np.testing.assert_allclose(stats.returns, log.finished, atol=1e-5)
    assert buffer.done[: len(buffer)].sum() == 5
    assert buffer.terminated[: len(buffer)].sum() == 5


def test_only_legal_actions_and_masks_of_the_engine():
    rng = generator("tianshou masks")
    env = PettingZooEnv(log := table(4))
    seen, _ = env.reset(seed=int(rng.integers(1 << 60)))
    while not log.over:
        assert seen["agent_id"] == log.agent_selection
        assert np.flatnonzero(seen["mask"]).tolist() == legal(log).tolist()
        seen, *_ = env.step(int(rng.choice(np.flatnonzero(seen["mask"]))))
    _, buffer, _ = collect(2, int(rng.integers(1 << 31)), 3)
    rows = np.arange(len(buffer))
    assert buffer.obs.mask[rows, buffer.act[rows]].all()


def test_the_same_seed_plays_the_same():
    _, one, _ = collect(3, 7, 2)
    _, same, _ = collect(3, 7, 2)
    _, other, _ = collect(3, 8, 2)
    assert len(one) == len(same)
    assert (one.obs.obs == same.obs.obs).all()
    assert (one.act == same.act).all()
    assert len(one) != len(other) or (one.obs.obs != other.obs.obs).any()


def dqn(env, horizon):
    from tianshou.algorithm import DQN
    from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.utils.net.common import Net

    net = Net(
        state_shape=env.observation_space["observation"].shape,
        action_shape=env.action_space.n,
        hidden_sizes=(8,),
    )
    policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space)
    return DQN(
        policy=policy, optim=AdamOptimizerFactory(), gamma=1.0, n_step_return_horizon=horizon
    )


def test_targets_over_a_long_horizon_are_the_returns_of_the_deciding_seat():
    """What the example relies on: nothing of another seat's view enters the targets."""
    seed = int(generator("tianshou targets").integers(1 << 31))
    options = {"episode": "round", "rules": {"preset": "danish", "max_turns": 12}}
    _, buffer, stats = collect(3, seed, 6, **options)
    env = PettingZooEnv(table(3))
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[dqn(env, 64) for _ in range(3)], env=env)
    batch, indices = buffer.sample(0)
    targets = algorithm._preprocess_batch(batch, buffer, indices)
    episodes = np.concatenate([[0], np.cumsum(buffer.done[indices][:-1])])
    for seat, agent in enumerate(env.agents):
        mine = batch.obs.agent_id == agent
        expected = stats.returns[episodes[mine], seat]
        np.testing.assert_allclose(targets[agent].returns.flatten(), expected, atol=1e-5)


def test_on_policy_batches_lose_what_is_paid_on_others_turns():
    """Why the page advises against Tianshou's on-policy algorithms here."""
    from tianshou.algorithm.algorithm_base import Algorithm

    seed = int(generator("tianshou on-policy").integers(1 << 31))
    _, buffer, stats = collect(2, seed, 20)
    batch, indices = buffer.sample(0)
    mine = np.flatnonzero(batch.obs.agent_id == "player_0")
    own = batch[mine]
    own.rew = own.rew[:, 0]
    returns, _ = Algorithm.compute_episodic_return(
        own, buffer, indices[mine], gamma=1.0, gae_lambda=1.0
    )
    episodes = np.concatenate([[0], np.cumsum(buffer.done[indices][:-1])])[mine]
    assert (np.abs(returns - stats.returns[episodes, 0]) > 0.5).any()
