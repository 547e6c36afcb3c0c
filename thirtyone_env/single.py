"""Gymnasium environments with one learner: `ThirtyOne-v0` and `KnockTiming-v0`.

The other seats are played by bots of the kernel or by policies. A step takes the learner's decision
and returns at its next one, or when its part is over: the match (or round) has ended, or the
learner is eliminated.

The mask of legal actions is int8 in the observation's dict and in ``info["action_mask"]``, and bool
from ``env.unwrapped.action_masks()`` (wrappers hide it from plain attribute access:
``env.get_wrapper_attr("action_masks")()``).
"""

from __future__ import annotations

import copy
import secrets
from collections.abc import Mapping
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces

from thirtyone_env.bots import DRAWS
from thirtyone_env.checks import check_choice, checked_action, checked_seed, known_options
from thirtyone_env.game import clone
from thirtyone_env.learner import (
    DECIDES,
    ILLEGAL,
    PENDING,
    TERMINATED,
    TRUNCATED,
    UNDEALT,
    Learners,
    LearnerSeat,
)
from thirtyone_env.policy import Bot
from thirtyone_env.render import RENDER_FPS, RENDER_MODES, Display, TableView
from thirtyone_env.rules import Rules
from thirtyone_env.state import Phase

_ROW = np.zeros(1, np.int64)


class _LearnerEnv(gymnasium.Env[Any, Any]):
    """What both environments share: one match with one learner."""

    metadata = {  # noqa: RUF012 (Gymnasium's own form)
        "render_modes": list(RENDER_MODES),
        "render_fps": RENDER_FPS,
    }

    def __init__(
        self, *, render_mode: str | None, render_perspective: str, flatten: bool, **options: Any
    ) -> None:
        check_choice("render_perspective", render_perspective, ("own", "all"))
        check_choice("flatten", flatten, (False, True))
        self._display = Display(render_mode)
        watched = render_mode in ("human", "rgb_array")
        self._last_round: np.ndarray | None = None
        self._core = Learners(1, watcher=self._watch if watched else None, **options)
        self.rules, self.num_players = self._core.rules, self._core.num_players
        self.render_mode, self.render_perspective = render_mode, render_perspective
        self._flatten = flatten
        self._status = UNDEALT
        self._seed: int | None = None
        self._match = -1
        self.action_space = spaces.Discrete(self._core.num_actions)
        self.observation_space = self._core.observation_space(flatten)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a match.

        Args:
            seed: begins a new series of matches; without one the next match of the series is
                dealt (the first time: of a series drawn from the system).
            options: a situation: ``"dealer"`` (seat), ``"lives"`` (one number a seat), ``"deck"``
                (card names in dealing order, all or a prefix). It stays in force through the
                series until other options are given, so that automatic resets keep it. Unknown
                options are ignored with a warning.

        Returns:
            The observation, and ``{"action_mask": int8[A], "learner_seat": int}``.

        Raises:
            ValueError: for a seed or an option that is not allowed; the match in progress stays.
        """
        situation = known_options(options)
        if seed is not None:
            chosen, match = checked_seed(seed), 0
        else:
            chosen = secrets.randbits(63) if self._seed is None else self._seed
            match = self._match + 1
        if situation or seed is not None:
            self._core.put_situation(_ROW, self._core.situation(situation))
        if seed is not None:
            super().reset(seed=chosen)
        self._last_round = None
        seen, mask = self._core.new_outputs()
        self._core.deal(_ROW, np.uint64(chosen), match, seen, mask)
        self._seed, self._match = chosen, match
        self._seen, self._mask = seen, mask
        self._status = int(self._core.learners["status"][0])
        self._seat = int(self._core.learners["seat"][0])
        if self.render_mode == "human":
            self.render()
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take the learner's decision and play on to its next one.

        Returns:
            Observation, reward, terminated, truncated, and an info with ``"action_mask"`` and
            ``"learner_seat"``; at the end also ``"winner"`` (seat, −1 for none yet) and, where an
            illegal action ended the episode, ``"illegal_action"``.

        Raises:
            ValueError: for an action that is not in the space (nothing changes), or an illegal
                one under ``illegal="raise"``, naming the legal ones, or one of a policy's: the
                match is as it was before.
            RuntimeError: before reset and after the end.
        """
        core = self._core
        if self._status not in (DECIDES, PENDING):
            self._refuse(self._status)
        number = checked_action(action, core.num_actions)
        seen, mask = core.new_outputs()
        resolved = core.step(_ROW, np.array((number,)), seen, mask)
        self._seen, self._mask = seen, mask
        me = core.learners[0]
        self._status = status = int(me["status"])
        info = self._info()
        if status >= TERMINATED:
            info["winner"] = int(core.tables.states["winner"][0])
            if resolved[0] == ILLEGAL:
                info["illegal_action"] = number
        if self.render_mode == "human":
            self.render()
        return (
            self._observation(),
            float(me["reward"]),
            status == TERMINATED,
            status == TRUNCATED,
            info,
        )

    def _refuse(self, status: int) -> None:
        if status == UNDEALT:
            raise RuntimeError("call reset() first: no match has been dealt")
        raise RuntimeError("the episode is over; call reset()")

    def _observation(self) -> Any:
        if self._flatten:
            return self._seen[0]
        return {"observation": self._seen[0], "action_mask": self._mask[0].copy()}

    def _info(self) -> dict[str, Any]:
        return {
            "action_mask": self._mask[0].copy(),
            "learner_seat": self._seat,
        }

    def action_masks(self) -> np.ndarray:
        """bool[A]: the legal actions, as MaskablePPO asks for them.

        Raises:
            RuntimeError: before reset.
        """
        if self._seed is None:
            self._refuse(UNDEALT)
        return self._mask[0] == 1

    def bot_action(self, bot: Bot) -> int:
        """What a bot does for the learner; `make_bot(...).act(env)` calls it."""
        if self._seed is None:
            self._refuse(UNDEALT)
        return int(self._core.bot_actions(bot, _ROW)[0])

    def set_opponents(self, opponents: Any) -> None:
        """Change the opponents from the next match on."""
        self._core.set_opponents(opponents)

    @property
    def learner_seat(self) -> int:
        """The learner's seat in the match in progress.

        Raises:
            RuntimeError: before reset.
        """
        if self._seed is None:
            self._refuse(UNDEALT)
        return self._seat

    def _watch(self) -> None:
        """Look at the match between two steps."""
        states = self._core.tables.states
        if states["phase"][0] == Phase.ROUND_OVER:
            self._last_round = clone(states)
        elif self.render_mode == "human":
            self._show()

    def _show(self) -> Any:
        own = self.render_perspective == "own"
        viewer = int(self._core.learners["seat"][0]) if own else None
        return self._display.show(self._core.tables.states, viewer, self._last_round)

    def render(self) -> Any:
        """The table: text for ``"ansi"``, uint8[H, W, 3] for ``"rgb_array"``, or in a window.

        With ``"human"`` every decision of everybody is shown while `step` plays it.
        """
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render_mode shows nothing")
            return None
        if self._seed is None:
            self._refuse(UNDEALT)
        return self._show()

    def view(self, colours: int = 4) -> TableView:
        """The table as the learner sees it, for notebooks and papers."""
        if self._seed is None:
            self._refuse(UNDEALT)
        return TableView(
            self._core.tables.states,
            self.learner_seat,
            colours=colours,
            last_round=self._last_round,
        )

    def close(self) -> None:
        """Close the window, if there is one."""
        self._display.close()

    def __copy__(self) -> _LearnerEnv:
        """A copy that goes on by itself, as for `copy.deepcopy`."""
        return copy.deepcopy(self)


class ThirtyOneEnv(_LearnerEnv):
    """`ThirtyOne-v0`: every decision of one seat.

    Args:
        rules: a preset's name, a `Rules`, or a mapping of fields that may begin from a preset.
        num_players: seats.
        opponents: a bot's name or a policy for all other seats, or one for each, clockwise after
            the learner (see `learner.Learners`).
        learner_seat: a seat; ``"rotate"``: the next one in every match; ``"random"``: by lot.
        episode: ``"match"``, or ``"round"`` for the first round only.
        reward: ``"match"``, ``"lives"`` or ``"equity"``, as for the PettingZoo environment.
        illegal: ``"terminate"``: an illegal action ends the episode with −1; ``"raise"``: it
            raises and changes nothing.
        render_mode: ``"ansi"``, ``"human"`` or ``"rgb_array"``.
        render_perspective: ``"own"``: as the learner sees it; ``"all"``: everything.
        observation_format: ``"full"`` (uint8) or ``"compact"`` (float32, a fixed size).
        action_format: ``"card"`` (65 actions) or ``"slot"`` (14).
        canonical_suits: rename the suits by the learner's own holding.
        flatten: observations are the Box alone, without the dict and the mask in it.

    Raises:
        ValueError: for a value that is not allowed.
    """

    def __init__(
        self,
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
    ) -> None:
        super().__init__(
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
        )


class KnockTimingEnv(_LearnerEnv):
    """`KnockTiming-v0`: one seat decides about knocking only: 1 knocks, 0 goes on.

    It is asked where both are legal; every other decision, and what going on means, is the rule's.

    Args:
        rules, num_players, opponents, learner_seat, episode, reward, illegal, render_mode,
            render_perspective, observation_format, canonical_suits, flatten: as for
            `ThirtyOneEnv`.
        draws: the rule that draws and discards, a name of `bots.DRAWS`.

    Raises:
        ValueError: for a value that is not allowed.
    """

    def __init__(
        self,
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
    ) -> None:
        check_choice("draws", draws, tuple(DRAWS))
        super().__init__(
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
        )
