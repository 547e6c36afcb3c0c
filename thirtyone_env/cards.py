"""Cards, sets of cards, hand values and the order of hands.

A card is an int: 0 … 51 is suit × 13 + rank (suits c d h s, ranks 2 … A), 52 … 55 are the jokers
X1 … X4. A set of cards is one int64 with 16 bits a suit: bits 0–12 the ranks, bit 13 the joker that
is parked in that suit's lane; the sign bit is never used. A value is an integer of half points.

Values and the order come from tables over the 13 ranks of one suit, computed here once. The rules
are docs/rules.md, "Cards and hand value".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from thirtyone_env._jit import bits_among, inlined_kernel, kernel, trailing_zeros

RANKS = "23456789TJQKA"
SUITS = "cdhs"
NUM_CARDS = 56
NO_CARD = -1
ACE = 12
RANK_MASK = 0x1FFF
JOKER_MASK = 0x2000_2000_2000_2000
PLAIN_MASK = 0x1FFF_1FFF_1FFF_1FFF
LOWEST_JOKER = 52
NAMES: tuple[str, ...] = tuple(r + s for s in SUITS for r in RANKS) + ("X1", "X2", "X3", "X4")
"""Name of every card, in the order in which hands are sorted: by suit, then rank, jokers last."""

_POSITIONS = [16 * (c // 13) + c % 13 for c in range(52)] + [16 * j + 13 for j in range(4)]
BIT: np.ndarray = np.array([1 << p for p in _POSITIONS], dtype=np.int64)
"""int64[56]: the one-card set of a card."""
BIT_OR_NOTHING: np.ndarray = np.zeros(64, dtype=np.int64)
"""int64[64]: the same, by a card's lowest six bits: nothing for NO_CARD."""
BIT_OR_NOTHING[:NUM_CARDS] = BIT
CARD_AT: np.ndarray = np.full(64, NO_CARD, dtype=np.int8)
"""int8[64]: the card whose bit stands at a place, NO_CARD where none does."""
CARD_AT[_POSITIONS] = np.arange(NUM_CARDS)

RANK_POINTS: np.ndarray = np.array([2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 11]) * 2
"""int64[13]: worth of a rank in half points."""
_SUBSETS = np.arange(8192)
_HAS = (_SUBSETS[:, None] >> np.arange(13)) & 1


def _fill_from_the_top(jokers: int) -> np.ndarray:
    """The rank set of every suit once its jokers stand for the highest ranks that it lacks."""
    filled = _SUBSETS.copy()
    for _ in range(jokers):
        lacking = (~filled) & RANK_MASK
        highest = np.floor(np.log2(np.maximum(lacking, 1))).astype(np.int64)
        filled |= np.where(lacking > 0, 1 << highest, 0)
    return filled


def _suit_points() -> np.ndarray:
    tables = [
        ((_fill_from_the_top(j)[:, None] >> np.arange(13)) & 1) @ RANK_POINTS for j in range(5)
    ]
    return np.minimum(np.array(tables), 255).astype(np.uint8)


def _run_tops() -> np.ndarray:
    """Highest rank of the best run of three above the two that some jokers complete, +1; or 0."""
    tops = np.zeros((4, 8192), dtype=np.int8)
    for jokers in range(4):
        for low in range(11):
            have = _HAS[:, low : low + 3].sum(axis=1)
            tops[jokers][have + jokers >= 3] = low + 2 + 1
    return tops


SUIT_POINTS = _suit_points()
"""uint8[5, 8192]: half points of one suit's ranks, by the number of jokers that join them."""
RUN_TOP = _run_tops()
"""int8[4, 8192]: 1 + highest rank of the best run, by jokers; 0 without one (A-2-3 is apart)."""
LOW_RUN_CARDS: np.ndarray = (_HAS[:, [0, 1, ACE]]).sum(axis=1).astype(np.int8)
"""int8[8192]: how many of A, 2, 3 one suit holds."""
HIGHEST: np.ndarray = np.where(_HAS.any(axis=1), 12 - _HAS[:, ::-1].argmax(axis=1), -1).astype(
    np.int8
)
"""int8[8192]: the highest rank of a suit, −1 of an empty one."""
CARD_POINTS: np.ndarray = np.zeros(NUM_CARDS, dtype=np.int64)
"""int64[56]: half points of a card in the 16 bits of its suit; 0 for jokers."""
CARD_POINTS[:52] = RANK_POINTS[np.arange(52) % 13] << (16 * (np.arange(52) // 13))
LANE_POINTS: np.ndarray = np.zeros(64, dtype=np.int64)
"""int64[64]: the same of the card whose bit stands at a place."""
LANE_POINTS[_POSITIONS] = CARD_POINTS
SUIT_ORDER: np.ndarray = np.array([3, 0, 1, 2], dtype=np.int8)
"""int8[4]: clubs above spades above hearts above diamonds (`ties = "suit"`)."""


# --- sets ----------------------------------------------------------------------------------------


@inlined_kernel
def lowest(cards: int) -> int:
    """The first card of a set that is not empty, in the order of places."""
    return np.int64(CARD_AT[trailing_zeros(cards)])


@kernel
def count(cards: int) -> int:
    """How many cards a set holds."""
    total = 0
    while cards:
        cards &= cards - 1
        total += 1
    return total


@inlined_kernel
def side_by_side(cards: int) -> int:
    """A set with bit k for card k, without gaps between the suits."""
    return bits_among(cards, PLAIN_MASK) | bits_among(cards, JOKER_MASK) << LOWEST_JOKER


@kernel
def nth_card(cards: int, n: int) -> int:
    """The n-th card of a set in sorted order (jokers last); NO_CARD where it holds fewer."""
    plain = cards & ~JOKER_MASK
    for rest in (plain, cards & JOKER_MASK):
        while rest:
            if n == 0:
                return lowest(rest)
            rest &= rest - 1
            n -= 1
    return NO_CARD


@kernel
def place_of(cards: int, card: int) -> int:
    """How many cards of a set come before a card in sorted order."""
    bit = np.int64(BIT[card])
    if card >= LOWEST_JOKER:
        return count(cards & ~JOKER_MASK) + count(cards & JOKER_MASK & (bit - 1))
    return count(cards & ~JOKER_MASK & (bit - 1))


# --- value and order -----------------------------------------------------------------------------


@inlined_kernel
def trip_ranks(hand: int, jokers: int) -> int:
    """Ranks of which the hand holds three, jokers counted, as a 13-bit set."""
    c, d = hand & RANK_MASK, (hand >> 16) & RANK_MASK
    h, s = (hand >> 32) & RANK_MASK, (hand >> 48) & RANK_MASK
    if jokers == 0:
        return (c & d & (h | s)) | (h & s & (c | d))
    if jokers == 1:
        return (c & (d | h | s)) | (d & (h | s)) | (h & s)
    if jokers == 2:
        return c | d | h | s
    return RANK_MASK


@inlined_kernel
def trips_value(ranks: int, rules: Any) -> int:
    """Worth of three of a kind of the best of some ranks; 0 where the rules give nothing."""
    if ranks == 0:
        return 0
    value = np.int64(rules.three_of_a_kind)
    if ranks >> ACE:
        value = max(value, np.int64(rules.three_aces))
    return value


@kernel
def run_top(ranks: int, jokers: int, rules: Any) -> int:
    """1 + the highest rank of the best run within one suit; 0 without one."""
    if LOW_RUN_CARDS[ranks] + jokers >= 3 and rules.low_rank == 2:
        return ACE + 1
    return np.int64(RUN_TOP[min(jokers, 3), ranks])


@kernel
def runs_value(hand: int, jokers: int, rules: Any) -> int:
    """Worth of the hand's best run; 0 where there is none or the rules give nothing."""
    if rules.suited_run == 0:
        return 0
    for suit in range(4):
        if run_top((hand >> (16 * suit)) & RANK_MASK, jokers, rules):
            return np.int64(rules.suited_run)
    return 0


@inlined_kernel
def suit_points(cards: int) -> int:
    """Half points of the four suits, jokers left out, in the 16 bits of each suit."""
    c, d = np.int64(SUIT_POINTS[0, cards & RANK_MASK]), SUIT_POINTS[0, (cards >> 16) & RANK_MASK]
    h = np.int64(SUIT_POINTS[0, (cards >> 32) & RANK_MASK])
    s = np.int64(SUIT_POINTS[0, (cards >> 48) & RANK_MASK])
    return c | (np.int64(d) << 16) | (h << 32) | (s << 48)


@inlined_kernel
def best_suit(points: int) -> int:
    """The most of the points of four suits."""
    first = max(points & 0xFFFF, (points >> 16) & 0xFFFF)
    return max(first, (points >> 32) & 0xFFFF, points >> 48)


@inlined_kernel
def pair_ranks(cards: int) -> int:
    """Ranks that some cards hold twice or more, jokers left out, as a 13-bit set."""
    return trip_ranks(cards, 1)


@kernel
def suits_value(hand: int, jokers: int) -> int:
    """Worth of the hand's best suit, the jokers with it."""
    c, d = SUIT_POINTS[jokers, hand & RANK_MASK], SUIT_POINTS[jokers, (hand >> 16) & RANK_MASK]
    h = SUIT_POINTS[jokers, (hand >> 32) & RANK_MASK]
    s = SUIT_POINTS[jokers, (hand >> 48) & RANK_MASK]
    return np.int64(max(c, d, h, s))


@inlined_kernel
def value_with(hand: int, jokers: int, suits: int, rules: Any) -> int:
    """Value of a hand that holds so many jokers and whose best suit is worth so much."""
    value = suits
    ranks = trip_ranks(hand, jokers)
    if ranks:
        value = max(value, trips_value(ranks, rules))
    if rules.suited_run:
        value = max(value, runs_value(hand, jokers, rules))
    return value


@kernel
def value_with_jokers(hand: int, rules: Any) -> int:
    """Value of a hand that holds a joker."""
    jokers = count(hand & JOKER_MASK)
    return value_with(hand, jokers, suits_value(hand, jokers), rules)


@inlined_kernel
def hand_value(hand: int, rules: Any) -> int:
    """Value of a hand of 3 or 4 cards in half points."""
    suits = best_suit(suit_points(hand))
    if hand & JOKER_MASK:
        return value_with_jokers(hand, rules)
    return value_with(hand, 0, suits, rules)


@inlined_kernel
def only_suits_count(cards: int, rules: Any) -> bool:
    """Whether a hand of some of these cards can be worth its best suit only."""
    if cards & JOKER_MASK or trip_ranks(cards, 0):
        return False
    return rules.suited_run == 0 or runs_value(cards, 0, rules) == 0


@kernel
def trips_order(hand: int, value: int, jokers: int, rules: Any) -> int:
    """Order among hands whose value comes from three of a kind; 0 where it does not."""
    ranks = trip_ranks(hand, jokers)
    if ranks >> ACE and trips_value(1 << ACE, rules) == value:
        return 128 + ACE
    ranks &= RANK_MASK >> 1
    if ranks and rules.three_of_a_kind == value:
        return 128 + np.int64(HIGHEST[ranks])
    return 0


@kernel
def suits_order(hand: int, value: int, jokers: int, rules: Any) -> int:
    """Order among suit hands and runs of one value: the suit, then its highest card."""
    best = 0
    for suit in range(4):
        ranks = (hand >> (16 * suit)) & RANK_MASK
        top = -1
        if SUIT_POINTS[jokers, ranks] == value:
            top = ACE if jokers else np.int64(HIGHEST[ranks])
        if rules.suited_run == value:
            top = max(top, run_top(ranks, jokers, rules) - 1)
        if top >= 0:
            best = max(best, np.int64(SUIT_ORDER[suit]) * 16 + top)
    return best


@kernel
def hand_strength(hand: int, rules: Any) -> int:
    """Place of a hand in the order of hands: the larger, the higher; equal means a tie."""
    value = hand_value(hand, rules)
    if not rules.ties_by_suit:
        return value * 256
    jokers = count(hand & JOKER_MASK)
    order = trips_order(hand, value, jokers, rules)
    if order == 0:
        order = suits_order(hand, value, jokers, rules)
    return value * 256 + order


# --- names ---------------------------------------------------------------------------------------

_BY_NAME = {name: card for card, name in enumerate(NAMES)}
_BY_BIT = {int(bit): card for card, bit in enumerate(BIT)}


def parse_card(name: str) -> int:
    """The card of a name such as ``"Kh"``, ``"Td"`` or ``"X1"``.

    Raises:
        ValueError: if it is no card's name.
    """
    card = _BY_NAME.get(name) if isinstance(name, str) else None
    if card is None:
        raise ValueError(
            f"unknown card {name!r}; a card is a rank of {RANKS} and a suit of {SUITS}, "
            "such as 'Kh', or a joker X1 … X4"
        )
    return card


def cards_of(cards: int) -> list[int]:
    """The cards of a set, sorted."""
    cards, found = int(cards), []
    while cards:
        found.append(_BY_BIT[cards & -cards])
        cards &= cards - 1
    return sorted(found)


def names_of(cards: int) -> list[str]:
    """The names of the cards of a set, sorted."""
    return [NAMES[c] for c in cards_of(cards)]


def set_of(cards: Iterable[int]) -> int:
    """The set of some cards."""
    result = 0
    for card in cards:
        result |= int(BIT[card])
    return result


def parse_cards(names: str | Sequence[str]) -> list[int]:
    """Cards of a list of names or of one text such as ``"Kh 9h 4c"``; all distinct.

    Raises:
        ValueError: for an unknown name or a card that comes twice.
    """
    parts = names.replace(",", " ").split() if isinstance(names, str) else list(names)
    cards = [parse_card(name) for name in parts]
    for place, card in enumerate(cards):
        if card in cards[:place]:
            raise ValueError(f"card {NAMES[card]} is there twice in {' '.join(parts)}")
    return cards


def points(value: int) -> int | float:
    """A value in half points as it is printed: 19 or 30.5."""
    value = int(value)
    return value // 2 if value % 2 == 0 else value / 2
