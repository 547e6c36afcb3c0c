"""Learn when to knock by deep Q-learning (Stable-Baselines3 DQN).

The environment is `KnockVecEnv`, as for `knock_ppo`; after every decision of all rows the network
learns from decisions drawn from the replay buffer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from stable_baselines3 import DQN

from agents.policies import KnockPolicy
from agents.training.config import KnockDqnConfig
from agents.training.knock import ACTIVATIONS, policy_of, tables_of
from agents.training.learning import Learning
from agents.training.models import falling, whole_parts

TITLE = "When to knock"
STEPS = "steps"
LINE = 32
"""Decisions a row between two lines of the curve, and two places where a run can stop."""


class RowwiseDQN(DQN):
    """DQN that decides row by row, and quickly, whether to explore; the original by whole batch."""

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[np.ndarray, Any]:
        """Actions int64[B] for observations float32[B, K]."""
        actions, state = self.policy.predict(observation, state, episode_start, deterministic=True)
        if not deterministic:
            random = np.random.random(len(actions)) < self.exploration_rate  # noqa: NPY002
            other = np.random.randint(0, int(self.action_space.n), len(actions))  # type: ignore[attr-defined]  # noqa: NPY002
            actions = np.where(random, other, actions)
        return actions, state

    def _sample_action(
        self, learning_starts: int, action_noise: Any = None, n_envs: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """Explore from the first decision on; what is filled anew is filled by what was learned."""
        return super()._sample_action(0, action_noise, n_envs)


def planned_steps(config: KnockDqnConfig) -> int:
    """The steps that will be taken: whole lines of the curve that hold at least `config.steps`."""
    return whole_parts(config.steps, config.rows * LINE)


def prepare(config: KnockDqnConfig) -> Learning:
    """A model that has learned nothing yet, and what belongs to it."""
    tables = tables_of(config)
    model = RowwiseDQN(
        "MlpPolicy",
        tables,
        learning_rate=falling(config.learning_rate, config.final_learning_rate),
        buffer_size=config.buffer,
        learning_starts=config.warm_up,
        batch_size=config.batch,
        gamma=config.gamma,
        train_freq=(1, "step"),
        gradient_steps=config.updates,
        target_update_interval=config.target_every,
        exploration_initial_eps=config.explore,
        exploration_final_eps=config.final_explore,
        exploration_fraction=config.explore_share,
        policy_kwargs={
            "net_arch": list(config.hidden),
            "activation_fn": ACTIVATIONS[config.activation],
        },
        seed=config.seed,
        device=config.device,
    )

    def policy() -> KnockPolicy:
        return policy_of(list(model.q_net.q_net), model, config)

    def played() -> dict[str, float]:
        buffer = model.replay_buffer
        assert buffer is not None
        lines = (buffer.pos - 1 - np.arange(LINE)) % buffer.buffer_size
        rounds = max(1.0, float(buffer.dones[lines].sum()))
        reward = float(buffer.rewards[lines].sum()) / rounds / config.reward_scale
        return {"reward_per_round": reward, "knock_share": float(buffer.actions[lines].mean())}

    def updated() -> dict[str, float]:
        loss = float(model.logger.name_to_value.get("train/loss", 0.0))
        return {"loss": loss, "explore": float(model.exploration_rate)}

    return Learning(
        model=model,
        total=planned_steps(config),
        every=config.rows * LINE,
        policy=policy,
        played=played,
        updated=updated,
        parts={"tables": tables},
        plays={"draws": config.draws},
        save_replay=config.save_replay,
    )
