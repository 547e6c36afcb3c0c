"""Run folders: a new one for every run, whose files are written whole or not at all."""

from __future__ import annotations

import re
from pathlib import Path

from agents.policies.files import write_text
from agents.training.config import RunConfig, to_yaml


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


def start(config: RunConfig) -> Path:
    """Create the run's folder and write the configuration in effect into it, as `config.yaml`."""
    folder = new_folder(config.runs, config.name)
    write_text(folder / "config.yaml", to_yaml(config))
    return folder
