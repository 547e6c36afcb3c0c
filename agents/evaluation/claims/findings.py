"""From what deals gave to a figure with its error; one deal is one observation.

An experiment gives float64[D, K], one row a deal; what the columns hold is its own business, and
one of the functions here turns the rows of all deals into a `Figure`.

Shapes: `D` deals, `K` columns of an experiment, `C` cells, `T` thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from agents.evaluation.statistics import LEVEL, Estimate, ratio_interval

FEWEST_DEALS = 30
"""Deals that must have something to say, or there is no figure."""


@dataclass(frozen=True)
class Figure:
    """A number that an experiment measured."""

    mean: float
    error: float
    """Standard error, clustered by deal."""
    deals: int
    """Deals that had something to say."""
    observations: int
    """Hands, decisions or matches that were counted."""
    note: str = ""
    """What else the experiment found."""

    def interval(self, level: float = LEVEL) -> Estimate:
        """Student's interval."""
        half = float(stats.t.ppf((1 + level) / 2, self.deals - 1)) * self.error
        return Estimate(self.mean, self.mean - half, self.mean + half)

    def chance(self, limit: float) -> float:
        """Chance of a mean as far from a limit as this, on either side, if the limit were true."""
        distance = abs(self.mean - limit) / self.error if self.error else np.inf
        return float(2 * stats.t.sf(distance, self.deals - 1)) if self.mean != limit else 1.0


def ratio(totals: np.ndarray, sizes: np.ndarray) -> Figure | None:
    """The ratio of two sums, float64[D] each; None where too few deals have a size.

    Where all observations are equal, one of them counts as if it had been otherwise by 1: nothing
    is certain because nothing else was seen.
    """
    deals = int(np.count_nonzero(sizes))
    if deals < FEWEST_DEALS:
        return None
    estimate, error = ratio_interval(totals, sizes)
    count = int(sizes.sum())
    return Figure(estimate.mean, error or 1 / count, deals, count)


def quotient(columns: np.ndarray) -> Figure | None:
    """How many times as large one ratio is as another, of independent deals; float64[D, 4].

    The columns are totals and sizes of the one, then of the other. By the delta method.
    """
    first, second = ratio(columns[:, 0], columns[:, 1]), ratio(columns[:, 2], columns[:, 3])
    if first is None or second is None or not first.mean or not second.mean:
        return None
    mean = first.mean / second.mean
    error = abs(mean) * np.hypot(first.error / first.mean, second.error / second.mean)
    note = f"{first.mean:.3g} instead of {second.mean:.3g}"
    deals = min(first.deals, second.deals)
    return Figure(mean, float(error), deals, first.observations + second.observations, note)


def contrast(columns: np.ndarray) -> Figure | None:
    """A mean difference within cells, float64[D, C, 2, 2]: with and without, total and number.

    Each cell counts as often as it is there with the condition, so that the two sides hold the same
    hands at the same turns. Cells without one of the sides are left out.
    """
    sums = columns.sum(axis=0)
    both = (sums[:, :, 1] > 0).all(axis=1)
    kept, sums = columns[:, both], sums[both]
    deals = int(np.count_nonzero(kept[:, :, 0, 1].sum(axis=1)))
    if deals < FEWEST_DEALS:
        return None
    means = sums[:, :, 0] / sums[:, :, 1]
    weights = sums[:, 0, 1] / sums[:, 0, 1].sum()
    moved = (kept[..., 0] - means * kept[..., 1]) / sums[:, :, 1]
    rows = (weights * (moved[:, :, 0] - moved[:, :, 1])).sum(axis=1)
    error = float(np.sqrt((rows**2).sum() * len(rows) / (len(rows) - 1)))
    mean = float((weights * (means[:, 0] - means[:, 1])).sum())
    return Figure(mean, error, deals, int(sums[:, 0, 1].sum()))


def shortfall(gains: np.ndarray, recommended: int, labels: list[int]) -> Figure | None:
    """How much one of several choices gains less than the best other one; float64[D, T].

    The best other one is chosen on the even deals and measured on the odd ones, so that the
    luckiest of many is not taken for the best.
    """
    chosen, measured = gains[0::2], gains[1::2]
    if len(measured) < FEWEST_DEALS:
        return None
    means = chosen.mean(axis=0)
    means[recommended] = -np.inf
    best = int(np.argmax(means))
    lacks = measured[:, best] - measured[:, recommended]
    error = float(lacks.std(ddof=1) / np.sqrt(lacks.size))
    note = f"the best other one is {labels[best]}"
    return Figure(float(lacks.mean()), error or 1 / lacks.size, lacks.size, lacks.size, note)


def holm(chances: list[float]) -> list[float]:
    """Chances adjusted for how many there are (Holm 1979): each below 5 % holds jointly at 5 %."""
    adjusted, floor = [1.0] * len(chances), 0.0
    for place, i in enumerate(np.argsort(chances, kind="stable").tolist()):
        floor = max(floor, min(1.0, (len(chances) - place) * chances[i]))
        adjusted[i] = floor
    return adjusted
