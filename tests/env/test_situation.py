"""Tables put together from what one player knows are tables that play could have led to."""

from __future__ import annotations

import numpy as np
import pytest

from tests.env.helpers import EVERY_TABLE, cards_on_table, generator, whole_deck
from thirtyone_env import PRESETS, game
from thirtyone_env.cards import NAMES, names_of, set_of
from thirtyone_env.engine.hidden import MAX_TRIES
from thirtyone_env.search import judge
from thirtyone_env.situation import situation

HAND = "Kh 9h 4c"


def told(rules: str, num_players: int, rng: np.random.Generator) -> dict[str, object]:
    """Something that a player may tell of a table."""
    preset = PRESETS[rules]
    cards = [NAMES[card] for card in rng.permutation(whole_deck(preset))]
    position, turn = int(rng.integers(1, num_players + 1)), int(rng.integers(1, 5))
    others = [who for who in range(1, num_players + 1) if who != position]
    before = [who for who in others if turn > 1 or who < position]
    facts: dict[str, object] = {
        "hand": [cards.pop() for _ in range(preset.hand_size)],
        "position": position,
        "turn": turn,
        "discards": [cards.pop() for _ in range(int(rng.integers(3)))],
        "taken": {int(rng.choice(others)): [cards.pop()]} if rng.random() < 0.5 else None,
        "knocked_by": int(rng.choice(before)) if before and rng.random() < 0.5 else None,
        "seed": int(rng.integers(1 << 30)),
    }
    if preset.family == "exchange":
        facts["table"] = [cards.pop() for _ in range(3)]
    else:
        facts["upcard"] = cards.pop()
    return facts


@pytest.mark.parametrize(("rules", "num_players"), EVERY_TABLE)
def test_what_was_told_is_on_the_table_and_the_match_goes_on(rules, num_players):
    rng = generator("told", rules, num_players)
    for _ in range(10):
        facts = told(rules, num_players, rng)
        if game.hand_points(facts["hand"], rules) >= 31:
            continue
        states = situation(rules, num_players, **facts)
        seat = facts["position"] - 1
        assert sorted(cards_on_table(states)) == whole_deck(PRESETS[rules])
        assert states["seat"][0] == seat
        assert set(names_of(states["hands"][0, seat])) == set(facts["hand"])
        assert set(names_of(states["pile"][0])) == set(facts["discards"])
        for who, cards in (facts["taken"] or {}).items():
            assert set(cards) <= set(names_of(states["hands"][0, who - 1]))
        assert states["knocker"][0] == (facts["knocked_by"] or 0) - 1
        assert states["own_turns"][0, seat] == facts["turn"] - 1
        if states["upcard"][0] >= 0:
            assert NAMES[int(states["upcard"][0])] == facts["upcard"]
        for _ in range(200):
            if game.is_over(states):
                break
            game.step(states, int(rng.choice(game.legal_actions(states))))


def test_the_same_facts_and_seed_give_the_same_table():
    tables = [situation("danish", 4, hand=HAND, upcard="7d", seed=seed) for seed in (1, 1, 2)]
    assert tables[0].tobytes() == tables[1].tobytes()
    assert tables[0]["hands"].tolist() != tables[2]["hands"].tolist()
    assert judge(tables[0], deals=5).payoffs.tolist() == judge(tables[1], deals=5).payoffs.tolist()


def test_a_knocker_holds_what_it_must():
    least = PRESETS["danish"].min_knock
    rules = {"preset": "danish", "min_knock": 27}
    states = situation(rules, 2, hand=HAND, upcard="7d", turn=2, knocked_by=2)
    assert least < 27
    assert game.value_of(states, int(states["hands"][0, 1])) >= 54


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"hand": "Kh 9h"}, "hand: 2 cards; under these rules there are 3"),
        ({"hand": "Kh Kh 4c"}, "hand: "),
        ({"hand": "Kh Kx 4c"}, "hand: "),
        ({"hand": "Ah Kh Qh"}, "is a blitz"),
        ({"upcard": "9h"}, "9h is in hand and in upcard"),
        ({"discards": "4c"}, "4c is in hand and in discards"),
        ({"table": "2c 3c 4d"}, "table: 3 cards; under these rules there are 0"),
        ({"position": 5}, "position = 5"),
        ({"turn": 0}, "turn = 0"),
        ({"knocked_by": 1}, "knocked_by = 1"),
        ({"knocked_by": 2}, "knocked_by = 2"),
        ({"taken": {1: "2c"}}, "taken: player 1"),
        ({"taken": {2: "2c 3c 5c 6c"}}, "taken by player 2: 4 cards"),
        ({"lives": [3]}, "lives"),
    ],
)
def test_errors_name_the_value(facts, message):
    with pytest.raises(ValueError, match=message.replace("(", "\\(")):
        situation("danish", 4, **{"hand": HAND, "upcard": "7d"} | facts)


def test_the_exchange_family_has_a_table_and_no_upcard():
    with pytest.raises(ValueError, match="give table="):
        situation("schwimmen_a7", 3, hand="Kh 9h 8c", upcard="7d", table="7c 8h 9c")
    with pytest.raises(ValueError, match="table: 0 cards"):
        situation("schwimmen_a7", 3, hand="Kh 9h 8c")
    states = situation("schwimmen_a7", 3, hand="Kh 9h 8c", table="7d 8h 9c")
    assert int(states["table"][0]) == set_of([NAMES.index(name) for name in ("7d", "8h", "9c")])


def test_what_cannot_be_is_refused():
    assert MAX_TRIES >= 1_000_000
    rules = {"preset": "danish", "min_knock": 31}
    with pytest.raises(ValueError, match="no hidden cards go with this"):
        situation(
            rules,
            2,
            hand="Ah As Ac",
            upcard="Ad",
            discards="Kh Qh Jh Th Kd Qd Jd Td",
            turn=2,
            knocked_by=2,
        )
