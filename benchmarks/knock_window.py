"""Heads-up, is there a window of hands to knock with? Weigh every first turn of a good chart.

`python -m benchmarks.knock_window` prints, for both players of the danish rules, what knocking on
the first turn gains over going on with each value of the hand (nothing to gain by the upcard,
nobody has picked up; the rest is played by `chart:danish`), and how well that chart and the best
monotone one (learned from configs/chart_danish_monotone.yaml) can be answered. Lives a round, with
95 % intervals.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from agents.evaluation.statistics import Estimate
from agents.training.charts.bank import Bank, deal_chunks, life_swings
from agents.training.charts.response import worth
from agents.training.charts.training import SCORE, measure, seed_of, train
from agents.training.config import ChartConfig, load
from thirtyone_env.charts import Axes, Chart

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
VALUES = range(20, 31)
ROUNDS = 1_000_000
"""Rounds that the first turn is weighed on."""


@dataclass(frozen=True)
class Measured:
    """A chart and how well it can be answered."""

    chart: Chart
    config: ChartConfig
    answered: Estimate


@dataclass(frozen=True)
class Weighed:
    """A value of the hand on the first turn."""

    value: int
    share: float
    """How often the chart knocks with it."""
    gain: Estimate
    """What knocking gains over going on."""


def learned(shape: str, score_rounds: int = 2_000_000) -> Measured:
    """The chart that comes with the package ("free"), or the best monotone one, learned here."""
    file = "chart_danish_monotone.yaml" if shape == "monotone" else "chart_danish.yaml"
    config = load(CONFIGS / file)
    assert isinstance(config, ChartConfig)
    config = replace(config, players=(2,), table_rounds=1000, score_rounds=score_rounds, threads=1)
    chart = train(config) if shape == "monotone" else Chart.load("danish")
    return Measured(chart, config, measure(chart, config, 2).exploitability)


def weigh(measured: Measured, rounds: int = ROUNDS) -> list[list[Weighed]]:
    """What a knock on the first turn gains, by place and value.

    A round's worth is linear in how often a first turn is knocked on, since it is there once. So
    the chart is changed in one cell to the other extreme, and the difference is scaled up: to a
    whole change, and to the rounds in which that turn comes with that hand.
    """
    chart, config = measured.chart, measured.config
    axes = Axes(**{**asdict(chart.axes), "first_players": 2, "players": 1})
    table = chart.probabilities[chart.players.index(2)].ravel()
    cells = np.arange(axes.size).reshape(axes.shape)
    places = [np.searchsorted(axes.points, value) for value in VALUES]
    wanted = cells[0, 0, 0, :2, 0, 0, 0][:, places]
    pairs, changes = [], []
    for cell in wanted.ravel():
        lone = table.copy()
        lone[cell] = 1.0 if table[cell] < 0.5 else 0.0
        pairs.append((lone, table))
        changes.append(lone[cell] - table[cell])
    there = np.zeros(wanted.shape)
    banks = _counted(
        deal_chunks(
            chart.rules,
            2,
            axes,
            draws=chart.draws,
            seed=seed_of(config.seed, SCORE),
            first=0,
            rounds=rounds,
            threads=config.threads,
        ),
        table,
        wanted,
        there,
    )
    found = worth(
        [*pairs, (table, table)], banks, life_swings(2), threads=config.threads, minus=len(pairs)
    )
    weighed: list[list[Weighed]] = []
    for place in range(2):
        row = []
        for i, value in enumerate(VALUES):
            k = place * len(VALUES) + i
            scale = changes[k] * there[place, i] / rounds / 2
            ends = sorted((found[k].low / scale, found[k].high / scale))
            share = float(table[wanted[place, i]])
            row.append(Weighed(value, share, Estimate(found[k].mean / scale, *ends)))
        weighed.append(row)
    return weighed


def _counted(
    banks: Iterable[Bank], table: np.ndarray, wanted: np.ndarray, there: np.ndarray
) -> Iterator[Bank]:
    """The same banks; how often each first turn comes is added up."""
    for bank in banks:
        _count(bank, table, wanted, there)
        yield bank


def _count(bank: Bank, table: np.ndarray, wanted: np.ndarray, there: np.ndarray) -> None:
    starts, lengths = bank.starts[:-1], np.diff(bank.starts)
    first = bank.cells[starts[lengths > 0]]
    both = starts[lengths > 1]
    before, second = bank.cells[both], bank.cells[both + 1]
    goes_on = np.where(before >= 0, 1.0 - table[before], 1.0)
    for i, cell in enumerate(wanted[0]):
        there[0, i] += np.count_nonzero(first == cell)
    for i, cell in enumerate(wanted[1]):
        there[1, i] += goes_on[second == cell].sum()


def difference(one: Estimate, other: Estimate) -> Estimate:
    """How much larger one independent figure is than another."""
    half = float(np.hypot(one.half, other.half))
    mean = one.mean - other.mean
    return Estimate(mean, mean - half, mean + half)


def main() -> None:
    """Measure and print."""
    free = learned("free")
    for place, row in enumerate(weigh(free)):
        sys.stdout.write(f"player {place + 1}: hand, chart knocks, knocking gains over going on\n")
        for each in row:
            gain = f"{each.gain.mean:+.3f} ({each.gain.low:+.3f} … {each.gain.high:+.3f})"
            sys.stdout.write(f"  {each.value}  {100 * each.share:5.1f} %  {gain}\n")
    monotone = learned("monotone").answered
    more = difference(monotone, free.answered)
    for name, gain in (("free", free.answered), ("monotone", monotone), ("more", more)):
        sys.stdout.write(f"{name}: {gain.mean:.4f} ({gain.low:.4f} … {gain.high:.4f})\n")


if __name__ == "__main__":
    main()
