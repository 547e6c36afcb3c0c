"""Charts that answer a policy: what every knock would have paid is what it pays."""

import sys

import numpy as np
import pytest

from agents.evaluation.exploit import FixedExploiter, exploit, swings_of
from agents.policies import ScriptedPolicy, make
from agents.training.charts.answering import Moments, best_times, moments
from agents.training.charts.bank import NO_CELL
from agents.training.charts.training import axes_of
from agents.training.config import ChartConfig
from agents.training.exploit import ChartExploiter
from tests.engine.situations import fresh_seed
from thirtyone_env import Rules
from thirtyone_env.charts import Chart

DANISH = Rules.preset("danish")


def axes(players):
    return axes_of(ChartConfig(players=(players,)), players)


def paid(found, chart):
    """float64[N]: what each round pays one who knocks where the chart does, moment by moment."""
    result = found.ends.astype(np.float64)
    for row, cells in enumerate(found.cells):
        for turn, cell in enumerate(cells):
            if cell != NO_CELL and chart[cell]:
                result[row] = found.pays[row, turn]
                break
    return result


@pytest.mark.parametrize(
    ("target", "rules", "players", "draws"),
    [
        ("threshold:25", "danish", 2, "lookahead:4"),
        ("chart:danish", "danish", 4, "greedy"),
        ("random", "swedish", 3, "swedish"),
        ("counter", "dutch", 2, "counter"),
        ("lookahead:4", "schwimmen_a7", 3, "lookahead:2"),
        ("network:ppo_danish_heads_up", "danish", 2, "greedy"),
    ],
)
def test_a_chart_is_paid_what_its_moments_say(target, rules, players, draws, tmp_path):
    seed, deals, rules = fresh_seed(), 40, Rules.preset(rules)
    policy = make(target)
    found = moments(policy, rules, players, axes(players), draws=draws, deals=deals, seed=seed)
    table = np.random.default_rng(seed).random(axes(players).size) < 0.3
    chart = Chart.of(
        axes(players), table.reshape(axes(players).shape).astype(float), rules, draws=draws
    )
    file = tmp_path / "chart.json"
    file.write_text(chart.to_text())
    line_up = [ScriptedPolicy(f"chart:{file}"), *[policy] * (players - 1)]
    played = swings_of(line_up, rules, np.arange(deals), seed)[:, :, 0].ravel()
    np.testing.assert_allclose(paid(found, table), played, atol=1e-6)


def test_the_best_times_are_found_by_looking_back():
    cells = np.array([[0, 1], [0, 2], [NO_CELL, 1], [0, NO_CELL]], np.int32)
    pays = np.array([[0.0, 1.0], [0.5, -1.0], [9.0, 1.0], [-2.0, 9.0]], np.float32)
    found = Moments(cells, pays, np.zeros(4, np.float32))
    # to knock in 0 pays less than going on to 1, and to nothing in the rest
    assert best_times(found, np.array([0, 1, 1, 1]))[:3].tolist() == [0.0, 1.0, 0.0]
    assert np.isnan(best_times(found, np.array([0, 1, 1, 1]))[3])


def test_threads_do_not_change_an_answer():
    both = [
        moments(
            make("threshold:27"), DANISH, 2, axes(2), draws="greedy", deals=3000, seed=5, threads=n
        )
        for n in (1, 2)
    ]
    for one, other in zip(both[0].__dict__.values(), both[1].__dict__.values(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_fitted_chart_gains_more_than_any_threshold(tmp_path):
    suite = [
        ChartExploiter(tmp_path, deals=6_000),
        *(FixedExploiter(f"threshold:{points}") for points in range(24, 32)),
    ]
    found = exploit("threshold:25", suite, rules=DANISH, num_players=2, deals=6_000, seed=8)
    sys.stdout.write(f"{found.findings}\n")
    assert found.bound.exploiter == "chart response, greedy"
    assert found.bound.gain.low > 0.05


def test_a_policy_of_other_rules_is_left_out(tmp_path):
    suite = [FixedExploiter("random"), ChartExploiter(tmp_path, "chart:danish")]
    found = exploit("threshold:25", suite, rules=DANISH, num_players=2, deals=10, seed=1)
    assert "draws" in found.left_out[0]
