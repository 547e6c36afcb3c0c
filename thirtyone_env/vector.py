"""Gymnasium's vector environments, many matches in one batch: the native form of `single`.

Row b is dealt the cards, seat and opponents that the single environment of the same seed is dealt;
seed s gives the rows s, s + 1, …. `autoreset_mode` is Gymnasium's: by the next step, in the same
step, or not at all. Returned arrays are new ones and never change afterwards, unless ``copy=False``
asks for the environment's own buffers.

Shapes: B rows, K numbers of an observation, A actions.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from thirtyone_env.bots import DRAWS
from thirtyone_env.checks import (
    check_choice,
    checked_number,
    checked_seed,
    is_whole,
    known_options,
)
from thirtyone_env.learner import (
    ILLEGAL,
    TERMINATED,
    TRUNCATED,
    UNDEALT,
    Learners,
    LearnerSeat,
)
from thirtyone_env.policy import Bot
from thirtyone_env.render import RENDER_FPS, Display
from thirtyone_env.rules import Rules

_SEEDS = 1 << 64
_MODES = {name: mode for mode in AutoresetMode for name in (mode.name.lower(), mode.value)}


class _LearnerVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """What both vector environments share."""

    def __init__(
        self,
        num_envs: int | Literal["auto"],
        *,
        autoreset_mode: str | AutoresetMode,
        copy: bool,
        render_mode: str | None,
        render_perspective: str,
        flatten: bool,
        max_episode_steps: int | None,
        **options: Any,
    ) -> None:
        super().__init__()
        mode = autoreset_mode
        if isinstance(mode, str):
            mode = _MODES.get(mode, mode)
        check_choice("autoreset_mode", mode, (*AutoresetMode, *_MODES))
        check_choice("copy", copy, (False, True))
        check_choice("flatten", flatten, (False, True))
        check_choice("render_mode", render_mode, ("ansi", "rgb_array", None))
        self._display = Display(render_mode)
        check_choice("render_perspective", render_perspective, ("own", "all"))
        self._core = Learners(num_envs, **options)
        self.num_envs = num_envs = self._core.size
        self.rules, self.num_players = self._core.rules, self._core.num_players
        self.autoreset_mode = mode
        self.metadata = {
            "render_modes": ["ansi", "rgb_array"],
            "render_fps": RENDER_FPS,
            "autoreset_mode": self.autoreset_mode,
        }
        self.render_mode, self.render_perspective = render_mode, render_perspective
        self._copy, self._flatten = copy, flatten
        self.single_observation_space = self._core.observation_space(flatten)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.single_action_space = spaces.Discrete(self._core.num_actions)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._all = np.arange(num_envs)
        self._seeds = np.zeros(num_envs, np.uint64)
        self._matches = np.full(num_envs, -1, np.int64)
        self._seeded = np.zeros(num_envs, bool)
        self._seen, self._mask = self._core.new_outputs(lasting=not copy)
        self._max_steps = max_episode_steps
        if max_episode_steps is not None:
            self._max_steps = checked_number("max_episode_steps", max_episode_steps, 1, 1 << 62)
        self._steps = np.zeros(num_envs, np.int64)

    # --- reset -----------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin matches in all rows, or in those of ``options["reset_mask"]`` (bool[B]).

        Args:
            seed: s for s, s + 1, … by row, or one (or None) a row; else as for
                `single.ThirtyOneEnv.reset`.
            options: as for `single.ThirtyOneEnv.reset`; they stay in force in the rows that are
                reset through automatic resets and resets without a seed.

        Returns:
            Observations and infos of all rows; the infos are marked for the rows reset.

        Raises:
            ValueError: for a seed, an option or a mask that is not allowed; nothing has changed.
        """
        given = dict(options) if isinstance(options, Mapping) else options
        rows = self._masked_rows(given)
        situation = known_options(given)
        seeds = self._row_seeds(seed)
        begin = self._core.situation(situation)
        fresh = np.array([row for row in rows.tolist() if seeds[row] is not None], np.int64)
        anew = rows if situation else fresh
        if len(anew):
            self._core.put_situation(anew, begin)
        if is_whole(seed):
            super().reset(seed=int(seed))  # type: ignore[arg-type]
        with self._attempt(np.setdiff1d(self._all, rows)):
            self._seeds[fresh] = [seeds[row] for row in fresh.tolist()]
            self._matches[fresh] = -1
            self._seeded[fresh] = True
            for row in rows[~self._seeded[rows]].tolist():
                self._seeds[row], self._seeded[row] = secrets.randbits(63), True
            self._deal(rows)
        return self._observation(), self._infos(rows)

    def _masked_rows(self, options: Any) -> np.ndarray:
        if not isinstance(options, dict) or "reset_mask" not in options:
            return self._all
        mask = options.pop("reset_mask")
        good = isinstance(mask, np.ndarray) and mask.shape == (self.num_envs,)
        if not good or mask.dtype != np.bool_ or not mask.any():
            raise ValueError(
                f"reset_mask = {mask!r} is not allowed; allowed: a bool array with "
                f"{self.num_envs} flags, at least one of them set"
            )
        undealt = self._core.learners["status"] == UNDEALT
        if (undealt & ~mask).any():
            raise RuntimeError("call reset() for all rows first: no matches have been dealt")
        return np.flatnonzero(mask)

    def _row_seeds(self, seed: Any) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, np.ndarray) and seed.ndim == 0:
            seed = seed[()]
        if isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str):
            if len(seed) != self.num_envs:
                raise ValueError(f"{len(seed)} seeds for {self.num_envs} rows")
            return [None if one is None else checked_seed(one) for one in seed]
        first = checked_seed(seed)
        return [(first + row) % _SEEDS for row in range(self.num_envs)]

    @contextmanager
    def _attempt(self, keep: np.ndarray) -> Iterator[None]:
        """Write into new arrays, so that those handed out never change; undo all on an error.

        Args:
            keep: rows that are not written and stay as they are.
        """
        arrays = self._seen, self._mask
        series = (
            self._seeds.copy(),
            self._matches.copy(),
            self._seeded.copy(),
            self._steps.copy(),
        )
        if self._copy:
            self._seen, self._mask = self._core.new_outputs()
            self._core.show(keep, self._seen, self._mask)
        try:
            with self._core.undone_on_error(self._seen, self._mask):
                yield
        except BaseException:
            self._seen, self._mask = arrays
            self._seeds, self._matches, self._seeded, self._steps = series
            raise

    def _deal(self, rows: np.ndarray) -> None:
        self._matches[rows] += 1
        self._steps[rows] = 0
        self._core.deal(rows, self._seeds[rows], self._matches[rows], self._seen, self._mask)

    # --- step ------------------------------------------------------------------------------------

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Take one decision a row.

        Args:
            actions: whole numbers [B]; those of rows that are reset by this step are not looked at.

        Returns:
            Observations, rewards float64[B], terminated bool[B], truncated bool[B], infos. Infos
            are those of the single environment, by Gymnasium's convention for vectors; under
            SAME_STEP ``"final_obs"`` and ``"final_info"`` are those of the matches that ended.

        Raises:
            ValueError: for an action that is not in the space, or an illegal one under
                ``illegal="raise"``; nothing has changed then.
            RuntimeError: before reset, and for rows that are over without automatic reset.
        """
        core, status = self._core, self._core.learners["status"]
        over = status >= TERMINATED
        if status[0] == UNDEALT:
            raise RuntimeError("call reset() first: no matches have been dealt")
        resets = self._all[:0]
        if over.any():
            if self.autoreset_mode == AutoresetMode.DISABLED:
                raise RuntimeError(
                    f"rows {np.flatnonzero(over).tolist()} are over; reset them with "
                    'options={"reset_mask": ...}'
                )
            resets = np.flatnonzero(over)
        rows = self._all if not len(resets) else np.flatnonzero(~over)
        chosen = self._checked_actions(actions, rows)
        with self._attempt(self._all[:0]):
            resolved = core.step(rows, chosen, self._seen, self._mask)
            self._steps[rows] += 1
            if len(resets):
                self._deal(resets)
                core.learners["reward"][resets] = 0.0
            return self._results(rows, chosen, resolved)

    def _checked_actions(self, actions: Any, rows: np.ndarray) -> np.ndarray:
        try:
            given = np.asarray(actions)
        except ValueError:  # lists of different lengths
            given = np.full((), None)
        if given.shape != (self.num_envs,) or not np.issubdtype(given.dtype, np.integer):
            raise ValueError(
                f"actions: {given.dtype}{list(given.shape)} is not allowed; allowed: "
                f"{self.num_envs} whole numbers in 0 … {self._core.num_actions - 1}"
            )
        chosen = given[rows].astype(np.int64)
        bad = (chosen < 0) | (chosen >= self._core.num_actions)
        if bad.any():
            row = int(rows[np.argmax(bad)])
            raise ValueError(
                f"row {row}: action {given[row]} is not a whole number in "
                f"0 … {self._core.num_actions - 1}"
            )
        return chosen

    def _results(
        self, rows: np.ndarray, chosen: np.ndarray, resolved: np.ndarray
    ) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        learners = self._core.learners
        status = learners["status"].copy()
        rewards = learners["reward"].copy()
        terminated, truncated = status == TERMINATED, status == TRUNCATED
        ended = np.flatnonzero(terminated | truncated)
        last: dict[str, Any] = {}
        if len(ended):
            last = self._last_words(ended, rows, chosen, resolved)
        if self._max_steps is not None:
            cut = self._steps >= self._max_steps
            learners["status"][cut & ~terminated] = TRUNCATED
            truncated |= cut
            ended = np.flatnonzero(terminated | truncated)
        if not len(ended) or self.autoreset_mode != AutoresetMode.SAME_STEP:
            infos = {**self._infos(self._all), **last}
            return self._observation(), rewards, terminated, truncated, infos
        finals = np.full(self.num_envs, None, object)
        for row in ended.tolist():
            finals[row] = self._row_observation(row)
        marked = np.zeros(self.num_envs, bool)
        marked[ended] = True
        infos = {
            "final_obs": finals,
            "_final_obs": marked,
            "final_info": {**self._infos(ended, copy=True), **last},
            "_final_info": marked.copy(),
        }
        self._deal(ended)
        infos.update(self._infos(self._all))
        return self._observation(), rewards, terminated, truncated, infos

    # --- what is returned ------------------------------------------------------------------------

    def _observation(self) -> Any:
        if self._flatten:
            return self._seen
        mask = self._mask.copy() if self._copy else self._mask
        return {"observation": self._seen, "action_mask": mask}

    def _row_observation(self, row: int) -> Any:
        if self._flatten:
            return self._seen[row].copy()
        return {"observation": self._seen[row].copy(), "action_mask": self._mask[row].copy()}

    def _infos(self, rows: np.ndarray, copy: bool = False) -> dict[str, Any]:
        """What every step says, of some rows."""
        if len(rows) == self.num_envs:
            marked = np.ones(self.num_envs, bool)
            mask = self._mask.copy() if self._copy or copy else self._mask
            seats = self._core.learners["seat"].astype(np.int64)
        else:
            marked = np.zeros(self.num_envs, bool)
            marked[rows] = True
            mask = np.where(marked[:, None], self._mask, np.int8(0))
            seats = np.where(marked, self._core.learners["seat"], 0).astype(np.int64)
        return {
            "action_mask": mask,
            "_action_mask": marked,
            "learner_seat": seats,
            "_learner_seat": marked.copy(),
        }

    def _last_words(
        self, ended: np.ndarray, rows: np.ndarray, chosen: np.ndarray, resolved: np.ndarray
    ) -> dict[str, Any]:
        """What is said of rows that have ended."""
        winner, marked = np.zeros(self.num_envs, np.int64), np.zeros(self.num_envs, bool)
        winner[ended], marked[ended] = self._core.tables.states["winner"][ended], True
        words = {"winner": winner, "_winner": marked}
        illegal = resolved == ILLEGAL
        if illegal.any():
            action, offends = np.zeros(self.num_envs, np.int64), np.zeros(self.num_envs, bool)
            action[rows[illegal]], offends[rows[illegal]] = chosen[illegal], True
            words |= {"illegal_action": action, "_illegal_action": offends}
        return words

    def action_masks(self) -> np.ndarray:
        """bool[B, A]: the legal actions.

        Raises:
            RuntimeError: before reset.
        """
        self._require_dealt()
        return self._mask == 1

    def bot_actions(self, bot: Bot) -> np.ndarray:
        """int64[B]: what a bot does for the learners; 0 in rows that are over."""
        self._require_dealt()
        live = np.flatnonzero(self._core.learners["status"] < TERMINATED)
        found = np.zeros(self.num_envs, np.int64)
        found[live] = self._core.bot_actions(bot, live)
        return found

    def set_opponents(self, opponents: Any) -> None:
        """Change the opponents of matches that begin from now on; the others keep theirs."""
        self._core.set_opponents(opponents)

    def render(self) -> tuple[Any, ...] | None:
        """The tables: a text or uint8[H, W, 3] for every row."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render_mode shows nothing")
            return None
        self._require_dealt()
        own = self.render_perspective == "own"
        return tuple(
            self._display.show(
                self._core.tables.states[row : row + 1],
                int(self._core.learners["seat"][row]) if own else None,
            )
            for row in range(self.num_envs)
        )

    def __copy__(self) -> _LearnerVectorEnv:
        """A copy that goes on by itself, as for `copy.deepcopy`."""
        return deepcopy(self)

    def _require_dealt(self) -> None:
        if self._core.learners["status"][0] == UNDEALT:
            raise RuntimeError("call reset() first: no matches have been dealt")


class ThirtyOneVectorEnv(_LearnerVectorEnv):
    """`ThirtyOne-v0` in one batch; made by ``gymnasium.make_vec("ThirtyOne-v0", num_envs=B)``.

    Args:
        num_envs: B; ``"auto"``: as many as one core steps at full speed, a number that depends on
            the seats alone, so that training repeats on every machine.
        autoreset_mode: ``"next_step"``, ``"same_step"`` or ``"disabled"``, or Gymnasium's own.
        copy: whether arrays are handed out as new ones; if not, they are the environment's own
            buffers, overwritten by the next step.
        threads: number of threads that rows are spread over, None for as many as this process may
            run at once; results do not depend on it.
        max_episode_steps: an episode of this many steps is cut (truncated); None: none is.
        rules, num_players, opponents, learner_seat, episode, reward, illegal, render_mode,
            render_perspective, observation_format, action_format, canonical_suits, flatten: as
            for `single.ThirtyOneEnv`.

    Raises:
        ValueError: for a value that is not allowed.
    """

    def __init__(
        self,
        num_envs: int | Literal["auto"] = 1,
        rules: str | Rules | Mapping[str, Any] = "danish",
        num_players: int = 4,
        opponents: Any = "threshold:25",
        learner_seat: LearnerSeat = "rotate",
        episode: Literal["match", "round"] = "match",
        reward: Literal["match", "lives", "equity"] | None = None,
        illegal: Literal["raise", "terminate"] = "terminate",
        render_mode: str | None = None,
        render_perspective: Literal["own", "all"] = "own",
        observation_format: Literal["full", "compact"] = "full",
        action_format: Literal["card", "slot"] = "card",
        canonical_suits: bool = False,
        flatten: bool = False,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        threads: int | None = 1,
        max_episode_steps: int | None = None,
    ) -> None:
        super().__init__(
            num_envs,
            rules=rules,
            num_players=num_players,
            opponents=opponents,
            learner_seat=learner_seat,
            episode=episode,
            reward=reward,
            illegal=illegal,
            render_mode=render_mode,
            render_perspective=render_perspective,
            observation_format=observation_format,
            action_format=action_format,
            canonical_suits=canonical_suits,
            flatten=flatten,
            autoreset_mode=autoreset_mode,
            copy=copy,
            threads=threads,
            max_episode_steps=max_episode_steps,
        )


class KnockTimingVectorEnv(_LearnerVectorEnv):
    """`KnockTiming-v0` in one batch.

    Args:
        num_envs, autoreset_mode, copy, threads, max_episode_steps: as for `ThirtyOneVectorEnv`.
        rules, num_players, opponents, learner_seat, episode, reward, illegal, render_mode,
            render_perspective, observation_format, canonical_suits, flatten, draws: as for
            `single.KnockTimingEnv`.

    Raises:
        ValueError: for a value that is not allowed.
    """

    def __init__(
        self,
        num_envs: int | Literal["auto"] = 1,
        rules: str | Rules | Mapping[str, Any] = "danish",
        num_players: int = 4,
        opponents: Any = "threshold:25",
        learner_seat: LearnerSeat = "rotate",
        episode: Literal["match", "round"] = "match",
        reward: Literal["match", "lives", "equity"] | None = None,
        illegal: Literal["raise", "terminate"] = "terminate",
        render_mode: str | None = None,
        render_perspective: Literal["own", "all"] = "own",
        observation_format: Literal["full", "compact"] = "full",
        canonical_suits: bool = False,
        flatten: bool = False,
        draws: str = "greedy",
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        threads: int | None = 1,
        max_episode_steps: int | None = None,
    ) -> None:
        check_choice("draws", draws, tuple(DRAWS))
        super().__init__(
            num_envs,
            rules=rules,
            num_players=num_players,
            opponents=opponents,
            learner_seat=learner_seat,
            episode=episode,
            reward=reward,
            illegal=illegal,
            render_mode=render_mode,
            render_perspective=render_perspective,
            observation_format=observation_format,
            canonical_suits=canonical_suits,
            flatten=flatten,
            draws=draws,
            autoreset_mode=autoreset_mode,
            copy=copy,
            threads=threads,
            max_episode_steps=max_episode_steps,
        )
