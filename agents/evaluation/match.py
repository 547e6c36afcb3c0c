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

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import cast

import numpy as np

from agents.evaluation.jobs import chunks_of
from agents.evaluation.recording import MatchScribe
from agents.evaluation.statistics import Estimate, mean_interval, rate_interval
from agents.policies import DecidingPolicy, FaultyPolicy, TablePolicy, seated
from agents.policies.neural import one_torch_thread
from thirtyone_env import Policy, Rules
from thirtyone_env.arena import Tables, play_matches
from thirtyone_env.state import NOBODY
from thirtyone_env.tally import MAX_TURNS, MAX_VALUE, Knock, WatchedTables
from thirtyone_env.threads import usable_cores

CHUNK_DEALS = 1024
"""Deals a chunk: enough that batched inference pays, and small enough to share among workers."""


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
    """By policy; nothing is counted where all are bots of the kernel."""

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

    def run(chunk: range) -> Chunk:
        result = play_chunk(line_up, rules, np.array(chunk), seed)
        if progress is not None:
            progress(len(chunk))
        return result

    with torch_for(line_up), ThreadPoolExecutor(workers) as pool:
        return matches_of(line_up, list(pool.map(run, chunks_of(deals, CHUNK_DEALS))))


def torch_for(policies: Iterable[TablePolicy]) -> AbstractContextManager[None]:
    """While policies play: torch computes in one thread where one decides outside the kernel."""
    deciding = any(isinstance(policy, DecidingPolicy) for policy in policies)
    return one_torch_thread() if deciding else nullcontext()


@dataclass(frozen=True)
class Chunk:
    """What some deals of one line-up came to."""

    payoffs: np.ndarray
    """float64[D, R, P]"""
    knocks: tuple[KnockCounts, ...]
    """By policy; nothing is counted where all are bots of the kernel."""
    lines: bytes = b""
    """The match records that were wanted."""


def play_chunk(
    line_up: Sequence[TablePolicy],
    rules: Rules,
    deals: np.ndarray,
    seed: int,
    wanted: np.ndarray | None = None,
) -> Chunk:
    """Play some deals in every rotation of the seats.

    Args:
        line_up: one policy a seat, made for this table.
        rules: of every match.
        deals: int64[D], match numbers.
        seed: start of the cards and of the bots' randomness.
        wanted: bool[D, R], the matches whose records are wanted; None: no one's.

    Raises:
        IllegalActionError: if a policy chooses an illegal action.
    """
    answers: dict[int, list[int]] | None = None if wanted is None else {}
    if any(isinstance(policy, DecidingPolicy) for policy in line_up):
        played = play_deals(line_up, rules, deals, seed, answers=answers)
        payoffs, knocks = played.payoffs, _knock_counts(played.knocks)
    else:
        payoffs = play_bots(line_up, rules, deals, seed)
        knocks = tuple(KnockCounts.empty() for _ in line_up)
    if wanted is None or answers is None:
        return Chunk(payoffs, knocks)
    lines = MatchScribe(line_up, rules, seed).lines(deals, wanted, answers)
    return Chunk(payoffs, knocks, lines)


def matches_of(line_up: Sequence[TablePolicy], chunks: Sequence[Chunk]) -> Matches:
    """The chunks of a line-up, at least one, as one."""
    knocks = tuple(
        sum((chunk.knocks[p] for chunk in chunks), KnockCounts.empty()) for p in range(len(line_up))
    )
    payoffs = np.concatenate([chunk.payoffs for chunk in chunks])
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


def play_bots(
    policies: Sequence[TablePolicy], rules: Rules, deals: np.ndarray, seed: int
) -> np.ndarray:
    """Payoffs float64[D, R, P] of bots of the kernel, in every rotation of the seats."""
    size = len(policies)
    payoffs = np.empty((deals.size, size, size))
    for rotation, seats in enumerate(seats_of(size)):
        bots = [""] * size
        for policy, seat in zip(policies, seats, strict=True):
            bots[seat] = policy.controller
        by_seat = play_matches(rules, bots, seed=seed, matches=deals, threads=1)
        payoffs[:, rotation] = by_seat[:, seats]
    return payoffs


def _knock_counts(knocks: np.ndarray) -> tuple[KnockCounts, ...]:
    return tuple(KnockCounts(table[Knock.ASKED], table[Knock.KNOCKED]) for table in knocks)


@dataclass(frozen=True)
class Played:
    """Everything about some deals of one line-up, with what `thirtyone_env.tally` counts.

    The policies are those of the line-up in its order, `P` of them.
    """

    payoffs: np.ndarray
    """float64[D, R, P]: match payoffs."""
    places: np.ndarray
    """float64[D, R, P]: finishing ranks from 1; those who went out together share theirs."""
    lives: np.ndarray
    """float64[D, R, P]: life swings, summed over the rounds of the match."""
    dealt: np.ndarray
    """int32[D, R, P]: rounds that the policy was dealt in."""
    luck: np.ndarray
    """float64[D, R, P, len(LUCK)]: own luck of the draw less the mean of the others'."""
    position: np.ndarray
    """int8[D, R, P]: places after the seat that began the first round."""
    forfeited: np.ndarray
    """bool[D, R, P]: the policy forfeited the match."""
    counts: np.ndarray
    """int64[P, len(Event)]"""
    knocks: np.ndarray
    """int64[P, len(Knock), MAX_TURNS, MAX_VALUE + 1]"""
    lengths: np.ndarray
    """int64[2, MAX_LENGTH]"""
    faults: tuple[str, ...] = ()
    """What the forfeits were for, by policy; empty where there was none."""


def play_deals(
    policies: Sequence[TablePolicy],
    rules: Rules,
    deals: np.ndarray,
    seed: int,
    *,
    luck: bool = False,
    forfeits: bool = False,
    answers: dict[int, list[int]] | None = None,
) -> Played:
    """Play some deals in every rotation of the seats, watching.

    Args:
        policies: one a seat, made for this table.
        rules: of every match.
        deals: int64[D], match numbers.
        seed: start of the cards and of the bots' randomness.
        luck: whether to measure the luck of the draw.
        forfeits: whether a policy that fails or chooses an illegal action forfeits the match, and
            the others share it; otherwise that is an error.
        answers: where the answers of policies outside the kernel are noted for match records, by
            row = place of the deal x P + rotation; None: they are not.

    Raises:
        IllegalActionError: for an illegal action, unless `forfeits`.
    """
    size = len(policies)
    seats = np.tile(seats_of(size), (deals.size, 1))  # [B, P]
    at_seat = np.argsort(seats, axis=1)  # [B, S]: the policy of every seat
    tables = WatchedTables(
        rules, size, seed=seed, matches=np.repeat(deals, size), owners=at_seat, luck=luck
    )
    rows = np.arange(len(seats))
    for p, policy in enumerate(policies):
        tables.set_controllers(rows, seats[:, p], policy.controller)
    referee = _Referee(policies, tables, forfeits, answers)
    tables.play()
    while True:
        seats_to_act = tables.waiting
        rows = np.flatnonzero((seats_to_act != NOBODY) & (referee.offender < 0))
        if not rows.size:
            break
        referee.decide(rows, at_seat[rows, seats_to_act[rows]])
    return _played(tables, seats, referee)


def _played(tables: WatchedTables, seats: np.ndarray, referee: _Referee) -> Played:
    """The results by policy."""
    size = seats.shape[1]

    def by_policy(values: np.ndarray) -> np.ndarray:
        found = np.take_along_axis(values[:, :size], seats, axis=1)
        return found.reshape(-1, size, size)

    payoffs, places = by_policy(tables.payoffs("match")), by_policy(tables.places)
    stopped_by = np.zeros(seats.shape, bool)
    stopped = np.flatnonzero(referee.offender >= 0)
    stopped_by[stopped, referee.offender[stopped]] = True
    forfeited = stopped_by.reshape(-1, size, size)
    over = forfeited.any(axis=2)
    payoffs[over] = np.where(forfeited[over], -1.0, 1 / (size - 1)) / (size - 1)
    places[over] = np.where(forfeited[over], size, size / 2)
    luck = tables.marks["luck"][:, :size]
    luck = luck - (luck.sum(axis=1, keepdims=True) - luck) / (size - 1)
    luck = np.take_along_axis(luck, seats[:, :, None], axis=1)
    first = tables.marks["first"].astype(np.int64)[:, None]
    return Played(
        payoffs=payoffs,
        places=places,
        lives=by_policy(tables.payoffs("lives")),
        dealt=by_policy(tables.marks["dealt"]),
        luck=luck.reshape(-1, size, size, luck.shape[-1]),
        position=((seats - first) % size).astype(np.int8).reshape(-1, size, size),
        forfeited=forfeited,
        counts=tables.counts,
        knocks=tables.knocks,
        lengths=tables.lengths,
        faults=tuple(referee.faults),
    )


class _Referee:
    """Asks the policies and judges what they answer."""

    def __init__(
        self,
        policies: Sequence[TablePolicy],
        tables: Tables,
        forfeits: bool,
        answers: dict[int, list[int]] | None,
    ) -> None:
        self.policies, self.tables, self.forfeits = policies, tables, forfeits
        self.answers = answers
        self.offender = np.full(tables.size, NOBODY)
        self.faults = [""] * len(policies)

    def decide(self, rows: np.ndarray, asked: np.ndarray) -> None:
        """One decision in each of these rows; `asked` int[N] says whose it is."""
        actions = np.zeros(rows.size, np.int64)
        for p in np.unique(asked):
            places = np.flatnonzero(asked == p)
            actions[places] = self._answers(int(p), rows[places])
        going_on = self.offender[rows] < 0
        if self.answers is not None:
            for row, action in zip(rows[going_on], actions[going_on], strict=True):
                self.answers.setdefault(int(row), []).append(int(action))
        self.tables.act(actions[going_on], rows[going_on])

    def _answers(self, p: int, rows: np.ndarray) -> np.ndarray:
        policy = cast(DecidingPolicy, self.policies[p])
        if not self.forfeits:
            chosen = np.asarray(policy.act_batch(self.tables, rows))
            _check_legal(policy, chosen, self.tables, rows)
            return chosen
        if isinstance(policy, FaultyPolicy):
            return self._answers_with_faults(policy, p, rows)
        try:
            chosen = np.asarray(policy.act_batch(self.tables, rows))
            _check_legal(policy, chosen, self.tables, rows)
        except Exception as fault:  # whatever a policy of anybody's may raise
            if rows.size > 1:  # only the tables concerned are lost
                return np.concatenate([self._answers(p, rows[i : i + 1]) for i in range(rows.size)])
            self.offender[rows] = p
            self.faults[p] = self.faults[p] or f"{type(fault).__name__}: {fault}"
            return np.zeros(1, np.int64)
        return chosen

    def _answers_with_faults(self, policy: FaultyPolicy, p: int, rows: np.ndarray) -> np.ndarray:
        """The answers of a policy that is not asked twice; those to its faults mean nothing."""
        chosen, faults = policy.try_batch(self.tables, rows)
        for place, fault in faults.items():
            self.offender[rows[place]] = p
            self.faults[p] = self.faults[p] or f"{type(fault).__name__}: {fault}"
        good = np.setdiff1d(np.arange(rows.size), list(faults))
        _check_legal(policy, chosen[good], self.tables, rows[good])
        return chosen


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
