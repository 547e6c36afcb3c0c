"""The learning algorithms by name: each is a module, imported when a run needs it.

Such a module has `TITLE`, what its policies are about; `STEPS`, what its budget counts; and
`planned_steps(config)`. Where a model of Stable-Baselines3 learns it has `prepare(config)`, and
`agents.training.learning.learn` does the rest; else `train(config, folder, advance)`, which leaves
in the folder a policy that `agents.policies.make` finds there.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from agents.training.config import (
    ALGORITHMS,
    BestResponseConfig,
    ChartConfig,
    KnockDqnConfig,
    KnockPpoConfig,
    PpoConfig,
    RunConfig,
    SolverConfig,
)

MODULES: dict[str, str] = {
    KnockPpoConfig.algorithm: "agents.training.knock_ppo",
    KnockDqnConfig.algorithm: "agents.training.knock_dqn",
    SolverConfig.algorithm: "agents.training.solver",
    PpoConfig.algorithm: "agents.training.ppo",
    BestResponseConfig.algorithm: "agents.training.ppo.response",
}
"""The module of every algorithm but charts, which have a report of their own."""

assert set(MODULES) | {ChartConfig.algorithm} == set(ALGORITHMS)


def algorithm_of(config: RunConfig) -> Any:
    """The module that learns by a configuration; what it needs, such as torch, is imported now."""
    return import_module(MODULES[config.algorithm])
