"""Thirty-One as a Stable-Baselines3 vector environment in which the learner decides when to knock.

One row is one table. The learner's seat draws and discards by the greedy rule of the kernel; it is
asked only where knocking and continuing are both legal (action 0 continues, 1 knocks). Opponents
are bots of the kernel, so a step costs microseconds whatever the number of rows.

An episode is one round: it is done when the round has ended, while the match at that table goes on
and its lives are seen in the observation. Rewards are differences of a running payoff of the
match, so that their sum over a match does not depend on where the episodes were cut.

Shapes: `B` rows, `K` size of the compact observation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv

from thirtyone_env.arena import COMPACT_SIZE, Tables, controller
from thirtyone_env.rules import MAX_SEATS, Rules, resolve_rules


class KnockVecEnv(VecEnv):
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
        seed: start of all randomness.

    Raises:
        ValueError: for an unknown bot, preset or seat count.
    """

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
        seed: int = 0,
    ) -> None:
        super().__init__(
            rows,
            spaces.Box(-np.inf, np.inf, (COMPACT_SIZE,), np.float32),
            spaces.Discrete(2),
        )
        self.rules = resolve_rules(rules)
        self.copies = copies
        self.reward = reward
        self.reward_scale = reward_scale
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
        self._controllers = np.stack([controller(name) for name in opponents])
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

    def close(self) -> None:
        """Nothing is held open."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """One value for all rows, repeated as often as rows were asked for."""
        value = getattr(self, attr_name, None)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the whole batch; single rows have none."""
        setattr(self, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Refused: rows are parts of one batch and have no methods of their own."""
        raise AttributeError(f"a row of KnockVecEnv has no method {method_name!r}")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """No row is wrapped."""
        return [False for _ in self._get_indices(indices)]

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
        drawn = np.minimum(drawn, len(self._controllers) - 1)
        same = self._rng.random(rows.size) < self.copies
        drawn[same] = drawn[same, :1]
        players = self._players[rows]
        taken, seats = np.nonzero(np.arange(MAX_SEATS) < players[:, None])
        self.tables.set_controllers(rows[taken], seats, self._controllers[drawn[taken, seats]])
        self._learner[rows] = self._rng.integers(0, players)
        self.tables.set_controllers(rows, self._learner[rows], "knock")

    def _settle(self, rows: np.ndarray) -> None:
        """Bring the learners' running payoffs in these rows up to date."""
        payoffs = self.tables.payoffs(self.reward, rows)
        self._paid[rows] = payoffs[np.arange(rows.size), self._learner[rows]]
