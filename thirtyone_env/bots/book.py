"""The book: everything that bots look up beyond the State, in one flat array.

Whoever owns states (tables, learners, a bot as a policy) owns a book; it is handed to every kernel
that lets bots decide, and is saved and copied with its owner. A bot that needs tables has an
*entry* in it: a header of whole numbers that says where its tables begin and what its options are.
An entry belongs to one name under one set of rules; tables that several entries need are there
once. All numbers are whole, so that kernels decide alike compiled and interpreted. What has been
placed never moves: a book only grows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np

# Words of a header, counted from the entry. Offsets are places in the book; 0 stands for none.
CLASSES, NEAR, FAR, SHOWDOWN, LAST, CHART = range(6)
"""Class of a hand by its index; worth of a class after the discard, and before the draw; chance
not to be lowest by seats in play and value, and by seats in play and class before the last draw."""
NUM_CLASSES, REFUSED = 6, 7
"""How many classes there are; worth of a dealer's second hand by the class of the refused one."""
BLOCKS = 8
"""Here the blocks of options begin, one for each number of seats in play from 2 on."""
FEED, HIGH, THRESHOLDS = 0, 1, 2
"""Words of a block: costs of an open card, and eight thresholds by own turn in half points."""
BLOCK_SIZE = 10
HEADER_SIZE = BLOCKS + 8 * BLOCK_SIZE

VALUES = 128
"""Values by which tables of values are laid out, in half points."""
UNIT = 1024
"""A half point in tables of worth, and 1 in options."""
CERTAIN = 1 << 20
"""Chance 1 in tables of chances."""


class Book:
    """Tables and options of some bots; `array` is what kernels read."""

    def __init__(self) -> None:
        self.array: np.ndarray | None = None
        """int32[N], replaced by a longer one where something is placed; None while nothing is.

        For None kernels are compiled without the bots that look things up, in half the time.
        """
        self._places: dict[Hashable, int] = {}
        self._names: dict[int, str] = {}

    def place(self, what: Hashable, make: Callable[[], np.ndarray]) -> int:
        """The offset of a table.

        Args:
            what: what the table is, the rules that it depends on among it.
            make: makes it, of any shape, where it is not there yet.
        """
        if what not in self._places:
            table = np.ascontiguousarray(make()).ravel()
            before = np.zeros(1, np.int32) if self.array is None else self.array
            self._places[what] = len(before)
            self.array = np.concatenate([before, table.astype(np.int32)])
        return self._places[what]

    def enter(self, name: str, rules: Hashable, make: Callable[[], np.ndarray]) -> int:
        """The entry of a bot under some rules; `make` makes its header, int[HEADER_SIZE]."""
        offset = self.place(("entry", name, rules), make)
        self._names[offset] = name
        return offset

    def name_of(self, entry: int) -> str:
        """The name of the bot that an entry belongs to."""
        return self._names[entry]

    def check(self, entries: np.ndarray) -> None:
        """Refuse entries that are not in this book.

        Raises:
            ValueError: if there is one.
        """
        for entry in np.unique(entries).tolist():
            if entry and entry not in self._names:
                raise ValueError(
                    "a bot's tables are not in the book of these tables; give the bot by its name"
                )


NO_BOOK = Book()
"""For bots that look nothing up; nothing is ever placed in it."""


def by_rules(states: np.ndarray, rows: np.ndarray) -> Iterator[tuple[Any, np.ndarray]]:
    """Rows by the rules in force.

    Args:
        states: STATE[B].
        rows: int64[N].

    Yields:
        The rules, a record of dtype `RULES`, and the places int64[M] among the rows that play by
        them.
    """
    rules = states["rules"][rows]
    texts = rules.view(np.uint8).reshape(len(rules), -1) if len(rules) else np.zeros((0, 1))
    left = np.arange(len(rules))
    while left.size:
        first = left[0]
        same = (texts[left] == texts[first]).all(axis=1)
        yield rules[first], left[same]
        left = left[~same]
