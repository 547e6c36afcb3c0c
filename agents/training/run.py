"""Run folders: a new one for every run, whose files are written whole or not at all."""

from __future__ import annotations

import json
import platform
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from agents.policies.files import write_text
from agents.training.config import RunConfig, load, to_yaml

CONFIG = "config.yaml"
ABOUT = "run.json"
LOCK = "run.lock"
TRAINING, MEASURING, FINISHED = "training", "measuring", "finished"
"""Stages of a run; one that ended before the last can go on from there."""

PACKAGES = (
    "numpy",
    "numba",
    "gymnasium",
    "pettingzoo",
    "torch",
    "stable-baselines3",
    "sb3-contrib",
    "safetensors",
    "scipy",
    "thirtyone-env",
)
"""What results depend on; `run.json` says their versions."""


class RunError(ValueError):
    """A run folder that is none, or that cannot be used now; the message says why."""


class DivergedError(RuntimeError):
    """A loss or a parameter is no finite number any more; the message says which, and where."""


@dataclass(frozen=True)
class Run:
    """A run folder."""

    folder: Path

    def about(self) -> dict[str, Any]:
        """What `run.json` says: the stage, and every session that worked on it."""
        try:
            about = json.loads((self.folder / ABOUT).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise RunError(f"{self.folder / ABOUT} cannot be read: {error}") from error
        assert isinstance(about, dict)
        return about

    def set_stage(self, stage: str) -> None:
        """Say how far the run is."""
        self._write(self.about() | {"stage": stage})

    def _write(self, about: dict[str, Any]) -> None:
        write_text(self.folder / ABOUT, json.dumps(about, indent=1) + "\n")

    @contextmanager
    def session(self, step: int) -> Iterator[None]:
        """Work on the run, alone; from which step on and with what is written into `run.json`.

        Raises:
            RunError: if another process is at it.
        """
        lock = FileLock(str(self.folder / LOCK), timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise RunError(f"{self.folder} is being trained by another process") from None
        try:
            for part in self.folder.rglob(".*.part"):  # of a process that was killed
                part.unlink(missing_ok=True)
            about = self.about()
            about["sessions"].append({"step": step, **surroundings()})
            self._write(about)
            yield
        finally:
            lock.release()


def surroundings() -> dict[str, Any]:
    """When it is, and the versions of everything that results depend on."""
    return {
        "began": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "revision": _revision(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _revision() -> str | None:
    """The commit of the checkout, with a plus where files differ from it; None without git."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", str(Path(__file__).parent), *words],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def new_folder(runs: Path | str, name: str) -> Path:
    """Create `runs/NAME-NUMBER` with the lowest number above all there are.

    Making the folder is one step of the file system that fails if the folder exists, so runs that
    start at the same moment get folders of their own.

    Raises:
        OSError: if the folder cannot be made.
    """
    runs = Path(runs)
    runs.mkdir(parents=True, exist_ok=True)
    pattern = re.compile(re.escape(name) + r"-(\d+)")
    matches = (pattern.fullmatch(path.name) for path in runs.iterdir())
    number = max((int(match[1]) for match in matches if match), default=0)
    while True:
        number += 1
        folder = runs / f"{name}-{number}"
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder


def start(config: RunConfig, folder: Path | None = None) -> Path:
    """Create the run's folder and write the configuration in effect into it, as `config.yaml`.

    Args:
        config: of the run.
        folder: a folder for it that has no run in it; else `new_folder` makes one.
    """
    if folder is None:
        folder = new_folder(config.runs, config.name)
    folder.mkdir(parents=True, exist_ok=True)
    Run(folder)._write({"stage": TRAINING, "sessions": []})
    write_text(folder / CONFIG, to_yaml(config))
    return folder


def find(folder: Path | str) -> tuple[Run, RunConfig]:
    """A run that there is, and its configuration.

    Raises:
        RunError: if the folder is none of a run.
        ConfigError: if its configuration cannot be used.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise RunError(f"there is no run folder {folder}")
    for name in (CONFIG, ABOUT):
        if not (folder / name).is_file():
            raise RunError(f"{folder} is no run folder: there is no {name} in it")
    return Run(folder), load(folder / CONFIG)
