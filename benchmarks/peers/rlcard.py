"""RLCard: its environments' own `step`, which returns the next player's state."""

from __future__ import annotations

import random
from functools import partial

import rlcard

from benchmarks.peers.clock import Measurement, main


def steps(name: str, episodes: int) -> Measurement:
    """Whole episodes; every step makes an observation and the legal actions."""
    env, rng = rlcard.make(name, config={"seed": 0}), random.Random(0)
    recorded = []
    env.seed(0)
    for _ in range(episodes):
        state, _ = env.reset()
        actions = []
        while not env.is_over():
            actions.append(rng.choice(list(state["legal_actions"])))
            state, _ = env.step(actions[-1])
        recorded.append(actions)

    def play() -> None:
        for actions in recorded:
            env.reset()
            for action in actions:
                env.step(action)
            if not env.is_over():
                raise RuntimeError("the replay went another way than the recording")

    decisions = sum(map(len, recorded))
    return Measurement(play, lambda _: decisions, lambda: env.seed(0))


MEASUREMENTS = {
    "gin-rummy": partial(steps, "gin-rummy", 60),
    "leduc-holdem": partial(steps, "leduc-holdem", 15_000),
}

if __name__ == "__main__":
    main("rlcard", MEASUREMENTS)
