"""The game tree: true chances, nothing hidden in it, perfect recall, and the engine's own game."""

from __future__ import annotations

import functools
import itertools
from collections import Counter, defaultdict

import numpy as np
import pytest

from tests.env.helpers import EVERY_TABLE, cards_on_table, content, generator
from tests.env.trees import Mirror, children, random_path, small_trees, walk
from thirtyone_env import PRESETS, Rules, game
from thirtyone_env.cards import NAMES, cards_of
from thirtyone_env.tree import DEAL, LOT, Node, Tree

SMALL = small_trees()


@functools.cache
def nodes(name: str) -> list[tuple[Node, tuple[int, ...]]]:
    return list(walk(SMALL[name].root()))


def replay(tree: Tree, path: list[int]) -> Node:
    node = tree.root()
    for action in path:
        node = node.after(action)
    return node


# --- chance -------------------------------------------------------------------------------------


def test_every_deal_is_as_likely():
    """All 8 · 7 · 6 ⋅⋅⋅ ways to deal two hands and an upcard, each as a set."""
    chances: Counter[tuple[int, int, int]] = Counter()

    def deal(node: Node, chance: float) -> None:
        if node.move != DEAL:
            hands = node.states["hands"][0]
            chances[int(hands[0]), int(hands[1]), int(node.states["upcard"][0])] += chance
            return
        for card, share in node.outcomes():
            deal(node.after(card), chance * share)

    deal(SMALL["whole deal"].root(), 1.0)
    assert len(chances) == 56 * 10 * 2
    np.testing.assert_allclose(list(chances.values()), 1 / 1120)


@pytest.mark.parametrize("name", SMALL)
def test_chances_sum_to_one(name):
    for node, _ in nodes(name):
        if node.is_chance:
            cards, chances = zip(*node.outcomes(), strict=True)
            assert list(cards) == sorted(set(cards))
            assert min(chances) > 0
            assert sum(chances) == pytest.approx(1, abs=1e-12)


def test_a_card_of_the_stock_comes_with_equal_chance():
    tree = Tree(PRESETS["danish"], 3, dealer=2)
    node = tree.root()
    while node.is_chance:
        node = node.after(node.outcomes()[0][0])
    drawing = node.after(0)
    cards, chances = zip(*drawing.outcomes(), strict=True)
    held = {card for hand in node.states["hands"][0] for card in cards_of(hand)}
    assert len(cards) == 52 - 10
    assert set(chances) == {1 / 42}
    assert not held & set(cards)


def test_the_first_dealer_is_drawn_or_given():
    root = Tree(PRESETS["danish"], 5).root()
    assert root.move == LOT
    assert root.outcomes() == [(seat, 0.2) for seat in range(5)]
    assert replay(Tree(PRESETS["danish"], 5), [3, 0, 1, 2]).cards == (0, 1, 2)
    assert Tree(PRESETS["danish"], 5, dealer=3).root().move == DEAL


@pytest.mark.parametrize(("preset", "seats"), EVERY_TABLE)
def test_the_engines_randomness_is_never_used(preset, seats, monkeypatch):
    rng = generator("seeds", preset, seats)
    tree = Tree(PRESETS[preset], seats)
    end, path = random_path(tree.root(), rng)
    prepare = game.prepare
    monkeypatch.setattr(game, "prepare", lambda *a, **k: prepare(*a, seed=12345, match=6, **k))
    other = replay(tree, path)
    for field in end.states.dtype.names:
        if field not in ("seed", "match", "stream", "policy_streams"):
            assert content(end.states[field]) == content(other.states[field]), field
    assert [end.history(s) for s in range(seats)] == [other.history(s) for s in range(seats)]


# --- the engine's game --------------------------------------------------------------------------


def follow(
    rules: Rules, seats: int, rng: np.random.Generator, one_round: bool, patience: float = 0.0
) -> int:
    """A match of the engine with its own cards, on the tree: equal at every decision.

    Returns how often cards were shuffled again in it.
    """
    reshuffles = 0
    mirror = Mirror(rules, seats, int(rng.integers(1 << 60)), one_round)
    node, states = mirror.tree.root(), mirror.recorder.states
    while not mirror.recorder.over:
        for action in mirror.go_on(rng, patience):
            node = node.after(action)
        reshuffles += int(states["reshuffles"][0] > 0)
        if not node.is_chance:
            assert node.is_over == mirror.recorder.over
            assert node.is_over or node.legal_actions() == game.legal_actions(states)
            for seat in range(seats):
                seen = game.observe(node.states, seat)
                assert (seen == game.observe(states, seat)).all()
            assert sorted(cards_on_table(node.states)) == sorted(cards_on_table(states))
    assert node.is_over
    for kind in game.RESULT_KINDS:
        start = game.payoffs(game.prepare(rules, seats), kind)
        assert (node.payoffs(kind) == game.payoffs(states, kind) - start).all()
    return reshuffles


@pytest.mark.parametrize(("preset", "seats"), EVERY_TABLE)
def test_the_tree_is_the_engines_game(preset, seats):
    rng = generator("mirror", preset, seats)
    follow(PRESETS[preset], seats, rng, one_round=False)
    follow(PRESETS[preset], seats, rng, one_round=True)


@pytest.mark.parametrize("preset", ["schwimmen_german", "danish_reshuffle"])
def test_reshuffled_cards_come_by_chance(preset):
    rng = generator("reshuffles", preset)
    rules = Rules.preset(preset, low_rank=9, first_turn_knock=False, max_rounds=4)
    assert sum(follow(rules, 2, rng, False, patience=0.95) for _ in range(8)) > 10


# --- what players know --------------------------------------------------------------------------


@pytest.mark.parametrize("name", SMALL)
def test_information_sets_have_perfect_recall(name):
    """Where a seat cannot tell two nodes apart, it could not before, did the same, and may too."""
    may: dict[tuple[int, str], list[int]] = {}
    did: dict[tuple[int, str], tuple[str, int] | None] = {}
    # By the actions that lead to a node: each seat's last decision, and where it was taken.
    last: dict[tuple[int, ...], dict[int, tuple[str, int]]] = {}
    for node, path in nodes(name):
        before = last.get(path, {})
        if node.is_chance or node.is_over:
            last |= {(*path, action): before for action in ([] if node.is_over else children(node))}
            continue
        seat, seen, legal = node.seat, node.history(node.seat), node.legal_actions()
        assert may.setdefault((seat, seen), legal) == legal
        assert did.setdefault((seat, seen), before.get(seat)) == before.get(seat)
        last |= {(*path, action): {**before, seat: (seen, action)} for action in legal}
    assert 50 < len(may) < sum(not node.is_chance for node, _ in nodes(name)) / 2


@pytest.mark.parametrize("name", SMALL)
def test_what_is_seen_now_follows_from_what_was_seen(name):
    """Equal histories give equal observations: a history holds all that the observation shows."""
    shown: dict[tuple[int, str], bytes] = {}
    for node, _ in nodes(name):
        if not node.is_chance:
            for seat in range(2):
                seen = game.observe(node.states, seat).tobytes()
                assert shown.setdefault((seat, node.history(seat)), seen) == seen


def test_histories_leave_the_hidden_cards_open():
    """First to act, with four of eight cards seen: the other hand is three of the other four."""
    possible: dict[str, set[int]] = defaultdict(set)
    for node, _ in nodes("whole deal"):
        if not node.is_chance and len(node.seen) == 1:
            possible[node.history(1)].add(int(node.states["hands"][0, 0]))
    assert len(possible) == 56 * 5
    assert {len(hands) for hands in possible.values()} == {4}


def relabel(tree: Tree, path: list[int], one: int, other: int) -> Node | None:
    """The same play with two cards exchanged in what chance did; None where that cannot be."""
    swap = {one: other, other: one}
    node, left = tree.root(), list(path)
    while left:
        if not node.is_chance or node.move == LOT:
            action = left.pop(0)
            if not node.is_chance and action not in node.legal_actions():
                return None
            node = node.after(action)
            continue
        sizes = [len(group) for group in node.places]
        cards, left = left[: sum(sizes)], left[sum(sizes) :]
        starts = [0, *itertools.accumulate(sizes)]
        for start, size in zip(starts, sizes, strict=False):
            for card in sorted(swap.get(c, c) for c in cards[start : start + size]):
                node = node.after(card)
    return node


@pytest.mark.parametrize("preset", PRESETS)
def test_exchanging_two_unseen_cards_changes_nothing_for_a_seat(preset):
    rng = generator("unseen", preset)
    checked = 0
    for _ in range(25):
        tree = Tree(PRESETS[preset], 3, one_round=True)
        _, path = random_path(tree.root(), rng)
        cut = int(rng.integers(10, len(path) + 1))
        node = replay(tree, path[:cut])
        if node.is_chance or node.is_over:
            continue
        seat = int(rng.integers(3))
        unseen = [card for card in tree.cards if NAMES[card] not in node.history(seat)]
        one, other = rng.choice(unseen, 2, replace=False)
        twin = relabel(tree, path[:cut], int(one), int(other))
        if twin is None or twin.is_chance or twin.is_over or twin.seat != node.seat:
            continue
        public = [(n.states["dealt_blitz"][0], len(n.seen)) for n in (node, twin)]
        if public[0] != public[1]:
            continue
        checked += 1
        assert twin.history(seat) == node.history(seat)
        assert (game.observe(twin.states, seat) == game.observe(node.states, seat)).all()
        if seat == node.seat:
            assert twin.legal_actions() == node.legal_actions()
    assert checked >= 3


def test_hands_are_shown_where_they_are_compared():
    tree = Tree(PRESETS["finnish"], 2, one_round=True, dealer=0)
    deck = tuple(game.checked_deck(tree.rules, "2h As 3h Ks 4s Qs"))
    blitz = Tree(PRESETS["finnish"], 2, one_round=True, dealer=0, deck=deck).root()
    while blitz.is_chance:
        blitz = blitz.after(blitz.outcomes()[0][0])
    assert blitz.is_over
    assert "end dealt_blitz, 0 has Qs Ks As, lives 3 2" in blitz.history(1)
    assert "2h" not in blitz.history(0)


# --- nodes --------------------------------------------------------------------------------------


def test_nodes_never_change():
    rng = generator("nodes")
    node = SMALL["reshuffle"].root()
    while not node.is_over:
        before = content(node.states), node.seen, node.cards
        following = [
            node.after(a)
            for a in (dict(node.outcomes()) if node.is_chance else node.legal_actions())
        ]
        assert (content(node.states), node.seen, node.cards) == before
        node = following[int(rng.integers(len(following)))]


def test_the_cards_in_use_may_be_fewer():
    tree = SMALL["draw"]
    for node, _ in nodes("draw"):
        if node.has_begun:
            assert sorted(cards_on_table(node.states)) == list(tree.cards)


def test_a_known_deck_leaves_nothing_to_chance():
    deck = tuple(game.checked_deck(Rules(), "2h 2s 3h 3s 4s 9c Kd Td 5c"))
    node = Tree(PRESETS["danish"], 2, dealer=0, deck=deck).root()
    assert not node.is_chance
    drawn = node.after(0).after(9 + game.checked_deck(Rules(), "2h")[0])
    assert "Td" in node.after(0).history(1)
    assert "5c" in drawn.after(0).history(0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cards": (0, 1, 2)}, "cards: 3 are too few; this game needs 8"),
        ({"cards": tuple(range(8)), "deck": (20,)}, "deck: 9d is not among the cards in use"),
        ({"deck": (52,)}, "X1 is not in a deck of 52 cards"),
        ({"dealer": 2}, "dealer = 2 is not allowed"),
        ({"lives": (1,)}, "lives = "),
    ],
)
def test_bad_values_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Tree(PRESETS["danish"], 2, **options)


def test_what_cannot_come_is_refused():
    root = Tree(PRESETS["danish"], 2, dealer=0).root()
    with pytest.raises(ValueError, match="no outcome"):
        root.after(60)
    with pytest.raises(ValueError, match="no outcome"):
        root.after(5).after(4)
    node = SMALL["draw"].root()
    while node.is_chance:
        node = node.after(node.outcomes()[0][0])
    with pytest.raises(ValueError, match="legal: draw_stock, take_upcard, knock"):
        node.after(8)
