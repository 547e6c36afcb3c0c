"""Matrix games: mixtures that nothing beats, best responses, and α-Rank.

A payoff matrix holds in row i and column j what strategy i gets against j. Where policies beat
each other in a circle no single number ranks them, and the mixture is the answer.

Shapes: `K` strategies of the row player, `L` of the column player.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import optimize

TOLERANCE = 1e-9
MAX_SUPPORT = 4
"""Strategies in the largest mixture that is looked for by trying all."""


@dataclass(frozen=True)
class Mixture:
    """A mixture of strategies and what it guarantees or gets."""

    shares: np.ndarray
    """float64[K], summing to 1."""
    value: float
    """What the row player gets where both follow their mixtures."""


def maximin(payoffs: np.ndarray) -> Mixture:
    """The row player's equilibrium mixture of a zero-sum game float64[K, L], by linear programming.

    Raises:
        RuntimeError: if the solver fails, as it does for numbers that are not finite.
    """
    rows, columns = payoffs.shape
    result = optimize.linprog(
        np.append(np.zeros(rows), -1.0),
        A_ub=np.hstack([-payoffs.T, np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
        method="highs",
    )
    if result.x is None:
        raise RuntimeError(f"no equilibrium was found: {result.message}")
    return Mixture(_shares(result.x[:rows]), float(result.x[rows]) + 0.0)


def symmetric_equilibrium(payoffs: np.ndarray) -> Mixture:
    """A mixture that is a best reply to itself, float64[K, K].

    In a game where one's gain is the other's loss that is the mixture of `maximin`. Otherwise (one
    against a field of copies, three and more at the table) sets of strategies are tried from the
    smallest: all of a set must be alike good, and nothing better. Where no set of up to
    `MAX_SUPPORT` will do, a mixed-integer program finds one (after Sandholm, Gilpin and Conitzer,
    "Mixed-integer programming methods for finding Nash equilibria", 2005).

    Raises:
        RuntimeError: if the solver fails.
    """
    if np.abs(payoffs + payoffs.T).max() < TOLERANCE:
        return maximin(payoffs)
    for size in range(1, min(MAX_SUPPORT, len(payoffs)) + 1):
        shares = _of_support(payoffs, size)
        if shares is not None:
            return Mixture(shares, float(shares @ payoffs @ shares))
    return _by_program(payoffs)


def _of_support(payoffs: np.ndarray, size: int) -> np.ndarray | None:
    """The first equilibrium with so many strategies; None if there is none."""
    sets = np.array(list(combinations(range(len(payoffs)), size)))
    systems = np.zeros((len(sets), size + 1, size + 1))
    systems[:, :size, :size] = payoffs[sets[:, :, None], sets[:, None, :]]
    systems[:, :size, size] = -1.0
    systems[:, size, :size] = 1.0
    regular = np.abs(np.linalg.det(systems)) > TOLERANCE
    sets, systems = sets[regular], systems[regular]
    right = np.zeros((len(sets), size + 1, 1))
    right[:, size] = 1.0
    solved = np.linalg.solve(systems, right)[:, :, 0]
    shares = np.zeros((len(sets), len(payoffs)))
    np.put_along_axis(shares, sets, solved[:, :size], axis=1)
    good = (shares >= 0).all(axis=1)
    good &= (shares @ payoffs.T <= solved[:, size:] + TOLERANCE).all(axis=1)
    return _shares(shares[np.argmax(good)]) if good.any() else None


def _by_program(payoffs: np.ndarray) -> Mixture:
    """An equilibrium by a mixed-integer program."""
    size, spread = len(payoffs), float(payoffs.max() - payoffs.min())
    one, none = np.eye(size), np.zeros((size, size))
    up = np.ones((size, 1))
    constraints = [  # over shares p, flags "unused" b, and the value v
        optimize.LinearConstraint(np.hstack([-payoffs, none, up]), 0, np.inf),
        optimize.LinearConstraint(np.hstack([-payoffs, -spread * one, up]), -np.inf, 0),
        optimize.LinearConstraint(np.hstack([one, one, 0 * up]), -np.inf, 1),
        optimize.LinearConstraint([[1.0] * size + [0.0] * size + [0.0]], 1, 1),
    ]
    result = optimize.milp(
        np.zeros(2 * size + 1),
        constraints=constraints,
        integrality=[0] * size + [1] * size + [0],
        bounds=optimize.Bounds([0] * (2 * size) + [-np.inf], [1] * (2 * size) + [np.inf]),
    )
    if result.x is None:
        raise RuntimeError(f"no equilibrium was found: {result.message}")
    shares = _shares(result.x[:size])
    return Mixture(shares, float(shares @ payoffs @ shares))


def best_response(payoffs: np.ndarray, shares: np.ndarray) -> tuple[int, float]:
    """The row that gets most against a mixture of the columns, and what it gets."""
    against = payoffs @ shares
    best = int(np.argmax(against))
    return best, float(against[best])


def circle(payoffs: np.ndarray, known: np.ndarray | None = None) -> list[int]:
    """A shortest circle of strategies of which each beats the next, or nothing.

    Args:
        payoffs: float64[K, K].
        known: bool[K, K]: where a payoff above that of the reverse is no chance; by default where
            it is higher.
    """
    beats = payoffs > payoffs.T + TOLERANCE if known is None else known
    found = [path for start in range(len(payoffs)) if (path := _way_back(beats, start))]
    return min(found, key=len, default=[])


def _way_back(beats: np.ndarray, start: int) -> list[int]:
    """A shortest way from a strategy to itself, searched in breadth."""
    before: dict[int, int] = {}
    queue = [start]
    for at in queue:
        for beaten in np.flatnonzero(beats[at]).tolist():
            if beaten == start:
                path = [at]
                while path[-1] != start:
                    path.append(before[path[-1]])
                return path[::-1]
            if beaten not in before:
                before[beaten] = at
                queue.append(beaten)
    return []


def alpha_rank(payoffs: np.ndarray, *, alpha: float = 100.0, population: int = 50) -> np.ndarray:
    """α-Rank of a symmetric game: the time that evolution spends at each strategy, float64[K].

    A population of one strategy is invaded by single mutants; who takes over by chance or merit
    makes a Markov chain over the strategies, whose stationary distribution is the rank. After
    Omidshafiei et al., "α-Rank: Multi-Agent Evaluation by Evolution", Scientific Reports 9 (2019),
    equations 9 to 11 for one population.

    Args:
        payoffs: float64[K, K].
        alpha: strength of selection.
        population: its size.
    """
    size = len(payoffs)
    if size == 1:
        return np.ones(1)
    gain = alpha * (payoffs.T - payoffs)  # [resident, mutant]: the mutant's payoff less the other's
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        fixed = np.expm1(-gain) / np.expm1(-population * gain)
    losing = gain < 0  # the same numbers without overflow
    with np.errstate(over="ignore", invalid="ignore"):
        down = np.exp((population - 1) * gain) * np.expm1(gain) / np.expm1(population * gain)
    fixed = np.where(losing, down, fixed)
    fixed = np.where(np.abs(gain) < 1e-12, 1 / population, np.nan_to_num(fixed, nan=0.0))
    chain = np.maximum(fixed, 1e-300) / (size - 1)
    np.fill_diagonal(chain, 0.0)
    return _stationary(chain)


def _stationary(rates: np.ndarray) -> np.ndarray:
    """Stationary distribution of a chain with these rates between its states, float64[K].

    States are eliminated one by one (Grassmann, Taksar and Heyman, 1985): nothing is subtracted,
    so that rates of very different sizes do no harm.
    """
    rates, size = rates.copy(), len(rates)
    for last in range(size - 1, 0, -1):
        rates[:last, last] /= rates[last, :last].sum()
        rates[:last, :last] += np.outer(rates[:last, last], rates[last, :last])
        np.fill_diagonal(rates, 0.0)
    shares = np.ones(size)
    for state in range(1, size):
        shares[state] = shares[:state] @ rates[:state, state]
    return _shares(shares / shares.max())


def bootstrap_mixtures(
    draw: Callable[[np.random.Generator], np.ndarray], *, trials: int, seed: int
) -> list[Mixture]:
    """Equilibrium mixtures of matrices drawn anew from the deals.

    Args:
        draw: makes a matrix from deals drawn with replacement.
        trials: number of them.
        seed: of the draws.
    """
    rng = np.random.default_rng(seed)
    return [symmetric_equilibrium(draw(rng)) for _ in range(trials)]


def _shares(values: np.ndarray) -> np.ndarray:
    values = np.where(values < TOLERANCE, 0.0, values)
    shares: np.ndarray = values / values.sum()
    return shares
