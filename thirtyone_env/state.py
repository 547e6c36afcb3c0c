"""The state of one match: a flat record of under 1 kB, its phases and how it begins.

A match is one record, a batch an array of records, a copy a copy of bytes. Sets of cards are int64
as in `cards`, sets of seats int16 with one bit a seat. Fields marked "hidden" must never reach a
policy except through what the seat may know.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from thirtyone_env._jit import inlined_kernel, kernel, trailing_zeros
from thirtyone_env.cards import BIT
from thirtyone_env.pages import paged
from thirtyone_env.rules import MAX_SEATS, RULES, Rules

NOBODY = -1
MAX_THRESHOLDS = 8


class Phase(IntEnum):
    """What is decided next, by `State.seat` except in the last two."""

    TURN = 0
    """The start of a turn; in the exchange family a card is the one to give."""
    DISCARD = 1
    """Draw family: which card to discard."""
    TAKE = 2
    """Exchange family: which table card to take."""
    DEALER = 3
    """Exchange family: the dealer keeps or refuses."""
    BUY_IN = 4
    """An eliminated player buys in or declines."""
    JUDGE = 5
    """The round has ended and is not yet judged; never seen outside the engine."""
    ROUND_OVER = 6
    """The round is settled; the next one is not yet dealt."""
    OVER = 7
    """The match is over."""


class End(IntEnum):
    """How a round ended; `RUNNING` while it goes on."""

    RUNNING = 0
    KNOCK = 1
    BLITZ = 2
    DEALT_BLITZ = 3
    VOID = 4
    STOCK_OUT = 5
    MAX_TURNS = 6


CONTROLLER = np.dtype(
    [
        ("entry", np.int32),  # where the bot's part of the owner's book begins; 0 for none
        ("bot", np.int8),  # number of the bot in bots.BOTS; EXTERNAL (0) for none
        ("ask", np.int8),  # what comes from outside: ASK_NOTHING, ASK_KNOCK, ASK_ALL
        ("num_thresholds", np.int8),
        ("thresholds", np.int8, (MAX_THRESHOLDS,)),  # half points, by own turn
    ],
    align=True,
)
"""Who decides for a seat."""

EXTERNAL = 0
ASK_NOTHING, ASK_KNOCK, ASK_ALL = 0, 1, 2


class State(np.record):
    """One match as kernels see it; the fields are those of `STATE`."""


_PER_SEAT = (MAX_SEATS,)

STATE = np.dtype(
    (
        State,
        np.dtype(
            [
                ("hands", np.int64, _PER_SEAT),  # hidden: every seat's cards
                ("known", np.int64, _PER_SEAT),  # cards in a hand that were taken openly
                ("discards", np.int64, _PER_SEAT),  # cards a seat laid open in this round
                ("policy_streams", np.uint64, _PER_SEAT),  # hidden: bots' own randomness
                ("lives_payoff", np.float64, _PER_SEAT),  # sum of the rounds' life swings
                ("table", np.int64),  # exchange: the open cards
                ("pile", np.int64),  # cards under the upcard; exchange: cards put aside
                ("recycled", np.int64),  # cards shuffled back into the stock, not seen since
                ("seed", np.uint64),  # hidden: what the cards of the match derive from
                ("match", np.int64),  # hidden: index of the match under that seed
                ("stream", np.uint64),  # hidden: what the rest of the deck is drawn from
                ("rules", RULES),
                ("round_number", np.int32),  # from 0 (np.record has a method called round)
                ("decisions", np.int32),  # decisions taken in this match
                ("turns", np.int16),  # turns taken in this round
                ("passes", np.int16),  # passes in a row
                ("own_turns", np.int16, _PER_SEAT),  # turns a seat took in this round
                ("in_play", np.int16),  # seats in play
                ("dealt_in", np.int16),  # seats that were dealt cards in this round
                ("rode", np.int16),  # seats that have had their free ride
                ("pending", np.int16),  # seats that the round would eliminate
                ("asked", np.int16),  # those of them that have decided about a buy-in
                ("eliminated", np.int16),  # seats that the last round eliminated
                ("deck", np.int8, (56,)),  # hidden: cards not yet dealt lie from `top` on
                ("top", np.int8),  # place of the stock's top card
                ("deck_end", np.int8),  # place after the stock's last card
                ("shuffled", np.int8),  # places before this one hold cards already drawn by lot
                ("stacked", np.int8),  # cards laid on top of the next shuffle, in `deck`
                ("num_players", np.int8),
                ("phase", np.int8),
                ("seat", np.int8),  # who decides
                ("dealer", np.int8),
                ("knocker", np.int8),  # NOBODY until somebody knocks
                ("upcard", np.int8),  # draw family; NO_CARD in the other
                ("drawn", np.int8),  # hidden: the card just drawn or taken, until the discard
                ("taken", np.int8),  # the card just taken from the discard pile, until the discard
                ("given", np.int8),  # exchange: the card to give, until one is taken
                ("dealt_blitz", np.int8),  # exchange: the turns after a dealt blitz
                ("refused", np.int8),  # exchange: the dealer refused the first cards
                ("decider", np.int8),
                ("one_round", np.int8),  # the match ends after its first round
                ("truncated", np.int8),  # the match ended at `max_rounds`
                ("end", np.int8),  # how the last round ended
                ("winner", np.int8),
                ("reshuffles", np.int16),  # of this round
                ("renewals", np.int16),  # of the table, in this round
                ("knocks", np.int16),  # knocks in this match so far
                ("knock_turns", np.int32),  # sum of the knockers' own turn numbers at those
                ("lives", np.int8, _PER_SEAT),
                ("losses", np.int8, _PER_SEAT),  # of the last round
                ("buy_ins", np.int8, _PER_SEAT),  # left
                ("stakes", np.int8, _PER_SEAT),  # paid
                ("moves", np.int8, _PER_SEAT),  # how the seat's last turn began, an action + 1
                ("fresh", np.int8, _PER_SEAT),  # recycled cards hidden in a hand (public count)
                ("controllers", CONTROLLER, _PER_SEAT),
            ],
            align=True,
        ),
    )
)
"""The layout of a match."""


@inlined_kernel
def is_in(seats: int, seat: int) -> bool:
    """Whether a set of seats holds a seat."""
    return (np.int64(seats) >> np.int64(seat)) & 1 == 1


@inlined_kernel
def acting_seat(state: State) -> int:
    """The seat to act; the mask says that it is not negative, which spares checks of indices."""
    return np.int64(state.seat) & 15


@inlined_kernel
def next_seat(state: State, seat: int) -> int:
    """The next seat in play, clockwise."""
    in_play = np.int64(state.in_play)
    after = in_play & (np.int64(-2) << np.int64(seat))
    return trailing_zeros(after if after else in_play)


@kernel
def place_in_round(state: State, seat: int) -> int:
    """Players in play between the first player of the round and a seat."""
    other, place = next_seat(state, state.dealer), 0
    while other != seat:
        other = next_seat(state, other)
        place += 1
    return place


@inlined_kernel
def seats_in(seats: int) -> int:
    """How many seats a set holds."""
    seats = np.int64(seats)
    total = 0
    while seats:
        seats &= seats - 1
        total += 1
    return total


@inlined_kernel
def stock_left(state: State) -> int:
    """Cards left in the stock."""
    return np.int64(state.deck_end) - np.int64(state.top)


@kernel
def stock_set(state: State) -> int:
    """The cards in the stock, as a set; hidden."""
    cards = np.int64(0)
    for place in range(state.top, state.deck_end):
        cards |= np.int64(BIT[state.deck[place]])
    return cards


@kernel
def losses_to_go(state: State, seat: int) -> int:
    """Single losses until a seat is out: its lives, one more while it has a free ride to come."""
    lives = np.int64(state.lives[seat])
    if state.rules.free_ride and not is_in(state.rode, seat):
        return lives + 1
    return max(lives, 1)


def fitting_rows(observation: int) -> int:
    """A batch of which everything that a step touches fits into the level 2 cache of one core.

    A power of two, for 1 MiB: a property of the game, not of the machine.

    Args:
        observation: bytes that are written for each row besides its state.
    """
    return 1 << ((1 << 20) // (STATE.itemsize + observation)).bit_length() - 1


def new_states(
    rules: Rules | Sequence[Rules], num_players: int | Sequence[int] | np.ndarray, size: int
) -> np.ndarray:
    """States before the first deal: `seed`, `match` and controllers still to be set.

    Args:
        rules: one rule set for all, or one a row.
        num_players: seats, one number for all or one a row.
        size: number of rows, B.

    Returns:
        STATE[B]; every seat is EXTERNAL.

    Raises:
        ValueError: for a number of seats that the rules do not allow.
    """
    states = paged((size,), STATE, np.zeros)
    all_rules = [rules] * size if isinstance(rules, Rules) else list(rules)
    seats = np.broadcast_to(np.asarray(num_players), (size,))
    for row_rules, number in set(zip(all_rules, seats.tolist(), strict=True)):
        row_rules.check_seats(number)
    if isinstance(rules, Rules):
        states["rules"] = rules.record
    else:
        states["rules"] = np.array([r.record[()] for r in all_rules], RULES)
    states["num_players"] = seats
    states["dealer"] = NOBODY
    states["controllers"]["ask"] = ASK_ALL
    return states
