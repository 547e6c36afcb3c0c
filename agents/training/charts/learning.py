"""Learn a chart on a bank of rounds: CFR+ by mini-batches, with a weighted average.

Every round of a batch is walked once forward, for the chance that each player has let it run on so
far (its reach), and once backward, for what the rest of it is worth to each player when all play
the chart. A turn adds to its cell

    (reach of the others) · (own reach + OWN_FLOOR) · (worth of knocking − worth of going on).

Plain counterfactual regrets have no own reach in them; but a cell does not remember the cells that
the player was in before, so what is learned there has to be weighed by how often the chart itself
comes there. `OWN_FLOOR` keeps cells alive that the chart has given up.

A walk ends where two players' reach is gone: then the others' reach is gone for everybody.

Regret matching+ (Tammelin 2014) has two actions here. It is predictive (Farina, Kroer and Sandholm
2021): it acts as if the next batches brought the mean gain of the last ones, which damps the circle
that thresholds beat each other in. In the shape "monotone" the actions of a row of cells that
differ in the hand value alone are the thresholds from which on to knock.

A *setting* says for whom the rounds are played: what is added to each place's cells (its bin of
lives) and what a code is worth to each place.

Shapes: as in `bank`; `C` cells, `P` parts of a batch (fixed, so that sums have one order).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from agents.training.charts.bank import GONE, NO_CELL, Bank
from thirtyone_env._jit import entry, kernel

OWN_FLOOR = 0.01
PARTS = 4
Shape = Literal["free", "monotone"]


@dataclass(frozen=True)
class Setting:
    """For whom rounds are played."""

    offsets: np.ndarray
    """int64[S]: added to the cells of each place."""
    pay: np.ndarray
    """float64[K, S]: what each code is worth."""


@dataclass(frozen=True)
class Recipe:
    """How a chart is learned."""

    batch: int = 40_000
    """Rounds an update."""
    passes: int = 20
    """Times that the bank is gone through."""
    tremble: float = 0.05
    """Probability of doing the other thing, at the start; it falls to 0 in a straight line."""
    calm: float = 0.5
    """Share of the updates after which the tremble is 0."""
    average_power: float = 2.0
    """The t-th chart counts in the average as t to this power."""
    regret_power: float = 2.0
    """And the t-th batch in the regrets."""
    memory: float = 0.1
    """Share of a batch in the mean of the last batches' gains."""
    lead: float = 20.0
    """Batches of that mean that are counted ahead; 0 is plain regret matching+."""
    shape: Shape = "free"
    """Any chart, or only charts that knock from some value on."""


@kernel
def walk_forward(
    chart: Any,
    tremble: float,
    cells: Any,
    offsets: Any,
    start: int,
    after: int,
    own: Any,
    others: Any,
    run: Any,
) -> int:
    """Fill in each turn's own and others' reach; the turn where the walk ends."""
    places, place = len(run), 0
    for place_ in range(places):
        run[place_] = 1.0
    for turn in range(start, after):
        reach, gone = 1.0, 0
        for other in range(places):
            gone += run[other] < GONE
            reach *= 1.0 if other == place else run[other]
        if gone > 1:
            return turn
        own[turn - start], others[turn - start] = run[place], reach
        if cells[turn] != NO_CELL:
            knock = chart[cells[turn] + offsets[place]]
            run[place] *= 1.0 - (tremble + (1.0 - 2.0 * tremble) * knock)
        place = place + 1 if place + 1 < places else 0
    return after


@kernel
def walk_backward(
    chart: Any,
    tremble: float,
    cells: Any,
    codes: Any,
    offsets: Any,
    start: int,
    after: int,
    pay: Any,
    own: Any,
    others: Any,
    worth: Any,
    gains: Any,
    weights: Any,
) -> None:
    """Add up what knocking gains in each cell, and how often the chart comes there."""
    places = len(worth)
    for turn in range(after - 1, start - 1, -1):
        if cells[turn] == NO_CELL:
            continue
        here = turn - start
        place = here % places
        cell = cells[turn] + offsets[place]
        weight = own[here] + OWN_FLOOR
        gains[cell] += others[here] * weight * (pay[codes[turn], place] - worth[place])
        weights[cell] += weight
        knock = tremble + (1.0 - 2.0 * tremble) * chart[cell]
        for other in range(places):
            worth[other] += knock * (pay[codes[turn], other] - worth[other])


@entry
def gather(
    chart: Any,
    tremble: float,
    starts: Any,
    cells: Any,
    codes: Any,
    ends: Any,
    offsets: Any,
    pay: Any,
    scratch: Any,
    gains: Any,
    weights: Any,
) -> None:
    """Walk through rounds; `scratch` is float64[3, at least the longest round and 2 S]."""
    places = pay.shape[1]
    own, others = scratch[0], scratch[1]
    run, worth = scratch[2, :places], scratch[2, places : 2 * places]
    for row in range(len(ends)):
        start, after = starts[row], starts[row + 1]
        after = walk_forward(chart, tremble, cells, offsets, start, after, own, others, run)
        for place in range(places):
            worth[place] = pay[ends[row], place]
        walk_backward(
            chart,
            tremble,
            cells,
            codes,
            offsets,
            start,
            after,
            pay,
            own,
            others,
            worth,
            gains,
            weights,
        )


@entry
def match_regrets(
    chart: Any, regrets: Any, mean: Any, gains: Any, memory: float, lead: float
) -> None:
    """Regret matching+ in every cell, of knocking (0) and going on (1)."""
    for cell in range(len(chart)):
        gain, knock = gains[cell], chart[cell]
        regrets[0, cell] = max(regrets[0, cell] + (1.0 - knock) * gain, 0.0)
        regrets[1, cell] = max(regrets[1, cell] - knock * gain, 0.0)
        mean[cell] += memory * (gain - mean[cell])
        ahead = lead * mean[cell]
        first = max(regrets[0, cell] + (1.0 - knock) * ahead, 0.0)
        second = max(regrets[1, cell] - knock * ahead, 0.0)
        if first + second > 0.0:
            chart[cell] = first / (first + second)


@entry
def match_threshold_regrets(chart: Any, regrets: Any, gains: Any, values: int) -> None:
    """Regret matching+ of thresholds in every row of `values` cells, and of never knocking.

    The threshold at a bin gains what the bins from there on gain. `regrets[0]` holds those of the
    bins, `regrets[1]` at a row's first cell that of never knocking.
    """
    for row in range(0, len(chart), values):
        expected, gain, share = 0.0, 0.0, 0.0
        for cell in range(row, row + values):
            expected += chart[cell] * gains[cell]
        total = max(regrets[1, row] - expected, 0.0)
        regrets[1, row] = total
        for cell in range(row + values - 1, row - 1, -1):
            gain += gains[cell]
            regrets[0, cell] = max(regrets[0, cell] + gain - expected, 0.0)
            total += regrets[0, cell]
        for cell in range(row, row + values):
            share += regrets[0, cell]
            if total > 0.0:
                chart[cell] = min(share / total, 1.0)


class Learner:
    """A chart that is learned update by update.

    Args:
        cells: C.
        values: bins of the last axis.
        recipe: how it learns.
        updates: how many there will be.
    """

    def __init__(self, cells: int, values: int, recipe: Recipe, updates: int) -> None:
        self.values, self.recipe, self.updates = values, recipe, updates
        self.done = 0
        self.chart = np.full(cells, 0.5)
        if recipe.shape == "monotone":
            self.chart[:] = np.tile(np.linspace(0, 1, values), cells // values)
        self.regrets = np.zeros((2, cells))
        self.mean = np.zeros(cells)
        self.sums = np.zeros((2, cells))

    @property
    def tremble(self) -> float:
        """The tremble of the next update."""
        calm = max(self.recipe.calm * self.updates, 1e-9)
        return self.recipe.tremble * max(0.0, 1.0 - self.done / calm)

    def _gather(
        self, bank: Bank, setting: Setting, pool: ThreadPoolExecutor
    ) -> tuple[np.ndarray, np.ndarray]:
        """What knocking gains in each cell float64[C], and how often the chart comes there."""
        bounds = [bank.rounds * part // PARTS for part in range(PARTS + 1)]

        def work(part: int) -> np.ndarray:
            some = bank.part(bounds[part], bounds[part + 1])
            longest = int(np.diff(some.starts).max(initial=0))
            scratch = np.zeros((3, max(longest, 2 * bank.places)))
            sums = np.zeros((2, len(self.chart)))
            rounds = some.starts, some.cells, some.codes, some.ends
            gather(
                self.chart,
                self.tremble,
                *rounds,
                setting.offsets,
                setting.pay,
                scratch,
                sums[0],
                sums[1],
            )
            return sums

        gains, weights = sum(pool.map(work, range(PARTS)), np.zeros((2, len(self.chart))))
        return gains, weights

    def update(self, bank: Bank, settings: Sequence[Setting], pool: ThreadPoolExecutor) -> None:
        """Learn from the rounds of one batch, played in every setting."""
        gains, weights = np.zeros((2, len(self.chart)))
        for setting in settings:
            more = self._gather(bank, setting, pool)
            gains += more[0]
            weights += more[1]
        recipe, self.done = self.recipe, self.done + 1
        counts = weights * float(self.done) ** recipe.average_power
        self.sums[0] += counts * self.chart
        self.sums[1] += counts
        self.regrets *= (1.0 - 1.0 / self.done) ** recipe.regret_power
        if recipe.shape == "monotone":
            match_threshold_regrets(self.chart, self.regrets, gains, self.values)
        else:
            match_regrets(self.chart, self.regrets, self.mean, gains, recipe.memory, recipe.lead)

    def average(self) -> np.ndarray:
        """float64[C]: the average chart; nan in cells that were never reached."""
        with np.errstate(invalid="ignore"):
            mean: np.ndarray = self.sums[0] / self.sums[1]
        return mean


def learn(
    bank: Bank,
    shape: tuple[int, ...],
    settings: Callable[[np.ndarray], Sequence[Setting]],
    recipe: Recipe,
    *,
    threads: int,
    advance: Callable[[int], None] = lambda updates: None,
) -> np.ndarray:
    """Learn a chart.

    Args:
        bank: the rounds.
        shape: `Axes.shape`.
        settings: what the rounds are played for, asked before every pass with the chart so far.
        recipe: how.
        threads: the chart does not depend on them.
        advance: called with the number of updates done since the last call.

    Returns:
        The average chart after all updates, float64 of `shape`, unreached cells filled.
    """
    size = min(recipe.batch, bank.rounds)
    per_pass = bank.rounds // size
    learner = Learner(int(np.prod(shape)), shape[-1], recipe, recipe.passes * per_pass)
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(recipe.passes):
            played = settings(filled(learner.average(), shape).ravel())
            for first in range(0, per_pass * size, size):
                learner.update(bank.part(first, first + size), played, pool)
                advance(1)
    return filled(learner.average(), shape)


def filled(chart: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A chart of `Axes.shape` whose unreached cells (nan) are taken from their neighbours.

    From the nearest reached hand value of the same row, the lower of two; where a row has none,
    from the nearest turn that has, then from the other gains, pick-ups, seats, lives and players in
    this order. A chart that nothing reached never knocks.
    """
    table = chart.reshape(shape)
    for axis in (7, 4, 6, 5, 3, 2, 1, 0):
        table = _filled_along(table, axis)
    return np.where(np.isnan(table), 0.0, table)


def _filled_along(table: np.ndarray, axis: int) -> np.ndarray:
    """Every nan replaced by the nearest number along an axis, the one before of two as near."""
    rows = np.moveaxis(table, axis, -1)
    bins = np.arange(rows.shape[-1])
    far = np.abs(bins[:, None] - bins[None, :]) * 2 + (bins[None, :] > bins[:, None])
    distance = np.where(~np.isnan(rows)[..., None, :], far, 4 * len(bins))
    return np.moveaxis(np.take_along_axis(rows, distance.argmin(axis=-1), -1), -1, axis)
