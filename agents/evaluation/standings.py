"""What the matches of a tournament say: standings, ratings, payoff matrix, mixtures, knocks.

One deal is one observation, whatever was played on it: all intervals are clustered by deal, across
rotations and line-ups. Everything that is printed, drawn or written comes from `Standings`.

Shapes: `N` policies, `D` deals, `R` rotations, `P` policies of a line-up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.evaluation.equilibrium import (
    Mixture,
    alpha_rank,
    best_response,
    circle,
    symmetric_equilibrium,
)
from agents.evaluation.events import (
    counts_of,
    knock_data,
    knock_table,
    knocks_of,
    length_data,
    length_table,
)
from agents.evaluation.match import Played
from agents.evaluation.measures import (
    finite,
    lives_per_round,
    matches_worth,
    mean_by_deal,
    share_of_wins,
)
from agents.evaluation.pairs import (
    matrix_of,
    matrix_table,
    mixture_spread,
    pair_payoffs,
    pair_table,
)
from agents.evaluation.ratings import Rating, Result, rate
from agents.evaluation.statistics import (
    LEVEL,
    Estimate,
    mean_interval,
    rate_interval,
)
from agents.evaluation.tables import Column, DataTable
from agents.evaluation.tournament import Results


@dataclass(frozen=True)
class Standings:
    """Results in numbers and in tables."""

    names: tuple[str, ...]
    players: int
    deals: int
    level: float
    won: list[Estimate]
    """Share of matches won by policy."""
    ratings: list[Rating]
    matrix: np.ndarray
    """float64[N, N]: what the row gets against the column; NaN where they did not meet."""
    matrix_half: np.ndarray
    """float64[N, N]: half of the interval's width."""
    mixture: Mixture | None
    """None where some did not meet."""
    ranks: np.ndarray | None
    """α-Rank."""
    circle: list[int]
    """Policies of which each beats the next, by more than chance; empty if there is none."""
    knocks: np.ndarray
    """int64[N, len(Knock), turns, values]"""
    lengths: np.ndarray
    """int64[2, MAX_LENGTH]"""
    tables: tuple[DataTable, ...]
    """Standings first."""
    summary: tuple[str, ...]
    """Sentences."""


class _Seats:
    """All seats that each policy held, line-up by line-up."""

    def __init__(self, results: Results) -> None:
        self.plan, self.results = results.plan, results
        self.held: list[list[tuple[Played, int]]] = [[] for _ in self.plan.names]
        self.field: list[list[tuple[Played, int]]] = [[] for _ in self.plan.names]
        self.lone = lone = self.plan.pairing == "lone" and self.plan.players > 2
        for members, played in zip(self.plan.line_ups, results.line_ups, strict=True):
            for p, member in enumerate(members):
                (self.field if lone and p else self.held)[member].append((played, p))


def standings(results: Results, level: float = LEVEL, seed: int = 0) -> Standings:
    """Make everything out of the matches.

    Args:
        results: of at least two deals.
        level: of all intervals.
        seed: of the bootstrap.

    Raises:
        ValueError: if fewer than two deals are finished.
    """
    if len(results.deals) < 2:
        raise ValueError("fewer than two deals are finished by all line-ups")
    plan, seats = results.plan, _Seats(results)
    ratings = rate(
        [
            Result(members, played.places)
            for members, played in zip(plan.line_ups, results.line_ups, strict=True)
        ],
        len(plan.names),
        level,
    )
    by_deal, met = pair_payoffs(results)
    matrix, half = matrix_of(by_deal, met, level)
    whole = bool(met.all())
    mixture = symmetric_equilibrium(matrix) if whole else None
    ranks = alpha_rank(matrix) if whole else None
    spread = mixture_spread(by_deal, level, seed) if whole else None
    known = np.nan_to_num(matrix - half) > np.nan_to_num(matrix.T + half.T)
    found = circle(np.nan_to_num(matrix), known & (np.nan_to_num(matrix) > 0))
    won = [
        rate_interval(mean_by_deal(seats.held[i], share_of_wins), level)
        for i in range(len(ratings))
    ]
    main = _main_table(seats, won, ratings, spread, ranks, level)
    counts, knocks = counts_of(results), knocks_of(results)
    tables = [
        main,
        matrix_table(results, matrix),
        pair_table(results, matrix, half, level),
        _seat_table(seats, level),
        knock_table(plan.names, counts, knocks),
        length_table(results),
        knock_data(plan.names, knocks),
        length_data(results),
    ]
    return Standings(
        names=plan.names,
        players=plan.players,
        deals=len(results.deals),
        level=level,
        won=won,
        ratings=ratings,
        matrix=matrix,
        matrix_half=half,
        mixture=mixture,
        ranks=ranks,
        circle=found,
        knocks=knocks,
        lengths=np.sum([played.lengths for played in results.line_ups], axis=0),
        tables=tuple(table for table in tables if table.rows),
        summary=tuple(_summary(results, main, mixture, matrix, found)),
    )


# --- by policy -----------------------------------------------------------------------------------


def _main_columns(lone: bool) -> tuple[Column, ...]:
    columns = [
        Column("policy", "policy", "name", "text"),
        Column("rating", "rating", "points, 400 a factor of ten", "points", interval=True),
        Column("won", "won", "share of matches", "percent", interval=True),
    ]
    if lone:
        columns.append(
            Column("won_as_field", "as field", "share of matches", "percent", interval=True)
        )
    columns += [
        Column("payoff", "payoff", "stakes a match", "signed", interval=True, wide=True),
        Column(
            "lives_per_round",
            "lives/round",
            "life swing a round, adjusted for luck",
            "signed",
            interval=True,
        ),
        Column("lives_plain", "unadjusted", "life swing a round", "signed", True, wide=True),
        Column("place", "place", "mean finishing rank", "number", interval=True, wide=True),
        Column("matches", "matches", "matches with this policy in a seat", "count", wide=True),
        Column("lost", "lost", "matches, in parts", "count", wide=True),
        Column("forfeits", "forf.", "matches forfeited", "count", wide=lone),
        Column("worth_won", "worth", "independent matches, for the share won", "count", wide=True),
        Column(
            "worth_lives", "worth (lives)", "independent matches, for lives", "count", wide=True
        ),
        Column("nash", "Nash", "share of the mixture", "share", interval=True, bounds=True),
        Column("alpha_rank", "α-Rank", "share of time", "share", wide=lone),
    ]
    return tuple(columns)


def _main_table(
    seats: _Seats,
    won: Sequence[Estimate],
    ratings: Sequence[Rating],
    spread: list[Estimate] | None,
    ranks: np.ndarray | None,
    level: float,
) -> DataTable:
    plan, lone = seats.plan, seats.lone
    rows = []
    for i, name in enumerate(plan.names):
        held = seats.held[i]
        plain, lives, worth_lives = lives_per_round(held, level)
        shares = mean_by_deal(held, share_of_wins)
        forfeits = sum(int(played.forfeited[:, :, p].sum()) for played, p in held + seats.field[i])
        wins = sum(float(share_of_wins(played)[:, :, p].sum()) for played, p in held)
        matches = sum(played.payoffs[:, :, p].size for played, p in held)
        own = sum(int(played.forfeited[:, :, p].sum()) for played, p in held)
        row: list[Any] = [name, ratings[i].points, won[i]]
        if lone:
            row.append(rate_interval(mean_by_deal(seats.field[i], share_of_wins), level))
        row += [
            mean_interval(mean_by_deal(held, lambda played: played.payoffs), level),
            lives,
            plain,
            mean_interval(mean_by_deal(held, lambda played: played.places), level),
            ratings[i].matches,
            matches - wins - own,
            forfeits,
            finite(matches_worth(won[i], shares)),
            finite(worth_lives),
            spread[i] if spread is not None else None,
            float(ranks[i]) if ranks is not None else None,
        ]
        rows.append(tuple(row))
    rows.sort(key=lambda row: -row[1].mean)
    return DataTable(
        "standings",
        "Standings",
        _main_columns(lone),
        tuple(rows),
        note=f"Par is {100 / plan.players:.1f} %. Intervals: {level:.0%}, clustered by deal. "
        "“Worth”: so many matches, each on a deal of its own and played once, would be as sure.",
    )


# --- by seat -------------------------------------------------------------------------------------


def _seat_table(seats: _Seats, level: float) -> DataTable:
    """Share won by the place after the first dealer; every deal holds every place once."""
    plan = seats.plan
    columns = [Column("policy", "policy", "name", "text")]
    columns += [
        Column(
            f"won_{q + 1}",
            "begins" if q == 0 else f"{q + 1}." if q < plan.players - 1 else "deals",
            "share of matches",
            "percent",
            interval=True,
        )
        for q in range(plan.players)
    ]
    rows = []
    for i, name in enumerate(plan.names):
        estimates = []
        for q in range(plan.players):
            shares = mean_by_deal(
                seats.held[i],
                lambda played, q=q: share_of_wins(played) * (played.position == q) * plan.players,
            )
            estimates.append(rate_interval(np.clip(shares, 0, 1), level))
        rows.append((name, *estimates))
    return DataTable(
        "seats",
        "Matches won by seat",
        tuple(columns),
        tuple(rows),
        note="By the seat in the first round; the deal passes on from round to round.",
    )


# --- in words ------------------------------------------------------------------------------------


def _summary(
    results: Results,
    main: DataTable,
    mixture: Mixture | None,
    matrix: np.ndarray,
    found: list[int],
) -> list[str]:
    names = results.plan.names
    first = main.rows[0]
    rating, won = main.columns[1], main.columns[2]
    lines = [
        f"Highest rating: {first[0]}, {rating.show(first[1])} points; it won {won.show(first[2])}."
    ]
    if found:
        way = ", ".join(
            f"{names[a]} beats {names[b]}"
            for a, b in zip(found, found[1:] + found[:1], strict=True)
        )
        lines.append(f"No order from best to worst: {way}, each by more than chance.")
    if mixture is not None:
        used = np.flatnonzero(mixture.shares)
        text = ", ".join(f"{names[i]} {100 * mixture.shares[i]:.0f} %" for i in used)
        best, gain = best_response(matrix, mixture.shares)
        if len(used) > 1:
            lines.append(
                f"The unbeaten mixture is {text}; the best reply to it, {names[best]}, gets "
                f"{gain - mixture.value:+.4f} more."
            )
        else:
            lines.append(f"{names[used[0]]} is unbeaten: none of the others gets more against it.")
    forfeits = sum(int(played.forfeited.sum()) for played in results.line_ups)
    for members, played in zip(results.plan.line_ups, results.line_ups, strict=True):
        for member, fault in zip(members, played.faults, strict=True):
            if fault and not any(names[member] in line for line in lines[1:] if "forfeit" in line):
                lines.append(f"{names[member]} forfeited matches: {fault}")
    if forfeits:
        lines.append(f"Matches forfeited: {forfeits:,}.")
    return lines
