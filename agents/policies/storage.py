"""Saved networks: one safetensors file, whose header says as JSON what the network was made for.

Weights and configuration can so not be separated or mixed up. `policy.json` beside the file is the
same text for people. Nothing in either is ever run as code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from agents.policies.files import write_bytes, write_text
from thirtyone_env.rules import PRESETS, Rules

FILE_NAME = "policy.safetensors"
LAST = "last"
"""The folder, in a run folder, of the policy that a run ended with where that is not its best."""
ACTIVATIONS = ("tanh", "relu")


class PolicyFileError(ValueError):
    """A saved policy that is missing, damaged, or of another format; the message names the file."""


def write_network(folder: Path, header: Mapping[str, Any], weights: Sequence[np.ndarray]) -> Path:
    """Write `policy.safetensors` and `policy.json`, each by a temporary file and a rename.

    Args:
        folder: where to.
        header: what the network was made for, with its `format` and `version`.
        weights: float32[in, out] and bias float32[out] of each layer in turn.

    Returns:
        The path of the weights.
    """
    text = json.dumps(header, indent=2)
    tensors = {_tensor_name(i): np.ascontiguousarray(a) for i, a in enumerate(weights)}
    path = folder / FILE_NAME
    write_bytes(path, save(tensors, metadata={"policy": text}))
    write_text(path.with_suffix(".json"), text + "\n")
    return path


def network_file(path: Path | str) -> Path:
    """The file of the weights.

    Args:
        path: the run folder, or the `.safetensors` or `.json` file in it.

    Raises:
        PolicyFileError: if there is none.
    """
    path = Path(path)
    file = path / FILE_NAME if path.is_dir() else path.with_suffix(".safetensors")
    if not file.is_file():
        raise PolicyFileError(f"no saved policy at {path}")
    return file


def name_of(file: Path) -> str:
    """The name of the run folder that a file lies in; that of the last policy says so."""
    folder = file.resolve().parent
    return f"{folder.parent.name}-{LAST}" if folder.name == LAST else folder.name


def read_network(file: Path) -> tuple[dict[str, Any], tuple[np.ndarray, ...]]:
    """The header and the weights in a file, as `write_network` got them.

    Raises:
        PolicyFileError: if it is damaged.
    """
    try:
        with safe_open(file, framework="numpy") as tensors:
            header = json.loads((tensors.metadata() or {})["policy"])
            weights = tuple(tensors.get_tensor(_tensor_name(i)) for i in range(len(tensors.keys())))
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise PolicyFileError(f"{file} is not a readable policy: {error}") from error
    if not isinstance(header, dict):
        raise PolicyFileError(f"{file} is not a readable policy: its header is no mapping")
    return header, weights


def check_format(header: Mapping[str, Any], name: str, version: int) -> None:
    """Refuse the header of another format.

    Raises:
        ValueError: naming both.
    """
    if header.get("format") != name:
        raise ValueError(f"its header does not say {name}")
    if header.get("version") != version:
        raise ValueError(f"version {header.get('version')} of the format, this program: {version}")
    if header["activation"] not in ACTIVATIONS:
        raise ValueError(f"unknown activation {header['activation']!r}")


def check_layers(inputs: int, weights: Sequence[np.ndarray], outputs: int) -> None:
    """Refuse layers that do not fit together.

    Raises:
        ValueError: saying why.
    """
    sizes = [inputs]
    if not weights or len(weights) % 2:
        raise ValueError("a layer needs a weight and a bias")
    for weight, bias in zip(weights[::2], weights[1::2], strict=True):
        if weight.ndim != 2 or weight.shape[0] != sizes[-1] or bias.shape != weight.shape[1:]:
            raise ValueError("the layers do not fit together")
        sizes.append(weight.shape[1])
    if sizes[-1] != outputs:
        raise ValueError(f"the last layer must have {outputs} outputs, not {sizes[-1]}")
    if not all(np.isfinite(array).all() for array in weights):
        raise ValueError("weights must be finite numbers")


def rule_differences(mine: Mapping[str, Any], table: Mapping[str, Any]) -> list[str]:
    """What differs between the rules of a policy and those of a table, in words."""
    return [
        f"{name} is {mine.get(name, 'not set')} for the policy, {table.get(name)} at the table"
        for name in {**table, **mine}
        if mine.get(name) != table.get(name)
    ]


def refuse_other_rules(name: str, known: Sequence[Mapping[str, Any]], rules: Rules) -> None:
    """Refuse a table whose rules are none of those that a policy knows.

    Raises:
        ValueError: with the presets' names, where both are presets, and every field that differs
            from the nearest of the rules it knows.
    """
    fields = rules.to_dict()
    nearest = min(known, key=lambda mine: len(rule_differences(mine, fields)))
    found = rule_differences(nearest, fields)
    if not found:
        return
    preset = next((one for one, its in PRESETS.items() if its.to_dict() == nearest), None)
    of = f"{preset}, not {rules.preset_name}" if preset and rules.preset_name else "other rules"
    raise ValueError(f"{name} learned by {of}: {'; '.join(found)}")


def _tensor_name(i: int) -> str:
    return f"layer{i // 2}.{'bias' if i % 2 else 'weight'}"
