"""Intervals cover what they promise, by simulation, and say what they cannot do."""

import numpy as np
import pytest

from agents.evaluation.statistics import mean_interval, rate_interval


def covered(interval, draw, truth, trials=2000):
    """Share of trials in which the interval holds the truth."""
    rng = np.random.default_rng(7)
    estimates = [interval(draw(rng)) for _ in range(trials)]
    return np.mean([e.low <= truth <= e.high for e in estimates])


def test_the_mean_of_normal_values_is_covered_exactly():
    share = covered(mean_interval, lambda rng: rng.normal(3, 2, 12), 3.0)
    assert 0.935 < share < 0.965


def test_clustered_wins_are_covered():
    """Two games of a deal that are won or lost together half of the time."""

    def draw(rng):
        first = rng.random(300) < 0.6
        again = np.where(rng.random(300) < 0.5, first, rng.random(300) < 0.6)
        return (first + again.astype(float)) / 2

    assert 0.935 < covered(rate_interval, draw, 0.6) < 0.965


def test_forgetting_the_clusters_would_cover_too_little():
    def draw(rng):
        return np.repeat(rng.random(150) < 0.6, 2).astype(float)

    assert covered(rate_interval, draw, 0.6) < 0.9


def test_rare_losses_are_covered():
    assert covered(rate_interval, lambda rng: (rng.random(500) < 0.99) * 1.0, 0.99) > 0.935


def test_nothing_but_wins_still_leaves_doubt():
    estimate = rate_interval(np.ones(100))
    assert estimate.mean == estimate.high == 1.0
    assert 0.95 < estimate.low < 0.97  # Wilson with 100 of 100: 96.3 %


def test_rates_stay_within_their_range():
    estimate = rate_interval(np.array([1.0] * 20 + [0.5]))
    assert 0 < estimate.low < estimate.mean < estimate.high <= 1.0


def test_deals_that_are_split_evenly_leave_no_doubt():
    estimate = rate_interval(np.full(50, 0.5))
    assert estimate.low == estimate.mean == estimate.high == 0.5


def test_far_from_the_ends_both_intervals_agree():
    values = (np.random.default_rng(1).random(4000) < 0.55) * 1.0
    rate, mean = rate_interval(values), mean_interval(values)
    assert rate.low == pytest.approx(mean.low, abs=2e-4)
    assert rate.high == pytest.approx(mean.high, abs=2e-4)


@pytest.mark.parametrize(
    ("values", "message"),
    [([0.5], "two deals"), ([0.0, 1.5], "between 0 and 1")],
)
def test_bad_values_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        rate_interval(np.array(values))


def test_a_bad_level_is_refused():
    with pytest.raises(ValueError, match="level"):
        mean_interval(np.zeros(3), level=95)
