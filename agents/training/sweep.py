"""Sweeps: trainings with other values of some keys, judged by the panel (Optuna).

The study lives in one SQLite file, so a sweep that was stopped goes on with the same command: its
finished trials count, and one that was cut goes on from its checkpoint. Several processes may work
on one sweep.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from pathlib import Path
from typing import Any, get_type_hints

import optuna
from optuna.trial import FrozenTrial, TrialState
from rich.console import Console
from rich.table import Table

from agents.evaluation.chart import percent
from agents.evaluation.options import ConfigError
from agents.evaluation.progress import progress
from agents.policies.files import write_text
from agents.training.algorithms import algorithm_of
from agents.training.config import ModelConfig, RunConfig, build, to_dict
from agents.training.learning import differences, learn, progress_of
from agents.training.run import CONFIG, FINISHED, DivergedError, Run, RunError, start
from agents.training.stopping import Stop
from agents.training.sweep_config import SweepConfig, load_sweep

STUDY = "study.db"
TRIALS = "trials.csv"
SHOWN = 5
"""Trials that are shown at the end."""


def run_sweep(config: RunConfig, path: Path, stop: Stop, console: Console) -> int:
    """Train until the sweep has its trials.

    Args:
        config: what is trained, but for the keys that vary.
        path: the sweep's file.
        stop: where it is asked to stop.
        console: for the progress.

    Returns:
        The exit status.

    Raises:
        ConfigError: if the sweep does not fit the configuration.
        RunError: if a sweep of this name was begun with something else.
        Interrupted: when it was asked to stop; the same command goes on.
    """
    if not isinstance(config, ModelConfig) or not config.panel.every:
        raise ConfigError("a sweep needs an algorithm with a panel, and panel.every above 0")
    sweep = load_sweep(path, config)
    folder = Path(config.runs) / sweep.name
    folder.mkdir(parents=True, exist_ok=True)
    study = _study(sweep, config, folder)
    console.print(f"sweep folder: {folder}", markup=False)
    for trial in study.get_trials(states=(TrialState.RUNNING,)):
        if "folder" not in trial.user_attrs:  # killed before it had all its values
            study.tell(trial.number, state=TrialState.FAIL)
            continue
        _try(study, trial, sweep, config, folder, stop, console)
    while len(study.get_trials(states=(TrialState.COMPLETE, TrialState.FAIL))) < sweep.trials:
        number = _ask(study, sweep, config)
        _try(study, study.trials[number], sweep, config, folder, stop, console)
    _tell(study, sweep, folder, console)
    return 0


def _study(sweep: SweepConfig, config: ModelConfig, folder: Path) -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        storage=f"sqlite:///{(folder / STUDY).resolve()}",
        study_name=sweep.name,
        direction="maximize",
        load_if_exists=True,
    )
    about = {"config": to_dict(config), "sweep": _plain(sweep)}
    about = json.loads(json.dumps(about))
    differing = differences(study.user_attrs.get("about", about), about)
    if differing:
        raise RunError(f"{folder} was begun with something else: {differing}")
    study.set_user_attr("about", about)
    # Its own numbers differ from session to session, or the first ones would be tried again.
    study.sampler = optuna.samplers.TPESampler(seed=sweep.seed + len(study.trials))
    return study


def _plain(sweep: SweepConfig) -> dict[str, Any]:
    """The sweep without the number of trials, of which there may be more next time."""
    return {**dataclasses.asdict(sweep), "trials": 0}


def _ask(study: optuna.Study, sweep: SweepConfig, config: ModelConfig) -> int:
    """Begin a trial; its number."""
    kinds = get_type_hints(type(config), include_extras=False)
    trial = study.ask()
    for key, dimension in sweep.space.items():
        low, high = dimension.low, dimension.high
        if dimension.choices:  # Optuna keeps plain values alone
            trial.suggest_categorical(key, [json.dumps(choice) for choice in dimension.choices])
        elif kinds[key] is int:
            assert low is not None
            assert high is not None
            trial.suggest_int(key, int(low), int(high), log=dimension.log)
        else:
            assert low is not None
            assert high is not None
            trial.suggest_float(key, low, high, log=dimension.log)
    trial.set_user_attr("folder", str(Path(config.runs) / sweep.name / f"trial-{trial.number + 1}"))
    return trial.number


def values_of(trial: FrozenTrial, sweep: SweepConfig) -> dict[str, Any]:
    """The values of a trial as the configuration takes them."""
    return {
        key: json.loads(value) if sweep.space[key].choices else value
        for key, value in trial.params.items()
    }


def _try(
    study: optuna.Study,
    trial: FrozenTrial,
    sweep: SweepConfig,
    config: ModelConfig,
    folder: Path,
    stop: Stop,
    console: Console,
) -> None:
    """Train by the values of a trial, and tell the study what the panel says."""
    values = values_of(trial, sweep)
    label = f"trial {trial.number + 1} of {sweep.trials}"
    shown = ", ".join(f"{key} {_shown(value)}" for key, value in values.items())
    console.print(f"{label}: {shown}", markup=False)
    try:
        changed: ModelConfig = build(
            type(config),
            {
                **{key: value for key, value in to_dict(config).items() if key != "algorithm"},
                **values,
                "name": "trial",
                "runs": str(folder),
            },
            "",
        )
    except ConfigError as error:
        console.print(f"{label} cannot be trained: {error}", markup=False)
        study.tell(trial.number, state=TrialState.FAIL)
        return
    run = Run(Path(trial.user_attrs["folder"]))
    begun = (run.folder / CONFIG).exists()
    if not begun:
        start(changed, run.folder)
    algorithm = algorithm_of(changed)
    total, done = algorithm.planned_steps(changed), progress_of(run.folder).step
    try:
        with (
            run.session(done),
            progress(console, label, total, algorithm.STEPS, done) as meter,
        ):
            learn(algorithm.prepare, changed, run.folder, meter=meter, stop=stop)
    except RunError as error:
        if not begun:
            raise
        console.print(f"{label} is left alone: {error}", markup=False)
        return
    except DivergedError as error:
        console.print(f"{label} diverged: {error}", markup=False)
        study.tell(trial.number, state=TrialState.FAIL)
        return
    run.set_stage(FINISHED)
    best = progress_of(run.folder).best
    assert best is not None
    console.print(f"{label}: {best.note} at step {best.step:,}", markup=False)
    study.tell(trial.number, best.score.mean)
    write_text(folder / TRIALS, _csv(study, sweep))


def _csv(study: optuna.Study, sweep: SweepConfig) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["trial", "state", "panel", *sweep.space, "folder"])
    for trial in study.trials:
        values = values_of(trial, sweep)
        row = [trial.number + 1, trial.state.name.lower(), trial.value]
        row += [values.get(key) for key in sweep.space]
        writer.writerow([*row, trial.user_attrs.get("folder")])
    return text.getvalue()


def _tell(study: optuna.Study, sweep: SweepConfig, folder: Path, console: Console) -> None:
    """Show the best trials."""
    write_text(folder / TRIALS, _csv(study, sweep))
    done = study.get_trials(states=(TrialState.COMPLETE,))
    done.sort(key=lambda trial: -(trial.value or 0.0))
    table = Table(title=f"The best of {len(done)} trials", title_justify="left")
    for name in ("trial", "panel", *sweep.space, "folder"):
        table.add_column(name, justify="left" if name == "folder" else "right", overflow="fold")
    for trial in done[:SHOWN]:
        values = [_shown(value) for value in values_of(trial, sweep).values()]
        won = percent(trial.value or 0.0)
        table.add_row(str(trial.number + 1), won, *values, str(trial.user_attrs["folder"]))
    console.print(table)
    console.print(f"all trials: {folder / TRIALS}", markup=False)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
