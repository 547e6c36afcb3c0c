"""Run Python in a process of its own, from the checkout or a copy of the package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def environment(**changes: str | None) -> dict[str, str]:
    """The environment of this process, changed; None takes a variable away."""
    result = dict(os.environ) | {"PYTHONPATH": str(ROOT)}
    for name, value in changes.items():
        result.pop(name, None)
        if value is not None:
            result[name] = value
    return result


def start(*arguments: str, root: Path = ROOT, **changes: str | None) -> subprocess.Popen[str]:
    """Start Python with some arguments in a folder that holds the package."""
    env = environment(**({"PYTHONPATH": str(root)} | changes))
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, *arguments], cwd=root, env=env, text=True, stdout=pipe, stderr=pipe
    )


def finished(process: subprocess.Popen[str], timeout: float = 900) -> tuple[str, str]:
    """Output and error output of a process that has to end well."""
    out, err = process.communicate(timeout=timeout)
    assert process.returncode == 0, err
    return out, err


def run(*arguments: str, root: Path = ROOT, **changes: str | None) -> tuple[str, str]:
    """Start Python and wait for its end."""
    return finished(start(*arguments, root=root, **changes))
