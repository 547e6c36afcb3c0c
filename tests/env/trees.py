"""What the tests of the game tree share: play on it, and a match of the engine laid over it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from thirtyone_env import Rules, game
from thirtyone_env.actions import DRAW_STOCK, KNOCK, PASS, REFUSE
from thirtyone_env.cards import cards_of
from thirtyone_env.record import Recorder
from thirtyone_env.state import Phase
from thirtyone_env.tree import DEAL, Node, Tree

SMALL_DECK = "As Ks 9s Ah Kh 9h Qd 9d"
SMALL_EXCHANGE_DECK = "As Ks 9s Ah Kh 9h Qd 9d Td"


def small_trees() -> dict[str, Tree]:
    """Games whose trees are walked from end to end."""
    small, exchange = (
        tuple(game.checked_deck(Rules(), deck)) for deck in (SMALL_DECK, SMALL_EXCHANGE_DECK)
    )
    known = tuple(game.checked_deck(Rules(), "As Ah Ks Kh"))
    finnish = Rules.preset("finnish", max_turns=2)
    passing = Rules.preset("danish_reshuffle", max_turns=2)
    schwimmen = Rules.preset("schwimmen_a9", max_turns=1)
    widow = Rules.preset("widow", max_turns=1)
    return {
        "draw": Tree(finnish, 2, one_round=True, dealer=0, cards=small, deck=known),
        "reshuffle": Tree(passing, 2, one_round=True, dealer=1, cards=small, deck=known),
        "whole deal": Tree(
            Rules.preset("finnish", max_turns=1), 2, one_round=True, cards=small, dealer=0
        ),
        "dealer's choice": Tree(
            schwimmen, 2, one_round=True, dealer=0, cards=(*exchange, 8), deck=known
        ),
        "table": Tree(widow, 2, one_round=True, dealer=0, cards=(*exchange, 8), deck=known),
    }


def children(node: Node) -> list[int]:
    """What may follow a node."""
    return [a for a, _ in node.outcomes()] if node.is_chance else node.legal_actions()


def walk(node: Node, path: tuple[int, ...] = ()) -> Iterator[tuple[Node, tuple[int, ...]]]:
    """Every node under one, with the actions that lead to it."""
    yield node, path
    if not node.is_over:
        for action in children(node):
            yield from walk(node.after(action), (*path, action))


def at_random(node: Node, rng: np.random.Generator) -> int:
    """An outcome of chance by its probability, or any legal decision."""
    if not node.is_chance:
        return int(rng.choice(node.legal_actions()))
    outcomes, chances = zip(*node.outcomes(), strict=True)
    return int(rng.choice(outcomes, p=np.array(chances) / sum(chances)))


def random_path(root: Node, rng: np.random.Generator) -> tuple[Node, list[int]]:
    """The end of a random match, and the actions that lead to it."""
    node, path = root, []
    while not node.is_over:
        path.append(at_random(node, rng))
        node = node.after(path[-1])
    return node, path


def turned_up(before: np.ndarray, after: np.ndarray, move: int, order: list[int]) -> list[int]:
    """The cards that a move of the engine turned up, as a tree asks for them."""
    hands = [cards_of(hand) for hand in after["hands"][0]]
    table = cards_of(after["table"][0])
    if move == DEAL:
        dealt = [card for seat in order for card in hands[seat]]
        return dealt + ([] if after["upcard"][0] < 0 else [int(after["upcard"][0])]) + table
    if move in (DRAW_STOCK, REFUSE):
        seat = int(before["seat"][0])
        return cards_of(int(after["hands"][0, seat]) & ~int(before["hands"][0, seat]))
    return table


class Mirror:
    """A match of the engine, with its own cards, and the same match on the tree."""

    def __init__(self, rules: Rules, seats: int, seed: int, one_round: bool = False) -> None:
        states = game.prepare(rules, seats, seed=seed, one_round=one_round)
        self.recorder = Recorder.follow(states, [None] * seats, rules)
        self.recorder.states["one_round"] = one_round
        self.tree = Tree(rules, seats, one_round=one_round)

    def go_on(self, rng: np.random.Generator, patience: float = 0.0) -> list[int]:
        """Play a random decision of the engine or its next deal; the tree's actions for it.

        With some probability, `patience`, a player does not knock, and passes in the exchange
        family: rounds then last until cards are shuffled again.
        """
        states = self.recorder.states
        before, actions = game.clone(states), []
        if states["phase"][0] == Phase.ROUND_OVER:
            self.recorder.deal_round()
            dealer, in_play = int(states["dealer"][0]), int(states["dealt_in"][0])
            seats = self.tree.num_players
            order = [(dealer + 1 + step) % seats for step in range(seats)]
            order = [seat for seat in order if in_play >> seat & 1]
            if before["round_number"][0] < 0:
                actions = [dealer]
            return actions + turned_up(before, states, DEAL, order)
        legal = game.legal_actions(states)
        if rng.random() < patience:
            legal = [action for action in legal if action != KNOCK]
            if self.tree.rules.family == "exchange" and PASS in legal:
                legal = [PASS]
        action = int(rng.choice(legal))
        self.recorder.take(action)
        renewed = states["renewals"][0] > before["renewals"][0]
        chance = renewed or before["phase"][0] == Phase.DEALER or action == DRAW_STOCK
        return [action, *(turned_up(before, states, action, []) if chance else [])]
