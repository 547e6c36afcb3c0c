"""The entry of a solver in a book."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from thirtyone_env.bots.book import Book
from thirtyone_env.bots.worth import hand_key
from thirtyone_env.classes import hand_classes
from thirtyone_env.seen import SeenHead, SeenSolver
from thirtyone_env.solvers import FILE_UNIT, UNIT, Solver, SolverHead, header_block


def solver_entry(spec: str, solver: Solver | SeenSolver, rules: Any, book: Book) -> int:
    """Place the tables of a solver under some rules; its entry.

    Raises:
        SolverError: for rules that it was not made for.
    """
    solver.check(rules)
    key = hand_key(rules)
    if isinstance(solver, SeenSolver):
        return _seen_entry(spec, solver, key, book)

    def header() -> np.ndarray:
        made = np.zeros(SolverHead.SIZE, np.int64)
        number = book.place(("solver classes", key), lambda: hand_classes(solver.rules).number)
        ramp = max(1, round(solver.ramp * UNIT))
        for seats, table in solver.tables.items():
            worth = table.astype(np.int32) * (UNIT // FILE_UNIT)
            first = book.place(("solver", spec, seats, key), lambda worth=worth: worth)
            block = (seats - 2) * SolverHead.BLOCK
            words = header_block(solver.kinds, number, solver.turns, seats, ramp, first)
            made[block : block + SolverHead.BLOCK] = words
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
