"""OpenSpiel: games played by its own bots in C++, and step by step through its Python binding."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pyspiel
from open_spiel.python.observation import make_observation

from benchmarks.peers.clock import Measurement, main

# A game, and how many of its episodes take about half a second.
GAMES = {
    "crazy_eights(players=2)": (10_000, 4_000),
    "gin_rummy": (200, 200),
    "leduc_poker": (50_000, 100_000),
}


def bots(name: str, episodes: int) -> Measurement:
    """`evaluate_bots` between uniform random bots in C++, which choose within the clock."""
    game = pyspiel.load_game(name)
    players = [pyspiel.make_uniform_random_bot(player, player + 1) for player in range(2)]

    def play() -> list[Any]:
        states = []
        for episode in range(episodes):
            state = game.new_initial_state()
            pyspiel.evaluate_bots(state, players, episode)
            states.append(state)
        return states

    def decisions(states: list[Any]) -> int:
        return sum(step.player >= 0 for state in states for step in state.full_history())

    return Measurement(play, decisions)


def recorded_episodes(game: Any, episodes: int) -> list[list[tuple[bool, int]]]:
    """Whether it is a decision, and the action, of every step of random episodes."""
    rng = random.Random(0)
    recorded = []
    for _ in range(episodes):
        state, steps = game.new_initial_state(), []
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                steps.append((False, rng.choices(outcomes, weights)[0]))
            else:
                steps.append((True, rng.choice(state.legal_actions())))
            state.apply_action(steps[-1][1])
        recorded.append(steps)
    return recorded


def binding(name: str, episodes: int, see: str) -> Measurement:
    """One state from Python; what chance did is applied again, drawing it is not counted.

    What is seen: ``"array"``, an observation written into OpenSpiel's own NumPy array, and the
    mask; ``"list"``, `observation_tensor` and the mask; ``""``, the list of legal actions alone.
    """
    game = pyspiel.load_game(name)
    recorded = recorded_episodes(game, episodes)
    observation = make_observation(game)

    def play() -> None:
        for steps in recorded:
            state = game.new_initial_state()
            for decides, action in steps:
                if decides:
                    if see == "array":
                        observation.set_from(state, state.current_player())
                        state.legal_actions_mask()
                    elif see == "list":
                        state.observation_tensor()
                        state.legal_actions_mask()
                    else:
                        state.legal_actions()
                state.apply_action(action)

    decisions = sum(decides for steps in recorded for decides, _ in steps)
    return Measurement(play, lambda _: decisions)


MEASUREMENTS: dict[str, Callable[[], Measurement]] = {}
for _name, (_native, _bound) in GAMES.items():
    _short = _name.partition("(")[0]
    MEASUREMENTS[f"{_short}, bots"] = partial(bots, _name, _native)
    MEASUREMENTS[f"{_short}, seen"] = partial(binding, _name, _bound, "array")
    MEASUREMENTS[f"{_short}, seen as lists"] = partial(binding, _name, _bound, "list")
    MEASUREMENTS[f"{_short}, unseen"] = partial(binding, _name, _bound, "")

if __name__ == "__main__":
    main("open_spiel", MEASUREMENTS)
