"""One training of a sweep, here or on another machine.

It works in the trial's run folder where that is shared; elsewhere in a folder of its own, whose
files it hands back.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from agents.evaluation.progress import Meter
from agents.policies.files import write_bytes
from agents.training.algorithms import algorithm_of
from agents.training.config import ModelConfig
from agents.training.learning import learn, progress_of
from agents.training.run import CONFIG, FINISHED, DivergedError, Run, RunError, start
from agents.training.stopping import Stop

MARK = ".sweep"
"""A file by which a run folder is known to be the same one on another machine."""


@dataclass(frozen=True)
class TrialJob:
    """A trial that is to be trained."""

    number: int
    """Of the trial in its study."""
    config: ModelConfig
    folder: Path
    """Of the run."""
    mark: str = ""
    """What stands in `MARK` of that folder; empty where it is certainly there."""


@dataclass(frozen=True)
class Outcome:
    """What became of it."""

    score: float | None = None
    """Best mean win rate by the panel; None where the training failed."""
    note: str = ""
    """What the panel said, or why there is none."""
    busy: bool = False
    """Whether another process is at it: then nothing is known yet."""
    files: dict[str, bytes] = field(default_factory=dict)
    """The run folder by relative path, where it is not shared."""


def train_trial(job: TrialJob, meter: Meter | None = None, stop: Stop | None = None) -> Outcome:
    """Train one trial to its end, or on from the newest checkpoint.

    Args:
        job: what to train.
        meter: told of the steps and of the panel.
        stop: where it is asked to stop; without, Ctrl-C and SIGTERM are caught.

    Raises:
        Interrupted: when it was asked to stop, once everything is saved.
        RunError: as `learn`.
        OSError: if something cannot be written.
    """
    if not job.mark or _mark_of(job.folder) == job.mark:
        return _trained(job.config, job.folder, meter, stop)
    with tempfile.TemporaryDirectory(prefix="trial-") as place:
        folder = Path(place) / job.folder.name
        outcome = _trained(job.config, folder, meter, stop)
        files = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.suffix != ".lock"
        }
        return Outcome(outcome.score, outcome.note, outcome.busy, files)


def _mark_of(folder: Path) -> str:
    try:
        return (folder / MARK).read_text("utf-8")
    except OSError:
        return ""


def _trained(config: ModelConfig, folder: Path, meter: Meter | None, stop: Stop | None) -> Outcome:
    run = Run(folder)
    begun = (folder / CONFIG).exists()
    if not begun:
        start(config, folder)
    try:
        with run.session(progress_of(folder).step):
            learn(algorithm_of(config).prepare, config, folder, meter=meter, stop=stop)
    except RunError as error:
        if not begun:
            raise
        return Outcome(note=f"is left alone: {error}", busy=True)
    except DivergedError as error:
        return Outcome(note=f"diverged: {error}")
    run.set_stage(FINISHED)
    best = progress_of(folder).best
    assert best is not None
    return Outcome(best.score.mean, f"{best.note} at step {best.step:,}")


def brought_back(outcome: Outcome, folder: Path) -> None:
    """Write the files of a run that was trained elsewhere into its folder here."""
    for name, content in outcome.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, content)
