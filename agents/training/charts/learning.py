"""Learn a chart on a bank of rounds: magnetic mirror descent by mini-batches, cooling down.

Every round of a batch is walked once forward, for the chance that each player has let it run on so
far (its reach), and once backward, for what the rest of it is worth to each player when all play
the chart. A turn adds to its cell

    (reach of the others) · (own reach + OWN_FLOOR) · (worth of knocking − worth of going on).

What is learned in a cell is weighed by how often the chart itself comes there, since a cell does
not remember the cells that the player was in before. `OWN_FLOOR` is the weight of those who would
have knocked before: it teaches a chart what to do there, so that waiting for several turns cannot
exploit it.

A walk ends where two players' reach is gone: then the others' reach is gone for everybody.

With g the sum of these over a batch, n that of own reach + OWN_FLOOR, and r = rate / (n + RARE ·
rounds), the cell's log odds of knocking become

    (log odds + r · g) / (1 + r · n · temperature),

which is mirror descent with the uniform chart as its magnet (Sokota et al. 2023, "A unified
approach to reinforcement learning, quantal response equilibria, and two-player zero-sum games").
Thresholds beat each other in a circle, and learning without a magnet runs round it; the magnet
draws it into the middle, where a knock is as likely as its gain over the temperature says. The
temperature falls until that hardly costs anything. In the shape "monotone" the actions of a row of
cells that differ in the hand value alone are the thresholds from which on to knock.

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

OWN_FLOOR = 0.1
RARE = 0.005
"""Share of a batch's rounds that is added to the visits of a cell before gains are averaged over
them: where few rounds come by, a chart moves slowly."""
MOST = 30.0
"""Log odds are kept within ± this."""
PARTS = 4
NOTHING: np.ndarray = np.zeros(0)
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

    batch: int = 20_000
    """Rounds an update."""
    passes: int = 20
    """Times that the bank is gone through."""
    tremble: float = 0.05
    """Probability of doing the other thing, at the start; it falls to 0 in a straight line."""
    rate: float = 8.0
    """Log odds that a gain of 1 adds in an update, at most half of 1 / temperature."""
    temperature: float = 0.05
    """Gain that makes knocking e times as likely as going on, at the start."""
    final_temperature: float = 0.001
    """The same at the end; it falls by the same factor every update."""
    cooled: float = 0.7
    """Share of the updates after which the temperature falls no more."""
    averaged: float = 0.3
    """Share of the updates, the last ones, whose charts are averaged."""
    shape: Shape = "free"
    """Any chart, or only charts that knock from some value on."""


@kernel
def walk_forward(
    chart: Any,
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
            run[place] *= 1.0 - knock
        place = place + 1 if place + 1 < places else 0
    return after


@kernel
def walk_backward(
    chart: Any,
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
        knock = chart[cell]
        for other in range(places):
            worth[other] += knock * (pay[codes[turn], other] - worth[other])


@entry
def gather(
    chart: Any,
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
        after = walk_forward(chart, cells, offsets, start, after, own, others, run)
        for place in range(places):
            worth[place] = pay[ends[row], place]
        walk_backward(
            chart,
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
def descend(
    chart: Any, odds: Any, gains: Any, weights: Any, rare: float, rate: float, temperature: float
) -> None:
    """A step in every cell; `odds` are the log odds of knocking."""
    for cell in range(len(chart)):
        step = rate / (weights[cell] + rare)
        moved = (odds[cell] + step * gains[cell]) / (1.0 + step * weights[cell] * temperature)
        odds[cell] = min(max(moved, -MOST), MOST)
        chart[cell] = 1.0 / (1.0 + np.exp(-odds[cell]))


@entry
def descend_thresholds(
    chart: Any,
    odds: Any,
    gains: Any,
    weights: Any,
    rare: float,
    rate: float,
    temperature: float,
    values: int,
) -> None:
    """A step in every row of `values` cells; `odds` are the logs of the thresholds' chances.

    The threshold at a bin gains what the bins from there on gain, and is that much likelier than
    never to knock, whose log is 0.
    """
    for row in range(0, len(chart), values):
        visits, gain, most = 0.0, 0.0, 0.0
        for cell in range(row, row + values):
            visits += weights[cell]
        step = rate / (visits + rare)
        for cell in range(row + values - 1, row - 1, -1):
            gain += step * gains[cell]
            odds[cell] = (odds[cell] + gain) / (1.0 + step * visits * temperature)
            most = max(most, odds[cell])
        total = np.exp(-most)
        for cell in range(row, row + values):
            total += np.exp(odds[cell] - most)
        share = 0.0
        for cell in range(row, row + values):
            share += np.exp(odds[cell] - most)
            chart[cell] = min(share / total, 1.0)


class Learner:
    """A chart that is learned update by update.

    Args:
        cells: C.
        values: bins of the last axis.
        recipe: how it learns.
        updates: how many there will be.
        fixed: float64[any], chances of knocking in cells behind those, which others play and nobody
            learns.
    """

    def __init__(
        self, cells: int, values: int, recipe: Recipe, updates: int, fixed: np.ndarray = NOTHING
    ) -> None:
        self.values, self.recipe, self.updates, self.fixed = values, recipe, updates, fixed
        self.cells, self.done = cells, 0
        self.odds = np.zeros(cells + len(fixed))
        self.chart = np.append(np.full(cells, 0.5), fixed)
        if recipe.shape == "monotone":
            self.chart[:cells] = np.tile(np.linspace(0, 1, values + 2)[1:-1], cells // values)
        self.sums = np.zeros((2, cells + len(fixed)))

    @property
    def tremble(self) -> float:
        """The tremble of the next update."""
        return self.recipe.tremble * max(0.0, 1.0 - self.done / (self.recipe.cooled * self.updates))

    @property
    def temperature(self) -> float:
        """The temperature of the next update."""
        first, last = self.recipe.temperature, self.recipe.final_temperature
        cooled = self.done / (self.recipe.cooled * self.updates)
        return float(first * (last / first) ** min(cooled, 1.0))

    def _gather(
        self, bank: Bank, setting: Setting, pool: ThreadPoolExecutor
    ) -> tuple[np.ndarray, np.ndarray]:
        """What knocking gains in each cell float64[C], and how often the chart comes there."""
        bounds = [bank.rounds * part // PARTS for part in range(PARTS + 1)]
        played = self.tremble + (1.0 - 2.0 * self.tremble) * self.chart

        def work(part: int) -> np.ndarray:
            some = bank.part(bounds[part], bounds[part + 1])
            longest = int(np.diff(some.starts).max(initial=0))
            scratch = np.zeros((3, max(longest, 2 * bank.places)))
            sums = np.zeros((2, len(self.chart)))
            rounds = some.starts, some.cells, some.codes, some.ends
            gather(
                played,
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
        rate = min(self.recipe.rate, 0.5 / self.temperature)
        learned = gains, weights, RARE * bank.rounds, rate, self.temperature
        if self.recipe.shape == "monotone":
            descend_thresholds(self.chart, self.odds, *learned, self.values)
        else:
            descend(self.chart, self.odds, *learned)
        self.chart[self.cells :] = self.fixed
        self.done += 1
        if self.done > (1.0 - self.recipe.averaged) * self.updates:
            self.sums[0] += weights * self.chart
            self.sums[1] += weights

    def average(self) -> np.ndarray:
        """float64[C]: the average chart; nan in cells that were never reached."""
        with np.errstate(invalid="ignore"):
            mean: np.ndarray = self.sums[0] / self.sums[1]
        return mean[: self.cells]


def learn(
    bank: Bank,
    shape: tuple[int, ...],
    settings: Callable[[np.ndarray], Sequence[Setting]],
    recipe: Recipe,
    *,
    threads: int,
    advance: Callable[[int], None] = lambda updates: None,
    fixed: np.ndarray = NOTHING,
) -> np.ndarray:
    """Learn a chart.

    Args:
        bank: the rounds.
        shape: `Axes.shape`.
        settings: what the rounds are played for, asked before every pass with the chart so far.
        recipe: how.
        threads: the chart does not depend on them.
        advance: called with the number of updates done since the last call.
        fixed: as in `Learner`; settings may place seats there.

    Returns:
        The average chart after all updates, float64 of `shape`, unreached cells filled.
    """
    size = min(recipe.batch, bank.rounds)
    per_pass = bank.rounds // size
    learner = Learner(int(np.prod(shape)), shape[-1], recipe, recipe.passes * per_pass, fixed)
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(recipe.passes):
            played = settings(learner.chart)
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
