"""What the tests of other libraries share: random play, and what the engine itself says."""

from __future__ import annotations

from typing import Any

import numpy as np

import thirtyone_env
from tests.env.helpers import generator as generator
from tests.independent import checker
from thirtyone_env.adapters.live_turns import LiveTurns


class Logged(LiveTurns):
    """Live turns that note every finished match: what it paid, by the independent checker too."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.finished: list[np.ndarray] = []

    def step(self, action: Any) -> None:
        super().step(action)
        if self.over:
            self.finished.append(payoffs(self))


def table(num_players: int, **options: Any) -> Logged:
    """A strict environment of live turns that logs."""
    return Logged(thirtyone_env.env(num_players=num_players, illegal="raise", **options))


def payoffs(env: Any) -> np.ndarray:
    """What the match just over paid to each seat, from its record."""
    record = env.unwrapped.record()
    checker.check_match(record)
    return np.array(record["returns"])


def legal(env: Any) -> np.ndarray:
    """The legal actions of the seat to act, from the engine."""
    return np.flatnonzero(thirtyone_env.legal_mask(env.unwrapped._states))
