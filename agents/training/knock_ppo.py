"""Learn when to knock by proximal policy optimisation (Stable-Baselines3 PPO).

The environment is `KnockVecEnv`: tables by the thousand, opponents that are bots of the kernel and
change only between matches, an episode a round. The budget is a number of steps, never a time.
"""

from __future__ import annotations

import csv
import io
import json
import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback

from agents.policies import KnockPolicy
from agents.policies.files import write_text
from agents.policies.neural import KnockPolicyConfig
from agents.training.config import KnockPpoConfig
from thirtyone_env.adapters.sb3 import KnockVecEnv

TITLE = "When to knock"
STEPS = "steps"
_ACTIVATIONS = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}


def planned_steps(config: KnockPpoConfig) -> int:
    """The steps that will be taken: whole roll-outs that hold at least `config.steps`."""
    rollout = config.rows * config.rollout
    return math.ceil(config.steps / rollout) * rollout


def train(
    config: KnockPpoConfig, folder: Path, advance: Callable[[int], None] = lambda steps: None
) -> KnockPolicy:
    """Train, saving the policy into the folder now and then, at the end, and when interrupted.

    Python's, NumPy's and torch's global generators and torch's number of threads are given back
    as they were.

    Args:
        config: what to do.
        folder: the run's folder; gets `policy.safetensors`, `policy.json` and `training.csv`.
        advance: called with the number of steps taken since the last call.

    Returns:
        The policy after the last update.

    Raises:
        KeyboardInterrupt: as it came, once the policy is saved.
    """
    total = planned_steps(config)
    with global_state_kept():
        torch.set_num_threads(config.threads)
        env = KnockVecEnv(
            config.rows,
            config.opponents,
            players=config.players,
            rules=config.resolved_rules(),
            copies=config.copies,
            reward=config.reward,
            reward_scale=config.reward_scale,
            seed=config.seed,
        )
        first, last = config.learning_rate, config.final_learning_rate
        model = PPO(
            "MlpPolicy",
            env,
            learning_rate=lambda left: last + (first - last) * left,
            n_steps=config.rollout,
            batch_size=config.batch,
            n_epochs=config.epochs,
            gamma=config.gamma,
            gae_lambda=config.gae_lambda,
            clip_range=config.clip,
            ent_coef=config.entropy,
            policy_kwargs={
                "net_arch": list(config.hidden),
                "activation_fn": _ACTIVATIONS[config.activation],
            },
            seed=config.seed,
            device="cpu",
        )
        watch = _Watch(config, folder, advance)
        try:
            if total:
                model.learn(total, callback=watch)
        finally:
            policy = extract(model, config)
            policy.save(folder)
            write_text(folder / "training.csv", watch.curve.getvalue())
    return policy


def extract(model: PPO, config: KnockPpoConfig) -> KnockPolicy:
    """The policy network of a model as a `KnockPolicy` of its own."""
    layers = [*model.policy.mlp_extractor.policy_net, model.policy.action_net]
    weights: list[np.ndarray] = []
    for layer in layers:
        if isinstance(layer, torch.nn.Linear):
            weights.append(layer.weight.detach().numpy().T.copy())
            weights.append(layer.bias.detach().numpy().copy())
    training = {
        "algorithm": config.algorithm,
        "steps": model.num_timesteps,
        "config": json.loads(json.dumps(asdict(config))),
    }
    made_for = KnockPolicyConfig(
        rules=config.resolved_rules().to_dict(),
        players=config.players,
        activation=config.activation,
        training=training,
    )
    return KnockPolicy(made_for, tuple(weights), config.name)


@contextmanager
def global_state_kept() -> Iterator[None]:
    """Give Python's, NumPy's and torch's generators and torch's threads back as they were."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    generator, threads = torch.get_rng_state(), torch.get_num_threads()
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
        torch.set_rng_state(generator)
        torch.set_num_threads(threads)


class _Watch(BaseCallback):
    """Tells the progress, writes the learning curve, saves the policy."""

    FIELDS = ("steps", "reward_per_round", "knock_share", "entropy", "explained_variance")

    def __init__(
        self, config: KnockPpoConfig, folder: Path, advance: Callable[[int], None]
    ) -> None:
        super().__init__()
        self.config = config
        self.folder = folder
        self.advance = advance
        self.curve = io.StringIO()
        self._writer = csv.writer(self.curve, lineterminator="\n")
        self._writer.writerow(self.FIELDS)
        self._saved = 0

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self.advance(self.config.rows * self.config.rollout)
        self._writer.writerow([self.num_timesteps, *self._numbers()])
        if self.num_timesteps - self._saved >= self.config.save_every:
            self._saved = self.num_timesteps
            assert isinstance(self.model, PPO)
            extract(self.model, self.config).save(self.folder)

    def _numbers(self) -> list[Any]:
        """The roll-out just played, and the update before it."""
        assert isinstance(self.model, PPO)
        buffer = self.model.rollout_buffer
        rounds = max(1.0, float(buffer.episode_starts.sum()))
        reward = float(buffer.rewards.sum()) / rounds / self.config.reward_scale
        values = self.logger.name_to_value
        entropy = -values.get("train/entropy_loss", -math.log(2))
        explained = values.get("train/explained_variance", 0.0)
        numbers = (reward, float(buffer.actions.mean()), entropy, explained)
        return [round(float(number), 5) for number in numbers]
