"""Pgx: a batch of games inside one compiled `lax.scan`, on the CPU."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import pgx
from pgx.experimental import auto_reset

from benchmarks.peers.clock import Measurement, main


def scan(name: str, batch: int, steps: int) -> Measurement:
    """Recorded actions and keys go in, the last states come out; every step resets where needed."""
    env = pgx.make(name)
    start = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), batch))
    step = jax.vmap(auto_reset(env.step, env.init))
    keys = jax.jit(partial(jax.random.split, num=(steps, batch)))(jax.random.key(1))

    def choose(state: Any, key: Any) -> tuple[Any, Any]:
        weights = jax.numpy.log(state.legal_action_mask.astype(jax.numpy.float32))
        action = jax.random.categorical(key[0], weights)
        state = step(state, action, key)
        return state, (action, state.terminated.sum())

    def replay(state: Any, taken: tuple[Any, Any]) -> tuple[Any, Any]:
        action, key = taken
        state = step(state, action, key)
        return state, state.terminated.sum()

    last, (actions, ends) = jax.jit(partial(jax.lax.scan, choose))(start, keys)
    play = jax.jit(partial(jax.lax.scan, replay))

    def decisions(result: tuple[Any, Any]) -> int:
        if not (result[1] == ends).all() or not (result[0].observation == last.observation).all():
            raise RuntimeError("the replay went another way than the recording")
        return steps * batch

    return Measurement(lambda: jax.block_until_ready(play(start, (actions, keys))), decisions)


STEPS = {("leduc_holdem", 1024): 1024, ("leduc_holdem", 8192): 128}
STEPS |= {("sparrow_mahjong", 1024): 256, ("sparrow_mahjong", 8192): 32}
MEASUREMENTS = {
    f"{name}, {batch}": partial(scan, name, batch, steps) for (name, batch), steps in STEPS.items()
}

if __name__ == "__main__":
    main("pgx", MEASUREMENTS)
