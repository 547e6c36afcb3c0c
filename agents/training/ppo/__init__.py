"""The algorithm `ppo`: every decision of a match, by self-play and a league.

`LeaguePPO` is sb3-contrib's MaskablePPO, made quick; `LeagueVecEnv` are the tables it plays at and
`League` decides who else sits there. The budget is a number of steps, never a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from agents.policies import NetworkPolicy, TablePolicy, inputs, make
from agents.policies.network import NetworkConfig
from agents.training.config import PpoConfig, recipe
from agents.training.learning import Learning
from agents.training.models import ppo_options, whole_parts
from agents.training.ppo.league import League
from agents.training.ppo.model import LeaguePPO
from agents.training.ppo.tables import LeagueVecEnv, variants_of
from thirtyone_env.actions import NUM_SLOT_ACTIONS

TITLE = "A whole policy"
STEPS = "steps"
LEARNED = ("explained_variance", "approx_kl", "clip_fraction", "value_loss", "gradient")
"""What the curve says of an update, besides the entropy, and the share of telling decisions where
they are played out; NaN for what there is none of."""


def planned_steps(config: PpoConfig) -> int:
    """The steps that will be taken: whole roll-outs that hold at least `config.steps`."""
    return whole_parts(config.steps, config.rows * config.rollout)


def prepare(config: PpoConfig, members: Mapping[str, TablePolicy] | None = None) -> Learning:
    """A model that has learned nothing yet, and what belongs to it.

    Args:
        config: what to do.
        members: policies that names of opponents stand for, where they are no bots or paths.

    Raises:
        ValueError: as for `build`.
    """
    model = build(config, members)

    def played() -> dict[str, float]:
        seconds = {f"seconds_{name}": value for name, value in model.seconds.items()}
        return {"matches": float(model.tables.matches), **seconds}

    def updated() -> dict[str, float]:
        values = model.logger.name_to_value
        names = (*LEARNED, "telling") if config.vine_last else LEARNED
        numbers = {name: float(values.get(f"train/{name}", math.nan)) for name in names}
        return {"entropy": -float(values.get("train/entropy_loss", math.nan)), **numbers}

    def league(folder: Path) -> None:
        model.tables.league.save(folder / "league", policy_maker(config))

    return Learning(
        model=model,
        total=planned_steps(config),
        every=config.rows * config.rollout,
        policy=lambda: extract(model, config),
        played=played,
        updated=updated,
        parts=model.parts,
        plays={"canonical_suits": True},
        beside=league,
        stage=lambda: model.stage if stages_of(config) > 1 else "",
    )


def stages_of(config: PpoConfig) -> int:
    """In how many ways a training learns, one after another."""
    by_values = config.steps - config.taught - config.vine_last
    return sum(steps > 0 for steps in (config.taught, by_values, config.vine_last))


def league_of(config: PpoConfig, members: Mapping[str, TablePolicy] | None = None) -> League:
    """Who sits on the other seats.

    Raises:
        ValueError: for opponents that cannot play at the tables.
    """
    return League(
        config.opponents,
        variants_of(config.all_rules(), config.players),
        self_play=config.self_play,
        snapshot_play=config.snapshot_play,
        sampling=config.league,
        capacity=config.snapshots,
        seed=config.seed,
        members=members,
    )


def check(config: PpoConfig, members: Mapping[str, TablePolicy] | None = None) -> None:
    """Find what `build` would refuse, without building anything.

    Raises:
        ValueError: as for `build`.
    """
    league_of(config, members)
    start_of(config, members)


def build(config: PpoConfig, members: Mapping[str, TablePolicy] | None = None) -> LeaguePPO:
    """The model of a configuration, with its tables and its league, before the first step.

    Raises:
        ValueError: for opponents that cannot play at the tables, or a policy to start from that
            does not fit.
    """
    rules, start = config.all_rules(), start_of(config, members)
    league = league_of(config, members)
    tables = LeagueVecEnv(
        config.rows,
        league,
        sizes=np.array(sizes_of(config)),
        relu=config.activation == "relu",
        copies=config.copies,
        reward=config.reward,
        reward_scale=config.reward_scale,
        episode=config.episode,
        read_rules=len(rules) > 1,
        afterstates=config.afterstates,
        teacher=config.teacher,
        threads=config.threads,
        seed=config.seed,
    )
    model = LeaguePPO(
        tables,
        hidden=config.hidden,
        critic=config.critic,
        activation=config.activation,
        read_rules=len(rules) > 1,
        final_entropy=config.final_entropy,
        final_gae_lambda=config.final_gae_lambda,
        value_first=config.value_first,
        teach_first=config.taught,
        vine_from=planned_steps(config) - config.vine_last if config.vine_last else None,
        vine_least=config.vine_least,
        vine_futures=config.vine_futures,
        snapshot_every=config.snapshot_every if config.snapshot_play else 0,
        policy_of=policy_maker(config),
        threads=config.threads,
        seed=config.seed,
        **ppo_options(config),
        vf_coef=config.value_weight,
        max_grad_norm=config.max_gradient,
        device=config.device,
    )
    if start is not None:
        model.network.begin_with(start.weights)
    return model


def start_of(
    config: PpoConfig, members: Mapping[str, TablePolicy] | None = None
) -> NetworkPolicy | None:
    """The policy that the training begins with; None for random weights.

    Raises:
        ValueError: for one that does not fit.
    """
    if not config.start_from:
        return None
    policy = (members or {}).get(config.start_from) or make(config.start_from)
    if not isinstance(policy, NetworkPolicy):
        raise ValueError(f"start_from: {policy.name} is no network that decides about everything")
    for rules in config.all_rules():
        for size in config.players:
            try:
                policy.check(rules, size)
            except ValueError as error:
                raise ValueError(f"start_from: {error}") from error
    given, wanted = policy.config, sizes_of(config)
    if given.afterstates != config.afterstates:
        reads = "reads" if given.afterstates else "does not read"
        raise ValueError(
            f"start_from: {policy.name} {reads} afterstates; set afterstates: "
            f"{str(given.afterstates).lower()}"
        )
    if policy.sizes.tolist() != wanted or given.activation != config.activation:
        raise ValueError(
            f"start_from: {policy.name} has layers of {policy.sizes.tolist()} with "
            f"{given.activation}, the training {wanted} with {config.activation}"
        )
    return policy


def extract(model: LeaguePPO, config: PpoConfig) -> NetworkPolicy:
    """The policy network of a model as a `NetworkPolicy` of its own."""
    training = {
        "algorithm": config.algorithm,
        "steps": model.num_timesteps,
        "config": recipe(config),
    }
    return _policy(config, model.network.weights(), config.name, training)


def _policy(
    config: PpoConfig, weights: tuple[np.ndarray, ...], name: str, training: dict[str, Any]
) -> NetworkPolicy:
    made_for = NetworkConfig(
        rules=tuple(rules.to_dict() for rules in config.all_rules()),
        players=config.players,
        activation=config.activation,
        afterstates=config.afterstates,
        training=training,
    )
    return NetworkPolicy(made_for, weights, name)


def sizes_of(config: PpoConfig) -> list[int]:
    """Inputs, and units of each layer, of the policy network."""
    read = inputs.size(max(config.players), after=config.afterstates)
    return [read, *config.hidden, NUM_SLOT_ACTIONS]


def policy_maker(config: PpoConfig) -> Callable[[np.ndarray, str], NetworkPolicy]:
    """What makes policies of flat networks float32[P] and names."""
    sizes = sizes_of(config)
    shapes: list[tuple[int, ...]] = []
    for before, after in pairwise(sizes):
        shapes += [(before, after), (after,)]
    ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]

    def policy_of(params: np.ndarray, name: str) -> NetworkPolicy:
        parts = np.split(params, ends)
        layers = tuple(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))
        return _policy(config, layers, name, {})

    return policy_of
