"""Draws, discards and swaps by what a hand is worth some own draws ahead.

Worth is read from the tables of `bots.worth`. Once somebody has knocked, it is the value alone that
counts, and in a draw the chance not to be lowest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thirtyone_env._jit import inlined_kernel, kernel
from thirtyone_env.actions import (
    DRAW_STOCK,
    FIRST_CARD,
    KEEP,
    PASS,
    REFUSE,
    SWAP_ALL,
    TAKE_UPCARD,
    legal_cards,
)
from thirtyone_env.bots.book import (
    BLOCK_SIZE,
    BLOCKS,
    CLASSES,
    FAR,
    FEED,
    HIGH,
    LAST,
    NEAR,
    NUM_CLASSES,
    REFUSED,
    SHOWDOWN,
    THRESHOLDS,
    UNIT,
    VALUES,
)
from thirtyone_env.bots.greedy import best_tie, pick_discard
from thirtyone_env.bots.hands import best_after_taking, tie_break
from thirtyone_env.cards import (
    BIT,
    LOWEST_JOKER,
    NO_CARD,
    RANK_MASK,
    RANK_POINTS,
    hand_strength,
    hand_value,
    lowest,
)
from thirtyone_env.classes import hand_index
from thirtyone_env.state import NOBODY, Phase, State, acting_seat, next_seat, seats_in, stock_left


@inlined_kernel
def entry_of(state: State) -> int:
    """Where the header of the seat's bot begins in the book."""
    return np.int64(state.controllers[acting_seat(state)].entry)


@inlined_kernel
def options_of(state: State, book: Any) -> int:
    """Where the options of the seat's bot begin for as many seats as are in play."""
    return entry_of(state) + BLOCKS + BLOCK_SIZE * (seats_in(state.in_play) - 2)


@inlined_kernel
def class_of(hand: int, classes: int, book: Any) -> int:
    """The class of a hand; `classes` is where the classes by index begin."""
    return np.int64(book[classes + hand_index(hand)])


@inlined_kernel
def lookahead_threshold(state: State, book: Any) -> int:
    """The value from which the seat knocks, in half points."""
    turn = min(np.int64(state.own_turns[acting_seat(state)]), 7)
    return np.int64(book[options_of(state, book) + THRESHOLDS + turn])


@inlined_kernel
def cost_of_opening(state: State, card: int, feed: int, high: int) -> int:
    """What it costs to lay a card open: for its points, and where the next player collects it."""
    points = np.int64(RANK_POINTS[card % 13]) if card < LOWEST_JOKER else 22
    follower = next_seat(state, state.seat)
    collected = np.int64(state.known[follower]) >> (16 * (card // 13))
    if card >= LOWEST_JOKER or collected & RANK_MASK:
        return (high + feed) * points
    return high * points


@kernel
def best_by_tie(state: State, hand: int, cards: int) -> int:
    """The discard by `tie_break` among cards that are as good as each other."""
    best, choice = np.int64(-1 << 60), NO_CARD
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        tie = tie_break(state, hand ^ np.int64(BIT[card]), card)
        if tie > best:
            best, choice = tie, card
    return choice


@kernel
def lookahead_discard(state: State, book: Any) -> int:
    """The discard that leaves the hand that is worth most; on a last turn the best value."""
    if state.knocker != NOBODY:
        return pick_discard(state)
    hand, cards = np.int64(state.hands[acting_seat(state)]), legal_cards(state)
    entry, options = entry_of(state), options_of(state, book)
    classes, near = np.int64(book[entry + CLASSES]), np.int64(book[entry + NEAR])
    feed, high = np.int64(book[options + FEED]), np.int64(book[options + HIGH])
    best, equals = np.int64(-1 << 60), np.int64(0)
    while cards:
        low = cards & -cards
        cards ^= low
        worth = np.int64(book[near + class_of(hand ^ low, classes, book)])
        worth -= cost_of_opening(state, lowest(low), feed, high)
        equals = low if worth > best else equals | low if worth == best else equals
        best = max(best, worth)
    if equals & (equals - 1) == 0:
        return lowest(equals)
    return best_by_tie(state, hand, equals)


@inlined_kernel
def worth_of_taking(state: State, hand: int, card: int, book: Any) -> int:
    """What a hand is worth after taking the upcard and laying off the best card for it."""
    entry = entry_of(state)
    classes, near = np.int64(book[entry + CLASSES]), np.int64(book[entry + NEAR])
    more, rest, best = hand | np.int64(BIT[card]), hand, np.int64(0)
    while rest:
        low = rest & -rest
        rest ^= low
        best = max(best, np.int64(book[near + class_of(more ^ low, classes, book)]))
    return best


@kernel
def last_draw(state: State, hand: int, card: int, book: Any) -> int:
    """The draw of a last turn: what has the better chance not to be lowest."""
    entry, seats = entry_of(state), seats_in(state.in_play)
    taken = best_after_taking(hand, card, state.rules)
    if stock_left(state) == 0:
        return TAKE_UPCARD if taken > hand_value(hand, state.rules) else PASS
    number = class_of(hand, np.int64(book[entry + CLASSES]), book)
    kinds = np.int64(book[entry + NUM_CLASSES])
    unseen = np.int64(book[np.int64(book[entry + LAST]) + seats * kinds + number])
    seen = np.int64(book[np.int64(book[entry + SHOWDOWN]) + seats * VALUES + taken])
    return TAKE_UPCARD if seen > unseen else DRAW_STOCK


@kernel
def lookahead_draw(state: State, book: Any) -> int:
    """The upcard if the hand is then worth more than after a draw from the stock."""
    hand, upcard = np.int64(state.hands[acting_seat(state)]), np.int64(state.upcard)
    if upcard == NO_CARD:
        return DRAW_STOCK if stock_left(state) > 0 else PASS
    if state.knocker != NOBODY:
        return last_draw(state, hand, upcard, book)
    entry = entry_of(state)
    left = stock_left(state)
    number = class_of(hand, np.int64(book[entry + CLASSES]), book)
    ahead = np.int64(book[entry + (FAR if left > 0 else NEAR)])
    if worth_of_taking(state, hand, upcard, book) > np.int64(book[ahead + number]):
        return TAKE_UPCARD
    return DRAW_STOCK if left > 0 else PASS


# --- exchange family -----------------------------------------------------------------------------


@inlined_kernel
def is_last_turn(state: State) -> bool:
    """Whether no other own turn follows in this round."""
    return state.knocker != NOBODY or state.dealt_blitz != 0


@kernel
def worth_of_hand(state: State, hand: int, book: Any) -> int:
    """What a hand is worth after an exchange; on a last turn its place among all hands."""
    if is_last_turn(state):
        return hand_strength(hand, state.rules) * UNIT
    entry = entry_of(state)
    near, classes = np.int64(book[entry + NEAR]), np.int64(book[entry + CLASSES])
    return np.int64(book[near + class_of(hand, classes, book)])


@kernel
def cost_of_giving(state: State, cards: int, book: Any) -> int:
    """What it costs to lay some cards on the table."""
    if is_last_turn(state):
        return 0
    options = options_of(state, book)
    feed, high = np.int64(book[options + FEED]), np.int64(book[options + HIGH])
    total = np.int64(0)
    while cards:
        total += cost_of_opening(state, lowest(cards), feed, high)
        cards &= cards - 1
    return total


@kernel
def best_taking(state: State, given: int, which: bool, book: Any) -> int:
    """Most that the hand is worth with a table card for the one given; or that card."""
    rest = np.int64(state.hands[acting_seat(state)]) ^ np.int64(BIT[given])
    table, best, equals = np.int64(state.table), np.int64(-1 << 60), np.int64(0)
    while table:
        low = table & -table
        table ^= low
        worth = worth_of_hand(state, rest | low, book)
        equals = low if worth > best else equals | low if worth == best else equals
        best = max(best, worth)
    if not which:
        return best
    return (
        lowest(equals) if equals & (equals - 1) == 0 else best_tie(state, rest, equals, given, True)
    )


@kernel
def lookahead_exchange(state: State, book: Any) -> int:
    """The exchange after which the hand is worth most; a pass where none makes it better."""
    hand, table = np.int64(state.hands[acting_seat(state)]), np.int64(state.table)
    action, best = np.int64(PASS), worth_of_hand(state, hand, book)
    worth = worth_of_hand(state, table, book) - cost_of_giving(state, hand, book)
    if worth > best:
        action, best = np.int64(SWAP_ALL), worth
    cards, equals = hand, np.int64(0)
    while cards:
        low = cards & -cards
        cards ^= low
        card = lowest(low)
        worth = best_taking(state, card, False, book) - cost_of_giving(state, low, book)
        if worth > best:
            action, best, equals = FIRST_CARD + card, worth, low
        elif worth == best and action >= FIRST_CARD:
            equals |= low
    if equals & (equals - 1) == 0:
        return action
    return FIRST_CARD + best_giving(state, hand, equals, book)


@kernel
def best_giving(state: State, hand: int, cards: int, book: Any) -> int:
    """The card to give by `tie_break` among cards that are as good to give as each other."""
    best, choice = np.int64(-1 << 60), NO_CARD
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        taken = best_taking(state, card, True, book)
        after = hand ^ np.int64(BIT[card]) | np.int64(BIT[taken])
        tie = tie_break(state, after, card)
        if tie > best:
            best, choice = tie, card
    return choice


@kernel
def lookahead_dealer(state: State, book: Any) -> int:
    """Refuse the first hand where the second one is worth more in the mean."""
    entry, hand = entry_of(state), np.int64(state.hands[acting_seat(state)])
    number = class_of(hand, np.int64(book[entry + CLASSES]), book)
    kept = np.int64(book[np.int64(book[entry + NEAR]) + number])
    return KEEP if kept >= np.int64(book[np.int64(book[entry + REFUSED]) + number]) else REFUSE


@kernel
def lookahead_action(state: State, book: Any) -> int:
    """What a bot that looks ahead does when it does not knock."""
    phase = np.int64(state.phase)
    if phase == Phase.DISCARD:
        return FIRST_CARD + lookahead_discard(state, book)
    if phase == Phase.TAKE:
        return FIRST_CARD + best_taking(state, np.int64(state.given), True, book)
    if phase == Phase.DEALER:
        return lookahead_dealer(state, book)
    return lookahead_exchange(state, book) if state.rules.exchange else lookahead_draw(state, book)
