"""What several configurations refuse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from agents.evaluation.options import ConfigError
from thirtyone_env import Rules


@contextmanager
def named(key: str) -> Iterator[None]:
    """Put the key before what the environment says about its value."""
    try:
        yield
    except ValueError as error:
        raise ConfigError(f"{key}: {error}") from error


def seat_counts(players: Iterable[int], *rule_sets: Rules, key: str = "players") -> None:
    """Refuse seat counts that rules do not allow."""
    with named(key):
        for rules in rule_sets:
            for size in players:
                rules.check_seats(size)


def weights(opponents: Mapping[str, float], needed: bool = True) -> None:
    """Refuse weights below 0, and, where opponents are needed, none above it."""
    given = opponents.values()
    if min(given, default=0) < 0 or (needed and not any(given)):
        raise ConfigError("opponents must give bots weights of 0 or more, one a weight above 0")


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
