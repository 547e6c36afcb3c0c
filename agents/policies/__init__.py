"""Policies by name or path, and what the match runner asks of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from agents.policies.network import FORMAT, NetworkPolicy
from agents.policies.neural import KnockPolicy
from agents.policies.outside import PREFIXES, make_outside
from agents.policies.scripted import ForeignPolicy, ScriptedPolicy
from agents.policies.storage import FILE_NAME, PolicyFileError, network_file, read_network
from agents.policies.tables import SOLVER_FILE, TablesPolicy
from thirtyone_env import Policy, Rules, make_bot
from thirtyone_env.arena import Tables
from thirtyone_env.bots import BOT_FORMS, BOTS
from thirtyone_env.policy import Bot, KernelBot

CHART_FILE = "chart.json"
"""What a run folder of a chart holds."""
PRETRAINED = Path(__file__).parents[1] / "pretrained"
"""Where the policies lie that come with the checkout, a folder each."""
NETWORK = "network:"
"""What their names begin with."""
_TRUSTED: ContextVar[bool] = ContextVar("_TRUSTED", default=False)

__all__ = [
    "PRETRAINED",
    "DecidingPolicy",
    "FaultyPolicy",
    "ForeignPolicy",
    "KnockPolicy",
    "NetworkPolicy",
    "PolicyFileError",
    "ScriptedPolicy",
    "TablePolicy",
    "TablesPolicy",
    "make",
    "pretrained_names",
    "saved_in",
    "seated",
    "split_names",
    "trusted_files",
]


@runtime_checkable
class TablePolicy(Protocol):
    """Whatever can be given a seat."""

    @property
    def name(self) -> str:
        """What tables and plots call it."""

    @property
    def controller(self) -> str:
        """A bot of the kernel; or "knock" or "external", and `act_batch` is asked."""

    def check(self, rules: Rules, num_players: int) -> None:
        """Raise ValueError, naming the difference, if it was not made for this table."""


@runtime_checkable
class DecidingPolicy(TablePolicy, Protocol):
    """A policy outside the kernel, asked about many tables at a time."""

    def act_batch(self, tables: Tables, rows: np.ndarray) -> np.ndarray:
        """Actions int[N] of the seats to act in these rows; each row is judged by itself."""


@runtime_checkable
class FaultyPolicy(DecidingPolicy, Protocol):
    """A policy that may fail at some of the tables that it is asked about, and not at others."""

    def try_batch(
        self, tables: Tables, rows: np.ndarray
    ) -> tuple[np.ndarray, Mapping[int, Exception]]:
        """Actions int[N], and by place what went wrong where there is none."""


def make(name_or_path: str, *, outside: bool = False) -> TablePolicy:
    """The policy that a bot's name, a saved policy or its run folder stands for.

    Args:
        name_or_path: names it.
        outside: whether ``python:FILE.py:NAME`` and ``process:COMMAND`` may run what they name:
            only for words of a command line.

    Raises:
        ValueError: if it is neither a bot nor a file, or names something to run that must not be.
        PolicyFileError: if the file is not a saved policy, or a damaged one.
    """
    if name_or_path.startswith(PREFIXES):
        if not outside:
            raise ValueError(
                f"{name_or_path!r} runs a program, and may be named on a command line only"
            )
        made: TablePolicy = make_outside(name_or_path)
        return made
    if name_or_path.startswith(NETWORK):
        return _pretrained(name_or_path)
    path = Path(name_or_path)
    if path.exists():
        if path.suffix == ".zip":
            return _of_zip(path)
        tables = path / SOLVER_FILE if path.is_dir() else path
        if tables.suffix == ".npz" and tables.exists():
            return TablesPolicy(tables)
        chart = path / CHART_FILE if path.is_dir() else path
        if chart.name == CHART_FILE and chart.exists():
            return ScriptedPolicy(f"chart:{chart}")
        header, _ = read_network(network_file(path))
        kind = NetworkPolicy if header.get("format") == FORMAT else KnockPolicy
        return kind.load(path)
    try:
        return _of_bot(make_bot(name_or_path))
    except ValueError as error:
        bot, colon, _ = name_or_path.partition(":")
        if colon and any(form.startswith((f"{bot}:", f"{bot}[")) for form in BOT_FORMS):
            raise  # a bot's name with options that it does not take; the error says which it does
        if "/" in name_or_path or path.suffix in {".safetensors", ".json"}:
            raise PolicyFileError(f"no saved policy at {name_or_path}") from error
        close = difflib.get_close_matches(name_or_path, BOTS, 1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(
            f"{name_or_path!r} is neither a bot ({', '.join(BOT_FORMS)}) nor a saved policy, nor "
            f"one of {', '.join(pretrained_names())}{hint}"
        ) from error


@contextmanager
def trusted_files() -> Iterator[None]:
    """Let `make` load files of Stable-Baselines3, which run code while they are loaded."""
    before = _TRUSTED.set(True)
    try:
        yield
    finally:
        _TRUSTED.reset(before)


def pretrained_names() -> tuple[str, ...]:
    """The names of the networks that come with the checkout."""
    return tuple(sorted(NETWORK + file.parent.name for file in PRETRAINED.glob(f"*/{FILE_NAME}")))


def _pretrained(name: str) -> TablePolicy:
    """A network that comes with the checkout.

    Raises:
        ValueError: if there is none of this name; it says which there are.
    """
    if name not in pretrained_names():
        known = ", ".join(pretrained_names())
        raise ValueError(f"there is no {name!r}; there are {known}, or name a run folder")
    return NetworkPolicy.load(PRETRAINED / name.removeprefix(NETWORK), name)


def _of_zip(path: Path) -> TablePolicy:
    """A model of Stable-Baselines3, if its file is trusted.

    Raises:
        PolicyFileError: if it is not, or no such model.
    """
    if not _TRUSTED.get():
        raise PolicyFileError(
            f"{path} is a file of Stable-Baselines3: it can run any code while it is loaded; say "
            "--trust if you know where it is from, or take the policy in the run folder"
        )
    from agents.policies.zips import load_zip

    return load_zip(path)


def _of_bot(bot: Bot) -> TablePolicy:
    """A scripted policy for the match runner."""
    return ScriptedPolicy(bot.name) if isinstance(bot, KernelBot) else ForeignPolicy(bot)


def saved_in(folder: Path) -> bool:
    """Whether a run folder holds a policy."""
    return any((folder / name).exists() for name in (FILE_NAME, SOLVER_FILE, CHART_FILE))


def seated(policy: str | TablePolicy | Policy) -> TablePolicy:
    """Anything that plays as a policy for the match runner: names, bots, other people's objects.

    Raises:
        ValueError: for a name that `make` does not know.
        TypeError: for an object that cannot play.
    """
    if isinstance(policy, str):
        return make(policy)
    if isinstance(policy, Bot):
        return _of_bot(policy)
    if isinstance(policy, TablePolicy):
        return policy
    if isinstance(policy, Policy):
        return ForeignPolicy(policy)
    raise TypeError(f"{policy!r} is no policy: it lacks name, act or act_batch")


def split_names(text: str) -> tuple[str, ...]:
    """Split at commas, but not inside one bot's numbers and options.

    "threshold_by_turn:21,25,danish" and "counter,feed=1,search:200,bot=dutch" are two names each.
    """
    names: list[str] = []
    for part in (piece.strip() for piece in text.split(",")):
        more_numbers = names and ":" in names[-1] and part.replace(".", "", 1).isdigit()
        if more_numbers or (names and "=" in part):
            names[-1] += f",{part}"
        elif part:
            names.append(part)
    return tuple(names)
