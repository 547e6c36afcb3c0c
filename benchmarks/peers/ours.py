"""Thirty-One itself: four seats, the danish rules, measured as the others are."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

import gymnasium
import numpy as np

import thirtyone_env
from benchmarks.measure import random_actions, renew
from benchmarks.peers.clock import Measurement, main
from benchmarks.peers.loops import gymnasium_loop, pettingzoo_loop
from thirtyone_env import game
from thirtyone_env.arena import Tables, play_matches
from thirtyone_env.rules import Rules

DANISH, SEATS, BATCH = Rules.preset("danish"), 4, 4096
STEPS, BURN_IN = 512, 256  # of a batch; the burn-in spreads the matches over all their moments


def bots(name: str, matches: int) -> Measurement:
    """Whole matches between bots of the kernel; bots choose their actions within the clock."""
    numbers = np.arange(matches)
    tables = Tables(DANISH, SEATS, seed=1, matches=numbers)
    for seat in range(SEATS):
        tables.set_controllers(None, seat, name)
    tables.play()
    played = int(tables.states["decisions"].sum())
    return Measurement(
        lambda: play_matches(DANISH, [name] * SEATS, seed=1, matches=numbers, threads=1),
        lambda _: played,
    )


def batch(see: bool = True, copy: bool = False) -> Measurement:
    """All seats from outside: take the actions, deal where a match is over, write what is seen."""
    tables, rng = Tables(DANISH, SEATS, seed=1, matches=np.arange(BATCH)), np.random.default_rng(0)
    seen, mask = tables.new_outputs()
    tables.action_mask(out=mask)

    def chosen() -> np.ndarray:
        actions = random_actions(mask, rng)
        tables.step(actions, seen, mask, renew=True)
        return actions

    for _ in range(BURN_IN):
        chosen()
    begun = deepcopy(tables)
    actions = [chosen() for _ in range(STEPS)]
    ended = tables.states.copy()

    def restore() -> None:
        nonlocal tables
        tables = deepcopy(begun)

    def play() -> tuple[np.ndarray, np.ndarray]:
        nonlocal seen, mask
        for taken in actions:
            if copy:
                seen, mask = np.empty_like(seen), np.empty_like(mask)
            if see:
                tables.step(taken, seen, mask, renew=True)
            else:
                tables.act(taken)
                renew(tables)
                tables.action_mask(out=mask)
        return seen, mask

    def decisions(_: Any) -> int:
        if not np.array_equal(tables.states, ended):
            raise RuntimeError("the replay went another way than the recording")
        return STEPS * BATCH

    return Measurement(play, decisions, restore)


def vector() -> Measurement:
    """Gymnasium's vector environment: one learner a match, three bots, automatic resets."""
    env = gymnasium.make_vec("ThirtyOne-v0", num_envs=BATCH, copy=False)
    rng, steps = np.random.default_rng(0), 128
    mask = env.reset(seed=1)[1]["action_mask"]
    actions = []
    for _ in range(steps):
        actions.append(random_actions(mask, rng))
        mask = env.step(actions[-1])[-1]["action_mask"]

    def play() -> list[np.ndarray]:
        return [np.logical_or(*env.step(taken)[2:4]) for taken in actions]

    def decisions(over: list[np.ndarray]) -> int:
        # The step after an end deals the next match and takes no decision.
        return steps * BATCH - int(np.sum(over[:-1]))

    return Measurement(play, decisions, lambda: env.reset(seed=1))


def aec(matches: int = 1_000) -> Measurement:
    """PettingZoo's loop, `last` and `step`."""
    return pettingzoo_loop(thirtyone_env.env(rules="danish", num_players=SEATS), matches)


def single(steps: int = 40_000) -> Measurement:
    """Gymnasium's single environment: one learner, three bots."""
    env = gymnasium.make("ThirtyOne-v0", disable_env_checker=True)
    return gymnasium_loop(env, steps)


def match(see: bool, matches: int = 400) -> Measurement:
    """One match at a time through the functions of `game`."""
    rng = np.random.default_rng(0)
    recorded = []
    for number in range(matches):
        states = game.new_match(DANISH, SEATS, seed=1, match=number)
        actions = []
        while not game.is_over(states):
            actions.append(int(rng.choice(game.legal_actions(states))))
            game.step(states, actions[-1])
        recorded.append(actions)

    def play() -> None:
        for number, actions in enumerate(recorded):
            states = game.new_match(DANISH, SEATS, seed=1, match=number)
            for action in actions:
                if see:
                    game.observe(states, int(states["seat"][0]))
                    game.legal_mask(states)
                else:
                    game.legal_actions(states)
                game.step(states, action)

    return Measurement(play, lambda _: sum(map(len, recorded)))


MEASUREMENTS: dict[str, Callable[[], Measurement]] = {
    "bots": partial(bots, "threshold:25", 50_000),
    "random bots": partial(bots, "random", 50_000),
    "batch": batch,
    "batch, copies": partial(batch, copy=True),
    "batch, unseen": partial(batch, see=False),
    "vector": vector,
    "aec": aec,
    "single": single,
    "match": partial(match, see=True),
    "match, unseen": partial(match, see=False),
}

if __name__ == "__main__":
    main("thirtyone-env", MEASUREMENTS)
