"""Train a masked DQN agent of Tianshou against a random player, heads-up, for some hundred steps.

An episode is a round. The observation that follows a decision is often another player's, so the
targets are sums of rewards to the end of the round, without bootstrapping: the horizon is longer
than a round of at most 12 turns (see docs/interfaces.md).

    pip install -c constraints/tianshou.txt -e ".[tianshou]"
    python examples/tianshou_dqn.py
"""

import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import thirtyone_env
from thirtyone_env.adapters.live_turns import LiveTurns

ENVS, STEPS, HORIZON = 4, 600, 64
TABLE = {
    "rules": {"preset": "danish", "max_turns": 12},
    "num_players": 2,
    "episode": "round",
    "observation_format": "compact",
}


def make() -> PettingZooEnv:
    """A heads-up round; an illegal action raises."""
    return PettingZooEnv(LiveTurns(thirtyone_env.env(**TABLE)))


def learner(env: PettingZooEnv) -> DQN:
    """A DQN agent whose network sees the observation; the mask is applied by its policy."""
    net = Net(
        state_shape=env.observation_space["observation"].shape,
        action_shape=env.action_space.n,
        hidden_sizes=(64, 64),
    )
    return DQN(
        policy=DiscreteQLearningPolicy(
            model=net, action_space=env.action_space, eps_training=0.2, eps_inference=0.0
        ),
        optim=AdamOptimizerFactory(lr=1e-3),
        gamma=1.0,
        n_step_return_horizon=HORIZON,
    )


def main() -> None:
    """Train, then let the greedy policy play."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    env = make()
    opponent = MARLRandomDiscreteMaskedOffPolicyAlgorithm(env.action_space)
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[learner(env), opponent], env=env)
    envs = DummyVectorEnv([make] * ENVS)
    envs.seed(1)
    collector = Collector(algorithm, envs, VectorReplayBuffer(10_000, ENVS), exploration_noise=True)
    result = algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=1,
            epoch_num_steps=STEPS,
            collection_step_num_env_steps=None,
            collection_step_num_episodes=2 * ENVS,  # whole rounds only
            update_step_num_gradient_steps_per_sample=0.1,
            batch_size=64,
            test_in_training=False,
            multi_agent_return_reduction=lambda returns: returns[:, 0],
            verbose=False,
            show_progress=False,
        )
    )
    played = Collector(algorithm, DummyVectorEnv([make])).collect(
        n_episode=50, reset_before_collect=True
    )
    print(f"trained {result.update_step} updates on {result.train_step} steps")
    print(f"{played.n_collected_steps} steps, no illegal action; returns {played.returns.mean(0)}")


if __name__ == "__main__":
    main()
