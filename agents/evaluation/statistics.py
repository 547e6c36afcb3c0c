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


MIN_DEALS_TO_ADJUST = 60
"""With fewer deals the coefficients of an adjustment would add more noise than they remove."""


@dataclass(frozen=True)
class Estimate:
    """A mean and the interval around it."""

    mean: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """Half of the interval's width."""
        return (self.high - self.low) / 2


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


def ratio_interval(
    totals: np.ndarray, sizes: np.ndarray, level: float = LEVEL
) -> tuple[Estimate, float]:
    """Interval for the ratio of two sums over the deals, such as lives per round.

    By the delta method: the deviations of a deal are its total less the ratio times its size.

    Args:
        totals: float64[D].
        sizes: float64[D], not all 0.
        level: of the interval.

    Returns:
        The estimate, and its standard error.

    Raises:
        ValueError: as for `mean_interval`.
    """
    totals, sizes = _checked(totals, level), _checked(sizes, level)
    mean = float(totals.sum() / sizes.sum())
    spread = (totals - mean * sizes).std(ddof=1) * np.sqrt(totals.size) / sizes.sum()
    half = float(stats.t.ppf((1 + level) / 2, totals.size - 1) * spread)
    return Estimate(mean, mean - half, mean + half), float(spread)


def adjusted_totals(totals: np.ndarray, sizes: np.ndarray, luck: np.ndarray) -> np.ndarray:
    """Totals float64[D] less the part that luck float64[D, K] explains.

    Luck has expectation 0 on every deal, and the coefficients for the even deals are fitted on the
    odd ones and the other way round, so that a coefficient knows nothing of the luck that it is
    multiplied with: the expectation stays as it was, exactly. With fewer than
    `MIN_DEALS_TO_ADJUST` deals the totals are returned as they are.
    """
    if len(totals) < MIN_DEALS_TO_ADJUST:
        return totals
    adjusted = totals.astype(np.float64)
    for half in (0, 1):
        mine, other = slice(half, None, 2), slice(1 - half, None, 2)
        mean = totals[other].sum() / max(sizes[other].sum(), 1e-300)
        rest = totals[other] - mean * sizes[other]
        adjusted[mine] -= luck[mine] @ np.linalg.lstsq(luck[other], rest, rcond=1e-10)[0]
    return adjusted


def joint_test(values: np.ndarray) -> float:
    """Chance of means of float64[D, K] as far from 0 as these are, if all K are truly 0.

    Hotelling's test for all at once; columns that are sums of others count once.

    Raises:
        ValueError: for too few deals.
    """
    deals = len(values)
    mean = values.mean(axis=0)
    covariance = np.cov(values, rowvar=False).reshape(mean.size, mean.size)
    roots, axes = np.linalg.eigh(covariance / deals)
    kept = roots > 1e-9 * max(roots.max(), 1e-300)
    size = int(kept.sum())
    if deals <= size + 1:
        raise ValueError(f"{size} means need more than {size + 1} deals")
    if not size:
        return 1.0 if np.abs(mean).max() < 1e-9 else 0.0
    if np.abs(axes[:, ~kept].T @ mean).max(initial=0.0) > 1e-6:
        return 0.0  # a difference that never varies
    distance = float(((axes[:, kept].T @ mean) ** 2 / roots[kept]).sum())
    scale = (deals - size) / (size * (deals - 1))
    return float(stats.f.sf(distance * scale, size, deals - size))


def _checked(deals: np.ndarray, level: float) -> np.ndarray:
    values = np.asarray(deals, np.float64)
    if values.ndim != 1 or values.size < 2:
        raise ValueError("an interval needs at least two deals")
    if not 0 < level < 1:
        raise ValueError(f"a level lies between 0 and 1, not at {level}")
    return values
