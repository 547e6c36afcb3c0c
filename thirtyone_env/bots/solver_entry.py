"""The entry of a solver in a book."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from thirtyone_env.bots.book import Book
from thirtyone_env.bots.worth import hand_key
from thirtyone_env.seen import SeenHead, SeenSolver
from thirtyone_env.solvers import FILE_UNIT, UNIT, Solver, header_block, solver_classes


def solver_entry(spec: str, solver: Solver | SeenSolver, rules: Any, book: Book) -> int:
    """Place the tables of a solver under some rules; its entry.

    Raises:
        SolverError: for rules that it was not made for.
    """
    solver.check(rules)
    if isinstance(solver, SeenSolver):
        return _seen_entry(spec, solver, hand_key(rules), book)
    key = (solver.rules.family, hand_key(rules))

    def header() -> np.ndarray:
        blocks: dict[int, np.ndarray] = {}
        classes = solver_classes(solver.rules).number
        number = book.place(("solver classes", key), lambda: classes)
        for seats, table in solver.tables.items():
            worth = table.astype(np.int32) * (UNIT // FILE_UNIT)
            first = book.place(("solver", spec, seats, key), lambda worth=worth: worth)
            about = solver.turns, seats, solver.ramp, first
            blocks[seats] = header_block(solver.rules, number, *about)
        size = len(next(iter(blocks.values())))
        made = np.zeros((8, size), np.int64)
        for seats, block in blocks.items():
            made[seats - 2] = block
        return made

    return book.enter(spec, key, header)


def _seen_entry(spec: str, solver: SeenSolver, key: Hashable, book: Book) -> int:
    """Place a table of information sets; its entry."""

    def header() -> np.ndarray:
        made = np.zeros(len(SeenHead), np.int64)
        halves = solver.keys.byteswap().view(">i4").astype(np.int32)  # the high half first
        made[SeenHead.SIZE] = len(solver.keys)
        made[SeenHead.KEYS] = book.place(("solver keys", spec, key), lambda: halves)
        made[SeenHead.CHANCES] = book.place(
            ("solver chances", spec, key), lambda: solver.chances.astype(np.int32)
        )
        return made

    return book.enter(spec, key, header)
