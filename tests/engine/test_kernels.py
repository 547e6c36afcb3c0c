"""Kernels neither allocate nor raise, so that they could run where neither is possible.

And only those that say so are set in where they are called.
"""

from __future__ import annotations

import ast
from pathlib import Path

import numba
import numpy as np
import pytest

import thirtyone_env
from thirtyone_env._jit import ENTRY_OPTIONS, INTERPRETED, WIDE_OPTIONS, inlined_kernel, kernel

PACKAGE = Path(thirtyone_env.__file__).parent
MARKS = ("kernel", "inlined_kernel", "wrapping_kernel", "entry", "wide_entry")
GIVEN = (
    *("trailing_zeros", "bits_among", "prefetch"),
    *("put_byte", "put_bytes", "put_flags", "put_flags_among", "put_shorts", "word_of"),
)
"""What `_jit` makes itself."""
BUILTINS = ("range", "len", "min", "max", "abs", "int", "float", "bool")
SCALARS = ("int8", "int16", "int32", "int64", "uint8", "uint64", "float32", "float64")
FORBIDDEN = (
    *(ast.Raise, ast.Assert, ast.Try, ast.TryStar, ast.With, ast.Yield, ast.YieldFrom, ast.Await),
    *(ast.List, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    *(ast.JoinedStr, ast.Lambda, ast.Import, ast.ImportFrom, ast.ClassDef, ast.Global),
    *(ast.Slice, ast.Starred, ast.Delete, ast.MatMult),
)


def is_kernel(node: ast.AST) -> bool:
    """Whether this is a function that numba compiles."""
    return isinstance(node, ast.FunctionDef) and any(
        isinstance(mark, ast.Name) and mark.id in MARKS for mark in node.decorator_list
    )


def kernels_of(tree: ast.Module) -> list[ast.FunctionDef]:
    """The kernels of a source."""
    return [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and is_kernel(node)
    ]


def may_be_called(function: ast.expr, kernels: set[str]) -> bool:
    """Whether a call is of another kernel, or of what makes one number of others."""
    if isinstance(function, ast.Name):
        return function.id in kernels or function.id in (*GIVEN, *BUILTINS)
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "np"
        and function.attr in SCALARS
    )


def faults_of(kernel: ast.FunctionDef, kernels: set[str]) -> list[str]:
    """What a kernel does that it must not do."""
    found = []
    for statement in kernel.body:
        for node in ast.walk(statement):
            bad_call = isinstance(node, ast.Call) and not may_be_called(node.func, kernels)
            if bad_call or isinstance(node, FORBIDDEN):
                found.append(f"{kernel.name}, line {node.lineno}: {ast.unparse(node)}")
    return found


def known_here(tree: ast.Module, kernels: set[str]) -> set[str]:
    """The names that kernels have in a source: its own, and those that it imports."""
    names = {kernel.name for kernel in kernels_of(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names |= {name.asname or name.name for name in node.names if name.name in kernels}
    return names


def faults(texts: dict[str, str]) -> list[str]:
    """All of that in some sources."""
    trees = {name: ast.parse(text) for name, text in texts.items()}
    kernels = {kernel.name for tree in trees.values() for kernel in kernels_of(tree)}
    return [
        f"{name}: {fault}"
        for name, tree in trees.items()
        for kernel in kernels_of(tree)
        for fault in faults_of(kernel, known_here(tree, kernels))
    ]


def sources() -> dict[str, str]:
    """The text of every source of the package."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return {str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8") for path in paths}


def test_kernels_neither_allocate_nor_raise():
    texts = sources()
    assert sum(len(kernels_of(ast.parse(text))) for text in texts.values()) > 150
    assert faults(texts) == []


def test_whatever_numba_compiles_is_marked_as_a_kernel():
    for name, text in sources().items():
        if name != "_jit.py":
            assert "njit" not in text, name
            assert "numba.jit" not in text, name


@pytest.mark.parametrize(
    "line",
    [
        "hands = np.zeros(4)",
        "hands = state.hands.copy()",
        "hands = state.hands[1:3]",
        "hands = [1, 2]",
        "hands = [seat for seat in range(4)]",
        "hands = {1: 2}",
        "hands = sorted(state.hands)",
        "hands = list(range(4))",
        "hands = f'{state}'",
        "raise ValueError('no')",
        "assert state.seat >= 0",
        "print(state.seat)",
        "host_function(state)",
    ],
)
def test_a_kernel_that_does_is_found(line):
    text = f"@kernel\ndef spoilt(state):\n    if state.seat:\n        {line}\n    return 0\n"
    assert faults({"spoilt.py": text}) != []
    assert faults({"host.py": text.replace("@kernel\n", "")}) == []


@kernel
def plain(number):
    """A kernel that an inlined one calls."""
    return number * 3


@inlined_kernel
def inlined(number):
    """What runs at every decision."""
    return plain(number) + 1


def begun(number):
    """What Python calls."""
    return inlined(number)


@pytest.mark.skipif(INTERPRETED, reason="the code of compiled kernels")
def test_a_kernel_is_not_inlined_because_its_caller_is():
    fresh = numba.njit(**ENTRY_OPTIONS)(begun)  # an entry that no disk knows
    assert fresh(5) == 16
    codes = [next(iter(one.overloads.values())).library.get_llvm_str() for one in (plain, inlined)]
    assert ["alwaysinline" in code for code in codes] == [False, True]


@kernel
def scattered(number, factor):
    """Too long to be set in where it is called."""
    found = number
    for step in range(number & 15):  # an end, whatever it is called with
        found = ((found * 31 + factor) ^ (found >> 3)) & 1023
        if found & 1:
            found += factor * step
        elif found & 2:
            found -= factor << 2
        for other in range(step):
            found = (found ^ ((other * factor + found) << 1)) & 1023
            if found % 7 == factor:
                found = found * found + other
            elif found % 11 == other:
                found = (found >> 5) * 17 - step
            for third in range(other):
                found = (found + (third ^ found) * factor) & 1023
                if found % 13 > third:
                    found -= 19 * other + (found >> 7)
                elif found % 5 == third:
                    found = found * 23 + (third << 2) + factor
    return found & 1023


def twice_by_three(numbers, out):
    """Gives its kernel the same factor always."""
    factor = np.int64(3)
    for place in range(len(numbers)):
        out[place] = scattered(numbers[place], factor) + scattered(numbers[place] + 1, factor)


@pytest.mark.skipif(INTERPRETED, reason="nothing is linked")
def test_a_function_of_somebody_else_has_kernels_of_its_own():
    """What an entry has made of a kernel for itself is nobody else's, whoever came first."""
    fresh = numba.njit(**ENTRY_OPTIONS)(twice_by_three)  # an entry that no disk knows
    fresh(np.arange(4), np.zeros(4, np.int64))
    module = next(iter(fresh.overloads.values())).library.get_llvm_str()
    assert "define internal" in module  # or nothing is tested

    @numba.njit
    def by(number, factor):
        return scattered(number, factor)

    for factor in (3, 5):
        found = [by(number, factor) for number in range(12)]
        assert found == [scattered.py_func(number, factor) for number in range(12)]


def add_times(sums, numbers, times):
    """A loop through long rows of numbers."""
    for place in range(len(sums)):
        sums[place] += times * numbers[place]


@pytest.mark.skipif(INTERPRETED, reason="the code of compiled kernels")
@pytest.mark.parametrize(("options", "vectors"), [(ENTRY_OPTIONS, False), (WIDE_OPTIONS, True)])
def test_wide_entries_are_made_of_vectors_and_others_are_not(options, vectors):
    fresh = numba.njit(**options)(add_times)
    fresh(np.zeros(100, np.float32), np.ones(100, np.float32), np.float32(2))
    code = next(iter(fresh.overloads.values())).library.get_llvm_str()
    assert (" x float>" in code) == vectors
