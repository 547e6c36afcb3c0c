"""What a sweep tries: keys of a configuration and their values, checked before any training."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

from agents.evaluation.options import ConfigError
from agents.training.config import RunConfig, build, convert, read

FIXED = ("name", "runs", "rules", "house_rules", "panel", "benchmark", "save_every", "device")
"""Keys that a sweep cannot vary: trials could not be compared, or would not differ."""


@dataclass(frozen=True)
class Dimension:
    """The values that one key may have: `low` to `high`, or one of `choices`."""

    low: float | None = None
    """The lowest value, for numbers."""
    high: float | None = None
    """The highest."""
    log: bool = False
    """Whether small values are tried as often as large ones, factor by factor."""
    choices: tuple[Any, ...] = ()
    """All values, for any key."""

    def __post_init__(self) -> None:
        if bool(self.choices) == (self.low is not None and self.high is not None):
            raise ConfigError("a key of a sweep has either low and high, or choices")
        if not self.choices and not self.low < self.high:  # type: ignore[operator]
            raise ConfigError(f"low must be less than high, not {self.low} and {self.high}")
        if self.log and not (self.low or 0) > 0:
            raise ConfigError("log needs a low above 0")


@dataclass(frozen=True)
class SweepConfig:
    """What is tried."""

    name: str = "sweep"
    """The sweep's folder is NAME in the folder of runs; the same name goes on with it."""
    trials: int = 20
    """Trainings in all."""
    seed: int = 1
    """Start of the choice of values."""
    space: dict[str, Dimension] = field(default_factory=dict)
    """The keys of the configuration that vary, each with its values."""

    def __post_init__(self) -> None:
        if self.trials < 1 or self.seed < 0:
            raise ConfigError("trials must be at least 1, and seed at least 0")
        if not self.space:
            raise ConfigError("space must name at least one key")
        if not self.name or set(self.name) & set("/\\") or self.name.startswith("."):
            raise ConfigError(f"name must be usable as the name of a folder, not {self.name!r}")


def load_sweep(path: Path, config: RunConfig) -> SweepConfig:
    """Read a sweep and check it against the configuration that it varies.

    Raises:
        ConfigError: for keys or values that the configuration does not take.
    """

    def meaning(data: Any) -> SweepConfig:
        if not isinstance(data, Mapping):
            raise ConfigError("must be keys and values")
        sweep: SweepConfig = build(SweepConfig, data, "")
        _check(sweep, config)
        return sweep

    return read(path, meaning)


def _check(sweep: SweepConfig, config: RunConfig) -> None:
    """Every key is one of the configuration, and every value at its ends is allowed."""
    kinds = get_type_hints(type(config), include_extras=False)
    fields = [each.name for each in dataclasses.fields(config) if each.name not in FIXED]
    for key, dimension in sweep.space.items():
        if key not in fields:
            why = "cannot be varied" if key in FIXED else "is no key of the configuration"
            raise ConfigError(f"space.{key} {why}; allowed: {', '.join(sorted(fields))}")
        if not dimension.choices and kinds[key] not in (int, float):
            raise ConfigError(f"space.{key} needs choices: {key} is no number")
        if kinds[key] is int and not all(
            float(end).is_integer() for end in (dimension.low or 0, dimension.high or 0)
        ):
            raise ConfigError(f"space.{key}: low and high must be whole numbers")
        ends = dimension.choices or (dimension.low, dimension.high)
        for value in ends:
            convert(_whole(value, kinds[key]), kinds[key], f"space.{key}")


def _whole(value: Any, kind: Any) -> Any:
    return int(value) if kind is int and isinstance(value, float) else value
