"""What several configurations refuse."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agents.evaluation.options import ConfigError


@contextmanager
def named(key: str) -> Iterator[None]:
    """Put the key before what the environment says about its value."""
    try:
        yield
    except ValueError as error:
        raise ConfigError(f"{key}: {error}") from error


def at_least(config: Any, **bounds: float) -> None:
    """Refuse a field that is less than its bound."""
    for name, bound in bounds.items():
        value = getattr(config, name)
        if not value >= bound:
            raise ConfigError(f"{name} must be at least {bound}, not {value}")


def shares(config: Any, *names: str) -> None:
    """Refuse a field that does not lie between 0 and 1."""
    for name in names:
        if not 0 <= getattr(config, name) <= 1:
            raise ConfigError(f"{name} must lie between 0 and 1, not {getattr(config, name)}")
