"""A search sees no hidden card, repeats itself, and plays better than the bot it improves on."""

from __future__ import annotations

import time
from itertools import combinations as combos
from itertools import islice

import numpy as np
import pytest

import thirtyone_env
from tests.env.helpers import EVERY_TABLE, content, generator, whole_deck
from tests.env.test_hidden import situations
from thirtyone_env import PRESETS, game, make_bot
from thirtyone_env.arena import Tables
from thirtyone_env.cards import NAMES, names_of
from thirtyone_env.search import BELIEFS, SEARCH_FORM, judge, search_options
from thirtyone_env.situation import situation
from thirtyone_env.vector import ThirtyOneVectorEnv

FAST = "search:16,bot=threshold:27"


@pytest.mark.parametrize("rules", PRESETS)
def test_a_search_does_not_peek_and_leaves_the_match_alone(rules):
    rng = generator("search", rules)
    for env in islice(situations(rules, None, rng), 12):
        real, seat = env._states, int(env._states["seat"][0])
        before, seen = content(real), judge(real, deals=8)
        assert content(real) == before
        guess = game.clone(real)
        game.resample_hidden(guess, seat, rng)
        assert judge(guess, deals=8).payoffs.tolist() == seen.payoffs.tolist()
        assert list(seen.actions) == game.legal_actions(real)


@pytest.mark.parametrize(("rules", "num_players"), EVERY_TABLE)
def test_a_search_plays_legal_matches_in_every_format(rules, num_players):
    rng = generator("search plays", rules, num_players)
    bot = make_bot("search:2,bot=danish")
    for slots, canonical in ((False, False), (True, True)):
        env = thirtyone_env.env(
            rules=rules,
            num_players=num_players,
            episode="round",
            action_format="slot" if slots else "card",
            canonical_suits=canonical,
        )
        env.reset(seed=int(rng.integers(1 << 60)))
        for _ in env.agent_iter():
            *_, terminated, truncated, _ = env.last()
            env.step(None if terminated or truncated else bot.act(env))
        assert env.agents == []


def test_payoffs_do_not_depend_on_threads_or_on_other_rows():
    states = np.concatenate([game.new_match("danish", 3, seed=seed) for seed in range(3)])
    one = judge(states, 1, deals=50)
    assert judge(states, 1, deals=50, threads=3).payoffs.tolist() == one.payoffs.tolist()
    assert judge(states[1:2], deals=50).payoffs.tolist() == one.payoffs.tolist()
    assert judge(states, 0, deals=50).payoffs.tolist() != one.payoffs.tolist()
    fewer = judge(states, 1, deals=20)
    assert fewer.payoffs.tolist() == one.payoffs[:, :20].tolist()


def test_a_batch_of_searches_is_each_by_itself():
    tables = Tables(PRESETS["danish"], 4, seed=3, matches=np.arange(6))
    bot = make_bot(FAST)
    together = bot.act_batch(tables)
    assert together.tolist() == [int(bot.act_batch(tables, [row])[0]) for row in range(6)]
    tables.act(together)
    slots = bot.act_batch(tables, slots=True)
    cards = bot.act_batch(tables)
    other = Tables(PRESETS["danish"], 4, seed=3, matches=np.arange(6))
    other.act(together)
    tables.act(cards)
    other.act(slots, slots=True)
    assert content(tables.states) == content(other.states)


def test_payoffs_are_as_likely_as_the_count_of_all_deals_says():
    """The other has knocked and this turn is the last: a draw goes to the knocker."""
    states = game.new_match("danish", 2, seed=5, deck="9h Kd 7h 8d Qh 2s 3c", dealer=1)
    game.step(states, 2)
    own = names_of(states["hands"][0, 1])
    unseen = [card for card in whole_deck(PRESETS["danish"]) if NAMES[card] not in [*own, "3c"]]
    values = [game.hand_points([NAMES[c] for c in held], "danish") for held in combos(unseen, 3)]
    least = PRESETS["danish"].min_knock
    values = [value for value in values if least <= value < 31]
    lower = np.mean([value < game.hand_points(own, "danish") for value in values])
    found = judge(states, deals=4_000, payoff="lives")
    passed = found.payoffs[found.actions.index(3)]
    for payoff, chance in ((2.0, lower), (-1.0, 1 - lower)):
        error = np.sqrt(chance * (1 - chance) / 4_000)
        assert abs(np.mean(passed == payoff) - chance) < 5 * error


def test_kinds_of_payoffs():
    states = game.new_match("danish", 2, seed=5)
    lives = judge(states, deals=50, payoff="lives")
    assert set(np.unique(lives.payoffs)) <= {-2.0, -1.0, 0.0, 1.0, 2.0}
    match = judge(states, deals=50, payoff="match")
    assert set(np.unique(match.payoffs)) == {-1.0, 1.0}
    equity = judge(states, deals=50)
    assert (equity.payoffs > 0).all()
    assert (equity.payoffs < 1).all()


def test_a_sure_thing_is_found():
    """Thirty points in hand, one deal before anybody moves: knocking beats breaking the hand up."""
    states = game.new_match("danish", 2, seed=5, deck="Kh 2d Qh 4c Jh 7s 3d", dealer=1)
    assert game.hand_points(["Kh", "Qh", "Jh"], "danish") == 30
    found = judge(states, deals=400, payoff="lives")
    assert found.best == 2
    assert found.behind[found.actions.index(2)] == 0
    assert found.errors.min() > 0


def test_without_a_margin_the_luckiest_action_is_taken():
    states = game.new_match("danish", 4, seed=3)
    found = judge(states, deals=50)
    usual = found.actions[int(np.argmin(found.means))]
    assert found.better_than(usual, 0.0) != usual
    assert found.better_than(usual, 1e9) == usual
    assert found.better_than(found.best, 0.0) == found.best


def test_a_time_limit_stops_early_and_changes_no_deal():
    states = game.new_match("danish", 4, seed=3)
    judge(states, deals=2)
    start = time.monotonic()
    short = judge(states, deals=1_000_000, seconds=0.05)
    assert time.monotonic() - start < 5
    size = short.payoffs.shape[1]
    assert 128 <= size < 1_000_000
    assert judge(states, deals=size).payoffs.tolist() == short.payoffs.tolist()


def test_names_and_errors():
    assert search_options(
        "search:20,bot=threshold_by_turn:21,25,margin=1.5,payoff=lives,belief=dealt"
    ) == {
        "deals": 20,
        "bot": "threshold_by_turn:21,25",
        "margin": 1.5,
        "payoff": "lives",
        "belief": "dealt",
    }
    for bad in ("search", "search:", "search:1", "search:x", "search:20,depth=2", "search:5,bot="):
        with pytest.raises(ValueError, match="search"):
            make_bot(bad)
    assert "N" in SEARCH_FORM
    with pytest.raises(ValueError, match="unknown bot 'nobody'"):
        make_bot("search:20,bot=nobody")
    with pytest.raises(ValueError, match="decides outside"):
        make_bot("search:20,bot=external")
    states = game.new_match("danish", 4, seed=3)
    with pytest.raises(ValueError, match="payoff 'money'"):
        judge(states, payoff="money")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="belief 'none'; allowed: drawn, dealt"):
        judge(states, belief="none")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="deals = 1 "):
        judge(states, deals=1)


def test_a_search_is_an_opponent_by_name():
    env = ThirtyOneVectorEnv(2, rules="danish", num_players=2, opponents=FAST, episode="round")
    _, info = env.reset(seed=1)
    rewards = np.zeros(2)
    for _ in range(60):
        actions = info["action_mask"].argmax(axis=1)
        _, reward, _, _, info = env.step(actions)
        rewards += np.abs(reward)
    assert rewards.all()


def test_others_who_have_drawn_hold_better_hands():
    """The same hand is worth less where the others have had turns, and as much where not."""
    first, late = (
        situation("danish", 4, hand="Kh 9h 4c", upcard="2d", turn=turn) for turn in (1, 5)
    )
    knock = 2
    for states, differs in ((first, False), (late, True)):
        beliefs = [judge(states, deals=2_000, payoff="lives", belief=b) for b in BELIEFS]
        drawn, dealt = (found.payoffs[found.actions.index(knock)] for found in beliefs)
        if differs:
            assert drawn.mean() < dealt.mean() - 0.1
        else:
            assert drawn.tolist() == dealt.tolist()


@pytest.mark.slow
def test_a_search_beats_its_bot():
    from agents.evaluation.match import lone, play

    rate = play(
        lone("search:400,bot=threshold:25", "threshold:25", 2),
        rules=PRESETS["danish"],
        deals=400,
        seed=generator("strength").integers(1 << 30),
        workers=2,
    ).win_rate(0)
    assert rate.low > 0.5
