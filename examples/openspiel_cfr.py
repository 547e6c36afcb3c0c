"""Solve a small game of Thirty-One with OpenSpiel, then play the large one by tree search.

Two players, one round, a deck of eight cards of which each player's first is known, and at most
two turns before the round is void::

    pip install -c constraints.txt -e '.[openspiel]'
    python examples/openspiel_cfr.py
"""

import numpy as np
import pyspiel
from open_spiel.python.algorithms import cfr, exploitability, external_sampling_mccfr, mcts

import thirtyone_env.adapters.openspiel  # noqa: F401  (registers the game)

SMALL = (
    "python_thirty_one(rules=finnish,episode=round,dealer=0,max_turns=2,"
    "cards=As Ks 9s Ah Kh 9h Qd 9d,deck=As Ah)"
)
LARGE = "python_thirty_one(rules=danish,episode=round,dealer=0)"


def report(name: str, tree: pyspiel.Game, policy: object) -> None:
    """Print how much a policy loses to best responses."""
    lost = exploitability.nash_conv(tree, policy) / 2
    print(f"{name:32} exploitability {lost:.4f} lives")


def solve() -> None:
    """CFR and external-sampling MCCFR on the small game."""
    # A cached tree makes each traversal tens of times faster than a game in Python.
    tree = pyspiel.convert_to_cached_tree(pyspiel.load_game(SMALL))
    solver = cfr.CFRSolver(tree)
    for iteration in range(1, 26):
        solver.evaluate_and_update_policy()
        if iteration in (1, 5, 25):
            report(f"CFR, iteration {iteration}", tree, solver.average_policy())
    sampler = external_sampling_mccfr.ExternalSamplingSolver(tree)
    for iteration in range(1, 1001):
        sampler.iteration()
        if iteration in (100, 1000):
            report(f"MCCFR, iteration {iteration}", tree, sampler.average_policy())


def search(rounds: int, rng: np.random.RandomState) -> None:
    """Tree search against random play, with the whole deck.

    OpenSpiel's search follows the true state, so it knows the hidden cards: its result is what
    a player who sees all cards can reach, not a policy for the game.
    """
    game, won, decisions = pyspiel.load_game(LARGE), 0.0, 0
    rollouts = mcts.RandomRolloutEvaluator(n_rollouts=1, random_state=rng)
    bot = mcts.MCTSBot(game, uct_c=2.0, max_simulations=20, evaluator=rollouts, random_state=rng)
    for _ in range(rounds):
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                cards, chances = zip(*state.chance_outcomes(), strict=True)
                action = int(rng.choice(cards, p=np.array(chances) / sum(chances)))
            else:
                decisions += 1
                player = state.current_player()
                action = bot.step(state) if player == 0 else int(rng.choice(state.legal_actions()))
                assert action in state.legal_actions()
            state.apply_action(action)
        won += state.returns()[0]
    print(f"{'search against random play':32} {won / rounds:+.2f} lives a round")
    print(f"{decisions} steps in {rounds} rounds, no illegal action")


if __name__ == "__main__":
    np.random.seed(0)  # noqa: NPY002 (what OpenSpiel's samplers draw from)
    solve()
    search(30, np.random.RandomState(0))
