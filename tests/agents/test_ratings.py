"""Ratings: the right worths, ties and equal ranks treated alike, no order anywhere."""

import numpy as np
import pytest

from agents.evaluation.ratings import POINTS, Result, rate

RNG_SEED = 20261130


def duel(rng, chance, deals=400, draws=0.0, members=(0, 1)):
    """Places of two, one of whom wins with a chance; some matches are shared."""
    won = rng.random((deals, 2)) < chance
    places = np.where(won[..., None], [1.0, 2.0], [2.0, 1.0])
    places[rng.random((deals, 2)) < draws] = 1.5
    return Result(members, places)


def luce(rng, worths, members, deals=1500):
    """Finishing orders drawn by worth, one deal a match."""
    times = rng.exponential(size=(deals, 1, len(members))) / worths[list(members)]
    return Result(members, 1.0 + np.argsort(np.argsort(times, axis=2), axis=2))


def points(results, size):
    return np.array([rating.points.mean for rating in rate(results, size)])


def check(found, worths):
    """Distances between ratings are those of the worths, within their intervals."""
    truth = np.log(worths) * POINTS
    for i, one in enumerate(found):
        for j, two in enumerate(found):
            margin = 1.4 * np.hypot(one.points.half, two.points.half)
            gap = one.points.mean - two.points.mean
            assert gap == pytest.approx(truth[i] - truth[j], abs=margin)


def test_a_hopeless_one_does_not_blur_the_others():
    rng = np.random.default_rng(RNG_SEED)
    equals = [duel(rng, 0.5, 300, 0, (a, b)) for a, b in ((0, 1), (0, 2), (1, 2))]
    lost = [Result((a, 3), np.tile([1.0, 2.0], (300, 2, 1))) for a in range(3)]
    without, among = rate(equals, 3), rate(equals + lost, 4)
    for before, after in zip(without, among, strict=False):
        assert after.points.half < 1.3 * before.points.half
    assert among[3].points.mean < -300


def test_two_without_ties_are_bradley_and_terry():
    result = duel(np.random.default_rng(1), 0.7)
    won = (result.places[:, :, 0] == 1).mean()
    found = points([result], 2)
    assert found[0] - found[1] == pytest.approx(400 * np.log10(won / (1 - won)), abs=0.3)
    assert found.sum() == pytest.approx(0, abs=1e-9)


def test_worths_of_longer_orders_are_found():
    rng = np.random.default_rng(RNG_SEED)
    worths = np.exp([0.6, 0.1, 0.0, -0.2, -0.5])
    results = [luce(rng, worths, m) for m in ((0, 1, 2, 3), (1, 2, 3, 4), (0, 2, 4, 3))]
    check(rate(results, 5), worths)


def test_copies_count_for_their_policy():
    """One alone among three copies: the worth is its odds against each of them."""
    rng = np.random.default_rng(RNG_SEED)
    worths = np.exp([0.8, 0.0])
    found = points([luce(rng, worths, (0, 1, 1, 1), deals=6000)], 2)
    assert found[0] - found[1] == pytest.approx(0.8 * POINTS, abs=14)


def shared_places(rng, worths, tie, deals):
    """Finishing orders of three by the model itself: two share a place with weight tie × √(ab)."""
    orders = np.zeros((deals, 1, 3))
    for order in orders[:, 0]:
        left, place = [0, 1, 2], 1
        while left:
            groups = [(a,) for a in left] + [(a, b) for a in left for b in left if a < b]
            weights = np.array([np.prod(worths[list(g)]) ** (1 / len(g)) for g in groups])
            weights *= [tie if len(g) == 2 else 1.0 for g in groups]
            group = groups[rng.choice(len(groups), p=weights / weights.sum())]
            for member in group:
                order[member] = place + (len(group) - 1) / 2
                left.remove(member)
            place += len(group)
    return Result((0, 1, 2), orders)


def test_worths_are_found_where_places_are_shared():
    rng = np.random.default_rng(RNG_SEED)
    worths = np.exp([1.5, 0.0, -1.5])
    found = rate([shared_places(rng, worths, 2.0, 6000)], 3)
    check(found, worths)
    assert all(rating.points.half < 25 for rating in found)


def test_twenty_shuffles_change_nothing():
    """Neither of the deals nor of the line-ups nor of the seats in them."""
    rng = np.random.default_rng(RNG_SEED)
    worths = np.exp(rng.normal(0, 0.4, 5))
    results = [luce(rng, worths, m, 200) for m in ((0, 1, 2), (3, 1, 4), (2, 4, 0), (0, 3, 2))]
    results += [duel(rng, 0.6, 100, 0.2, (a, a + 1)) for a in range(4)]
    before = rate(results, 5)
    for trial in range(20):
        shuffled = []
        for i in rng.permutation(len(results)):
            deals = rng.permutation(len(results[i].places))
            seats = rng.permutation(len(results[i].members))
            members = tuple(results[i].members[s] for s in seats)
            shuffled.append(Result(members, results[i].places[deals][:, :, seats], deals))
        for old, new in zip(before, rate(shuffled, 5), strict=True):
            assert new.points.mean == pytest.approx(old.points.mean, abs=1e-8), trial
            assert new.points.half == pytest.approx(old.points.half, abs=1e-8), trial
            assert new.matches == old.matches


def test_equal_ranks_give_equal_updates():
    rng = np.random.default_rng(RNG_SEED)
    first = rng.random((300, 1)) < 0.7
    places = np.where(first[..., None], [1.0, 2.5, 2.5, 4.0], [4.0, 2.5, 2.5, 1.0])
    a, b, c, d = points([Result((0, 1, 2, 3), places)], 4)
    assert b == pytest.approx(c, abs=1e-9)
    assert a > b > d


def test_nothing_but_draws_makes_everybody_equal():
    assert points([Result((0, 1, 2), np.full((50, 3, 3), 2.0))], 3) == pytest.approx(0, abs=1e-9)


def test_draws_bring_policies_together():
    rng = np.random.default_rng(1)
    apart = points([duel(rng, 0.8)], 2)
    closer = points([duel(np.random.default_rng(1), 0.8, draws=0.8)], 2)
    assert 0 < closer[0] < apart[0]


def test_who_always_wins_has_a_finite_rating():
    rating = rate([Result((0, 1), np.tile([1.0, 2.0], (50, 2, 1)))], 2)[0]
    assert 200 < rating.points.mean < 5000


def test_intervals_respect_the_deals():
    """Four copies of every match are one observation, and make no interval narrower."""
    result = duel(np.random.default_rng(3), 0.6, 200)
    again = Result(result.members, np.tile(result.places, (1, 4, 1)))
    one, four = rate([result], 2)[0], rate([again], 2)[0]
    assert four.points.half == pytest.approx(one.points.half, rel=1e-3)
    assert four.matches == 4 * one.matches


def test_intervals_cover_the_truth():
    hits = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        rating = rate([duel(rng, 1 / (1 + np.exp(-0.4)), 60)], 2)[0]
        hits += rating.points.low <= 0.2 * POINTS <= rating.points.high
    assert 0.92 <= hits / 300 <= 0.98


def test_no_results_are_refused():
    with pytest.raises(ValueError, match="at least one result"):
        rate([], 2)
