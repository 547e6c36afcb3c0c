"""Learning what to do in every information set of a short game.

Each seat walks through every round, trying all its choices (see `walks`). After every batch the
regrets so far are weighed down to batch / (batch + 1), and what is done in a batch has its number
as its weight in the average: linear weights, after Brown and Sandholm, "Solving imperfect-
information games via discounted regret minimization" (2019). In a game of two the average goes to
an equilibrium, as fast as one over the root of the rounds at least.

A choice depends on those before it, so that one thread learns; results depend on the seed alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agents.evaluation.exact import Enumeration
from agents.training.config.solver import MAX_OWN_TURNS
from agents.training.solver.walks import FULL, walk_rounds
from thirtyone_env import Rules, make_bot
from thirtyone_env.bots.seeing import keys_of, ways_of
from thirtyone_env.seen import CERTAIN, MAX_SETS, WAYS, SeenSolver
from thirtyone_env.state import STATE, new_states

DECISIONS = 2 * (MAX_OWN_TURNS + 1)
"""Own decisions of a round at most: a draw and a discard a turn, the one after a knock too."""


class TooManySetsError(ValueError):
    """A game with more information sets than a table holds."""


class SeenLearner:
    """A table of information sets for one number of seats, and how it learns.

    Args:
        rules: of the draw family, with at most `MAX_OWN_TURNS` turns a player.
        seats: players at the table.
        seed: start of all cards and lots.
        cards: the cards of a short deck; empty: the deck of the rules.
        deck: cards of it that every round begins with, in dealing order.
    """

    def __init__(
        self,
        rules: Rules,
        seats: int,
        *,
        seed: int,
        cards: Sequence[int] = (),
        deck: Sequence[int] = (),
    ) -> None:
        self.rules, self.seats = rules, seats
        self.cards, self.deck = tuple(cards), tuple(deck)
        self.batch = self.rounds = 0
        self._keys = np.zeros(2 * MAX_SETS + 1, np.uint64)
        self._room = np.zeros(2, np.int64)
        self._regrets = np.zeros((2 * MAX_SETS + 1, WAYS))
        self._sums = np.zeros((2 * MAX_SETS + 1, WAYS))
        laid = [*self.deck, *(card for card in self.cards if card not in self.deck)]
        self._laid = np.array([len(laid) if self.cards else 0, len(self.deck)])
        self._states = np.zeros(DECISIONS + 2, STATE)
        self._states[0] = new_states(rules, seats, 1)[0]
        self._states["seed"][0], self._states["one_round"][0] = seed, 1
        self._states["deck"][-1, : len(laid)] = laid

    def learn(self, rounds: int) -> None:
        """Learn from a batch of rounds.

        Raises:
            TooManySetsError: if the game turns out to be too large.
        """
        self.batch += 1
        tables = self._keys, self._room, self._regrets, self._sums
        nodes, worth = np.zeros((DECISIONS, 3), np.int64), np.zeros((DECISIONS, WAYS))
        walk_rounds(
            self._states,
            self._laid,
            self.rounds,
            self.rounds + rounds,
            float(self.batch),
            *tables,
            nodes,
            worth,
            np.zeros(WAYS),
            np.zeros(1, np.uint64),
        )
        if self._room[FULL]:
            raise TooManySetsError(
                f"the game has more than {MAX_SETS:,} information sets; information: seen is for "
                "short games: fewer cards or turns, or more cards that are known, or classes"
            )
        self.rounds += rounds
        self._regrets *= self.batch / (self.batch + 1)

    def solver(self, name: str, card: Mapping[str, Any]) -> SeenSolver:
        """The average of what has been done, as a file holds it."""
        totals = self._sums[:-1].sum(axis=1)
        reached = np.flatnonzero(totals > 0)
        reached = reached[np.argsort(self._keys[reached])]
        shares = self._sums[reached] / totals[reached, None] * CERTAIN
        chances = np.floor(shares).astype(np.int64)
        rows = np.arange(len(reached))
        chances[rows, shares.argmax(axis=1)] += CERTAIN - chances.sum(axis=1)
        tables = self._keys[reached], chances.astype(np.uint16)
        about = self.rules, self.cards, self.deck, (self.seats,)
        return SeenSolver(*about, *tables, name, card)


def profile_of(exact: Enumeration, solver: SeenSolver) -> np.ndarray:
    """float64[E]: what a solver does in every information set of an enumerated game."""
    states = np.concatenate([node.states for node in exact.nodes])
    profile = exact.of_policies([make_bot("never_knock")] * exact.seats)
    keys, ways = keys_of(states), ways_of(states)
    rows = np.searchsorted(solver.keys, keys)
    known = solver.keys[np.minimum(rows, len(solver.keys) - 1)] == keys
    for number in np.flatnonzero(known).tolist():
        first, actions = int(exact.first[number]), exact.actions[number]
        chances = solver.chances[rows[number]] / CERTAIN
        for way in range(len(actions)):
            profile[first + actions.index(int(ways[number, way]))] = chances[way]
    return profile
