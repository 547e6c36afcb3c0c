"""The command `train.py`: configuration, training, benchmark, report."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import tyro
from rich.console import Console

from agents.evaluation import benchmark, chart_report, report
from agents.evaluation.cli import BenchmarkCommand
from agents.evaluation.progress import progress
from agents.policies import TablePolicy, make, saved_in
from agents.training import run
from agents.training.algorithms import algorithm_of
from agents.training.charts import training as charts
from agents.training.config import ChartConfig, RunConfig, load
from thirtyone_env.charts import Chart

INTERRUPTED = 130
WRONG_USE = 2
USAGE = "usage: train.py CONFIG.yaml [--key value ...]; train.py CONFIG.yaml --help lists the keys"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        argv: the words after the program's name; those of the process if not given.

    Returns:
        The exit status: 0, 2 for a wrong command line or configuration, 130 when interrupted.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    if not arguments or arguments[0].startswith("-"):
        asked = bool(arguments) and arguments[0] in ("-h", "--help")
        (Console() if asked else errors).print(USAGE, markup=False, highlight=False)
        return 0 if asked else WRONG_USE
    try:
        config = parse(arguments[0], arguments[1:])
        opponents = [make(name) for name in config.benchmark.opponents]
        for opponent in opponents:
            for size in config.benchmark.players:
                opponent.check(config.resolved_rules(), size)
        compare = None
        if isinstance(config, ChartConfig) and config.compare:
            compare = Chart.load(config.compare)
    except ValueError as error:
        errors.print(f"error: {error}", markup=False)
        return WRONG_USE
    # A shell that starts a command in the background lets it ignore Ctrl-C; a training must not.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    console = Console(highlight=False, soft_wrap=True)
    folder = run.start(config)
    console.print(f"run folder: {folder}", markup=False)
    try:
        if isinstance(config, ChartConfig):
            _run_chart(config, folder, compare, console)
        else:
            _run(config, folder, opponents, console)
    except KeyboardInterrupt:
        what = (
            f"the policy so far is in {folder}" if saved_in(folder) else "there was no policy yet"
        )
        console.print(f"interrupted; {what}", markup=False)
        return INTERRUPTED
    return 0


def parse(path: str, overrides: Sequence[str] = ()) -> RunConfig:
    """A configuration file with keys changed by the command line.

    Raises:
        ConfigError: if the file or the result cannot be used.
        SystemExit: with status 2 for an unknown key or a bad value, 0 after `--help`.
    """
    config = load(path)
    return tyro.cli(
        type(config),
        default=config,
        args=list(overrides),
        prog=f"train.py {path}",
        config=(tyro.conf.FlagConversionOff, tyro.conf.AvoidSubcommands),
    )


def _run(
    config: RunConfig, folder: Path, opponents: Sequence[TablePolicy], console: Console
) -> None:
    algorithm = algorithm_of(config)
    start = time.monotonic()
    steps = algorithm.planned_steps(config)
    with progress(console, "training", steps, algorithm.STEPS) as advance:
        algorithm.train(config, folder, advance)
    seconds = time.monotonic() - start
    policy = make(str(folder))
    measured = config.benchmark
    total = benchmark.count_deals(1, len(opponents), len(measured.players), measured.deals)
    with progress(console, "benchmark", total, "deals") as advance:
        results = benchmark.run(
            [policy],
            opponents,
            rules=config.resolved_rules(),
            players=measured.players,
            deals=measured.deals,
            seed=measured.seed,
            workers=measured.workers,
            progress=advance,
        )
    page = report.write(
        results,
        folder,
        title=f"{algorithm.TITLE}: {policy.name}",
        facts={
            "Training": f"{steps:,} {algorithm.STEPS} of {config.algorithm} at tables of "
            f"{' and '.join(str(n) for n in config.players)}, seed {config.seed}, "
            f"{seconds:.0f} seconds",
            "Configuration": "config.yaml in the same folder",
        },
        repeat=BenchmarkCommand(
            policies=(str(folder),),
            rules=config.rules,
            house_rules=config.house_rules,
            players=measured.players,
            opponents=measured.opponents,
            deals=measured.deals,
            seed=measured.seed,
        ).command_line(),
    )
    console.print(report.table(results))
    console.print(f"policy and report: {page}", markup=False)


def _run_chart(config: ChartConfig, folder: Path, compare: Chart | None, console: Console) -> None:
    start = time.monotonic(), time.process_time()
    with progress(console, "training", charts.planned_updates(config), "updates") as advance:
        chart = charts.train(config, advance)
    seconds, work = time.monotonic() - start[0], time.process_time() - start[1]
    charts.write(chart, [], folder)
    figures = []
    if not config.lives:
        per_size = config.score_rounds + config.table_rounds
        with progress(console, "measuring", per_size * len(chart.players), "rounds") as advance:
            figures = [charts.measure(chart, config, size, advance) for size in chart.players]
        charts.write(chart, figures, folder)
    measured = [charts.figures_to_dict(each) for each in figures]
    page = chart_report.write(
        chart,
        folder,
        measured,
        facts={
            "Training": f"seed {config.seed}, {seconds:.0f} seconds, {work:.0f} of them of "
            "processors",
            "Configuration": "config.yaml in the same folder",
        },
        compare=compare,
    )
    for each in measured:
        mean, interval = chart_report.number(each["exploitability"])
        lost, alone = chart_report.worst(each["alone_among_threshold"])
        won, field = chart_report.worst(each["field_against_threshold"])
        console.print(
            f"{each['players']} players: answered by {mean} lives a round ({interval}); hardest "
            f"thresholds: {lost} among them {chart_report.number(alone)[0]}, {won} against the "
            f"field {chart_report.number(field)[0]}"
        )
    console.print(f"chart and report: {page}", markup=False)
