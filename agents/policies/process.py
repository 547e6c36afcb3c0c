"""A policy served by another program, over its standard input and output.

The program may be written in any language. It reads one JSON object a line and answers each with
one JSON object a line::

    → {"type": "hello", "protocol": "thirtyone-bot", "version": 1}
    ← {"name": "my bot"}
    → {"type": "rules", "rules": {"family": "draw", …}, "num_players": 4}
    → {"type": "act", "id": 1, "view": {…, "legal": ["draw_stock", "take_upcard", "knock"]}}
    ← {"id": 1, "action": "knock"}

The rules are told, and need no answer, whenever they are others than before. The program ends when
its input ends. One that is late, ends, or answers something else is ended and begun anew for the
next match; the match is a forfeit. So is one with an illegal action. What it writes to standard
error is not read.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shlex
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from agents.policies.view import View, action_in, view_of
from thirtyone_env import Rules
from thirtyone_env.arena import Tables

PREFIX = "process:"
PROTOCOL, VERSION = "thirtyone-bot", 1
LONGEST_LINE = 1 << 16
"""Characters of an answer."""
POLL = 0.1
"""Seconds after which it is looked whether the program is still there."""
MOST_FAULTS = 20
"""Faults in a row after which a program is not begun anew: all further matches are forfeits."""


class BotFault(ValueError):
    """The program did not answer as it should."""


@dataclass(frozen=True)
class ProcessSpec:
    """How a program is run."""

    command: tuple[str, ...]
    """The program and its arguments; no shell is asked."""
    name: str | None = None
    """What tables call it; None: as it calls itself."""
    timeout: float = 2.0
    """Seconds for an answer."""
    start_timeout: float = 20.0
    """Seconds until it has answered the first line."""


def read_spec(text: str) -> ProcessSpec:
    """The program of a command, or of a YAML file with `command` and the other fields.

    Raises:
        ValueError: for a file that cannot be used; it names the key and what is allowed.
    """
    if text.endswith((".yaml", ".yml")):
        return _from_yaml(Path(text))
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"{PREFIX}{text}: {error}") from error
    if not words:
        raise ValueError(f"{PREFIX} needs a command, or a YAML file")
    return ProcessSpec(tuple(words))


def _from_yaml(path: Path) -> ProcessSpec:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        values = YAML(typ="safe", pure=True).load(path.read_text("utf-8"))
    except (OSError, YAMLError) as error:
        raise ValueError(f"{path}: {error}") from error
    known = {"command", "name", "timeout", "start_timeout"}
    if not isinstance(values, dict) or set(values) - known or "command" not in values:
        raise ValueError(f"{path}: the keys are command, and if need be {', '.join(known)}")
    command = values["command"]
    if isinstance(command, str):
        command = shlex.split(command)
    if not isinstance(command, list) or not command or not all(isinstance(w, str) for w in command):
        raise ValueError(f"{path}: command {command!r} is no text or list of texts")
    for key in ("timeout", "start_timeout"):
        value = values.get(key, 1.0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise ValueError(f"{path}: {key} {value!r} is no number of seconds above 0")
    name = values.get("name")
    if name is not None and not isinstance(name, str):
        raise ValueError(f"{path}: name {name!r} is no text")
    times = {key: float(values[key]) for key in ("timeout", "start_timeout") if key in values}
    return ProcessSpec(tuple(command), name, **times)


def process_policy(text: str) -> ProcessPolicy:
    """The policy of a command or a YAML file; it is begun once to see that it answers.

    Raises:
        ValueError: if it cannot be run, or does not answer the first line.
    """
    spec = read_spec(text)
    return ProcessPolicy(spec)


class ProcessPolicy:
    """A program asked for every decision of its seat; every thread has a process of its own.

    Args:
        spec: how it is run.

    Raises:
        ValueError: if it cannot be run, or does not answer the first line.
    """

    def __init__(self, spec: ProcessSpec) -> None:
        self._prepare(spec)
        try:
            program = self._program()
        except BotFault as fault:
            self.close()
            raise ValueError(f"{PREFIX}{shlex.join(spec.command)}: {fault}") from fault
        self.name = spec.name or program.name or Path(spec.command[-1]).stem

    def _prepare(self, spec: ProcessSpec) -> None:
        self.spec = spec
        self._faults = 0
        self._table: dict[str, Any] = {}
        self._here = threading.local()
        self._running: set[_Program] = set()
        self._finalizer = weakref.finalize(self, _end_all, self._running)

    def __reduce__(self) -> tuple[Any, ...]:
        return _copied, (self.spec, self._table, self.name)

    @property
    def controller(self) -> str:
        """Every decision comes from outside the kernel."""
        return "external"

    @property
    def processes(self) -> list[int]:
        """Ids of the processes that are there now."""
        return [program.process.pid for program in self._running]

    def check(self, rules: Rules, num_players: int) -> None:
        """Note the rules, for the program; nothing is known about what it was made for."""
        self._table = {"rules": rules.to_dict(), "num_players": num_players}

    def act_batch(self, tables: Tables, rows: np.ndarray) -> np.ndarray:
        """int64[N]: the actions that the program names.

        Raises:
            BotFault: for the first answer that is late, missing, none, or illegal.
        """
        actions, faults = self.try_batch(tables, rows)
        if faults:
            raise BotFault(f"{self.name}: {next(iter(faults.values()))}")
        return actions

    def try_batch(
        self, tables: Tables, rows: np.ndarray
    ) -> tuple[np.ndarray, Mapping[int, Exception]]:
        """The actions int64[N], and the faults by place; actions there mean nothing."""
        actions, faults = np.zeros(len(rows), np.int64), {}
        for place, row in enumerate(rows):
            try:
                actions[place] = self._ask(tables, int(row))
                self._faults = 0
            except BotFault as fault:
                faults[place] = fault
                self._faults += 1
        return actions, faults

    def _ask(self, tables: Tables, row: int) -> int:
        if self._faults >= MOST_FAULTS:
            raise BotFault(f"given up after {MOST_FAULTS} faults in a row")
        states = tables.states
        program = self._program()
        try:
            name = program.ask(view_of(states, row), self._table, self.spec.timeout)
        except BotFault:
            self._end(program)
            raise
        try:
            return action_in(states, row, name)
        except ValueError as error:
            raise BotFault(str(error)) from None

    def _program(self) -> _Program:
        program: _Program | None = getattr(self._here, "program", None)
        if program is None or program not in self._running:
            program = _Program(self.spec)
            self._running.add(program)
            self._here.program = program
            try:
                program.greet(self.spec.start_timeout)
            except BotFault:
                self._end(program)
                raise
        return program

    def _end(self, program: _Program) -> None:
        self._running.discard(program)
        program.end()

    def close(self) -> None:
        """End all processes."""
        _end_all(self._running)


def _copied(spec: ProcessSpec, table: dict[str, Any], name: str) -> ProcessPolicy:
    """A copy of a policy, whose program is begun when it is asked."""
    policy = ProcessPolicy.__new__(ProcessPolicy)
    policy._prepare(spec)
    policy._table, policy.name = table, name
    return policy


def _end_all(running: set[_Program]) -> None:
    while running:
        running.pop().end()


class _Program:
    """One running process."""

    def __init__(self, spec: ProcessSpec) -> None:
        self.name: str | None = None
        self._number = 0
        self._table: dict[str, Any] = {}
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        try:
            self.process = subprocess.Popen(
                list(spec.command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise BotFault(f"cannot be run: {error}") from error
        assert self.process.stdout is not None
        self._reader = threading.Thread(
            target=_read_lines, args=(self.process.stdout, self._lines), daemon=True
        )
        self._reader.start()

    def greet(self, seconds: float) -> None:
        """Send the first line and take the answer."""
        self._send({"type": "hello", "protocol": PROTOCOL, "version": VERSION})
        answer = self._answer(seconds)
        name = answer.get("name")
        self.name = name if isinstance(name, str) and name else None

    def ask(self, view: View, table: dict[str, Any], seconds: float) -> object:
        """The name of the action that is answered."""
        if table != self._table:
            self._send({"type": "rules", **table})
            self._table = table
        self._number += 1
        self._send({"type": "act", "id": self._number, "view": view})
        answer = self._answer(seconds)
        if answer.get("id") != self._number or "action" not in answer:
            raise BotFault(f"answered {_short(answer)} to question {self._number}")
        return answer["action"]

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except (OSError, ValueError) as error:
            raise BotFault(self._gone()) from error

    def _answer(self, seconds: float) -> dict[str, Any]:
        line = self._line(seconds)
        if line is None:
            raise BotFault(self._gone())
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            raise BotFault(f"answered {_short(line)}, no JSON") from None
        if not isinstance(answer, dict):
            raise BotFault(f"answered {_short(answer)}, no JSON object")
        return answer

    def _line(self, seconds: float) -> bytes | None:
        """The next line; None if the program has ended, be its output held open by others."""
        end = time.monotonic() + seconds
        while True:
            ended = self.process.poll() is not None
            left = end - time.monotonic()
            try:
                return self._lines.get(timeout=max(0.0, min(left, POLL)))
            except queue.Empty:
                if ended:
                    return None
                if left <= 0:
                    raise BotFault(f"no answer within {seconds:g} s") from None

    def _gone(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1.0)
        return f"the program has ended (status {self.process.poll()})"

    def end(self) -> None:
        """End the process with all that it began, and wait for it."""
        if os.name == "posix":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        else:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError, ValueError):
                    pipe.close()
        self._reader.join(1.0)


def _read_lines(pipe: IO[bytes], lines: queue.Queue[bytes | None]) -> None:
    """Put every line into the queue, and None where there are no more."""
    try:
        while line := pipe.readline(LONGEST_LINE):
            lines.put(line)
    except (OSError, ValueError):
        pass
    lines.put(None)


def _short(what: object) -> str:
    text = what.decode("utf-8", "replace") if isinstance(what, bytes) else str(what)
    return repr(text if len(text) <= 60 else text[:60] + "…")
