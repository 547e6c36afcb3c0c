"""A brute-force hand scorer for Thirty-One: slow, literal, without tables.

`rules` is the mapping of rule fields as a match record carries it. Values are half points.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any

Way = tuple[int, int, int, int]
Scoring = tuple[Any, ...]

RANKS = "23456789TJQKA"
SUITS = "cdhs"
SUITS_FROM_LOWEST = "dhsc"
ACE_AT_BOTH_ENDS = "A23456789TJQKA"
RUNS = [frozenset(ACE_AT_BOTH_ENDS[start : start + 3]) for start in range(12)]
POINTS = {"T": 10, "J": 10, "Q": 10, "K": 10, "A": 11} | {str(n): n for n in range(2, 10)}

SUIT_HAND = 0
THREE_OF_A_KIND = 1


def deck(rules: Mapping[str, Any]) -> list[str]:
    """Every card of the deck in use, without the jokers."""
    ranks = [rank for rank in RANKS if rank in "TJQKA" or int(rank) >= rules["low_rank"]]
    return [rank + suit for suit in SUITS for rank in ranks]


def is_joker(card: str) -> bool:
    """Whether a card is a joker."""
    return card.startswith("X")


def ways(cards: Sequence[str], rules: Mapping[str, Any]) -> list[Way]:
    """Every way to count a hand without jokers: half points, kind, then what orders equals."""
    found: list[Way] = []
    for suit in SUITS:
        held = [card[0] for card in cards if card[1] == suit]
        if held:
            points = sum([POINTS[rank] for rank in held])
            highest = max([RANKS.index(rank) for rank in held])
            found.append((2 * points, SUIT_HAND, SUITS_FROM_LOWEST.index(suit), highest))
    for first, second, third in combinations(cards, 3):
        if first[0] == second[0] == third[0]:
            found.extend(_ways_of_a_rank(first[0], rules))
        if rules["suited_run"] is not None and first[1] == second[1] == third[1]:
            found.extend(_ways_of_a_run((first[0], second[0], third[0]), first[1], rules))
    return found


def _ways_of_a_rank(rank: str, rules: Mapping[str, Any]) -> Iterator[Way]:
    """What three cards of one rank may count."""
    if rules["three_of_a_kind"] is not None:
        yield int(2 * rules["three_of_a_kind"]), THREE_OF_A_KIND, RANKS.index(rank), 0
    if rank == "A" and rules["three_aces"] is not None:
        yield int(2 * rules["three_aces"]), THREE_OF_A_KIND, RANKS.index(rank), 0


def _ways_of_a_run(ranks: Sequence[str], suit: str, rules: Mapping[str, Any]) -> Iterator[Way]:
    """What three cards of one suit may count as a sequence."""
    if frozenset(ranks) in RUNS:
        highest = max([RANKS.index(rank) for rank in ranks])
        yield int(2 * rules["suited_run"]), SUIT_HAND, SUITS_FROM_LOWEST.index(suit), highest


def readings(cards: Sequence[str], rules: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """The hand with its jokers replaced by different cards of the deck, in every possible way."""
    naturals = tuple(card for card in cards if not is_joker(card))
    others = [card for card in deck(rules) if card not in naturals]
    for chosen in combinations(others, len(cards) - len(naturals)):
        yield naturals + chosen


def best(cards: Sequence[str], rules: Mapping[str, Any]) -> tuple[Way, tuple[str, ...]]:
    """The highest way to count a hand, and the hand as its jokers then count."""
    if not any(is_joker(card) for card in cards):
        return max(ways(cards, rules)), tuple(cards)
    naturals = tuple(sorted(card for card in cards if not is_joker(card)))
    return _best_with_jokers(naturals, len(cards) - len(naturals), _scoring(rules))


def _scoring(rules: Mapping[str, Any]) -> Scoring:
    """The fields on which the worth of a hand depends."""
    return tuple(
        rules[field] for field in ("low_rank", "three_of_a_kind", "three_aces", "suited_run")
    )


@lru_cache(maxsize=200_000)
def _best_with_jokers(
    naturals: tuple[str, ...], jokers: int, scoring: Scoring
) -> tuple[Way, tuple[str, ...]]:
    """The best of all readings of some cards and a number of jokers."""
    fields = ("low_rank", "three_of_a_kind", "three_aces", "suited_run")
    rules = dict(zip(fields, scoring, strict=True))
    hand = naturals + ("X",) * jokers
    return max((max(ways(reading, rules)), reading) for reading in readings(hand, rules))


def value(cards: Sequence[str], rules: Mapping[str, Any]) -> int:
    """What a hand is worth, in half points."""
    return best(cards, rules)[0][0]


def order_key(cards: Sequence[str], rules: Mapping[str, Any]) -> tuple[int, ...]:
    """Orders hands from the lowest to the highest; equal keys are a tie."""
    way = best(cards, rules)[0]
    return way if rules["ties"] == "suit" else way[:1]


def has_three_aces(cards: Sequence[str], rules: Mapping[str, Any]) -> bool:
    """Whether a hand, its jokers counted at their best, holds three aces."""
    return sum(card[0] == "A" for card in best(cards, rules)[1]) >= 3
