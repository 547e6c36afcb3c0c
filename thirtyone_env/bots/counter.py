"""Draws with the cards that were seen counted exactly (draw family).

The next draw is a mean over the cards that the seat has not seen; what follows it comes from the
tables of `bots.worth`. After a knock an opponent whose openly taken cards alone are worth as much
as one's own hand cannot be beaten, so that only the others count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thirtyone_env._jit import kernel
from thirtyone_env.actions import DRAW_STOCK, TAKE_UPCARD
from thirtyone_env.bots.book import CLASSES, FEED, HIGH, NEAR, SHOWDOWN, VALUES
from thirtyone_env.bots.hands import best_after_taking
from thirtyone_env.bots.lookahead import (
    class_of,
    cost_of_opening,
    entry_of,
    lookahead_draw,
    options_of,
)
from thirtyone_env.cards import BIT, LOWEST_JOKER, NO_CARD, RANK_MASK, count, hand_value, lowest
from thirtyone_env.state import NOBODY, State, acting_seat, is_in, stock_left


@kernel
def deck_set(state: State) -> int:
    """Every card of the deck in use."""
    low = np.int64(state.rules.low_rank) - 2
    ranks = np.int64(RANK_MASK) >> low << low
    cards = ranks | ranks << 16 | ranks << 32 | ranks << 48
    for joker in range(state.rules.jokers):
        cards |= np.int64(BIT[LOWEST_JOKER + joker])
    return cards


@kernel
def unseen_cards(state: State, seat: int) -> int:
    """The cards of which a seat does not know where they are."""
    seen = np.int64(state.hands[seat]) | np.int64(state.pile) | np.int64(state.table)
    if state.upcard != NO_CARD:
        seen |= np.int64(BIT[state.upcard])
    for other in range(state.num_players):
        seen |= np.int64(state.known[other])
    return deck_set(state) & ~seen


@kernel
def floors(state: State, seat: int) -> int:
    """What the opponents' openly taken cards are worth at least, seven bits each, plus 1."""
    packed = np.int64(0)
    for other in range(state.num_players):
        if other != seat and is_in(state.in_play, other):
            packed = packed << 7 | (hand_value(np.int64(state.known[other]), state.rules) + 1)
    return packed


@kernel
def beatable(packed: int, value: int) -> int:
    """How many opponents may be worth less than a value."""
    number = 0
    while packed:
        number += (packed & 127) - 1 < value
        packed >>= 7
    return number


@kernel
def chance_of(value: int, packed: int, showdown: int, book: Any) -> int:
    """Chance that a final value is not the lowest, given what the opponents show."""
    seats = beatable(packed, value) + 1
    if seats == 1:
        return np.int64(value)
    return np.int64(book[showdown + VALUES * seats + value])


@kernel
def counted_last_draw(state: State, hand: int, card: int, book: Any) -> int:
    """The draw of a last turn: what has the better chance not to be lowest."""
    showdown = np.int64(book[entry_of(state) + SHOWDOWN])
    seat = acting_seat(state)
    packed, cards = floors(state, seat), unseen_cards(state, seat)
    value, total = hand_value(hand, state.rules), np.int64(0)
    number = count(cards)
    while cards:
        drawn = lowest(cards)
        cards &= cards - 1
        best = max(value, best_after_taking(hand, drawn, state.rules))
        total += chance_of(best, packed, showdown, book)
    taken = best_after_taking(hand, card, state.rules)
    return TAKE_UPCARD if chance_of(taken, packed, showdown, book) * number > total else DRAW_STOCK


@kernel
def best_left(state: State, hand: int, drawn: int, kept: bool, book: Any) -> int:
    """Most that a hand and a card drawn are worth after a discard, its cost counted."""
    entry, options = entry_of(state), options_of(state, book)
    classes, near = np.int64(book[entry + CLASSES]), np.int64(book[entry + NEAR])
    feed, high = np.int64(book[options + FEED]), np.int64(book[options + HIGH])
    more = hand | np.int64(BIT[drawn])
    cards, best = hand if kept else more, np.int64(-1 << 60)
    while cards:
        low = cards & -cards
        cards ^= low
        worth = np.int64(book[near + class_of(more ^ low, classes, book)])
        best = max(best, worth - cost_of_opening(state, lowest(low), feed, high))
    return best


@kernel
def counter_draw(state: State, book: Any) -> int:
    """The upcard if the hand is then worth more than in the mean over the cards not seen."""
    seat = acting_seat(state)
    hand, upcard = np.int64(state.hands[seat]), np.int64(state.upcard)
    if stock_left(state) == 0 or upcard == NO_CARD:
        return lookahead_draw(state, book)
    if state.knocker != NOBODY:
        return counted_last_draw(state, hand, upcard, book)
    cards = unseen_cards(state, seat)
    number, total = count(cards), np.int64(0)
    while cards:
        total += best_left(state, hand, lowest(cards), False, book)
        cards &= cards - 1
    taken = best_left(state, hand, upcard, True, book)
    return TAKE_UPCARD if taken * number > total else DRAW_STOCK


@kernel
def loses_for_sure(state: State, value: int) -> bool:
    """Whether every opponent openly holds cards worth as much as a value."""
    return beatable(floors(state, acting_seat(state)), value) == 0
