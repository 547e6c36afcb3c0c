"""EnvPool's Blackjack: a batch in C++ with one thread of its own."""

from __future__ import annotations

from functools import partial

import envpool
import numpy as np

from benchmarks.peers.clock import Measurement, main


def blackjack(batch: int, steps: int) -> Measurement:
    """Every action is legal; the step after an end deals the next game and takes no decision."""
    env = envpool.make_gymnasium("Blackjack-v1", num_envs=batch, num_threads=1, seed=1)
    actions = np.random.default_rng(0).integers(0, 2, (steps, batch), np.int32)

    def play() -> list[np.ndarray]:
        return [np.logical_or(*env.step(taken)[2:4]) for taken in actions]

    def decisions(over: list[np.ndarray]) -> int:
        return steps * batch - int(np.sum(over[:-1]))

    return Measurement(play, decisions, env.reset)


MEASUREMENTS = {
    "Blackjack, 1024": partial(blackjack, 1024, 400),
    "Blackjack, 4096": partial(blackjack, 4096, 100),
}

if __name__ == "__main__":
    main("envpool", MEASUREMENTS)
