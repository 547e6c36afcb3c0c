"""Solvers of short games as data: what is done in every information set, by a number of it.

Such a solver joins no two situations that its seat can tell apart, so that it can go to an
equilibrium; therefore it is for games of some ten thousand information sets, such as a round of a
few turns with a deck of eight cards. An information set is a *key*, a number made from all that the
seat sees (`bots.seeing`); its *ways* are the legal decisions in order.

It is kept in one NPZ file, as `solvers.Solver` is: plain arrays, and the rules, the recipe and the
figures as JSON text in an array of bytes.

Shapes: I information sets, W ways.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np

from thirtyone_env.cards import NUM_CARDS
from thirtyone_env.rules import MAX_SEATS, Rules
from thirtyone_env.solvers import (
    Solver,
    SolverError,
    packed,
    read_solver,
    refuse_rules,
    unpacked,
)

WAYS = 5
"""Most decisions that can be legal at a time, W."""
CERTAIN = (1 << 16) - 1
"""Chance 1."""
MAX_SETS = 1 << 19
"""Most information sets of a file."""
SEEN = "seen"
"""What a file says of its information; the other kind says nothing."""


class SeenHead(IntEnum):
    """What stands where in a header in the book."""

    SIZE = 0
    """Number of information sets."""
    KEYS = 1
    """Where the keys begin, two halves each, in ascending order."""
    CHANCES = 2
    """Where their chances begin, `WAYS` each."""


@dataclass(frozen=True)
class SeenSolver:
    """What is done in every information set of a short game.

    Raises:
        SolverError: for tables that are none.
    """

    rules: Rules
    """The rules that it was made for."""
    cards: tuple[int, ...]
    """The cards of the deck; empty for the whole deck of the rules."""
    known: tuple[int, ...]
    """Cards that every round begins with, in dealing order."""
    players: tuple[int, ...]
    """Numbers of players that it was made for."""
    keys: np.ndarray
    """uint64[I], ascending."""
    chances: np.ndarray
    """uint16[I, WAYS]: of each decision, `CERTAIN` together."""
    name: str = "solver"
    card: Mapping[str, Any] = field(default_factory=dict)
    """Recipe and figures: plain data for people, read by nothing."""

    def __post_init__(self) -> None:
        if self.rules.family != "draw":
            raise SolverError("solvers by what was seen are made for the draw family")
        if not self.players or not set(self.players) <= set(range(2, MAX_SEATS + 1)):
            raise SolverError(f"made for {self.players} players; allowed: 2 … {MAX_SEATS}")
        if not set(self.cards) | set(self.known) <= set(range(NUM_CARDS)):
            raise SolverError(f"cards {self.cards}, {self.known}; allowed: 0 … {NUM_CARDS - 1}")
        keys, size = self.keys, len(self.keys)
        good = keys.dtype == np.uint64 and keys.shape == (size,) and 1 <= size <= MAX_SETS
        if not good or not (keys[:-1] < keys[1:]).all():
            raise SolverError(f"keys: expected at most {MAX_SETS:,}, uint64, ascending")
        chances = self.chances
        good = chances.dtype == np.uint16 and chances.shape == (size, WAYS)
        if not good or not (chances.sum(axis=1, dtype=np.int64) == CERTAIN).all():
            raise SolverError(f"chances: expected uint16[{size}, {WAYS}], {CERTAIN} a row")

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
            "information": SEEN,
            "rules": self.rules.to_dict(),
            "cards": list(self.cards),
            "known": list(self.known),
            "players": list(self.players),
            "card": dict(self.card),
        }
        return packed(about, {"keys": self.keys, "chances": self.chances})


def solver_in(content: bytes, name: str = "solver") -> Solver | SeenSolver:
    """The solver of either kind that a file's content stands for.

    Raises:
        SolverError: if it is none, a damaged one, or of a version to come.
    """
    about, arrays = unpacked(content)
    if about.get("information") != SEEN:
        return Solver.from_bytes(content, name)
    try:
        rules = Rules.from_dict(about["rules"])
        cards, known, players = (tuple(map(int, about[k])) for k in ("cards", "known", "players"))
        tables = arrays["keys"], arrays["chances"]
        return SeenSolver(rules, cards, known, players, *tables, name, about["card"])
    except SolverError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise SolverError(str(error) or type(error).__name__) from error


def load_solver(path: Path | str) -> Solver | SeenSolver:
    """Read a solver of either kind by its file, or by the name of one that comes with the package.

    Raises:
        SolverError: naming the file, if it is missing or no solver.
    """
    return read_solver(path, solver_in)
