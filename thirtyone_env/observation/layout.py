"""The layout of the full observation: named blocks of bytes, and the table that documents them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from thirtyone_env.cards import NUM_CARDS

NUM_VALUES = 83
NUM_PHASES = 5
OWN_TURNS = 10
STOCK_STEPS = (0, 1, 2, 3, 5, 8, 13, 21)
TURN_STEPS = (1, 2, 4, 8, 16)
ROUND_STEPS = (1, 2, 4, 8)
RULE_NAMES = (
    "exchange",
    "low_rank",
    "jokers",
    "hand_size",
    "lives",
    "free_ride",
    "three_of_a_kind",
    "three_aces",
    "suited_run",
    "blitz_value",
    "blitz_after_knock",
    "blitz_lowest",
    "fire_lowest",
    "ties_by_suit",
    "knocker_lowest_loss",
    "knocker_tie_shares",
    "first_turn_knock",
    "min_knock",
    "pass_allowed",
    "return_upcard",
    "stock_out",
    "dealer_choice",
    "dealt_blitz_exchange",
    "table_reshuffle",
    "buy_ins",
    "decider_draw",
)


@dataclass(frozen=True)
class Block:
    """A named part of the full observation."""

    name: str
    size: Callable[[int], int]
    """Bytes, by the number of seats."""
    highest: int
    """Largest number that a byte takes: 1 for flags."""
    meaning: str


def _c(seats: int) -> int:
    return NUM_CARDS


def _s(seats: int) -> int:
    return seats


def _fixed(size: int) -> Callable[[int], int]:
    return lambda seats: size


BLOCKS: tuple[Block, ...] = (
    Block("hand", _c, 1, "own cards, one flag a card"),
    Block("open", _c, 1, "the upcard, or the open table"),
    Block("moving", _c, 1, "the card just drawn (own), taken or given, until the turn is complete"),
    Block("pile", _c, 1, "discards under the upcard, or table cards put aside"),
    Block("recycled", _c, 1, "cards shuffled back into the stock and not seen since"),
    Block("known", lambda s: s * NUM_CARDS, 1, "by seat: cards in its hand that it took openly"),
    Block(
        "discards",
        lambda s: (s - 1) * NUM_CARDS,
        1,
        "by opponent: cards it discarded or gave in this round",
    ),
    Block("value", _fixed(NUM_VALUES), 1, "own value in half points (while discarding: the best)"),
    Block(
        "best_open",
        _fixed(NUM_VALUES),
        1,
        "best value if the upcard is taken or cards are exchanged; none while discarding",
    ),
    Block("phase", _fixed(NUM_PHASES), 1, "turn, discard, take, dealer's choice, buy-in"),
    Block("to_act", _s, 1, "who decides"),
    Block("dealer", _s, 1, "who dealt"),
    Block("knocker", lambda s: s + 1, 1, "who has knocked; the last flag: nobody"),
    Block("in_play", _s, 1, "by seat: not eliminated"),
    Block("lives", _s, 9, "by seat: lives"),
    Block("free_ride", _s, 1, "by seat: on the free ride"),
    Block("ride_left", _s, 1, "by seat: the free ride is still to come"),
    Block("buy_ins", _s, 9, "by seat: buy-ins left"),
    Block("stakes", _s, 10, "by seat: stakes paid"),
    Block(
        "moves",
        lambda s: 4 * s,
        1,
        "by seat: the last turn was a draw from the stock, an open card, a pass, a swap of all",
    ),
    Block("fresh", _s, 5, "by seat: recycled cards that must be hidden in its hand"),
    Block("turns", _s, 255, "by seat: turns taken in this round"),
    Block("own_turns", _fixed(OWN_TURNS), 1, "flag k: the seat has had more than k turns"),
    Block("stock", _fixed(1), 56, "cards in the stock"),
    Block("stock_steps", _fixed(len(STOCK_STEPS)), 1, f"stock at most {STOCK_STEPS}"),
    Block("turn_steps", _fixed(len(TURN_STEPS)), 1, f"turns left to the cap at most {TURN_STEPS}"),
    Block("round_steps", _fixed(len(ROUND_STEPS)), 1, f"rounds left at most {ROUND_STEPS}"),
    Block("passes", _fixed(1), 255, "passes in a row"),
    Block("decider", _fixed(1), 1, "this round is a decider"),
    Block("dealt_blitz", _fixed(1), 1, "the turns after a dealt blitz"),
    Block("refused", _fixed(1), 1, "the dealer refused the first cards"),
    Block("knocks", _fixed(2), 255, "knocks in this match; mean own turn of the knockers, times 8"),
    Block("rules", _fixed(len(RULE_NAMES)), 100, "the rules in force: " + ", ".join(RULE_NAMES)),
)
"""The layout of the full observation, in order."""


@cache
def observation_size(num_players: int) -> int:
    """Bytes of the full observation with a number of seats."""
    return sum(block.size(num_players) for block in BLOCKS)


def slices(num_players: int) -> dict[str, slice]:
    """Where each named block of the full observation lies."""
    result, start = {}, 0
    for block in BLOCKS:
        stop = start + block.size(num_players)
        result[block.name] = slice(start, stop)
        start = stop
    return result


def highest_values(num_players: int) -> np.ndarray:
    """uint8[observation_size]: the largest number that each byte takes."""
    return np.concatenate(
        [np.full(block.size(num_players), block.highest, np.uint8) for block in BLOCKS]
    )


@dataclass(frozen=True)
class Row:
    """One row of the documented table of the full observation."""

    name: str
    start: int
    stop: int
    highest: int
    meaning: str


def describe(num_players: int) -> list[Row]:
    """The table of the full observation for a number of seats."""
    places = slices(num_players)
    return [
        Row(b.name, places[b.name].start, places[b.name].stop, b.highest, b.meaning) for b in BLOCKS
    ]
