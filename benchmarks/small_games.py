"""Rounds that are small enough to enumerate, and what is known about them exactly.

``python -m benchmarks.small_games`` learns each by `information: seen`, measures exploitability by
full enumeration, asks the bots and the solver by classes for theirs, and holds what every exploiter
of the suite gains against the true best response. ``--picture FILE`` draws the curves.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from agents.evaluation import figures
from agents.evaluation.chart import png
from agents.evaluation.exact import Enumeration
from agents.training.solver.seeing import SeenLearner, profile_of
from thirtyone_env import Rules, game
from thirtyone_env.tree import Tree

CARDS = "As Ks 9s Ah Kh 9h Qd 9d"


def small_game(
    preset: str, known: str, max_turns: int = 4, cards: str = CARDS, seats: int = 2
) -> Tree:
    """A round of few turns of a short deck; some of the cards dealt are known to all."""
    rules = Rules.preset(preset, max_turns=max_turns)
    deck, first = (tuple(game.checked_deck(rules, text)) for text in (cards, known))
    return Tree(rules, seats, one_round=True, cards=deck, deck=first)


GAMES: dict[str, Tree] = {
    "danish": small_game("danish", "As Ah Ks Kh"),
    "danish, 2 turns, 2 known": small_game("danish", "As Ah", 2),
    "swedish": small_game("swedish", "Ah 9d Ks Kh"),
    "dutch": small_game("dutch", "As Qd Ks 9h"),
    "danish, 3 players": small_game(
        "danish", "As Ah Ad Ks Kh Kd 9s", 3, "As Ks 9s Ah Kh 9h Ad Kd 9d Qd Qs", 3
    ),
}
"""Games by name. With three at the table nothing promises an equilibrium: it is measured only."""


def curve_of(exact: Enumeration, rounds: int, batches: int, seed: int) -> dict[int, float]:
    """Exploitability by rounds learned, after batches 1, 2, 4, 8 …, lives a round."""
    tree, found = exact.tree, {}
    learner = SeenLearner(tree.rules, tree.num_players, seed=seed, cards=tree.cards, deck=tree.deck)
    for batch in range(1, batches + 1):
        learner.learn(rounds)
        if batch & (batch - 1) == 0:
            profile = profile_of(exact, learner.solver("small", {}))
            found[learner.rounds] = exact.exploitability(profile)
    return found


def picture(curves: Mapping[str, Mapping[int, float]]) -> bytes:
    """The curves as PNG."""
    above = {name: {k: v for k, v in curve.items() if v > 0} for name, curve in curves.items()}
    return png(figures.falling(above, "exploitability, lives a round", "rounds learned"))


def main() -> None:
    """Measure, print a table, and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=500, help="rounds of a batch")
    parser.add_argument("--batches", type=int, default=256)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--picture", type=Path, help="draw the curves into this file (PNG)")
    given = parser.parse_args()
    curves: dict[str, dict[int, float]] = {}
    sys.stdout.write(
        "| game | nodes | information sets | random play | rounds | exploitability |\n"
    )
    sys.stdout.write("| --- | ---: | ---: | ---: | ---: | ---: |\n")
    for name, tree in GAMES.items():
        exact = Enumeration(tree)
        curves[name] = curve_of(exact, given.rounds, given.batches, given.seed)
        size = f"{len(exact.parent):,} | {len(exact.keys):,}"
        random = exact.exploitability(exact.uniform())
        for rounds, value in curves[name].items():
            words = f"| {name} | {size} | {random:.3f} | {rounds:,} | {value:.6f} |\n"
            sys.stdout.write(words)
            sys.stdout.flush()
    if given.picture is not None:
        given.picture.write_bytes(picture(curves))


if __name__ == "__main__":
    main()
