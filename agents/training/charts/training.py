"""Train a chart: learn it for each number of players, measure it, write it down.

What a run leaves: `chart.json` (what `chart:FILE` plays), `knock.csv` and `knock.json` (the table
for other programs), `figures.json` (what was measured), and the pictures.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from agents.evaluation.statistics import Estimate
from agents.policies import CHART_FILE
from agents.policies.files import write_text
from agents.training.charts.bank import deal_bank, deal_chunks, life_swings
from agents.training.charts.learning import NOTHING, Recipe, Setting, learn
from agents.training.charts.lives import LivesSettings, losses_at_start
from agents.training.charts.response import best_responses, worth
from agents.training.config import ChartConfig
from thirtyone_env.charts import Axes, Chart

FILE_NAME = CHART_FILE
Settings = Callable[[np.ndarray], list[Setting]]
THRESHOLDS = tuple(range(17, 32))
"""The fixed thresholds, in points, of the table."""
LEARN, FIT, SCORE, TABLE = range(4)
"""Uses of cards; those of each come from a seed of their own."""


@dataclass(frozen=True)
class Figures:
    """What was measured at one number of players, in lives a round."""

    players: int
    exploitability: Estimate
    """What the best response within the chart's information gains, on new rounds."""
    alone: dict[int, Estimate]
    """What the chart gains alone among a threshold."""
    field: dict[int, Estimate]
    """What a threshold loses alone among the chart."""


def axes_of(config: ChartConfig, players: int, lives: int = 1) -> Axes:
    """The axes of a chart for one number of players."""
    return Axes(
        first_players=players,
        own_lives=lives,
        other_lives=lives,
        seats=max(config.players) if config.seats else 1,
        turns=config.turns,
        pick_ups=config.pick_ups,
        gains=config.gains,
        first_value=config.first_value,
        value_step=config.value_step,
        values=(config.last_value - config.first_value) // config.value_step + 1,
    )


def seed_of(seed: int, use: int) -> int:
    """The seed of the cards of one use."""
    return int(np.random.SeedSequence((seed, use)).generate_state(1, np.uint64)[0])


def rounds_of(player_rounds: int, players: int) -> int:
    """Rounds of so many player-rounds, counted as rounds of two."""
    return max(2 * player_rounds // players, 1)


def recipe_of(config: ChartConfig, players: int) -> Recipe:
    """How a chart for one number of players is learned."""
    given = {field.name: getattr(config, field.name) for field in fields(Recipe)}
    return Recipe(**given | {"batch": rounds_of(config.batch, players)})


def planned_updates(config: ChartConfig) -> int:
    """Updates that `train` reports."""
    total = 0
    for players in config.players:
        rounds, batch = rounds_of(config.bank, players), recipe_of(config, players).batch
        total += config.passes * (rounds // min(batch, rounds))
    return 2 * total if config.meets_blind else total


def train(config: ChartConfig, advance: Callable[[int], None] = lambda updates: None) -> Chart:
    """Learn the chart of a configuration; the same one whatever the number of threads.

    Args:
        config: what to do.
        advance: called with the number of updates done since the last call.
    """
    tables = [_learn_one(config, players, advance) for players in config.players]
    axes = axes_of(config, config.players[0], _lives(config))
    axes = Axes(**{**asdict(axes), "players": len(tables)})
    recipe = {**json.loads(json.dumps(asdict(config))), "algorithm": config.algorithm}
    del recipe["runs"]  # where the run was says nothing of the chart
    return Chart.of(
        axes,
        np.concatenate(tables),
        config.resolved_rules(),
        draws=config.draws,
        name=config.name,
        card={"recipe": recipe},
    )


def _lives(config: ChartConfig) -> int:
    return losses_at_start(config.resolved_rules()) if config.lives else 1


def _learn_one(config: ChartConfig, players: int, advance: Callable[[int], None]) -> np.ndarray:
    """float64[1, …]: the chart for one number of players."""
    rules, axes = config.resolved_rules(), axes_of(config, players)
    bank = deal_bank(
        rules,
        players,
        axes,
        draws=config.draws,
        seed=seed_of(config.seed, LEARN),
        first=0,
        rounds=rounds_of(config.bank, players),
        threads=config.threads,
    )
    recipe = recipe_of(config, players)
    alike = Setting(np.zeros(players, np.int64), life_swings(players))

    def learned(shape: tuple[int, ...], settings: Settings, fixed: np.ndarray) -> np.ndarray:
        options: dict[str, Any] = {"threads": config.threads, "advance": advance}
        return learn(bank, shape, settings, recipe, fixed=fixed, **options)

    if not config.lives:
        return learned(axes.shape, lambda chart: [alike], NOTHING)
    blind = NOTHING
    if config.meets_blind:
        blind = learned(axes.shape, lambda chart: [alike], NOTHING).ravel()
    settings = LivesSettings(rules, bank, axes.size, config.threads, config.meets_blind)
    return learned(axes_of(config, players, _lives(config)).shape, settings, blind)


def measure(
    chart: Chart,
    config: ChartConfig,
    players: int,
    advance: Callable[[int], None] = lambda rounds: None,
) -> Figures:
    """Measure a chart that knows no lives, as it is stored, at one number of players.

    Args:
        chart: the chart.
        config: numbers of rounds, seed and threads.
        players: one of the chart's numbers of players.
        advance: called with the number of rounds scored since the last call.
    """
    axes, table = part_of(chart, players)
    pay = life_swings(players)
    bank: dict[str, Any] = {"draws": chart.draws, "threads": config.threads, "first": 0}
    rules, threads = chart.rules, config.threads
    fit = deal_bank(
        rules,
        players,
        axes,
        seed=seed_of(config.seed, FIT),
        rounds=rounds_of(config.fit_rounds, players),
        cut=table,
        **bank,
    )
    turn_of = np.indices(axes.shape)[4].ravel()
    answers = best_responses(table, turn_of, fit, pay, threads=threads)
    score = deal_chunks(
        rules,
        players,
        axes,
        seed=seed_of(config.seed, SCORE),
        rounds=rounds_of(config.score_rounds, players),
        cut=table,
        **bank,
    )
    pairs = [(lone, table) for lone in (*answers, table)]
    gains = worth(pairs, score, pay, threads=threads, minus=len(answers))[: len(answers)]
    gain = max(gains, key=lambda estimate: estimate.mean)
    advance(rounds_of(config.score_rounds, players))
    alone, among = against_thresholds(
        chart,
        players,
        rounds=rounds_of(config.table_rounds, players),
        seed=seed_of(config.seed, TABLE),
        threads=threads,
        advance=advance,
    )
    return Figures(players, gain, alone, among)


def measured_rounds(config: ChartConfig) -> int:
    """Rounds that `measure` reports, over all numbers of players."""
    every = (config.score_rounds, config.table_rounds)
    return sum(rounds_of(rounds, players) for rounds in every for players in config.players)


def against_thresholds(
    chart: Chart,
    players: int,
    *,
    rounds: int,
    seed: int,
    threads: int,
    advance: Callable[[int], None] = lambda rounds: None,
) -> tuple[dict[int, Estimate], dict[int, Estimate]]:
    """What a chart gains a round alone among each fixed threshold, and what each loses among it.

    Args:
        chart: one that knows no lives.
        players: one of its numbers of players.
        rounds: how many, the same for all.
        seed: what their cards derive from.
        threads: the numbers do not depend on them.
        advance: called with the number of rounds played since the last call.
    """
    axes, table = part_of(chart, players)
    values = np.tile(axes.points, axes.size // axes.values)
    fixed = [(values >= threshold).astype(np.float64) for threshold in THRESHOLDS]
    pairs = [(table, each) for each in fixed] + [(each, table) for each in fixed]
    bank: dict[str, Any] = {"draws": chart.draws, "threads": threads, "first": 0}
    banks = deal_chunks(chart.rules, players, axes, seed=seed, rounds=rounds, **bank)
    results = worth(pairs, banks, life_swings(players), threads=threads, advance=advance)
    lost = [Estimate(-each.mean, -each.high, -each.low) for each in results[len(fixed) :]]
    return (
        dict(zip(THRESHOLDS, results[: len(fixed)], strict=True)),
        dict(zip(THRESHOLDS, lost, strict=True)),
    )


def part_of(chart: Chart, players: int) -> tuple[Axes, np.ndarray]:
    """The axes and the probabilities float64[C] of one number of players."""
    axes = Axes(**{**asdict(chart.axes), "first_players": players, "players": 1})
    return axes, chart.probabilities[chart.players.index(players)].ravel()


def figures_to_dict(figures: Figures) -> dict[str, Any]:
    """The figures as plain data, rounded to millionths."""

    def plain(estimate: Estimate) -> list[float]:
        return [round(number, 6) for number in (estimate.mean, estimate.low, estimate.high)]

    return {
        "players": figures.players,
        "exploitability": plain(figures.exploitability),
        "alone_among_threshold": {str(t): plain(e) for t, e in figures.alone.items()},
        "field_against_threshold": {str(t): plain(e) for t, e in figures.field.items()},
    }


def write(chart: Chart, figures: list[Figures], folder: Path) -> Path:
    """Write the chart with its figures in its card, and the files for other programs.

    Returns:
        The path of the chart.
    """
    measured = [figures_to_dict(each) for each in figures]
    chart = Chart(
        chart.axes,
        chart.table,
        chart.rules,
        chart.draws,
        chart.name,
        {**chart.card, "figures": measured},
    )
    write_text(folder / FILE_NAME, chart.to_text())
    write_text(folder / "knock.csv", chart.to_csv())
    write_text(folder / "knock.json", chart.to_json())
    write_text(folder / "figures.json", json.dumps(measured, indent=1) + "\n")
    return folder / FILE_NAME
