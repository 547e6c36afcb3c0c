"""The same seed gives the same bytes: compiled or not, whatever the process, threads or chunks."""

import json
import random

import numpy as np
import pytest

from tests.engine.perft import by_checker, by_engine
from tests.engine.played import BOTS, match_of, records
from tests.engine.processes import finished, run, start
from tests.engine.situations import fresh_seed
from thirtyone_env import game
from thirtyone_env.arena import Tables, play_matches
from thirtyone_env.policy import make_bot
from thirtyone_env.record import Recorder, dump, play_match
from thirtyone_env.rules import PRESETS, Rules
from thirtyone_env.state import Phase


@pytest.fixture(autouse=True)
def few_are_spread(monkeypatch):
    """So few rows and matches are spread over threads, too."""
    monkeypatch.setattr("thirtyone_env.threads.LEAST_ROWS", 1)
    monkeypatch.setattr("thirtyone_env.arena.LEAST_MATCHES", 1)


PLAYED = ("-m", "tests.engine.played")


# --- compiled equals interpreted ---------------------------------------------------------------


def both_ways(kind: str, number: int) -> tuple[list[str], list[str]]:
    """The lines of a compiled and of an interpreted process."""
    interpreted = start(*PLAYED, kind, str(number), NUMBA_DISABLE_JIT="1")
    compiled, _ = run(*PLAYED, kind, str(number), NUMBA_DISABLE_JIT=None)
    return compiled.splitlines(), finished(interpreted)[0].splitlines()


@pytest.mark.parametrize(("kind", "number"), [("records", 100), ("observations", 24)])
def test_compiled_equals_interpreted(kind, number):
    compiled, interpreted = both_ways(kind, number)
    assert len(compiled) == number
    assert compiled == interpreted


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "number"), [("records", 2000), ("observations", 300)])
def test_compiled_equals_interpreted_in_many_matches(kind, number):
    compiled, interpreted = both_ways(kind, number)
    assert len(compiled) == number
    assert compiled == interpreted


# --- nothing but the seed ----------------------------------------------------------------------


def test_records_do_not_depend_on_the_hash_seed():
    processes = [start(*PLAYED, "records", "30", PYTHONHASHSEED=s) for s in ("0", "1", "random")]
    first, *others = [finished(process)[0] for process in processes]
    assert first.splitlines() == list(records(30))
    assert others == [first, first]


def scramble() -> None:
    """Put every global random generator somewhere else."""
    random.seed()
    np.random.seed(random.randrange(1 << 32))  # noqa: NPY002 (the global one is meant)


@pytest.mark.parametrize("number", range(0, 40, 3))
def test_global_generators_do_not_matter(number):
    rules, bots = match_of(number)
    expected = dump(play_match(rules, bots, seed=7, deal=number))
    recorder = Recorder(rules, len(bots), seed=7, deal=number, policies=bots)
    players = [make_bot(name) for name in bots]
    while not recorder.over:
        scramble()
        if recorder.states["phase"][0] == Phase.ROUND_OVER:
            recorder.deal_round()
        else:
            player = players[int(recorder.states["seat"][0])]
            recorder.take(int(player.choose(recorder.states, np.array([0]))[0]))
    assert dump(recorder.record) == expected


def test_another_seed_or_match_is_another_deal():
    rules = PRESETS["danish"]
    pairs = [(seed, match) for seed in (0, 1, 2, 2**63 - 1) for match in (0, 1, 2)]
    hands = [game.new_match(rules, 9, seed=s, match=m)["hands"].tobytes() for s, m in pairs]
    assert len(set(hands)) == len(pairs)


# --- cards are a function of seed, match and round ---------------------------------------------


@pytest.mark.parametrize("name", ["danish", "danish_reshuffle", "dutch", "schwimmen_german"])
def test_cards_do_not_depend_on_what_was_played(name):
    seed = fresh_seed()
    rng = random.Random(seed)
    for match in range(25):
        seats = rng.randint(2, 5)
        one, other = (
            play_match(PRESETS[name], rng.choices(BOTS, k=seats), seed=seed, deal=match)
            for _ in range(2)
        )
        same_seats = True
        for first, second in zip(one["rounds"], other["rounds"], strict=False):
            same_seats &= first["in_play"] == second["in_play"]
            if same_seats:
                for key in ("dealer", "hands", "upcard", "stock"):
                    assert first[key] == second[key]
            # Whoever is dealt in, it is the same deck.
            length = min(len(first["stock"]), len(second["stock"]))
            assert first["stock"][-length:] == second["stock"][-length:]


def test_fewer_players_are_dealt_from_the_same_deck():
    deals = {}
    for seats in (2, 3):
        recorder = Recorder(PRESETS["danish"], seats, seed=5, deal=3, dealer=0)
        recorder.deal_round()
        deals[seats] = recorder.record["rounds"][0]
    assert deals[2]["stock"][3:] == deals[3]["stock"]
    assert deals[2]["stock"][2] == deals[3]["upcard"]


# --- counts of action sequences ----------------------------------------------------------------

SMALL = {"low_rank": 9}
DEALS: dict[str, tuple[Rules, int, list[int]]] = {
    "danish": (PRESETS["danish"], 2, [4, 14, 49, 147, 490, 1519, 4949, 15582]),
    "swedish": (PRESETS["swedish"], 3, [3, 9, 28, 77, 245, 539, 1715, 3773]),
    "dutch": (PRESETS["dutch"], 2, [2, 7, 14, 49, 147, 490, 1372, 3430]),
    "schwimmen": (PRESETS["schwimmen_a7"], 2, [2, 12, 52, 224, 902, 3799, 15568, 64645]),
    "german": (PRESETS["schwimmen_german"], 3, [2, 10, 38, 166, 685, 3119, 14662, 68484]),
    "widow": (PRESETS["widow"], 2, [6, 26, 115, 464, 1963, 8102, 33871, 140660]),
    "four cards": (PRESETS["danish_four_cards"], 2, [4, 16, 61, 205, 754, 2599, 9385, 32776]),
    "at least 21": (PRESETS["danish_min_knock_21"], 3, [3, 10, 31, 101, 318, 1025, 3251, 10426]),
    "void": (
        Rules.preset("danish", **SMALL),
        7,
        [4, 14, 52, 181, 582, 1847, 5666, 17059, 50291, 144007],
    ),
    "showdown": (
        Rules.preset("dutch", **SMALL),
        7,
        [2, 7, 14, 49, 98, 279, 558, 1377, 2754, 6183],
    ),
    "continue": (
        Rules.preset("danish_continue", **SMALL),
        7,
        [4, 14, 52, 181, 630, 2071, 6706, 20883, 63747, 187847],
    ),
}
"""Rules, seats, and how many sequences of 1, 2 … actions follow from the deal of seed 31."""


def assert_counts(name: str, depths: range) -> None:
    rules, seats, numbers = DEALS[name]
    states = game.new_match(rules, seats, seed=31, dealer=seats - 1, one_round=True)
    recorder = Recorder(rules, seats, seed=31, dealer=seats - 1)
    recorder.deal_round()
    deal = json.loads(dump(recorder.record))["rounds"][0]
    for depth in depths:
        assert by_engine(states, depth) == numbers[depth - 1]
        assert by_checker(rules.to_dict(), deal, depth) == numbers[depth - 1]


@pytest.mark.parametrize("name", DEALS)
def test_counts_of_action_sequences(name):
    assert_counts(name, range(1, 7))


@pytest.mark.slow
@pytest.mark.parametrize("name", DEALS)
def test_counts_of_long_action_sequences(name):
    assert_counts(name, range(7, len(DEALS[name][2]) + 1))


# --- batches and threads -----------------------------------------------------------------------


def test_matches_do_not_depend_on_threads_or_chunks():
    rules, bots, matches = PRESETS["dutch"], ["random", "danish", "threshold:28"], np.arange(1200)
    whole = play_matches(rules, bots, seed=9, matches=matches, threads=1)
    for threads in (2, 3, 7):
        assert (play_matches(rules, bots, seed=9, matches=matches, threads=threads) == whole).all()
    parts = [play_matches(rules, bots, seed=9, matches=p) for p in np.array_split(matches, 17)]
    assert (np.concatenate(parts) == whole).all()
    shuffled = np.random.default_rng(0).permutation(matches)
    assert (play_matches(rules, bots, seed=9, matches=shuffled, threads=2) == whole[shuffled]).all()


@pytest.mark.parametrize("name", ["danish_joker", "dutch_buy_in", "schwimmen_german", "widow"])
def test_a_batch_plays_what_single_matches_play(name):
    rules, bots = PRESETS[name], ["threshold:29", "random", "danish"]
    payoffs = play_matches(rules, bots, seed=4, matches=np.arange(40), threads=2)
    singles = [play_match(rules, bots, seed=4, deal=match)["returns"] for match in range(40)]
    assert np.abs(payoffs - singles).max() < 1e-6


def test_rows_of_a_mixed_batch_do_not_depend_on_each_other():
    matches = [match_of(number) for number in range(60)]
    rules, seats = [rules for rules, _ in matches], [len(bots) for _, bots in matches]
    results = []
    for threads, rows in ((1, range(60)), (3, range(60)), (2, range(59, -1, -1))):
        order = list(rows)
        tables = Tables(
            [rules[row] for row in order],
            [seats[row] for row in order],
            seed=7,
            matches=order,
            threads=threads,
        )
        for place, row in enumerate(order):
            for seat, name in enumerate(matches[row][1]):
                tables.set_controllers(place, seat, name)
        tables.play()
        assert tables.over.all()
        results.append(tables.payoffs()[np.argsort(order)])
    assert (results[0] == results[1]).all()
    assert (results[0] == results[2]).all()
    for number in range(0, 60, 7):
        returns = play_match(*matches[number], seed=7, deal=number)["returns"]
        assert np.abs(results[0][number, : len(returns)] - returns).max() < 1e-6


# --- fair seats --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["danish", "swedish", "dutch", "schwimmen_a7", "widow", "scat"])
@pytest.mark.parametrize("bots", [("danish", "random", "swedish"), ("threshold:25", "dutch")])
def test_no_seat_is_better_than_another(name, bots):
    number, rules = 20_000, PRESETS[name]
    of_bot: list[list[np.ndarray]] = [[] for _ in bots]
    for turn in range(len(bots)):
        seated = [bots[(seat + turn) % len(bots)] for seat in range(len(bots))]
        matches = np.arange(number) + turn * number
        payoffs = play_matches(rules, seated, seed=11, matches=matches)
        for seat in range(len(bots)):
            of_bot[(seat + turn) % len(bots)].append(payoffs[:, seat])
    for samples in of_bot:
        means = np.array([sample.mean() for sample in samples])
        error = np.sqrt(sum(sample.var() for sample in samples) / len(samples) / number)
        assert np.abs(means - means.mean()).max() <= 4.5 * error
