"""Checkpoints: everything that a run needs to go on, as arrays and JSON in one safetensors file.

A checkpoint is written beside its place and renamed into it, and the one before it stays until it
is there; so whenever a process is killed or a disk is full, the newest complete one can be read.
Nothing in such a file is ever run as code, and its content is guarded by a digest.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from agents.policies.files import write_bytes

FORMAT = "thirtyone-checkpoint"
VERSION = 1
KEPT = 2
"""Checkpoints that a run keeps: the newest, and the one before it."""

_NAME = re.compile(r"step-(\d+)\.safetensors")


class CheckpointError(ValueError):
    """A checkpoint that is missing, damaged, or of another format; the message names the file."""


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of a run, `step-NUMBER.safetensors` in a folder of their own."""

    folder: Path

    def save(self, step: int, state: Mapping[str, Any]) -> Path:
        """Write a checkpoint, then remove all but the newest `KEPT`.

        Args:
            step: how far the run has come; names the file.
            state: nested dictionaries, lists and tuples of arrays, tensors and values of JSON.

        Raises:
            OSError: if it cannot be written; those that there were are still there then.
        """
        self.folder.mkdir(exist_ok=True)
        path = self.folder / f"step-{step:012d}.safetensors"
        write_bytes(path, to_bytes(state))
        for old in [each for each in self.paths() if each != path][KEPT - 1 :]:
            old.unlink(missing_ok=True)
        return path

    def paths(self) -> list[Path]:
        """The files, newest first."""
        found = self.folder.iterdir() if self.folder.is_dir() else ()
        return sorted((path for path in found if _NAME.fullmatch(path.name)), reverse=True)

    def newest(self) -> dict[str, Any] | None:
        """The state of the newest checkpoint that is whole; None where there is no file.

        Raises:
            CheckpointError: if there are files and none can be read; it names the newest.
        """
        problems = []
        for path in self.paths():
            try:
                return load(path)
            except CheckpointError as error:
                problems.append(error)
        if problems:
            raise problems[0]
        return None


def to_bytes(state: Mapping[str, Any]) -> bytes:
    """A state as the content of a file.

    Raises:
        TypeError: for what is neither an array, a tensor nor a value of JSON.
    """
    arrays: dict[str, np.ndarray] = {}
    text = json.dumps(_packed(state, "", arrays))
    about = {"format": FORMAT, "version": str(VERSION), "state": text}
    return save(arrays, metadata={**about, "digest": _digest(text, arrays)})


def load(path: Path) -> dict[str, Any]:
    """The state in a file; tensors come back as arrays.

    Raises:
        CheckpointError: if it is missing, damaged, or no checkpoint.
    """
    if not path.is_file():
        raise CheckpointError(f"no checkpoint at {path}")
    try:
        with safe_open(path, framework="numpy") as file:
            about = file.metadata() or {}
            if about.get("format") != FORMAT:
                raise ValueError(f"its header does not say {FORMAT}")
            if about.get("version") != str(VERSION):
                raise ValueError(
                    f"version {about.get('version')} of the format, this program: {VERSION}"
                )
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if about.get("digest") != _digest(about["state"], arrays):
            raise ValueError("its content has been changed")
        state = _unpacked(json.loads(about["state"]), arrays)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} is not a readable checkpoint: {error}") from error
    assert isinstance(state, dict)
    return state


def _digest(text: str, arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


# JSON has neither arrays nor tuples, and texts alone as keys: these are dictionaries of one key
# that begins with a dollar sign.


def _packed(value: Any, where: str, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biuf":
            raise TypeError(f"{where}: an array of {value.dtype} cannot be saved")
        arrays[where] = np.ascontiguousarray(value).reshape(value.shape)
        return {"$array": where}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: _packed(value[key], f"{where}.{key}", arrays) for key in value}
        pairs = [[key, _packed(item, f"{where}.{key}", arrays)] for key, item in value.items()]
        return {"$pairs": pairs}
    if isinstance(value, list | tuple):
        items = [_packed(item, f"{where}.{i}", arrays) for i, item in enumerate(value)]
        return items if isinstance(value, list) else {"$tuple": items}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{where}: a {type(value).__name__} cannot be saved")


def _unpacked(value: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    if isinstance(value, list):
        return [_unpacked(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if "$array" in value:
        return arrays[value["$array"]]
    if "$pairs" in value:
        return {key: _unpacked(item, arrays) for key, item in value["$pairs"]}
    if "$tuple" in value:
        return tuple(_unpacked(item, arrays) for item in value["$tuple"])
    return {key: _unpacked(item, arrays) for key, item in value.items()}


def generators() -> dict[str, Any]:
    """The state of the global generators of Python, NumPy and torch."""
    state: dict[str, Any] = {
        "python": random.getstate(),
        "numpy": np.random.get_state(),  # noqa: NPY002
        "torch": torch.get_rng_state(),
    }
    if torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state()
    return state


def restore_generators(state: Mapping[str, Any]) -> None:
    """Put the global generators where `generators` found them."""
    random.setstate(state["python"])
    np.random.set_state(state["numpy"])  # noqa: NPY002
    torch.set_rng_state(torch.as_tensor(state["torch"]))
    if "cuda" in state:
        torch.cuda.set_rng_state(torch.as_tensor(state["cuda"]))
