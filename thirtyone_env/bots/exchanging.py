"""Decisions of the exchange family by a solver's tables.

The tables are those of `exchange_parts`; `at` is the place of the block for the seats in play. What
a choice is worth is the sum of the numbers at five places of the book. A *spot* is the place of the
seat in the round times the turns told apart, plus its own turn; `other` is the opponent that looks
weakest. On the last turn of a round the strongest hand is best, whatever the tables say.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thirtyone_env._jit import inlined_kernel, kernel
from thirtyone_env.actions import FIRST_CARD, KEEP, KNOCK, PASS, REFUSE, SWAP_ALL, may_knock
from thirtyone_env.bots.greedy import continuing_action
from thirtyone_env.bots.hands import best_after_swap, best_after_taking, best_with_one_of, lot
from thirtyone_env.bots.lookahead import is_last_turn
from thirtyone_env.bots.solving import block_among, knock_share, knocks_by_lot
from thirtyone_env.cards import (
    BIT,
    HIGHEST,
    JOKER_MASK,
    RANK_MASK,
    RANK_POINTS,
    count,
    hand_strength,
    hand_value,
    lowest,
)
from thirtyone_env.classes import hand_index
from thirtyone_env.exchange_parts import (
    FEW_TURNS,
    GAP_STEP,
    GAPS,
    MANNERS,
    MOST_LEFT,
    OPEN,
    OPEN_STEP,
    OWN,
    REACH,
    REACH_STEP,
    TABLES,
    TOPS,
    VALUE_STEP,
    VALUES,
    ExchangeHead,
    ExchangePart,
)
from thirtyone_env.state import (
    NOBODY,
    Phase,
    State,
    acting_seat,
    next_seat,
    place_in_round,
    seats_in,
    stock_left,
)

Places = tuple[int, int, int, int, int]
LOW = -(1 << 40)
TYPICAL = 36
"""Half points that hidden cards are taken to be worth where the weakest opponent is looked for."""
TYPICAL_MORE = 2
"""Half points more for each own turn, up to three."""


# --- what is seen --------------------------------------------------------------------------------


@kernel
def exchange_block(state: State, book: Any, entry: int) -> int:
    """Where the tables for the seats in play are described."""
    return block_among(state, book, entry, ExchangeHead.BLOCK)


@inlined_kernel
def step_of(steps: Any, value: int) -> int:
    """The step of a value."""
    return np.int64(steps[min(value, VALUES - 1)])


@inlined_kernel
def part_at(part: int, book: Any, at: int) -> int:
    """Where a table begins."""
    return np.int64(book[at + ExchangeHead.PARTS + part])


@inlined_kernel
def class_at(hand: int, book: Any, at: int) -> int:
    """The class of a hand."""
    return np.int64(book[np.int64(book[at + ExchangeHead.CLASSES]) + hand_index(hand)])


@inlined_kernel
def hidden_cards(known: int) -> int:
    """How many cards of a hand nobody else has seen."""
    return 3 - count(known)


@kernel
def reach_of(known: int, table: int, rules: Any) -> int:
    """Least that a hand with some known cards is worth after one exchange."""
    hidden = hidden_cards(known)
    best = max(hand_value(table, rules), hand_value(known, rules))
    if hidden == 0:
        return max(best, best_after_swap(known, table, rules))
    if hidden == 3:
        return best
    return max(best, best_with_one_of(known, table, rules))


@kernel
def strongest_within_reach(known: int, table: int, rules: Any) -> int:
    """The place in the order of hands that `reach_of` stands for."""
    hidden = hidden_cards(known)
    best = max(hand_strength(table, rules), hand_strength(known, rules) if hidden == 0 else 0)
    while table and hidden < 3:
        low = table & -table
        table ^= low
        rest = known if hidden == 0 else 0
        if hidden:
            best = max(best, hand_strength(known | low, rules))
        while rest:
            one = rest & -rest
            rest ^= one
            best = max(best, hand_strength(known ^ one | low, rules))
    return best


@kernel
def kind_of_table(table: int, value: int) -> int:
    """The kind of three open cards that are worth so much, of `TABLES`."""
    kind = TOPS - 1
    if table & JOKER_MASK == 0:
        ranks = (table | table >> 16 | table >> 32 | table >> 48) & RANK_MASK
        kind = max(np.int64(RANK_POINTS[np.int64(HIGHEST[ranks])]) // 2 - 7, 0)
    return kind * OWN + step_of(VALUE_STEP, value)


@kernel
def weakest_opponent(state: State, seat: int) -> int:
    """The opponent who is most likely to be lowest."""
    least, found = np.int64(1 << 40), np.int64(NOBODY)
    table, other = np.int64(state.table), next_seat(state, seat)
    while other != seat:
        known = np.int64(state.known[other])
        guess = reach_of(known, table, state.rules)
        if hidden_cards(known):
            more = TYPICAL_MORE * min(np.int64(state.own_turns[other]), 3)
            guess = max(guess, TYPICAL + more)
        if guess < least:
            least, found = guess, other
        other = next_seat(state, other)
    return found


@kernel
def exchange_spot(state: State, seat: int, book: Any, at: int) -> int:
    """The spot of a seat, by its own turn."""
    turns = np.int64(book[at + ExchangeHead.TURNS])
    place = min(place_in_round(state, seat), np.int64(book[at + ExchangeHead.PLACES]) - 1)
    return place * turns + min(np.int64(state.own_turns[seat]), turns - 1)


@kernel
def left_to_move(state: State, seat: int) -> int:
    """How many players move after a seat's last turn."""
    end = np.int64(state.knocker) if state.knocker != NOBODY else next_seat(state, state.dealer)
    other, left = next_seat(state, seat), 0
    while other != end:
        other = next_seat(state, other)
        left += 1
    return left


# --- places in the tables ------------------------------------------------------------------------


@inlined_kernel
def sum_at(places: Any, book: Any) -> int:
    """What the five places are worth together."""
    worth = np.int64(book[places[0]]) + np.int64(book[places[1]]) + np.int64(book[places[2]])
    return worth + np.int64(book[places[3]]) + np.int64(book[places[4]])


@kernel
def two_best(hand: int, value: int, table: int, of_table: int, rules: Any) -> tuple[int, int]:
    """The most that a hand is worth after an exchange, and without the best card."""
    first, second = max(value, of_table), value
    while table:
        low = table & -table
        table ^= low
        reached = best_after_taking(hand, lowest(low), rules)
        second = max(second, min(first, reached))
        first = max(first, reached)
    return first, second


@inlined_kernel
def gap(one: int, other: int) -> int:
    """The step of the difference of two values."""
    return np.int64(GAP_STEP[max(min(one - other, VALUES - 1), -VALUES) + VALUES])


@kernel
def manner_of(state: State, other: int) -> int:
    """What an opponent did last, of `MANNERS`."""
    move = np.int64(state.moves[other]) - 1
    if move < 0:
        kept = state.rules.dealer_choice and other == state.dealer and not state.refused
        return 1 if kept else 0
    return 2 if move == PASS else 3


@kernel
def race_places(
    state: State, context: int, other: int, table: int, value: int, first: int
) -> tuple[int, int]:
    """The places in RACE and RIVALRY by the weakest opponent, own value and own reach."""
    known, blitz = np.int64(state.known[other]), np.int64(state.rules.blitz_value)
    opened, reach = hand_value(known, state.rules), reach_of(known, table, state.rules)
    place = context * 4 + hidden_cards(known)
    rival = (place * GAPS + gap(opened, first)) * GAPS + gap(reach, value)
    rival = ((rival * GAPS + gap(reach, first)) * 2 + (reach >= blitz)) * 2 + (first >= blitz)
    place = (place * OPEN + step_of(OPEN_STEP, opened)) * REACH + step_of(REACH_STEP, reach)
    own = step_of(VALUE_STEP, value)
    return (place * OWN + own) * OWN + step_of(VALUE_STEP, first), rival * OWN + own


@kernel
def next_place(state: State, context: int, seat: int, table: int) -> int:
    """The place in NEXT but for the kind of the table."""
    other = next_seat(state, seat)
    known = np.int64(state.known[other])
    reach = step_of(REACH_STEP, reach_of(known, table, state.rules))
    return ((context * MANNERS + manner_of(state, other)) * 4 + hidden_cards(known)) * REACH + reach


@kernel
def places_after(
    state: State, hand: int, table: int, passed: int, spot: int, other: int, book: Any, at: int
) -> Places:
    """Where it stands what a hand and a table are worth at the end of the seat's turn."""
    seat, rules = acting_seat(state), state.rules
    turns, seats = np.int64(book[at + ExchangeHead.TURNS]), np.int64(book[at + ExchangeHead.PLACES])
    context, turn = passed * seats + spot // turns, min(spot % turns, FEW_TURNS - 1)
    value, of_table = hand_value(hand, rules), hand_value(table, rules)
    first, second = two_best(hand, value, table, of_table, rules)
    race, rivalry = race_places(state, context, other, table, value, first)
    kind = kind_of_table(table, of_table)
    mine = (context * FEW_TURNS + turn) * np.int64(book[at + ExchangeHead.KINDS])
    mine = (mine + class_at(hand, book, at)) * TABLES + kind
    shown = (np.int64(state.known[seat]) | np.int64(state.table)) & hand
    look = (passed * turns * seats + spot) * 4 + hidden_cards(shown)
    look = (look * OWN + step_of(VALUE_STEP, value)) * OWN + step_of(VALUE_STEP, first)
    look = look * OWN + step_of(VALUE_STEP, second)
    follower = next_place(state, context, seat, table) * TABLES + kind
    return (
        part_at(ExchangePart.RACE, book, at) + race,
        part_at(ExchangePart.HAND, book, at) + mine,
        part_at(ExchangePart.OUTLOOK, book, at) + look,
        part_at(ExchangePart.NEXT, book, at) + follower,
        part_at(ExchangePart.RIVALRY, book, at) + rivalry,
    )


@kernel
def places_of_knock(state: State, spot: int, other: int, book: Any, at: int) -> Places:
    """Where it stands what a knock is worth."""
    seat, rules, nothing = acting_seat(state), state.rules, part_at(ExchangePart.NOTHING, book, at)
    hand, known = np.int64(state.hands[seat]), np.int64(state.known[other])
    table, hidden = np.int64(state.table), hidden_cards(known)
    value, place = min(hand_value(hand, rules), VALUES - 1), spot // book[at + ExchangeHead.TURNS]
    knock = (np.int64(place) * MANNERS + manner_of(state, other)) * 4 + hidden
    knock = knock * OPEN + step_of(OPEN_STEP, hand_value(known, rules))
    knock = knock * REACH + step_of(REACH_STEP, reach_of(known, table, rules))
    strength = hand_strength(hand, rules)
    beaten = 1 if strongest_within_reach(known, table, rules) > strength else 0
    by_table = (np.int64(place) * 4 + hidden) * TABLES
    by_table += kind_of_table(table, hand_value(table, rules))
    return (
        part_at(ExchangePart.KNOCK, book, at) + (knock * VALUES + value) * 2 + beaten,
        part_at(ExchangePart.KNOCK_TABLE, book, at) + by_table * OWN + step_of(VALUE_STEP, value),
        part_at(ExchangePart.KNOCK_TURN, book, at) + (spot * 4 + hidden) * VALUES + value,
        nothing,
        nothing,
    )


@kernel
def places_of_renewal(state: State, spot: int, other: int, book: Any, at: int) -> Places:
    """Where it stands what a pass is worth that completes the round of passes."""
    rules, nothing = state.rules, part_at(ExchangePart.NOTHING, book, at)
    hand, known = np.int64(state.hands[acting_seat(state)]), np.int64(state.known[other])
    spots = np.int64(book[at + ExchangeHead.TURNS]) * np.int64(book[at + ExchangeHead.PLACES])
    ends = 1 if stock_left(state) < 3 and not rules.table_reshuffle else 0
    place = (ends * spots + spot) * 4 + hidden_cards(known)
    place = place * OPEN + step_of(OPEN_STEP, hand_value(known, rules))
    place = place * OWN + step_of(VALUE_STEP, hand_value(hand, rules))
    kinds = np.int64(book[at + ExchangeHead.KINDS])
    mine = (spot * 2 + ends) * kinds + class_at(hand, book, at)
    renewal = part_at(ExchangePart.RENEWAL, book, at) + place
    return renewal, part_at(ExchangePart.RENEWAL_HAND, book, at) + mine, nothing, nothing, nothing


@kernel
def places_of_pass(state: State, spot: int, other: int, book: Any, at: int) -> Places:
    """Where it stands what a pass is worth."""
    if state.passes + 1 >= seats_in(state.in_play):
        return places_of_renewal(state, spot, other, book, at)
    hand = np.int64(state.hands[acting_seat(state)])
    return places_after(state, hand, np.int64(state.table), 1, spot, other, book, at)


@kernel
def places_of_last(state: State, hand: int, table: int, left: int, book: Any, at: int) -> Places:
    """Where it stands what a last turn is worth that leaves a hand and a table to others."""
    known = np.int64(state.known[next_seat(state, acting_seat(state))])
    strength, nothing = hand_strength(hand, state.rules), part_at(ExchangePart.NOTHING, book, at)
    beaten = 1 if strongest_within_reach(known, table, state.rules) > strength else 0
    place = (min(left, MOST_LEFT) * 4 + hidden_cards(known)) * REACH
    place += step_of(REACH_STEP, reach_of(known, table, state.rules))
    place = (place * VALUES + min(hand_value(hand, state.rules), VALUES - 1)) * 2 + beaten
    return part_at(ExchangePart.LAST, book, at) + place, nothing, nothing, nothing, nothing


@kernel
def places_of_dealer(state: State, keeps: int, book: Any, at: int) -> Places:
    """Where it stands what keeping (1) or refusing (0) the first cards is worth."""
    nothing, kinds = part_at(ExchangePart.NOTHING, book, at), book[at + ExchangeHead.KINDS]
    hand = np.int64(state.hands[acting_seat(state)])
    place = keeps * np.int64(kinds) + class_at(hand, book, at)
    return part_at(ExchangePart.DEALER, book, at) + place, nothing, nothing, nothing, nothing


# --- worth ---------------------------------------------------------------------------------------


@kernel
def worth_of_swap(
    state: State, hand: int, table: int, left: int, spot: int, other: int, book: Any, at: int
) -> int:
    """What an exchange is worth that leaves a hand and a table; the hand's order breaks ties.

    `left` is how many move after a last turn; NOBODY on any other turn.
    """
    strength = hand_strength(hand, state.rules)
    if left == 0:
        return strength
    if left > 0:
        worth = sum_at(places_of_last(state, hand, table, left, book, at), book)
    else:
        worth = sum_at(places_after(state, hand, table, 0, spot, other, book, at), book)
    return worth * (1 << 16) + strength


@kernel
def worth_of_pass(state: State, left: int, spot: int, other: int, book: Any, at: int) -> int:
    """What a pass is worth, as for `worth_of_swap`."""
    hand = np.int64(state.hands[acting_seat(state)])
    strength = hand_strength(hand, state.rules)
    if left == 0:
        return strength
    if left > 0:
        table = np.int64(state.table)
        worth = sum_at(places_of_last(state, hand, table, left, book, at), book)
    else:
        worth = sum_at(places_of_pass(state, spot, other, book, at), book)
    return worth * (1 << 16) + strength


@kernel
def best_to_take(
    state: State, given: int, left: int, spot: int, other: int, book: Any, at: int
) -> tuple[int, int]:
    """The most that a swap for a given card is worth, and the table card to take."""
    hand, table = np.int64(state.hands[acting_seat(state)]), np.int64(state.table)
    best, best_lot, choice, cards = np.int64(LOW) << 16, -1, 0, table
    while cards:
        low = cards & -cards
        cards ^= low
        after, middle = hand ^ given | low, table ^ low | given
        worth = worth_of_swap(state, after, middle, left, spot, other, book, at)
        luck = lot(after, lowest(low))
        if worth > best or (worth == best and luck > best_lot):
            best, best_lot, choice = worth, luck, lowest(low)
    return best, choice


@kernel
def best_exchange(
    state: State, left: int, spot: int, other: int, book: Any, at: int
) -> tuple[int, int]:
    """The most that a turn without a knock is worth, and the action that begins it."""
    hand, table = np.int64(state.hands[acting_seat(state)]), np.int64(state.table)
    best, action = worth_of_pass(state, left, spot, other, book, at), np.int64(PASS)
    worth = worth_of_swap(state, table, hand, left, spot, other, book, at)
    if worth > best:
        best, action = worth, np.int64(SWAP_ALL)
    best_lot, cards = 256, hand
    while cards:
        low = cards & -cards
        cards ^= low
        worth, _ = best_to_take(state, low, left, spot, other, book, at)
        luck = lot(hand ^ low, lowest(low))
        if worth > best or (worth == best and luck > best_lot):
            best, best_lot, action = worth, luck, np.int64(FIRST_CARD + lowest(low))
    return best, action


# --- decisions -----------------------------------------------------------------------------------


@kernel
def exchange_turn(state: State, book: Any, at: int) -> int:
    """How the seat to act begins its turn."""
    seat = acting_seat(state)
    spot, other = exchange_spot(state, seat, book, at), weakest_opponent(state, seat)
    left = left_to_move(state, seat) if is_last_turn(state) else NOBODY
    best, action = best_exchange(state, left, spot, other, book, at)
    if may_knock(state):
        knock = sum_at(places_of_knock(state, spot, other, book, at), book)
        if knocks_by_lot(state, seat, knock_share(knock, best >> 16, book, at)):
            return KNOCK
    return action


@kernel
def exchange_action(state: State, book: Any, entry: int) -> int:
    """The decision by a solver's tables, whose header begins at `entry`."""
    if state.phase == Phase.BUY_IN:
        return continuing_action(state)
    at, seat = exchange_block(state, book, entry), acting_seat(state)
    if state.phase == Phase.TURN:
        return exchange_turn(state, book, at)
    if state.phase == Phase.DEALER:
        keep = sum_at(places_of_dealer(state, 1, book, at), book)
        return KEEP if keep >= sum_at(places_of_dealer(state, 0, book, at), book) else REFUSE
    spot, other = exchange_spot(state, seat, book, at), weakest_opponent(state, seat)
    left = left_to_move(state, seat) if is_last_turn(state) else NOBODY
    given = np.int64(BIT[np.int64(state.given)])
    return FIRST_CARD + best_to_take(state, given, left, spot, other, book, at)[1]
