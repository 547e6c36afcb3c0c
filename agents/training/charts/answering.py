"""Answer a policy with a chart: whoever sits on the other seats, when is it best to knock?

One seat draws and discards by a rule and never knocks, among copies of the policy; wherever it
might have knocked, a copy of the round is played on from a knock there, with the same cards to
come. So each round shows what every time of knocking would have paid, and the best chart is found
by backward induction over the own turns, on what the seat sees: the cells of the chart.

Shapes: `N` rounds, one seat in each; `T` own turns of the longest one; `C` cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from agents.evaluation.jobs import chunks_of
from agents.evaluation.match import seats_of, torch_for
from agents.policies import DecidingPolicy, TablePolicy
from agents.training.charts.bank import NO_CELL
from agents.training.charts.learning import filled
from thirtyone_env import Rules
from thirtyone_env._jit import entry
from thirtyone_env.arena import Tables
from thirtyone_env.bots import drawing
from thirtyone_env.bots.charting import chart_cell
from thirtyone_env.charts import Axes, Chart
from thirtyone_env.state import ASK_KNOCK, NOBODY

CHUNK_DEALS = 1024
"""Deals that are played side by side; what they are does not depend on threads."""
FLOOR = 0.01
"""How much those count who would have knocked before: they teach what comes after."""
SWEEPS = 3
"""Passes of the induction; the last bin of turns holds several and is passed twice in each."""
GO_ON, KNOCKS = 0, 1
"""What a seat answers that is asked whether to knock."""


@dataclass(frozen=True)
class Moments:
    """What every time of knocking would have paid."""

    cells: np.ndarray
    """int32[N, T]: the cell of each moment at which the seat may knock, or NO_CELL."""
    pays: np.ndarray
    """float32[N, T]: its life swing if it knocks then."""
    ends: np.ndarray
    """float32[N]: the same if it never knocks."""


@entry
def find_cells(states: Any, rows: Any, head: Any, out: Any) -> None:
    """The cell of the seat to act in each of some rows, by the axes of a chart."""
    for place in range(len(rows)):
        out[place] = chart_cell(states[rows[place]], head, 0)


def moments(
    target: TablePolicy,
    rules: Rules,
    num_players: int,
    axes: Axes,
    *,
    draws: str,
    deals: int,
    seed: int,
    threads: int = 1,
) -> Moments:
    """Play rounds against copies of a policy, and every knock in them.

    Args:
        target: the policy on all other seats.
        rules: of every round.
        num_players: seats at the table.
        axes: of the chart.
        draws: the rule that draws and discards for the one seat, as in `bots.drawing`.
        deals: each is played with that seat in every place: N is `deals` times `num_players`.
        seed: start of the cards.
        threads: the rounds do not depend on them.
    """

    def work(chunk: range) -> Moments:
        return _Round(target, rules, num_players, draws, np.array(chunk), seed).moments(axes)

    with torch_for([target]), ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(work, chunks_of(deals, CHUNK_DEALS)))
    longest = max(part.cells.shape[1] for part in parts)
    return Moments(
        np.concatenate([_widened(part.cells, longest, NO_CELL) for part in parts]),
        np.concatenate([_widened(part.pays, longest, 0) for part in parts]),
        np.concatenate([part.ends for part in parts]),
    )


def _widened(array: np.ndarray, width: int, value: int) -> np.ndarray:
    more = width - array.shape[1]
    return np.pad(array, ((0, 0), (0, more)), constant_values=value)


class _Round:
    """A round in every row, with the one seat in every place."""

    def __init__(
        self,
        target: TablePolicy,
        rules: Rules,
        num_players: int,
        draws: str,
        deals: np.ndarray,
        seed: int,
    ) -> None:
        self.target = target
        seats = np.tile(seats_of(num_players), (deals.size, 1))
        self.lone = seats[:, 0]
        self.tables = Tables(rules, num_players, seed=seed, matches=np.repeat(deals, num_players))
        self.tables.states["one_round"] = 1
        rows = np.arange(len(seats))
        for place in range(1, num_players):
            self.tables.set_controllers(rows, seats[:, place], target.controller)
        asked = drawing(draws, rules.record, self.tables.book)
        asked["ask"] = ASK_KNOCK
        self.tables.set_controllers(rows, self.lone, asked)
        self.tables.play()

    def _asked(self) -> Iterator[np.ndarray]:
        """Play on; the rows in which the one seat is asked, who goes on if nothing is done."""
        tables = self.tables
        while (waiting := np.flatnonzero(tables.waiting != NOBODY)).size:
            mine = tables.waiting[waiting] == self.lone[waiting]
            if mine.any():
                yield waiting[mine]
            actions = np.full(waiting.size, GO_ON)
            if not mine.all():
                policy = cast(DecidingPolicy, self.target)
                actions[~mine] = policy.act_batch(tables, waiting[~mine])
            tables.act(actions, waiting)

    def _paid(self, rows: np.ndarray) -> np.ndarray:
        return self.tables.payoffs("lives")[rows, self.lone[rows]].astype(np.float32)

    def moments(self, axes: Axes) -> Moments:
        """Play the rounds without a knock of the one seat, then every knock."""
        states, head = self.tables.states, np.append(axes.head, np.zeros(1, np.int32))
        every = np.arange(self.tables.size)
        kept: list[tuple[np.ndarray, np.ndarray]] = []
        cells: list[np.ndarray] = []
        for rows in self._asked():
            kept.append((rows, states[rows]))
            found = np.full(self.tables.size, NO_CELL, np.int32)
            of_rows = np.empty(rows.size, np.int32)
            find_cells(states, rows, head, of_rows)
            found[rows] = of_rows
            cells.append(found)
        ends = self._paid(every)
        pays = np.zeros((len(every), len(kept)), np.float32)
        for turn, (rows, before) in enumerate(kept):
            states[rows] = before
            self.tables.act(np.full(rows.size, KNOCKS), rows)
            for _ in self._asked():
                raise AssertionError("who has knocked is not asked again")
            pays[rows, turn] = self._paid(rows)
        return Moments(np.stack(cells, axis=1), pays, ends)


def best_times(found: Moments, turn_of: np.ndarray) -> np.ndarray:
    """The chart that gains most by the rounds that it is found on.

    Args:
        found: the rounds.
        turn_of: int64[C], the bin of the own turn of each cell.

    Returns:
        float64[C] of 0 and 1; nan in cells that no round came to.
    """
    starts = np.zeros(len(turn_of)), np.ones(len(turn_of))
    answers = [_induced(found, turn_of, start) for start in starts]
    best = max(answers, key=lambda answer: float(_worth(found, answer)[:, 0].mean()))
    reached = np.bincount(found.cells[found.cells != NO_CELL], minlength=len(turn_of)) > 0
    return np.where(reached, best, np.nan)


def _knocking(found: Moments, chart: np.ndarray) -> np.ndarray:
    """float64[N, T]: 1 where the chart knocks."""
    knocks: np.ndarray = np.where(found.cells == NO_CELL, 0.0, chart[found.cells])
    return knocks


def _worth(found: Moments, chart: np.ndarray) -> np.ndarray:
    """float64[N, T + 1]: what the round pays from each moment on, by the chart."""
    knocks = _knocking(found, chart)
    worth = np.repeat(found.ends[:, None].astype(np.float64), knocks.shape[1] + 1, axis=1)
    for turn in range(knocks.shape[1] - 1, -1, -1):
        later = worth[:, turn + 1]
        worth[:, turn] = later + knocks[:, turn] * (found.pays[:, turn] - later)
    return worth


def _induced(found: Moments, turn_of: np.ndarray, start: np.ndarray) -> np.ndarray:
    """What backward induction makes of a chart."""
    answer, last, here = start.copy(), int(turn_of.max()), found.cells != NO_CELL
    for _ in range(SWEEPS):
        reach = np.cumprod(1.0 - _knocking(found, answer), axis=1)
        weights = np.concatenate([np.ones((len(reach), 1)), reach[:, :-1]], axis=1) + FLOOR
        for turn in (last, *range(last, -1, -1)):
            gains = weights * (found.pays - _worth(found, answer)[:, 1:])
            total = np.bincount(found.cells[here], gains[here], len(answer))
            changed = (turn_of == turn) & (total != 0)
            answer[changed] = total[changed] > 0
    return answer


def answer_to(
    target: TablePolicy,
    rules: Rules,
    num_players: int,
    axes: Axes,
    *,
    draws: str,
    deals: int,
    seed: int,
    threads: int = 1,
) -> Chart:
    """The chart that answers a policy, for one seat among copies of it; arguments as `moments`."""
    found = moments(
        target, rules, num_players, axes, draws=draws, deals=deals, seed=seed, threads=threads
    )
    turn_of = np.indices(axes.shape)[4].ravel()
    table = filled(best_times(found, turn_of), axes.shape)
    return Chart.of(axes, table, rules, draws=draws, name="answer")
