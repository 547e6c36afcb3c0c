"""The tables of a solver for the exchange family: what they hold, and how they are laid out.

What a turn is worth is a sum over tables, each of which knows something else of the hand, the table
that is left, and what opponents openly hold. Values are told apart in *steps*; an opponent's
*reach* is the least that it is worth after one exchange, its hidden cards being worth nothing.
Hands are in the classes of the rules without an order of suits, which is left to the choice among
what is worth as much.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

VALUES = 68
"""Values by which tables are laid out, in half points; three aces may be worth 66."""
TOPS = 6
"""Kinds of a table's highest card: below 8 points, 8, 9, 10, 11, a joker."""
FEW_TURNS = 4
"""Own turns that tables with many other places tell apart."""
MANNERS = 4
"""What an opponent did last: nothing yet, nothing yet but keep its cards, a pass, an exchange."""
MOST_LEFT = 8
"""Most players who are still to move after a last turn."""


def _steps(*edges: float) -> np.ndarray:
    """int64[VALUES]: how many edges, in points, each value reaches."""
    return np.searchsorted(edges, np.arange(VALUES) / 2, side="right").astype(np.int64)


VALUE_STEP: np.ndarray = _steps(11, 16, 17, 18, 19, 20, 21, 22, 25, 26, 27, 28, 29, 30, 31)
"""Steps of values of one's own."""
OPEN_STEP: np.ndarray = _steps(12, 17, 19, 21, 22, 28, 30.5)
"""Steps of what an opponent openly holds."""
REACH_STEP: np.ndarray = _steps(14, 18, 19, 20, 21, 22, 25, 27, 28, 30, 31)
"""Steps of an opponent's reach."""
GAP_STEP: np.ndarray = np.searchsorted([-6, 0, 1, 7], np.arange(-VALUES, VALUES), side="right")
"""Steps of a difference of values in half points, by the difference plus VALUES."""
GAPS = 5
OWN, OPEN, REACH = (int(steps.max()) + 1 for steps in (VALUE_STEP, OPEN_STEP, REACH_STEP))
TABLES = TOPS * OWN
"""Kinds of a table: its highest card and its value."""


class ExchangePart(IntEnum):
    """The tables for one number of seats, in order.

    A *context* is the seat's place in the round, and whether the turn is a pass; a *spot* the place
    and the own turn. `hidden` is how many cards of a hand, 0 … 3, were not taken openly.
    """

    RACE = 0
    """By the opponent that looks weakest: [contexts, hidden, OPEN, REACH, OWN, OWN], the last two
    of them own value and reach."""
    HAND = 1
    """By the own hand: [contexts, FEW_TURNS, K, TABLES]."""
    OUTLOOK = 2
    """By own hidden cards, value, reach, and reach without the best card:
    [passes, spots, hidden, OWN, OWN, OWN]."""
    NEXT = 3
    """By the next player and its manner: [contexts, MANNERS, hidden, REACH, TABLES]."""
    RIVALRY = 4
    """By how what the weakest opponent openly holds stands to the own reach, its reach to the own
    value and to the own reach, whether a blitz is within its reach and the own, and own value:
    [contexts, hidden, GAPS, GAPS, GAPS, 2, 2, OWN]."""
    KNOCK = 5
    """A knock, by the weakest opponent and own value, and whether it is within reach:
    [places, MANNERS, hidden, OPEN, REACH, VALUES, 2]."""
    KNOCK_TABLE = 6
    """A knock, by the table: [places, hidden, TABLES, OWN]."""
    KNOCK_TURN = 7
    """A knock, by own turn: [spots, hidden, VALUES]."""
    RENEWAL = 8
    """A pass after which the table is renewed, or the round ends:
    [2, spots, hidden, OPEN, OWN]."""
    RENEWAL_HAND = 9
    """The same by the own hand: [spots, 2, K]."""
    DEALER = 10
    """Refusing and keeping: [2, K]."""
    LAST = 11
    """A last turn before others: [still to move, hidden, REACH, VALUES, 2], by the next player and
    own value, and whether it is within reach."""
    NOTHING = 12
    """One place that stays 0, for sums of fewer tables."""


class ExchangeHead(IntEnum):
    """What stands where in a block of a solver's header; the beginning is that of `SolverHead`."""

    KINDS = 0
    CLASSES = 1
    TURNS = 2
    PLACES = 3
    RAMP = 4
    PARTS = 5
    """Where the tables of `ExchangePart` begin."""
    BLOCK = 18


def exchange_sizes(kinds: int, turns: int, seats: int) -> list[int]:
    """The sizes of the tables of `ExchangePart` for so many classes, turns and seats."""
    contexts, spots = 2 * seats, turns * seats
    return [
        contexts * 4 * OPEN * REACH * OWN * OWN,
        contexts * FEW_TURNS * kinds * TABLES,
        2 * spots * 4 * OWN * OWN * OWN,
        contexts * MANNERS * 4 * REACH * TABLES,
        contexts * 4 * GAPS**3 * 4 * OWN,
        seats * MANNERS * 4 * OPEN * REACH * VALUES * 2,
        seats * 4 * TABLES * OWN,
        spots * 4 * VALUES,
        2 * spots * 4 * OPEN * OWN,
        spots * 2 * kinds,
        2 * kinds,
        (MOST_LEFT + 1) * 4 * REACH * VALUES * 2,
        1,
    ]
