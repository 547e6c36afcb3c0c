"""Configurations as YAML 1.2 files, read and written."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from ruamel.yaml import YAML

from agents.evaluation.options import ConfigError
from agents.evaluation.typed import build, nearest, read_yaml
from agents.training.config.base import RunConfig
from agents.training.config.charts import ChartConfig
from agents.training.config.knock import KnockDqnConfig, KnockPpoConfig
from agents.training.config.ppo import BestResponseConfig, PpoConfig
from agents.training.config.solver import SolverConfig

Config = TypeVar("Config")

ALGORITHMS: dict[str, type[RunConfig]] = {
    config.algorithm: config
    for config in (
        KnockPpoConfig,
        KnockDqnConfig,
        PpoConfig,
        BestResponseConfig,
        ChartConfig,
        SolverConfig,
    )
}
"""The configuration of every algorithm, by the name that a file says under `algorithm`."""


def load(path: Path | str) -> RunConfig:
    """Read a configuration file.

    Raises:
        ConfigError: if it is missing, not YAML, or says something no field expects.
    """
    return read(Path(path), from_mapping)


def read(path: Path, meaning: Callable[[Any], Config]) -> Config:
    """What a YAML file means; its name stands before whatever is wrong.

    Raises:
        ConfigError: if it is missing, not YAML, or means nothing.
    """
    data = read_yaml(path)
    try:
        return meaning(data)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def from_mapping(data: Any) -> RunConfig:
    """The configuration that a file's content stands for.

    Raises:
        ConfigError: naming the key, what is allowed, and the nearest valid key.
    """
    if not isinstance(data, Mapping):
        raise ConfigError("must be keys and values")
    values = dict(data)
    algorithm = values.pop("algorithm", KnockPpoConfig.algorithm)
    if algorithm not in ALGORITHMS:
        raise ConfigError(
            f"algorithm must be one of {', '.join(ALGORITHMS)}, not {algorithm!r}"
            + nearest(str(algorithm), ALGORITHMS)
        )
    kind = ALGORITHMS[algorithm]
    if issubclass(kind, PpoConfig) and "rules" in values:
        values["rules"] = _joined_rules(values["rules"])
    config: RunConfig = build(kind, values)
    return config


def _joined_rules(given: Any) -> Any:
    """Presets as `PpoConfig.rules` has them: of a list, or a mapping with one under `any_of`."""
    if isinstance(given, Mapping):
        if set(given) != {"any_of"}:
            raise ConfigError(f"rules: a mapping has the key any_of alone, not {sorted(given)}")
        given = given["any_of"]
    if isinstance(given, list):
        if not given or not all(isinstance(name, str) for name in given):
            raise ConfigError(f"rules must name presets, not {given!r}")
        return ",".join(given)
    return given


def to_dict(config: RunConfig) -> dict[str, Any]:
    """The configuration as values for JSON or YAML, its algorithm among them."""
    values: dict[str, Any] = {"algorithm": config.algorithm}
    return values | _plain(dataclasses.asdict(config))


def recipe(config: RunConfig) -> dict[str, Any]:
    """The configuration as a saved policy keeps it: where the run was says nothing of it."""
    values = to_dict(config)
    del values["runs"]
    return values


def to_yaml(config: RunConfig) -> str:
    """The configuration as YAML text that `load` reads back as the same."""
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    text = io.StringIO()
    yaml.dump(to_dict(config), text)
    return text.getvalue()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
