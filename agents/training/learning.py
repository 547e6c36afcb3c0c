"""How a model of Stable-Baselines3 is trained as a run: curves, panel, checkpoints, going on.

An algorithm gives a `Learning`: its model, and what belongs to it. `learn` trains it to the end, or
on from the newest checkpoint in the folder. All happens at *borders*, between an update and the
next roll-out, where a model consists of what a checkpoint holds; so a run that was stopped and
resumed ends with the same bits as one that was not.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

from agents.evaluation.progress import Meter
from agents.policies import TablePolicy, make
from agents.policies.storage import LAST
from agents.training.checkpoint import Checkpoints, generators, restore_generators
from agents.training.config import ModelConfig, to_dict
from agents.training.curve import Curve, Scalars
from agents.training.curve_figure import PANEL_CURVE
from agents.training.memory import keep_freed_memory
from agents.training.models import infinite_part, model_state, restore_model
from agents.training.panel import Panel, PanelResult
from agents.training.run import DivergedError, RunError
from agents.training.stopping import Stop, stopping

CHECKPOINTS = "checkpoints"
CURVE = "training.csv"
TENSORBOARD = "tensorboard"


class Stateful(Protocol):
    """What moves beside a model: an environment, a league."""

    def state(self) -> Mapping[str, Any]:
        """Arrays, and values for JSON."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on as the one did that gave the state, bit by bit."""


class SavedPolicy(TablePolicy, Protocol):
    """A policy with a file."""

    def save(self, folder: Path) -> Path:
        """Write it into a folder."""


@dataclass(frozen=True)
class Learning:
    """A model that can be trained, and what belongs to it."""

    model: BaseAlgorithm
    total: int
    """Steps in all, a multiple of `every`."""
    every: int
    """Steps between two borders at which something may be done: whole roll-outs."""
    policy: Callable[[], SavedPolicy]
    """The policy as it is, a copy."""
    played: Callable[[], Mapping[str, float]]
    """Numbers of the roll-out that has just ended, for the curve."""
    updated: Callable[[], Mapping[str, float]]
    """Numbers of the update after it."""
    parts: Mapping[str, Stateful] = field(default_factory=dict)
    """What else a checkpoint holds."""
    save_replay: bool = False
    """Whether it holds the replay buffer too."""
    plays: Mapping[str, bool | str] = field(default_factory=dict)
    """How the model sees and acts, as options of `adapters.sb3.ModelPolicy`; exported with it."""
    beside: Callable[[Path], None] | None = None
    """Writes what else a run folder has, such as the members of a league, with every checkpoint."""
    stage: Callable[[], str] = str
    """How it is learning now, for the progress bar; empty where there is one way only."""


Prepare = Callable[[Any], Learning]


def learn(
    prepare: Prepare,
    config: ModelConfig,
    folder: Path,
    *,
    meter: Meter | None = None,
    stop: Stop | None = None,
) -> SavedPolicy:
    """Train to the end, or on from the newest checkpoint in the folder.

    Python's, NumPy's and torch's global generators and torch's number of threads are given back
    as they were.

    Args:
        prepare: makes the model, the same one for the same configuration.
        config: what to do.
        folder: the run's folder. Gets the best policy by the panel, the last one under `last`,
            `training.csv`, `panel.csv`, scalars for TensorBoard, and checkpoints.
        meter: told of the steps and of the panel.
        stop: where it is asked to stop; Ctrl-C and SIGTERM are caught without.

    Returns:
        The policy after the last update.

    Raises:
        Interrupted: when it was asked to stop, once everything is saved.
        DivergedError: if the model is no good any more; the last good checkpoint is still there.
        RunError: for a checkpoint of another configuration, or one that does not fit.
        CheckpointError: if there are checkpoints and none can be read.
        OSError: if something cannot be written; the last checkpoint is still there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (
        global_state_kept(),
        stopping() if stop is None else nullcontext(stop) as asked,
        asked.at_checks(),
    ):
        torch.set_num_threads(config.torch_threads)
        keep_freed_memory()
        learning = prepare(config)
        watch = _Watch(learning, config, folder, meter or Meter(_ignore, _ignore), asked)
        with watch.writing():
            model = learning.model
            try:
                if model.num_timesteps < learning.total:
                    model.learn(
                        learning.total - model.num_timesteps,
                        callback=watch,
                        log_interval=None,  # type: ignore[arg-type]
                        reset_num_timesteps=False,
                    )
            except ValueError as error:
                watch.check_finite(error)  # torch refuses to draw actions by what is not a number
                raise
            watch.border()
        return learning.policy()


@contextmanager
def global_state_kept() -> Iterator[None]:
    """Give Python's, NumPy's and torch's generators and torch's threads back as they were."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    generator, threads = torch.get_rng_state(), torch.get_num_threads()
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
        torch.set_rng_state(generator)
        torch.set_num_threads(threads)


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    step: int = 0
    seconds: float = 0.0
    """Of training, without what was lost by being killed."""
    best: PanelResult | None = None
    """What the panel said of the policy that was kept."""


def progress_of(folder: Path) -> Progress:
    """How far the newest checkpoint in a run folder is.

    Raises:
        CheckpointError: if there are checkpoints and none can be read.
    """
    state = Checkpoints(folder / CHECKPOINTS).newest()
    return Progress() if state is None else _progress(state)


def _progress(state: Mapping[str, Any]) -> Progress:
    best = None if state["best"] is None else PanelResult.from_dict(state["best"])
    return Progress(int(state["step"]), float(state["seconds"]), best)


def _ignore(_: object) -> None:
    pass


class _Watch(BaseCallback):
    """Does what is due at a border."""

    def __init__(
        self, learning: Learning, config: ModelConfig, folder: Path, meter: Meter, stop: Stop
    ) -> None:
        super().__init__()
        self.learning, self.config, self.folder = learning, config, folder
        self.meter, self.stop = meter, stop
        self.checkpoints = Checkpoints(folder / CHECKPOINTS)
        self.best: PanelResult | None = None
        self.judgement = ""
        self.seen = self.saved = self.judged = 0
        self.seconds = 0.0
        self._clock = self._lap = time.monotonic()
        self._played: dict[str, float] = {}
        self._resume()
        self.curve = Curve(folder / CURVE, self.seen)
        self.panel_curve = Curve(folder / PANEL_CURVE, self.seen)
        self.panel = _panel(config)

    @property
    def step(self) -> int:
        """Steps taken so far."""
        return self.learning.model.num_timesteps

    def _resume(self) -> None:
        """Put everything where the newest checkpoint has it; save one where there is none."""
        state = self.checkpoints.newest()
        if state is None:
            self.save()
            return
        differing = differences(state["config"], to_dict(self.config))
        if differing:
            raise RunError(f"the run was begun with another configuration: {differing}")
        try:
            restore_model(self.learning.model, state["model"])
            for name, part in self.learning.parts.items():
                part.restore(state["parts"][name])
            restore_generators(state["generators"])
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise RunError(
                f"the checkpoint of step {state['step']:,} does not fit: {error}"
            ) from error
        before = _progress(state)
        self.best, self.seconds = before.best, before.seconds
        self.seen = self.saved = before.step
        self.judged = int(state["judged"])
        self.judgement = self.best.note if self.best is not None else ""

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Scalars for TensorBoard, those that a stopped process wrote too much taken back."""
        self.board = Scalars(self.folder / TENSORBOARD, self.seen)
        try:
            yield
        finally:
            self.board.close()

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        if self.step - self.seen >= self.learning.every:
            self._played = dict(self.learning.played())

    def _on_rollout_start(self) -> None:
        if self.step - self.seen >= self.learning.every:
            self.border()

    def border(self) -> None:
        """Between an update and the next roll-out: everything that is due."""
        new = self.step - self.seen
        ended = self.step >= self.learning.total
        self.meter.note(", ".join(filter(None, (self.judgement, self.learning.stage()))))
        if new:
            self.check_finite()
            self._write_curve(new)
            self.seen = self.step
            self.meter(new)
        if self.panel is not None and self.step > self.judged:
            every = self.config.panel.every
            if ended or self.step // every > self.judged // every:
                self.judge()
        if self.step > self.saved:
            asked = self.stop.number is not None
            if ended or asked or self.step - self.saved >= self.config.save_every:
                self.save()
        self.stop.check()

    def check_finite(self, cause: Exception | None = None) -> None:
        """Refuse a model whose loss or parameters are no finite numbers.

        Raises:
            DivergedError: if it is one.
        """
        problem = infinite_part(self.learning.model)
        if not problem and cause is not None and "invalid values" in str(cause):
            problem = "the network's outputs are no numbers"
        if problem:
            raise DivergedError(
                f"{problem} by step {self.step:,}; the last good checkpoint is that of step "
                f"{self.saved:,}"
            ) from cause

    def judge(self) -> None:
        """Let the panel judge, and keep the policy if it is the best so far."""
        assert self.panel is not None
        policy = self.learning.policy()
        result = self.panel.judge(policy, self.step)
        self.judged = self.step
        self.panel_curve.add(self.step, result.numbers())
        scalars = {f"panel/{name}": value for name, value in result.numbers().items()}
        self.board.add(self.step, scalars)
        self.judgement = result.note
        if self.best is None or result.score.mean >= self.best.score.mean:
            self.best = result
            policy.save(self.folder)

    def save(self) -> None:
        """Write the policy so far, then a checkpoint."""
        policy = self.learning.policy()
        (self.folder / LAST).mkdir(exist_ok=True)
        policy.save(self.folder / LAST)
        if self.best is None:
            policy.save(self.folder)
        if self.learning.beside is not None:
            self.learning.beside(self.folder)
        now = time.monotonic()
        self.seconds, self._clock = self.seconds + now - self._clock, now
        self.checkpoints.save(
            self.step,
            {
                "step": self.step,
                "seconds": self.seconds,
                "config": to_dict(self.config),
                "model": model_state(self.learning.model, replay=self.learning.save_replay),
                "parts": {name: part.state() for name, part in self.learning.parts.items()},
                "generators": generators(),
                "judged": self.judged,
                "best": None if self.best is None else self.best.to_dict(),
            },
        )
        self.saved = self.step

    def _write_curve(self, new: int) -> None:
        numbers = {**self._played, **self.learning.updated()}
        self.curve.add(self.step, numbers)
        now = time.monotonic()
        seconds, self._lap = now - self._lap, now
        scalars = {f"run/{name}": value for name, value in numbers.items()}
        scalars["run/steps_per_second"] = new / max(seconds, 1e-9)
        losses = self.learning.model.logger.name_to_value
        scalars |= {name: value for name, value in losses.items() if name.startswith("train/")}
        self.board.add(self.step, scalars)


def _panel(config: ModelConfig) -> Panel | None:
    settings = config.panel
    if not settings.every:
        return None
    return Panel(
        [make(name) for name in settings.opponents],
        config.resolved_rules(),
        settings.players or config.players,
        settings.deals,
        settings.seed,
        settings.workers,
    )


def differences(before: Mapping[str, Any], now: Mapping[str, Any], where: str = "") -> str:
    """In which keys two configurations differ, with both values; empty if in none."""
    parts = []
    for key in {**before, **now}:
        old, new = before.get(key), now.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            parts.append(differences(old, new, f"{where}{key}."))
        elif old != new:
            parts.append(f"{where}{key} was {old!r} and is {new!r}")
    return "; ".join(part for part in parts if part)
