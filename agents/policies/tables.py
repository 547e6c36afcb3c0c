"""Policies that are tables in a file and play inside the kernel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from thirtyone_env import Rules
from thirtyone_env.seen import SeenSolver, load_solver
from thirtyone_env.solvers import Solver, SolverError

SOLVER_FILE = "solver.npz"


@dataclass(frozen=True)
class TablesPolicy:
    """A solver in a file of its own.

    Raises:
        SolverError: if the file is no solver.
    """

    path: Path
    """The file; tables call it by its folder's name, or its own if that is not `solver.npz`."""

    def __post_init__(self) -> None:
        self.solver()

    def solver(self) -> Solver | SeenSolver:
        """The solver in the file."""
        return load_solver(self.path)

    @property
    def name(self) -> str:
        """What tables and plots call it."""
        path = self.path.resolve()
        return path.parent.name if path.name == SOLVER_FILE else path.stem

    @property
    def controller(self) -> str:
        """What sits on the seat: the bot of the kernel that reads the file."""
        return f"solver:{self.path}"

    def check(self, rules: Rules, num_players: int) -> None:
        """Refuse a table that the solver was not made for.

        Raises:
            SolverError: naming what differs.
        """
        solver = self.solver()
        solver.check(rules.record[()])
        if num_players not in solver.players:
            known = " and ".join(str(seats) for seats in solver.players)
            raise SolverError(f"{self.name} is made for tables of {known}, not of {num_players}")
