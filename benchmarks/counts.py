"""Guard against slow kernels by what they execute, which no noise changes (``make count-guard``).

Kernels are compiled for a plain processor, a counter is added to every block of their optimised
code (LLVM's, before it becomes that of a processor), and fixed work is done: the number of
instructions executed is the same on every machine, busy or not. A kernel fails where it executes
more than 1 / 0.8 of the number written down in ``counts.json``, for the same versions of numba and
LLVM; with others nothing is said. Counts say nothing of caches and foreseen branches: `benchmarks.
guard` times the same kernels on one machine. ``--write`` writes all numbers down anew, after a
change of speed that is meant.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numba
import numpy as np

from benchmarks.measure import random_actions, renew
from thirtyone_env import _jit
from thirtyone_env.actions import NUM_ACTIONS
from thirtyone_env.arena import Tables, mask_rows, observe_rows, play_rows
from thirtyone_env.bots import controller
from thirtyone_env.bots.book import Book
from thirtyone_env.observation import observation_size
from thirtyone_env.rules import Rules
from thirtyone_env.state import STATE, new_states

COUNTS = Path(__file__).with_name("counts.json")
MOST = 1 / 0.8
"""How much more than written down a kernel may execute."""
MATCHES, ROWS, SEATS = 40, 64, 4
DANISH = Rules.preset("danish")
PLAIN = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "", "NUMBA_OPT": "3"}
COUNTER = "thirtyone_executed"


# --- counting ------------------------------------------------------------------------------------


def with_counters(code: str) -> str:
    """LLVM's text of a module, with a counter of executed instructions in every block."""
    code = re.sub(r"memory\([^)]*\)|\b(readnone|readonly|willreturn|speculatable)\b", "", code)
    lines: list[str] = []
    block: list[str] = []
    number = 0
    inside = False
    for line in code.splitlines():
        ends = line == "}" or re.match(r"^[^\s;][^=]*:(\s*;.*)?$", line) is not None
        if inside and ends:
            lines += counted(block, number)
            block, number = [], number + 1
        if inside and not ends:
            block.append(line)
        else:
            lines.append(line)
        inside = line != "}" and (inside or line.startswith("define "))
    return "\n".join([*lines, f"@{COUNTER} = global i64 0"])


def counted(block: list[str], number: int) -> list[str]:
    """A block that adds its length to the counter, after the values that it takes over."""
    first = next((at for at, line in enumerate(block) if line.strip() and " = phi " not in line), 0)
    size = sum(re.match(r"^  [^\s\];]", line) is not None for line in block[first:])
    if size == 0:
        return block
    name = f"%executed.{number}"
    return [
        *block[:first],
        f"  {name}.a = load i64, ptr @{COUNTER}",
        f"  {name}.b = add i64 {name}.a, {size}",
        f"  store i64 {name}.b, ptr @{COUNTER}",
        *block[first:],
    ]


def flat(argument: Any) -> list[Any]:
    """An argument as numba's own functions take it: an array as its parts."""
    if argument is None:
        return [ctypes.c_void_p(None)]
    if not isinstance(argument, np.ndarray):
        return [ctypes.c_int64(argument)]
    parts = [argument.size, argument.itemsize]
    parts += [argument.ctypes.data, *argument.shape, *argument.strides]
    return [ctypes.c_void_p(None)] * 2 + [ctypes.c_int64(part) for part in parts]


class Counted:
    """A compiled kernel that counts what it executes."""

    def __init__(self, kernel: Any, *arguments: Any) -> None:
        signature = tuple(numba.typeof(argument) for argument in arguments)
        options = _jit.ENTRY_OPTIONS | {"no_cpython_wrapper": True}
        compiled = numba.njit(**options)(kernel.py_func)
        compiled.compile(signature)
        result = compiled.overloads[signature]
        module = llvm.parse_assembly(with_counters(compiled.inspect_llvm(signature)))
        machine = llvm.Target.from_default_triple().create_target_machine(opt=1, jit=True)
        self._engine = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        address = self._engine.get_function_address(result.fndesc.llvm_func_name)
        self._call = ctypes.CFUNCTYPE(ctypes.c_int)(address)
        self._executed = ctypes.c_int64.from_address(self._engine.get_global_value_address(COUNTER))

    def __call__(self, *arguments: Any) -> int:
        """Run, and say how many instructions that took."""
        self._executed.value = 0
        result, error = (ctypes.c_int64 * 8)(), ctypes.c_void_p()
        words = [word for argument in arguments for word in flat(argument)]
        assert self._call(result, ctypes.byref(error), *words) == 0
        return self._executed.value


# --- what is counted -----------------------------------------------------------------------------


def matches(preset: str) -> tuple[Any, ...]:
    """Arguments of `play_rows` for whole matches of greedy bots."""
    state = new_states(Rules.preset(preset), SEATS, 1)
    state["seed"] = 1
    state["controllers"] = controller("threshold:25")
    return state, Book().array, np.arange(MATCHES), np.zeros((MATCHES, SEATS)), 0, MATCHES


def play() -> dict[str, int]:
    """Instructions of whole matches, in both families."""
    count = Counted(play_rows, *matches("danish"))
    return {"draw": count(*matches("danish")), "exchange": count(*matches("schwimmen_a7"))}


def see(file: str) -> dict[str, int]:
    """Instructions of the full observations and of the masks of some states."""
    states = np.frombuffer(Path(file).read_bytes(), STATE).copy()
    rows = np.arange(len(states))
    seen = np.empty((len(states), observation_size(SEATS)), np.uint8)
    mask = np.empty((len(states), NUM_ACTIONS), np.int8)
    work = {
        "observe": (observe_rows, (states, rows, seen, False, 0, len(states))),
        "mask": (mask_rows, (states, rows, mask, False, False, 0, len(states))),
    }
    return {
        name: Counted(kernel, *arguments)(*arguments) for name, (kernel, arguments) in work.items()
    }


def situations() -> bytes:
    """States in the middle of matches, as bytes."""
    tables, rng = Tables(DANISH, SEATS, seed=1, matches=np.arange(ROWS)), np.random.default_rng(1)
    for _ in range(20):
        renew(tables)
        tables.act(random_actions(tables.action_mask(), rng))
    renew(tables)
    return tables.states.tobytes()


# --- the guard -----------------------------------------------------------------------------------


def versions() -> str:
    """What the optimised code depends on besides the kernels."""
    return f"numba {numba.__version__}, llvmlite {llvmlite.__version__}, {platform.machine()}"


def count_all() -> dict[str, int]:
    """All numbers, each part in a process of its own that compiles for a plain processor."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "states"
        file.write_bytes(situations())
        command = [sys.executable, "-m", "benchmarks.counts", "--part"]
        pipe, environment = subprocess.PIPE, dict(os.environ) | PLAIN
        parts = [
            subprocess.Popen([*command, *part], env=environment, stdout=pipe, text=True)
            for part in (["play"], ["see", str(file)])
        ]
        texts = [part.communicate()[0] for part in parts]
    if any(part.returncode for part in parts):
        raise RuntimeError("the kernels could not be counted")
    return {name: count for text in texts for name, count in json.loads(text).items()}


def more(found: dict[str, int], known: dict[str, int]) -> dict[str, float]:
    """The kernels that execute too much, with how many times as much as written down."""
    factors = {name: count / known[name] for name, count in found.items()}
    return {name: factor for name, factor in factors.items() if factor > MOST}


def main(*options: str) -> int:
    """Count; print, or write down."""
    if options[:1] == ("--part",):
        print(json.dumps(play() if options[1] == "play" else see(options[2])))
        return 0
    if "--write" in options:
        found = {"versions": versions(), "counts": count_all()}
        COUNTS.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    known = json.loads(COUNTS.read_text())
    if versions() != known["versions"]:
        print(f"not compared: written down for {known['versions']}, here is {versions()}")
        return 0
    found = count_all()
    print(json.dumps(found))
    for name, factor in more(found, known["counts"]).items():
        print(f"{name} executes {factor:.2f} times as much as written down in {COUNTS.name}")
    return int(bool(more(found, known["counts"])))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
