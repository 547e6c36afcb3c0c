"""Heads-up, is there a window of hands to knock with? Learn a chart, and weigh every first turn.

`python -m benchmarks.knock_window [CONFIG]` prints, for both players, what knocking on the first
turn gains over going on with each value of the hand (nothing to gain by the upcard, nobody has
picked up; the rest is played by the chart), and how well the chart and the best monotone chart can
be answered. Lives a round, with 95 % intervals.
"""

import sys
from dataclasses import asdict, replace

import numpy as np

from agents.training.charts.bank import deal_bank, deal_chunks, life_swings
from agents.training.charts.response import worth
from agents.training.charts.training import SCORE, measure, seed_of, train
from agents.training.config import ChartConfig, load
from thirtyone_env.charts import Axes, Chart

VALUES = range(20, 31)


def weigh(chart: Chart, config: ChartConfig) -> None:
    """Print what a knock on the first turn gains, by seat and value."""
    axes = Axes(**{**asdict(chart.axes), "first_players": 2, "players": 1})
    table = chart.probabilities[0]
    cells = np.arange(axes.size).reshape(axes.shape)
    options = {"draws": chart.draws, "seed": seed_of(config, SCORE), "threads": config.threads}
    some = deal_bank(chart.rules, 2, axes, first=0, rounds=400_000, **options)
    for seat in range(2):
        print(f"place {seat + 1}: hand, chart knocks, knocking gains over going on")
        wanted = [
            int(cells[0, 0, 0, seat, 0, 0, 0, np.searchsorted(axes.points, v)]) for v in VALUES
        ]
        pairs = []
        for cell in wanted:
            for knock in (1.0, 0.0):
                lone = table.ravel().copy()
                lone[cell] = knock
                pairs.append((lone, table.ravel()))
        for place, (value, cell) in enumerate(zip(VALUES, wanted, strict=True)):
            share = np.count_nonzero(some.cells == cell) / some.rounds / 2
            rounds = deal_chunks(
                chart.rules, 2, axes, first=0, rounds=config.score_rounds // 4, **options
            )
            mine = pairs[2 * place : 2 * place + 2]
            gain = worth(mine, rounds, life_swings(2), threads=config.threads, minus=1)[0]
            low, mean, high = (number / share for number in (gain.low, gain.mean, gain.high))
            shown = 100 * table.ravel()[cell]
            print(f"  {value}  {shown:5.1f} %  {mean:+.3f} ({low:+.3f} … {high:+.3f})")


def main() -> None:
    """Learn, measure and print."""
    config = load(sys.argv[1] if len(sys.argv) > 1 else "configs/chart_danish.yaml")
    assert isinstance(config, ChartConfig)
    for shape in ("free", "monotone"):
        config = replace(config, players=(2,), shape=shape, table_rounds=1000)
        chart = train(config)
        gain = measure(chart, config, 2).exploitability
        print(f"{shape}: answered by {gain.mean:.4f} ({gain.low:.4f} … {gain.high:.4f})")
        if shape == "free":
            weigh(chart, config)


if __name__ == "__main__":
    main()
