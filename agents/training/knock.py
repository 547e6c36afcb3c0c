"""What all algorithms share that learn when to knock: the tables, and the policy of a network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm

from agents.policies import KnockPolicy
from agents.policies.neural import KnockPolicyConfig
from agents.training.config import KnockConfig, recipe
from thirtyone_env.adapters.sb3 import KnockVecEnv

ACTIVATIONS = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}


def tables_of(config: KnockConfig) -> KnockVecEnv:
    """The environment that a configuration learns in."""
    return KnockVecEnv(
        config.rows,
        config.opponents,
        players=config.players,
        rules=config.resolved_rules(),
        copies=config.copies,
        reward=config.reward,
        reward_scale=config.reward_scale,
        draws=config.draws,
        seed=config.seed,
    )


def policy_of(
    layers: Sequence[torch.nn.Module], model: BaseAlgorithm, config: KnockConfig
) -> KnockPolicy:
    """The layers of a network with two outputs, to go on and to knock, as a policy of its own."""
    weights: list[np.ndarray] = []
    for layer in layers:
        if isinstance(layer, torch.nn.Linear):
            weights.append(layer.weight.detach().cpu().numpy().T.copy())
            weights.append(layer.bias.detach().cpu().numpy().copy())
    training = {
        "algorithm": config.algorithm,
        "steps": model.num_timesteps,
        "config": recipe(config),
    }
    made_for = KnockPolicyConfig(
        rules=config.resolved_rules().to_dict(),
        players=config.players,
        activation=config.activation,
        draws=config.draws,
        training=training,
    )
    return KnockPolicy(made_for, tuple(weights), config.name)
