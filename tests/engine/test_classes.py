"""Classes of hands: as many as counted by hand, and nothing in the rules tells members apart."""

import random
from collections import Counter

import numpy as np
import pytest

from tests.engine.house_rules import random_house_rules
from tests.engine.situations import fresh_seed
from thirtyone_env._jit import entry
from thirtyone_env.cards import BIT, cards_of, hand_strength
from thirtyone_env.classes import (
    hand_classes,
    hand_index,
    number_of_hands,
    upcard_classes,
    whole_deck,
)
from thirtyone_env.rules import PRESETS, Rules
from thirtyone_env.state import new_states

SEVERAL = ("danish", "swedish", "finnish", "danish_straight", "danish_joker", "schwimmen_a7")


@entry
def index_of(cards: int) -> int:
    return hand_index(cards)


@entry
def strength_of(states, cards: int) -> int:
    state = states[0]
    return hand_strength(cards, state.rules)


def strength(cards: int, rules: Rules) -> int:
    return strength_of(new_states(rules, 2, 1), cards)


def test_the_danish_classes_are_as_many_as_counted():
    rules = PRESETS["danish"]
    assert len(hand_classes(rules, 3).sizes) == 831
    assert len(upcard_classes(rules, 3).sizes) == 23_178
    assert len(hand_classes(rules, 4).sizes) == 6_208


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_every_hand_is_in_one_class(name, size):
    rules = PRESETS[name]
    classes, deck = hand_classes(rules, size), whole_deck(rules)
    there = classes.number[classes.number >= 0]
    assert np.array_equal(np.bincount(there), classes.sizes)
    assert (
        len(there)
        == np.prod(np.arange(len(deck) - size + 1, len(deck) + 1)) // [1, 1, 2, 6, 24][size]
    )
    found = [classes.number[index_of(hand)] for hand in classes.hands]
    assert found == list(range(len(classes.hands)))


def test_indices_run_through_all_sets_of_cards():
    seen = {index_of(int(a | b)) for n, a in enumerate(BIT) for b in BIT[:n]}
    assert seen == set(range(number_of_hands(2)))


def after(rules: Rules, hand: int, card: int) -> tuple[tuple[int, int], ...]:
    """The hands that a hand may become with one more card: class and whether that card went."""
    numbers, more = hand_classes(rules).number, hand | int(BIT[card])
    return tuple(
        sorted((int(numbers[index_of(more ^ int(BIT[c]))]), int(c == card)) for c in cards_of(more))
    )


def future(rules: Rules, hand: int) -> tuple[int, Counter[tuple[tuple[int, int], ...]]]:
    """The strength of a hand, and how often which hands may come of it."""
    unseen = [card for card in whole_deck(rules) if not hand & int(BIT[card])]
    return strength(hand, rules), Counter(after(rules, hand, card) for card in unseen)


def check_rules(rules: Rules, rng: random.Random, hands: int) -> None:
    """Members of a class have the same future; also with an open card beside."""
    classes, deck = hand_classes(rules), whole_deck(rules)
    beside = upcard_classes(rules) if rules.hand_size == 3 else None
    for _ in range(hands):
        cards = rng.sample(deck, rules.hand_size + 1)
        hand, card = int(sum(BIT[c] for c in cards[1:])), cards[0]
        first = int(classes.hands[classes.number[index_of(hand)]])
        assert future(rules, hand) == future(rules, first)
        if beside is not None:
            number = beside.number[index_of(hand), card]
            first, other = int(beside.hands[number]), int(beside.cards[number])
            assert after(rules, hand, card) == after(rules, first, other)


@pytest.mark.parametrize("name", [*SEVERAL, "danish_four_cards"])
def test_members_of_a_class_have_the_same_future(name):
    check_rules(PRESETS[name], random.Random(fresh_seed()), 20)


def test_the_same_under_house_rules():
    rng = random.Random(fresh_seed())
    for _ in range(8):
        check_rules(random_house_rules(rng)[0], rng, 5)
