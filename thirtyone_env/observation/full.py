"""The full observation: every byte of a row, most of them written as sets of flags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thirtyone_env._jit import (
    inlined_kernel,
    kernel,
    put_byte,
    put_bytes,
    put_flags,
    put_flags_among,
    put_shorts,
    trailing_zeros,
    word_of,
)
from thirtyone_env.actions import legal_cards
from thirtyone_env.bots.hands import (
    best_suit_after_discard,
    best_with_open_cards,
    points_after_taking,
)
from thirtyone_env.canonical import IDENTITY, open_cards, rename_set
from thirtyone_env.cards import (
    BIT_OR_NOTHING,
    JOKER_MASK,
    NO_CARD,
    NUM_CARDS,
    PLAIN_MASK,
    best_suit,
    count,
    only_suits_count,
    suit_points,
)
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
# Blocks are written in order, and flags 64 or 32 at a time: what they write beyond their block
# is overwritten by the next ones. `& 15` and the like say that a number is not negative, which
# spares a check of every index.


@inlined_kernel
def put_set(out: Any, row: int, at: int, cards: int) -> None:
    """Flags of a set of cards."""
    put_flags_among(out, row, at, cards, PLAIN_MASK, JOKER_MASK)


@inlined_kernel
def put_one(out: Any, row: int, at: int, value: int) -> None:
    """Flags of a value; none for one below 0."""
    put_flags(out, row, at, 0, NUM_VALUES)
    put_byte(out, row, at + max(value, 0), value >= 0)


@inlined_kernel
def turned(flagged: int, seat: int, seats: int) -> int:
    """A set of seats, one bit a seat, from the observer on."""
    return (flagged >> seat | flagged << (seats - seat)) & ((1 << seats) - 1)


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
    return 0 if after == seats else after


@inlined_kernel
def steps_from(seat: int, other: int, seats: int) -> int:
    """How many seats after the observer another one sits."""
    steps = np.int64(other) - seat
    return steps if steps >= 0 else steps + seats


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
def put_sets(state: State, seat: int, naming: int, out: Any, row: int) -> None:
    """The blocks of card sets: those of the observer and the table, then those by seat."""
    seats, hand = num_seats(state), np.int64(state.hands[seat])
    moving = np.int64(BIT_OR_NOTHING[moving_card(state, seat) & 63])
    put_set(out, row, 0, rename_set(hand, naming))
    put_set(out, row, NUM_CARDS, rename_set(open_cards(state), naming))
    put_set(out, row, 2 * NUM_CARDS, rename_set(moving, naming))
    put_set(out, row, 3 * NUM_CARDS, rename_set(np.int64(state.pile), naming))
    put_set(out, row, 4 * NUM_CARDS, rename_set(np.int64(state.recycled) & ~hand, naming))
    at, other = 5 * NUM_CARDS, seat
    for _ in range(seats):
        put_set(out, row, at, rename_set(word_of(state, "known", other), naming))
        at += NUM_CARDS
        other = seat_after(other, seats)
    for _ in range(seats - 1):
        other = seat_after(other, seats)
        put_set(out, row, at, rename_set(word_of(state, "discards", other), naming))
        at += NUM_CARDS


@kernel
def put_renamed_sets(state: State, seat: int, naming: int, out: Any, row: int) -> None:
    """The same where suits are renamed."""
    put_sets(state, seat, naming, out, row)


@inlined_kernel
def put_values(state: State, seat: int, out: Any, row: int, at: int) -> int:
    """Own value, best value with the open cards."""
    hand, own, best = np.int64(state.hands[seat]), np.int64(-1), np.int64(-1)
    one_more = count(hand) > state.rules.hand_size
    upcard = np.int64(NO_CARD if one_more else state.upcard)
    cards = hand | np.int64(BIT_OR_NOTHING[upcard & 63])
    if hand and not state.rules.exchange and only_suits_count(cards, state.rules):
        points = suit_points(hand)
        if one_more:
            cards = legal_cards(state) if state.seat == seat else hand
            own = best_suit_after_discard(points, cards)
        else:
            own = best_suit(points)
            if upcard != NO_CARD:
                best = best_suit(points_after_taking(hand, points, upcard & 63))
    else:
        if hand or is_in(state.in_play, seat):
            own = own_value(state, seat)
        best = best_with_open_cards(state, seat)
    put_one(out, row, at, own)
    put_one(out, row, at + NUM_VALUES, best if best > 0 else -1)
    return at + 2 * NUM_VALUES


@inlined_kernel
def put_roles(state: State, seat: int, out: Any, row: int, at: int) -> int:
    """Phase; who decides, deals, has knocked, is in play."""
    seats = num_seats(state)
    flags = np.int64(0)
    if state.phase < Phase.JUDGE:
        flags = 1 << np.int64(state.phase)
        flags |= 1 << (NUM_PHASES + steps_from(seat, state.seat, seats))
    flags |= 1 << (NUM_PHASES + seats + steps_from(seat, state.dealer, seats))
    knocker = seats
    if state.knocker != NOBODY:
        knocker = steps_from(seat, state.knocker, seats)
    flags |= 1 << (NUM_PHASES + 2 * seats + knocker)
    flags |= turned(np.int64(state.in_play), seat, seats) << (NUM_PHASES + 3 * seats + 1)
    put_flags(out, row, at, flags, 64)
    return at + NUM_PHASES + 4 * seats + 1


@inlined_kernel
def put_seat_numbers(state: State, seat: int, out: Any, row: int, at: int) -> int:
    """Lives, rides and stakes by seat."""
    seats = num_seats(state)
    put_bytes(out, row, at, state, "lives", seat, 16)
    put_bytes(out, row, at + seats - seat, state, "lives", 0, 16)
    at += seats
    riding = seats_on_free_ride(state)
    rides = np.int64(state.in_play) & ~np.int64(state.rode) if state.rules.free_ride else 0
    flags = np.int64(0)
    if riding | rides:
        flags = turned(riding, seat, seats) | turned(rides, seat, seats) << seats
    put_flags(out, row, at, flags, 32)
    at += 2 * seats
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
    put_flags(out, row, at, flags, 64)
    at += 4 * seats
    if state.recycled:
        put_bytes(out, row, at, state, "fresh", seat, 16)
        put_bytes(out, row, at + seats - seat, state, "fresh", 0, 16)
        put_byte(out, row, at, 0)
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
    left = stock_left(state) & 63
    turns_left = np.int64(state.rules.max_turns) - np.int64(state.turns)
    rounds_left = np.int64(state.rules.max_rounds) - np.int64(state.round_number)
    flags = np.int64(1 << turns) - 1
    flags |= np.int64(STOCK_FLAGS[left]) << (OWN_TURNS + 1)
    place = OWN_TURNS + 1 + NUM_STOCK_STEPS
    flags |= steps_reached(TURN_FLAGS, turns_left) << place
    flags |= steps_reached(ROUND_FLAGS, rounds_left) << (place + NUM_TURN_STEPS)
    put_flags(out, row, at, flags, 32)
    put_byte(out, row, at + OWN_TURNS, left)
    return at + place + NUM_TURN_STEPS + NUM_ROUND_STEPS


@inlined_kernel
def put_table(state: State, out: Any, row: int, at: int) -> int:
    """What else concerns the whole table."""
    put_byte(out, row, at, min(np.int64(state.passes), 255))
    put_byte(out, row, at + 1, np.int64(state.decider))
    put_byte(out, row, at + 2, np.int64(state.dealt_blitz))
    put_byte(out, row, at + 3, np.int64(state.refused))
    knocks = np.int64(state.knocks)
    put_byte(out, row, at + 4, min(knocks, 255))
    mean = min(8 * np.int64(state.knock_turns) // knocks, 255) if knocks > 0 else 0
    put_byte(out, row, at + 5, mean)
    return at + 6


@inlined_kernel
def put_rules(state: State, out: Any, row: int, at: int) -> int:
    """The rules in force, values in half points: the record of the rules has the same order."""
    put_bytes(out, row, at, state.rules, RULE_NAMES[0], 0, NUM_RULES)
    return at + NUM_RULES


@inlined_kernel
def observe_full(state: State, seat: int, naming: int, out: Any, row: int) -> None:
    """Write the full observation of a seat into a row, filled up with zeros."""
    seat &= 15
    if naming == IDENTITY:
        put_sets(state, seat, IDENTITY, out, row)
    else:
        put_renamed_sets(state, seat, naming, out, row)
    at = put_values(state, seat, out, row, (4 + 2 * num_seats(state)) * NUM_CARDS)
    at = put_roles(state, seat, out, row, at)
    at = put_seat_numbers(state, seat, out, row, at)
    at = put_moves(state, seat, out, row, at)
    at = put_steps(state, seat, out, row, at)
    at = put_table(state, out, row, at)
    at = put_rules(state, out, row, at)
    for place in range(at, out.shape[1]):
        out[row, place] = 0
