"""Two million decisions over all presets: no record breaks the rules, and every branch is met.

The branches, and the play that reaches them, are in `branches`; the independent checker counts.
"""

import random
import sys
from collections import Counter

import pytest

from tests.engine.branches import (
    BRANCHES,
    ENOUGH,
    PATIENT,
    SELDOM,
    all_rules,
    branches_of,
    directed_play,
    missing,
    ordinary_play,
    runs_for,
    written,
)
from tests.engine.house_rules import random_house_rules
from tests.engine.situations import checked, fresh_seed
from thirtyone_env.record import play_match
from thirtyone_env.rules import PRESETS, Rules

DECISIONS = 2_000_000 // len(PRESETS) + 1
FAST_DECISIONS = 600


def house_play(decisions: int, seed: int) -> Counter[str]:
    """So many decisions under house rules that change from match to match."""
    rng, tally = random.Random(seed), Counter[str]()
    while tally["decisions"] < decisions:
        rules, seats = random_house_rules(rng)
        bots = rng.choices(("random", "random", "danish", *PATIENT), k=seats)
        tally += checked(play_match(rules, bots, seed=seed, deal=tally["matches"]))
    return tally


def impossible(rules: Rules, tally: Counter[str]) -> list[str]:
    """Branches that occurred although the rules do not have them."""
    never = (name for name, has in BRANCHES.items() if not has(rules))
    return [name for name in never if tally[name] and not SELDOM.get(name, has_not)(rules)]


def has_not(rules: Rules) -> bool:
    return False


def test_a_few_matches_of_every_preset_follow_the_rules():
    seed, tally = fresh_seed(), Counter[str]()
    for name, rules in PRESETS.items():
        played = ordinary_play(rules, FAST_DECISIONS, seed)
        assert impossible(rules, played) == [], name
        tally += played
    # The rarer ends need directed matches (below) and millions of decisions (the slow test).
    assert all(tally[f"end:{end}"] for end in ("knock", "blitz")), tally


@pytest.mark.parametrize("name", ["danish", "dutch_buy_in", "schwimmen_german"])
def test_directed_matches_follow_the_rules(name):
    rng = random.Random(fresh_seed())
    for run in runs_for(PRESETS[name]):
        for _ in range(4):
            run.play(PRESETS[name], rng)


def test_matches_under_house_rules_follow_the_rules():
    assert house_play(15_000, fresh_seed())["matches"] > 20


def test_every_branch_is_had_by_some_rules():
    had = {branch for rules in all_rules().values() for branch in branches_of(rules)}
    assert had == set(BRANCHES)


def test_a_missing_branch_is_noticed():
    rules = PRESETS["danish_reshuffle"]
    tally = Counter(dict.fromkeys(BRANCHES, ENOUGH))
    assert missing(rules, tally) == []
    tally["reshuffle"] = ENOUGH - 1
    assert missing(rules, tally) == ["reshuffle"]
    assert missing(PRESETS["danish"], tally) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", list(all_rules()))
def test_every_branch_occurs_a_hundred_times(name):
    rules, seed = all_rules()[name], fresh_seed()
    tally = ordinary_play(rules, DECISIONS, seed)
    tally = directed_play(rules, tally, seed)
    sys.stdout.write(written({name: tally}) + "\n")
    assert impossible(rules, tally) == []
    assert {branch: tally[branch] for branch in missing(rules, tally)} == {}


@pytest.mark.slow
def test_many_matches_under_house_rules_follow_the_rules():
    tally = house_play(400_000, fresh_seed())
    assert tally["decider_draw"]
    assert tally["return_upcard"]
