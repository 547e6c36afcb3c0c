"""The command `train.py`: training, benchmark, report and card; resuming, sweeps, export."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import tyro
from rich.console import Console

from agents.evaluation import benchmark, chart_report, report
from agents.evaluation.cli import BenchmarkCommand
from agents.evaluation.exploit import RULE_BOTS, Exploitation, FixedExploiter, exploit
from agents.evaluation.jobs import LOCAL, Backend
from agents.evaluation.options import YES_OR_NO
from agents.evaluation.progress import progress
from agents.policies import TablePolicy, make, saved_in
from agents.training import card
from agents.training.algorithms import algorithm_of
from agents.training.charts import training as charts
from agents.training.config import ChartConfig, ModelConfig, PpoConfig, RunConfig, load
from agents.training.curve_figure import PANEL_CURVE, learning_curve
from agents.training.exploit import CHART_DRAWS, ChartExploiter
from agents.training.panel import PanelResult
from agents.training.run import FINISHED, MEASURING, DivergedError, Run, RunError, find, start
from agents.training.stopping import Interrupted, Stop, stopping
from thirtyone_env.charts import Chart

INTERRUPTED = 130
WRONG_USE = 2
FAILED = 1
FITTED = 5
"""Deals that a chart is fitted on for each that it is measured on, in a card."""
USAGE = """\
usage: train.py CONFIG.yaml [--key value ...]                      train; --help lists the keys
       train.py --resume RUN                                       go on with a run that was stopped
       train.py CONFIG.yaml --sweep SWEEP.yaml [--key value ...]   search for good values of keys
           --backend ray [--ray-address ADDRESS] [--workers N]     N at a time on a Ray cluster
       train.py --export RUN                                       write RUN/model.zip, for SB3

Ctrl-C saves and stops (status 130), a second one quits at once."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        argv: the words after the program's name; those of the process if not given.

    Returns:
        The exit status: 0; 1 for a training that failed; 2 for a wrong command line, configuration
        or run folder; 130 when interrupted, 143 when terminated.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    console = Console(highlight=False, soft_wrap=True)
    first = arguments[0] if arguments else ""
    if not first or (first.startswith("-") and first not in ("--resume", "--export")):
        asked = first in ("-h", "--help")
        (console if asked else errors).print(USAGE, markup=False)
        return 0 if asked else WRONG_USE
    with stopping() as stop:
        try:
            return _command(arguments, stop, console, errors)
        except KeyboardInterrupt as interrupt:
            return interrupt.status if isinstance(interrupt, Interrupted) else INTERRUPTED
        except ValueError as error:
            errors.print(f"error: {error}", markup=False)
            return WRONG_USE


def _command(arguments: list[str], stop: Stop, console: Console, errors: Console) -> int:
    """Do what the command line says.

    Raises:
        ValueError: for a wrong command line, configuration or run folder.
        KeyboardInterrupt: when interrupted.
    """
    if arguments[0] in ("--resume", "--export"):
        word, *runs = arguments
        if len(runs) != 1:
            raise RunError(
                f"{word} takes one run folder and nothing else, not {len(runs)} words; what a run "
                "was begun with cannot be changed"
            )
        if word == "--export":
            from agents.training.export import export

            console.print(f"written: {export(runs[0])}", markup=False)
            return 0
        return _resume(runs[0], stop, console, errors)
    path, *overrides = arguments
    sweep = _taken_out(overrides, "--sweep")
    backend, workers = _where(overrides, sweep is not None)
    config = parse(path, overrides)
    _check(config)
    if sweep is not None:
        from agents.training.sweep import run_sweep

        return run_sweep(config, Path(sweep), stop, console, backend, workers)
    folder = start(config)
    console.print(f"run folder: {folder}", markup=False)
    return _go(Run(folder), config, stop, console, errors)


def _where(words: list[str], sweep: bool) -> tuple[Backend, int | None]:
    """Where the trials of a sweep are trained, and how many at a time, out of the words.

    Raises:
        RunError: for a backend that is none, or one without a sweep.
    """
    options = ("--backend", "--ray-address", "--workers")
    name, address, at_once = (_taken_out(words, o, "a value") for o in options)
    given = [o for o, value in zip(options, (name, address, at_once), strict=True) if value]
    if given and not sweep:
        raise RunError(f"{given[0]} is for sweeps alone (--sweep FILE)")
    if name not in (None, "local", "ray"):
        raise RunError(f"--backend {name}: allowed are local and ray")
    if name != "ray" and len(given) > (name is not None):
        raise RunError(f"{given[-1]} needs --backend ray: here trials come one after the other")
    if at_once is not None and not (at_once.isdecimal() and int(at_once)):
        raise RunError(f"--workers {at_once}: a whole number, at least 1")
    where = Backend("ray", address) if name == "ray" else LOCAL
    return where, None if at_once is None else int(at_once)


def _taken_out(words: list[str], option: str, what: str = "a file") -> str | None:
    """The value of an option, which is taken out of the words; None if it is not there."""
    for i, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name == option:
            del words[i]
            if equals:
                return value
            if i >= len(words):
                raise RunError(f"{option} takes {what}")
            return words.pop(i)
    return None


def _check(config: RunConfig) -> None:
    """Find now what would stop the run at its end.

    Raises:
        ValueError: for opponents that there are not or that refuse the tables, and devices.
    """
    for name in config.benchmark.opponents if config.at_tables else ():
        opponent = make(name)
        for size in config.benchmark.players:
            opponent.check(config.resolved_rules(), size)
    if isinstance(config, ChartConfig) and config.compare:
        Chart.load(config.compare)
    if isinstance(config, ModelConfig):
        for name in config.panel.opponents if config.panel.every else ():
            opponent = make(name)
            for size in config.panel.players or config.players:
                opponent.check(config.resolved_rules(), size)
        if isinstance(config, PpoConfig):
            algorithm_of(config).check(config)
        if config.device == "cuda":
            import torch

            if not torch.cuda.is_available():
                raise RunError("device: there is no cuda here; cpu is quicker for such networks")


def _resume(path: str, stop: Stop, console: Console, errors: Console) -> int:
    """Go on with a run.

    Raises:
        RunError: if there is nothing to go on with.
    """
    run, config = find(path)
    if not isinstance(config, ModelConfig):
        raise RunError(f"{path}: a run of {config.algorithm} cannot be resumed; begin a new one")
    if run.about()["stage"] == FINISHED:
        raise RunError(f"{path} is finished; its report is {run.folder / report.PAGE}")
    _check(config)
    return _go(run, config, stop, console, errors)


def _go(run: Run, config: RunConfig, stop: Stop, console: Console, errors: Console) -> int:
    """Train, measure and report, as far as that is not done yet."""
    folder = run.folder
    again = f"; go on with: train.py --resume {folder}" if isinstance(config, ModelConfig) else ""
    try:
        if isinstance(config, ChartConfig):
            with run.session(0):
                compare = Chart.load(config.compare) if config.compare else None
                _run_chart(config, folder, compare, console)
        elif isinstance(config, ModelConfig):
            _run_model(run, config, stop, console)
        else:
            with run.session(0):
                algorithm = algorithm_of(config)
                steps = algorithm.planned_steps(config)
                begun = time.monotonic()
                with progress(console, "training", steps, algorithm.STEPS) as advance:
                    algorithm.train(config, folder, advance)
                if config.at_tables:
                    _report(run, config, time.monotonic() - begun, None, console)
                else:
                    console.print(f"policy: {folder}", markup=False)
        run.set_stage(FINISHED)
    except KeyboardInterrupt:
        what = (
            f"the policy so far is in {folder}" if saved_in(folder) else "there was no policy yet"
        )
        console.print(f"interrupted; {what}{again}", markup=False)
        stop.check()  # which signal it was
        raise
    except DivergedError as error:
        errors.print(f"error: the training diverged: {error}{again}", markup=False)
        return FAILED
    except OSError as error:
        errors.print(f"error: {error}; what was saved before is in {folder}{again}", markup=False)
        return FAILED
    return 0


def _run_model(run: Run, config: ModelConfig, stop: Stop, console: Console) -> None:
    """Train a model of Stable-Baselines3, from where it is.

    Raises:
        RunError: if the training diverges.
    """
    from agents.training.learning import learn, progress_of

    if config.device != "cpu":
        console.print("note: networks this small learn faster with device: cpu")
    algorithm = algorithm_of(config)
    total, done = algorithm.planned_steps(config), progress_of(run.folder).step
    if done:
        console.print(f"going on at step {done:,} of {total:,}")
    with run.session(done):
        if done < total or not total:
            with progress(console, "training", total, algorithm.STEPS, done) as meter:
                learn(algorithm.prepare, config, run.folder, meter=meter, stop=stop)
        stop.check()
        run.set_stage(MEASURING)
        after = progress_of(run.folder)
        _report(run, config, after.seconds, after.best, console)


def parse(path: str, overrides: Sequence[str] = ()) -> RunConfig:
    """A configuration file with keys changed by the command line.

    Raises:
        ConfigError: if the file or the result cannot be used.
        SystemExit: with status 2 for an unknown key or a bad value, 0 after `--help`.
    """
    config = load(path)
    found: RunConfig = tyro.cli(
        type(config),
        default=config,
        args=list(overrides),
        prog=f"train.py {path}",
        description=f"{type(config).__doc__} With --sweep SWEEP.yaml the values of some keys are "
        "searched for; `train.py --help` tells what else there is.",
        config=(tyro.conf.FlagConversionOff, tyro.conf.AvoidSubcommands),
        registry=YES_OR_NO,
    )
    return found.settled()


def _report(
    run: Run, config: RunConfig, seconds: float, best: PanelResult | None, console: Console
) -> None:
    """Measure the policy of a run; write its report and its card."""
    folder, algorithm, measured = run.folder, algorithm_of(config), config.benchmark
    policy = make(str(folder))
    opponents = [make(name) for name in measured.opponents]
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
    if results.planned is not None:
        raise KeyboardInterrupt
    steps = f"{algorithm.planned_steps(config):,} {algorithm.STEPS}"
    repeat = BenchmarkCommand(
        policies=(str(folder),),
        rules=config.rules.split(",")[0],
        house_rules=config.house_rules,
        players=measured.players,
        opponents=measured.opponents,
        deals=measured.deals,
        seed=measured.seed,
    ).command_line()
    page = report.write(
        results,
        folder,
        title=f"{algorithm.TITLE}: {policy.name}",
        facts={
            "Training": f"{steps} of {config.algorithm} at tables of "
            f"{' and '.join(str(n) for n in config.players)}, seed {config.seed}, "
            f"{seconds:.0f} seconds",
            "Configuration": "config.yaml in the same folder",
        },
        repeat=repeat,
        curve=learning_curve(folder / PANEL_CURVE),
    )
    trained = card.Trained(algorithm.TITLE, config, steps, seconds, best)
    card.write(folder, trained, results, _exploited(policy, config, console), repeat)
    console.print(report.table(results))
    console.print(f"policy and report: {page}", markup=False)


def _exploited(policy: TablePolicy, config: RunConfig, console: Console) -> list[Exploitation]:
    """What rule bots and fitted charts gain against a policy, at every size of table it knows."""
    deals = config.benchmark.exploit_deals
    if not deals:
        return []
    with tempfile.TemporaryDirectory() as spare:
        suite = [FixedExploiter(name) for name in RULE_BOTS] + [
            ChartExploiter(Path(spare), draws, FITTED * deals) for draws in CHART_DRAWS
        ]
        total, found = len(config.players) * (len(suite) + 1) * deals, []
        with progress(console, "exploiters", total, "deals") as advance:
            for size in config.players:
                one = exploit(
                    policy,
                    suite,
                    rules=config.resolved_rules(),
                    num_players=size,
                    deals=deals,
                    seed=config.benchmark.seed,
                    workers=config.benchmark.workers,
                    progress=advance,
                )
                if one.interrupted:
                    raise KeyboardInterrupt
                found.append(one)
    return found


def _run_chart(config: ChartConfig, folder: Path, compare: Chart | None, console: Console) -> None:
    start = time.monotonic(), time.process_time()
    with progress(console, "training", charts.planned_updates(config), "updates") as advance:
        chart = charts.train(config, advance)
    seconds, work = time.monotonic() - start[0], time.process_time() - start[1]
    charts.write(chart, [], folder)
    figures = []
    if not config.lives:
        total = charts.measured_rounds(config)
        with progress(console, "measuring", total, "rounds") as advance:
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
