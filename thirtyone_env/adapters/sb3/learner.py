"""The Gymnasium environments as vector environments of Stable-Baselines3.

Shapes: `B` rows, `K` numbers of an observation, `A` actions.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Literal

import numpy as np
from gymnasium import spaces

from thirtyone_env.adapters.sb3.batch import BatchVecEnv
from thirtyone_env.bots import DRAWS
from thirtyone_env.checks import check_choice, checked_number, checked_seed, known_options
from thirtyone_env.learner import ILLEGAL, TERMINATED, TRUNCATED, UNDEALT, Learners

_OPTIONS = (
    "rules",
    "num_players",
    "opponents",
    "learner_seat",
    "episode",
    "reward",
    "illegal",
    "observation_format",
    "canonical_suits",
)


class ThirtyOneVecEnv(BatchVecEnv):
    """B matches with one learner each, every decision of one seat.

    A row that is over is dealt its next match in the same step, as Stable-Baselines3 wants it; the
    last observation is ``info["terminal_observation"]``. Rows in the middle of a match share one
    empty info.

    Args:
        rows: number of matches B; ``"auto"``: as many as one core steps at full speed, a number
            that depends on the seats alone, so that training repeats on every machine.
        seed: row b plays the series of matches s + b; None: drawn from the system.
        flatten: observations are one Box; if not, a dict with the mask (for MultiInputPolicy).
        threads: number of threads that rows are spread over, None for as many as this process may
            run at once; results do not depend on it.
        options: those of `single.ThirtyOneEnv` but for rendering.

    Raises:
        TypeError: for an option that there is not.
        ValueError: for a value that is not allowed.
    """

    options: tuple[str, ...] = (*_OPTIONS, "action_format")

    def __init__(
        self,
        rows: int | Literal["auto"],
        *,
        seed: int | None = None,
        flatten: bool = True,
        threads: int | None = 1,
        **options: Any,
    ) -> None:
        check_choice("flatten", flatten, (False, True))
        unknown = sorted(set(options) - set(self.options))
        if unknown:
            raise TypeError(
                f"{type(self).__name__} has no option {unknown[0]!r}; options are "
                f"seed, flatten, threads, {', '.join(self.options)}"
            )
        if rows != "auto":
            rows = checked_number("rows", rows, 1, 1 << 31)
        core = Learners(rows, threads=threads, **options)
        rows = core.size
        self._core, self._flatten = core, flatten
        space = core.observation_space(flatten)
        super().__init__(rows, space, spaces.Discrete(core.num_actions))
        self._all = np.arange(rows)
        self._seen, self._mask = core.new_outputs(lasting=True)
        self._actions = np.zeros(rows, np.int64)
        self._nothing: dict[str, Any] = {}
        self._row_seeds = np.zeros(rows, np.uint64)
        self._matches = np.full(rows, -1, np.int64)
        self._new_seed: int | None = secrets.randbits(63) if seed is None else checked_seed(seed)

    def _begin_series(self) -> None:
        """Begin the series of matches that was asked for, if one was."""
        if self._new_seed is None:
            return
        first, self._new_seed = self._new_seed, None
        self._row_seeds[:] = [(first + row) % (1 << 64) for row in range(self.num_envs)]
        self._matches[:] = -1
        self._core.put_situation(self._all, self._core.situation({}))

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Begin new series of matches at the next `reset`; None goes on with those there are."""
        if seed is None:
            return [None] * self.num_envs
        self._new_seed = checked_seed(seed)
        return [(self._new_seed + row) % (1 << 64) for row in range(self.num_envs)]

    def reset(self) -> Any:
        """Deal a match in every row.

        Returns:
            uint8 or float32[B, K], or the dict of it and the masks int8[B, A].
        """
        try:
            situations = self._situations()
        finally:
            self._reset_options()
        self._begin_series()
        for rows, situation in situations:
            self._core.put_situation(rows, situation)
        self._seen, self._mask = self._core.new_outputs()
        self._deal(self._all)
        return self._observation()

    def _situations(self) -> list[tuple[np.ndarray, tuple[np.ndarray, int]]]:
        """The options that were set for this reset, checked, each with its rows."""
        groups: dict[str, tuple[dict[str, Any], list[int]]] = {}
        for row, options in enumerate(self._options):
            if options:
                groups.setdefault(repr(options), (options, []))[1].append(row)
        return [
            (np.array(rows), self._core.situation(known_options(options)))
            for options, rows in groups.values()
        ]

    def _deal(self, rows: np.ndarray) -> None:
        self._matches[rows] += 1
        self._core.deal(rows, self._row_seeds[rows], self._matches[rows], self._seen, self._mask)

    def step_async(self, actions: np.ndarray) -> None:
        """Keep int[B] for the next `step_wait`.

        Raises:
            ValueError: for actions that are not B whole numbers of the space.
        """
        given = np.asarray(actions)
        good = given.shape == (self.num_envs,) and np.issubdtype(given.dtype, np.integer)
        if not good or given.min() < 0 or given.max() >= self._core.num_actions:
            raise ValueError(
                f"actions = {given!r} is not allowed; allowed: {self.num_envs} whole numbers in "
                f"0 … {self._core.num_actions - 1}"
            )
        self._actions = given.astype(np.int64)

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Take one decision a row.

        Returns:
            Observations, rewards float32[B], flags bool[B], and one info a row. That of a row
            that is over has ``"terminal_observation"``, ``"TimeLimit.truncated"``,
            ``"learner_seat"``, ``"winner"`` and, if it ended so, ``"illegal_action"``.

        Raises:
            RuntimeError: before reset.
            ValueError: for an illegal action under ``illegal="raise"``; nothing has changed then.
        """
        core = self._core
        if core.learners["status"][0] == UNDEALT:
            raise RuntimeError("call reset() first: no matches have been dealt")
        before = self._seen, self._mask, self._matches.copy()
        self._seen, self._mask = core.new_outputs()
        try:
            with core.undone_on_error(self._seen, self._mask):
                return self._play()
        except BaseException:
            self._seen, self._mask, self._matches = before
            raise

    def _play(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        core = self._core
        resolved = core.step(self._all, self._actions, self._seen, self._mask)
        status = core.learners["status"].copy()
        rewards = core.learners["reward"].astype(np.float32)
        dones = status >= TERMINATED
        infos = [self._nothing] * self.num_envs
        ended = np.flatnonzero(dones)
        for row in ended.tolist():
            infos[row] = {
                "terminal_observation": self._row_observation(row),
                "TimeLimit.truncated": bool(status[row] == TRUNCATED),
                "learner_seat": int(core.learners["seat"][row]),
                "winner": int(core.tables.states["winner"][row]),
            }
            if resolved[row] == ILLEGAL:
                infos[row]["illegal_action"] = int(self._actions[row])
        if len(ended):
            self._deal(ended)
        return self._observation(), rewards, dones, infos

    def _observation(self) -> Any:
        if self._flatten:
            return self._seen
        return {"observation": self._seen, "action_mask": self._mask.copy()}

    def _row_observation(self, row: int) -> Any:
        if self._flatten:
            return self._seen[row].copy()
        return {"observation": self._seen[row].copy(), "action_mask": self._mask[row].copy()}

    def action_masks(self) -> np.ndarray:
        """bool[B, A]: the legal actions.

        Raises:
            RuntimeError: before reset.
        """
        if self._core.learners["status"][0] == UNDEALT:
            raise RuntimeError("call reset() first: no matches have been dealt")
        return self._mask == 1

    def __copy__(self) -> ThirtyOneVecEnv:
        """A copy that goes on by itself, as for `copy.deepcopy`."""
        return deepcopy(self)

    def set_opponents(self, opponents: Any) -> None:
        """Change the opponents of matches that begin from now on; the others keep theirs."""
        self._core.set_opponents(opponents)


class KnockTimingVecEnv(ThirtyOneVecEnv):
    """The same where the learner decides about knocking only: 1 knocks, 0 goes on.

    It takes the options of `single.KnockTimingEnv` but for rendering; ``draws`` names the rule that
    draws and discards, ``"greedy"`` unless given.
    """

    options = (*_OPTIONS, "draws")

    def __init__(self, rows: int, *, draws: str = "greedy", **options: Any) -> None:
        check_choice("draws", draws, tuple(DRAWS))
        super().__init__(rows, draws=draws, **options)
