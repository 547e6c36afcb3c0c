"""Small games solved exactly: every node, every information set, the true best response.

`Enumeration` walks a tree of `thirtyone_env.tree` once and keeps it as arrays. Everything after
that is sums over edges, level by level: values of a profile, best responses, exploitability, and an
equilibrium by CFR+ (Tammelin, "Solving large imperfect information games using CFR+", 2014).

A *profile* is float64[E], the probability of every decision of every information set; sets belong
to seats, so that one array says what all seats do. Information sets have perfect recall: a set is
all that its seat has seen. They are for games of about a million nodes at most.

Shapes: `N` nodes, parents first; `I` information sets; `E` decisions of all sets, those of one set
together; `S` seats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thirtyone_env.policy import make_bot
from thirtyone_env.tree import Node, Tree

MAX_NODES = 2_000_000
CHANCE = -1
"""The seat of chance, and the edge of what is no decision."""

Deciding = Callable[[Node], Mapping[int, float]]
"""The probability of each decision at a node; what it leaves out is never taken."""


class TooLargeError(ValueError):
    """A game with more nodes than are allowed."""


@dataclass(frozen=True)
class Response:
    """The best that a seat can do against what the others do."""

    value: float
    """Its payoff."""
    profile: np.ndarray
    """float64[E]: the others' decisions as they were, the seat's own the best ones."""


class Enumeration:
    """A game, enumerated.

    Args:
        tree: the game; one round of it, or few, of a short deck (see `Tree`).
        kind: the payoff: "lives", "match" or "equity".
        max_nodes: more are refused.

    Raises:
        TooLargeError: for more nodes than `max_nodes`.
    """

    def __init__(self, tree: Tree, kind: str = "lives", max_nodes: int = MAX_NODES) -> None:
        self.tree = tree
        self.seats = tree.num_players
        self.nodes: list[Node] = []
        """A node of every information set, [I]."""
        self.keys: list[tuple[int, str]] = []
        """Seat and all that it has seen, [I]."""
        self.actions: list[list[int]] = []
        """The legal decisions of every information set, [I]."""
        self._walk(kind, max_nodes)

    def _walk(self, kind: str, max_nodes: int) -> None:
        numbers: dict[tuple[int, str], int] = {}
        first: list[int] = [0]
        depths: list[int] = []
        rows: list[tuple[int, int, int, int, float]] = []
        ends: list[tuple[int, np.ndarray]] = []
        stack = [(self.tree.root(), -1, -1, 0, 1.0)]
        while stack:
            node, parent, edge, depth, chance = stack.pop()
            place = len(rows)
            if place >= max_nodes:
                raise TooLargeError(f"the game has more than {max_nodes:,} nodes")
            seat = CHANCE
            if node.is_over:
                ends.append((place, node.payoffs(kind)[: self.seats]))
            elif node.is_chance:
                for outcome, share in node.outcomes():
                    stack.append((node.after(outcome), place, -1, depth + 1, share))
            else:
                seat = node.seat
                key = (seat, node.history(seat))
                if key not in numbers:
                    numbers[key] = len(numbers)
                    self.nodes.append(node)
                    self.keys.append(key)
                    self.actions.append(node.legal_actions())
                    first.append(first[-1] + len(self.actions[-1]))
                    depths.append(depth)
                number = numbers[key]
                assert depths[number] == depth, "an information set lies on one level"
                for way, action in enumerate(self.actions[number]):
                    stack.append((node.after(action), place, first[number] + way, depth + 1, 1.0))
            rows.append((parent, edge, depth, seat, chance))
        self._keep(rows, ends, first)

    def _keep(
        self,
        rows: list[tuple[int, int, int, int, float]],
        ends: list[tuple[int, np.ndarray]],
        first: list[int],
    ) -> None:
        table = np.array([row[:4] for row in rows], np.int64)
        self.parent, self.edge, depth, self.owner = table.T
        self.chance = np.array([row[4] for row in rows])
        self.first = np.array(first)
        """int64[I + 1]: where the decisions of a set begin."""
        self.set_of_edge = np.repeat(np.arange(len(self.actions)), np.diff(self.first))
        """int64[E]: the set that a decision belongs to."""
        self.seat_of_edge = np.array([key[0] for key in self.keys])[self.set_of_edge]
        """int64[E]: who takes it."""
        self.end_nodes = np.array([place for place, _ in ends])
        self.end_payoffs = np.array([payoffs for _, payoffs in ends])
        """float64[ends, S]."""
        self.mover = np.where(self.parent >= 0, self.owner[self.parent], CHANCE)
        self.levels = [np.flatnonzero(depth == level) for level in range(1, depth.max() + 1)]

    # --- profiles ------------------------------------------------------------------------------

    def uniform(self) -> np.ndarray:
        """The profile of everybody who takes each legal decision as often."""
        return 1.0 / np.diff(self.first)[self.set_of_edge]

    def profile(self, decide: Deciding) -> np.ndarray:
        """The profile of what a function says about a node of every information set.

        Raises:
            ValueError: where its probabilities of legal decisions do not sum to 1.
        """
        result = np.zeros(self.first[-1])
        for number, actions in enumerate(self.actions):
            chances = decide(self.nodes[number])
            part = [chances.get(action, 0.0) for action in actions]
            if min(part) < 0 or abs(sum(part) - 1) > 1e-9:
                raise ValueError(f"{dict(chances)} is no distribution over {actions}")
            result[self.first[number] : self.first[number + 1]] = part
        return result

    def of_policies(self, policies: Sequence[Any], samples: int = 1) -> np.ndarray:
        """The profile of policies or bots, one a seat.

        Args:
            policies: names of kernel bots, or objects with ``choose(states, rows)``.
            samples: how often each is asked at every set; more than once for those that mix.
        """
        result = np.zeros(self.first[-1])
        seats = np.array([key[0] for key in self.keys])
        for seat, policy in enumerate(policies):
            chooser = make_bot(policy) if isinstance(policy, str) else policy
            mine = np.flatnonzero(seats == seat)
            states = np.concatenate([self.nodes[number].states for number in mine])
            rows = np.arange(mine.size)
            streams = np.random.default_rng(seat).integers(1 << 62, size=mine.size)
            states["policy_streams"][rows, seat] = streams
            for _ in range(samples):
                for number, action in zip(mine, chooser.choose(states, rows), strict=True):
                    way = self.actions[number].index(int(action))
                    result[self.first[number] + way] += 1 / samples
        return result

    def joined(self, profiles: Sequence[np.ndarray]) -> np.ndarray:
        """Each seat by a profile of its own, one a seat."""
        return np.choose(self.seat_of_edge, profiles)

    # --- values --------------------------------------------------------------------------------

    def _chances(self, profile: np.ndarray, without: int | None = None) -> np.ndarray:
        """float64[N]: how likely each node follows its parent; 1 after decisions of a seat."""
        chances = np.where(self.edge >= 0, profile[self.edge], self.chance)
        return chances if without is None else np.where(self.mover == without, 1.0, chances)

    def _reach(self, chances: np.ndarray) -> np.ndarray:
        """float64[N]: the product of chances down to each node."""
        reach = np.ones(len(chances))
        for level in self.levels:
            reach[level] = reach[self.parent[level]] * chances[level]
        return reach

    def values(self, profile: np.ndarray) -> np.ndarray:
        """float64[S]: the expected payoffs."""
        reach = self._reach(self._chances(profile))
        result: np.ndarray = reach[self.end_nodes] @ self.end_payoffs
        return result

    def _counterfactual(
        self, profile: np.ndarray, seat: int, best: bool
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """What the decisions of a seat are worth, from the last level up.

        Returns:
            float64[E], the worth of each decision weighted by what the others and chance do to get
            there; float64[E], the profile with the seat's best decisions if `best`; the value.
        """
        chances = self._chances(profile, without=seat)
        reach = self._reach(chances)
        chosen, worth = profile.copy(), np.zeros(len(profile))
        value = np.zeros(len(reach))
        value[self.end_nodes] = self.end_payoffs[:, seat]
        for level in reversed(self.levels):
            own = level[self.mover[level] == seat]
            np.add.at(worth, self.edge[own], reach[own] * value[own])
            if best and own.size:
                self._take_best(chosen, worth, np.unique(self.set_of_edge[self.edge[own]]))
            weights = np.where(self.mover[level] == seat, chosen[self.edge[level]], chances[level])
            np.add.at(value, self.parent[level], weights * value[level])
        return worth, chosen, float(value[0])

    def _take_best(self, chosen: np.ndarray, worth: np.ndarray, sets: np.ndarray) -> None:
        """The first of the best decisions of some information sets."""
        for number in sets:
            first, after = self.first[number], self.first[number + 1]
            chosen[first:after] = 0.0
            chosen[first + int(worth[first:after].argmax())] = 1.0

    def best_response(self, profile: np.ndarray, seat: int) -> Response:
        """The best response of a seat to the others' decisions."""
        _, chosen, value = self._counterfactual(profile, seat, best=True)
        return Response(value, chosen)

    def gains(self, profile: np.ndarray) -> np.ndarray:
        """float64[S]: what each seat would gain by its best response."""
        best = [self.best_response(profile, seat).value for seat in range(self.seats)]
        return np.array(best) - self.values(profile)

    def exploitability(self, profile: np.ndarray) -> float:
        """The mean of `gains` over the seats: 0 in an equilibrium and nowhere else."""
        return float(self.gains(profile).mean())

    def solve(self, iterations: int) -> np.ndarray:
        """The average profile of CFR+, an equilibrium of a game of two in the limit."""
        regrets, total = np.zeros(self.first[-1]), np.zeros(self.first[-1])
        profile = self.uniform()
        for iteration in range(1, iterations + 1):
            for seat in range(self.seats):
                worth, _, _ = self._counterfactual(profile, seat, best=False)
                mean = np.bincount(self.set_of_edge, worth * profile, len(self.actions))
                mine = self.seat_of_edge == seat
                gain = worth - mean[self.set_of_edge]
                regrets = np.where(mine, np.maximum(regrets + gain, 0.0), regrets)
                profile = np.where(mine, self._matched(regrets), profile)
            reach = self._own_reach(profile)
            total += iteration * reach * profile
        return self._matched(total)

    def _matched(self, weights: np.ndarray) -> np.ndarray:
        """Decisions in proportion to their weights; each as likely where all are 0."""
        sums = np.bincount(self.set_of_edge, weights, len(self.actions))[self.set_of_edge]
        return np.where(sums > 0, weights / np.where(sums > 0, sums, 1.0), self.uniform())

    def _own_reach(self, profile: np.ndarray) -> np.ndarray:
        """float64[E]: how likely a seat's own decisions lead to a set."""
        result = np.zeros(len(self.actions))
        for seat in range(self.seats):
            chances = np.where(self.mover == seat, profile[self.edge], 1.0)
            reach = self._reach(chances)
            own = np.flatnonzero(self.mover == seat)
            result[self.set_of_edge[self.edge[own]]] = reach[self.parent[own]]
        return result[self.set_of_edge]
