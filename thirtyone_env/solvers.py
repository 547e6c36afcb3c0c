"""Solvers as data: tables of what each decision is worth in the rest of the round, in lives.

What a hand is worth after a discard is the sum of two tables: the worth of its class, and the
worth of the card laid open, by its rank, by how many cards of its suit the hand keeps and by what
the next player openly holds. Knocking, drawing, and the last turn after a knock have tables of
their own. A *key* numbers the seat's place in the round and its own turn, a *spot* also what
opponents openly collect. One set of tables for each number of seats in play. That is the draw
family; the tables of the exchange family are those of `exchange_parts`.

A solver is one NPZ file: tables as plain arrays, and the rules, the recipe and the figures as JSON
text in an array of bytes. Nothing of it is ever run as code.

Shapes: K classes of hands (`classes.hand_classes`), P places = seats, T turns.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from thirtyone_env.classes import Classes, hand_classes
from thirtyone_env.exchange_parts import exchange_sizes
from thirtyone_env.rules import MAX_SEATS, Rules

Read = TypeVar("Read")
"""What is made of a file."""
FORMAT = "thirtyone-solver"
VERSION = 1
UNIT = 1 << 16
"""A life in tables that kernels read."""
FILE_UNIT = 1 << 12
"""A life in the tables of a file, int16."""
VALUES = 128
"""Values of hands by which tables are laid out, in half points."""
OPEN = 4
"""Steps of what opponents openly collect in one suit: nothing, below 10 points, 10 or 11, more."""
CARDS = 4 * 2 * 3 * 14
"""Kinds of an open card: what the next player openly holds (nothing, other suits, one card of the
suit, more), whether it has laid off that suit, cards of it in the hand (two at most), rank."""
MAX_TURNS = 50
MAX_FILE = 16_000_000
"""Bytes of a file, and of what is packed in it, that is read at all."""
FOLDER = Path(__file__).with_name("data") / "solvers"
"""The solvers that come with the package."""
ANY_VALUE = {"lives", "free_ride", "buy_ins", "decider_draw", "max_rounds"}
"""Fields of the rules that no round depends on."""


class Part(IntEnum):
    """The tables for one number of seats, in order."""

    AFTER = 0
    """Worth of a class after the discard: [spots, K]."""
    DRAW = 1
    """Worth of drawing from the stock, by class: [spots, K]."""
    LAST_DRAW = 2
    """The same on a last turn: [spots, K]."""
    LAST = 3
    """Worth of a final value on a last turn: [spots, VALUES]."""
    KNOCK = 4
    """Worth of knocking with a value: [spots, VALUES]."""
    CARD = 5
    """Worth of a card laid open: [keys, CARDS]."""
    LAST_CARD = 6
    """The same on a last turn: [keys, CARDS]."""
    KNOCK_CARD = 7
    """Worth of knocking with this upcard: [keys, CARDS]."""


class SolverHead(IntEnum):
    """What stands where in a block of a header: blocks for two to nine seats in play."""

    KINDS = 0
    """Number of classes of hands; 0 where there are no tables for so many seats."""
    CLASSES = 1
    """Where the classes of hands by index begin."""
    TURNS = 2
    """Own turns told apart; later ones count with the last."""
    PLACES = 3
    """Places in the round told apart: the number of seats of the block."""
    RAMP = 4
    """Half the width of the gap of worth in which knocks are drawn by lot."""
    PARTS = 5
    """Where the tables of `Part` begin."""
    BLOCK = 13
    """Size of a block."""


class SolverError(ValueError):
    """A solver that is missing, damaged, or not made for what it is asked to play."""


def part_sizes(kinds: int, turns: int, seats: int) -> list[int]:
    """The sizes of the tables of `Part` for so many classes, turns and seats."""
    keys = turns * seats
    spots = keys * OPEN
    return [spots * kinds] * 3 + [spots * VALUES] * 2 + [keys * CARDS] * 3


def solver_classes(rules: Rules) -> Classes:
    """The classes of hands that tables tell apart; those of exchanges leave out suits' order."""
    return hand_classes(replace(rules, ties="share") if rules.family == "exchange" else rules)


def table_sizes(rules: Rules, turns: int, seats: int) -> list[int]:
    """The sizes of the tables for so many turns and seats, in order."""
    kinds = len(solver_classes(rules).hands)
    sizes = exchange_sizes if rules.family == "exchange" else part_sizes
    return sizes(kinds, turns, seats)


def header_block(
    rules: Rules, classes: int, turns: int, seats: int, ramp: float, first: int
) -> np.ndarray:
    """The block for a number of seats.

    Args:
        rules: that the tables are made for.
        classes: where the classes of hands by index begin in the book.
        turns: own turns told apart.
        seats: the number of seats.
        ramp: half the width of the gap of worth in which knocks are drawn by lot, in lives.
        first: where the tables begin.

    Returns:
        int64[BLOCK], of `SolverHead` or `ExchangeHead`.
    """
    kinds, width = len(solver_classes(rules).hands), max(1, round(ramp * UNIT))
    places = first + np.cumsum([0, *table_sizes(rules, turns, seats)[:-1]])
    return np.array([kinds, classes, turns, seats, width, *places])


@dataclass(frozen=True)
class Solver:
    """Tables by number of seats, with what they were made for.

    Raises:
        SolverError: for tables that do not fit the rules, or none at all.
    """

    rules: Rules
    """The rules that it was made for."""
    turns: int
    """Own turns told apart."""
    ramp: float
    """Half the width, in lives, of the gap of worth in which knocks are drawn by lot."""
    tables: Mapping[int, np.ndarray]
    """int16 each, `FILE_UNIT` a life: the tables of `Part` one after another, by seats in play."""
    name: str = "solver"
    card: Mapping[str, Any] = field(default_factory=dict)
    """Recipe and figures: plain data for people, read by nothing."""

    def __post_init__(self) -> None:
        whole = isinstance(self.turns, int) and 1 <= self.turns <= MAX_TURNS
        if not whole or not 0 < self.ramp <= 2:
            raise SolverError(
                f"turns = {self.turns!r}, ramp = {self.ramp!r}; allowed: 1 … {MAX_TURNS} turns and "
                "a ramp above 0, up to 2"
            )
        if not self.tables or not set(self.tables) <= set(range(2, MAX_SEATS + 1)):
            raise SolverError(f"tables for {sorted(self.tables)} seats; allowed: 2 … {MAX_SEATS}")
        for seats, table in self.tables.items():
            size = sum(table_sizes(self.rules, self.turns, seats))
            if table.dtype != np.int16 or table.shape != (size,):
                raise SolverError(
                    f"tables for {seats} seats: {table.dtype}{list(table.shape)}; expected "
                    f"int16[{size}]"
                )

    @property
    def kinds(self) -> int:
        """The number of classes of hands, K."""
        return len(solver_classes(self.rules).hands)

    @property
    def players(self) -> tuple[int, ...]:
        """Numbers of seats that it has tables for."""
        return tuple(sorted(self.tables))

    def check(self, rules: Any) -> None:
        """Refuse rules of another round.

        Args:
            rules: a record of dtype `RULES`.

        Raises:
            SolverError: naming every rule that differs.
        """
        refuse_rules(self.name, self.rules, rules)

    def to_bytes(self) -> bytes:
        """The file's content; the same bytes for the same solver."""
        about = {
            "rules": self.rules.to_dict(),
            "turns": self.turns,
            "ramp": self.ramp,
            "card": dict(self.card),
        }
        tables = {f"seats_{seats}": self.tables[seats] for seats in sorted(self.tables)}
        return packed(about, tables)

    @classmethod
    def from_bytes(cls, content: bytes, name: str = "solver") -> Solver:
        """The solver that a file's content stands for.

        Raises:
            SolverError: if it is none, a damaged one, or of a version to come.
        """
        about, arrays = unpacked(content)
        try:
            tables = {
                int(key.removeprefix("seats_")): table
                for key, table in arrays.items()
                if key.startswith("seats_")
            }
            rules = Rules.from_dict(about["rules"])
            return cls(rules, about["turns"], about["ramp"], tables, name, about["card"])
        except SolverError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise SolverError(str(error) or type(error).__name__) from error

    @classmethod
    def load(cls, path: Path | str) -> Solver:
        """Read a solver by its file, or by the name of one that comes with the package.

        Raises:
            SolverError: naming the file, if it is missing or no solver.
        """
        return read_solver(path, cls.from_bytes)


def refuse_rules(name: str, made_for: Rules, rules: Any) -> None:
    """Refuse rules of another round than a solver was made for.

    Args:
        name: the solver's.
        made_for: its rules.
        rules: those at the table, a record of dtype `RULES`.

    Raises:
        SolverError: naming every rule that differs.
    """
    mine = made_for.record[()]
    differences = [
        f"{field} is {mine[field]} for the solver, {rules[field]} at the table"
        for field in mine.dtype.names or ()
        if field not in ANY_VALUE and mine[field] != rules[field]
    ]
    if differences:
        raise SolverError(f"{name} is made for other rules: {'; '.join(differences)}")


def packed(about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """The content of a solver's file: what it says about itself, and its arrays."""
    says = {"format": FORMAT, "version": VERSION, **about}
    text = np.frombuffer(json.dumps(says, indent=1).encode(), np.uint8)
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, about=text, **arrays)
    return content.getvalue()


def unpacked(content: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What a solver's file says about it, and its arrays.

    Raises:
        SolverError: for a damaged file, one that is no solver's, or of a version to come.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            if sum(part.file_size for part in packed.infolist()) > 4 * MAX_FILE:
                raise SolverError("too much is packed in it")
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            about = json.loads(arrays["about"].tobytes())
            rest = {key: arrays[key] for key in arrays.files if key != "about"}
        if about["format"] != FORMAT or about["version"] != VERSION:
            raise SolverError(f"it says {about['format']!r}, version {about['version']!r}")
        return about, rest
    except SolverError:
        raise
    except (zipfile.BadZipFile, OSError, EOFError, KeyError, TypeError, ValueError) as error:
        raise SolverError(str(error) or type(error).__name__) from error


def solver_file(path: Path | str) -> Path:
    """The file that a path, or the name of a solver that comes with the package, stands for.

    Raises:
        SolverError: if there is none, or it is too long.
    """
    path = FOLDER / f"{path}.npz" if str(path) in solver_names() else Path(path)
    try:
        status = path.stat()
    except OSError as error:
        known = ", ".join(solver_names()) or "none"
        raise SolverError(
            f"no solver at {path}: {error.strerror}; those that come with the package: {known}"
        ) from error
    if status.st_size > MAX_FILE:
        raise SolverError(f"{path}: over {MAX_FILE:,} bytes; no solver is as long")
    return path


def read_solver(path: Path | str, made: Callable[[bytes, str], Read]) -> Read:
    """What is made of a file and its name, read again when the file has changed.

    Raises:
        SolverError: naming the file, if it is missing or nothing can be made of it.
    """
    file = solver_file(path)
    status = file.stat()
    return cast(Read, _read(made, file, status.st_mtime_ns, status.st_size, status.st_ino))


@lru_cache(8)
def _read(made: Callable[[bytes, str], Any], path: Path, *_: int) -> Any:
    try:
        return made(path.read_bytes(), path.stem)
    except (SolverError, OSError) as error:
        raise SolverError(f"{path} is not a readable solver: {error}") from error


def solver_names() -> tuple[str, ...]:
    """The solvers that come with the package."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.npz")))
