"""The algorithm `solver`: tables of what every decision of a round is worth, by self-play."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from agents.policies.files import write_bytes, write_text
from agents.policies.tables import SOLVER_FILE
from agents.training.config import SolverConfig
from agents.training.solver.learning import Learner, Recipe, solver_of
from thirtyone_env.solvers import Solver

TITLE = "A solver for whole rounds"
STEPS = "rounds"


def recipe_of(config: SolverConfig) -> Recipe:
    """How a configuration lets a solver learn."""
    names = asdict(Recipe())
    return Recipe(**{name: getattr(config, name) for name in names})


def planned_steps(config: SolverConfig) -> int:
    """The rounds that will be played."""
    return config.rounds * config.batches * len(config.players)


def train(
    config: SolverConfig, folder: Path, advance: Callable[[int], None] = lambda rounds: None
) -> Solver:
    """Learn, saving the tables into the folder now and then, at the end, and when interrupted.

    Args:
        config: what to do.
        folder: the run's folder; gets `solver.npz`, `solver.json` (its card, for people) and
            `training.csv`, the mean error of a choice by batch.
        advance: called with the number of rounds played since the last call.

    Raises:
        KeyboardInterrupt: as it came, once the tables are saved.
    """
    curve = io.StringIO()
    writer = csv.writer(curve, lineterminator="\n")
    writer.writerow(["seats", "batch", "error", "seconds"])
    learners: dict[int, Learner] = {}
    start = time.monotonic()
    try:
        for seats in config.players:
            learner = learners[seats] = Learner(
                config.resolved_rules(),
                seats,
                recipe_of(config),
                seed=config.seed,
                opponents=config.opponents,
                threads=config.threads,
            )
            for batch in range(config.batches):
                error = learner.learn()
                seconds = time.monotonic() - start
                writer.writerow([seats, batch, f"{error:.5f}", f"{seconds:.1f}"])
                advance(config.rounds)
                if batch % config.save_every == config.save_every - 1:
                    save(learners, config, folder)
    finally:
        solver = save(learners, config, folder)
        write_text(folder / "training.csv", curve.getvalue())
    return solver


def save(learners: dict[int, Learner], config: SolverConfig, folder: Path) -> Solver:
    """Write the solver and its card."""
    elsewhere = {"name", "runs", "benchmark", "threads", "save_every"}  # the tables are the same
    recipe = {key: value for key, value in asdict(config).items() if key not in elsewhere}
    card = {
        "algorithm": config.algorithm,
        "batches": {str(seats): learner.batch for seats, learner in learners.items()},
        "config": json.loads(json.dumps(recipe)),
    }
    solver = solver_of(learners, config.name, card)
    write_bytes(folder / SOLVER_FILE, solver.to_bytes())
    about = {"rules": solver.rules.to_dict(), "turns": solver.turns, "ramp": solver.ramp, **card}
    write_text(folder / "solver.json", json.dumps(about, indent=1) + "\n")
    return solver
