"""The chance to win a match by lives, as the training's own matches show it.

`equity` supposes that all players are equal. Whoever is stronger or weaker than its opponents gains
and loses something else by a life. Here the chance is counted: the lives at a table are a Markov
chain, whose moves from one round to the next are the rounds that the learner has played, and its
chance to win from everywhere is that of the chain. Every kind of opponents has a chain of its own.
Where little has been seen, rounds among equals are supposed.

Shapes: `N` some tables, `S` = 9 places for seats, `C` positions that were seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from thirtyone_env._jit import entry
from thirtyone_env.equity import CDF, HAZARD, seats_alive
from thirtyone_env.rules import MAX_SEATS
from thirtyone_env.state import Phase, is_in, losses_to_go, seats_in

DOUBT = 5.0
"""Rounds among equals that are supposed to have been seen in every position."""
MEMORY = 0.99
"""Share of the counts that is left after a roll-out."""
FORGOTTEN = 0.01
"""Count below which a move is forgotten."""
STILL = 1e-9
"""Change of the chances at which they are found."""
DIGIT = 4
"""Bits of a position for the own losses to go, and for how many others have each number of them."""
DIGITS = (1 << DIGIT) - 1
GROUP = DIGIT * (len(CDF) + 1)
"""Bits of a position; the kind of opponents stands above them."""
POSITION = (1 << GROUP) - 1


@entry
def positions(states: Any, out: Any) -> None:
    """What a seat's chance depends on, int64[N, S]: its losses to go and those of the others.

    0 stands for a seat that is out, −n for one that shares the pot with n − 1 others.
    """
    for row in range(len(states)):
        state = states[row]
        alive = seats_alive(state)
        over = state.phase == Phase.OVER and not state.one_round
        everybody = 0
        for seat in range(state.num_players):
            if is_in(alive, seat):
                everybody += 1 << (DIGIT * losses_to_go(state, seat))
        for seat in range(out.shape[1]):
            out[row, seat] = 0
            if seat < state.num_players and is_in(alive, seat):
                own = losses_to_go(state, seat)
                out[row, seat] = everybody - (1 << (DIGIT * own)) + own
                if over:
                    out[row, seat] = -seats_in(state.in_play)


@cache
def race(position: int) -> float:
    """The chance by `equity` in a position."""
    if position <= 0:
        return -1.0 / position if position else 0.0
    digits = [position >> DIGIT * place & DIGITS for place in range(len(CDF) + 1)]
    own, others = digits[0], np.repeat(np.arange(1, len(CDF) + 1), digits[1:])
    lives = np.append(own, others) - 1
    raw = HAZARD[lives] * np.prod(CDF[lives], axis=0)
    chances = raw.sum(axis=1)
    return float(chances[0] / chances.sum())


@cache
def rounds(position: int) -> tuple[tuple[float, int], ...]:
    """What a round among equals, in which one of them loses a life, leads to, and how likely."""
    own, others = position & DIGITS, position >> DIGIT
    lives = range(1, len(CDF) + 1)
    counts = [others >> DIGIT * (k - 1) & DIGITS for k in lives]
    share = 1 / (1 + sum(counts))
    found = [(share, position - 1 if own > 1 else 0)]
    for k, count in zip(lives, counts, strict=True):
        if count:
            fewer = position - (1 << DIGIT * k) + ((1 << DIGIT * (k - 1)) if k > 1 else 0)
            found.append((share * count, fewer if fewer > DIGITS else -1))
    return tuple(found)


def races(places: np.ndarray) -> np.ndarray:
    """float64[any]: the chance by `equity` in positions int64[any], whoever the opponents are."""
    return np.array([race(place & POSITION if place > 0 else place) for place in places.tolist()])


def among_equals(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Moves int64[any, 2] of a round among equals from each of some positions, and their shares."""
    moves, shares = [], []
    for place in places.tolist():
        for share, after in rounds(place & POSITION):
            moves.append((place, after + (place & ~POSITION) if after > 0 else after))
            shares.append(share)
    return np.array(moves, np.int64).reshape(-1, 2), np.array(shares)


class Chances:
    """Counts of moves between positions, and the chances that follow from them."""

    def __init__(self) -> None:
        self._moves: np.ndarray = np.zeros((0, 2), np.int64)
        self._counts: np.ndarray = np.zeros(0)
        self._seen: list[np.ndarray] = []
        self._known: np.ndarray = np.zeros(0, np.int64)
        self._values: np.ndarray = np.zeros(0)

    def places(self, states: np.ndarray, kinds: np.ndarray) -> np.ndarray:
        """int64[N, S]: the positions of all seats, against kinds int64[N] of opponents."""
        found = np.empty((len(states), MAX_SEATS), np.int64)
        positions(states, found)
        return np.where(found > 0, found + (kinds[:, None] << GROUP), found)

    def payoffs(self, places: np.ndarray) -> np.ndarray:
        """float64, of the shape of `places`: the chances there, as last found."""
        unique, which = np.unique(places, return_inverse=True)
        found = races(unique)
        if self._known.size:
            at = np.minimum(np.searchsorted(self._known, unique), len(self._known) - 1)
            found = np.where(self._known[at] == unique, self._values[at], found)
        return found[which].reshape(places.shape)

    def count(self, before: np.ndarray, after: np.ndarray) -> None:
        """Rounds of learners' seats: int64[any] positions before and after each."""
        self._seen.append(np.stack([before, after], axis=1))

    def find(self) -> None:
        """Find the chances by all that has been counted, and let it fade."""
        self._gather()
        known = np.unique(self._moves[:, 0])
        supposed, shares = among_equals(known)
        moves = np.concatenate([self._moves, supposed])
        counts = np.concatenate([self._counts, DOUBT * shares])
        first, last = np.searchsorted(known, moves.T)
        last = np.minimum(last, max(len(known) - 1, 0))
        inside = known[last] == moves[:, 1]
        beyond, total = races(moves[:, 1]), np.bincount(first, counts, len(known))
        values, change = races(known), 1.0
        while change > STILL:
            after = np.where(inside, values[last], beyond)
            better = np.bincount(first, counts * after, len(known)) / total
            change = np.abs(better - values).max(initial=0.0)
            values = better
        self._known, self._values = known, values
        kept = self._counts * MEMORY >= FORGOTTEN
        self._moves, self._counts = self._moves[kept], self._counts[kept] * MEMORY

    def _gather(self) -> None:
        """Add what has been seen since the last time to the counts."""
        seen = np.concatenate([np.zeros((0, 2), np.int64), *self._seen])
        self._seen = []
        both = np.concatenate([self._moves, seen])
        counts = np.concatenate([self._counts, np.ones(len(seen))])
        self._moves, which = np.unique(both, axis=0, return_inverse=True)
        self._counts = np.bincount(which.ravel(), counts, len(self._moves))

    # --- saving ----------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All that moves between two times the chances are found, as arrays."""
        self._gather()
        return {"moves": self._moves.copy(), "counts": self._counts.copy()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state, in which the chances are still to be found."""
        self._moves, self._counts = np.array(state["moves"]), np.array(state["counts"])
        self._seen = []
