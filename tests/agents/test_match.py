"""The match runner is fair, exact, and the same whatever the number of workers."""

import random

import numpy as np
import pytest
import torch

import thirtyone_env
from agents.evaluation import match
from agents.evaluation.match import IllegalActionError, lone, play
from tests.agents.small import small_policy, threshold_policy
from thirtyone_env import Rules

DANISH = Rules.preset("danish")


def run(policies, deals=200, seed=1, **options):
    return play(policies, rules=DANISH, deals=deals, seed=seed, **options)


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("name", ["random", "threshold:25", "dutch"])
def test_copies_of_one_bot_are_equal(name, size):
    result = run([name] * size)
    for p in range(size):
        payoff, rate = result.payoff(p), result.win_rate(p)
        assert payoff.low <= 1e-12
        assert payoff.high >= -1e-12
        assert rate.low - 1e-12 <= 1 / size <= rate.high + 1e-12


@pytest.mark.parametrize("size", [2, 4])
def test_copies_of_one_network_are_equal(size):
    net = small_policy()
    result = run([net] * size)
    assert all(result.payoff(p).mean == pytest.approx(0) for p in range(size))


def test_payoffs_of_a_match_sum_to_zero():
    result = run([small_policy(), "threshold:25", "random", "danish"], deals=50)
    np.testing.assert_allclose(result.payoffs.sum(axis=2), 0, atol=1e-12)
    assert sum(result.win_rate(p).mean for p in range(4)) == pytest.approx(1)


def test_every_policy_has_every_seat():
    assert match.seats_of(3).tolist() == [[0, 1, 2], [1, 2, 0], [2, 0, 1]]


def test_rotations_play_the_same_deals():
    """Against itself in both seats, a bot wins one rotation of a deal and loses the other."""
    result = run(["threshold:25", "threshold:25"])
    assert (result.payoffs[:, 0, 0] == result.payoffs[:, 1, 1]).all()
    assert (result.payoffs.mean(axis=(1, 2)) == 0).all()


@pytest.mark.parametrize("size", [2, 3, 4])
def test_a_network_that_imitates_a_bot_gets_its_results(size):
    """Batched decisions from outside and the bot in the kernel play the same matches."""
    net = run(lone(threshold_policy(25), "threshold:29", size))
    bot = run(lone("threshold:25", "threshold:29", size))
    assert (net.payoffs == bot.payoffs).all()


def test_a_bot_outside_the_kernel_plays_like_the_one_inside():
    class Outside:
        name = "outside"
        bot = thirtyone_env.make_bot("threshold:25")

        def act(self, env):
            return self.bot.act(env)

        def act_batch(self, tables, rows=None):
            return self.bot.act_batch(tables, rows)

    inside = run(["threshold:25", "danish"], deals=60)
    outside = run([Outside(), "danish"], deals=60)
    assert outside.names == ("outside", "danish")
    assert (inside.payoffs == outside.payoffs).all()


@pytest.mark.parametrize("opponent", ["random", "threshold:25"])
def test_workers_and_chunks_change_nothing(opponent, monkeypatch):
    policies = [small_policy(3), opponent, small_policy(4), "threshold:27"]
    before = run(policies, deals=300)
    monkeypatch.setattr(match, "CHUNK_DEALS", 37)
    for workers in (1, 2, 3):
        again = run(policies, deals=300, workers=workers)
        assert again.payoffs.tobytes() == before.payoffs.tobytes()
        for counts, counts_before in zip(again.knocks, before.knocks, strict=True):
            assert (counts.decisions == counts_before.decisions).all()
            assert (counts.knocks == counts_before.knocks).all()


def test_more_deals_begin_with_the_same_ones():
    few, many = (run(["danish", small_policy()], deals=deals) for deals in (50, 90))
    assert (many.payoffs[:50] == few.payoffs).all()


def test_another_seed_deals_other_cards():
    one, two = (run(["danish", "dutch"], seed=seed).payoffs for seed in (1, 2))
    assert (one != two).any()


def test_global_generators_and_threads_are_left_alone():
    before = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()  # noqa: NPY002
    threads = torch.get_num_threads()
    run([small_policy(), "random"], deals=20, workers=2)
    after = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()  # noqa: NPY002
    assert after == before
    assert torch.get_num_threads() == threads


def test_knocks_are_counted_where_they_happen():
    counts = run([threshold_policy(25), "threshold:27"]).knocks[0]
    assert counts.knocks[:, :25].sum() == 0
    assert (counts.knocks[:, 25:] == counts.decisions[:, 25:]).all()
    assert counts.knocks.sum() > 0
    assert counts.decisions[0].sum() > counts.decisions[1].sum() > 0


@pytest.mark.parametrize(
    ("answer", "message"), [(99, "action 99"), (-1, "action -1"), (2, "action 2"), (None, "gave")]
)
def test_an_illegal_action_is_refused(answer, message):
    class Cheat:
        name = "cheat"
        controller = "knock"

        def check(self, rules, num_players):
            pass

        def act_batch(self, tables, rows):
            return np.full(len(rows), answer) if answer is not None else np.zeros(0, int)

    with pytest.raises(IllegalActionError, match=f"cheat .*{message}"):
        run([Cheat(), "random"], deals=5)


def test_wrong_calls_are_refused():
    with pytest.raises(ValueError, match="num_players"):
        run(["random"])
    with pytest.raises(ValueError, match="at least 1"):
        run(["random"] * 2, deals=0)
    with pytest.raises(ValueError, match="not of 3"):
        run([small_policy(), "random", "random"])


def test_progress_counts_all_deals(monkeypatch):
    monkeypatch.setattr(match, "CHUNK_DEALS", 30)
    seen = []
    run(["random"] * 2, deals=100, workers=2, progress=seen.append)
    assert sorted(seen) == [10, 30, 30, 30]
