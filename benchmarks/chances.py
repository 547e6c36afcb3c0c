"""What a training with `reward: chances` has found its chances to be, beside those of equals.

    python -m benchmarks.chances RUN

Reads the newest checkpoint of the run. A row is a position of lives: the own losses to go, then
those of the others that are in play; with the chance to win that was counted against each kind of
opponents met there often, and that of `reward: equity`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from agents.training.checkpoint import Checkpoints
from agents.training.learning import CHECKPOINTS
from agents.training.ppo.chances import DIGIT, DIGITS, GROUP, POSITION, Chances, races

OFTEN = 1_000
"""Rounds that have been counted in a position, at least."""


def lives(position: int) -> str:
    """A position in words: the own losses to go, then those of the others."""
    digits = [position >> place & DIGITS for place in range(0, GROUP, DIGIT)]
    others = [str(k) for k, count in enumerate(digits) if k for _ in range(count)]
    return f"{digits[0]} – {' '.join(others)}"


def main(run: str) -> None:
    """Print the table of a run.

    Raises:
        ValueError: if it has no checkpoint, or its reward is another.
    """
    state = Checkpoints(Path(run) / CHECKPOINTS).newest()
    if state is None or "moves" not in state["parts"]["tables"]:
        raise ValueError(f"{run}: no checkpoint of a training with reward: chances")
    tables, chances = state["parts"]["tables"], Chances()
    chances.restore(tables)
    places, first = np.unique(tables["moves"][:, 0], return_inverse=True)
    rounds = np.bincount(first, tables["counts"])
    chances.find()
    table = Table("lives", "kind", "rounds", "counted", "equity")
    for i in np.argsort(-rounds):
        if rounds[i] >= OFTEN:
            position, kind = int(places[i]) & POSITION, int(places[i]) >> GROUP
            found, equal = chances.payoffs(places[[i]])[0], races(places[[i]])[0]
            row = lives(position), str(kind), f"{rounds[i]:,.0f}", f"{found:.3f}", f"{equal:.3f}"
            table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main(*sys.argv[1:])
