"""The algorithm `solver`: tables of what every decision of a round is worth, by self-play."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agents.evaluation import figures
from agents.evaluation.chart import png
from agents.evaluation.exact import Enumeration, TooLargeError
from agents.policies.files import write_bytes, write_text
from agents.policies.tables import SOLVER_FILE
from agents.training.config import SolverConfig
from agents.training.solver.learning import Learner, Recipe, solver_of
from agents.training.solver.seeing import SeenLearner, profile_of
from thirtyone_env.seen import SeenSolver
from thirtyone_env.solvers import Solver
from thirtyone_env.tree import Tree

TITLE = "A solver for whole rounds"
STEPS = "rounds"


def recipe_of(config: SolverConfig) -> Recipe:
    """How a configuration lets a solver learn."""
    names = asdict(Recipe())
    return Recipe(**{name: getattr(config, name) for name in names})


def recipe_in(config: SolverConfig) -> dict[str, Any]:
    """The keys of a configuration that the tables depend on, as plain data."""
    elsewhere = {"name", "runs", "benchmark", "threads", "save_every", "measured_nodes"}
    by_seen = {"information", "cards", "known"} if config.information == "classes" else set()
    left_out = elsewhere | by_seen
    kept = {key: value for key, value in asdict(config).items() if key not in left_out}
    plain: dict[str, Any] = json.loads(json.dumps(kept))
    return plain


def planned_steps(config: SolverConfig) -> int:
    """The rounds that will be played."""
    return config.rounds * sum(config.batches_of(seats) for seats in config.players)


def train(
    config: SolverConfig, folder: Path, advance: Callable[[int], None] = lambda rounds: None
) -> Solver | SeenSolver:
    """Learn, by the information that the configuration says, into a run folder.

    Args:
        config: what to do.
        folder: the run's folder.
        advance: called with the number of rounds played since the last call.

    Raises:
        KeyboardInterrupt: as it came, once the tables are saved.
        TooManySetsError: for a game that is too large for `information: seen`.
    """
    learn = train_seen if config.information == "seen" else train_classes
    return learn(config, folder, advance)


def train_classes(
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
            for batch in range(config.batches_of(seats)):
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
    card = {
        "algorithm": config.algorithm,
        "batches": {str(seats): learner.batch for seats, learner in learners.items()},
        "config": recipe_in(config),
    }
    solver = solver_of(learners, config.name, card)
    write_bytes(folder / SOLVER_FILE, solver.to_bytes())
    about = {"rules": solver.rules.to_dict(), "turns": solver.turns, "ramp": solver.ramp, **card}
    write_text(folder / "solver.json", json.dumps(about, indent=1) + "\n")
    return solver


# --- short games, by all that was seen -----------------------------------------------------------


def train_seen(
    config: SolverConfig, folder: Path, advance: Callable[[int], None] = lambda rounds: None
) -> SeenSolver:
    """Learn a table of information sets, and how exploitable it is where the game is enumerated.

    Args:
        config: what to do.
        folder: the run's folder; gets `solver.npz`, `solver.json`, and where the game has at most
            `measured_nodes` nodes `exploitability.csv` and `exploitability.png`: lives a round by
            rounds learned, after batches 1, 2, 4, 8 … and the last.
        advance: called with the number of rounds played since the last call.

    Raises:
        KeyboardInterrupt: as it came, once the table is saved.
        TooManySetsError: for a game that is too large.
    """
    tree = config.tree()
    cards = tree.cards if config.cards else ()
    learner = SeenLearner(
        tree.rules, tree.num_players, seed=config.seed, cards=cards, deck=tree.deck
    )
    exact = enumerated(tree, config.measured_nodes)
    batches = config.batches_of(tree.num_players)
    found: dict[int, float] = {}
    try:
        for batch in range(1, batches + 1):
            learner.learn(config.rounds)
            advance(config.rounds)
            if exact is not None and (batch & (batch - 1) == 0 or batch == batches):
                profile = profile_of(exact, learner.solver(config.name, {}))
                found[learner.rounds] = exact.exploitability(profile)
    finally:
        if learner.rounds:
            solver = save_seen(learner, config, folder, found)
    if found:
        curves = {config.name: {rounds: value for rounds, value in found.items() if value > 0}}
        picture = figures.falling(curves, "exploitability, lives a round", "rounds learned")
        write_bytes(folder / "exploitability.png", png(picture))
    return solver


def enumerated(tree: Tree, nodes: int) -> Enumeration | None:
    """A game, enumerated; None for one of more nodes."""
    if not nodes:
        return None
    try:
        return Enumeration(tree, max_nodes=nodes)
    except TooLargeError:
        return None


def save_seen(
    learner: SeenLearner, config: SolverConfig, folder: Path, found: Mapping[int, float]
) -> SeenSolver:
    """Write the solver, its card, and how exploitable it was after so many rounds."""
    card = {
        "algorithm": config.algorithm,
        "rounds": learner.rounds,
        "config": recipe_in(config),
        "exploitability": {str(rounds): round(value, 7) for rounds, value in found.items()},
    }
    solver = learner.solver(config.name, card)
    write_bytes(folder / SOLVER_FILE, solver.to_bytes())
    about = {"rules": solver.rules.to_dict(), "information_sets": len(solver.keys), **card}
    write_text(folder / "solver.json", json.dumps(about, indent=1) + "\n")
    if found:
        lines = [f"{rounds},{value:.7f}" for rounds, value in found.items()]
        text = "\n".join(["rounds,exploitability", *lines]) + "\n"
        write_text(folder / "exploitability.csv", text)
    return solver
