"""Ratings from one fit to all results at once: Bradley–Terry, and Plackett–Luce with ties.

Every policy has a worth; a finishing order is read from the top, and at each place those who take
it are chosen among all who are left. A set of k policies that share a place is chosen with weight
δ_k times the geometric mean of their worths (Davidson, "On extending the Bradley-Terry model to
accommodate ties", 1970; for orders of any length the Davidson–Luce model of Firth, Kosmidis and
Turner, 2019). With two at a table and no ties this is the model of Bradley and Terry, with more
that of Plackett and Luce. The fit is the maximum of a concave function, so it does not depend on
the order of the results, as sequential ratings do.

Intervals come from the spread of the deals' own contributions (a sandwich estimate clustered by
deal). Ratings are in points, 400 a factor of ten in worth. Their zero is a mean of the policies in
which one counts the less the less sure its distance to the others is: a hopeless one among equals,
whose own worth nobody can tell, would else widen the intervals of all.

Shapes: `N` policies, `D` deals, `R` rotations, `P` policies of one line-up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import stats

from agents.evaluation.statistics import LEVEL, Estimate

POINTS = 400 / np.log(10)
"""Rating points a unit of log worth."""
PRIOR = 6.0
"""Standard deviation of log worths before any result; keeps one who always wins finite."""


@dataclass(frozen=True)
class Result:
    """Finishing places of one line-up."""

    members: tuple[int, ...]
    """The policies; a number may come twice."""
    places: np.ndarray
    """float64[D, R, P]: equal numbers share a place, the lowest is first."""
    deals: np.ndarray | None = None
    """int64[D]: which deal it was; 0 … D−1 if not given. Equal deals are one observation."""


@dataclass(frozen=True)
class Rating:
    """One policy's rating."""

    points: Estimate
    matches: int


@dataclass(frozen=True)
class _Stage:
    """One choice: who takes the next place among those who are left."""

    features: np.ndarray
    """float64[choices, parameters]: of every possible choice."""
    weights: np.ndarray
    """float64[choices]: how many sets of seats are this choice, as a logarithm."""


def rate(results: Sequence[Result], policies: int, level: float = LEVEL) -> list[Rating]:
    """Fit the worths of all policies to all results.

    Args:
        results: of any number of line-ups, in any order.
        policies: number of policies, N.
        level: of the intervals.

    Returns:
        One rating a policy, in their order.

    Raises:
        ValueError: without a result.
    """
    if not results:
        raise ValueError("ratings need at least one result")
    fit = _Fit(results, policies)
    worth, spread = fit.solve()
    margin = float(stats.norm.ppf((1 + level) / 2))
    matches = [0] * policies
    for result in results:
        for member in set(result.members):
            matches[member] += result.places.shape[0] * result.places.shape[1]
    return [
        Rating(_estimate(worth[i] * POINTS, margin * spread[i] * POINTS), matches[i])
        for i in range(policies)
    ]


def _estimate(mean: float, half: float) -> Estimate:
    return Estimate(float(mean), float(mean - half), float(mean + half))


class _Fit:
    """The likelihood of all stages, and its maximum."""

    def __init__(self, results: Sequence[Result], policies: int) -> None:
        self.policies = policies
        orders: dict[tuple[tuple[int, ...], ...], np.ndarray] = {}
        for result in results:
            for order, deals in _orders(result):
                orders[order] = np.concatenate([orders.get(order, np.zeros(0, np.int64)), deals])
        self.orders = {order: np.sort(orders[order]) for order in sorted(orders)}
        ties = sorted({len(group) for order in orders for group in order if len(group) > 1})
        self.tie_sizes = [1, *ties]
        self.stages: dict[tuple[int, ...], _Stage] = {}

    def stages_of(
        self, order: tuple[tuple[int, ...], ...]
    ) -> list[tuple[tuple[int, ...], np.ndarray]]:
        """Who was left at each stage, and the features of the choice made."""
        found = []
        for i, group in enumerate(order):
            left = tuple(sorted(member for later in order[i:] for member in later))
            if len(left) > 1:
                found.append((left, self.features(group)))
        return found

    def features(self, group: Sequence[int]) -> np.ndarray:
        """Share of every policy in a choice, then which size of tie it is."""
        row = np.zeros(self.policies + len(self.tie_sizes) - 1)
        for member in group:
            row[member] += 1 / len(group)
        if len(group) > 1:
            row[self.policies + self.tie_sizes.index(len(group)) - 1] = 1.0
        return row

    def stage(self, left: tuple[int, ...]) -> _Stage:
        """All choices among those who are left."""
        if left not in self.stages:
            ways: dict[tuple[int, ...], int] = {}
            for size in self.tie_sizes:
                for group in combinations(left, size):
                    ways[group] = ways.get(group, 0) + 1
            rows = np.array([self.features(group) for group in ways])
            self.stages[left] = _Stage(rows, np.log([float(n) for n in ways.values()]))
        return self.stages[left]

    def solve(self) -> tuple[np.ndarray, np.ndarray]:
        """Log worths from their zero, and their standard errors, by Newton's method."""
        chosen, counts = self._sufficient()
        size = self.policies + len(self.tie_sizes) - 1
        prior = np.full(size, 1 / PRIOR**2)
        at = np.zeros(size)
        for _ in range(200):
            slope, bend = chosen - prior * at, np.diag(prior)
            for left, count in counts.items():
                mean, covariance = self._moments(left, at)
                slope -= count * mean
                bend += count * covariance
            move = np.linalg.solve(bend, slope)
            at = at + move * min(1.0, 2.0 / max(np.abs(move).max(), 1e-12))
            if np.abs(move).max() < 1e-11:
                break
        return self._centred(at, bend)

    def _sufficient(self) -> tuple[np.ndarray, dict[tuple[int, ...], int]]:
        """Summed features of all choices, and how often each set was left."""
        chosen = np.zeros(self.policies + len(self.tie_sizes) - 1)
        counts: dict[tuple[int, ...], int] = {}
        for order, deals in self.orders.items():
            for left, features in self.stages_of(order):
                chosen += len(deals) * features
                counts[left] = counts.get(left, 0) + len(deals)
        return chosen, counts

    def _moments(self, left: tuple[int, ...], at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        stage = self.stage(left)
        logits = stage.features @ at + stage.weights
        chances = np.exp(logits - logits.max())
        chances /= chances.sum()
        mean = chances @ stage.features
        centred = stage.features - mean
        return mean, (centred * chances[:, None]).T @ centred

    def _centred(self, at: np.ndarray, bend: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        size = len(at)
        numbers = np.unique(np.concatenate(list(self.orders.values())))
        scores = np.zeros((len(numbers), size))
        means = {left: self._moments(left, at)[0] for left in self.stages}
        for order, deals in self.orders.items():
            score = sum(features - means[left] for left, features in self.stages_of(order))
            count = np.bincount(np.searchsorted(numbers, deals), minlength=len(numbers))
            scores += count[:, None] * score
        inverse = np.linalg.inv(bend)
        covariance = inverse @ (scores.T @ scores) @ inverse
        covariance *= len(numbers) / max(len(numbers) - 1, 1)
        centre = np.eye(size)[: self.policies]
        centre[:, : self.policies] -= _weights(covariance[: self.policies, : self.policies])
        spread = np.sqrt(np.maximum(np.diag(centre @ covariance @ centre.T), 0))
        return centre @ at, spread


def _weights(covariance: np.ndarray) -> np.ndarray:
    """float64[N]: what each policy counts in the zero, by the usual variance of its distances."""
    own = np.diag(covariance)
    distances = own[:, None] + own - 2 * covariance
    others = distances[~np.eye(len(own), dtype=bool)].reshape(len(own), -1)
    spread = np.median(others, axis=1) if others.size else np.ones(1)
    sure = 1 / np.maximum(spread, max(1e-9 * float(spread.max()), 1e-12))
    weights: np.ndarray = sure / sure.sum()
    return weights


def _orders(result: Result) -> list[tuple[tuple[tuple[int, ...], ...], np.ndarray]]:
    """Every finishing order that occurred, as groups of policies from the top, and its deals."""
    deals, rotations, size = result.places.shape
    patterns, which = np.unique(result.places.reshape(-1, size), axis=0, return_inverse=True)
    numbers = np.arange(deals) if result.deals is None else result.deals
    numbers = np.repeat(numbers, rotations)
    found = []
    for i, pattern in enumerate(patterns):
        order = tuple(
            tuple(sorted(result.members[p] for p in np.flatnonzero(pattern == place)))
            for place in np.unique(pattern)
        )
        found.append((order, numbers[which.reshape(-1) == i]))
    return found
