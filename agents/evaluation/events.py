"""Knocks and lengths of a tournament as tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agents.evaluation.tables import Column, DataTable
from agents.evaluation.tournament import Results
from thirtyone_env.tally import MAX_TURNS, MAX_VALUE, Event, Knock


def counts_of(results: Results) -> np.ndarray:
    """int64[N, len(Event)]: what happened, by policy."""
    counts = np.zeros((len(results.plan.names), len(Event)), np.int64)
    for members, played in zip(results.plan.line_ups, results.line_ups, strict=True):
        np.add.at(counts, list(members), played.counts)
    return counts


def knocks_of(results: Results) -> np.ndarray:
    """int64[N, len(Knock), MAX_TURNS, MAX_VALUE + 1]: knocks by policy, turn and value."""
    shape = (len(results.plan.names), len(Knock), MAX_TURNS, MAX_VALUE + 1)
    knocks = np.zeros(shape, np.int64)
    for members, played in zip(results.plan.line_ups, results.line_ups, strict=True):
        np.add.at(knocks, list(members), played.knocks)
    return knocks


def knock_table(names: Sequence[str], counts: np.ndarray, knocks: np.ndarray) -> DataTable:
    """How often each policy knocked, and what became of it."""
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


def knock_data(names: Sequence[str], knocks: np.ndarray) -> DataTable:
    """The same by turn and value."""
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


def length_table(results: Results) -> DataTable:
    """How long rounds and matches were."""
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


def length_data(results: Results) -> DataTable:
    """The same in full."""
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
