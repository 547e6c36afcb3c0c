"""Hands that no rule tells apart, as classes: for tables that are to be small.

Two hands are of one class if a renaming of cards that changes no rule turns one into the other:

- suits, unless `ties = "suit"`, where their order decides who is lowest;
- ten, jack, queen and king, all worth ten points, unless runs count or `ties = "suit"` (where a
  hand's highest card and the rank of three of a kind count). Where no three of a kind does, they
  are renamed in each suit by itself;
- jokers, always.

A renaming keeps values, the order of hands and everything that may be drawn, so that hands of one
class have equal futures. A hand is found by its index: its place among all sets of so many cards
of the 56 in colexicographic order, by places of `cards.BIT`. Shapes: N indices, K classes.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, pairwise
from math import comb
from typing import NamedTuple

import numpy as np

from thirtyone_env._jit import inlined_kernel, trailing_zeros
from thirtyone_env.cards import BIT, LOWEST_JOKER, NO_CARD, NUM_CARDS, RANKS
from thirtyone_env.rules import Rules

MAX_HAND = 4
TENS: tuple[int, ...] = tuple(RANKS.index(rank) for rank in "TJQK")
"""The ranks that are worth equally much."""

_ORDER = np.argsort(BIT)
_POSITION = np.argsort(_ORDER)
_PLACES = np.array([int(BIT[card]).bit_length() - 1 for card in _ORDER])
INDEX_PARTS: np.ndarray = np.zeros((MAX_HAND + 1, 64), np.int32)
"""int32[5, 64]: what the n-th lowest card of a set adds to its index, by n (from 1) and place."""
for _nth in range(1, MAX_HAND + 1):
    INDEX_PARTS[_nth, _PLACES] = [comb(position, _nth) for position in range(NUM_CARDS)]


@inlined_kernel
def hand_index(cards: int) -> int:
    """The index of a hand of at most four cards."""
    index, nth = np.int64(0), 1
    while cards:
        index += INDEX_PARTS[nth, trailing_zeros(cards)]
        cards &= cards - 1
        nth += 1
    return index


class Classes(NamedTuple):
    """Hands of so many cards, or hands with an open card beside, in classes."""

    number: np.ndarray
    """int32[N] by the hand's index, or int32[N, 56] with the card: its class; −1 for no hand."""
    hands: np.ndarray
    """int64[K]: a hand of each class, as a set."""
    cards: np.ndarray
    """int8[K]: the card beside it; NO_CARD where there is none."""
    sizes: np.ndarray
    """int64[K]: how many hands, or hands with a card, the class has."""


def renamings(rules: Rules) -> list[np.ndarray]:
    """Exchanges of cards that change no rule; all other such renamings are made of them.

    Returns:
        int64[56] each: the card that a card becomes.
    """
    same = np.arange(NUM_CARDS)
    jokers = [LOWEST_JOKER + number for number in range(rules.jokers)]
    found = [_exchange([one], [other]) for one, other in pairwise(jokers)]
    if rules.ties == "suit":
        return found
    for suit in range(3):
        found.append(_exchange(same[13 * suit :][:13], same[13 * (suit + 1) :][:13]))
    if rules.suited_run is None:
        together = [range(4)] if rules.three_of_a_kind else [[suit] for suit in range(4)]
        for suits in together:
            lanes = 13 * np.array(suits)
            found += [_exchange(lanes + one, lanes + one + 1) for one in TENS[:-1]]
    return found


def _exchange(ones: np.ndarray | list[int], others: np.ndarray | list[int]) -> np.ndarray:
    """The renaming that exchanges some cards for others, one by one."""
    renamed = np.arange(NUM_CARDS)
    renamed[ones], renamed[others] = others, ones
    return renamed


def whole_deck(rules: Rules) -> list[int]:
    """The cards of the deck in use, sorted."""
    plain = [13 * suit + rank for suit in range(4) for rank in range(rules.low_rank - 2, 13)]
    return plain + [LOWEST_JOKER + joker for joker in range(rules.jokers)]


def all_hands(rules: Rules, size: int) -> np.ndarray:
    """int64[H, size]: every hand of so many cards."""
    return np.array(list(combinations(whole_deck(rules), size)), np.int64)


def indices_of(hands: np.ndarray) -> np.ndarray:
    """int64[H]: the indices of hands, int64[H, size]."""
    places = np.sort(_POSITION[hands], axis=1)
    parts = [INDEX_PARTS[nth, _PLACES[places[:, nth - 1]]] for nth in range(1, hands.shape[1] + 1)]
    return np.sum(parts, axis=0, dtype=np.int64)


def sets_of(hands: np.ndarray) -> np.ndarray:
    """int64[H]: hands, int64[H, size], as sets."""
    return np.bitwise_or.reduce(BIT[hands], axis=1)


def number_of_hands(size: int) -> int:
    """How many indices hands of so many cards have, N."""
    return comb(NUM_CARDS, size)


def _joined(
    members: np.ndarray, images: list[np.ndarray], size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Join what exchanges turn into each other.

    Args:
        members: int[M], the indices in use.
        images: int[M] for each exchange: the index that a member becomes.
        size: all indices.

    Returns:
        int64[K], the place among the members of the first one of each class; int32[size], the class
        of each index, −1 for those not in use; int64[K], the number of members.
    """
    joined = np.arange(size, dtype=np.int32)
    changed = True
    while changed:
        before = joined[members]
        for image in images:
            joined[members] = np.minimum(joined[members], joined[image])
        joined[members] = joined[joined[members]]
        changed = not np.array_equal(before, joined[members])
    numbers = np.full(size, -1, np.int32)
    _, first, numbers[members], sizes = np.unique(
        joined[members], return_index=True, return_inverse=True, return_counts=True
    )
    return first, numbers, sizes


def _fields_that_matter(rules: Rules) -> Rules:
    """The same rules but for what no class depends on."""
    return Rules(
        max_players=2,
        low_rank=rules.low_rank,
        jokers=rules.jokers,
        three_of_a_kind=rules.three_of_a_kind and 30,
        suited_run=rules.suited_run,
        ties=rules.ties,
    )


def hand_classes(rules: Rules, size: int | None = None) -> Classes:
    """The classes of hands.

    Args:
        rules: the rules.
        size: cards in a hand, 1 … 4; None: as the rules deal.
    """
    return _hand_classes(_fields_that_matter(rules), rules.hand_size if size is None else size)


@lru_cache(16)
def _hand_classes(rules: Rules, size: int) -> Classes:
    hands = all_hands(rules, size)
    images = [indices_of(renamed[hands]) for renamed in renamings(rules)]
    first, numbers, sizes = _joined(indices_of(hands), images, number_of_hands(size))
    return _kept(numbers, hands[first], np.full(len(first), NO_CARD), sizes)


def upcard_classes(rules: Rules, size: int | None = None) -> Classes:
    """The classes of hands with an open card beside.

    Args:
        rules: the rules.
        size: cards in a hand, 1 … 4; None: as the rules deal.
    """
    return _upcard_classes(_fields_that_matter(rules), rules.hand_size if size is None else size)


@lru_cache(4)
def _upcard_classes(rules: Rules, size: int) -> Classes:
    hands, deck = all_hands(rules, size), whole_deck(rules)
    hands, cards = np.repeat(hands, len(deck), axis=0), np.tile(deck, len(hands))
    apart = (hands != cards[:, None]).all(axis=1)
    hands, cards = hands[apart], cards[apart]
    members, total = indices_of(hands) * NUM_CARDS + cards, number_of_hands(size) * NUM_CARDS
    images = [
        (indices_of(renamed[hands]) * NUM_CARDS + renamed[cards]).astype(np.int32)
        for renamed in renamings(rules)
    ]
    first, numbers, sizes = _joined(members, images, total)
    return _kept(numbers.reshape(-1, NUM_CARDS), hands[first], cards[first], sizes)


def _kept(number: np.ndarray, hands: np.ndarray, cards: np.ndarray, sizes: np.ndarray) -> Classes:
    """The classes, safe from being written to by one who shares them."""
    classes = Classes(number, sets_of(hands), cards.astype(np.int8), sizes)
    for array in classes:
        array.setflags(write=False)
    return classes
