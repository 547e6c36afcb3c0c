"""Sweeps: trainings with other values of some keys, judged by the panel (Optuna).

The study lives in one SQLite file, so a sweep that was stopped goes on with the same command: its
finished trials count, and one that was cut goes on from its checkpoint. Several processes may work
on one sweep. With Ray the trials are tasks on a cluster: which values are tried, and what they came
to, is settled in this process alone.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import optuna
from optuna.trial import FrozenTrial, TrialState
from rich.console import Console
from rich.table import Table

from agents.evaluation.chart import percent
from agents.evaluation.jobs import LOCAL, Backend
from agents.evaluation.options import ConfigError
from agents.evaluation.progress import progress
from agents.evaluation.typed import build
from agents.policies.files import write_text
from agents.training.algorithms import algorithm_of
from agents.training.config import ModelConfig, RunConfig, to_dict
from agents.training.learning import differences, progress_of
from agents.training.run import CONFIG, RunError, start
from agents.training.stopping import Stop
from agents.training.sweep_config import SweepConfig, load_sweep
from agents.training.trial import MARK, Outcome, TrialJob, brought_back, train_trial

STUDY = "study.db"
TRIALS = "trials.csv"
PATIENCE = 60.0
"""Seconds that trials on a cluster are given to save, after an interrupt."""
SHOWN = 5
"""Trials that are shown at the end."""


def run_sweep(
    config: RunConfig,
    path: Path,
    stop: Stop,
    console: Console,
    backend: Backend = LOCAL,
    workers: int | None = None,
) -> int:
    """Train until the sweep has its trials.

    Args:
        config: what is trained, but for the keys that vary.
        path: the sweep's file.
        stop: where it is asked to stop.
        console: for the progress.
        backend: where trials are trained: one after the other in this process, or at the same time
            on a Ray cluster.
        workers: trials at a time there; None: as many as the cluster has cores for.

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
    sweeping = _Sweeping(study, sweep, config, folder, console)
    if backend.name == "ray":
        sweeping.on_ray(backend, workers, stop)
    else:
        for job in sweeping.jobs():
            sweeping.here(job, stop)
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


class _Sweeping:
    """The trials of a sweep as jobs, and what they came to."""

    def __init__(
        self,
        study: optuna.Study,
        sweep: SweepConfig,
        config: ModelConfig,
        folder: Path,
        console: Console,
    ) -> None:
        self.study, self.sweep, self.config = study, sweep, config
        self.folder, self.console = folder, console
        self._ours: set[int] = set()

    def jobs(self, mark: str = "") -> Iterator[TrialJob]:
        """Trials that were begun and not finished, then new ones, chosen when they are asked for.

        Args:
            mark: written into each run folder.
        """
        for trial in self.study.get_trials(states=(TrialState.RUNNING,)):
            if "folder" not in trial.user_attrs:  # killed before it had all its values
                self.study.tell(trial.number, state=TrialState.FAIL)
                continue
            yield from self._job(trial, mark)
        states = (TrialState.COMPLETE, TrialState.FAIL)
        while len(self.study.get_trials(states=states)) + len(self._ours) < self.sweep.trials:
            number = _ask(self.study, self.sweep, self.config)
            yield from self._job(self.study.trials[number], mark)

    def _job(self, trial: FrozenTrial, mark: str) -> Iterator[TrialJob]:
        """The job of a trial; none where its values make no configuration."""
        values = values_of(trial, self.sweep)
        shown = ", ".join(f"{key} {_shown(value)}" for key, value in values.items())
        self.console.print(f"{self._label(trial.number)}: {shown}", markup=False)
        try:
            changed: ModelConfig = build(
                type(self.config),
                {
                    **{k: value for k, value in to_dict(self.config).items() if k != "algorithm"},
                    **values,
                    "name": "trial",
                    "runs": str(self.folder),
                },
                "",
            )
        except ConfigError as error:
            self._say(trial.number, f" cannot be trained: {error}")
            self.study.tell(trial.number, state=TrialState.FAIL)
            return
        folder = Path(trial.user_attrs["folder"])
        if mark:
            if not (folder / CONFIG).exists():
                start(changed, folder)
            write_text(folder / MARK, mark)
        self._ours.add(trial.number)
        yield TrialJob(trial.number, changed, folder.resolve() if mark else folder, mark)

    def here(self, job: TrialJob, stop: Stop) -> None:
        """Train one in this process."""
        algorithm = algorithm_of(job.config)
        total, done = algorithm.planned_steps(job.config), progress_of(job.folder).step
        label = self._label(job.number)
        with progress(self.console, label, total, algorithm.STEPS, done) as meter:
            outcome = train_trial(job, meter, stop)
        self.settle(job, outcome)

    def on_ray(self, backend: Backend, workers: int | None, stop: Stop) -> None:
        """Train on a cluster, several at a time.

        Raises:
            Interrupted: when it was asked to stop; trials save what they have.
            ValueError: if there is no Ray or no cluster, or a trial was lost too often.
        """
        from agents.evaluation.ray_jobs import connected, run_on_ray

        cores = self.config.threads
        with connected(None if workers is None else workers * cores, backend.address) as ray:
            there = int(ray.cluster_resources().get("CPU", 1))
            if there < cores:
                raise ValueError(f"a trial needs {cores} cores (threads), the cluster has {there}")
            _, interrupted = run_on_ray(
                self.jobs(uuid.uuid4().hex),
                train_trial,
                workers,
                self.settle,
                None,
                backend.address,
                cores=cores,
                at_once=workers or there // cores,
                patience=PATIENCE,
            )
        if interrupted:
            done = len(self.study.get_trials(states=(TrialState.COMPLETE,)))
            self.console.print(
                f"interrupted: {done} of {self.sweep.trials} trials are finished; the same command "
                "goes on, also with trials that were cut"
            )
            stop.check()
            raise KeyboardInterrupt

    def settle(self, job: TrialJob, outcome: Outcome) -> None:
        """Tell the study what became of a trial."""
        brought_back(outcome, job.folder)
        self._ours.discard(job.number)
        failed = outcome.score is None
        self._say(job.number, f" {outcome.note}" if failed else f": {outcome.note}")
        if outcome.busy:
            return
        if failed:
            self.study.tell(job.number, state=TrialState.FAIL)
            return
        self.study.tell(job.number, outcome.score)
        write_text(self.folder / TRIALS, _csv(self.study, self.sweep))

    def _label(self, number: int) -> str:
        return f"trial {number + 1} of {self.sweep.trials}"

    def _say(self, number: int, text: str) -> None:
        self.console.print(f"{self._label(number)}{text}", markup=False)


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
