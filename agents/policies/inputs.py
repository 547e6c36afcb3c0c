"""What a network on full observations reads: the same inputs at tables of every size.

The layout of the full observation depends on the number of seats. A network that plays at tables
of several sizes has the inputs of the largest one; at a smaller one the inputs of the seats that
are not there stay zero. Networks may read the values of afterstates too, after all those.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agents.policies.network_kernels import NO_MORE
from thirtyone_env.arena import afterstate_rows
from thirtyone_env.observation import AFTERSTATE_SIZE, AFTERSTATES, BLOCKS, observation_size, slices

AFTER = "afterstates"
"""The name of that block."""

SCALES: dict[str, float] = {
    "lives": 1 / 3,
    "buy_ins": 1 / 3,
    "stakes": 1 / 3,
    "fresh": 1 / 2,
    "turns": 1 / 10,
    "stock": 1 / 32,
    "passes": 1 / 4,
    "knocks": 1 / 16,
    "rules": 1 / 8,
}
"""Factors that bring the bytes of blocks that are no flags near 1."""


def size(most_seats: int, *, after: bool) -> int:
    """F: how many inputs there are."""
    return observation_size(most_seats) + (AFTERSTATE_SIZE if after else 0)


def layout(seats: int, most_seats: int) -> np.ndarray:
    """int16[K]: which input each byte of an observation at a table is.

    Args:
        seats: at the table.
        most_seats: at the largest table that the network knows.
    """
    here, there = slices(seats), slices(most_seats)
    found: np.ndarray = np.empty(observation_size(seats), np.int16)
    for block in BLOCKS:
        size, start = block.size(seats), there[block.name].start
        found[here[block.name]] = np.arange(start, start + size)
        if block.name == "knocker":  # its last flag says that nobody has knocked
            found[here[block.name].stop - 1] = there[block.name].stop - 1
    return found


def beside(states: np.ndarray, rows: np.ndarray, most_seats: int, *, after: bool) -> np.ndarray:
    """int16[N, any]: the inputs of the seats to act besides the bytes, as `index_rows` takes them.

    Args:
        states: STATE[B].
        rows: int64[N].
        most_seats: at the largest table.
        after: whether the values of afterstates are read.
    """
    if not after:
        return NO_MORE[: len(rows)]
    found: np.ndarray = np.empty((len(rows), AFTERSTATES), np.int16)
    afterstate_rows(states, rows, True, observation_size(most_seats), found)
    return found


def scales(most_seats: int, *, rules: bool = True, after: bool = False) -> np.ndarray:
    """float32[F]: the factor of each input.

    Args:
        most_seats: at the largest table.
        rules: whether the rules are read; they say nothing where there is one set of them.
        after: whether the values of afterstates are read.
    """
    found: np.ndarray = np.ones(size(most_seats, after=after), np.float32)
    places = slices(most_seats)
    for name, factor in SCALES.items():
        found[places[name]] = factor
    if not rules:
        found[places["rules"]] = 0
    return found


def names(most_seats: int, *, after: bool) -> list[tuple[str, int]]:
    """The blocks of the inputs and their sizes, as a saved policy says what it reads."""
    found = [(block.name, block.size(most_seats)) for block in BLOCKS]
    return [*found, (AFTER, AFTERSTATE_SIZE)] if after else found


def differences(mine: Sequence[Sequence[Any]], most_seats: int) -> str:
    """How saved blocks differ from those of this program, in words; empty where they do not."""
    then = {str(name): int(size) for name, size in mine}
    now = dict(names(most_seats, after=AFTER in then))
    gone, new = sorted(set(then) - set(now)), sorted(set(now) - set(then))
    other = sorted(name for name in set(now) & set(then) if now[name] != then[name])
    parts = [("gone", gone), ("new", new), ("of another size", other)]
    words = [f"{label}: {', '.join(found)}" for label, found in parts if found]
    if not words and list(then) != list(now):
        words = ["in another order"]
    return "; ".join(words)
