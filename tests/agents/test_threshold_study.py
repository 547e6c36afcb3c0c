"""The study of thresholds against an independent simulation, and its answers against each other."""

import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from agents.evaluation import threshold_study
from agents.evaluation.cli import main
from agents.evaluation.equilibrium import Mixture
from agents.evaluation.match import lone, play
from agents.evaluation.threshold_study import block_deals, losses_after, match_values
from agents.evaluation.threshold_tables import summary_of
from thirtyone_env import Rules
from thirtyone_env.thresholds import threshold_payoffs

DANISH = Rules.preset("danish")
LIMITS = (21, 25, 27, 29, 30, 31)


@pytest.fixture(scope="module")
def results():
    return threshold_study.run(
        DANISH, players=(2, 3), thresholds=LIMITS, deals=4000, larger_deals=100, seed=3
    )


def test_payoffs_are_those_of_the_match_runner(results):
    """The same deals, played one by one by the bots: equal, not merely close."""
    two, three = results.payoffs
    for i, j in ((0, 3), (2, 3), (4, 5)):
        names = [f"threshold:{LIMITS[k]}" for k in (i, j)]
        heads_up = play(names, rules=DANISH, deals=4000, seed=3)
        assert two.matrix[i, j] == pytest.approx(heads_up.payoff(0).mean, abs=1e-12)
        assert two.half[i, j] == pytest.approx(heads_up.payoff(0).half, rel=0.01)
        among = play(lone(*names, 3), rules=DANISH, deals=100, seed=3)
        assert three.matrix[i, j] == pytest.approx(among.payoff(0).mean, abs=1e-12)


def test_payoffs_agree_with_other_deals(results):
    """An independent simulation: other cards, the bots one by one."""
    other = play(["threshold:30", "threshold:31"], rules=DANISH, deals=3000, seed=999).payoff(0)
    mine, half = results.payoffs[0].matrix[4, 5], results.payoffs[0].half[4, 5]
    assert abs(mine - other.mean) < 1.7 * np.hypot(half, other.half)


def test_one_gains_what_the_other_loses(results):
    matrix = results.payoffs[0].matrix
    assert (matrix == -matrix.T).all()
    assert results.payoffs[0].mixture.value == pytest.approx(0, abs=1e-12)


def test_nothing_beats_the_mixture(results):
    for payoffs in results.payoffs:
        shares = payoffs.mixture.shares
        assert (payoffs.matrix @ shares).max() <= payoffs.mixture.value + 1e-9
        for share in payoffs.shares:
            assert 0 <= share.low <= share.mean <= share.high <= 1


def test_the_circle_is_there(results):
    """31 beats 21 and 25, 27 beats 29, 29 and 30 beat 31: no order from best to worst."""
    two = results.payoffs[0]
    at = {limit: k for k, limit in enumerate(LIMITS)}
    for better, worse in ((31, 21), (31, 25), (27, 29), (29, 31), (30, 31)):
        cell = at[better], at[worse]
        assert two.matrix[cell] - two.half[cell] > 0, (better, worse)
    assert two.circle()
    circle = [LIMITS[k] for k in two.reply_circle()]
    assert len(circle) > 2
    assert (two.mixture.shares > 0).sum() > 1
    text = " ".join(summary_of(results))
    assert "no order from best to worst" in text
    assert "best replies go in a circle" in text


def test_replies_are_best(results):
    two = results.payoffs[0]
    for j, best in enumerate(two.replies()):
        assert two.matrix[best, j] == two.matrix[:, j].max()


def test_a_threshold_that_nothing_gets_more_against_answers_itself(results):
    """Not another one that gets as much but for the last bit of a sum."""
    matrix = np.zeros((6, 6))
    matrix[0, 1] = 1e-17
    even = replace(results.payoffs[1], matrix=matrix)
    assert even.replies() == list(range(6))
    assert even.reply_circle() == [int(np.argmax(even.mixture.shares))]


def test_nothing_is_called_unbeaten_for_the_greater_part_of_a_mixture(results):
    most = Mixture(np.array([0.96, 0.04, 0, 0, 0, 0]), 0.0)
    mixed = replace(results.payoffs[0], mixture=most)
    text = " ".join(summary_of(replace(results, payoffs=(mixed,))))
    assert "is unbeaten" not in text
    assert "mixture" in text


def test_the_bootstrap_draws_many_blocks_of_few_deals():
    """From three blocks it would draw the same ones again and again, and be sure of accidents."""
    for deals in (100, 120, 500, 1999, 50_000):
        assert deals / block_deals(deals) >= 40
    assert block_deals(100_000) == 50
    rules = Rules.preset("dutch")
    limits = (21, 22, 23, 25, 28)
    (found,) = threshold_study.run(
        rules, players=(4,), thresholds=limits, larger_deals=120, seed=90_000
    ).payoffs
    sure = found.shares[limits.index(22)]  # 21 gets as much against it as it gets itself
    assert sure.mean == 1
    assert sure.low < 0.5


@pytest.mark.parametrize("preset", ["danish", "swedish", "finnish"])
def test_rounds_put_together_are_matches(preset):
    """Two fixed thresholds, solved backwards from single rounds, get what whole matches show."""
    rules = Rules.preset(preset)
    payoffs, outcomes = threshold_payoffs(rules, (24, 29), seed=5, matches=np.arange(20_000))
    chances = outcomes / outcomes.sum(axis=(2, 3), keepdims=True)
    for i, j in ((0, 1), (1, 1), (0, 0)):
        most = rules.lives + rules.free_ride

        def value(i, j, most=most, chances=chances, rules=rules):
            """Payoff of who begins with threshold i; the roles change every round."""
            both = np.stack([chances[i, j], chances[j, i]])
            return _values(rules, both, most)

        mean = payoffs[:, i, j].mean(), -payoffs[:, j, i].mean()
        error = payoffs[:, i, j].std() / np.sqrt(len(payoffs))
        begins, second = value(i, j), -value(j, i)
        assert np.mean(mean) == pytest.approx((begins + second) / 2, abs=4 * error)


def _values(rules, chances, most):
    """float: payoff of who begins, where the rounds' chances take turns."""
    value = np.zeros((2, most + 1, most + 1))
    value[:, 1:, 0], value[:, 0, 1:] = 1, -1
    for _ in range(200):
        for turn in (0, 1):
            for a in range(1, most + 1):
                for b in range(1, most + 1):
                    total = 0.0
                    for x in range(3):
                        for y in range(3):
                            own, other = losses_after(rules, a, x), losses_after(rules, b, y)
                            if own == other == 0:
                                own = other = 1
                            after = -value[1 - turn, other, own]
                            if not own or not other:
                                after = 1.0 if own else -1.0
                            total += chances[turn, x, y] * after
                    value[turn, a, b] = total
    return value[0, most, most]


def test_losses_to_go_follow_the_rules():
    ride = Rules.preset("swedish")
    assert [losses_after(DANISH, 3, loss) for loss in (0, 1, 2)] == [3, 2, 1]
    assert losses_after(DANISH, 1, 2) == 0
    assert losses_after(ride, 2, 2) == 1, "two lives lost with one left: the free ride is given"
    assert losses_after(ride, 1, 1) == 0
    assert losses_after(ride, 4, 2) == 2


def test_play_by_lives_is_unbeaten(results):
    """Against the mixtures by lives no threshold at any state gets more."""
    lives = results.lives
    _, outcomes = threshold_payoffs(DANISH, LIMITS, seed=3, matches=np.arange(4000))
    chances = outcomes / outcomes.sum(axis=(2, 3), keepdims=True)
    worst = []

    def check(game, a, b):
        p, q = lives.begins[a - 1, b - 1], lives.other[a - 1, b - 1]
        worst.append(max((game @ q).max() - p @ game @ q, p @ game @ q - (p @ game).min()))
        return float(p @ game @ q)

    value = match_values(DANISH, chances, check)
    assert value == pytest.approx(lives.value, abs=1e-3)
    assert max(worst[-9:]) < 1e-3
    assert (np.diff(value, axis=0) > 0).all(), "more lives are better"


def test_by_turn_early_knocks_gain_with_little(results):
    turns = results.turns
    assert turns.reached[0, 0].sum() == pytest.approx(1, abs=0.02)
    gain = turns.gain[:, 3, 15:20]
    assert (gain[~np.isnan(gain)] < 0).all(), "a knock with 15 to 19 on the fourth turn costs"


def test_workers_change_nothing():
    found = [
        threshold_study.run(
            DANISH, players=(2, 3), thresholds=(25, 29), deals=1200, larger_deals=600, workers=w
        )
        for w in (1, 2, 8)
    ]
    for other in found[1:]:
        for mine, theirs in zip(found[0].payoffs, other.payoffs, strict=True):
            assert mine.matrix.tobytes() == theirs.matrix.tobytes()
            assert mine.shares == theirs.shares
        assert found[0].turns.gain.tobytes() == other.turns.gain.tobytes()
        assert found[0].lives.begins.tobytes() == other.lives.begins.tobytes()


def words(*more):
    return ["thresholds", "--first", "28", "--deals", "300", "--larger-deals", "100", *more]


@pytest.mark.parametrize("rules", ["danish", "dutch_buy_in", "schwimmen_a7"])
def test_the_command_prints_tables_that_fit(rules, capsys):
    assert main(words("--rules", rules)) == 0
    out = capsys.readouterr().out
    assert "unbeaten mixture" in out
    assert max(map(len, out.splitlines())) <= 80


def test_the_command_prints_json_and_csv(capsys):
    assert main(words("--format", "json")) == 0
    data = json.loads(capsys.readouterr().out)
    assert len(data["payoffs_2_players"]["rows"]) == 16
    assert main(words("--format", "csv", "--house-rules", "lives=2")) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [float(row["threshold"]) for row in rows] == [28, 29, 30, 31]
    assert sum(float(row["share"]) for row in rows) == pytest.approx(1)


def test_the_command_writes_a_page(tmp_path):
    assert main(words("--players", "2,3", "--out", str(tmp_path))) == 0
    page = (tmp_path / "report.html").read_text("utf-8")
    assert page.count("<svg") == 6
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)|url\((?!#)|@import""", page)
    assert (tmp_path / "payoffs_3_players.png").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--last", "20"), "must lie below"),
        (("--deals", "10"), "deals = 10 is not allowed; allowed: 100 or more"),
        (("--larger-deals", "7"), "larger_deals = 7 is not allowed; allowed: 100 or more"),
        (("--players", "99"), "num_players"),
        (("--players", ""), "--players"),
        (("--last", "61"), "--last 61: thresholds are 0 … 60 points"),
        (("--first", "-1"), "--first -1: thresholds are 0 … 60 points"),
        (("--format", "parquet"), "--out"),
    ],
)
def test_the_command_refuses_what_is_wrong(more, message, capsys):
    assert main(words(*more)) == 2
    assert message in capsys.readouterr().err
