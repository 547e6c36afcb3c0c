"""Decisions by a solver's tables: what each is worth in the rest of the round, in lives.

The tables are those of `solvers`; `at` is the place of the block for the seats in play.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thirtyone_env._jit import inlined_kernel, kernel
from thirtyone_env.actions import (
    DRAW_STOCK,
    FIRST_CARD,
    KNOCK,
    PASS,
    TAKE_UPCARD,
    legal_cards,
    may_knock,
    may_pass,
)
from thirtyone_env.bots.greedy import continuing_action
from thirtyone_env.bots.hands import lot
from thirtyone_env.cards import (
    BIT,
    JOKER_MASK,
    LOWEST_JOKER,
    NO_CARD,
    RANK_MASK,
    best_suit,
    count,
    hand_value,
    lowest,
    suit_points,
)
from thirtyone_env.classes import hand_index
from thirtyone_env.rng import advance_stream, below
from thirtyone_env.solvers import CARDS, OPEN, UNIT, VALUES, Part, SolverHead
from thirtyone_env.state import (
    NOBODY,
    Phase,
    State,
    acting_seat,
    is_in,
    next_seat,
    place_in_round,
    seats_in,
    stock_left,
)

LOW = -(1 << 56)


# --- places --------------------------------------------------------------------------------------


@kernel
def bucket(state: State, seat: int) -> int:
    """The most that an opponent openly collects in one suit, in `OPEN` steps."""
    most = 0
    for other in range(state.num_players):
        if other == seat or not is_in(state.in_play, other):
            continue
        known = np.int64(state.known[other])
        if known:
            most = max(most, 22 if known & JOKER_MASK else 0, best_suit(suit_points(known)))
    return 0 if most == 0 else 1 if most < 20 else 2 if most <= 22 else 3


@kernel
def block_among(state: State, book: Any, entry: int, length: int) -> int:
    """The block for the seats in play, or for the next lower number that has one, or the lowest."""
    place = entry + length * (min(seats_in(state.in_play), 9) - 2)
    while place > entry and book[place] == 0:
        place -= length
    while book[place] == 0:
        place += length
    return place


@kernel
def block_of(state: State, book: Any, entry: int) -> int:
    """Where the tables for the seats in play are described."""
    return block_among(state, book, entry, SolverHead.BLOCK)


@kernel
def spot_of(state: State, seat: int, book: Any, at: int) -> int:
    """The spot of a seat, by its own turn."""
    turns = np.int64(book[at + SolverHead.TURNS])
    places = np.int64(book[at + SolverHead.PLACES])
    place = min(place_in_round(state, seat), places - 1)
    turn = min(np.int64(state.own_turns[seat]), turns - 1)
    return (place * turns + turn) * OPEN + bucket(state, seat)


@inlined_kernel
def part_of(part: int, book: Any, at: int) -> int:
    """Where a table begins."""
    return np.int64(book[at + SolverHead.PARTS + part])


@kernel
def class_place(part: int, hand: int, spot: int, book: Any, at: int) -> int:
    """The place of a hand's class in a table by classes."""
    kind = np.int64(book[np.int64(book[at + SolverHead.CLASSES]) + hand_index(hand)])
    return part_of(part, book, at) + spot * np.int64(book[at + SolverHead.KINDS]) + kind


@inlined_kernel
def value_place(state: State, part: int, hand: int, spot: int, book: Any, at: int) -> int:
    """The place of a hand's value in a table by values."""
    return part_of(part, book, at) + spot * VALUES + hand_value(hand, state.rules)


@kernel
def card_place(
    state: State, part: int, seat: int, hand: int, card: int, spot: int, book: Any, at: int
) -> int:
    """The place of an open card beside a hand in a table by cards."""
    follower = next_seat(state, seat)
    known, laid = np.int64(state.known[follower]), np.int64(state.discards[follower])
    holds, off, kept, rank = 1 if known else 0, 0, 0, 13
    if card < LOWEST_JOKER:
        lane = 16 * (card // 13)
        same = (known >> lane) & RANK_MASK
        holds = 2 if same else holds
        holds = 3 if same & (same - 1) else holds
        off = 1 if (laid >> lane) & RANK_MASK else 0
        kept = min(count((hand >> lane) & RANK_MASK), 2)
        rank = card % 13
    kind = ((holds * 2 + off) * 3 + kept) * 14 + rank
    return part_of(part, book, at) + spot // OPEN * CARDS + kind


# --- worth ---------------------------------------------------------------------------------------


@kernel
def worth_after(
    state: State, seat: int, hand: int, card: int, spot: int, book: Any, at: int
) -> int:
    """What a hand is worth with a card laid open beside it, at the end of the seat's turn."""
    if state.knocker != NOBODY:
        value = np.int64(book[value_place(state, Part.LAST, hand, spot, book, at)])
        place = card_place(state, Part.LAST_CARD, seat, hand, card, spot, book, at)
        return value + np.int64(book[place])
    worth = np.int64(book[class_place(Part.AFTER, hand, spot, book, at)])
    place = card_place(state, Part.CARD, seat, hand, card, spot, book, at)
    return worth + np.int64(book[place])


@kernel
def best_discard(
    state: State, seat: int, hand: int, cards: int, spot: int, book: Any, at: int
) -> int:
    """The discard among some cards that leaves most: its worth times 2**14, a lot, the card."""
    best = np.int64(LOW)
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        rest = hand & ~np.int64(BIT[card])
        worth = worth_after(state, seat, rest, card, spot, book, at)
        best = max(best, (worth * 256 + lot(rest, card)) * 64 + card)
    return best


@kernel
def worth_of_drawing(state: State, seat: int, spot: int, book: Any, at: int) -> int:
    """What a draw from the stock is worth."""
    part = Part.DRAW if state.knocker == NOBODY else Part.LAST_DRAW
    hand = np.int64(state.hands[seat])
    return np.int64(book[class_place(part, hand, spot, book, at)])


@kernel
def worth_of_knocking(state: State, seat: int, spot: int, book: Any, at: int) -> int:
    """What a knock is worth."""
    hand = np.int64(state.hands[seat])
    worth = np.int64(book[value_place(state, Part.KNOCK, hand, spot, book, at)])
    if state.upcard == NO_CARD:
        return worth
    upcard = np.int64(state.upcard)
    place = card_place(state, Part.KNOCK_CARD, seat, hand, upcard, spot, book, at)
    return worth + np.int64(book[place])


@kernel
def best_word(state: State, seat: int, spot: int, book: Any, at: int) -> int:
    """The best beginning of a turn but for a knock: its worth times 4, plus the action."""
    hand, best = np.int64(state.hands[seat]), np.int64(LOW)
    if stock_left(state) > 0:
        best = worth_of_drawing(state, seat, spot, book, at) * 4 + DRAW_STOCK
    if state.upcard != NO_CARD:
        upcard = np.int64(state.upcard)
        bit = np.int64(BIT[upcard])
        cards = hand | bit if state.rules.return_upcard else hand
        taken = best_discard(state, seat, hand | bit, cards, spot, book, at) >> 14
        best = max(best, taken * 4 + TAKE_UPCARD)
        if may_pass(state):
            passed = worth_after(state, seat, hand, upcard, spot, book, at)
            best = max(best, passed * 4 + PASS)
    elif may_pass(state):
        best = max(best, np.int64(LOW) + PASS)
    return best


@inlined_kernel
def knock_share(knock: int, going_on: int, book: Any, at: int) -> int:
    """How likely a knock is, of `UNIT`: in between where both are worth about as much."""
    ramp = np.int64(book[at + SolverHead.RAMP])
    gap = knock - going_on + ramp
    return max(0, min(gap * UNIT // (2 * ramp), UNIT))


@kernel
def turn_worth(state: State, book: Any, at: int) -> int:
    """What the turn of the seat to act is worth."""
    seat = acting_seat(state)
    spot = spot_of(state, seat, book, at)
    going_on = best_word(state, seat, spot, book, at) >> 2
    if not may_knock(state):
        return going_on
    knock = worth_of_knocking(state, seat, spot, book, at)
    return going_on + (knock - going_on) * knock_share(knock, going_on, book, at) // UNIT


# --- decisions -----------------------------------------------------------------------------------


@kernel
def knocks_by_lot(state: State, seat: int, share: int) -> bool:
    """Whether a seat knocks that does so with a chance, of `UNIT`; a lot is drawn where needed."""
    if share <= 0 or share >= UNIT:
        return share > 0
    stream = advance_stream(state.policy_streams[seat])
    state.policy_streams[seat] = stream
    return below(stream, UNIT) < share


@kernel
def solver_turn(state: State, book: Any, at: int) -> int:
    """How the seat to act begins its turn."""
    seat = acting_seat(state)
    spot = spot_of(state, seat, book, at)
    best = best_word(state, seat, spot, book, at)
    if may_knock(state):
        knock = worth_of_knocking(state, seat, spot, book, at)
        if knocks_by_lot(state, seat, knock_share(knock, best >> 2, book, at)):
            return KNOCK
    return best & 3


@kernel
def solver_action(state: State, book: Any, entry: int) -> int:
    """The decision by a solver's tables, whose header begins at `entry`."""
    if state.phase > Phase.DISCARD:
        return continuing_action(state)
    at = block_of(state, book, entry)
    if state.phase == Phase.TURN:
        return solver_turn(state, book, at)
    seat = acting_seat(state)
    spot = spot_of(state, seat, book, at)
    hand = np.int64(state.hands[seat])
    best = best_discard(state, seat, hand, legal_cards(state), spot, book, at)
    return FIRST_CARD + (best & 63)
