"""What a hand may become, and how hands of one value are told apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from thirtyone_env._jit import inlined_kernel, kernel, trailing_zeros, wrapping_kernel
from thirtyone_env.cards import (
    BIT,
    CARD_POINTS,
    JOKER_MASK,
    LANE_POINTS,
    LOWEST_JOKER,
    NO_CARD,
    RANK_MASK,
    RANK_POINTS,
    SUIT_POINTS,
    best_suit,
    count,
    hand_value,
    lowest,
    only_suits_count,
    pair_ranks,
    suit_points,
    trip_ranks,
)
from thirtyone_env.rng import mix
from thirtyone_env.state import State, next_seat

NO_PLACE = 15
"""A place at which no card's bit stands."""
IN_EACH_LANE = 0x0001_0001_0001_0001


@inlined_kernel
def points_kept(hand: int, points: int) -> int:
    """Points of the suits once the card goes that is missed least when another one is taken.

    That is one outside the best suit; of a hand of one suit, its lowest card.
    """
    place = trailing_zeros(hand)
    one_suit = hand >> (place & 48) <= RANK_MASK
    return points - np.int64(LANE_POINTS[place if one_suit else NO_PLACE])


@inlined_kernel
def points_after_taking(hand: int, points: int, card: int) -> int:
    """Points of the suits with a card taken and the one gone that is missed least."""
    return points_kept(hand, points) + np.int64(CARD_POINTS[card])


@inlined_kernel
def reached_in_suit(points: int, place: int) -> int:
    """What the suit of the card at a place is worth with that card."""
    return ((points + np.int64(LANE_POINTS[place])) >> (place & 48)) & 0xFFFF


@inlined_kernel
def only_suits_count_after_swap(hand: int, table: int, rules: Any) -> bool:
    """Whether a hand with one of some cards can be worth its best suit only."""
    if (hand | table) & JOKER_MASK or rules.suited_run:
        return False
    ranks = table | table >> 32
    pairs = pair_ranks(hand)
    if pairs == 0:
        return True
    return pairs & (ranks | ranks >> 16) & RANK_MASK == 0 and trip_ranks(hand, 0) == 0


@kernel
def best_of_all_takings(hand: int, card: int, rules: Any) -> int:
    """Best value of a hand that takes a card and gives up another one, whatever counts."""
    cards = hand | np.int64(BIT[card])
    best = 0
    rest = hand
    while rest:
        low = rest & -rest
        rest ^= low
        best = max(best, hand_value(cards ^ low, rules))
    return best


@inlined_kernel
def best_after_taking(hand: int, card: int, rules: Any) -> int:
    """Best value of a hand that takes a card and gives up another one."""
    if hand and only_suits_count(hand | np.int64(BIT[card]), rules):
        return best_suit(points_after_taking(hand, suit_points(hand), card))
    return best_of_all_takings(hand, card, rules)


@inlined_kernel
def gains_by_taking(hand: int, card: int, rules: Any) -> bool:
    """Whether a card makes a hand better."""
    if only_suits_count(hand | np.int64(BIT[card]), rules):
        points = suit_points(hand)
        place = trailing_zeros(np.int64(BIT[card]))
        return reached_in_suit(points_kept(hand, points), place) > best_suit(points)
    return best_of_all_takings(hand, card, rules) > hand_value(hand, rules)


@inlined_kernel
def cards_to_spare(points: int, cards: int) -> int:
    """Those of some cards that leave the hand its best suit, if only suits count."""
    lesser = ((points ^ best_suit(points) * IN_EACH_LANE) + 0x7F * IN_EACH_LANE) >> 7 & IN_EACH_LANE
    best = lesser ^ IN_EACH_LANE
    return cards if best & (best - 1) else cards & lesser * RANK_MASK


@inlined_kernel
def cards_least_missed(points: int, cards: int) -> int:
    """Those of some cards without which the best suit is worth most."""
    best, least = np.int64(-1), np.int64(0)
    while cards:
        low = cards & -cards
        cards ^= low
        value = best_suit(points - np.int64(LANE_POINTS[trailing_zeros(low)]))
        least = low if value > best else least | low if value == best else least
        best = max(best, value)
    return least


@kernel
def best_suit_after_discard(points: int, cards: int) -> int:
    """Best value of a hand that gives up one of some of its cards, if only suits count."""
    if cards_to_spare(points, cards):
        return best_suit(points)
    if cards == 0:
        return 0
    place = trailing_zeros(cards_least_missed(points, cards))
    return best_suit(points - np.int64(LANE_POINTS[place]))


@kernel
def best_after_discard(hand: int, cards: int, rules: Any) -> int:
    """Best value of a hand that gives up one of some of its cards."""
    if only_suits_count(hand, rules):
        return best_suit_after_discard(suit_points(hand), cards)
    best = 0
    while cards:
        low = cards & -cards
        cards ^= low
        best = max(best, hand_value(hand ^ low, rules))
    return best


@inlined_kernel
def best_with_one_of(hand: int, cards: int, rules: Any) -> int:
    """Best value of a hand that gets one of some cards; 0 if there are none."""
    best = np.int64(0)
    while cards:
        low = cards & -cards
        cards ^= low
        best = max(best, hand_value(hand | low, rules))
    return best


@kernel
def best_after_swap(hand: int, table: int, rules: Any) -> int:
    """Best value of a hand after one exchange with the table, one card or all."""
    best = hand_value(table, rules)
    while table:
        best = max(best, best_after_taking(hand, lowest(table), rules))
        table &= table - 1
    return best


@kernel
def best_with_open_cards(state: State, seat: int) -> int:
    """Best value of the seat's hand if it takes the upcard, or exchanges with the table."""
    hand = np.int64(state.hands[seat])
    if count(hand) > state.rules.hand_size:
        return 0
    if state.rules.exchange:
        return best_after_swap(hand, np.int64(state.table), state.rules) if state.table else 0
    if state.upcard == NO_CARD:
        return 0
    return best_after_taking(hand, np.int64(state.upcard), state.rules)


@kernel
def growth(hand: int, rules: Any) -> int:
    """How much a hand may grow: squared points by suit, and pairs where three of a kind count."""
    jokers = count(hand & JOKER_MASK)
    total = 0
    for suit in range(4):
        worth = np.int64(SUIT_POINTS[0, (hand >> (16 * suit)) & RANK_MASK])
        total += worth * worth
    total >>= 4
    if rules.three_of_a_kind and trip_ranks(hand, jokers + 1):
        total += 40
    return total + 200 * jokers


@kernel
def feeding(state: State, card: int) -> int:
    """Half points that a card adds to a suit which the next player has openly collected."""
    known = np.int64(state.known[next_seat(state, state.seat)])
    if card >= LOWEST_JOKER:
        return 40 if known else 0
    if (known >> (16 * (card // 13))) & RANK_MASK:
        return np.int64(RANK_POINTS[card % 13])
    return 0


@wrapping_kernel
def lot(hand: int, card: int) -> int:
    """Eight bits that settle ties among cards: a hash of what the seat holds, not an order."""
    return np.int64(mix(np.uint64(hand) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(card))) & 255


@kernel
def tie_break(state: State, hand: int, card: int) -> int:
    """How a hand is liked among hands of one value after laying a card open."""
    tie = growth(hand, state.rules) - 4 * feeding(state, card)
    return tie * 256 + lot(hand, card)


@kernel
def openly_collected(state: State, seat: int) -> int:
    """Most half points in one suit that a seat holds of cards taken openly, two cards at least."""
    known = np.int64(state.known[seat])
    best = 0
    for suit in range(4):
        ranks = (known >> (16 * suit)) & RANK_MASK
        if count(ranks) >= 2:
            best = max(best, np.int64(SUIT_POINTS[0, ranks]))
    return best
