"""Mixtures that nothing beats, circles, and α-Rank on games whose answers are known."""

import numpy as np
import pytest

from agents.evaluation.equilibrium import (
    alpha_rank,
    best_response,
    circle,
    maximin,
    symmetric_equilibrium,
)

PAPER = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])


def unbeaten(payoffs, mixture, tolerance=1e-7):
    _, best = best_response(payoffs, mixture.shares)
    return best <= mixture.shares @ payoffs @ mixture.shares + tolerance


def test_rock_paper_scissors():
    mixture = maximin(PAPER)
    assert mixture.shares == pytest.approx(1 / 3)
    assert mixture.value == pytest.approx(0)
    assert sorted(circle(PAPER)) == [0, 1, 2]
    assert alpha_rank(PAPER) == pytest.approx(1 / 3)


def test_a_game_that_is_not_symmetric():
    mixture = maximin(np.array([[2.0, -1], [-1, 1], [-3, -3]]))
    assert mixture.shares == pytest.approx([0.4, 0.6, 0])
    assert mixture.value == pytest.approx(0.2)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("zero_sum", [True, False])
def test_nothing_beats_the_mixture(seed, zero_sum):
    payoffs = np.random.default_rng(seed).normal(size=(9, 9))
    if zero_sum:
        payoffs = payoffs - payoffs.T
    mixture = symmetric_equilibrium(payoffs)
    assert mixture.shares.sum() == pytest.approx(1)
    assert (mixture.shares >= 0).all()
    assert unbeaten(payoffs, mixture), f"seed {seed}"


def test_a_mixture_of_many_is_found_too():
    """Larger than the sets that are tried one by one: all seven are needed."""
    payoffs = -np.eye(7) + np.diag(np.full(7, 1e-3))
    mixture = symmetric_equilibrium(payoffs)
    assert (mixture.shares > 0).sum() == 7
    assert unbeaten(payoffs, mixture)


def test_what_is_best_against_all_is_alone():
    payoffs = np.array([[0.0, 1, 2], [-1, 0, 1], [-2, -1, 0]])
    assert symmetric_equilibrium(payoffs).shares.tolist() == [1, 0, 0]
    assert alpha_rank(payoffs)[0] == pytest.approx(1)
    assert circle(payoffs) == []


def test_a_mixture_that_something_beats_would_be_noticed():
    mixture = maximin(PAPER)
    wrong = type(mixture)(np.array([0.4, 0.3, 0.3]), 0.0)
    assert not unbeaten(PAPER, wrong)


def test_a_circle_is_shortest_and_each_beats_the_next():
    beats = np.zeros((5, 5), bool)
    for a, b in ((0, 1), (1, 2), (2, 3), (3, 0), (2, 4), (4, 2), (3, 4)):
        beats[a, b] = True
    found = circle(np.zeros((5, 5)), beats)
    assert sorted(found) == [2, 4]


def slow_alpha_rank(payoffs, alpha, population):
    """The chain as its authors write it, and its stationary distribution by solving for it."""
    size = len(payoffs)
    chain = np.zeros((size, size))
    for r in range(size):
        for s in range(size):
            if r != s:
                gain = alpha * (payoffs[s, r] - payoffs[r, s])
                equal = abs(gain) < 1e-12
                fixed = (1 - np.exp(-gain)) / (1 - np.exp(-population * gain)) if not equal else 0
                chain[r, s] = (1 / population if equal else fixed) / (size - 1)
        chain[r, r] = 1 - chain[r].sum()
    system = np.vstack([chain.T - np.eye(size), np.ones(size)])
    return np.linalg.lstsq(system, np.append(np.zeros(size), 1), rcond=None)[0]


@pytest.mark.parametrize("seed", range(5))
def test_alpha_rank_is_the_chain_of_its_authors(seed):
    payoffs = np.random.default_rng(seed).normal(size=(5, 5))
    payoffs -= payoffs.T
    slow = slow_alpha_rank(payoffs, 0.7, 10)
    assert alpha_rank(payoffs, alpha=0.7, population=10) == pytest.approx(slow, abs=1e-9)


def test_strong_selection_does_not_overflow():
    payoffs = 40.0 * PAPER
    assert alpha_rank(payoffs, alpha=1000) == pytest.approx(1 / 3)
    assert alpha_rank(np.zeros((4, 4))) == pytest.approx(0.25)
    assert alpha_rank(np.zeros((1, 1))).tolist() == [1.0]
