"""Training when to knock, round by round, against opponents drawn anew for every match.

Shapes: `B` rows, `K` size of the compact observation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from gymnasium import spaces

from thirtyone_env.adapters.sb3.batch import BatchVecEnv
from thirtyone_env.arena import COMPACT_SIZE, Tables, controller
from thirtyone_env.bots import DRAWS
from thirtyone_env.checks import check_choice
from thirtyone_env.rules import MAX_SEATS, Rules, resolve_rules
from thirtyone_env.state import STATE

_LAYOUT = hashlib.sha256(repr(STATE.descr).encode()).hexdigest()[:16]


class KnockVecEnv(BatchVecEnv):
    """`B` tables side by side, each with one learner and opponents drawn anew for every match.

    The learner's seat, the opponents and the cards of a match follow from `seed` and the order in
    which matches start; every seat is equally likely.

    Args:
        rows: number of tables `B`.
        opponents: names of kernel bots and how often each is drawn, relative to the others.
        players: seat counts; the rows are dealt out to them in turn.
        rules: name of a preset, a mapping with house rules, or `Rules`.
        copies: probability that all opponents of a match are copies of one bot.
        reward: the running payoff whose changes are the rewards: "equity" (chance of winning the
            match given the lives, scaled like a payoff) or "lives".
        reward_scale: factor on the rewards.
        draws: the rule that draws and discards for the learner, a name of `bots.DRAWS`.
        seed: start of all randomness.

    Raises:
        ValueError: for an unknown bot, preset, rule or seat count.
    """

    tables: Tables
    """The matches."""

    def __init__(
        self,
        rows: int,
        opponents: Mapping[str, float],
        *,
        players: Sequence[int] = (2,),
        rules: str | Mapping[str, Any] | Rules = "danish",
        copies: float = 0.5,
        reward: Literal["equity", "lives"] = "equity",
        reward_scale: float = 1.0,
        draws: str = "greedy",
        seed: int = 0,
    ) -> None:
        check_choice("draws", draws, tuple(DRAWS))
        super().__init__(
            rows,
            spaces.Box(-np.inf, np.inf, (COMPACT_SIZE,), np.float32),
            spaces.Discrete(2),
        )
        self.rules = resolve_rules(rules)
        self.copies = copies
        self.reward = reward
        self.reward_scale = reward_scale
        self.draws = draws
        self._rows = np.arange(rows)
        self._players = np.resize(np.asarray(players, np.int64), rows)
        self._learner = np.zeros(rows, np.int64)
        self._paid = np.zeros(rows)
        self._round = np.zeros(rows, np.int64)
        self._seen = np.zeros((rows, COMPACT_SIZE), np.float32)
        self._nothing: dict[str, Any] = {}
        self._actions = np.zeros(rows, np.int64)
        self.set_opponents(opponents)
        self._restart(seed)

    def set_opponents(self, opponents: Mapping[str, float]) -> None:
        """Change the mixture of bots; matches in progress keep the opponents they started with."""
        weights = np.array(list(opponents.values()), float)
        if weights.size == 0 or (weights < 0).any() or not weights.sum() > 0:
            raise ValueError("opponents need weights of at least 0, and one above 0")
        for name in opponents:
            controller(name)
        self._opponents = np.array(list(opponents))
        self._chances = np.cumsum(weights / weights.sum())

    def reset(self) -> np.ndarray:
        """Start a new match in every row and return float32[B, K]."""
        self._deal(self._rows)
        return self.tables.observe("compact")

    def step_async(self, actions: np.ndarray) -> None:
        """Keep int[B] for the next `step_wait`."""
        self._actions = np.asarray(actions, np.int64)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Play one decision a row.

        Returns:
            Observations float32[B, K], rewards float32[B], flags bool[B], and one dictionary a row.
            Rows in the middle of a round share one empty dictionary. A finished row has its own,
            with the last decision's observation as "terminal_observation": a round ends between
            decisions, so there is nothing later to be seen of it.
        """
        tables = self.tables
        tables.act(self._actions)
        over = tables.over
        dones = over | (tables.rounds != self._round)
        ended = np.flatnonzero(dones)
        before = self._paid[ended]
        self._settle(ended)  # lives change at the end of a round only
        rewards = np.zeros(self.num_envs, np.float32)
        rewards[ended] = (self._paid[ended] - before) * self.reward_scale
        infos = [self._nothing] * self.num_envs
        for row in ended:
            infos[row] = {"terminal_observation": self._seen[row]}
        if over.any():
            self._deal(np.flatnonzero(over))
        self._round = tables.rounds
        self._seen = tables.observe("compact")
        return self._seen.copy(), rewards, dones, infos

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Start all randomness anew at the next `reset`; None keeps it as it is."""
        if seed is not None:
            self._restart(seed)
        return [seed] * self.num_envs

    def state(self) -> dict[str, Any]:
        """Everything that decides how it goes on, for `restore`: arrays, and values for JSON."""
        controllers = self.tables.states["controllers"]
        entries = np.unique(controllers["entry"])
        states = np.ascontiguousarray(self.tables.states)
        return {
            "layout": _LAYOUT,
            "states": states.view(np.uint8).reshape(self.num_envs, -1).copy(),
            "bots": [[int(e), self.tables.book.name_of(int(e))] for e in entries if e > 0],
            "opponents": self._opponents.tolist(),
            "chances": self._chances.copy(),
            "learner": self._learner.copy(),
            "paid": self._paid.copy(),
            "next_match": self._next_match,
            "random": self._rng.bit_generator.state,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on as the environment did that gave the state, bit by bit.

        Args:
            state: from `state` of an environment of the same options.

        Raises:
            ValueError: if it is of another version of the environment, or of other rows.
        """
        if state["layout"] != _LAYOUT:
            raise ValueError("the matches were saved by another version of the environment")
        states = np.ascontiguousarray(state["states"], np.uint8)
        if states.shape != (self.num_envs, STATE.itemsize):
            raise ValueError(f"{len(states)} rows were saved; this environment has {self.num_envs}")
        self.tables.states[:] = states.view(STATE)[:, 0]
        entries = self.tables.states["controllers"]["entry"].copy()
        for entry, name in state["bots"]:  # its tables may lie elsewhere in the book now
            rows, seats = np.nonzero(entries == entry)
            self.tables.set_controllers(rows, seats, name)
        self._opponents = np.array(state["opponents"])
        self._chances = np.array(state["chances"])
        self._learner[:] = state["learner"]
        self._paid[:] = state["paid"]
        self._next_match = int(state["next_match"])
        self._rng.bit_generator.state = state["random"]
        self._round = self.tables.rounds
        self._seen = self.tables.observe("compact")

    def _restart(self, seed: int) -> None:
        drawing, cards = np.random.SeedSequence(seed).spawn(2)
        self._rng = np.random.Generator(np.random.PCG64(drawing))
        self._next_match = 0
        self.tables = Tables(
            self.rules, self._players, seed=int(cards.generate_state(1)[0]), matches=self._rows
        )
        self._deal(self._rows)

    def _deal(self, rows: np.ndarray) -> None:
        """New matches in these rows, up to the learner's first decision in each."""
        todo = rows
        while todo.size:
            self._seat(todo)
            matches = np.arange(self._next_match, self._next_match + todo.size)
            self._next_match += todo.size
            self.tables.deal(todo, matches)
            self.tables.play(todo)
            todo = todo[self.tables.over[todo]]
        self._settle(rows)
        self._round = self.tables.rounds
        self._seen = self.tables.observe("compact")

    def _seat(self, rows: np.ndarray) -> None:
        """Draw the learner's seat and its opponents for the next match of these rows."""
        drawn = np.searchsorted(self._chances, self._rng.random((rows.size, MAX_SEATS)))
        drawn = np.minimum(drawn, len(self._opponents) - 1)
        same = self._rng.random(rows.size) < self.copies
        drawn[same] = drawn[same, :1]
        players = self._players[rows]
        taken, seats = np.nonzero(np.arange(MAX_SEATS) < players[:, None])
        self.tables.set_controllers(rows[taken], seats, self._opponents[drawn[taken, seats]])
        self._learner[rows] = self._rng.integers(0, players)
        self.tables.set_controllers(rows, self._learner[rows], f"knock:{self.draws}")

    def _settle(self, rows: np.ndarray) -> None:
        """Bring the learners' running payoffs in these rows up to date."""
        payoffs = self.tables.payoffs(self.reward, rows)
        self._paid[rows] = payoffs[np.arange(rows.size), self._learner[rows]]
