"""Learn when to knock by proximal policy optimisation (Stable-Baselines3 PPO).

The environment is `KnockVecEnv`: tables by the thousand, opponents that are bots of the kernel and
change only between matches, an episode a round. The budget is a number of steps, never a time.
"""

from __future__ import annotations

import math

from stable_baselines3 import PPO

from agents.policies import KnockPolicy
from agents.training.config import KnockPpoConfig
from agents.training.knock import ACTIVATIONS, policy_of, tables_of
from agents.training.learning import Learning
from agents.training.models import ppo_options, whole_parts

TITLE = "When to knock"
STEPS = "steps"


def planned_steps(config: KnockPpoConfig) -> int:
    """The steps that will be taken: whole roll-outs that hold at least `config.steps`."""
    return whole_parts(config.steps, config.rows * config.rollout)


def prepare(config: KnockPpoConfig) -> Learning:
    """A model that has learned nothing yet, and what belongs to it."""
    tables = tables_of(config)
    model = PPO(
        "MlpPolicy",
        tables,
        **ppo_options(config),
        policy_kwargs={
            "net_arch": list(config.hidden),
            "activation_fn": ACTIVATIONS[config.activation],
        },
        seed=config.seed,
        device=config.device,
    )

    def policy() -> KnockPolicy:
        network = [*model.policy.mlp_extractor.policy_net, model.policy.action_net]
        return policy_of(network, model, config)

    def played() -> dict[str, float]:
        buffer = model.rollout_buffer
        rounds = max(1.0, float(buffer.episode_starts.sum()))
        reward = float(buffer.rewards.sum()) / rounds / config.reward_scale
        return {"reward_per_round": reward, "knock_share": float(buffer.actions.mean())}

    def updated() -> dict[str, float]:
        values = model.logger.name_to_value
        entropy = -float(values.get("train/entropy_loss", -math.log(2)))
        explained = float(values.get("train/explained_variance", 0.0))
        return {"entropy": entropy, "explained_variance": explained}

    return Learning(
        model=model,
        total=planned_steps(config),
        every=config.rows * config.rollout,
        policy=policy,
        played=played,
        updated=updated,
        parts={"tables": tables},
        plays={"draws": config.draws},
    )
