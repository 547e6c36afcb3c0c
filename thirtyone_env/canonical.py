"""Suits renamed by a seat's own holding, so that a learner sees each situation once.

Suits are interchangeable wherever no rule orders them. A naming is one int of four 2-bit numbers:
the new name of suit s stands at bits 2s and 2s+1. The suit with the most own points comes first;
ties are settled by own ranks, then the upcard or table, then all public piles, so that only suits
that are alike in everything the seat knows can tie. A naming is a function of what the seat sees
and so stays the same between observing and stepping. Off by itself where `ties = "suit"`.
"""

from __future__ import annotations

import numpy as np

from thirtyone_env._jit import inlined_kernel, kernel
from thirtyone_env.cards import (
    BIT,
    BIT_OR_NOTHING,
    JOKER_MASK,
    LOWEST_JOKER,
    NO_CARD,
    RANK_MASK,
    SUIT_POINTS,
)
from thirtyone_env.state import State

IDENTITY = 0b11_10_01_00


@kernel
def lane(cards: int, suit: int) -> int:
    """The ranks of one suit."""
    return (cards >> (16 * suit)) & RANK_MASK


@kernel
def open_cards(state: State) -> int:
    """The upcard or the table, as a set."""
    return np.int64(state.table) | np.int64(BIT_OR_NOTHING[np.int64(state.upcard) & 63])


@kernel
def own_cards(state: State, seat: int) -> int:
    """The seat's hand without jokers."""
    return np.int64(state.hands[seat]) & ~JOKER_MASK


@kernel
def compare_public(state: State, seat: int, first: int, second: int) -> int:
    """Difference of two suits in the public piles, seats counted from the observer."""
    seats = np.int64(state.num_players)
    difference = lane(np.int64(state.pile), first) - lane(np.int64(state.pile), second)
    if difference:
        return difference
    unseen = np.int64(state.recycled) & ~np.int64(state.hands[seat])
    difference = lane(unseen, first) - lane(unseen, second)
    for step in range(seats):
        other = (seat + step) % seats
        if difference == 0:
            known = np.int64(state.known[other])
            difference = lane(known, first) - lane(known, second)
        if difference == 0:
            laid = np.int64(state.discards[other])
            difference = lane(laid, first) - lane(laid, second)
    return difference


@kernel
def compare_moving(state: State, seat: int, first: int, second: int) -> int:
    """Difference of two suits in the card that is on its way."""
    if state.given != NO_CARD:
        bit = np.int64(BIT[state.given])
        return lane(bit, first) - lane(bit, second)
    if state.drawn != NO_CARD and (state.seat == seat or state.taken != NO_CARD):
        bit = np.int64(BIT[state.drawn])
        return lane(bit, first) - lane(bit, second)
    return 0


@kernel
def comes_before(state: State, seat: int, first: int, second: int) -> bool:
    """Whether a suit is named before another one."""
    hand = own_cards(state, seat)
    a, b = lane(hand, first), lane(hand, second)
    difference = np.int64(SUIT_POINTS[0, a]) - np.int64(SUIT_POINTS[0, b])
    if difference == 0:
        difference = a - b
    if difference == 0:
        difference = lane(open_cards(state), first) - lane(open_cards(state), second)
    if difference == 0:
        difference = compare_moving(state, seat, first, second)
    if difference == 0:
        difference = compare_public(state, seat, first, second)
    return difference > 0


@kernel
def suit_names(state: State, seat: int) -> int:
    """The naming of the suits by what a seat holds and sees."""
    if state.rules.ties_by_suit:
        return IDENTITY
    naming = 0
    for suit in range(4):
        before = 0
        for other in range(4):
            if other == suit:
                continue
            if comes_before(state, seat, other, suit):
                before += 1
            elif other < suit and not comes_before(state, seat, suit, other):
                before += 1
        naming |= before << (2 * suit)
    return naming


@kernel
def old_names(naming: int) -> int:
    """The naming that undoes another one."""
    back = 0
    for suit in range(4):
        back |= suit << (2 * ((naming >> (2 * suit)) & 3))
    return back


@kernel
def move_suits(cards: int, naming: int) -> int:
    """The suits of a set, each at the place of its new name."""
    renamed = cards & JOKER_MASK
    for suit in range(4):
        renamed |= lane(cards, suit) << (16 * ((naming >> (2 * suit)) & 3))
    return renamed


@inlined_kernel
def rename_set(cards: int, naming: int) -> int:
    """A set of cards with its suits renamed; jokers stay."""
    return cards if naming == IDENTITY else move_suits(cards, naming)


@kernel
def move_card(card: int, naming: int) -> int:
    """A card with its suit renamed."""
    if card < 0 or card >= LOWEST_JOKER:
        return card
    return 13 * ((naming >> (2 * (card // 13))) & 3) + card % 13


@inlined_kernel
def rename_card(card: int, naming: int) -> int:
    """A card with its suit renamed, or none."""
    return card if naming == IDENTITY else move_card(card, naming)
