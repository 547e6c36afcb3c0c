"""PufferLib's Triple Triad, a batch in C; building the package fetches raylib from the network."""

from __future__ import annotations

from functools import partial

import numpy as np
from pufferlib.ocean.tripletriad.tripletriad import TripleTriad

from benchmarks.peers.clock import Measurement, main


def tripletriad(batch: int, steps: int) -> Measurement:
    """Any action of the space; the step after an end deals the next game and takes no decision."""
    env = TripleTriad(num_envs=batch, report_interval=1 << 30)
    env.reset()
    actions = np.random.default_rng(0).integers(0, 14, (steps, batch), np.int32)

    def play() -> list[np.ndarray]:
        return [env.step(taken)[2].copy() for taken in actions]

    def decisions(over: list[np.ndarray]) -> int:
        return steps * batch - int(np.sum(over[:-1]))

    return Measurement(play, decisions)


MEASUREMENTS = {"tripletriad": partial(tripletriad, 4096, 1_000)}

if __name__ == "__main__":
    main("pufferlib", MEASUREMENTS)
