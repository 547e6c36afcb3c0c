"""The league: who sits on the other seats, and how often.

Members are the panel (bots and saved policies, the same from start to end) and snapshots: copies of
the learner's weights at some moment, which nothing changes later. Member numbers are those of the
panel first, then one for each place in the pool; a place is used again when no match needs it.

Shapes: `M` members, `V` variants (rules and number of seats of a table), `P` numbers of a network.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from agents.evaluation.equilibrium import symmetric_equilibrium
from agents.evaluation.match import lone, play
from agents.policies import DecidingPolicy, NetworkPolicy, TablePolicy, make
from agents.policies.storage import FILE_NAME
from thirtyone_env import Rules

Sampling = Literal["uniform", "prioritised", "nash"]
Variant = tuple[Rules, int]
MEMORY = 0.95
"""Share of the counts of matches that is left after a roll-out."""
DOUBT = 4.0
"""Matches won and lost that are added to the counts of a member."""
FLOOR = 0.05
"""Least weight of a member that the learner always beats, where one it loses to has 1."""
TREMBLE = 0.1
"""Share of the matches that is spread over all members in an equilibrium mixture."""
MATRIX_DEALS = 200
"""Deals of a pairing in the payoff matrix."""


class League:
    """The panel, the snapshots, and the chances of being drawn.

    Args:
        panel: bots by name and saved policies by path, with their weights.
        variants: the tables that there are; a member of the panel plays where it can.
        self_play: share of the matches in which all seats are the learner.
        snapshot_play: share of the matches against snapshots, when there are some.
        sampling: how members are drawn within these shares.
        capacity: most snapshots.
        seed: of the deals of the payoff matrix.
        members: policies that names of the panel stand for, where they are no bots or paths.

    Raises:
        ValueError: for a member that no table can be played with, or a table without opponents.
    """

    def __init__(
        self,
        panel: Mapping[str, float],
        variants: Sequence[Variant],
        *,
        self_play: float = 0.5,
        snapshot_play: float = 0.25,
        sampling: Sampling = "uniform",
        capacity: int = 16,
        seed: int = 0,
        members: Mapping[str, TablePolicy] | None = None,
    ) -> None:
        self.names = list(panel)
        known = members or {}
        self.policies = [known[name] if name in known else make(name) for name in panel]
        self.weights = np.array([panel[name] for name in self.names], float)
        self.variants = tuple(variants)
        self.self_play, self.snapshot_play = self_play, snapshot_play
        self.sampling, self.capacity, self.seed = sampling, capacity, seed
        self.plays = np.array([[_can(p, v) for p in self.policies] for v in self.variants], bool)
        self.plays = self.plays.reshape(len(self.variants), len(self.names))
        self._check()
        places = 2 * capacity + 2
        self.pool: np.ndarray = np.zeros((places, 0), np.float32)
        self.steps = np.full(places, -1)  # of the snapshot in each place
        self.active = np.zeros(places, bool)  # it is drawn for new matches
        self.last = 0  # steps of the newest snapshot
        count = len(self.names) + places
        self.played, self.won = np.zeros(count), np.zeros(count)
        self.payoffs = np.full((count, count), np.nan)
        self.mixture = np.zeros(count)

    def _check(self) -> None:
        if self.self_play >= 1:
            return
        for name, policy, fits in zip(self.names, self.policies, self.plays.T, strict=True):
            if not fits.any():
                try:
                    policy.check(*self.variants[0])
                except ValueError as error:
                    raise ValueError(f"opponents: {error}") from error
                raise ValueError(f"opponents: {name} cannot play at any of these tables")
        for (rules, size), fits in zip(self.variants, self.plays, strict=True):
            if not (self.weights[fits] > 0).any():
                name = rules.preset_name or "house rules"
                raise ValueError(f"nobody of the panel can play {name} at a table of {size}")

    # --- members ---------------------------------------------------------------------------------

    def name_of(self, member: int) -> str:
        """What a member is called."""
        if member < len(self.names):
            return self.names[member]
        return f"snapshot:{self.steps[member - len(self.names)]}"

    @property
    def members(self) -> np.ndarray:
        """int64: the numbers of those that can be drawn."""
        return np.concatenate(
            [np.arange(len(self.names)), len(self.names) + np.flatnonzero(self.active)]
        )

    def add(self, params: np.ndarray, steps: int, in_use: np.ndarray) -> int:
        """Take a copy of the learner's weights into the pool.

        Where the pool is full, the snapshot leaves it whose neighbours in time are nearest to each
        other for its age: old ones thin out, the first and the newest stay.

        Args:
            params: float32[P].
            steps: that it has learned for.
            in_use: member numbers that sit at tables, whose places cannot be used.

        Returns:
            The new member's number.
        """
        if self.pool.shape[1] == 0:
            self.pool = np.zeros((len(self.steps), len(params)), np.float32)
        order = np.flatnonzero(self.active)[np.argsort(self.steps[self.active])]
        if len(order) >= self.capacity:
            age = steps - self.steps[order[1:]] + 1
            ends = np.append(self.steps[order[2:]], steps)
            gaps = (ends - self.steps[order[:-1]]) / age if len(order) > 1 else np.zeros(0)
            leaving = order[1 + int(np.argmin(gaps))] if len(gaps) else order[0]
            self.active[leaving] = False
        taken = np.zeros(len(self.steps), bool)
        used = np.unique(in_use)
        taken[used[used >= len(self.names)] - len(self.names)] = True
        free = np.flatnonzero(~taken & ~self.active)
        if not free.size:
            free = np.array([self._grow()])
        place = int(free[0])
        self.pool[place] = params
        self.steps[place], self.active[place], self.last = steps, True, steps
        member = len(self.names) + place
        self.played[member] = self.won[member] = 0
        self.payoffs[member] = self.payoffs[:, member] = np.nan
        return member

    def _grow(self) -> int:
        """One more place, where matches last so long that all are in use."""
        place, members = len(self.steps), len(self.played)
        self.pool = np.concatenate([self.pool, np.zeros_like(self.pool[:1])])
        self.steps, self.active = np.append(self.steps, -1), np.append(self.active, False)
        self.played, self.won = np.append(self.played, 0.0), np.append(self.won, 0.0)
        self.mixture = np.append(self.mixture, 0.0)
        payoffs = np.full((members + 1, members + 1), np.nan)
        payoffs[:members, :members] = self.payoffs
        self.payoffs = payoffs
        return place

    # --- results ---------------------------------------------------------------------------------

    def count(self, members: np.ndarray, scores: np.ndarray) -> None:
        """Matches of the learner against members, scores from 0 (lost) to 1 (won)."""
        np.add.at(self.played, members, 1.0)
        np.add.at(self.won, members, scores)

    def fade(self) -> None:
        """Let older matches count less."""
        self.played *= MEMORY
        self.won *= MEMORY

    @property
    def scores(self) -> np.ndarray:
        """float64[M]: the learner's recent score against each member, ½ where nothing is known."""
        return (self.won + DOUBT / 2) / (self.played + DOUBT)

    def measure(
        self, policy_of: Callable[[np.ndarray, str], NetworkPolicy], workers: int = 1
    ) -> None:
        """Fill the payoff matrix up at the first table, and find its equilibrium mixture.

        Row i, column j is what i gets alone among copies of j; no generator of the training is
        drawn from.
        """
        rules, size = self.variants[0]
        members = [m for m in self.members if m >= len(self.names) or self.plays[0, m]]
        for i in members:
            for j in members:
                if np.isnan(self.payoffs[i, j]):
                    if i == j:
                        self.payoffs[i, j] = 0.0
                        continue
                    line_up = lone(self._policy(i, policy_of), self._policy(j, policy_of), size)
                    found = play(
                        line_up, rules=rules, deals=MATRIX_DEALS, seed=self.seed, workers=workers
                    )
                    self.payoffs[i, j] = found.payoffs[:, :, 0].mean()
                    if size == 2:
                        self.payoffs[j, i] = -self.payoffs[i, j]
        shares = symmetric_equilibrium(self.payoffs[np.ix_(members, members)]).shares
        self.mixture[:] = 0
        self.mixture[members] = shares

    def _policy(
        self, member: int, policy_of: Callable[[np.ndarray, str], NetworkPolicy]
    ) -> TablePolicy:
        if member < len(self.names):
            return self.policies[member]
        return policy_of(self.pool[member - len(self.names)], self.name_of(member))

    # --- chances ---------------------------------------------------------------------------------

    def chances(self) -> np.ndarray:
        """float64[V, M]: how likely a seat of an opponent is each member's."""
        weights = np.zeros((len(self.variants), len(self.played)))
        panel = len(self.names)
        share = self.snapshot_play / (1 - self.self_play) if self.self_play < 1 else 0.0
        share = share if self.active.any() else 0.0
        for variant, fits in enumerate(self.plays):
            mine = weights[variant]
            mine[:panel][fits] = self.weights[fits]
            mine[panel:][self.active] = 1.0
            if self.sampling == "prioritised":
                mine *= FLOOR + (1 - FLOOR) * (1 - self.scores) ** 2
            if self.sampling == "nash" and (self.mixture * (mine > 0)).any():
                mixed = self.mixture * (mine > 0)
                mine[:] = (1 - TREMBLE) * mixed / mixed.sum() + TREMBLE * mine / mine.sum()
                continue
            for part, wanted in ((mine[:panel], 1 - share), (mine[panel:], share)):
                if part.sum() > 0:
                    part *= wanted / part.sum()
        total = weights.sum(axis=1, keepdims=True)
        return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)

    # --- saving ----------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All that moves, as arrays."""
        return {"last": self.last, **{name: getattr(self, name).copy() for name in _MOVING}}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of a league with the same panel."""
        self.last = int(state["last"])
        for name in _MOVING:
            setattr(self, name, np.array(state[name]))

    def save(self, folder: Path, policy_of: Callable[[np.ndarray, str], NetworkPolicy]) -> None:
        """Write each snapshot into a folder of its own, named by its steps; take away the others.

        Raises:
            OSError: if something cannot be written.
        """
        kept = {f"{self.steps[place]:012d}": place for place in np.flatnonzero(self.active)}
        folder.mkdir(exist_ok=True)
        for name, place in kept.items():
            if not (folder / name / FILE_NAME).exists():  # a process may be killed in between
                (folder / name).mkdir(exist_ok=True)
                policy_of(self.pool[place], f"snapshot:{self.steps[place]}").save(folder / name)
        for path in folder.iterdir():
            if path.name.isdigit() and path.name not in kept:
                shutil.rmtree(path)


_MOVING = ("pool", "steps", "active", "played", "won", "payoffs", "mixture")


def _can(policy: TablePolicy, variant: Variant) -> bool:
    """Whether a policy can play at a table."""
    try:
        policy.check(*variant)
    except ValueError:
        return False
    return True


def deciding(policy: TablePolicy) -> DecidingPolicy:
    """The same policy, known to be asked."""
    return cast(DecidingPolicy, policy)
