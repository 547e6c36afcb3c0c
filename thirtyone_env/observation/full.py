"""The full observation: every byte of a row, most of them written as sets of flags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thirtyone_env._jit import (
    inlined_kernel,
    kernel,
    put_bytes,
    put_flags,
    put_shorts,
    trailing_zeros,
)
from thirtyone_env.bots.hands import best_with_open_cards
from thirtyone_env.canonical import open_cards, rename_card, rename_set
from thirtyone_env.cards import BIT, NO_CARD, NUM_CARDS, side_by_side
from thirtyone_env.engine.rounds import on_free_ride
from thirtyone_env.observation.layout import (
    NUM_PHASES,
    NUM_VALUES,
    OWN_TURNS,
    ROUND_STEPS,
    RULE_NAMES,
    STOCK_STEPS,
    TURN_STEPS,
)
from thirtyone_env.observation.parts import MOVE_FLAGS, moving_card, own_value
from thirtyone_env.state import NOBODY, Phase, State, is_in, stock_left


def _steps_reached(steps: Sequence[int]) -> np.ndarray:
    """For amounts 0 … 63 (or more): which of some steps they do not exceed, one bit a step."""
    return np.array([sum((n <= step) << k for k, step in enumerate(steps)) for n in range(64)])


NUM_STOCK_STEPS, NUM_TURN_STEPS = len(STOCK_STEPS), len(TURN_STEPS)
NUM_ROUND_STEPS, NUM_RULES = len(ROUND_STEPS), len(RULE_NAMES)
STOCK_FLAGS, TURN_FLAGS = _steps_reached(STOCK_STEPS), _steps_reached(TURN_STEPS)
ROUND_FLAGS = _steps_reached(ROUND_STEPS)


# --- small parts ---------------------------------------------------------------------------------
#
# Blocks are written in order, and flags 64, 40 or 16 at a time: what they write beyond their block
# is overwritten by the next ones. `& _PLACES` and the like say that a number is not negative,
# which spares a check of every index.

_PLACES = 0xFFF


@inlined_kernel
def put_set(out: Any, row: int, at: int, cards: int) -> int:
    """Flags of a set of cards; returns where the next block begins."""
    put_flags(out, row, at, side_by_side(cards), 64)
    return at + NUM_CARDS


@inlined_kernel
def put_one(out: Any, row: int, at: int, value: int) -> int:
    """Flags of a value; none for one below 0."""
    put_flags(out, row, at, 0, NUM_VALUES)
    if value >= 0:
        out[row, at + value] = 1
    return at + NUM_VALUES


@inlined_kernel
def put_seats(state: State, seat: int, out: Any, row: int, at: int, flagged: int) -> int:
    """Flags of a set of seats, from the observer on."""
    seats = num_seats(state)
    turned = flagged >> seat | flagged << (seats - seat)
    put_flags(out, row, at, turned & ((1 << seats) - 1), 16)
    return at + seats


@inlined_kernel
def steps_reached(flags: Any, amount: int) -> int:
    """The steps that an amount does not exceed, one bit a step."""
    return np.int64(flags[min(max(amount, 0), 63)])


@inlined_kernel
def num_seats(state: State) -> int:
    """S; the mask says that it is not negative."""
    return np.int64(state.num_players) & 15


@inlined_kernel
def seat_after(seat: int, seats: int) -> int:
    """The next seat, in play or not."""
    after = seat + 1
    return (after if after < seats else 0) & 15


@inlined_kernel
def steps_from(state: State, seat: int, other: int) -> int:
    """How many seats after the observer another one sits."""
    steps = np.int64(other) - seat
    return steps if steps >= 0 else steps + num_seats(state)


@inlined_kernel
def seats_on_free_ride(state: State) -> int:
    """The seats that are in play by their free ride, as a set."""
    seats, asked = 0, np.int64(state.in_play) & np.int64(state.rode)
    while asked:
        seat = trailing_zeros(asked)
        asked &= asked - 1
        seats |= np.int64(on_free_ride(state, seat)) << seat
    return seats


# --- the blocks, in order ------------------------------------------------------------------------


@inlined_kernel
def put_cards(state: State, seat: int, naming: int, out: Any, row: int) -> int:
    """The blocks of card sets that concern the observer or the table."""
    hand = np.int64(state.hands[seat])
    at = put_set(out, row, 0, rename_set(hand, naming))
    at = put_set(out, row, at, rename_set(open_cards(state), naming))
    moving = rename_card(moving_card(state, seat), naming)
    at = put_set(out, row, at, np.int64(BIT[moving]) if moving != NO_CARD else 0)
    at = put_set(out, row, at, rename_set(np.int64(state.pile), naming))
    return put_set(out, row, at, rename_set(np.int64(state.recycled) & ~hand, naming))


@inlined_kernel
def put_seats_cards(state: State, seat: int, naming: int, out: Any, row: int, at: int) -> int:
    """The blocks of card sets by seat."""
    seats = num_seats(state)
    other = seat
    for _ in range(seats):
        at = put_set(out, row, at, rename_set(np.int64(state.known[other]), naming))
        other = seat_after(other, seats)
    for _ in range(seats - 1):
        other = seat_after(other, seats)
        at = put_set(out, row, at, rename_set(np.int64(state.discards[other]), naming))
    return at


@inlined_kernel
def put_values(state: State, seat: int, out: Any, row: int, at: int) -> int:
    """Own value, best value with the open cards."""
    holds = is_in(state.in_play, seat) or state.hands[seat] != 0
    at = put_one(out, row, at, own_value(state, seat) if holds else -1)
    best = best_with_open_cards(state, seat)
    return put_one(out, row, at, best if best > 0 else -1)


@inlined_kernel
def put_roles(state: State, seat: int, out: Any, row: int, at: int) -> int:
    """Phase; who decides, deals, has knocked."""
    seats = num_seats(state)
    flags = np.int64(0)
    if state.phase < Phase.JUDGE:
        flags = 1 << np.int64(state.phase)
        flags |= 1 << (NUM_PHASES + steps_from(state, seat, state.seat))
    flags |= 1 << (NUM_PHASES + seats + steps_from(state, seat, state.dealer))
    knocker = seats
    if state.knocker != NOBODY:
        knocker = steps_from(state, seat, state.knocker)
    flags |= 1 << (NUM_PHASES + 2 * seats + knocker)
    put_flags(out, row, at, flags, 40)
    return at + NUM_PHASES + 3 * seats + 1


@inlined_kernel
def put_seat_numbers(state: State, seat: int, out: Any, row: int, at: int) -> int:
    """Lives, rides and stakes by seat."""
    seats = num_seats(state)
    in_play = np.int64(state.in_play)
    at = put_seats(state, seat, out, row, at, in_play)
    put_bytes(out, row, at, state, "lives", seat, 16)
    put_bytes(out, row, at + seats - seat, state, "lives", 0, 16)
    at = put_seats(state, seat, out, row, at + seats, seats_on_free_ride(state))
    rides = in_play & ~np.int64(state.rode) if state.rules.free_ride else 0
    at = put_seats(state, seat, out, row, at, rides)
    put_bytes(out, row, at, state, "buy_ins", seat, 16)
    put_bytes(out, row, at + seats - seat, state, "buy_ins", 0, 16)
    at += seats
    put_bytes(out, row, at, state, "stakes", seat, 16)
    put_bytes(out, row, at + seats - seat, state, "stakes", 0, 16)
    return at + seats


@inlined_kernel
def put_moves(state: State, seat: int, out: Any, row: int, at: int) -> int:
    """Last moves, hidden recycled cards and turns by seat."""
    seats = num_seats(state)
    flags = np.int64(0)
    for other in range(seats):
        flags |= np.int64(MOVE_FLAGS[np.int64(state.moves[other]) & 15]) << (4 * other)
    flags = flags >> (4 * seat) | flags << (4 * (seats - seat))
    put_flags(out, row, at, flags, 40)
    at += 4 * seats
    if state.recycled:
        put_bytes(out, row, at, state, "fresh", seat, 16)
        put_bytes(out, row, at + seats - seat, state, "fresh", 0, 16)
        out[row, at] = 0
    else:
        put_flags(out, row, at, 0, 16)
    at += seats
    put_shorts(out, row, at, state, "own_turns", seat, 16)
    put_shorts(out, row, at + seats - seat, state, "own_turns", 0, 16)
    return at + seats


@inlined_kernel
def put_steps(state: State, seat: int, out: Any, row: int, at: int) -> int:
    """Own turns and the stock, and how near the caps are."""
    turns = min(np.int64(state.own_turns[seat]), OWN_TURNS)
    put_flags(out, row, at, (1 << turns) - 1, OWN_TURNS)
    at += OWN_TURNS
    left = stock_left(state)
    out[row, at] = left
    put_flags(out, row, at + 1, steps_reached(STOCK_FLAGS, left), NUM_STOCK_STEPS)
    at += 1 + NUM_STOCK_STEPS
    turns_left = np.int64(state.rules.max_turns) - np.int64(state.turns)
    put_flags(out, row, at, steps_reached(TURN_FLAGS, turns_left), NUM_TURN_STEPS)
    at += NUM_TURN_STEPS
    rounds_left = np.int64(state.rules.max_rounds) - np.int64(state.round_number)
    put_flags(out, row, at, steps_reached(ROUND_FLAGS, rounds_left), NUM_ROUND_STEPS)
    return at + NUM_ROUND_STEPS


@inlined_kernel
def put_table(state: State, out: Any, row: int, at: int) -> int:
    """What else concerns the whole table."""
    out[row, at] = min(np.int64(state.passes), 255)
    out[row, at + 1] = state.decider
    out[row, at + 2] = state.dealt_blitz
    out[row, at + 3] = state.refused
    knocks = np.int64(state.knocks)
    out[row, at + 4] = min(knocks, 255)
    out[row, at + 5] = min(8 * np.int64(state.knock_turns) // knocks, 255) if knocks > 0 else 0
    return at + 6


@inlined_kernel
def put_rules(state: State, out: Any, row: int, at: int) -> int:
    """The rules in force, values in half points: the record of the rules has the same order."""
    put_bytes(out, row, at, state.rules, RULE_NAMES[0], 0, NUM_RULES)
    return at + NUM_RULES


@kernel
def observe_full(state: State, seat: int, naming: int, out: Any, row: int) -> None:
    """Write the full observation of a seat into a row, filled up with zeros."""
    seat &= 15
    at = put_cards(state, seat, naming, out, row) & _PLACES
    at = put_seats_cards(state, seat, naming, out, row, at) & _PLACES
    at = put_values(state, seat, out, row, at) & _PLACES
    at = put_roles(state, seat, out, row, at) & _PLACES
    at = put_seat_numbers(state, seat, out, row, at) & _PLACES
    at = put_moves(state, seat, out, row, at) & _PLACES
    at = put_steps(state, seat, out, row, at) & _PLACES
    at = put_table(state, out, row, at) & _PLACES
    at = put_rules(state, out, row, at) & _PLACES
    for place in range(at, out.shape[1]):
        out[row, place] = 0
