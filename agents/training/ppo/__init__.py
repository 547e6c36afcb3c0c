"""The algorithm `ppo`: every decision of a match, by self-play and a league.

`LeaguePPO` is sb3-contrib's MaskablePPO, made quick; `LeagueVecEnv` are the tables it plays at and
`League` decides who else sits there. The budget is a number of steps, never a time.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback

from agents.policies import NetworkPolicy, TablePolicy
from agents.policies.files import write_text
from agents.policies.network import NetworkConfig
from agents.training.config import PpoConfig
from agents.training.knock_ppo import global_state_kept
from agents.training.ppo.league import League
from agents.training.ppo.model import LeaguePPO
from agents.training.ppo.tables import LeagueVecEnv, variants_of
from thirtyone_env.actions import NUM_SLOT_ACTIONS
from thirtyone_env.observation import observation_size

TITLE = "A whole policy"
STEPS = "steps"


def planned_steps(config: PpoConfig) -> int:
    """The steps that will be taken: whole roll-outs that hold at least `config.steps`."""
    rollout = config.rows * config.rollout
    return math.ceil(config.steps / rollout) * rollout


def train(
    config: PpoConfig,
    folder: Path,
    advance: Callable[[int], None] = lambda steps: None,
    members: Mapping[str, TablePolicy] | None = None,
) -> NetworkPolicy:
    """Train, saving the policy into the folder now and then, at the end, and when interrupted.

    Python's, NumPy's and torch's global generators and torch's number of threads are given back
    as they were.

    Args:
        config: what to do.
        folder: the run's folder; gets `policy.safetensors`, `policy.json` and `training.csv`.
        advance: called with the number of steps taken since the last call.
        members: policies that names of opponents stand for, where they are no bots or paths.

    Returns:
        The policy after the last update.

    Raises:
        KeyboardInterrupt: as it came, once the policy is saved.
    """
    with global_state_kept():
        torch.set_num_threads(1)
        model = build(config, members)
        watch = _Watch(config, folder, advance)
        try:
            if planned_steps(config):
                model.learn(planned_steps(config), callback=watch)
        finally:
            policy = extract(model, config)
            policy.save(folder)
            model.tables.league.save(folder / "league", policy_maker(config))
            write_text(folder / "training.csv", watch.curve.getvalue())
    return policy


def build(config: PpoConfig, members: Mapping[str, TablePolicy] | None = None) -> LeaguePPO:
    """The model of a configuration, with its tables and its league, before the first step.

    Raises:
        ValueError: for opponents that cannot play at the tables, or a policy to start from that
            does not fit.
    """
    rules = config.all_rules()
    league = League(
        config.opponents,
        variants_of(rules, config.players),
        self_play=config.self_play,
        snapshot_play=config.snapshot_play,
        sampling=config.league,
        capacity=config.snapshots,
        seed=config.seed,
        members=members,
    )
    inputs = observation_size(max(config.players))
    tables = LeagueVecEnv(
        config.rows,
        league,
        sizes=np.array([inputs, *config.hidden, NUM_SLOT_ACTIONS]),
        relu=config.activation == "relu",
        copies=config.copies,
        reward=config.reward,
        reward_scale=config.reward_scale,
        episode=config.episode,
        read_rules=len(rules) > 1,
        seed=config.seed,
    )
    first, last = config.learning_rate, config.final_learning_rate
    model = LeaguePPO(
        tables,
        hidden=config.hidden,
        critic=config.critic,
        activation=config.activation,
        read_rules=len(rules) > 1,
        final_entropy=config.final_entropy,
        value_first=config.value_first,
        snapshot_every=config.snapshot_every if config.snapshot_play else 0,
        policy_of=policy_maker(config),
        threads=config.threads,
        seed=config.seed,
        learning_rate=lambda left: last + (first - last) * left,
        n_steps=config.rollout,
        batch_size=config.batch,
        n_epochs=config.epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip,
        ent_coef=config.entropy,
        vf_coef=config.value_weight,
        max_grad_norm=config.max_gradient,
        device="cpu",
    )
    if config.start_from:
        known = members or {}
        start = known.get(config.start_from) or NetworkPolicy.load(config.start_from)
        _start_from(model, start, config)
    return model


def _start_from(model: LeaguePPO, policy: TablePolicy, config: PpoConfig) -> None:
    if not isinstance(policy, NetworkPolicy):
        raise ValueError(f"start_from: {policy.name} is no network that decides about everything")
    for rules in config.all_rules():
        for size in config.players:
            policy.check(rules, size)
    wanted = model.tables.sizes.tolist()
    if policy.sizes.tolist() != wanted or policy.config.activation != config.activation:
        raise ValueError(
            f"start_from: {policy.name} has layers of {policy.sizes.tolist()} with "
            f"{policy.config.activation}, the training {wanted} with {config.activation}"
        )
    model.network.begin_with(policy.weights)


def extract(model: LeaguePPO, config: PpoConfig) -> NetworkPolicy:
    """The policy network of a model as a `NetworkPolicy` of its own."""
    training = {
        "algorithm": config.algorithm,
        "steps": model.num_timesteps,
        "config": json.loads(json.dumps(asdict(config))),
    }
    return _policy(config, model.network.weights(), config.name, training)


def _policy(
    config: PpoConfig, weights: tuple[np.ndarray, ...], name: str, training: dict[str, Any]
) -> NetworkPolicy:
    made_for = NetworkConfig(
        rules=tuple(rules.to_dict() for rules in config.all_rules()),
        players=config.players,
        activation=config.activation,
        training=training,
    )
    return NetworkPolicy(made_for, weights, name)


def policy_maker(config: PpoConfig) -> Callable[[np.ndarray, str], NetworkPolicy]:
    """What makes policies of flat networks float32[P] and names."""
    sizes = [observation_size(max(config.players)), *config.hidden, NUM_SLOT_ACTIONS]
    shapes: list[tuple[int, ...]] = []
    for before, after in pairwise(sizes):
        shapes += [(before, after), (after,)]
    ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]

    def policy_of(params: np.ndarray, name: str) -> NetworkPolicy:
        parts = np.split(params, ends)
        layers = tuple(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))
        return _policy(config, layers, name, {})

    return policy_of


class _Watch(BaseCallback):
    """Tells the progress, writes the learning curve, saves the policy and the league."""

    FIELDS = (
        "steps", "matches", "entropy", "explained_variance", "approx_kl", "clip_fraction",
        "value_loss", "gradient", "seconds_tables", "seconds_asked", "seconds_network",
        "seconds_update",
    )  # fmt: skip

    def __init__(self, config: PpoConfig, folder: Path, advance: Callable[[int], None]) -> None:
        super().__init__()
        self.config, self.folder, self.advance = config, folder, advance
        self.curve = io.StringIO()
        self._writer = csv.writer(self.curve, lineterminator="\n")
        self._writer.writerow(self.FIELDS)
        self._saved = 0

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        model, config = self.model, self.config
        assert isinstance(model, LeaguePPO)
        self.advance(config.rows * config.rollout)
        self._writer.writerow([self.num_timesteps, *self._numbers(model)])
        if self.num_timesteps - self._saved >= config.save_every:
            self._saved = self.num_timesteps
            extract(model, config).save(self.folder)
            model.tables.league.save(self.folder / "league", policy_maker(config))

    @staticmethod
    def _numbers(model: LeaguePPO) -> list[Any]:
        """The roll-out just played, and the update before it."""
        values = model.logger.name_to_value
        learned = [values.get(f"train/{name}", math.nan) for name in _Watch.FIELDS[3:8]]
        numbers = [-values.get("train/entropy_loss", math.nan), *learned, *model.seconds.values()]
        return [model.tables.matches, *(round(float(number), 5) for number in numbers)]
