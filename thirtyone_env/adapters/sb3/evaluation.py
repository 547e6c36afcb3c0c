"""Evaluation of models with masks; Stable-Baselines3's own ignores them without a word."""

from __future__ import annotations

import inspect
from typing import Any

import gymnasium
import numpy as np
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

from thirtyone_env.checks import checked_number

MaskedEvalCallback = MaskableEvalCallback
"""Evaluation while training, by sb3-contrib, with masks; wrap both environments in VecMonitor."""


def takes_masks(model: Any) -> bool:
    """Whether a model's `predict` can be told the legal actions."""
    return "action_masks" in inspect.signature(model.predict).parameters


def evaluate_masked(
    model: Any, env: Any, n_eval_episodes: int = 100, *, deterministic: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Play episodes with a model's legal actions only.

    Args:
        model: such as a `MaskablePPO`; one that takes no masks must never need them.
        env: an environment with masks: one of this module, or a Gymnasium environment.
        n_eval_episodes: episodes; from many rows each contributes an equal share, so that short
            episodes do not count more often.
        deterministic: whether it plays its most likely action.

    Returns:
        float64[N]: the return of each episode, as the outermost wrapper gives it (that of
        VecNormalize gives normalised ones); int64[N]: its steps.

    Raises:
        ValueError: for an environment without masks, or of another library.
    """
    n_eval_episodes = checked_number("n_eval_episodes", n_eval_episodes, 1, 1 << 31)
    if not isinstance(env, VecEnv | gymnasium.Env):
        raise ValueError(
            f"{type(env).__name__} is not allowed; allowed: a vector environment of "
            "Stable-Baselines3, or a single one of Gymnasium"
        )
    wrapped = env if isinstance(env, VecEnv) else DummyVecEnv([lambda: env])
    if not is_masking_supported(wrapped):
        raise ValueError(f"{env!r} has no action_masks()")
    masked = takes_masks(model)
    share = -(-n_eval_episodes // wrapped.num_envs)
    returns: list[list[float]] = [[] for _ in range(wrapped.num_envs)]
    lengths: list[list[int]] = [[] for _ in range(wrapped.num_envs)]
    running, steps = np.zeros(wrapped.num_envs), np.zeros(wrapped.num_envs, np.int64)
    seen = wrapped.reset()
    while min(map(len, returns)) < share:
        masks = {"action_masks": get_action_masks(wrapped)} if masked else {}
        actions, _ = model.predict(seen, deterministic=deterministic, **masks)
        seen, rewards, dones, _ = wrapped.step(actions)
        running += rewards
        steps += 1
        for row in np.flatnonzero(dones).tolist():
            if len(returns[row]) < share:
                returns[row].append(float(running[row]))
                lengths[row].append(int(steps[row]))
        running[dones], steps[dones] = 0.0, 0
    return np.concatenate(returns)[:n_eval_episodes], np.concatenate(lengths)[:n_eval_episodes]
