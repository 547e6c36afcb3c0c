"""A run's model as a file of Stable-Baselines3, for people who go on with it there.

Such a file holds pickled objects, which run code when they are loaded; this project writes them for
others and does not read them unless it is told to trust one.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

from agents.policies.files import write_bytes
from agents.policies.zips import PLAYS
from agents.training.algorithms import algorithm_of
from agents.training.checkpoint import Checkpoints
from agents.training.config import ModelConfig
from agents.training.models import restore_model
from agents.training.run import RunError, find

ZIP = "model.zip"


def export(folder: Path | str) -> Path:
    """Write `model.zip` into a run folder: the model at its newest checkpoint.

    Returns:
        The path of the file.

    Raises:
        RunError: for a folder without a model.
        CheckpointError: if its checkpoints cannot be read.
    """
    from agents.training.learning import CHECKPOINTS, global_state_kept

    run, config = find(folder)
    state = Checkpoints(run.folder / CHECKPOINTS).newest()
    if not isinstance(config, ModelConfig) or state is None:
        raise RunError(f"{run.folder} holds no model of Stable-Baselines3")
    with global_state_kept():
        learning = algorithm_of(config).prepare(config)
        restore_model(learning.model, state["model"])
        content = io.BytesIO()
        learning.model.save(content)
    with zipfile.ZipFile(content, "a") as file:  # Stable-Baselines3 takes no notice of it
        file.writestr(PLAYS, json.dumps(dict(learning.plays)))
    write_bytes(run.folder / ZIP, content.getvalue())
    return run.folder / ZIP
