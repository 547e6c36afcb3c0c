"""Models of Stable-Baselines3: their options, and their states for checkpoints."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.buffers import ReplayBuffer

from agents.training.config import KnockPpoConfig, PpoConfig

_COUNTERS = (
    "num_timesteps",
    "_n_updates",
    "_episode_num",
    "_current_progress_remaining",
    "_n_calls",
    "exploration_rate",
)
"""Attributes, of those algorithms that have them; schedules follow from the progress."""
_LAST = ("_last_obs", "_last_episode_starts")
_BUFFER = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")


def whole_parts(steps: int, part: int) -> int:
    """The steps in the fewest whole parts that hold at least so many."""
    return math.ceil(steps / part) * part


def falling(first: float, last: float) -> Callable[[float], float]:
    """A learning rate that falls in a straight line, by the share of the steps that is left."""
    return lambda left: last + (first - last) * left


def ppo_options(config: KnockPpoConfig | PpoConfig) -> dict[str, Any]:
    """What all proximal policy optimisation has, as Stable-Baselines3 calls it."""
    return {
        "learning_rate": falling(config.learning_rate, config.final_learning_rate),
        "n_steps": config.rollout,
        "batch_size": config.batch,
        "n_epochs": config.epochs,
        "gamma": config.gamma,
        "gae_lambda": config.gae_lambda,
        "clip_range": config.clip,
        "ent_coef": config.entropy,
    }


def model_state(model: BaseAlgorithm, *, replay: bool = True) -> dict[str, Any]:
    """Everything that a model takes along between two roll-outs.

    Args:
        model: on-policy or off-policy; its environment is not part of it.
        replay: whether the replay buffer of an off-policy model is.
    """
    state: dict[str, Any] = {
        "parameters": model.get_parameters(),
        "counters": {name: getattr(model, name) for name in _COUNTERS if hasattr(model, name)},
        "last": {name: getattr(model, name) for name in _LAST if getattr(model, name) is not None},
        "actions": model.action_space.np_random.bit_generator.state,
    }
    buffer = getattr(model, "replay_buffer", None)
    if replay and isinstance(buffer, ReplayBuffer):
        filled = buffer.buffer_size if buffer.full else buffer.pos
        state["replay"] = {
            "pos": buffer.pos,
            "full": buffer.full,
            "arrays": {name: getattr(buffer, name)[:filled] for name in _BUFFER},
        }
    return state


def restore_model(model: BaseAlgorithm, state: Mapping[str, Any]) -> None:
    """Put a newly made model of the same configuration where another one was.

    An off-policy model without its replay buffer fills a new one before it learns on.

    Raises:
        ValueError: if the parameters do not fit.
    """
    parameters = {name: _tensors(value) for name, value in state["parameters"].items()}
    try:
        model.set_parameters(parameters, exact_match=True)
    except (RuntimeError, KeyError) as error:
        raise ValueError(f"the network is another one: {str(error).splitlines()[0]}") from error
    for name, value in {**state["counters"], **state["last"]}.items():
        setattr(model, name, value)
    model.action_space.np_random.bit_generator.state = state["actions"]
    buffer = getattr(model, "replay_buffer", None)
    if not isinstance(buffer, ReplayBuffer):
        return
    if "replay" not in state:
        model.learning_starts += model.num_timesteps  # type: ignore[attr-defined]
    else:
        buffer.pos, buffer.full = state["replay"]["pos"], state["replay"]["full"]
        for name, values in state["replay"]["arrays"].items():
            getattr(buffer, name)[: len(values)] = values


def infinite_part(model: BaseAlgorithm) -> str:
    """What of a model is not a finite number any more: a loss or a parameter; empty if nothing."""
    for name, value in model.logger.name_to_value.items():
        if name.startswith("train/") and not np.isfinite(value):
            # PPO calls the variance that it explains NaN where there is none to explain.
            if "variance" not in name:
                return f"{name} became {value}"
    for name, parameter in model.policy.named_parameters():
        if not bool(torch.isfinite(parameter).all()):
            return f"the parameter {name} is not finite"
    return ""


def _tensors(value: Any) -> Any:
    """Arrays as tensors, inside dictionaries, lists and tuples too."""
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    if isinstance(value, Mapping):
        return {key: _tensors(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_tensors(item) for item in value)
    return value
