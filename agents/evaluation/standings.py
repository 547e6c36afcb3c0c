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
    bootstrap_mixtures,
    circle,
    symmetric_equilibrium,
)
from agents.evaluation.match import Played
from agents.evaluation.ratings import Rating, Result, rate
from agents.evaluation.statistics import (
    LEVEL,
    Estimate,
    adjusted_totals,
    mean_interval,
    rate_interval,
    ratio_interval,
)
from agents.evaluation.tables import Column, DataTable
from agents.evaluation.tournament import Results
from thirtyone_env.tally import MAX_TURNS, MAX_VALUE, Event, Knock

MAX_SCREEN = 8
"""Policies up to which a terminal shows the payoff matrix."""
TRIALS = 200
"""Bootstrap matrices for the intervals of mixtures."""


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
        lone = self.plan.pairing == "lone" and self.plan.players > 2
        for members, played in zip(self.plan.line_ups, results.line_ups, strict=True):
            for p, member in enumerate(members):
                (self.field if lone and p else self.held)[member].append((played, p))


def share_of_wins(played: Played) -> np.ndarray:
    """float64[D, R, P]: 1 for a match won, a part of it for one that was shared."""
    best = played.places == played.places.min(axis=2, keepdims=True)
    shares: np.ndarray = best / best.sum(axis=2, keepdims=True)
    return shares


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
    by_deal, met = _pair_payoffs(results)
    matrix, half = _matrix(by_deal, met, level)
    whole = bool(met.all())
    mixture = symmetric_equilibrium(matrix) if whole else None
    ranks = alpha_rank(matrix) if whole else None
    spread = _mixture_spread(by_deal, level, seed) if whole else None
    known = np.nan_to_num(matrix - half) > np.nan_to_num(matrix.T + half.T)
    found = circle(np.nan_to_num(matrix), known & (np.nan_to_num(matrix) > 0))
    won = [rate_interval(_mean(seats.held[i], share_of_wins), level) for i in range(len(ratings))]
    main = _main_table(seats, won, ratings, mixture, spread, ranks, level)
    counts = _counts(results)
    tables = [
        main,
        _matrix_table(results, matrix),
        _pair_table(results, matrix, half, level),
        _seat_table(seats, level),
        _knock_table(plan.names, counts, _knocks(results)),
        _length_table(results),
        _knock_data(plan.names, _knocks(results)),
        _length_data(results),
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
        knocks=_knocks(results),
        lengths=np.sum([played.lengths for played in results.line_ups], axis=0),
        tables=tuple(table for table in tables if table.rows),
        summary=tuple(_summary(results, main, mixture, matrix, found)),
    )


# --- by policy -----------------------------------------------------------------------------------


def _mean(held: Sequence[tuple[Played, int]], value: Any) -> np.ndarray:
    """float64[D]: mean of a value [D, R, P] over all seats held on each deal."""
    parts = [value(played)[:, :, p].mean(axis=1) for played, p in held]
    mean: np.ndarray = np.mean(parts, axis=0)
    return mean


def lives_per_round(
    held: Sequence[tuple[Played, int]], level: float
) -> tuple[Estimate, Estimate, float]:
    """Life swing a round of one policy.

    Returns:
        The plain mean; the mean adjusted for luck; and how many independent matches, each played
        once, the adjusted result is worth.
    """
    totals = np.sum([played.lives[:, :, p].sum(axis=1) for played, p in held], axis=0)
    sizes = np.sum([played.dealt[:, :, p].sum(axis=1) for played, p in held], axis=0)
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


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _main_table(
    seats: _Seats,
    won: Sequence[Estimate],
    ratings: Sequence[Rating],
    mixture: Mixture | None,
    spread: list[Estimate] | None,
    ranks: np.ndarray | None,
    level: float,
) -> DataTable:
    plan = seats.plan
    lone = plan.pairing == "lone" and plan.players > 2
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
    rows = []
    for i, name in enumerate(plan.names):
        held = seats.held[i]
        plain, lives, worth_lives = lives_per_round(held, level)
        shares = _mean(held, share_of_wins)
        forfeits = sum(int(played.forfeited[:, :, p].sum()) for played, p in held + seats.field[i])
        wins = sum(float(share_of_wins(played)[:, :, p].sum()) for played, p in held)
        matches = sum(played.payoffs[:, :, p].size for played, p in held)
        own = sum(int(played.forfeited[:, :, p].sum()) for played, p in held)
        row: list[Any] = [name, ratings[i].points, won[i]]
        if lone:
            row.append(rate_interval(_mean(seats.field[i], share_of_wins), level))
        row += [
            mean_interval(_mean(held, lambda played: played.payoffs), level),
            lives,
            plain,
            mean_interval(_mean(held, lambda played: played.places), level),
            ratings[i].matches,
            matches - wins - own,
            forfeits,
            _finite(matches_worth(won[i], shares)),
            _finite(worth_lives),
            spread[i] if spread is not None else None,
            float(ranks[i]) if ranks is not None else None,
        ]
        rows.append(tuple(row))
    rows.sort(key=lambda row: -row[1].mean)
    return DataTable(
        "standings",
        "Standings",
        tuple(columns),
        tuple(rows),
        note=f"Par is {100 / plan.players:.1f} %. Intervals: {level:.0%}, clustered by deal. "
        "“Worth”: so many matches, each on a deal of its own and played once, would be as sure.",
    )


# --- by pair -------------------------------------------------------------------------------------


def _pair_payoffs(results: Results) -> tuple[np.ndarray, np.ndarray]:
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


def _matrix(by_deal: np.ndarray, met: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    size = by_deal.shape[1]
    matrix, half = np.full((size, size), np.nan), np.full((size, size), np.nan)
    for a in range(size):
        for b in range(size):
            if met[a, b]:
                estimate = mean_interval(by_deal[:, a, b], level)
                matrix[a, b], half[a, b] = estimate.mean, estimate.half
    return matrix, half


def _mixture_spread(by_deal: np.ndarray, level: float, seed: int) -> list[Estimate]:
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


def _pair_table(results: Results, matrix: np.ndarray, half: np.ndarray, level: float) -> DataTable:
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
        shares = _mean(seats, share_of_wins)
        got = Estimate(matrix[a, b], matrix[a, b] - half[a, b], matrix[a, b] + half[a, b])
        rows.append(
            (
                plan.names[a],
                plan.names[b],
                got,
                rate_interval(shares, level),
                lives,
                sum(played.payoffs[:, :, 0].size for played, _ in seats),
                _finite(worth),
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
            Column("payoff", "payoff", _pair_unit(results), "signed", interval=True),
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


def _pair_unit(results: Results) -> str:
    plan = results.plan
    whole = plan.players == 2 or plan.pairing == "lone"
    return "stakes a match" if whole else "finishing ahead less behind"


def _matrix_table(results: Results, matrix: np.ndarray) -> DataTable:
    """The payoff matrix, columns by number."""
    names, unit = results.plan.names, _pair_unit(results)
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


# --- seats, knocks, lengths ----------------------------------------------------------------------


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
            shares = _mean(
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


def _counts(results: Results) -> np.ndarray:
    counts = np.zeros((len(results.plan.names), len(Event)), np.int64)
    for members, played in zip(results.plan.line_ups, results.line_ups, strict=True):
        np.add.at(counts, list(members), played.counts)
    return counts


def _knocks(results: Results) -> np.ndarray:
    shape = (len(results.plan.names), len(Knock), MAX_TURNS, MAX_VALUE + 1)
    knocks = np.zeros(shape, np.int64)
    for members, played in zip(results.plan.line_ups, results.line_ups, strict=True):
        np.add.at(knocks, list(members), played.knocks)
    return knocks


def _knock_table(names: Sequence[str], counts: np.ndarray, knocks: np.ndarray) -> DataTable:
    rows = []
    for i, name in enumerate(names):
        made = knocks[i, Knock.KNOCKED]
        number = int(counts[i, Event.KNOCKS])
        rounds = max(int(counts[i, Event.ROUNDS]), 1)
        turn = float(made.sum(axis=1) @ np.arange(1, MAX_TURNS + 1)) / number if number else None
        value = float(made.sum(axis=0) @ np.arange(MAX_VALUE + 1)) / number if number else None
        rows.append(
            (
                name,
                int(counts[i, Event.ROUNDS]),
                number / rounds,
                value,
                turn,
                counts[i, Event.RIGHT] / number if number else None,
                counts[i, Event.TWO_LIVES] / number if number else None,
                counts[i, Event.BLITZES] / rounds,
                counts[i, Event.DEALT_BLITZES] / rounds,
                counts[i, Event.LIVES_LOST] / rounds,
            )
        )
    return DataTable(
        "knocks",
        "Knocks and blitzes",
        (
            Column("policy", "policy", "name", "text"),
            Column("rounds", "rounds", "rounds dealt in", "count", wide=True),
            Column("knocks", "knocks", "share of rounds", "percent"),
            Column("value", "value", "points, mean of the knocks", "number"),
            Column("turn", "turn", "own turn from 1, mean of the knocks", "number"),
            Column("right", "right", "share of knocks that cost nothing", "percent"),
            Column("two_lives", "two lives", "share of knocks that cost two lives", "percent"),
            Column("blitzes", "blitzes", "share of rounds", "percent"),
            Column("dealt_blitzes", "dealt", "share of rounds", "percent", wide=True),
            Column("lives_lost", "lost", "lives a round", "number"),
        ),
        tuple(rows),
        note="Right: the knocker lost nothing in that round.",
    )


def _knock_data(names: Sequence[str], knocks: np.ndarray) -> DataTable:
    rows = [
        (names[i], int(turn) + 1, int(value), *(int(knocks[i, k, turn, value]) for k in Knock))
        for i in range(len(names))
        for turn, value in zip(*np.nonzero(knocks[i, Knock.ASKED]), strict=True)
    ]
    return DataTable(
        "knocks_by_turn",
        "Knocks by turn and value",
        (
            Column("policy", "policy", "name", "text"),
            Column("turn", "turn", f"own turn from 1; the {MAX_TURNS}th and later ones", "count"),
            Column("value", "value", "points; half points count with the point below", "count"),
            Column("asked", "asked", "turns at whose start knocking was legal", "count"),
            Column("knocked", "knocked", "knocks", "count"),
            Column("right", "right", "knocks that cost nothing", "count"),
        ),
        tuple(rows),
        data=True,
    )


def _length_table(results: Results) -> DataTable:
    rows = []
    lengths = np.sum([played.lengths for played in results.line_ups], axis=0)
    for what, unit, counts in zip(("round", "match"), ("turns", "rounds"), lengths, strict=True):
        number = int(counts.sum())
        if not number:
            continue
        spread = np.searchsorted(np.cumsum(counts) / number, [0.05, 0.5, 0.95])
        rows.append(
            (
                what,
                unit,
                number,
                float(counts @ np.arange(len(counts))) / number,
                *(int(q) for q in spread),
            )
        )
    return DataTable(
        "lengths",
        "Lengths",
        (
            Column("what", "of a", "round or match", "text"),
            Column("unit", "in", "unit", "text"),
            Column("number", "number", "rounds or matches", "count"),
            Column("mean", "mean", "unit"),
            Column("q05", "5 %", "unit", "count"),
            Column("median", "median", "unit", "count"),
            Column("q95", "95 %", "unit", "count"),
        ),
        tuple(rows),
    )


def _length_data(results: Results) -> DataTable:
    lengths = np.sum([played.lengths for played in results.line_ups], axis=0)
    rows = [
        (("round", "match")[kind], int(length), int(lengths[kind, length]))
        for kind, length in zip(*np.nonzero(lengths), strict=True)
    ]
    return DataTable(
        "lengths_by_number",
        "Lengths in full",
        (
            Column("what", "of a", "round (in turns) or match (in rounds)", "text"),
            Column("length", "length", "turns or rounds; the last number and more", "count"),
            Column("number", "number", "rounds or matches", "count"),
        ),
        tuple(rows),
        data=True,
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
