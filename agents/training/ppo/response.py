"""The algorithm `best_response`: `ppo` against one policy that does not change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agents.policies import NetworkPolicy, TablePolicy, make
from agents.training import ppo
from agents.training.config import BestResponseConfig
from agents.training.learning import Learning

TITLE = "A best response"
STEPS = ppo.STEPS
planned_steps = ppo.planned_steps


def prepare(
    config: BestResponseConfig, members: Mapping[str, TablePolicy] | None = None
) -> Learning:
    """A model that has learned nothing yet, and what belongs to it.

    Args:
        config: what to do.
        members: the policy that `target` stands for, where it is no bot and no path.

    Raises:
        ValueError: if the target cannot play at the tables, or the response begin with it.
    """
    return ppo.prepare(resolved(config, members), members)


def check(config: BestResponseConfig) -> None:
    """Find what `prepare` would refuse, without preparing anything.

    Raises:
        ValueError: as for `prepare`.
    """
    ppo.check(resolved(config))


def resolved(
    config: BestResponseConfig, members: Mapping[str, TablePolicy] | None = None
) -> BestResponseConfig:
    """The configuration with what a warm start takes from the target.

    Raises:
        ValueError: for a target that is no network of this kind.
    """
    if not config.warm_start:
        return config
    target = (members or {}).get(config.target) or make(config.target)
    if not isinstance(target, NetworkPolicy):
        raise ValueError(
            f"warm_start: {target.name} is no network that decides about everything, so that no "
            "response can begin with it"
        )
    return replace(
        config,
        start_from=config.target,
        hidden=tuple(target.sizes[1:-1].tolist()),
        activation=target.config.activation,
        afterstates=target.config.afterstates,
    )
