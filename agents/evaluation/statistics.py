"""Means with confidence intervals, where one deal is one observation.

The same deal is played once in every rotation of the seats, so results of one deal belong
together: they are averaged first, and the interval is that of the deals' averages. Deals are
independent of each other, games of one deal are not.

Shapes: `D` deals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean and the interval around it."""

    mean: float
    low: float
    high: float


def mean_interval(deals: np.ndarray, level: float = LEVEL) -> Estimate:
    """Student's interval for the mean of float64[D].

    Raises:
        ValueError: for fewer than two deals, or a level outside 0 … 1.
    """
    values = _checked(deals, level)
    error = values.std(ddof=1) / np.sqrt(values.size)
    half = float(stats.t.ppf((1 + level) / 2, values.size - 1) * error)
    mean = float(values.mean())
    return Estimate(mean, mean - half, mean + half)


def rate_interval(deals: np.ndarray, level: float = LEVEL) -> Estimate:
    """Interval for a share of wins, from each deal's share float64[D], all in 0 … 1.

    Wilson's interval, which lies within 0 … 1 and holds for rates near either end too. Its number
    of trials is that of independent matches which would be as uncertain as these deals are, and
    the number of deals where all were won or all lost.

    Raises:
        ValueError: for fewer than two deals, shares outside 0 … 1, or a level outside 0 … 1.
    """
    values = _checked(deals, level)
    if values.min() < 0 or values.max() > 1:
        raise ValueError("shares must lie between 0 and 1")
    rate = float(values.mean())
    if values.min() == values.max() and 0 < rate < 1:
        return Estimate(rate, rate, rate)
    error = values.var(ddof=1) / values.size
    trials = rate * (1 - rate) / error if error > 0 else values.size
    excess = float(stats.t.ppf((1 + level) / 2, values.size - 1)) ** 2 / trials
    centre = (rate + excess / 2) / (1 + excess)
    half = np.sqrt(excess * rate * (1 - rate) + excess**2 / 4) / (1 + excess)
    return Estimate(rate, max(float(centre - half), 0.0), min(float(centre + half), 1.0))


def _checked(deals: np.ndarray, level: float) -> np.ndarray:
    values = np.asarray(deals, np.float64)
    if values.ndim != 1 or values.size < 2:
        raise ValueError("an interval needs at least two deals")
    if not 0 < level < 1:
        raise ValueError(f"a level lies between 0 and 1, not at {level}")
    return values
