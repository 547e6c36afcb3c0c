"""The chances to win by lives that a training counts in its own matches."""

import numpy as np
import pytest

from agents.training.ppo.chances import DOUBT, GROUP, POSITION, Chances
from agents.training.ppo.league import League
from agents.training.ppo.tables import LEARNER, LeagueVecEnv
from tests.engine.situations import fresh_seed
from thirtyone_env import Rules
from thirtyone_env.arena import Tables

DANISH = Rules.preset("danish")


def at_random(mask, rng):
    return (rng.random(mask.shape) * mask).argmax(axis=1)


@pytest.mark.parametrize("rules", ["danish", "dutch", "swedish", "finnish", "schwimmen_a7"])
def test_nothing_counted_they_are_those_of_equals(rules):
    rng = np.random.default_rng(fresh_seed())
    rules, chances = Rules.preset(rules), Chances()
    size = int(rng.integers(2, 6))
    tables = Tables(rules, size, seed=int(rng.integers(1 << 30)), matches=np.arange(200))
    seen = set()
    for _ in range(300):
        places = chances.places(tables.states, rng.integers(0, 9, 200))
        found = chances.payoffs(places)
        np.testing.assert_allclose(found, tables.payoffs("equity"), atol=1e-12)
        seen |= set((places[places > 0] & POSITION).tolist())
        rows = np.flatnonzero(~tables.over)
        if not rows.size:
            break
        tables.act(at_random(tables.action_mask(rows), rng), rows)
    assert len(seen) > 4


def test_they_are_those_of_the_chain_that_was_seen():
    """Two players with up to two lives; a learner of kind 3 loses a round in four."""
    chances, kind = Chances(), 3 << GROUP
    place = {(a, b): kind + (1 << 4 * b) + a for a in (1, 2) for b in (1, 2)}
    for (own, other), before in place.items():
        lost = place[own - 1, other] if own > 1 else 0
        won = place[own, other - 1] if other > 1 else -1
        moves = np.array([lost] * 25_000 + [won] * 75_000 + [before] * 50_000)  # nobody lost
        chances.count(np.full(len(moves), before), moves)
    assert chances.payoffs(np.array([place[1, 1]])) == pytest.approx(0.5)
    chances.find()
    wanted = {(1, 1): 0.75, (1, 2): 0.75**2, (2, 1): 1 - 0.25**2}
    wanted[2, 2] = 0.75 * wanted[2, 1] + 0.25 * wanted[1, 2]
    for lives, before in place.items():
        assert chances.payoffs(np.array([before])) == pytest.approx(wanted[lives], abs=1e-3)
    another = np.array([place[2, 2] + (1 << GROUP)])
    assert chances.payoffs(another) == pytest.approx(0.5)


def test_little_that_was_seen_counts_little():
    chances, place = Chances(), (1 << 4) + 1
    chances.count(np.full(5, place), np.full(5, -1))
    chances.find()
    wanted = (5 + DOUBT / 2) / (5 + DOUBT)
    assert chances.payoffs(np.array([place])) == pytest.approx(wanted)
    for _ in range(2_000):
        chances.find()
    assert chances.payoffs(np.array([place])) == pytest.approx(0.5)


@pytest.mark.parametrize("players", [2, 4])
def test_they_say_how_often_matches_are_won(players):
    """A learner that plays like a bot is found to be weaker than one, stronger than another."""
    seed, names = fresh_seed(), ["threshold:27", "random"]
    league = League(dict.fromkeys(names, 1.0), [(DANISH, players)], self_play=0.2)
    tables = LeagueVecEnv(
        1024, league, sizes=np.array([1, 4, 14]), reward="chances", copies=1.0, seed=seed,
        teacher="threshold:20",
    )  # fmt: skip
    owner = np.full((3, 9), LEARNER)
    owner[0, 1:], owner[1, 1:] = 0, 1
    fresh = Tables(DANISH, players, seed=1, matches=[0])
    start = [tables.places_at(fresh.states, np.zeros(1, int), who[None])[0, 0] for who in owner]
    assert tables.chances.payoffs(np.array(start)) == pytest.approx(1 / players)
    for _ in range(100 * players):
        tables.advance(tables.taught())
    tables.find_chances()
    found = tables.chances.payoffs(np.array(start))
    played, won = league.played[:2], league.won[:2]
    matches = played / (players - 1)
    assert matches.min() > 300
    gains = 2 * won / played - 1  # what the learner got more than a bot, of the pot
    rates = 1 / players + gains * (players - 1) / players
    near = 0.01 + 4 * np.sqrt(rates * (1 - rates) / matches)
    assert (np.abs(found[:2] - rates) < near).all(), (found, rates, near)
    assert found[0] < 1 / players < found[1]
    assert found[2] == pytest.approx(1 / players, abs=0.02)
    np.testing.assert_array_equal(tables.paid, tables.chances.payoffs(tables.places))


def test_a_match_that_is_cut_short_says_nothing_of_who_wins():
    rules = Rules.preset("danish", max_rounds=2)
    league = League({"threshold:25": 1.0}, [(rules, 3)], self_play=0.3)
    tables = LeagueVecEnv(
        256, league, sizes=np.array([1, 4, 14]), reward="chances", seed=fresh_seed(),
        teacher="threshold:25",
    )  # fmt: skip
    for _ in range(60):
        tables.advance(tables.taught())
    assert tables.matches > 200
    before, after = tables.chances.state()["moves"].T
    assert (before > 0).all()
    assert (after < 0).mean() == 0
    assert (after > 0).any()
