"""Thirty-One for Stable-Baselines3: vector environments, masked evaluation, models as policies.

`ThirtyOneVecEnv` and `KnockTimingVecEnv` are the Gymnasium environments of the same names, many
matches in one batch: row b plays what the single environment seeded with s + b plays, and
MaskablePPO finds the masks. `KnockVecEnv` is the variant for training a knock policy fast, with
episodes of one round inside matches that go on and opponents drawn anew for every match.

Stable-Baselines3's own `evaluate_policy` and evaluation callback ignore masks without a word; use
`evaluate_masked`, and `MaskedEvalCallback` while training.

Shapes: `B` rows, `K` numbers of an observation, `A` actions.
"""

from __future__ import annotations

import inspect
import random
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

from thirtyone_env.actions import KNOCK, NUM_ACTIONS, NUM_SLOT_ACTIONS
from thirtyone_env.arena import (
    COMPACT_SIZE,
    Tables,
    controller,
    mask_rows,
    observe_compact_rows,
    observe_rows,
    resolve_actions,
)
from thirtyone_env.bots import DRAWS
from thirtyone_env.checks import check_choice, checked_number, checked_seed, known_options
from thirtyone_env.learner import ILLEGAL, TERMINATED, TRUNCATED, UNDEALT, Learners
from thirtyone_env.observation import observation_size
from thirtyone_env.policy import agents_actions, choose
from thirtyone_env.rules import MAX_SEATS, Rules, resolve_rules

MaskedEvalCallback = MaskableEvalCallback
"""Evaluation while training, by sb3-contrib, with masks; wrap both environments in VecMonitor."""


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


class _BatchVecEnv(VecEnv):
    """What is asked of the rows of one batch: they have nothing of their own but masks."""

    render_mode: str | None = None

    def close(self) -> None:
        """Nothing is held open."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """One value for all rows, repeated as often as rows were asked for.

        Raises:
            AttributeError: for an attribute that the batch does not have.
        """
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the whole batch; single rows have none.

        Raises:
            ValueError: for some rows only.
        """
        if len(list(self._get_indices(indices))) != self.num_envs:
            raise ValueError(f"{attr_name} is one for all rows; it cannot be set for some of them")
        setattr(self, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> Any:
        """Masks by row for ``"action_masks"``; rows have no other methods.

        Raises:
            AttributeError: for another method.
        """
        if method_name != "action_masks" or not hasattr(self, "action_masks"):
            raise AttributeError(f"a row of {type(self).__name__} has no method {method_name!r}")
        masks = self.action_masks()
        return masks if indices is None else masks[list(self._get_indices(indices))]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """No row is wrapped."""
        return [False for _ in self._get_indices(indices)]


class ThirtyOneVecEnv(_BatchVecEnv):
    """B matches with one learner each, every decision of one seat.

    A row that is over is dealt its next match in the same step, as Stable-Baselines3 wants it; the
    last observation is ``info["terminal_observation"]``. Rows in the middle of a match share one
    empty info.

    Args:
        rows: number of matches B.
        seed: row b plays the series of matches s + b; None: drawn from the system.
        flatten: observations are one Box; if not, a dict with the mask (for MultiInputPolicy).
        threads: number of threads that rows are spread over; results do not depend on it.
        options: those of `single.ThirtyOneEnv` but for rendering.

    Raises:
        TypeError: for an option that there is not.
        ValueError: for a value that is not allowed.
    """

    options: tuple[str, ...] = (*_OPTIONS, "action_format")

    def __init__(
        self,
        rows: int,
        *,
        seed: int | None = None,
        flatten: bool = True,
        threads: int = 1,
        **options: Any,
    ) -> None:
        check_choice("flatten", flatten, (False, True))
        unknown = sorted(set(options) - set(self.options))
        if unknown:
            raise TypeError(
                f"{type(self).__name__} has no option {unknown[0]!r}; options are "
                f"seed, flatten, threads, {', '.join(self.options)}"
            )
        core = Learners(checked_number("rows", rows, 1, 1 << 31), threads=threads, **options)
        self._core, self._flatten = core, flatten
        seen = core.observation_space()
        space = (
            seen
            if flatten
            else spaces.Dict({"observation": seen, "action_mask": core.mask_space()})
        )
        super().__init__(rows, space, spaces.Discrete(core.num_actions))
        self._all = np.arange(rows)
        self._seen, self._mask = core.new_outputs()
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


# --- models --------------------------------------------------------------------------------------


class ModelPolicy:
    """A trained model of Stable-Baselines3 as a policy: an opponent, or anybody at any table.

    What the model looks at and what its actions mean is read off its spaces: a Box or a dict of
    the full or the compact observation; 65 actions (cards), 14 (slots) or 2 (knock or go on). It
    plays its most likely action, so that no generator is drawn from, and computes in chunks of one
    size, so that a row's action does not depend on the others.

    Args:
        model: such as a `MaskablePPO`, `PPO` or `DQN`.
        name: what tables call it.
        canonical_suits: whether it learned with renamed suits.
        draws: for 2 actions: the rule that draws and discards.

    Raises:
        ValueError: for a model of other spaces.
    """

    CHUNK = 256

    def __init__(
        self,
        model: Any,
        *,
        name: str = "model",
        canonical_suits: bool = False,
        draws: str = "greedy",
    ) -> None:
        self.model, self.name, self.draws = model, name, draws
        self._canonical = canonical_suits
        self._actions = int(getattr(model.action_space, "n", 0))
        check_choice("actions of a model", self._actions, (2, NUM_SLOT_ACTIONS, NUM_ACTIONS))
        space = model.observation_space
        self._dict = isinstance(space, spaces.Dict)
        seen = space["observation"] if self._dict else space
        sizes = {observation_size(n): n for n in range(2, MAX_SEATS + 1)}
        self._compact = seen.shape == (COMPACT_SIZE,) and seen.dtype == np.float32
        if not self._compact and (seen.dtype != np.uint8 or seen.shape[0] not in sizes):
            raise ValueError(f"a model that sees {seen} was not trained on this environment")
        self._players = None if self._compact else sizes[seen.shape[0]]
        self.controller = f"knock:{draws}" if self._actions == 2 else "external"
        controller(self.controller)

    def check(self, rules: Rules, num_players: int) -> None:
        """Refuse a table of another size.

        Raises:
            ValueError: naming both.
        """
        if self._players not in (None, num_players):
            raise ValueError(
                f"{self.name} learned at tables of {self._players}, not of {num_players}"
            )

    def act_batch(self, tables: Tables, rows: Any = None) -> np.ndarray:
        """int64[N]: what it does for the seats to act; 1 or 0 where it decides about knocking."""
        rows = np.arange(tables.size) if rows is None else np.atleast_1d(np.asarray(rows))
        answers = self._answers(tables.states, rows)
        if self._actions == 2:
            return answers
        return self._as_cards(tables.states, rows, answers)

    def act(self, env: Any) -> int:
        """The action of the agent whose turn it is in an environment of this package.

        Raises:
            TypeError: for an environment of another kind.
        """
        core = getattr(env, "unwrapped", env)
        ask = getattr(core, "bot_action", None)
        if ask is None:
            raise TypeError(f"{type(core).__name__} is not an environment of thirtyone_env")
        self.check(core.rules, core.num_players)
        return int(ask(self))

    def choose(
        self, states: np.ndarray, rows: np.ndarray, *, slots: bool = False, canonical: bool = False
    ) -> np.ndarray:
        """int64[N]: actions of the environment for the seats to act in some rows of STATE[B]."""
        if self._actions != 2:
            answers = self._as_cards(states, rows, self._answers(states, rows))
            agents_actions(states, rows, answers, canonical, slots)
            return answers
        rule = controller(self.controller)
        found = choose(rule, states, rows, slots=slots, canonical=canonical)
        masks = np.zeros((len(rows), NUM_ACTIONS), np.int8)
        mask_rows(states, rows, masks, False, False, 0, len(rows))
        asked = np.flatnonzero(masks[:, KNOCK])
        found[asked[self._answers(states, rows[asked]) == 1]] = KNOCK
        return found

    def _as_cards(self, states: np.ndarray, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """The model's actions as the engine's."""
        resolved = np.empty(len(rows), np.int64)
        slots = self._actions == NUM_SLOT_ACTIONS
        bad = resolve_actions(states, rows, answers, resolved, self._canonical, slots)
        if bad >= 0:
            raise ValueError(f"{self.name} chose the illegal action {answers[bad]}")
        return resolved

    def _answers(self, states: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """int64[N]: the model's own actions for the seats to act."""
        found = np.zeros(len(rows), np.int64)
        for first in range(0, len(rows), self.CHUNK):
            part = rows[first : first + self.CHUNK]
            found[first : first + len(part)] = self._predict(states, part)[: len(part)]
        return found

    def _predict(self, states: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Actions for one chunk, filled up with empty rows to its size."""
        size = self.CHUNK
        mask = np.zeros((size, self._actions), np.int8)
        mask[len(rows) :, 0] = 1
        if self._compact:
            seen: np.ndarray = np.zeros((size, COMPACT_SIZE), np.float32)
            observe_compact_rows(states, rows, seen, 0, len(rows))
        else:
            width = observation_size(self._players or 0)
            seen = np.zeros((size, width), np.uint8)
            observe_rows(states, rows, seen, self._canonical, 0, len(rows))
        if self._actions == 2:
            mask[: len(rows)] = 1
        else:
            slots = self._actions == NUM_SLOT_ACTIONS
            mask_rows(states, rows, mask, self._canonical, slots, 0, len(rows))
        given = {"observation": seen, "action_mask": mask} if self._dict else seen
        masked = {"action_masks": mask == 1} if _takes_masks(self.model) else {}
        actions, _ = self.model.predict(given, deterministic=True, **masked)
        return np.asarray(actions, np.int64)


def _takes_masks(model: Any) -> bool:
    return "action_masks" in inspect.signature(model.predict).parameters


@contextmanager
def untouched_generators() -> Iterator[None]:
    """Put the global generators of Python, NumPy and torch back as they were."""
    import torch

    python, numpy, of_torch = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
        torch.set_rng_state(of_torch)


def load_policy(path: Path | str, algorithm: type | None = None, **options: Any) -> ModelPolicy:
    """A saved model as a policy; no global generator is touched.

    Stable-Baselines3's files hold pickled objects: load only files that you trust.

    Args:
        path: the file.
        algorithm: the class that saved it, such as ``sb3_contrib.MaskablePPO`` (the default).
        options: as for `ModelPolicy`; the name is the file's unless given.

    Raises:
        FileNotFoundError: for a file that there is not.
        ValueError: for a model of other spaces.
    """
    if algorithm is None:
        from sb3_contrib import MaskablePPO

        algorithm = MaskablePPO
    with untouched_generators():
        # Without its seed nothing is seeded, the generators of other devices neither.
        model = algorithm.load(path, device="cpu", custom_objects={"seed": None})  # type: ignore[attr-defined]
    return ModelPolicy(model, **{"name": Path(path).stem, **options})


def evaluate_masked(
    model: Any, env: Any, n_eval_episodes: int = 100, *, deterministic: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Play episodes with a model's legal actions only.

    Args:
        model: such as a `MaskablePPO`; one that takes no masks must never need them.
        env: an environment with masks: one of this module, or a Gymnasium environment.
        n_eval_episodes: episodes; from many rows each contributes an equal share, so that short
            episodes do not count more often.
        deterministic: whether it plays its most likely action.

    Returns:
        float64[N]: the return of each episode, as the outermost wrapper gives it (that of
        VecNormalize gives normalised ones); int64[N]: its steps.

    Raises:
        ValueError: for an environment without masks, or of another library.
    """
    n_eval_episodes = checked_number("n_eval_episodes", n_eval_episodes, 1, 1 << 31)
    if not isinstance(env, VecEnv | gymnasium.Env):
        raise ValueError(
            f"{type(env).__name__} is not allowed; allowed: a vector environment of "
            "Stable-Baselines3, or a single one of Gymnasium"
        )
    wrapped = env if isinstance(env, VecEnv) else DummyVecEnv([lambda: env])
    if not is_masking_supported(wrapped):
        raise ValueError(f"{env!r} has no action_masks()")
    masked = _takes_masks(model)
    share = -(-n_eval_episodes // wrapped.num_envs)
    returns: list[list[float]] = [[] for _ in range(wrapped.num_envs)]
    lengths: list[list[int]] = [[] for _ in range(wrapped.num_envs)]
    running, steps = np.zeros(wrapped.num_envs), np.zeros(wrapped.num_envs, np.int64)
    seen = wrapped.reset()
    while min(map(len, returns)) < share:
        masks = {"action_masks": get_action_masks(wrapped)} if masked else {}
        actions, _ = model.predict(seen, deterministic=deterministic, **masks)
        seen, rewards, dones, _ = wrapped.step(actions)
        running += rewards
        steps += 1
        for row in np.flatnonzero(dones).tolist():
            if len(returns[row]) < share:
                returns[row].append(float(running[row]))
                lengths[row].append(int(steps[row]))
        running[dones], steps[dones] = 0.0, 0
    return np.concatenate(returns)[:n_eval_episodes], np.concatenate(lengths)[:n_eval_episodes]


# --- knocking, round by round --------------------------------------------------------------------


class KnockVecEnv(_BatchVecEnv):
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
