"""House rules at random, at tables of any size, in every form that the environment has."""

from __future__ import annotations

import random

import numpy as np
import pytest

import thirtyone_env
from tests.engine.house_rules import random_house_rules
from tests.env.helpers import (
    cards_on_table,
    generator,
    scaled,
    some_player,
    turns,
    whole_deck,
    whole_episode,
)


def play_house_rules(number: int) -> None:
    rng = generator("house rules", number)
    names = random.Random(int(rng.integers(1 << 60)))
    for _ in range(number):
        rules, seats = random_house_rules(names)
        env = thirtyone_env.env(
            rules=rules,
            num_players=seats,
            reward=names.choice(["match", "lives", "equity"]),
            episode=names.choice(["match", "match", "round"]),
            observation_format=names.choice(["full", "compact"]),
            action_format=names.choice(["card", "slot"]),
            canonical_suits=names.choice([False, True]),
        )
        whole_episode(env, some_player(rng, seats), names.randrange(1 << 60))
        env.reset()
        for step, (agent, (seen, *_)) in enumerate(turns(env, some_player(rng, seats))):
            assert env.observation_space(agent).contains(seen)
            assert np.isfinite(seen["observation"]).all()
            if env._states["phase"][0] < 5:
                assert sorted(cards_on_table(env._states)) == whole_deck(rules)
            if step > 200:
                break


def test_house_rules_play_in_the_environment():
    play_house_rules(40)


@pytest.mark.slow
def test_many_house_rules_play_in_the_environment():
    play_house_rules(scaled(4000))
