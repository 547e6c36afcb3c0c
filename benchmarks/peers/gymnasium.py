"""Gymnasium's own single environments."""

from __future__ import annotations

from functools import partial

import gymnasium

from benchmarks.peers.clock import Measurement, main
from benchmarks.peers.loops import gymnasium_loop


def single(name: str, steps: int) -> Measurement:
    """As `gymnasium.make` returns it, without the checker, which users switch off for speed."""
    return gymnasium_loop(gymnasium.make(name, disable_env_checker=True), steps)


MEASUREMENTS = {
    "Blackjack": partial(single, "Blackjack-v1", 20_000),
    "CartPole": partial(single, "CartPole-v1", 60_000),
}

if __name__ == "__main__":
    main("gymnasium", MEASUREMENTS)
