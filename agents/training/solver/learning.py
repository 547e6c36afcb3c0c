"""The solver's learning: damped updates of what decisions are worth, by self-play of the engine.

A batch of rounds is played with the tables as they stand. At every decision of the learner each
choice is tried (see `kernels`); the mean error of a place in the tables, times a damping that falls
from batch to batch, is added to it. All seats play by the same tables, so that nobody's policy
moves faster than the others can follow; knocks that are worth about as much as going on are drawn
by lot, or the best responses of the seats to each other would run in circles. With other
opponents than itself the learner finds a best response instead.

Results depend on the seed alone: a batch is cut into a fixed number of parts, each with sums of its
own, that are added up in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.training.solver import exchange
from agents.training.solver.exchange_kernels import learn_exchange_rounds
from agents.training.solver.kernels import learn_rounds
from thirtyone_env import Rules, game
from thirtyone_env.bots import Book, controller
from thirtyone_env.bots.book import UNIT as HALF_POINT
from thirtyone_env.bots.worth import draw_tables, hand_key
from thirtyone_env.classes import hand_classes
from thirtyone_env.solvers import (
    FILE_UNIT,
    OPEN,
    UNIT,
    VALUES,
    Part,
    Solver,
    header_block,
    solver_classes,
    table_sizes,
)
from thirtyone_env.state import NOBODY, STATE, new_states

SELF = "self"
"""The name of the learner itself among opponents."""
PARTS = 8
"""Parts of a batch; threads share them."""
LOOK_AHEAD = 3
"""Own draws by which hands are guessed to grow before anything is learned."""
FEW = 50
"""Errors after which a place is worth as much its own as its neighbour's, in what is saved."""
PRIOR = 5
"""Errors of 0 that every place is taken to have had in a batch."""


@dataclass(frozen=True)
class Recipe:
    """How a solver learns."""

    turns: int = 12
    """Own turns told apart."""
    ramp: float = 0.02
    """Half the width, in lives, of the gap of worth in which knocks are drawn by lot."""
    rounds: int = 12_000
    """Rounds of a batch."""
    batches: int = 800
    """Batches for each number of seats."""
    damping: float = 0.6
    """Share of the mean error that is added at first."""
    half_life: int = 15
    """Batches until the damping is half of that; it falls as 1 / (1 + batch / half_life)."""
    final_damping: float = 0.01
    """The least of it."""
    explore: float = 0.1
    """How likely an exploring seat decides at random; in every second round one seat does."""


def first_guess(rules: Rules, turns: int, seats: int) -> np.ndarray:
    """float64[size]: worth in lives by looking ahead and by value, to begin with."""
    hands = hand_classes(rules).hands
    states = new_states(rules, 2, 1)
    points = np.array([game.value_of(states, hand) for hand in hands.tolist()]) / 2
    points = points * 31 / rules.blitz_value
    values = np.arange(VALUES) / 2 * 31 / rules.blitz_value
    spots = turns * seats * OPEN
    ahead = draw_tables(hand_key(rules.record[()])).worth[LOOK_AHEAD] / (2 * HALF_POINT)
    ahead = ahead * 31 / rules.blitz_value
    sizes = table_sizes(rules, turns, seats)
    result = np.zeros(sum(sizes))
    parts = np.split(result, np.cumsum(sizes)[:-1])
    parts[Part.AFTER].reshape(spots, -1)[:] = 0.06 * (ahead - 25)
    parts[Part.DRAW].reshape(spots, -1)[:] = 0.06 * (ahead - 24)
    parts[Part.LAST_DRAW].reshape(spots, -1)[:] = np.clip(0.2 * (points - 23), -1, 1)
    parts[Part.LAST].reshape(spots, -1)[:] = np.clip(0.25 * (values - 25), -1, 1.5)
    parts[Part.KNOCK].reshape(spots, -1)[:] = np.clip(0.15 * (values - 25), -1.5, 0.9)
    return result


class Learner:
    """Tables for one number of seats, and how they learn.

    Args:
        rules: of either family.
        seats: players at the table.
        recipe: how it learns.
        seed: start of all cards and lots.
        opponents: names of kernel bots with weights; `SELF` is the learner itself. Each part of a
            batch is played against copies of one.
        threads: the result does not depend on them.
        cards: the cards of a short deck; empty: the deck of the rules.
        deck: cards of it that every round begins with, in dealing order.
    """

    def __init__(
        self,
        rules: Rules,
        seats: int,
        recipe: Recipe,
        *,
        seed: int,
        opponents: Mapping[str, float] | None = None,
        threads: int = 1,
        cards: Sequence[int] = (),
        deck: Sequence[int] = (),
    ) -> None:
        self._cards = [*deck, *(card for card in cards if card not in deck)]
        self._laid = np.array([len(self._cards), len(deck)])
        self.rules, self.seats, self.recipe = rules, seats, recipe
        self.seed, self.threads = seed, threads
        self.batch = 0
        weights = dict(opponents or {SELF: 1.0})
        self._opponents = list(weights)
        self._weights = np.array(list(weights.values())) / sum(weights.values())
        layout = rules, recipe.turns, seats
        self._exchange = rules.family == "exchange"
        self._share = exchange.shares(*layout) if self._exchange else np.ones(1)
        self.worth = (exchange.first_guess if self._exchange else first_guess)(*layout)
        """float64[size]: the tables of `Part` or `ExchangePart`, in lives."""
        self._counts = np.zeros(len(self.worth), np.int64)
        self._place()

    def _place(self) -> None:
        """Lay out the book: the opponents' tables, then the learner's own."""
        number = solver_classes(self.rules).number
        book = Book()
        record = self.rules.record[()]
        self._controllers = [
            np.zeros((), STATE["controllers"].base)
            if name == SELF
            else controller(name, record, book)
            for name in self._opponents
        ]
        classes = book.place("classes of the learner", lambda: number)
        self._first = book.place("tables of the learner", lambda: np.zeros(len(self.worth)))
        about = self.recipe.turns, self.seats, self.recipe.ramp, self._first
        words = header_block(self.rules, classes, *about)
        blocks = np.zeros((8, len(words)), np.int64)
        blocks[self.seats - 2] = words
        self._head = book.place("head of the learner", lambda: blocks)
        self._book = np.array(book.array)

    def damping(self) -> float:
        """The share of the mean error that the next batch adds."""
        recipe = self.recipe
        return max(recipe.damping / (1 + self.batch / recipe.half_life), recipe.final_damping)

    def learn(self) -> float:
        """Play a batch and learn from it.

        Returns:
            The root of the mean squared error of a choice in a visited place, in lives.
        """
        self._book[self._first :][: len(self.worth)] = np.rint(self.worth * UNIT)
        rng = np.random.default_rng((self.seed, self.seats, self.batch))
        drawn = np.asarray(rng.choice(len(self._opponents), (PARTS,), p=self._weights))
        with ThreadPoolExecutor(self.threads) as pool:
            parts = list(pool.map(lambda part: self._part(part, int(drawn[part])), range(PARTS)))
        sums = np.stack([part[0] for part in parts]).sum(axis=0)
        counts = np.stack([part[1] for part in parts]).sum(axis=0, dtype=np.int64)
        self.worth += self.damping() * self._share * sums / (counts + PRIOR)
        self._counts += counts
        self.batch += 1
        seen = counts > 0
        return float(np.sqrt(np.mean((sums[seen] / counts[seen]) ** 2)))

    def _part(self, part: int, opponent: int) -> tuple[np.ndarray, np.ndarray]:
        """Sums and counts of one part of a batch."""
        rounds = -(-self.recipe.rounds // PARTS)
        number = self.batch * PARTS + part
        myself = self._opponents[opponent] == SELF
        learner = NOBODY if myself else number % self.seats
        padded = np.zeros(4, STATE)  # the last shares no cache line with other threads
        padded["deck"][2, : len(self._cards)] = self._cards
        padded[0] = new_states(self.rules, self.seats, 1)[0]
        padded["seed"][0], padded["one_round"][0] = self.seed, 1
        for seat in range(self.seats):
            if not myself and seat != learner:
                padded["controllers"][0, seat] = self._controllers[opponent]
        sums, counts = np.zeros(len(self.worth)), np.zeros(len(self.worth), np.int32)
        explore = round(self.recipe.explore * UNIT)
        first = number * rounds
        places = (self._laid, self._book, self._head, self._head, learner, explore)
        learn = learn_exchange_rounds if self._exchange else learn_rounds
        learn(padded, *places, first, first + rounds, sums, counts)
        return sums, counts

    def tables(self) -> np.ndarray:
        """int16[size]: the tables as a file holds them."""
        limit = np.iinfo(np.int16).max
        worth = np.rint(self._smoothed() * FILE_UNIT)
        return np.clip(worth, -limit, limit).astype(np.int16)

    def _smoothed(self) -> np.ndarray:
        """float64[size]: the tables, each place as far as it was seen, else as its neighbour.

        The neighbour is the turn before, and in the first turn less that opponents collect.
        """
        if self._exchange:  # what was hardly seen adds little to what other tables say
            return self.worth
        sizes = table_sizes(self.rules, self.recipe.turns, self.seats)
        cuts = np.cumsum(sizes)[:-1]
        shares = self._counts / (self._counts + FEW)
        parts = []
        for part, (worth, share) in enumerate(
            zip(np.split(self.worth, cuts), np.split(shares, cuts), strict=True)
        ):
            steps = OPEN if part < Part.CARD else 1
            shape = (self.seats, self.recipe.turns, steps, -1)
            parts.append(_leaning(worth.reshape(shape), share.reshape(shape)).ravel())
        return np.concatenate(parts)


def _leaning(worth: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Worth by place, turn, step and kind, each as a mean of itself and its neighbour."""
    result = worth.copy()
    for turn in range(worth.shape[1]):
        for step in range(worth.shape[2]):
            if turn == 0 and step == 0:
                continue
            near = result[:, turn - 1, step] if turn else result[:, turn, step - 1]
            own, weight = result[:, turn, step], share[:, turn, step]
            result[:, turn, step] = weight * own + (1 - weight) * near
    return result


def solver_of(learners: Mapping[int, Learner], name: str, card: Mapping[str, Any]) -> Solver:
    """The solver that has learned by number of seats."""
    some = next(iter(learners.values()))
    tables = {seats: learner.tables() for seats, learner in sorted(learners.items())}
    return Solver(some.rules, some.recipe.turns, some.recipe.ramp, tables, name, card)
