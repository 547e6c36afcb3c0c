"""The PettingZoo environment: its contract, rewards, options, refusals, formats and copies."""

from __future__ import annotations

import copy
import random
import warnings
from itertools import permutations
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.utils import wrappers

import thirtyone_env
from tests.env.helpers import (
    BOTS,
    DRAW,
    EVERY_TABLE,
    KNOCK,
    PASS,
    UPCARD,
    at_random,
    by_bots,
    content,
    deal,
    generator,
    play,
    play_some,
    same_seen,
    scaled,
    shuffled_deck,
    snapshot,
    some_player,
    turns,
    unhurried,
    whole_episode,
)
from thirtyone_env import PRESETS, Rules, game, make_bot
from thirtyone_env.actions import NUM_ACTIONS, NUM_SLOT_ACTIONS, action_name, parse_action
from thirtyone_env.observation import slices
from thirtyone_env.record import check, dump
from thirtyone_env.state import Phase

KINDS = ("match", "lives", "equity")
EPISODES = ("match", "round")
EXPECTED_WARNINGS = (
    "Observation is not a NumPy array",  # these two: the observation is a dictionary
    "Observation space for each agent probably should be gymnasium.spaces.box",
    "Action mask numpy array is all zeros",  # of a finished agent
    "reset options ['options'] are unknown and ignored",
)
FORMATS = [
    {"action_format": "slot"},
    {"canonical_suits": True},
    {"action_format": "slot", "canonical_suits": True},
]
SHARED_TIES = [name for name in PRESETS if PRESETS[name].ties == "share"]


def env(rules: Any = "danish", num_players: int = 2, **options: Any) -> Any:
    return thirtyone_env.env(rules=rules, num_players=num_players, **options)


def dealt(
    rules: Any, hands: list[str], *, then: str = "", lives: Any = None, **options: Any
) -> Any:
    """An environment in which seat 0 has dealt these hands."""
    table = env(rules, len(hands), **options)
    situation = {"dealer": 0, "deck": deal(hands, 0, then)}
    table.reset(seed=5, options=situation if lives is None else situation | {"lives": lives})
    return table


# --- PettingZoo's own tests ---------------------------------------------------------------------


def published_tests(num_cycles: int, **options: Any) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(thirtyone_env.env(**options), num_cycles)
        seed_test(lambda: thirtyone_env.env(**options), num_cycles)
        render_test(lambda **mode: thirtyone_env.env(**options, **mode))
    strange = [w.message for w in caught if not str(w.message).startswith(EXPECTED_WARNINGS)]
    assert strange == []


@pytest.mark.parametrize(("rules", "num_players"), EVERY_TABLE)
def test_the_published_tests_pass(rules, num_players):
    published_tests(100, rules=rules, num_players=num_players)


@pytest.mark.parametrize(
    "options",
    [
        {"episode": "round"},
        {"reward": "equity", "observation_format": "compact"},
        {"rules": "widow", "action_format": "slot", "canonical_suits": True},
        {"rules": "dutch_buy_in", "illegal": "terminate", "render_perspective": "all"},
        {"rules": {"preset": "schwimmen_a7", "lives": 1, "max_rounds": 2}, "reward": "lives"},
    ],
    ids=str,
)
def test_the_published_tests_pass_with_options(options):
    published_tests(200, **options)


@pytest.mark.parametrize(
    "wrapper", [wrappers.OrderEnforcingWrapper, wrappers.AssertOutOfBoundsWrapper]
)
def test_wrapped_environments_play_the_same(wrapper):
    plain, wrapped = env("schwimmen_a7", 3), wrapper(env("schwimmen_a7", 3))
    plain.reset(seed=5)
    wrapped.reset(seed=5)
    bots = by_bots(["danish", "random", "dutch"])
    assert play(plain, bots) == play(wrapped, bots)


# --- rewards ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rules", "num_players"), EVERY_TABLE)
def test_rewards_sum_to_the_payoffs(rules, num_players):
    rng = generator("rewards", rules, num_players)
    for reward in KINDS:
        table = env(rules, num_players, reward=reward)
        whole_episode(table, some_player(rng, num_players), int(rng.integers(1 << 60)))
    table = env(rules, num_players, reward=KINDS[int(rng.integers(3))], episode="round")
    whole_episode(table, some_player(rng, num_players), int(rng.integers(1 << 60)))


@pytest.mark.slow
def test_rewards_sum_to_the_payoffs_in_ten_thousand_matches():
    rng = generator("rewards")
    for number in range(scaled(10_000)):
        rules = list(PRESETS)[number % len(PRESETS)]
        seats = int(rng.integers(2, PRESETS[rules].max_players + 1))
        episode = EPISODES[int(rng.integers(8)) == 0]
        table = env(rules, seats, reward=KINDS[int(rng.integers(3))], episode=episode)
        whole_episode(table, some_player(rng, seats), int(rng.integers(1 << 60)))


@pytest.mark.parametrize("reward", KINDS)
@pytest.mark.parametrize("episode", EPISODES)
def test_rewards_sum_to_the_payoffs_from_any_lives(reward, episode):
    rng = generator("lives", reward, episode)
    for rules in ("danish", "finnish", "dutch_buy_in", "schwimmen_a7"):
        least = 0 if PRESETS[rules].free_ride else 1
        lives = rng.integers(least, 4, 4).tolist()
        table = env(rules, 4, reward=reward, episode=episode)
        table.reset(seed=int(rng.integers(1 << 60)), options={"lives": lives})
        begun = game.payoffs(game.prepare(rules, 4, lives=lives), reward)
        totals = play(table, some_player(rng, 4))
        after = game.payoffs(table._states, reward)
        np.testing.assert_allclose(list(totals.values()), after - begun, atol=1e-12)


def test_the_loser_of_two_gets_minus_one_and_the_winner_one():
    table = dealt("danish", ["2c 5d 8h", "As Kd 3s"], then="2h", lives=[1, 1])
    table.step(KNOCK)
    table.step(PASS)
    seen = {agent: last[1:4] for agent, last in turns(table, at_random(generator()))}
    assert seen == {"player_0": (-1.0, True, False), "player_1": (1.0, True, False)}


def test_lives_rewards_are_the_swing_of_every_round():
    table = dealt("danish", ["2c 5d 8h", "As Kd 3s", "9s 9h 3c"], then="2h", reward="lives")
    table.step(KNOCK)
    table.step(PASS)
    assert table.rewards == dict.fromkeys(table.agents, 0.0)
    table.step(PASS)
    assert table.rewards == {"player_0": -1.0, "player_1": 0.5, "player_2": 0.5}


def test_a_finished_agent_takes_none_only():
    table = dealt("danish", ["2c 5d 8h", "As Kd 3s", "9s 9h 3c"], then="2h", lives=[1, 3, 3])
    for action in (KNOCK, PASS, PASS):
        table.step(action)
    assert table.agent_selection == "player_0"
    assert table.terminations == {"player_0": True, "player_1": False, "player_2": False}
    before = snapshot(table)
    for action in (0, PASS, np.int64(0), np.nan):
        with pytest.raises(ValueError, match="player_0 is finished; its only action is None"):
            table.step(action)
    assert snapshot(table) == before
    table.step(None)
    assert table.agents == ["player_1", "player_2"]
    assert table.agent_selection in table.agents
    assert not table.observe("player_0")["action_mask"].any()


@pytest.mark.parametrize(("rules", "num_players"), EVERY_TABLE)
def test_agents_terminate_in_the_step_that_eliminates_them(rules, num_players):
    rng = generator("eliminated", rules, num_players)
    table = env(rules, num_players)
    table.reset(seed=int(rng.integers(1 << 60)))
    choose = some_player(rng, num_players)
    for _ in turns(table, choose):
        in_play = int(table._states["in_play"][0])
        over = table._states["phase"][0] == Phase.OVER
        for agent in table.agents:
            out = not in_play >> table.possible_agents.index(agent) & 1
            assert table.terminations[agent] or not out
            assert out or over or not table.terminations[agent]


@pytest.mark.parametrize("max_rounds", [1, 2, 3])
@pytest.mark.parametrize("rules", ["danish", "schwimmen_a7", "dutch_buy_in"])
def test_the_cap_on_rounds_truncates(rules, max_rounds):
    rng = generator("truncation", rules, max_rounds)
    seen = set()
    for seed in range(60):
        fields = {"preset": rules, "max_rounds": max_rounds, "lives": 1 + seed % 2}
        table = env(fields, 3)
        table.reset(seed=seed)
        flags = {}
        for agent, (_, _, terminated, truncated, _) in turns(table, at_random(rng)):
            assert not (terminated and truncated)
            flags[agent] = terminated, truncated
        last = [agent for agent, flag in flags.items() if flag[1]]
        in_play = int(table._states["in_play"][0]).bit_count()
        assert len(last) in (0, in_play)
        assert not last or (in_play > 1 and table._states["round_number"][0] == max_rounds - 1)
        assert last or in_play == 1
        assert (table.record()["winner"] is None) == bool(last)
        seen.add(bool(last))
    assert True in seen


# --- a deal that decides the round --------------------------------------------------------------

BLITZ_FOR_1 = ["2c 3d 4h", "As Ks Qs"]


@pytest.mark.parametrize("rules", ["danish", "finnish", "widow", "danish_four_cards"])
@pytest.mark.parametrize("episode", EPISODES)
@pytest.mark.parametrize("reward", KINDS)
@pytest.mark.parametrize("lives", [[1, 1], [3, 1], None])
def test_a_dealt_blitz_never_ends_anything_at_reset(rules, episode, reward, lives):
    hands = BLITZ_FOR_1
    if rules == "danish_four_cards":
        hands = ["2c 3d 4h 5h", "As Ks Qs Js"]
    table = env(rules, 2, episode=episode, reward=reward)
    lives = lives or [PRESETS[rules].lives] * 2
    options = {"dealer": 0, "deck": deal(hands, 0), "lives": lives}
    begun = game.payoffs(game.prepare(PRESETS[rules], 2, lives=lives), reward)
    table.reset(seed=1, options=options)
    assert table.agents == table.possible_agents
    assert not any(table.terminations.values())
    assert not any(table.truncations.values())
    assert list(table.rewards.values()) == [0.0, 0.0]
    seen, reward_now, *_ = table.last()
    assert np.flatnonzero(seen["action_mask"]).tolist() == [PASS]
    assert reward_now == 0.0
    assert make_bot("random").act(table) == PASS
    for action in range(NUM_ACTIONS):
        if action != PASS:
            with pytest.raises(ValueError, match=r"player_1: action .* legal: 3 \(pass\)$"):
                table.step(action)
    totals = play(table, at_random(generator()))
    after = game.payoffs(table._states, reward)
    np.testing.assert_allclose(list(totals.values()), after - begun, atol=1e-12)
    if reward == "lives" and episode == "round":
        assert totals == {"player_0": -1.0, "player_1": 1.0}
    ends = lives[0] == 1 and not PRESETS[rules].free_ride
    if reward == "match" and episode == "match" and ends:
        assert totals == {"player_0": -1.0, "player_1": 1.0}


def test_several_dealt_blitzes_are_safe_and_the_others_out():
    hands = ["As Ks Qs", "Ah Kh Qh", "2c 3c 4d"]
    table = dealt("danish", hands, lives=[1, 1, 1], episode="match")
    table.step(PASS)
    assert table.terminations == {"player_0": False, "player_1": False, "player_2": True}
    assert table.rewards == {"player_0": 0.0, "player_1": 0.0, "player_2": -0.5}
    table.step(None)
    assert table.agents == ["player_0", "player_1"]


def test_a_dealt_blitz_may_ask_for_a_buy_in_at_once():
    table = dealt("dutch_buy_in", BLITZ_FOR_1, lives=[1, 2], reward="lives")
    assert table.agent_selection == "player_0"
    legal = np.flatnonzero(table.last()[0]["action_mask"])
    assert [action_name(int(action)) for action in legal] == ["buy_in", "decline"]
    assert table.rewards == {"player_0": 0.0, "player_1": 0.0}
    table.step(parse_action("decline"))
    assert table.rewards == {"player_0": -1.0, "player_1": 1.0}
    assert table.terminations == {"player_0": True, "player_1": True}


def test_after_a_dealt_blitz_an_exchange_is_played():
    hands = ["7c 8d 9h", "Ks Qs As", "7h 8c 9d"]
    table = dealt("schwimmen_a7", hands, then="Tc Td Th")
    table.step(parse_action("keep"))
    assert table.agent_selection == "player_2"
    assert not table.last()[0]["action_mask"][KNOCK]
    table.step(PASS)
    assert table.agent_selection == "player_0"
    table.step(parse_action("swap_all"))
    assert table.record()["rounds"][0]["end"] == "dealt_blitz"


# --- before reset and after the end -------------------------------------------------------------


def test_before_reset_everything_asks_for_it():
    table = env(render_mode="ansi")
    calls = (
        table.last,
        table.render,
        table.state,
        table.record,
        table.agent_iter,
        lambda: table.step(0),
        lambda: table.observe("player_0"),
        lambda: make_bot("random").act(table),
    )
    for call in calls:
        with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
            call()
    assert table.agents == []


def test_after_the_end_nobody_acts_and_all_may_look():
    table = env(render_mode="ansi")
    table.reset(seed=3)
    play(table, by_bots(["danish", "danish"]))
    calls = (table.last, lambda: table.step(None), lambda: table.step(0))
    for call in (*calls, lambda: make_bot("random").act(table)):
        with pytest.raises(RuntimeError, match=r"the match is over .* call reset\(\)"):
            call()
    for agent in table.possible_agents:
        seen = table.observe(agent)
        assert table.observation_space(agent).contains(seen)
        assert not seen["action_mask"].any()
    assert table.render().startswith("match over")
    assert table.state_space.contains(table.state())
    assert list(table.agent_iter()) == []
    table.reset()
    assert table.agents == table.possible_agents


def test_only_the_agents_can_be_observed():
    table = env()
    table.reset(seed=1)
    for agent in ("player_2", "player", 0, None):
        with pytest.raises(ValueError, match="unknown agent"):
            table.observe(agent)


# --- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("episode", "game"),
        ("reward", "points"),
        ("illegal", "ignore"),
        ("render_mode", "rgb"),
        ("render_perspective", "god"),
        ("observation_format", "image"),
        ("action_format", "cards"),
        ("num_players", 1),
        ("num_players", 10),
        ("num_players", 2.0),
        ("num_players", True),
        ("rules", "danisch"),
        ("rules", {"preset": "danish", "live": 2}),
        ("canonical_suits", "yes"),
    ],
)
def test_a_wrong_option_is_refused_by_name(name, value):
    with pytest.raises(ValueError, match=r"\bnot allowed|^unknown") as refusal:
        env(**{name: value})
    assert name in str(refusal.value) or name == "rules"


GOOD_OPTIONS = [
    {"dealer": 1},
    {"dealer": np.int8(0)},
    {"lives": [1, 9]},
    {"lives": np.array([2, 3])},
    {"deck": ""},
    {"deck": []},
    {"deck": "Kh"},
    {"deck": ["Kh", "2s"]},
    {"deck": [3, 4, 5]},
    {"deck": np.arange(52)},
    {},
    None,
]
BAD_OPTIONS = [
    {"dealer": 2},
    {"dealer": -1},
    {"dealer": 1.0},
    {"dealer": True},
    {"dealer": "player_1"},
    {"lives": 3},
    {"lives": [3]},
    {"lives": [3, 3, 3]},
    {"lives": [0, 3]},
    {"lives": [3, 10]},
    {"lives": [3, 3.0]},
    {"lives": [True, 3]},
    {"lives": "33"},
    {"deck": "Kh Kh"},
    {"deck": "Kh Zz"},
    {"deck": "X1"},
    {"deck": ["Kh", 3]},
    {"deck": [3, 3]},
    {"deck": [52]},
    {"deck": [-1]},
    {"deck": [1.5]},
    {"deck": [True]},
    {"deck": [None]},
    {"deck": 5},
    {"dealer": 0, "lives": [3, 3], "deck": "Kh Kh"},
]


@pytest.mark.parametrize("options", GOOD_OPTIONS, ids=str)
def test_good_situations_are_dealt(options):
    table = env()
    table.reset(seed=4, options=options)
    states, options = table._states, options or {}
    if "dealer" in options:
        assert states["dealer"][0] == options["dealer"]
    if "lives" in options:
        assert states["lives"][0, :2].tolist() == list(options["lives"])
    play(table, at_random(generator("options")))


def test_no_lives_mean_a_free_ride_that_the_next_loss_ends():
    hands = ["2c 5d 8h", "As Kd 3s", "9s 9h 3c"]
    table = dealt("swedish", hands, then="2h 3h 4d", lives=[0, 3, 3])
    row, places = table.observe("player_0")["observation"], slices(3)
    assert row[places["free_ride"]].tolist() == [1, 0, 0]
    assert row[places["ride_left"]].tolist() == [0, 1, 1]
    for action in ("knock", "draw_stock", "9s", "draw_stock", "4d"):
        table.step(parse_action(action))
    assert table.terminations == {"player_0": True, "player_1": False, "player_2": False}


@pytest.mark.parametrize("options", BAD_OPTIONS, ids=str)
def test_a_refused_situation_leaves_the_match_alone(options):
    rng = generator("refused", options)
    table, twin = env(), env()
    for each in (table, twin):
        each.reset(seed=9)
        play_some(each, by_bots(["never_knock", "danish"]), 5)
    before = snapshot(table)
    with pytest.raises(ValueError, match=r"dealer|lives|deck|card"):
        table.reset(seed=10, options=options)
    assert snapshot(table) == before
    seed = int(rng.integers(1 << 60))
    rest = [list(turns(each, at_random(np.random.default_rng(seed)))) for each in (table, twin)]
    assert same_seen(*rest)


@pytest.mark.parametrize("seed", [-1, 1 << 64, 1.0, "1", True, np.int64(-1), np.nan])
def test_a_refused_seed_leaves_the_match_alone(seed):
    table = env()
    table.reset(seed=9)
    before = snapshot(table)
    with pytest.raises(ValueError, match=r"seed = .* is not allowed"):
        table.reset(seed=seed)
    assert snapshot(table) == before


def test_an_unknown_option_is_ignored_with_a_warning():
    table, twin = env(), env()
    with pytest.warns(UserWarning, match=r"reset options \['decks'\] are unknown and ignored"):
        table.reset(seed=2, options={"decks": "Kh", "dealer": 1})
    twin.reset(seed=2, options={"dealer": 1})
    assert snapshot(table) == snapshot(twin)


@pytest.mark.parametrize("rules", ["danish", "schwimmen_a7", "danish_joker", "dutch_four_cards"])
def test_a_deck_is_dealt_as_it_lies(rules):
    rng = generator("deck", rules)
    deck = shuffled_deck(PRESETS[rules], rng)
    for length in (1, 7, len(deck)):
        table = env(rules, 3)
        table.reset(seed=1, options={"deck": deck[:length], "dealer": 2})
        row = table.record()["rounds"][0]
        dealt = 3 * PRESETS[rules].hand_size
        for seat in range(3):
            assert set(deck[: min(length, dealt)][seat::3]) <= set(row["hands"][seat])
        rest = [row["upcard"]] * (row["upcard"] is not None) + row["stock"]
        assert rest[: max(0, length - dealt)] == deck[dealt:length]


def test_reset_goes_through_the_matches_of_a_seed():
    table, rules = env(), PRESETS["danish"]
    table.reset(seed=12)
    for match in range(3):
        expected = game.new_match(rules, 2, seed=12, match=match)
        assert content(table._states) == content(expected)
        table.reset()
    table.reset(seed=12)
    assert content(table._states) == content(game.new_match(rules, 2, seed=12))


def test_without_a_seed_one_is_drawn():
    tables = [env() for _ in range(4)]
    for table in tables:
        table.reset()
    assert len({table._seed for table in tables}) == 4


@pytest.mark.parametrize("seed", [0, 1 << 63, (1 << 64) - 1, np.uint64((1 << 64) - 1)])
def test_every_seed_of_64_bits_is_good(seed):
    table = env()
    table.reset(seed=seed)
    check(table.record())


# --- illegal actions ----------------------------------------------------------------------------


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("options", [{}, *FORMATS], ids=str)
def test_every_illegal_action_is_refused_by_name(rules, options):
    rng = generator("illegal", rules, options)
    table = env(rules, 3, **options)
    table.reset(seed=int(rng.integers(1 << 60)))
    for step, (agent, (seen, _, done, truncated, _)) in enumerate(turns(table, at_random(rng))):
        if done or truncated or step % 5 > 1:
            continue
        mask, before = seen["action_mask"], snapshot(table)
        for action in np.flatnonzero(mask == 0):
            with pytest.raises(ValueError, match=f"^{agent}: action {action} ") as refusal:
                table.step(action)
            named = str(refusal.value).split("legal: ")[1].split(", ")
            assert [int(text.split()[0]) for text in named] == np.flatnonzero(mask).tolist()
        assert snapshot(table) == before
        if step > 60:
            break


@pytest.mark.parametrize("options", [{}, *FORMATS], ids=str)
def test_what_is_no_action_is_refused(options):
    table = env("danish", 2, **options)
    table.reset(seed=6)
    before = snapshot(table)
    n = table.action_space("player_0").n
    strange = [
        *(2.5, 0.0, True, False, None, np.nan, -1, n, n + 1000, 1 << 70, "knock", "0", [1], [1, 2]),
        *((1,), {}, {0}, b"0", 1j, np.float64(1), np.bool_(True), np.array([1, 2]), np.array([])),
        *(np.array(1.0), np.array([True]), np.array("1"), np.array([None]), object()),
    ]
    for action in strange:
        with pytest.raises(ValueError, match=rf"is not a whole number in 0 … {n - 1}"):
            table.step(action)
    assert snapshot(table) == before


def test_every_form_of_an_integer_acts_alike():
    forms = [int, np.int8, np.uint8, np.int64, np.uint64, np.array, lambda a: np.array([a])]
    forms += [lambda a: np.array([[a]], np.int16)]
    results = set()
    for form in forms:
        table = env("danish", 2)
        table.reset(seed=6)
        choose = at_random(np.random.default_rng(1))
        play(table, lambda env, seen, form=form, choose=choose: form(choose(env, seen)))
        results.add((content(table._states), repr(table._actions)))
    assert len(results) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_an_illegal_action_may_end_the_match(kind):
    table = dealt("danish", ["2c 5d 8h", "As Kd 3s", "9s 9h 3c"], reward=kind, illegal="terminate")
    before = content(table._states)
    table.step(NUM_ACTIONS - 1)
    assert content(table._states) == before
    expected = {"player_0": 0.5, "player_1": -1.0, "player_2": 0.5}
    assert table.rewards == expected
    assert all(table.terminations.values())
    assert not any(table.truncations.values())
    served = {}
    for agent, (seen, reward, terminated, truncated, info) in turns(table, at_random(generator())):
        assert (terminated, truncated) == (True, False)
        assert not seen["action_mask"].any()
        assert info == {"illegal_action_by": "player_1", "illegal_action": NUM_ACTIONS - 1}
        served[agent] = reward
    assert served == expected
    assert table.agents == []


def test_an_illegal_action_after_an_elimination_spares_the_eliminated():
    hands = ["2c 5d 8h", "As Kd 3s", "9s 9h 3c"]
    table = dealt("danish", hands, then="2h", lives=[1, 3, 3], illegal="terminate")
    for action in (KNOCK, PASS, PASS, None):
        table.step(action)
    offender = table.agent_selection
    (other,) = set(table.agents) - {offender}
    table.step(NUM_ACTIONS - 1)
    assert table.rewards == {offender: -1.0, other: 0.5}


def test_what_is_no_action_raises_even_then():
    table = env(illegal="terminate")
    table.reset(seed=1)
    for action in (-1, NUM_ACTIONS, 2.5, None, "knock"):
        with pytest.raises(ValueError, match="is not a whole number"):
            table.step(action)
    assert table.agents == table.possible_agents


def test_a_refused_action_at_a_settled_deal_may_end_the_match():
    table = dealt("danish", BLITZ_FOR_1, lives=[1, 1], illegal="terminate")
    table.step(DRAW)
    assert table.rewards == {"player_0": 1.0, "player_1": -1.0}
    assert {agent for agent, _ in turns(table, at_random(generator()))} == {"player_0", "player_1"}


# --- names of actions ---------------------------------------------------------------------------


def test_names_and_codes_go_both_ways():
    for action in range(NUM_ACTIONS):
        for phase in (None, *Phase):
            assert parse_action(action_name(action, phase)) == action
            assert parse_action(action_name(np.int64(action), phase)) == action
    assert action_name(parse_action("discard Kh"), Phase.DISCARD) == "discard Kh"
    assert action_name(parse_action("Kh"), Phase.TURN) == "give Kh"
    assert action_name(parse_action("take X1"), Phase.TAKE) == "take X1"


@pytest.mark.parametrize(
    "text", ["", "knok", "discard", "discard Zz", "Kh Kh", "knock 9d", 5, None]
)
def test_what_names_no_action_is_refused(text):
    with pytest.raises(ValueError, match="unknown"):
        parse_action(text)


@pytest.mark.parametrize("action", [-1, NUM_ACTIONS, 1.0, True, "knock", None])
def test_what_is_no_code_has_no_name(action):
    with pytest.raises(ValueError, match="action"):
        action_name(action)


# --- formats ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("options", FORMATS, ids=str)
def test_every_format_plays_the_same_match(rules, options):
    rng = generator("formats", rules, options)
    seats = int(rng.integers(2, PRESETS[rules].max_players + 1))
    plain, other = env(rules, seats), env(rules, seats, **options)
    canonical = options.get("canonical_suits", False)
    slots = "action_format" in options
    seed = int(rng.integers(1 << 60))
    plain.reset(seed=seed)
    other.reset(seed=seed)
    bots = [make_bot(name) for name in BOTS if name != "random"]
    choose = (at_random, unhurried)[int(rng.integers(2))](rng)
    for agent in other.agent_iter():
        (seen, *rest), theirs = other.last(), plain.last()
        assert plain.agent_selection == agent
        assert list(theirs[1:4]) == rest[:3]
        if rest[1] or rest[2]:
            plain.step(None)
            other.step(None)
            continue
        legal = np.flatnonzero(seen["action_mask"]).tolist()
        meant = [game.translate(other._states, a, canonical, slots) for a in legal]
        assert sorted(meant) == np.flatnonzero(theirs[0]["action_mask"]).tolist()
        for bot in rng.choice(bots, 2):
            assert meant[legal.index(bot.act(other))] == bot.act(plain)
        action = choose(other, seen)
        plain.step(meant[legal.index(action)])
        other.step(action)
    assert content(plain._states) == content(other._states)
    assert plain._actions == other._actions


def renamed(names: list[str], suits: dict[str, str]) -> list[str]:
    """Cards with their suits renamed; what is no card stays."""
    return [n[0] + suits.get(n[1], n[1]) if n[0] in "AKQJT98765432" else n for n in names]


def same_card(pair: list[Any], action: int, suits: dict[str, str]) -> int:
    """The second one's action for the same card; another number only where two suits look alike."""
    slots = pair[0]._num_actions == NUM_SLOT_ACTIONS
    words = action_name(game.translate(pair[0]._states, action, True, slots)).split()
    meant = parse_action(" ".join([*words[:-1], *renamed(words[-1:], suits)]))
    for other in [action, *range(pair[1]._num_actions)]:
        if game.translate(pair[1]._states, other, True, slots) == meant:
            return other
    raise AssertionError(f"no action for {words}")


@pytest.mark.parametrize("rules", SHARED_TIES)
@pytest.mark.parametrize("action_format", ["card", "slot"])
def test_renamed_suits_look_the_same(rules, action_format):
    rng = generator("suits", rules, action_format)
    for suits in rng.permutation(list(permutations("cdhs")))[:4]:
        deck = shuffled_deck(PRESETS[rules], rng)
        naming = dict(zip("cdhs", suits, strict=True))
        options = {"canonical_suits": True, "action_format": action_format}
        pair = [env(rules, 3, **options), env(rules, 3, **options)]
        pair[0].reset(seed=1, options={"deck": deck, "dealer": 0})
        pair[1].reset(seed=1, options={"deck": renamed(deck, naming), "dealer": 0})
        choose = some_player(rng, 3)
        for agent in pair[0].agent_iter():
            if pair[0]._states["reshuffles"][0] or pair[0]._states["round_number"][0]:
                break  # cards that were not named by the deck
            assert pair[1].agent_selection == agent
            seen = pair[0].last()
            assert same_seen(seen, pair[1].last())
            for other in pair[0].agents:
                assert same_seen(pair[0].observe(other), pair[1].observe(other))
            action = None if seen[2] or seen[3] else choose(pair[0], seen[0])
            pair[1].step(None if action is None else same_card(pair, action, naming))
            pair[0].step(action)


def test_of_two_suits_alike_the_drawn_card_tells_which_is_which():
    seen = []
    for held, drawn in (("Kd", "Kh"), ("Kh", "Kd")):
        table = dealt("danish", ["2c 3c 4c", f"{held} 5c 9s"], then=f"7s {drawn}")
        table.step(DRAW)
        seen.append(game.observe(table._states, 1, canonical=True))
    assert same_seen(*seen)


@pytest.mark.parametrize("rules", [name for name in PRESETS if name not in SHARED_TIES])
def test_suits_keep_their_names_where_the_rules_order_them(rules):
    rng = generator("ordered", rules)
    plain, canonical = env(rules), env(rules, canonical_suits=True)
    plain.reset(seed=3)
    canonical.reset(seed=3)
    for _ in plain.agent_iter():
        seen = plain.last()
        assert same_seen(seen, canonical.last())
        action = None if seen[2] or seen[3] else at_random(rng)(plain, seen[0])
        plain.step(action)
        canonical.step(action)


@pytest.mark.parametrize(("rules", "num_players"), EVERY_TABLE)
@pytest.mark.parametrize("form", ["full", "compact"])
def test_observations_lie_in_their_spaces(rules, num_players, form):
    rng = generator("spaces", rules, num_players, form)
    table = env(rules, num_players, observation_format=form, episode=EPISODES[form == "full"])
    table.reset(seed=int(rng.integers(1 << 60)))
    kinds = {"full": np.uint8, "compact": np.float32}
    for step, _ in enumerate(turns(table, some_player(rng, num_players))):
        if step % 7:
            continue
        for agent in table.possible_agents:
            seen = table.observe(agent)
            assert table.observation_space(agent).contains(seen)
            assert seen["observation"].dtype == kinds[form]
            assert seen["action_mask"].dtype == np.int8
            acts = agent == table.agent_selection and agent in table.agents
            finished = acts and (table.terminations[agent] or table.truncations[agent])
            assert seen["action_mask"].any() == (acts and not finished)
        assert table.state_space.contains(table.state())


def test_long_rounds_stay_in_the_compact_space():
    table = env({"preset": "danish", "max_turns": 30_000}, observation_format="compact")
    table.reset(seed=1, options={"deck": "2c 3d 4h 5s 7c 8d Kh"})
    for number in range(30_000):
        seen, *_ = table.last()
        if number % 1000 == 0 or number > 29_000:
            assert table.observation_space("player_0").contains(seen)
        table.step(PASS)
    assert table._states["round_number"][0] == 1


def test_what_was_returned_never_changes():
    rng = generator("returned")
    table = env("schwimmen_a7", 3)
    table.reset(seed=8)
    kept = []
    for agent, seen in turns(table, at_random(rng)):
        kept += [(seen, copy.deepcopy(seen))]
        others = table.observe(agent), table.state()
        kept += [(others, copy.deepcopy(others))]
    record = table.record()
    kept += [(record, copy.deepcopy(record))]
    table.reset(seed=9)
    play(table, at_random(rng))
    for given, then in kept:
        assert same_seen(given, then)


# --- copies -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda table: ForkingPickler.loads(ForkingPickler.dumps(table))],
    ids=["copy", "deepcopy", "another process"],
)
@pytest.mark.parametrize("rules", ["danish", "schwimmen_a7", "dutch_buy_in"])
def test_a_copy_goes_on_by_itself(rules, duplicate):
    rng = generator("copies", rules)
    table = env(rules, 4, observation_format="full")
    table.reset(seed=int(rng.integers(1 << 60)))
    play_some(table, at_random(rng), 23)
    twin = duplicate(table)
    before = snapshot(table)
    assert snapshot(twin) == before
    seed = int(rng.integers(1 << 60))
    first = list(turns(twin, at_random(np.random.default_rng(seed))))
    assert snapshot(table) == before
    assert table.agents != twin.agents
    assert same_seen(first, list(turns(table, at_random(np.random.default_rng(seed)))))
    assert dump(table.record()) == dump(twin.record())
    table.reset()
    twin.reset()
    assert snapshot(table) == snapshot(twin)


def test_two_environments_share_nothing():
    alone = []
    for seed in (1, 2):
        table = env("danish", 3)
        table.reset(seed=seed)
        alone.append(list(turns(table, by_bots(["random", "danish", "random"]))))
    pair = [env("danish", 3), env("danish", 3)]
    for seed, table in zip((1, 2), pair, strict=True):
        table.reset(seed=seed)
    together: list[list[Any]] = [[], []]
    rounds = [turns(table, by_bots(["random", "danish", "random"])) for table in pair]
    while rounds[0] is not None or rounds[1] is not None:
        for number in (0, 1):
            if rounds[number] is not None:
                seen = next(rounds[number], None)
                if seen is None:
                    rounds[number] = None
                else:
                    together[number].append(seen)
    assert same_seen(together, alone)


def test_global_randomness_is_neither_used_nor_touched():
    def all_of_it() -> list[Any]:
        table = env("danish", 3)
        table.reset(seed=4)
        seen = list(turns(table, by_bots(["random", "swedish", "random"])))
        states = game.new_match(PRESETS["danish"], 3, seed=1)
        game.resample_hidden(states, 0, np.random.default_rng(1))
        return [*seen, content(states)]

    results = []
    for seed in (1, 2):
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        before = random.getstate(), repr(np.random.get_state())  # noqa: NPY002
        results.append(all_of_it())
        env().reset()
        assert (random.getstate(), repr(np.random.get_state())) == before  # noqa: NPY002
    assert same_seen(*results)


# --- rendering ----------------------------------------------------------------------------------


def test_the_own_view_hides_what_others_hold():
    table = dealt("danish", ["2c 5d 8h", "As Kd 3s"], then="2h", render_mode="ansi")
    table.step(UPCARD)
    table.step(parse_action("As"))
    own = table.render()
    assert "2c 5d 8h" in own
    assert "upcard: As" in own
    assert "2h ▒▒ ▒▒" in own
    assert "Kd" not in own
    assert "3s" not in own


def test_a_view_without_a_mode_warns():
    table = env()
    table.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert table.render() is None


def test_rules_may_be_given_in_every_form():
    forms = ["danish", PRESETS["danish"], {"preset": "danish"}, PRESETS["danish"].to_dict()]
    tables = [env(form, 2) for form in forms] + [env(Rules.preset("danish"), np.int64(2))]
    for table in tables:
        table.reset(seed=7)
    assert len({content(table._states) for table in tables}) == 1
