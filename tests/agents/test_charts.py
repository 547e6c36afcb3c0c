"""Learning charts: banks by the engine itself, exact small games, determinism, files of a run."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from agents.evaluation import chart_report
from agents.training import cli
from agents.training.charts import training
from agents.training.charts.bank import NO_CELL, Bank, deal_bank, life_swings
from agents.training.charts.learning import Learner, Recipe, Setting, filled, learn
from agents.training.charts.lives import pay_of, win_chances
from agents.training.charts.response import best_responses, knock_gains, worth
from agents.training.config import BenchmarkConfig, ChartConfig, ConfigError, from_mapping
from tests.engine.situations import fresh_seed
from thirtyone_env.actions import KNOCK
from thirtyone_env.arena import Tables
from thirtyone_env.charts import Axes, Chart, ChartError, chart_names
from thirtyone_env.policy import make_bot
from thirtyone_env.rules import Rules
from thirtyone_env.state import Phase

SMALL = Axes(first_players=2, seats=2, turns=2, first_value=40, value_step=8, values=3)
TINY = ChartConfig(
    name="tiny",
    players=(2, 3),
    bank=3000,
    batch=1000,
    passes=2,
    fit_rounds=500,
    score_rounds=500,
    table_rounds=500,
    benchmark=BenchmarkConfig(players=(2,), opponents=("random",), deals=20, workers=1),
)


def bank_of(rounds, players=2, axes=SMALL, seed=1, threads=1, rules="danish", **others):
    return deal_bank(
        Rules.preset(rules),
        players,
        axes,
        draws="greedy",
        seed=seed,
        first=0,
        rounds=rounds,
        threads=threads,
        **others,
    )


def alike(players):
    setting = Setting(np.zeros(players, np.int64), life_swings(players))
    return lambda chart: [setting]


# --- the bank ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("rules", "players"), [("danish", 3), ("dutch", 2), ("schwimmen_a7", 3)])
def test_a_bank_says_what_the_engine_says(rules, players):
    seed, size = fresh_seed(), 12
    axes = Axes(first_players=players, values=1)
    bank = bank_of(size, players, axes, seed, rules=rules)
    bot = make_bot("never_knock")
    for row in range(size):
        turns = int(bank.starts[row + 1] - bank.starts[row])
        for turn in [*range(turns), None]:
            tables = Tables(Rules.preset(rules), players, seed=seed, matches=[row])
            tables.states["one_round"] = 1
            if tables.states["phase"][0] == Phase.OVER:  # a dealt blitz
                continue
            first = (int(tables.states["dealer"][0]) + 1) % players
            place = int(bank.starts[row]) + (turn or 0)
            if turn is not None and bank.cells[place] == NO_CELL:
                continue
            played, knocked = 0, False
            while not tables.over[0]:
                starts_turn = tables.states["phase"][0] == Phase.TURN
                if starts_turn and played == turn and not knocked:
                    action, knocked = np.array([KNOCK]), True
                else:
                    action = bot.act_batch(tables)
                played += int(starts_turn)
                tables.act(action)
            losses = np.roll(tables.states["losses"][0, :players], -first)
            code = int(losses @ 3 ** np.arange(players))
            assert code == (bank.ends[row] if turn is None else bank.codes[place])


def test_a_bank_does_not_depend_on_threads():
    one, two = (bank_of(9000, threads=threads) for threads in (1, 2))
    for name in ("starts", "cells", "codes", "ends"):
        assert np.array_equal(getattr(one, name), getattr(two, name))


def test_a_cut_bank_is_worth_the_same():
    rng = np.random.default_rng(fresh_seed())
    chart = rng.choice([0.0, 0.5, 1.0], SMALL.size)
    chart.reshape(SMALL.shape)[..., -1] = 1.0  # both surely knock somewhere, so that rounds are cut
    pay = life_swings(2)
    whole, cut = bank_of(4000), bank_of(4000, cut=chart)
    assert len(cut.cells) < len(whole.cells)
    other = rng.choice([0.0, 1.0], SMALL.size)
    one, two = (worth([(other, chart)], [bank], pay, threads=1)[0] for bank in (whole, cut))
    assert one.mean == pytest.approx(two.mean, abs=1e-4)


# --- small games, exactly ----------------------------------------------------------------------


def exact_worth(lone, field, bank, pay):
    """What a bank is worth to a lone player, by plain sums over the rounds."""
    total = 0.0
    for row in range(bank.rounds):
        for seat in range(bank.places):
            run = 1.0
            for turn in range(bank.starts[row], bank.starts[row + 1]):
                cell = bank.cells[turn]
                if cell != NO_CELL:
                    place = (turn - bank.starts[row]) % bank.places
                    knock = (lone if place == seat else field)[cell]
                    total += run * knock * pay[bank.codes[turn], seat]
                    run *= 1 - knock
            total += run * pay[bank.ends[row], seat]
    return total / bank.rounds / bank.places


def true_best(chart, bank, pay):
    """The most that any of all answers is worth, each tried: seats answer apart."""
    pool = ThreadPoolExecutor(1)
    best = 0.0
    per_seat = SMALL.size // 2
    for seat in range(2):
        found = []
        for answer in product((0.0, 1.0), repeat=per_seat):
            lone = chart.copy()
            lone[seat * per_seat : (seat + 1) * per_seat] = answer
            found.append(worth([(lone, chart)], [bank], pay, threads=1)[0].mean)
        best += max(found) - worth([(chart, chart)], [bank], pay, threads=1)[0].mean
    pool.shutdown()
    return best


def test_worth_is_the_plain_sum():
    rng = np.random.default_rng(fresh_seed())
    lone, field = rng.random((2, SMALL.size))
    bank, pay = bank_of(300), life_swings(2)
    expected = exact_worth(lone, field, bank, pay)
    assert worth([(lone, field)], [bank], pay, threads=1)[0].mean == pytest.approx(expected)


def test_in_a_game_small_enough_the_chart_cannot_be_answered():
    """The rounds of one bank are the whole game: 300 deals of 12 cells, all 64 answers a seat."""
    bank, pay = bank_of(300), life_swings(2)
    recipe = Recipe(batch=300, passes=6000)
    chart = learn(bank, SMALL.shape, alike(2), recipe, threads=1).ravel()
    start = true_best(np.full(SMALL.size, 0.5), bank, pay)
    assert start > 0.1
    assert true_best(chart, bank, pay) < 0.004


def test_the_fitted_answer_is_the_true_one():
    bank, pay = bank_of(300), life_swings(2)
    turn_of = np.indices(SMALL.shape)[4].ravel()
    charts = [np.random.default_rng(seed).random(SMALL.size) for seed in range(4)]
    # No single cell of this one can be answered by more than 0.0001, but waiting in all of them.
    charts.append(np.array([0, 1, 0.5, 0, 0, 1, 0, 1, 0.5, 0, 0.532, 1]))
    assert true_best(charts[-1], bank, pay) > 0.04
    for chart in charts:
        answers = best_responses(chart, turn_of, bank, pay, threads=1)
        pairs = [(lone, chart) for lone in (*answers, chart)]
        gains = worth(pairs, [bank], pay, threads=1, minus=len(answers))
        best = max(gain.mean for gain in gains)
        assert best == pytest.approx(true_best(chart, bank, pay), abs=0.003)


def test_a_gain_is_the_difference_that_a_knock_makes():
    bank, pay = bank_of(200), life_swings(2)
    chart = np.random.default_rng(5).random(SMALL.size)
    with ThreadPoolExecutor(1) as pool:
        gains, _ = knock_gains(chart, chart, np.zeros(SMALL.size), bank, pay, pool)
    cell = int(np.indices(SMALL.shape)[4].ravel().argmin())  # a first turn: own reach is 1
    always, never = chart.copy(), chart.copy()
    always[cell], never[cell] = 1.0, 0.0
    one, two = (exact_worth(lone, chart, bank, pay) for lone in (always, never))
    assert gains[cell] / bank.rounds / 2 / 1.01 == pytest.approx(one - two, abs=1e-9)


def test_monotone_charts_are_monotone():
    bank = bank_of(2000)
    recipe = Recipe(batch=500, passes=5, shape="monotone")
    chart = learn(bank, SMALL.shape, alike(2), recipe, threads=1)
    assert (np.diff(chart, axis=-1) >= -1e-12).all()
    assert chart.max() > chart.min()


def test_unreached_cells_are_taken_from_their_neighbours():
    chart = np.full((1, 1, 1, 1, 2, 1, 1, 4), np.nan)
    chart[0, 0, 0, 0, 0, 0, 0] = [np.nan, 0.2, np.nan, 0.8]
    table = filled(chart.ravel(), chart.shape)[0, 0, 0, 0, :, 0, 0]
    assert table.tolist() == [[0.2, 0.2, 0.2, 0.8]] * 2
    assert not filled(np.full(4, np.nan), (1, 1, 1, 1, 1, 1, 1, 4)).any()


# --- lives -------------------------------------------------------------------------------------


def test_chances_to_win_by_hand():
    """Every round the first player loses one life: the second of one life each wins at once."""
    outcomes = np.zeros((3, 3, 9))
    outcomes[:, :, 1] = 1.0
    chances = win_chances(Rules.preset("danish"), outcomes)
    assert chances[1, 1] == pytest.approx(0.0)
    assert chances[2, 1] == pytest.approx(1.0)  # then the other one is first
    assert chances[2, 2] == pytest.approx(0.0)
    assert chances[3, 3] == pytest.approx(0.0)


def test_what_a_code_leaves():
    danish, swedish = Rules.preset("danish"), Rules.preset("swedish")
    chances = np.full((5, 5), 0.5)
    assert pay_of(danish, chances, 1, 2)[1].tolist() == [0.0, 1.0]  # the first player is out
    assert pay_of(danish, chances, 2, 2)[2].tolist() == [0.0, 1.0]  # by two lives
    assert pay_of(danish, chances, 1, 1)[4].tolist() == [0.5, 0.5]  # both: a decider
    assert pay_of(swedish, chances, 2, 2)[2].tolist() == [0.5, 0.5]  # the free ride is left


# --- runs --------------------------------------------------------------------------------------


def test_a_chart_is_the_same_for_a_seed_whatever_the_threads():
    one, two = (training.train(replace(TINY, threads=threads)).to_text() for threads in (1, 2))
    same = [json.loads(text)["table"] for text in (one, two)]
    assert same[0] == same[1]
    other = json.loads(training.train(replace(TINY, seed=2)).to_text())["table"]
    assert other != same[0]


def test_a_run_leaves_chart_pictures_and_figures(tmp_path, capsys):
    path = tmp_path / "tiny.yaml"
    keys = ("players", "bank", "batch", "passes", "fit_rounds", "score_rounds", "table_rounds")
    values = {key: getattr(TINY, key) for key in keys} | {"name": "tiny", "algorithm": "chart"}
    path.write_text(json.dumps({**values, "runs": str(tmp_path / "runs")}), "utf-8")
    assert cli.main([str(path)]) == 0
    folder = tmp_path / "runs" / "tiny-1"
    names = {each.name for each in folder.iterdir()}
    assert names >= {"chart.json", "knock.csv", "knock.json", "figures.json", "chart.html"}
    assert names >= {"chart_2.png", "chart_3.svg", "config.yaml", "card.md"}
    card = (folder / "card.md").read_text("utf-8")
    assert "| `knocker_lowest_loss` | 2 |" in card
    assert "| `bank` | 3,000 |" in card
    assert "| 3 | " in card
    assert "(chart_2.png)" in card
    chart = Chart.load(folder / "chart.json")
    assert chart.players == (2, 3)
    assert len(chart.card["figures"]) == 2
    assert "2 players: answered by" in capsys.readouterr().out


def test_differences_are_drawn_of_charts_with_the_same_axes():
    chart = training.train(replace(TINY, players=(2,)))
    assert chart_report.difference(chart, chart, 2).axes
    with pytest.raises(ChartError, match="other axes"):
        chart_report.difference(chart, training.train(replace(TINY, players=(2,), turns=3)), 2)


def test_cells_that_are_fixed_are_played_and_stay():
    bank, pay, size = bank_of(500, seed=fresh_seed()), life_swings(2), SMALL.size
    never, always = np.zeros(size), np.ones(size)
    met = [np.array([0, size]), np.array([size, 0])]
    charts = []
    for fixed in (never, always):
        learner = Learner(size, SMALL.values, Recipe(batch=500, passes=3), 3, fixed)
        with ThreadPoolExecutor(1) as pool:
            for _ in range(3):
                learner.update(bank, [Setting(offsets, pay) for offsets in met], pool)
        np.testing.assert_array_equal(learner.chart[size:], fixed)
        assert learner.average().shape == (size,)
        charts.append(learner.chart[:size])
    assert (charts[0] != charts[1]).any()


def test_a_chart_that_knows_lives_is_learned_against_a_blind_one():
    config = replace(TINY, players=(2,), lives=True, bank=2000)
    one, other = training.train(config), training.train(replace(config, meets_blind=True))
    assert one.axes == other.axes
    assert (one.table != other.table).any()


def test_a_chart_that_knows_lives_is_learned():
    config = replace(TINY, players=(2,), lives=True, bank=2000)
    chart = training.train(config)
    assert chart.axes.own_lives == chart.axes.other_lives == 3
    assert not np.array_equal(chart.table[0, 0, 0], chart.table[0, 2, 2])


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("players", [2, 4], "one after the other"),
        ("draws", "best", "draws"),
        ("cooled", 2, "above 0, up to 1"),
        ("rate", 0, "rate must be a number above 0"),
        ("bank", 1, "bank"),
        ("meets_blind", True, "know lives"),
        ("banks", 1, "did you mean bank"),
        ("lives", True, "heads-up"),
        ("pick_ups", 4, "pick_ups must be 1, 2 or 3"),
    ],
)
def test_bad_configurations_are_refused(key, value, message):
    with pytest.raises(ConfigError, match=message):
        from_mapping({"algorithm": "chart", key: value})


def test_a_bank_is_cut_into_parts_that_make_the_whole():
    bank = bank_of(100)
    parts = [bank.part(0, 30), bank.part(30, 100)]
    assert isinstance(parts[0], Bank)
    assert np.array_equal(np.concatenate([part.cells for part in parts]), bank.cells)
    assert parts[1].starts[0] == 0


# --- charts that come with the package ---------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("name", chart_names())
def test_a_shipped_chart_beats_every_fixed_threshold(name, players):
    """Alone among them and as the field, on cards that it was not measured on before."""
    chart, rounds = Chart.load(name), training.rounds_of(400_000, players)
    tables = training.against_thresholds(chart, players, rounds=rounds, seed=2026, threads=2)
    for table in tables:
        assert set(table) == set(range(17, 32))
        assert {threshold for threshold, gain in table.items() if gain.low <= 0} == set()


def test_a_table_against_thresholds_can_fail():
    """A chart that never knocks loses to those that knock."""
    chart = Chart.of(SMALL, np.zeros(SMALL.shape), Rules.preset("danish"))
    alone, field = training.against_thresholds(chart, 2, rounds=3000, seed=1, threads=1)
    assert alone[25].high < 0
    assert field[25].high < 0
    assert alone[31].mean == 0.0
