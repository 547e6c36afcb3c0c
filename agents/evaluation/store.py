"""Finished parts of a study in a folder, one file each, so that it can be stopped and go on."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agents.policies import TablePolicy
from agents.policies.files import write_bytes, write_text

PLAN_FILE = "plan.json"


def digest(policy: TablePolicy) -> str:
    """What tells a policy from others of its name: a hash of its weights or of its file."""
    content = hashlib.sha256(policy.name.encode())
    for array in getattr(policy, "weights", ()):
        content.update(np.ascontiguousarray(array).tobytes())
    named = policy.name.partition(":")[2].partition(",")[0]
    for path in (getattr(policy, "path", None), Path(named) if named else None):
        if path is not None and path.is_file():
            content.update(path.read_bytes())
    return content.hexdigest()[:16]


def plan_text(study: str, chunk: int, policies: Sequence[TablePolicy] = (), **others: Any) -> str:
    """The plan of a study as JSON text.

    Args:
        study: what it is.
        chunk: deals a part.
        policies: whose decisions the parts depend on.
        others: everything else that they depend on, as plain data.
    """
    named = [[policy.name, digest(policy)] for policy in policies]
    return (
        json.dumps({"study": study, "policies": named, **others, "chunk": chunk}, indent=1) + "\n"
    )


class PlanError(ValueError):
    """A study that does not fit its folder, or cannot be played at all."""


class PartStore:
    """Arrays of finished parts by name.

    Args:
        folder: of the study; the parts lie in its `matches`.
        plan: everything that the parts depend on, as JSON text; its `study` says what it is.
        what: what the study is called.

    Raises:
        PlanError: if another study lies there.
    """

    def __init__(self, folder: Path, plan: str, what: str) -> None:
        self.folder = folder / "matches"
        self.folder.mkdir(parents=True, exist_ok=True)
        path = folder / PLAN_FILE
        if not path.exists():
            write_text(path, plan)
            return
        try:
            before = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise PlanError(f"{path} is not a plan: {error}") from error
        now = json.loads(plan)
        if not isinstance(before, dict):
            raise PlanError(f"{path} is not a plan")
        different = [key for key in {**now, **before} if before.get(key) != now.get(key)]
        if before.get("study") != now.get("study"):
            raise PlanError(
                f"{folder} holds a {before.get('study', 'tournament')} study; "
                "choose another folder, or remove it"
            )
        if different:
            raise PlanError(
                f"{folder} holds another {what}: {', '.join(different)} differ; "
                "choose another folder, or remove it"
            )

    def load_arrays(self, name: str) -> dict[str, np.ndarray] | None:
        """A finished part; None if there is none, or a damaged one."""
        path = self.folder / f"{name}.npz"
        if not path.exists():
            return None
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as data:
                return {key: data[key] for key in data.files}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
            return None

    def save_arrays(self, name: str, arrays: Mapping[str, Any]) -> None:
        """Keep a finished part."""
        data = io.BytesIO()
        np.savez_compressed(data, **arrays)
        write_bytes(self.folder / f"{name}.npz", data.getvalue())
