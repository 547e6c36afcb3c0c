"""A bank of rounds in which nobody knocks, with what a knock at each turn would have cost.

Draws and discards are fixed, so the cards do not depend on who knocks: a round is played once to
its end without a knock, and at every turn a copy of it is played on from a knock there, with the
engine itself. Whatever knocks are then tried, the bank knows what follows from them.

Who is first to act is place 0, the next player place 1; turn t of a round is that of place t mod S.
What a round costs is written as one number, its `code`: the sum over places of losses · 3**place.

Shapes: `N` rounds, `T` turns of all rounds, `S` places, `K` codes (3**S).
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from thirtyone_env._jit import entry, kernel
from thirtyone_env.actions import KNOCK, may_knock
from thirtyone_env.bots import Book, drawing, going_on
from thirtyone_env.bots.charting import chart_cell
from thirtyone_env.charts import Axes
from thirtyone_env.engine import apply, start_match
from thirtyone_env.rules import Rules
from thirtyone_env.state import STATE, Phase, State, new_states, next_seat

CHUNK = 4096
"""Rounds that are played by one thread at a time; what they are does not depend on threads."""
GONE = 1e-5
"""A reach below this is gone."""
NO_CELL = -1
"""The cell of a turn at which no knock is allowed."""


@dataclass(frozen=True)
class Bank:
    """Rounds without knocks."""

    places: int
    """S."""
    starts: np.ndarray
    """int64[N + 1]: the first turn of each round, and T."""
    cells: np.ndarray
    """int32[T]: the cell of the chart that the player to act is in, or NO_CELL."""
    codes: np.ndarray
    """int16[T]: what a knock at this turn costs."""
    ends: np.ndarray
    """int16[N]: what the round costs without a knock."""

    @property
    def rounds(self) -> int:
        """N."""
        return len(self.ends)

    def part(self, first: int, after: int) -> Bank:
        """Some of the rounds, as views."""
        turns = slice(self.starts[first], self.starts[after])
        return Bank(
            self.places,
            self.starts[first : after + 1] - self.starts[first],
            self.cells[turns],
            self.codes[turns],
            self.ends[first:after],
        )


@kernel
def go_on(state: State, book: Any) -> None:
    """One decision without a knock."""
    apply(state, going_on(state, book))


@kernel
def code_of(state: State, first: int) -> int:
    """What the round has cost, by place."""
    seats = np.int64(state.num_players)
    code, weight = 0, 1
    for place in range(seats):
        code += weight * np.int64(state.losses[(first + place) % seats])
        weight *= 3
    return code


@kernel
def code_of_knock(copies: Any, states: Any, book: Any, first: int) -> int:
    """What the round would cost if the seat to act knocked; `copies` is scratch."""
    copies[0] = states[0]
    state = copies[0]
    apply(state, KNOCK)
    while state.phase < Phase.JUDGE:
        go_on(state, book)
    return code_of(state, first)


@kernel
def is_gone(reach: Any, seats: int) -> bool:
    """Whether two players' reach is gone."""
    gone = 0
    for seat in range(seats):
        gone += reach[seat] < GONE
    return gone > 1


@kernel
def play_round(
    states: Any,
    copies: Any,
    head: Any,
    book: Any,
    cut: Any,
    reach: Any,
    cells: Any,
    codes: Any,
    turn: int,
) -> int:
    """Play a round that was dealt, writing its turns from `turn` on; the turn after them."""
    state = states[0]
    first = next_seat(state, state.dealer)
    for seat in range(state.num_players):
        reach[seat] = 1.0
    while state.phase < Phase.JUDGE:
        if state.phase == Phase.TURN and not state.dealt_blitz:
            if is_gone(reach, state.num_players):
                return turn
            cells[turn], codes[turn] = NO_CELL, 0
            if may_knock(state):
                cells[turn] = chart_cell(state, head, 0)
                codes[turn] = code_of_knock(copies, states, book, first)
                reach[state.seat] *= 1.0 - cut[cells[turn]]
            turn += 1
        go_on(state, book)
    return turn


@entry
def fill(
    states: Any,
    copies: Any,
    head: Any,
    book: Any,
    cut: Any,
    reach: Any,
    match: int,
    starts: Any,
    cells: Any,
    codes: Any,
    ends: Any,
) -> None:
    """Play rounds from a match index on, as many as there are `ends`; `starts[0]` is 0."""
    state = states[0]
    for row in range(len(ends)):
        state.match = match + row
        start_match(state)
        after = play_round(states, copies, head, book, cut, reach, cells, codes, starts[row])
        starts[row + 1] = after
        if state.phase < Phase.JUDGE:
            ends[row] = codes[after - 1]
        else:
            ends[row] = code_of(state, next_seat(state, state.dealer))


def _chunk(
    blank: np.ndarray,
    head: np.ndarray,
    book: np.ndarray,
    cut: np.ndarray,
    places: int,
    match: int,
    rounds: int,
) -> Bank:
    """Rounds of consecutive match indices, in arrays of their own."""
    scratch = np.zeros(5, STATE)  # no cache line shared with other threads
    scratch[1] = blank
    room = rounds * (int(blank["rules"]["max_turns"]) + 1)
    starts = np.zeros(rounds + 1, np.int64)
    cells, codes = np.empty(room, np.int32), np.empty(room, np.int16)
    ends = np.empty(rounds, np.int16)
    reach = np.zeros(places)
    fill(scratch[1:2], scratch[3:4], head, book, cut, reach, match, starts, cells, codes, ends)
    turns = starts[-1]
    return Bank(places, starts, cells[:turns].copy(), codes[:turns].copy(), ends)


def deal_chunks(
    rules: Rules,
    places: int,
    axes: Axes,
    *,
    draws: str,
    seed: int,
    first: int,
    rounds: int,
    threads: int,
    cut: np.ndarray | None = None,
) -> Iterator[Bank]:
    """Rounds with the match indices first … first + rounds − 1, a chunk at a time, in order.

    Args:
        rules: of every round.
        places: number of players.
        axes: of the chart whose cells are written.
        draws: the rule that draws and discards for everybody, as in `bots.drawing`.
        seed: what the cards derive from.
        first: first match index.
        rounds: how many.
        threads: threads; the bank does not depend on them.
        cut: float64[C], probabilities of knocking by which two players' reach must be gone for a
            round to be cut off there; None plays all rounds to their end. What a cut round costs
            without a knock is what the last knock in it would have cost.
    """
    blank = new_states(rules, places, 1)[0]
    blank["seed"], blank["one_round"] = seed, 1
    book = Book()
    blank["controllers"] = drawing(draws, rules.record, book)
    head = np.append(axes.head, np.zeros(1, np.int32))
    cut = np.zeros(axes.size) if cut is None else cut
    after = first + rounds
    spans = [(match, min(CHUNK, after - match)) for match in range(first, after, CHUNK)]
    with ThreadPoolExecutor(threads) as pool:
        for ahead in range(0, len(spans), 2 * threads):  # never more of them in memory than needed
            jobs = spans[ahead : ahead + 2 * threads]
            yield from pool.map(
                lambda span: _chunk(blank, head, book.array, cut, places, *span), jobs
            )


def deal_bank(rules: Rules, places: int, axes: Axes, **others: Any) -> Bank:
    """The rounds of `deal_chunks`, with the same arguments, as one bank."""
    return joined(list(deal_chunks(rules, places, axes, **others)))


def joined(banks: list[Bank]) -> Bank:
    """The rounds of several banks, in order."""
    shifts = np.cumsum([0] + [bank.starts[-1] for bank in banks])
    starts = [bank.starts[:-1] + shift for bank, shift in zip(banks, shifts, strict=False)]
    return Bank(
        banks[0].places,
        np.concatenate([*starts, shifts[-1:]]),
        np.concatenate([bank.cells for bank in banks]),
        np.concatenate([bank.codes for bank in banks]),
        np.concatenate([bank.ends for bank in banks]),
    )


def life_swings(places: int) -> np.ndarray:
    """float64[K, S]: what each code pays: the mean loss of the others minus the own."""
    losses = np.arange(3**places)[:, None] // 3 ** np.arange(places) % 3
    total = losses.sum(axis=1, keepdims=True)
    swings: np.ndarray = (total - losses) / (places - 1) - losses
    return swings
