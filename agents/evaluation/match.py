"""The match runner: policies at one table, the same deals in every rotation of the seats.

Deal d is played S times, policy p sitting at seat (p + r) mod S in rotation r, with the cards and
the first dealer of match number d each time. Every policy thus holds the same cards at the same
seats as every other, and luck of the deal cancels out.

The deals are cut into chunks of a fixed size before anything is played; a chunk is played by one
thread and looks at nothing outside itself. So the result is the same, byte for byte, whatever the
number of workers.

Shapes: `D` deals, `R` rotations (= `S` seats = `P` policies), `B` tables of a chunk = deals × R.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import cast

import numpy as np

from agents.evaluation.statistics import Estimate, mean_interval, rate_interval
from agents.policies import DecidingPolicy, TablePolicy, seated
from agents.policies.neural import one_torch_thread
from thirtyone_env import Policy, Rules
from thirtyone_env.arena import Tables, play_matches
from thirtyone_env.state import NOBODY
from thirtyone_env.threads import usable_cores

CHUNK_DEALS = 1024
"""Deals a chunk: enough that batched inference pays, and small enough to share among workers."""

MAX_TURNS = 24
"""Own turns that are counted apart; later ones count with the last."""

MAX_VALUE = 41
"""Highest hand value, in points."""


class IllegalActionError(ValueError):
    """A policy chose an action that was not legal; the match is not counted."""


@dataclass(frozen=True)
class KnockCounts:
    """How often one policy was asked and knocked, by own turn and hand value.

    The first axis is the own turn in the round from 0, the second the hand value in points from 0;
    a half point counts with the point below.
    """

    decisions: np.ndarray
    """int64[MAX_TURNS, MAX_VALUE + 1]"""
    knocks: np.ndarray
    """int64[MAX_TURNS, MAX_VALUE + 1]"""

    @classmethod
    def empty(cls) -> KnockCounts:
        """Nothing counted yet."""
        shape = (MAX_TURNS, MAX_VALUE + 1)
        return cls(np.zeros(shape, np.int64), np.zeros(shape, np.int64))

    def count(self, turns: np.ndarray, half_points: np.ndarray, knocked: np.ndarray) -> None:
        """Count decisions: own turns int[N], hand values int[N] in half points, knocks bool[N]."""
        size = MAX_VALUE + 1
        cells = np.minimum(turns, MAX_TURNS - 1).astype(np.int64) * size + half_points // 2
        shape = self.decisions.shape
        self.decisions.__iadd__(np.bincount(cells, minlength=self.decisions.size).reshape(shape))
        knocks = np.bincount(cells[knocked], minlength=self.decisions.size).reshape(shape)
        self.knocks.__iadd__(knocks)

    def __add__(self, other: KnockCounts) -> KnockCounts:
        return KnockCounts(self.decisions + other.decisions, self.knocks + other.knocks)


@dataclass(frozen=True)
class Matches:
    """Results of one line-up of policies."""

    names: tuple[str, ...]
    """The policies, in the order they were given."""
    payoffs: np.ndarray
    """float64[D, R, P]: payoff of each policy in each deal and rotation."""
    knocks: tuple[KnockCounts, ...]
    """By policy; bots of the kernel are not counted."""

    def payoff(self, policy: int) -> Estimate:
        """Mean payoff of a match, with its interval by deal."""
        return mean_interval(self.payoffs[:, :, policy].mean(axis=1))

    def win_rate(self, policy: int) -> Estimate:
        """Share of matches won, with its interval by deal; a shared match is a part of a win."""
        return rate_interval(self.win_shares(policy))

    def win_shares(self, policy: int) -> np.ndarray:
        """Share of each deal's matches that the policy won, float64[D]."""
        size = self.payoffs.shape[2]
        wins = (self.payoffs[:, :, policy] * (size - 1) + 1) / size
        return np.clip(wins.mean(axis=1), 0.0, 1.0)


def play(
    policies: Sequence[str | TablePolicy | Policy],
    *,
    rules: Rules,
    deals: int,
    seed: int,
    workers: int | None = 1,
    progress: Callable[[int], None] | None = None,
) -> Matches:
    """Play every deal in every rotation of the seats.

    Args:
        policies: one a seat, by name, path or as an object; one may sit at several.
        rules: of every match.
        deals: number of deals `D`; deal d is match number d of `seed`.
        seed: start of the cards and of the bots' randomness.
        workers: threads, None for as many as this process may run at once; the result does not
            depend on them. All of them ask the policies.
        progress: called with the number of deals of every finished chunk, from any thread.

    Raises:
        ValueError: if the rules do not allow this many seats, a policy was not made for the table,
            or there are no deals or workers.
        IllegalActionError: if a policy chooses an illegal action.
    """
    size = rules.check_seats(len(policies))
    workers = usable_cores() if workers is None else workers
    if deals < 1 or workers < 1:
        raise ValueError("deals and workers must be at least 1")
    line_up = [seated(policy) for policy in policies]
    for policy in line_up:
        policy.check(rules, size)
    deciding = any(isinstance(policy, DecidingPolicy) for policy in line_up)
    chunks = [range(d, min(d + CHUNK_DEALS, deals)) for d in range(0, deals, CHUNK_DEALS)]

    def run(chunk: range) -> tuple[np.ndarray, tuple[KnockCounts, ...]]:
        numbers = np.arange(chunk.start, chunk.stop)
        if deciding:
            result = _play_deciding(line_up, rules, numbers, seed)
        else:
            result = _play_bots(line_up, rules, numbers, seed)
        if progress is not None:
            progress(len(chunk))
        return result

    with one_torch_thread() if deciding else nullcontext(), ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(run, chunks))
    payoffs = np.concatenate([result[0] for result in results])
    knocks = tuple(
        sum((result[1][p] for result in results), KnockCounts.empty()) for p in range(size)
    )
    return Matches(tuple(policy.name for policy in line_up), payoffs, knocks)


def lone(
    policy: str | TablePolicy | Policy, opponent: str | TablePolicy | Policy, num_players: int
) -> list[str | TablePolicy | Policy]:
    """A line-up of one policy, first, against copies of another."""
    return [policy] + [opponent] * (num_players - 1)


def seats_of(size: int) -> np.ndarray:
    """int64[R, P]: the seat of every policy in every rotation."""
    rotations = np.arange(size)[:, None]
    return (np.arange(size) + rotations) % size


def _play_bots(
    policies: Sequence[TablePolicy], rules: Rules, deals: np.ndarray, seed: int
) -> tuple[np.ndarray, tuple[KnockCounts, ...]]:
    size = len(policies)
    payoffs = np.empty((deals.size, size, size))
    for rotation, seats in enumerate(seats_of(size)):
        bots = [""] * size
        for policy, seat in zip(policies, seats, strict=True):
            bots[seat] = policy.controller
        by_seat = play_matches(rules, bots, seed=seed, matches=deals, threads=1)
        payoffs[:, rotation] = by_seat[:, seats]
    return payoffs, tuple(KnockCounts.empty() for _ in policies)


def _play_deciding(
    policies: Sequence[TablePolicy], rules: Rules, deals: np.ndarray, seed: int
) -> tuple[np.ndarray, tuple[KnockCounts, ...]]:
    size = len(policies)
    seats = np.tile(seats_of(size), (deals.size, 1))  # [B, P]
    tables = Tables(rules, size, seed=seed, matches=np.repeat(deals, size))
    rows = np.arange(len(seats))
    for p, policy in enumerate(policies):
        tables.set_controllers(rows, seats[:, p], policy.controller)
    at_seat = np.argsort(seats, axis=1)  # [B, S]: the policy of every seat
    counts = tuple(KnockCounts.empty() for _ in policies)
    tables.play()
    while True:
        seats_to_act = tables.waiting
        rows = np.flatnonzero(seats_to_act != NOBODY)
        if not rows.size:
            break
        asked = at_seat[rows, seats_to_act[rows]]
        _decide(policies, tables, rows, asked, counts)
    payoffs = tables.payoffs("match")
    by_policy = np.take_along_axis(payoffs, seats, axis=1)
    return by_policy.reshape(deals.size, size, size), counts


def _decide(
    policies: Sequence[TablePolicy],
    tables: Tables,
    rows: np.ndarray,
    asked: np.ndarray,
    counts: Sequence[KnockCounts],
) -> None:
    """One decision in each of these rows; `asked` int[N] says whose it is."""
    actions = np.zeros(rows.size, np.int64)
    turns, values = tables.waiting_turn, tables.waiting_value
    for p in np.unique(asked):
        policy = cast(DecidingPolicy, policies[p])
        places = np.flatnonzero(asked == p)
        mine = rows[places]
        chosen = np.asarray(policy.act_batch(tables, mine))
        _check_legal(policy, chosen, tables, mine)
        actions[places] = chosen
        if policy.controller == "knock":
            counts[p].count(turns[mine], values[mine], chosen == 1)
    tables.act(actions, rows)


def _check_legal(
    policy: TablePolicy, actions: np.ndarray, tables: Tables, rows: np.ndarray
) -> None:
    """Refuse illegal actions; `Tables.act` would too, but could not say whose they are."""
    if actions.shape != rows.shape:
        raise IllegalActionError(
            f"{policy.name} gave {actions.shape} actions for {rows.size} seats"
        )
    masks = tables.action_mask(rows)
    inside = (actions >= 0) & (actions < masks.shape[1])
    legal = inside & (masks[np.arange(rows.size), np.where(inside, actions, 0)] != 0)
    if not legal.all():
        action = actions[np.flatnonzero(~legal)[0]]
        raise IllegalActionError(f"{policy.name} chose action {action}, which was not legal")
