"""Models in files of Stable-Baselines3; reading one runs what is in it, so they must be trusted."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from agents.policies.storage import PolicyFileError
from thirtyone_env.adapters.sb3 import ModelPolicy, load_policy

PLAYS = "thirtyone.json"
"""What a file holds that was written here: how the model sees and acts."""
ALGORITHMS = {
    "stable_baselines3.dqn": ("stable_baselines3", "DQN"),
    "stable_baselines3.common": ("stable_baselines3", "PPO"),
    "sb3_contrib.common.maskable": ("sb3_contrib", "MaskablePPO"),
}
"""Module and class by where the class of the saved policy comes from."""


def load_zip(path: Path) -> ModelPolicy:
    """A model as a policy, as it was made to see and act if that was written with it.

    Raises:
        PolicyFileError: if the file is none of an algorithm that is known.
    """
    try:
        with zipfile.ZipFile(path) as file:
            module = str(json.loads(file.read("data"))["policy_class"]["__module__"])
            plays = json.loads(file.read(PLAYS)) if PLAYS in file.namelist() else {}
    except (zipfile.BadZipFile, OSError, KeyError, TypeError, ValueError) as error:
        raise PolicyFileError(f"{path} is no model of Stable-Baselines3: {error}") from error
    for start, (package, name) in ALGORITHMS.items():
        if module.startswith(start):
            algorithm = getattr(__import__(package), name)
            called = f"{path.resolve().parent.name}-{path.stem}"
            return load_policy(path, algorithm, name=called, **plays)
    raise PolicyFileError(f"{path} holds a policy of {module}, which is not known here")
