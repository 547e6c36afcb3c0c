"""Hand values and the order of hands, against the brute-force scorer, and the facts of the rules.

Every hand of every preset's deck is compared, random hands under random house rules besides. The
order is right where equal keys have equal strengths and sorting by either gives the same order.
"""

import random
from itertools import combinations, pairwise
from math import comb

import numpy as np
import pytest

import thirtyone_env
from tests.engine.situations import fresh_seed
from tests.independent import scorer
from thirtyone_env._jit import entry
from thirtyone_env.cards import BIT, NAMES, hand_strength, hand_value, parse_cards
from thirtyone_env.rules import PRESETS, Rules
from thirtyone_env.state import new_states

SCORING = ("low_rank", "jokers", "hand_size", "three_of_a_kind", "three_aces", "suited_run", "ties")


@entry
def judge_hands(states, hands, values, strengths):
    """Value and strength of every hand under the rules of one state."""
    state = states[0]
    for place in range(len(hands)):
        values[place] = hand_value(hands[place], state.rules)
        strengths[place] = hand_strength(hands[place], state.rules)


def deck_of(rules: Rules) -> list[int]:
    plain = [13 * suit + rank for suit in range(4) for rank in range(rules.low_rank - 2, 13)]
    return plain + list(range(52, 52 + rules.jokers))


def all_hands(rules: Rules) -> np.ndarray:
    """int8[N, hand_size]: every hand of the deck."""
    return np.array(list(combinations(deck_of(rules), rules.hand_size)), np.int8)


def judged(hands: np.ndarray, rules: Rules) -> tuple[np.ndarray, np.ndarray]:
    """Values and strengths of int8[N, hand_size] by the engine."""
    values, strengths = np.zeros(len(hands), np.int64), np.zeros(len(hands), np.int64)
    states = new_states(rules, rules.min_players, 1)
    judge_hands(states, np.bitwise_or.reduce(BIT[hands], axis=1), values, strengths)
    return values, strengths


def compare_with_scorer(hands: np.ndarray, rules: Rules) -> None:
    fields = rules.to_dict()
    names = [[NAMES[card] for card in hand] for hand in hands.tolist()]
    keys = [scorer.order_key(hand, fields) for hand in names]
    values, strengths = judged(hands, rules)
    wrong = [
        (hand, value, key)
        for hand, value, key in zip(names, values.tolist(), keys, strict=True)
        if value != key[0]
    ]
    assert not wrong, (rules, wrong[:5])
    # Equal strength wherever keys are equal, and rising strictly with the key otherwise.
    pairs = sorted(set(zip(keys, strengths.tolist(), strict=True)))
    broken = [pair for pair in pairwise(pairs) if pair[0][1] >= pair[1][1]]
    assert not broken, (rules, broken[:5])
    assert len({key for key, _ in pairs}) == len(pairs)


def scoring_of(rules: Rules) -> tuple[object, ...]:
    return tuple(getattr(rules, name) for name in SCORING)


DISTINCT = {scoring_of(rules): name for name, rules in reversed(PRESETS.items())}
THREE_CARDS = sorted(name for name in DISTINCT.values() if PRESETS[name].hand_size == 3)
FOUR_CARDS = sorted(name for name in DISTINCT.values() if PRESETS[name].hand_size == 4)


def test_every_preset_scores_like_one_that_is_compared_here():
    compared = {scoring_of(PRESETS[name]) for name in THREE_CARDS + FOUR_CARDS}
    assert {scoring_of(rules) for rules in PRESETS.values()} == compared


@pytest.mark.parametrize("name", THREE_CARDS)
def test_all_hands_of_three_cards(name):
    hands = all_hands(PRESETS[name])
    assert len(hands) == comb(PRESETS[name].deck_size, 3)
    compare_with_scorer(hands, PRESETS[name])


@pytest.mark.parametrize("name", FOUR_CARDS)
def test_all_hands_of_four_cards(name):
    hands = all_hands(PRESETS[name])
    assert len(hands) == 270_725
    compare_with_scorer(hands, PRESETS[name])


def random_scoring(rng: random.Random) -> Rules:
    """House rules that bear on values only."""
    four = rng.random() < 0.4
    return Rules(
        low_rank=rng.randint(2, 9),
        jokers=rng.randint(0, 4),
        hand_size=4 if four else 3,
        blitz_value=41 if four else 31,
        three_of_a_kind=rng.choice([None, 30, 30.5]),
        three_aces=rng.choice([None, 31, 32, 33]),
        suited_run=rng.choice([None, 30]),
        ties=rng.choice(["share", "suit"]),
        max_players=2,
    )


def random_hands(rng: random.Random, rules: Rules, number: int) -> np.ndarray:
    """Hands of which many have jokers, pairs and one suit."""
    deck = deck_of(rules)
    liked = [card for card in deck if card >= 52 or card // 13 == 0 or card % 13 in (12, 5)]
    pools = [deck, deck, liked]
    hands = [sorted(rng.sample(rng.choice(pools), rules.hand_size)) for _ in range(number)]
    return np.array(hands, np.int8)


def compare_house_rules(tables: int, hands: int) -> None:
    rng = random.Random(fresh_seed())
    for _ in range(tables):
        rules = random_scoring(rng)
        compare_with_scorer(random_hands(rng, rules, hands), rules)


def test_random_hands_under_random_house_rules():
    compare_house_rules(60, 120)


@pytest.mark.slow
def test_many_random_hands_under_random_house_rules():
    compare_house_rules(1200, 250)


# --- facts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "number", "worth", "worthy", "mean"),
    [
        ({}, 22_100, 31, 24, 13.08796),
        ({"three_of_a_kind": 30.5}, 22_100, 30.5, 52, 13.14253),
        ({"low_rank": 7, "three_of_a_kind": 30.5, "three_aces": 33}, 4_960, 33, 4, 15.80605),
    ],
)
def test_how_often_dealt_hands_are_worth_what(changes, number, worth, worthy, mean):
    rules = Rules(**changes, max_players=2)
    values, _ = judged(all_hands(rules), rules)
    assert len(values) == number
    assert int((values == 2 * worth).sum()) == worthy
    assert round(values.mean() / 2, 5) == mean


WORKED = """
9h 7h Ks | 16 | 16 | 16 | 16   | -
Ad 8c 4s | 11 | 11 | 11 | 11   | -
As Ks Qs | 31 | 31 | 31 | 31   | 31
7h 7c 7s | 30 | 7  | 7  | 30.5 | 30.5
Th Tc Ts | 30 | 10 | 10 | 30.5 | 30.5
Kh 9h 4c | 19 | 19 | 19 | 19   | -
Kh 8h 5h | 23 | 23 | 23 | 23   | -
Qd Td Jc | 20 | 20 | 20 | 20   | 20
Ah Ac As | 30 | 11 | 31 | 30.5 | 32
7s 8h Kh | 18 | 18 | 18 | 18   | 18
As 7h 8h | 15 | 15 | 15 | 15   | 15
"""
WORKED_RULES = ("danish", "swedish", "finnish", "dutch", "schwimmen_a7")


@pytest.mark.parametrize("line", WORKED.strip().splitlines())
def test_the_worked_values(line):
    hand, *values = [part.strip() for part in line.split("|")]
    for name, value in zip(WORKED_RULES, values, strict=True):
        if value != "-":
            assert thirtyone_env.hand_points(hand, name) == float(value)


def test_a_suited_run_is_worth_30_where_it_counts():
    assert thirtyone_env.hand_points("5s 6s 7s", "danish_straight") == 30
    assert thirtyone_env.hand_points("5s 6s 7s", "danish") == 18
    assert thirtyone_env.hand_points("As 2s 3s", "danish_straight") == 30
    assert thirtyone_env.hand_points("Ks As 2s", "danish_straight") == 23


def test_a_joker_stands_for_cards_of_the_deck_only():
    house = {"preset": "danish", "jokers": 1, "suited_run": 30}
    assert thirtyone_env.hand_points("As 3s X1", house) == 30
    assert thirtyone_env.hand_points("As 3s X1", house | {"low_rank": 3}) == 24


def rising(rules: Rules, *names: str) -> bool:
    """Whether each of some hands is above the one before it."""
    hands = np.array([parse_cards(hand) for hand in names], np.int8)
    _, strengths = judged(hands, rules)
    return bool((np.diff(strengths) > 0).all())


def test_the_order_of_equal_values():
    rules = PRESETS["schwimmen_a7"]
    assert rising(rules, "7h 7c 7s", "Th Tc Ts", "Qh Qc Qs", "Kh Kc Ks", "Ah Ac As")
    assert rising(rules, "Qd Td Jc", "Qh Th Jc", "Qs Ts Jc", "Qc Tc Jd")
    assert rising(rules, "Jd Td 7c", "Qd Td 7c", "Kd Td 7c")
    # Two suits give 10: the better one counts.
    assert rising(rules, "Td Jh 7c", "Td Jh Qs", "Td Jh Tc")
    runs = Rules.preset("schwimmen_a7", suited_run=30, low_rank=2)
    assert rising(runs, "4c 5c 6c", "Ac 2c 3c", "7h 7c 7s")


def test_ties_are_shared_where_the_rules_say_so():
    _, strengths = judged(np.array([[48, 46, 9], [9, 7, 48]], np.int8), PRESETS["danish"])
    assert strengths[0] == strengths[1]
