"""Strange input: refused by name with nothing changed, or taken for what it is."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.env.helpers import BOTS, DRAW, PASS, UPCARD, content, generator, stock_of
from thirtyone_env import (
    PRESETS,
    Rules,
    env,
    game,
    hand_points,
    legal_actions,
    legal_mask,
    make_bot,
    new_match,
    parse_action,
    resample_hidden,
    resolve_rules,
    set_next_cards,
    step,
)
from thirtyone_env.cards import NAMES, names_of

HUGE = 10**400


# --- rules --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *((name, value) for name in ("lives", "low_rank") for value in (0, 10, -1, 2.5, "3", None)),
        *(("lives", value) for value in (True, [3], HUGE, -HUGE, np.nan, np.inf, 3j, np.array(3))),
        *(
            ("min_knock", value)
            for value in (-1, 20.25, 31.5, 50, HUGE, np.inf, np.nan, "17", None)
        ),
        *(("min_knock", value) for value in (True, [17], Fraction(17))),
        *(("family", value) for value in ("card", None, 1, ["draw"], "Draw")),
        *(("three_of_a_kind", value) for value in (0, 29, 30.25, True, "30", [30])),
        *(("free_ride", value) for value in (0, 1, "yes", None)),
        *(("jokers", value) for value in (-1, 5)),
        *(("max_turns", value) for value in (0, 30_001, 0.5)),
        *(("max_rounds", value) for value in (0, 1_000_001)),
        *(("blitz_value", value) for value in (30, 41, 0)),
        *(("dealer_choice", value) for value in (True,)),
        *(("fire_loss", value) for value in ("nobody", 0)),
        *(("min_players", value) for value in (1, 10)),
        *(("max_players", value) for value in (1, 10)),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_rule_that_cannot_be_is_refused_by_name(field, value):
    with pytest.raises(ValueError, match=f"^{field} = .* is not allowed; allowed: "):
        Rules(**{field: value})


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"hand_size": 4}, "blitz_value"),
        ({"hand_size": 4, "blitz_value": 41, "family": "exchange"}, "hand_size"),
        ({"min_players": 5, "max_players": 4}, "min_players"),
        ({"low_rank": 9}, "max_players"),
        ({"family": "exchange", "stock_out": "continue"}, "stock_out"),
        ({"family": "exchange", "low_rank": 7, "max_players": 8}, None),
        ({"family": "exchange", "low_rank": 7, "max_players": 9}, None),
        ({"family": "exchange", "low_rank": 9, "max_players": 8}, "max_players"),
    ],
    ids=str,
)
def test_rules_that_do_not_go_together_are_refused(fields, named):
    if named is None:
        assert Rules(**fields).seats_that_fit >= fields["max_players"]
        return
    with pytest.raises(ValueError, match=f"^{named} = "):
        Rules(**fields)


def test_numbers_come_in_every_form():
    plain = Rules(lives=2, min_knock=20.5, max_rounds=7, free_ride=True)
    forms = [
        Rules(lives=np.int8(2), min_knock=np.float32(20.5), max_rounds=7.0, free_ride=np.True_),
        Rules.from_dict(plain.to_dict()),
        resolve_rules({"lives": 2.0, "min_knock": 20.5, "max_rounds": 7, "free_ride": True}),
    ]
    for rules in forms:
        assert rules == plain
        assert hash(rules) == hash(plain)
        assert repr(rules) == repr(plain)
        assert rules.record.tobytes() == plain.record.tobytes()


@pytest.mark.parametrize(
    "rules", ["", "Danish", {"preset": ["danish"]}, {"preset": None}, {1: 2}, {"live": 2}, {"": 1}]
)
def test_unknown_rules_are_refused(rules):
    with pytest.raises(ValueError, match=r"^unknown"):
        resolve_rules(rules)


@pytest.mark.parametrize("rules", [None, 5, b"danish", ["danish"], [("lives", 3)]])
def test_what_is_no_rules_is_refused(rules):
    for call in (resolve_rules, lambda r: env(rules=r), lambda r: new_match(r, 2)):
        with pytest.raises(TypeError, match=r"expected a preset's name, a Rules, or a mapping"):
            call(rules)


# --- hands and bots -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cards", "points"),
    [
        ("Kh 9h 4c", 19),
        (["Kh", "9h", "4c"], 19),
        (("4c", "Kh", "9h"), 19),
        ("Kh,9h,4c", 19),
        (np.array(["Kh", "9h", "4c"]), 19),
        ("7h 7c 7s", 30.5),
        ("As Ks Qs", 31),
    ],
    ids=str,
)
def test_a_hand_comes_in_every_form(cards, points):
    assert hand_points(cards, "dutch") == points


@pytest.mark.parametrize(
    ("cards", "rules"),
    [
        *(("", "danish"), ("Kh 9h", "danish"), ("Kh 9h 4c 2c", "danish")),
        *(("Kh Kh 4c", "danish"), ("Kh 9h Zz", "danish"), ("kh 9h 4c", "danish")),
        *(("X1 9h 4c", "danish"), ("2h 3h 4c", "schwimmen_a7"), ("Kh 9h 4c", "danish_four_cards")),
        *(([1, 2, 3], "danish"), ([None] * 3, "danish")),
    ],
    ids=str,
)
def test_what_is_no_hand_is_refused(cards, rules):
    with pytest.raises(ValueError, match="card"):
        hand_points(cards, rules)


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", "Random", "random ", "random:", "random:3", "external", "knock", "threshold"),
        *("threshold:", "threshold:T", "threshold:25.25", "threshold:-1", "threshold:61"),
        *("threshold:nan", "threshold:inf", "threshold:1e400", "threshold:21,25", "threshold:,"),
        *("threshold_by_turn:" + ",".join(["25"] * 9), "threshold_by_turn:21,,25"),
        *(None, 5, b"random", ["random"]),
    ],
)
def test_what_is_no_bot_is_refused(name):
    with pytest.raises(ValueError, match=r"bot|decides outside"):
        make_bot(name)


@pytest.mark.parametrize("name", BOTS)
def test_a_bot_changes_nothing_but_its_own_stream(name):
    table = env(num_players=3)
    table.reset(seed=1)
    before = game.clone(table._states)
    make_bot(name).act(table)
    seat = int(before["seat"][0])
    if name == "random":
        assert table._states["policy_streams"][0, seat] != before["policy_streams"][0, seat]
        before["policy_streams"][0, seat] = table._states["policy_streams"][0, seat]
    assert content(table._states) == content(before)


def test_a_bot_plays_this_game_only():
    with pytest.raises(TypeError, match="not an environment of thirtyone_env"):
        make_bot("random").act(object())


# --- single matches -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("seed", value) for value in (-1, 1 << 64, 1.5, "7", True, None, np.nan)),
        *(("match", value) for value in (-1, 1 << 63, 1.5, "7", True, None)),
        *(("dealer", value) for value in (2, -1, 1.0, True, "0")),
        *(("lives", value) for value in (3, [3], [3, 0], [3, 10], [3, 3.0], "33", [[3, 3]])),
        *(("deck", value) for value in ("Zz", "Kh Kh", [1.5], [True], ["Kh", 3], 5, [56], "X1")),
        *(("num_players", value) for value in (1, 10, 2.0, "2", True, None)),
    ],
    ids=str,
)
def test_a_match_that_cannot_be_is_refused_by_name(name, value):
    options: dict[str, Any] = {"num_players": 2} | {name: value}
    with pytest.raises(ValueError, match=f"{name}|card"):
        new_match("danish", **options)


def test_a_match_comes_from_every_form_of_rules():
    expected = content(new_match(PRESETS["danish"], 2, seed=3, match=4))
    for rules in ("danish", {"preset": "danish"}, PRESETS["danish"].to_dict()):
        states = new_match(rules, np.int64(2), seed=np.uint64(3), match=4)
        assert content(states) == expected


@pytest.mark.parametrize(
    "action", [2.5, 0.0, True, None, np.nan, "knock", [1], -1, 65, HUGE, np.float64(0), np.bool_(1)]
)
def test_what_is_no_action_leaves_the_match_alone(action):
    states = new_match("danish", 2, seed=1)
    before = content(states)
    with pytest.raises(ValueError, match=r"^action "):
        step(states, action)
    assert content(states) == before


def test_a_match_that_is_over_takes_no_action():
    states = new_match("danish", 2, seed=1, lives=[1, 1], deck="As 2c Ks 3d Qs 4h", dealer=0)
    assert game.is_over(states)
    before = content(states)
    assert legal_actions(states) == []
    assert not legal_mask(states).any()
    for action in range(65):
        with pytest.raises(ValueError, match="the match is over"):
            step(states, action)
    assert content(states) == before


@pytest.mark.parametrize("seat", [-1, 2, 99, 1.0, "0", None, True])
def test_only_seats_can_look(seat):
    states = new_match("danish", 2, seed=1)
    before = content(states)
    for call in (
        lambda: game.observe(states, seat),
        lambda: game.observe(states, seat, "compact"),
        lambda: resample_hidden(states, seat, np.random.default_rng(1)),
    ):
        with pytest.raises(ValueError, match=r"^seat = .* is not allowed; allowed: 0 … 1"):
            call()
    assert content(states) == before


def test_only_formats_and_kinds_that_there_are():
    states = new_match("danish", 2, seed=1)
    with pytest.raises(ValueError, match="observation format 'image'"):
        game.observe(states, 0, "image")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="payoff 'points'"):
        game.payoffs(states, "points")  # type: ignore[arg-type]


# --- the next cards -----------------------------------------------------------------------------


@pytest.mark.parametrize("rules", [name for name in PRESETS if PRESETS[name].family == "draw"])
def test_the_stock_yields_the_cards_that_were_set(rules):
    rng = generator("next cards", rules)
    for _ in range(5):
        states = new_match({"preset": rules, "blitz_loss": "lowest"}, 2, seed=int(rng.integers(99)))
        for _ in range(int(rng.integers(3))):
            resample_hidden(states, int(rng.integers(2)), rng)
        whole = sorted(stock_of(states))
        wanted = [NAMES[card] for card in rng.permutation(whole)[:6]]
        set_next_cards(states, wanted[:3])
        set_next_cards(states, wanted)
        assert sorted(stock_of(states)) == whole
        for card in wanted:
            step(states, DRAW)
            assert NAMES[int(states["drawn"][0])] == card
            step(states, 9 + int(states["drawn"][0]))


@pytest.mark.parametrize("choice", ["keep", "refuse"])
def test_the_table_yields_the_cards_that_were_set(choice):
    states = new_match("schwimmen_a7", 2, deck="7c 8d 7h 8h 9s 9c", dealer=0)
    set_next_cards(states, "Ad Kh Qc Js Td 9d")
    step(states, parse_action(choice))
    laid, held = names_of(states["table"][0]), names_of(states["hands"][0, 0])
    assert (laid if choice == "keep" else held) == ["Qc", "Ad", "Kh"]
    step(states, PASS)
    step(states, PASS)
    assert names_of(states["table"][0]) == ["9d", "Td", "Js"]


@pytest.mark.parametrize("cards", ["Zz", "Kh Kh", [5], ["Kh", None], "X1"])
def test_next_cards_must_be_cards_of_the_stock(cards):
    states = new_match("danish", 2, seed=1, deck="2c 3c 4c 5d 6d 7d 8h")
    with pytest.raises(ValueError, match=r"card|X1"):
        set_next_cards(states, cards)
    for card in ("2c", "5d", "8h"):
        with pytest.raises(ValueError, match=f"{card} is not in the stock"):
            set_next_cards(states, card)
    step(states, UPCARD)
