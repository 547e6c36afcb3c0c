"""Policies from outside: functions, objects in Python files, and programs in any language.

Both run code that somebody else wrote, so they are named with a prefix, and only where a command
line says so: ``python:FILE.py:NAME`` and ``process:COMMAND``.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agents.policies.process import PREFIX as PROCESS
from agents.policies.process import process_policy
from agents.policies.view import View, action_in, view_of
from thirtyone_env import Rules
from thirtyone_env.arena import Tables
from thirtyone_env.policy import Policy

PYTHON = "python:"
PREFIXES = (PYTHON, PROCESS)


@dataclass(frozen=True)
class FunctionPolicy:
    """A function from a view to the name of an action.

    Raises, from `act_batch`:
        ValueError: if the function names an action that is not legal.
    """

    function: Callable[[View], str]
    """Takes what `view_of` gives."""
    name: str
    """What tables and plots call it."""

    @property
    def controller(self) -> str:
        """Every decision comes from outside the kernel."""
        return "external"

    def check(self, rules: Rules, num_players: int) -> None:
        """Nothing is known about what it was made for."""

    def act_batch(self, tables: Tables, rows: np.ndarray) -> np.ndarray:
        """int64[N]: the actions that the function names."""
        states = tables.states
        named = [action_in(states, row, self.function(view_of(states, row))) for row in rows]
        return np.array(named, np.int64)


class PythonPolicy:
    """What a Python file calls NAME: a function of a view, or an object or class of a policy.

    Args:
        spec: ``FILE.py:NAME``.

    Raises:
        ValueError: if there is no such file or name, or it is no policy.
    """

    def __init__(self, spec: str) -> None:
        self.spec = spec
        path, colon, attribute = spec.rpartition(":")
        self.path = Path(path)
        if not colon or self.path.suffix != ".py":
            raise ValueError(f"{PYTHON}{spec}: expected {PYTHON}FILE.py:NAME")
        self._policy = _loaded(self.path.resolve(), attribute)
        self.name: str = self._policy.name

    def __reduce__(self) -> tuple[Any, ...]:
        return PythonPolicy, (self.spec,)

    @property
    def controller(self) -> str:
        """What the object says, or that every decision is its own."""
        return str(getattr(self._policy, "controller", "external"))

    def check(self, rules: Rules, num_players: int) -> None:
        """Refuse a table if the object does.

        Raises:
            ValueError: what the object raises.
        """
        check = getattr(self._policy, "check", None)
        if check is not None:
            check(rules, num_players)

    def act_batch(self, tables: Tables, rows: np.ndarray) -> np.ndarray:
        """What the object answers."""
        actions: np.ndarray = self._policy.act_batch(tables, rows)
        return actions


def _loaded(path: Path, attribute: str) -> Any:
    if not path.is_file():
        raise ValueError(f"{PYTHON}{path}: there is no such file")
    name = f"_thirtyone_policy_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        found = getattr(module, attribute)
        made = found() if isinstance(found, type) else found
    except Exception as error:  # whatever a file of anybody's may raise
        raise ValueError(f"{path}: {type(error).__name__}: {error}") from error
    if hasattr(made, "act_batch"):
        if not isinstance(getattr(made, "name", None), str):
            raise ValueError(f"{path}: {attribute} has no name")
        return made
    if callable(made):
        return FunctionPolicy(made, attribute)
    raise ValueError(f"{path}: {attribute} is neither a function nor has act_batch")


def make_outside(name: str) -> Any:
    """The policy that a name with a prefix stands for.

    Raises:
        ValueError: if it cannot be found or does not answer.
    """
    if name.startswith(PYTHON):
        return PythonPolicy(name.removeprefix(PYTHON))
    return process_policy(name.removeprefix(PROCESS))


__all__ = ["PREFIXES", "FunctionPolicy", "Policy", "PythonPolicy", "make_outside"]
