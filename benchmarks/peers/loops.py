"""The loops of PettingZoo and of Gymnasium, the same for us and for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers.clock import Measurement


def pettingzoo_loop(env: Any, matches: int) -> Measurement:
    """`last` and `step` through whole matches, resets counted, steps of finished agents not."""
    rng = np.random.default_rng(0)
    recorded: list[list[int | None]] = []
    for seed in range(matches):
        env.reset(seed=seed)
        actions: list[int | None] = []
        while env.agents:
            seen, _, terminated, truncated, _ = env.last()
            legal = np.flatnonzero(seen["action_mask"])
            over = terminated or truncated
            actions.append(None if over else int(rng.choice(legal)))
            env.step(actions[-1])
        recorded.append(actions)

    def play() -> None:
        for seed, actions in enumerate(recorded):
            env.reset(seed=seed)
            for action in actions:
                env.last()
                env.step(action)
            if env.agents:
                raise RuntimeError("the replay went another way than the recording")

    decisions = sum(action is not None for actions in recorded for action in actions)
    return Measurement(play, lambda _: decisions)


def gymnasium_loop(env: Any, steps: int) -> Measurement:
    """`step`, and `reset` where an episode ends."""
    env.action_space.seed(0)
    _, info = env.reset(seed=1)
    actions: list[Any] = []
    ends = 0
    for _ in range(steps):
        actions.append(env.action_space.sample(info.get("action_mask")))
        *_, terminated, truncated, info = env.step(actions[-1])
        if terminated or truncated:
            _, info = env.reset()
            ends += 1

    def play() -> int:
        env.reset(seed=1)
        count = 0
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
                count += 1
        return count

    def decisions(count: int) -> int:
        if count != ends:
            raise RuntimeError("the replay went another way than the recording")
        return steps

    return Measurement(play, decisions)
