"""Draws and discards of the Swedish text: commit to a suit early."""

from __future__ import annotations

import numpy as np

from thirtyone_env._jit import kernel
from thirtyone_env.actions import DRAW_STOCK, TAKE_UPCARD, legal_cards
from thirtyone_env.bots.greedy import pick_discard, pick_draw
from thirtyone_env.bots.hands import feeding, lot
from thirtyone_env.cards import (
    BIT,
    JOKER_MASK,
    LOWEST_JOKER,
    NO_CARD,
    RANK_MASK,
    RANK_POINTS,
    SUIT_POINTS,
    count,
    hand_value,
    lowest,
)
from thirtyone_env.state import State


@kernel
def committed_suit(hand: int) -> int:
    """The suit with the most points; a hash settles ties."""
    best, choice = -1, 0
    for suit in range(4):
        ranks = (hand >> (16 * suit)) & RANK_MASK
        score = np.int64(SUIT_POINTS[0, ranks]) * 256 + lot(hand, suit)
        if score > best:
            best, choice = score, suit
    return choice


@kernel
def swedish_draw(state: State) -> int:
    """As the greedy rule, but a known 8 or more of the own suit beats an unknown card."""
    action = pick_draw(state)
    upcard = np.int64(state.upcard)
    if action != DRAW_STOCK or upcard == NO_CARD or upcard >= LOWEST_JOKER:
        return action
    hand = np.int64(state.hands[state.seat])
    suit = committed_suit(hand)
    worst = 100
    cards = hand & ~JOKER_MASK
    while cards:
        card = lowest(cards)
        cards ^= np.int64(BIT[card])
        if card // 13 == suit:
            worst = min(worst, np.int64(RANK_POINTS[card % 13]))
        else:
            worst = 0
    gain = np.int64(RANK_POINTS[upcard % 13])
    if upcard // 13 == suit and gain >= 16 and gain > worst:
        return TAKE_UPCARD
    return action


@kernel
def swedish_discard(state: State) -> int:
    """Keep the committed suit together: give up the lowest card outside it, where it is best."""
    hand = np.int64(state.hands[state.seat])
    greedy = pick_discard(state)
    suit = committed_suit(hand)
    own = hand & (np.int64(RANK_MASK) << (16 * suit))
    outside = legal_cards(state) & ~own & ~JOKER_MASK
    if outside == 0 or count(own) < 2:
        return greedy
    best, choice = np.int64(1 << 40), greedy
    while outside:
        card = lowest(outside)
        outside ^= np.int64(BIT[card])
        cost = (np.int64(RANK_POINTS[card % 13]) + feeding(state, card)) * 256 + lot(hand, card)
        if cost < best:
            best, choice = cost, card
    now = hand_value(hand ^ np.int64(BIT[greedy]), state.rules)
    then = hand_value(hand ^ np.int64(BIT[choice]), state.rules)
    return choice if then >= now - 4 else greedy
