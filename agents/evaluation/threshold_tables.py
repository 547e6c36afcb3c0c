"""A threshold study as tables and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agents.evaluation.equilibrium import best_response, maximin
from agents.evaluation.statistics import Estimate
from agents.evaluation.store import PlanError
from agents.evaluation.tables import Column, DataTable
from agents.evaluation.threshold_study import Payoffs, Study

ROLES = ("begins", "comes second")
SHOWN = 0.005
"""Shares of a mixture below this are not named in a sentence."""


def players_name(players: int) -> str:
    """What a size of table is called."""
    return "Heads-up" if players == 2 else f"One of {players}"


def tables_of(study: Study) -> list[DataTable]:
    """All tables, the mixtures first."""
    tables = []
    for payoffs in study.payoffs:
        tables += [_mixture(payoffs), _replies(payoffs), _seats(payoffs), _matrix(payoffs)]
    if study.lives is not None:
        tables.append(_lives(study))
    if study.turns is not None:
        tables += [_turns(study), _gains(study)]
    return tables


def sweep_table(found: Sequence[tuple[str, Study]]) -> DataTable:
    """The unbeaten mixtures of several rule sets, by number of players."""
    rows = tuple(
        (name, payoffs.players, *mixture_words(payoffs), payoffs.matches)
        for name, study in found
        for payoffs in study.payoffs
    )
    return DataTable(
        "sweep",
        "Unbeaten mixtures of thresholds",
        (
            Column("rules", "rules", "name", "text"),
            Column("players", "players", "seats", "count"),
            Column("mixture", "unbeaten mixture", "shares of 5 % and more", "text"),
            Column("circle", "best replies go round", "points", "text"),
            Column("matches", "matches a pair", "matches", "count", wide=True),
        ),
        rows,
    )


def sweep_shares(found: Sequence[tuple[str, Study]]) -> DataTable:
    """The same in full, a threshold a line."""
    rows = tuple(
        (name, payoffs.players, limit, share)
        for name, study in found
        for payoffs in study.payoffs
        for limit, share in zip(payoffs.thresholds, payoffs.shares, strict=True)
    )
    return DataTable(
        "sweep_shares",
        "Shares of the unbeaten mixtures",
        (
            Column("rules", "rules", "name", "text"),
            Column("players", "players", "seats", "count"),
            Column("threshold", "threshold", "points", "plain"),
            Column("share", "share", "share of the mixture", "share", interval=True, bounds=True),
        ),
        rows,
        data=True,
    )


def mixture_words(payoffs: Payoffs) -> tuple[str, str]:
    """The mixture's shares of 5 % and more with their intervals, and the circle of best replies."""
    words = []
    for i in np.argsort(-payoffs.mixture.shares, kind="stable").tolist():
        share = payoffs.shares[i]
        if share.mean >= 0.05:
            span = f"{100 * share.low:.0f}–{100 * share.high:.0f}"
            words.append(f"{payoffs.thresholds[i]:g} with {100 * share.mean:.0f} % ({span})")
    circle = [f"{payoffs.thresholds[i]:g}" for i in payoffs.reply_circle()]
    if len(circle) == 1:
        return ", ".join(words), f"{circle[0]} answers itself"
    return ", ".join(words), " → ".join([*circle, circle[0]])


def text_of(payoffs: Payoffs, shares: np.ndarray) -> str:
    """A mixture in words: "25 85 %, 29 15 %"."""
    used = [
        f"{limit:g}: {100 * share:.0f} %"
        for limit, share in zip(payoffs.thresholds, shares, strict=True)
        if share >= SHOWN
    ]
    return ", ".join(used)


def _mixture(payoffs: Payoffs) -> DataTable:
    against = payoffs.matrix @ payoffs.mixture.shares
    rows = tuple(
        (limit, payoffs.shares[k], float(against[k] - payoffs.mixture.value))
        for k, limit in enumerate(payoffs.thresholds)
    )
    return DataTable(
        f"mixture_{payoffs.players}_players",
        f"The unbeaten mixture, {players_name(payoffs.players).lower()}",
        (
            Column("threshold", "threshold", "points", "plain"),
            Column("share", "share", "share of the mixture", "share", interval=True, bounds=True),
            Column("against", "against the mixture", "stakes a match, over its own", "signed"),
        ),
        rows,
        note=f"{payoffs.matches:,} matches a pair. No threshold gets more than 0 against the "
        "mixture, over what it gets against itself.",
    )


def _replies(payoffs: Payoffs) -> DataTable:
    rows = []
    for j, best in enumerate(payoffs.replies()):
        gain, half = float(payoffs.matrix[best, j]), float(payoffs.half[best, j])
        estimate = Estimate(gain, gain - half, gain + half)
        row: list[Any] = [payoffs.thresholds[j], payoffs.thresholds[best], estimate]
        if payoffs.players == 2:
            row.append(Estimate(*(0.5 + 0.5 * x for x in (gain, gain - half, gain + half))))
        rows.append(tuple(row))
    columns = [
        Column("against", "against", "threshold, points", "plain"),
        Column("best_reply", "best reply", "threshold, points", "plain"),
        Column("payoff", "its payoff", "stakes a match", "signed", interval=True),
    ]
    if payoffs.players == 2:
        columns.append(
            Column("won", "won", "share of matches, without buy-ins", "percent", interval=True)
        )
    return DataTable(
        f"replies_{payoffs.players}_players",
        f"Best replies, {players_name(payoffs.players).lower()}",
        tuple(columns),
        tuple(rows),
    )


def _matrix(payoffs: Payoffs) -> DataTable:
    rows = tuple(
        (
            a,
            b,
            Estimate(
                float(payoffs.matrix[i, j]),
                float(payoffs.matrix[i, j] - payoffs.half[i, j]),
                float(payoffs.matrix[i, j] + payoffs.half[i, j]),
            ),
        )
        for i, a in enumerate(payoffs.thresholds)
        for j, b in enumerate(payoffs.thresholds)
    )
    return DataTable(
        f"payoffs_{payoffs.players}_players",
        f"Payoffs, {players_name(payoffs.players).lower()}",
        (
            Column("threshold", "threshold", "points", "plain"),
            Column("against", "against", "threshold, points", "plain"),
            Column("payoff", "payoff", "stakes a match", "signed", interval=True),
        ),
        rows,
        data=True,
    )


def _seats(payoffs: Payoffs) -> DataTable:
    rows: list[tuple[Any, ...]] = []
    if payoffs.players == 2:
        first = payoffs.by_seat[0]
        own, other = maximin(first), maximin(-first.T)
        rows = [
            (ROLES[0], text_of(payoffs, own.shares), own.value),
            (ROLES[1], text_of(payoffs, other.shares), other.value),
        ]
        return DataTable(
            "seats_2_players",
            "By seat, heads-up",
            (
                Column("seat", "seat", "in the round", "text"),
                Column("mixture", "unbeaten mixture", "thresholds and shares", "text"),
                Column("value", "value", "life swings a round", "signed"),
            ),
            tuple(rows),
            note="Of a single round, in which both know who begins.",
        )
    for seat in range(payoffs.players):
        best, gain = best_response(payoffs.by_seat[seat], payoffs.mixture.shares)
        label = "begins" if not seat else f"{seat + 1}."
        rows.append((label, payoffs.thresholds[best], gain))
    return DataTable(
        f"seats_{payoffs.players}_players",
        f"By seat, {players_name(payoffs.players).lower()}",
        (
            Column("seat", "seat", "in the first round", "text"),
            Column("best", "best threshold", "points", "plain"),
            Column("payoff", "payoff", "stakes a match", "signed"),
        ),
        tuple(rows),
        note="The best threshold of one whose opponents all follow the mixture, by seat in the "
        "first round.",
    )


def _heads_up(study: Study) -> Payoffs:
    for payoffs in study.payoffs:
        if payoffs.players == 2:
            return payoffs
    raise PlanError("the study has no heads-up table")


def _lives(study: Study) -> DataTable:
    payoffs, lives = _heads_up(study), study.lives
    assert lives is not None
    limits = np.array(payoffs.thresholds, float)
    rows = []
    for own, other in np.ndindex(*lives.value.shape):
        for role, shares, value in (
            (0, lives.begins[own, other], lives.value[own, other]),
            (1, lives.other[other, own], -lives.value[other, own]),
        ):
            rows.append(
                (
                    own + 1,
                    other + 1,
                    ROLES[role],
                    float(shares @ limits),
                    text_of(payoffs, shares),
                    float(0.5 + 0.5 * value),
                )
            )
    return DataTable(
        "lives",
        "By lives left, heads-up",
        (
            Column("own", "own", "losses until out", "count"),
            Column("other", "other's", "losses until out", "count"),
            Column("seat", "seat", "in the round", "text"),
            Column("mean", "mean threshold", "points"),
            Column("mixture", "mixture", "thresholds and shares", "text"),
            Column("win", "wins", "chance to win the match", "percent"),
        ),
        tuple(rows),
        note="Unbeaten play of the whole match, where the threshold may depend on lives and on who "
        "begins; solved backwards from the outcomes of single rounds.",
    )


def _turns(study: Study) -> DataTable:
    payoffs, turns = _heads_up(study), study.turns
    assert turns is not None
    rows = []
    for role in range(2):
        for turn in range(turns.best.shape[1]):
            reached = float(turns.reached[role, turn].sum())
            if reached >= SHOWN:
                gains = turns.gain[role, turn] - turns.half[role, turn] > 0
                sure = np.flatnonzero(gains & ~np.isnan(turns.gain[role, turn]))
                rows.append(
                    (
                        ROLES[role],
                        turn + 1,
                        reached,
                        payoffs.thresholds[int(turns.best[role, turn])],
                        ", ".join(str(value) for value in sure) or "–",
                    )
                )
    return DataTable(
        "turns",
        "By turn, heads-up",
        (
            Column("seat", "seat", "in the round", "text"),
            Column("turn", "own turn", "from 1", "count"),
            Column("reached", "reached", "share of rounds", "percent"),
            Column("best", "best threshold", "points, on this turn alone", "plain"),
            Column("sure", "a knock gains with", "points", "text"),
        ),
        tuple(rows),
        note="All other turns, and the other player, follow the mixture. “Gains”: the whole "
        "interval lies above 0.",
    )


def _gains(study: Study) -> DataTable:
    turns = study.turns
    assert turns is not None
    rows = []
    for role, turn, value in zip(*np.nonzero(~np.isnan(turns.gain)), strict=True):
        gain, half = float(turns.gain[role, turn, value]), float(turns.half[role, turn, value])
        rows.append(
            (
                ROLES[role],
                int(turn) + 1,
                int(value),
                float(turns.reached[role, turn, value]),
                Estimate(gain, gain - half, gain + half),
            )
        )
    return DataTable(
        "gains_by_turn",
        "Gain of a knock by turn and value",
        (
            Column("seat", "seat", "in the round", "text"),
            Column("turn", "own turn", "from 1", "count"),
            Column("value", "value", "points; half points count with the point below", "count"),
            Column("reached", "reached", "share of rounds", "percent"),
            Column("gain", "gain", "life swings, over going on", "signed", interval=True),
        ),
        tuple(rows),
        data=True,
    )


def summary_of(study: Study) -> list[str]:
    """The main results in sentences."""
    lines = []
    for payoffs in study.payoffs:
        name = players_name(payoffs.players)
        used = [
            f"{limit:g} {payoffs_share(share)}"
            for limit, share in zip(payoffs.thresholds, payoffs.shares, strict=True)
            if share.mean >= SHOWN
        ]
        best, gain = best_response(payoffs.matrix, payoffs.mixture.shares)
        if payoffs.mixture.shares.max() == 1:
            lines.append(f"{name}: {used[0]} is unbeaten; nothing gets more against it.")
        else:
            lines.append(
                f"{name}: the unbeaten mixture is {', '.join(used)}; its value is "
                f"{payoffs.mixture.value + 0.0:+.4f}, and the best reply to it, "
                f"{payoffs.thresholds[best]:g}, gets {gain - payoffs.mixture.value:+.4f} more."
            )
        way = [payoffs.thresholds[i] for i in payoffs.reply_circle()]
        if len(way) > 1:
            text = " → ".join(f"{limit:g}" for limit in [*way, way[0]])
            lines.append(f"{name}: best replies go in a circle, {text}.")
        beaten = [payoffs.thresholds[i] for i in payoffs.circle()]
        if beaten:
            pairs = zip(beaten, beaten[1:] + beaten[:1], strict=True)
            text = ", ".join(f"{a:g} beats {b:g}" for a, b in pairs)
            lines.append(f"{name}: no order from best to worst: {text}, each by more than chance.")
    return lines


def payoffs_share(share: Estimate) -> str:
    """A share with its interval."""
    return f"with {100 * share.mean:.0f} % ({100 * share.low:.0f}–{100 * share.high:.0f})"
