"""Checks at the border: one clear error that names the value and what is allowed."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

SITUATION = ("dealer", "lives", "deck")
"""Options of a reset: how a match begins, as for `game.prepare`."""


def is_whole(number: Any) -> bool:
    """Whether this is a Python or NumPy integer, and no boolean."""
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def checked_number(name: str, number: Any, low: int, high: int) -> int:
    """A whole number between two bounds.

    Raises:
        ValueError: for anything else.
    """
    if not is_whole(number) or not low <= number <= high:
        raise ValueError(f"{name} = {number!r} is not allowed; allowed: {low} … {high}")
    return int(number)


def checked_seed(seed: Any) -> int:
    """A seed of cards.

    Raises:
        ValueError: for anything but 0 … 2**64 − 1.
    """
    if not is_whole(seed) or not 0 <= seed < 1 << 64:
        raise ValueError(f"seed = {seed!r} is not allowed; allowed: 0 … 2**64 − 1")
    return int(seed)


def check_choice(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Refuse a value that is not among those allowed.

    Raises:
        ValueError: naming both.
    """
    if not any(type(value) is type(one) and value == one for one in allowed):
        raise ValueError(
            f"{name} = {value!r} is not allowed; allowed: {', '.join(map(repr, allowed))}"
        )


def checked_action(action: Any, num_actions: int) -> int:
    """An action as an int: given as int, NumPy integer, or an array of one integer.

    Raises:
        ValueError: for anything else, or a number that is not in the space.
    """
    if type(action) is int and 0 <= action < num_actions:
        return action
    value = action
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(-1)[0]
    if not is_whole(value) or not 0 <= value < num_actions:
        raise ValueError(f"action {action!r} is not a whole number in 0 … {num_actions - 1}")
    return int(value)


def known_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options of a reset that there are; others are ignored with a warning.

    Raises:
        ValueError: for what is no dict.
    """
    if options is not None and not isinstance(options, Mapping):
        raise ValueError(f"options = {options!r} is not allowed; allowed: a dict, or None")
    given = dict(options or {})
    unknown = [name for name in given if name not in SITUATION]
    if unknown:
        warnings.warn(
            f"reset options {unknown} are unknown and ignored; known: {list(SITUATION)}",
            stacklevel=3,
        )
    return {name: value for name, value in given.items() if name in SITUATION}
