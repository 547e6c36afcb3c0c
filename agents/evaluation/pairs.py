"""Who gets how much against whom in a tournament: the payoff matrix and its mixture."""

from __future__ import annotations

import numpy as np

from agents.evaluation.equilibrium import bootstrap_mixtures, symmetric_equilibrium
from agents.evaluation.match import Played
from agents.evaluation.measures import finite, lives_per_round, mean_by_deal, share_of_wins
from agents.evaluation.statistics import Estimate, mean_interval, rate_interval
from agents.evaluation.tables import Column, DataTable
from agents.evaluation.tournament import Results

MAX_SCREEN = 8
"""Policies up to which a terminal shows the payoff matrix."""
TRIALS = 200
"""Bootstrap matrices for the intervals of mixtures."""


def pair_payoffs(results: Results) -> tuple[np.ndarray, np.ndarray]:
    """float64[D, N, N]: what the row got against the column on each deal; and bool[N, N], met.

    Heads-up and alone among copies: the payoff. Otherwise: finishing ahead less finishing behind.
    """
    plan, size = results.plan, len(results.plan.names)
    total = np.zeros((len(results.deals), size, size))
    times = np.zeros((size, size))
    for members, played in zip(plan.line_ups, results.line_ups, strict=True):
        if plan.pairing == "lone" and plan.players > 2:
            a, b = members[0], members[1]
            total[:, a, b] += played.payoffs[:, :, 0].mean(axis=1)
            times[a, b] += 1
            continue
        for p, a in enumerate(members):
            for q, b in enumerate(members):
                if a == b:
                    continue
                if plan.players == 2:
                    got = played.payoffs[:, :, p]
                else:
                    got = np.sign(played.places[:, :, q] - played.places[:, :, p])
                total[:, a, b] += got.mean(axis=1)
                times[a, b] += 1
    np.fill_diagonal(times, 1)
    return total / np.maximum(times, 1), times > 0


def matrix_of(by_deal: np.ndarray, met: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """The means over the deals, and half the widths of their intervals; NaN where none met."""
    size = by_deal.shape[1]
    matrix, half = np.full((size, size), np.nan), np.full((size, size), np.nan)
    for a in range(size):
        for b in range(size):
            if met[a, b]:
                estimate = mean_interval(by_deal[:, a, b], level)
                matrix[a, b], half[a, b] = estimate.mean, estimate.half
    return matrix, half


def mixture_spread(by_deal: np.ndarray, level: float, seed: int) -> list[Estimate]:
    """Shares of the mixture with bootstrap intervals."""
    deals, size = len(by_deal), by_deal.shape[1]
    flat = by_deal.reshape(deals, -1)

    def draw(rng: np.random.Generator) -> np.ndarray:
        weights = rng.multinomial(deals, np.full(deals, 1 / deals))
        return (weights @ flat / deals).reshape(size, size)

    found = np.array([m.shares for m in bootstrap_mixtures(draw, trials=TRIALS, seed=seed)])
    shares = symmetric_equilibrium(flat.mean(axis=0).reshape(size, size)).shares
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return [
        Estimate(float(s), float(min(a, s)), float(max(b, s)))
        for s, a, b in zip(shares, low, high, strict=True)
    ]


def pair_table(results: Results, matrix: np.ndarray, half: np.ndarray, level: float) -> DataTable:
    """Every policy against every other, a row a pair."""
    plan = results.plan
    rows = []
    pairs: dict[tuple[int, int], list[tuple[Played, int, int]]] = {}
    for members, played in zip(plan.line_ups, results.line_ups, strict=True):
        for p, a in enumerate(members):
            for q, b in enumerate(members):
                if a != b:
                    pairs.setdefault((a, b), []).append((played, p, q))
    for (a, b), held in sorted(pairs.items()):
        if np.isnan(matrix[a, b]):
            continue
        if plan.pairing == "lone" and plan.players > 2:
            held = [(played, p, q) for played, p, q in held if p == 0]
        seats = list({(id(played), p): (played, p) for played, p, _ in held}.values())
        _, lives, worth = lives_per_round(seats, level)
        shares = mean_by_deal(seats, share_of_wins)
        got = Estimate(matrix[a, b], matrix[a, b] - half[a, b], matrix[a, b] + half[a, b])
        rows.append(
            (
                plan.names[a],
                plan.names[b],
                got,
                rate_interval(shares, level),
                lives,
                sum(played.payoffs[:, :, 0].size for played, _ in seats),
                finite(worth),
            )
        )
    lone = plan.pairing == "lone" and plan.players > 2
    note = {
        True: "The policy sits alone among copies of the other.",
        False: "The share won and lives are those of the matches in which both sat at the table.",
    }[lone]
    return DataTable(
        "pairs",
        "Alone among copies" if lone else "Pair by pair",
        (
            Column("policy", "policy", "name", "text"),
            Column("opponent", "among" if lone else "against", "name", "text"),
            Column("payoff", "payoff", pair_unit(results), "signed", interval=True),
            Column("won", "won", "share of matches", "percent", interval=True),
            Column(
                "lives_per_round", "lives/round", "life swing, adjusted for luck", "signed", True
            ),
            Column("matches", "matches", "matches", "count", wide=True),
            Column("worth_lives", "worth", "independent matches, for lives", "count", wide=True),
        ),
        tuple(rows),
        note=note if plan.players > 2 else "",
        screen=False,
    )


def pair_unit(results: Results) -> str:
    """What the payoff matrix counts."""
    plan = results.plan
    whole = plan.players == 2 or plan.pairing == "lone"
    return "stakes a match" if whole else "finishing ahead less behind"


def matrix_table(results: Results, matrix: np.ndarray) -> DataTable:
    """The payoff matrix, columns by number."""
    names, unit = results.plan.names, pair_unit(results)
    columns = [Column("policy", "", "name", "text")]
    columns += [Column(name, str(i + 1), unit, "short") for i, name in enumerate(names)]
    rows = [
        (
            f"{i + 1} {name}",
            *(None if i == j or np.isnan(x) else float(x) for j, x in enumerate(matrix[i])),
        )
        for i, name in enumerate(names)
    ]
    return DataTable(
        "matrix",
        f"The row against the column ({unit})",
        tuple(columns),
        tuple(rows),
        screen=len(names) <= MAX_SCREEN,
    )
