"""What the deals of a tournament say of one policy: shares of wins, lives, their worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agents.evaluation.match import Played
from agents.evaluation.statistics import (
    Estimate,
    adjusted_totals,
    ratio_interval,
)


def share_of_wins(played: Played) -> np.ndarray:
    """float64[D, R, P]: 1 for a match won, a part of it for one that was shared."""
    best = played.places == played.places.min(axis=2, keepdims=True)
    shares: np.ndarray = best / best.sum(axis=2, keepdims=True)
    return shares


def mean_by_deal(held: Sequence[tuple[Played, int]], value: Any) -> np.ndarray:
    """float64[D]: mean of a value [D, R, P] over all seats held on each deal."""
    parts = [value(played)[:, :, p].mean(axis=1) for played, p in held]
    mean: np.ndarray = np.mean(parts, axis=0)
    return mean


def lives_per_round(
    held: Sequence[tuple[Played, int]], level: float
) -> tuple[Estimate | None, Estimate | None, float]:
    """Life swing a round of one policy.

    Returns:
        The plain mean; the mean adjusted for luck; and how many independent matches, each played
        once, the adjusted result is worth. None and NaN for one that finished no round, as it
        forfeited all matches.
    """
    totals = np.sum([played.lives[:, :, p].sum(axis=1) for played, p in held], axis=0)
    sizes = np.sum([played.dealt[:, :, p].sum(axis=1) for played, p in held], axis=0)
    if not sizes.any():
        return None, None, np.nan
    luck = np.sum([played.luck[:, :, p].sum(axis=1) for played, p in held], axis=0)
    plain, _ = ratio_interval(totals, sizes.astype(np.float64), level)
    adjusted = adjusted_totals(totals, sizes, luck)
    estimate, error = ratio_interval(adjusted, sizes.astype(np.float64), level)
    alone = sum(
        float(((played.lives[:, :, p] - plain.mean * played.dealt[:, :, p]) ** 2).sum())
        for played, p in held
    )
    matches = sum(played.lives[:, :, p].size for played, p in held)
    single = alone * matches / max(float(sizes.sum()) ** 2, 1.0)  # variance of one match alone
    worth = single / error**2 if error > 0 else np.inf
    return plain, estimate, worth


def matches_worth(rate_: Estimate, deals: np.ndarray) -> float:
    """How many independent matches would give a share of wins as surely as these deals do."""
    error = deals.var(ddof=1) / len(deals)
    return rate_.mean * (1 - rate_.mean) / error if error > 0 else float("inf")


def finite(value: float) -> float | None:
    """The number, or None where there is none."""
    return float(value) if np.isfinite(value) else None
