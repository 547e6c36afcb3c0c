"""Exact solutions of small games: values by hand, true best responses, an equilibrium."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest

from agents.evaluation.exact import Enumeration, TooLargeError
from tests.env.helpers import generator
from thirtyone_env import Rules, game
from thirtyone_env.actions import KNOCK
from thirtyone_env.tree import Node, Tree


def toy(max_turns: int, known: str = "As Ah Ks Kh", preset: str = "danish") -> Tree:
    """Two players, eight cards, the first cards dealt known to both."""
    rules = Rules.preset(preset, max_turns=max_turns, pass_allowed="never")
    cards = tuple(game.checked_deck(rules, "As Ks 9s Ah Kh 9h Qd 9d"))
    deck = tuple(game.checked_deck(rules, known))
    return Tree(rules, 2, one_round=True, dealer=0, cards=cards, deck=deck)


@functools.cache
def small() -> Enumeration:
    return Enumeration(toy(2))


def value_of_node(node: Node, seat: int, decide) -> float:
    """The payoff by plain recursion; `decide` gives the action of a node."""
    if node.is_over:
        return float(node.payoffs("lives")[seat])
    if node.is_chance:
        return sum(p * value_of_node(node.after(a), seat, decide) for a, p in node.outcomes())
    return value_of_node(node.after(decide(node)), seat, decide)


def test_values_are_those_of_plain_recursion():
    exact = small()
    profile = exact.of_policies(["threshold:25", "swedish"])
    choices = {
        key: exact.actions[n][int(profile[exact.first[n] : exact.first[n + 1]].argmax())]
        for n, key in enumerate(exact.keys)
    }

    def decide(node: Node) -> int:
        return choices[node.seat, node.history(node.seat)]

    root = exact.tree.root()
    wanted = [value_of_node(root, seat, decide) for seat in range(2)]
    np.testing.assert_allclose(exact.values(profile), wanted, atol=1e-12)
    assert sum(wanted) == pytest.approx(0)


def test_a_best_response_is_the_best_of_all_pure_strategies():
    """Seat 1 has few decisions here: each of its strategies is tried."""
    rules = Rules.preset("danish", max_turns=1, pass_allowed="never")
    cards = tuple(game.checked_deck(rules, "As Ks 9s Ah Kh 9h Qd 9d"))
    deck = tuple(game.checked_deck(rules, "As Ah Ks Kh 9s 9h Qd"))
    exact = Enumeration(Tree(rules, 2, one_round=True, dealer=0, cards=cards, deck=deck))
    profile = exact.uniform()
    for seat in range(2):
        mine = [n for n, key in enumerate(exact.keys) if key[0] == seat]
        assert 1 <= len(mine) <= 8
        best = -np.inf
        for picks in itertools.product(*(range(len(exact.actions[n])) for n in mine)):
            tried = profile.copy()
            for n, pick in zip(mine, picks, strict=True):
                tried[exact.first[n] : exact.first[n + 1]] = 0
                tried[exact.first[n] + pick] = 1
            best = max(best, exact.values(tried)[seat])
        assert exact.best_response(profile, seat).value == pytest.approx(best)


def test_a_response_plays_what_it_is_worth():
    exact, rng = small(), generator()
    weights = rng.random(exact.first[-1])
    profile = exact._matched(weights)
    for seat in range(2):
        response = exact.best_response(profile, seat)
        assert exact.values(response.profile)[seat] == pytest.approx(response.value)
        assert response.value >= exact.values(profile)[seat]
        others = exact.seat_of_edge != seat
        np.testing.assert_array_equal(response.profile[others], profile[others])


def test_exploitability_of_an_equilibrium_goes_to_zero():
    exact = small()
    few, many = (exact.exploitability(exact.solve(n)) for n in (20, 400))
    assert exact.exploitability(exact.uniform()) > 0.3
    assert exact.exploitability(exact.of_policies(["never_knock"] * 2)) > 0.1
    assert 0 <= many < few / 4
    assert many < 2e-3


def test_an_information_set_holds_what_its_seat_cannot_tell_apart():
    exact = small()
    _, history = exact.keys[0]
    assert "knock" not in history
    sizes = np.bincount(exact.edge[exact.edge >= 0], minlength=exact.first[-1])
    assert sizes.max() > 1
    for n in range(len(exact.keys)):
        assert len(set(sizes[exact.first[n] : exact.first[n + 1]])) == 1
    assert KNOCK in exact.actions[0]


def test_random_decisions_are_sampled():
    exact = small()
    profile = exact.of_policies(["random", "random"], samples=400)
    assert np.abs(profile - exact.uniform()).max() < 0.12
    np.testing.assert_allclose(np.bincount(exact.set_of_edge, profile), 1)


def test_what_is_no_distribution_is_refused():
    with pytest.raises(ValueError, match="no distribution"):
        small().profile(lambda node: {node.legal_actions()[0]: 0.5})


def test_a_large_game_is_refused():
    with pytest.raises(TooLargeError, match="1,000 nodes"):
        Enumeration(toy(2), max_nodes=1_000)
