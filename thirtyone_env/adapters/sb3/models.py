"""Models of Stable-Baselines3 as policies for any seat."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces

from thirtyone_env.actions import NUM_ACTIONS, NUM_SLOT_ACTIONS
from thirtyone_env.adapters.sb3.evaluation import takes_masks
from thirtyone_env.arena import (
    Tables,
    afterstate_rows,
    mask_rows,
    observe_compact_rows,
    observe_rows,
    resolve_actions,
)
from thirtyone_env.bots import NO_BOOK, controller
from thirtyone_env.checks import check_choice
from thirtyone_env.observation import (
    AFTERSTATE_SIZE,
    AFTERSTATES,
    COMPACT_SIZE,
    observation_size,
)
from thirtyone_env.policy import act_in, agents_actions, choose_when_to_knock
from thirtyone_env.rules import MAX_SEATS, Rules


class ModelPolicy:
    """A trained model of Stable-Baselines3 as a policy: an opponent, or anybody at any table.

    What the model looks at and what its actions mean is read off its spaces: a Box or a dict of
    the full observation, with the values of afterstates or without, or of the compact one; 65
    actions (cards), 14 (slots) or 2 (knock or go on). It plays its most likely action, so that no
    generator is drawn from, and computes in chunks of one size, so that a row's action does not
    depend on the others.

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
        sizes = {
            observation_size(n) + more: (n, more > 0)
            for n in range(2, MAX_SEATS + 1)
            for more in (0, AFTERSTATE_SIZE)
        }
        self._compact = seen.shape == (COMPACT_SIZE,) and seen.dtype == np.float32
        if not self._compact and (seen.dtype != np.uint8 or seen.shape[0] not in sizes):
            raise ValueError(f"a model that sees {seen} was not trained on this environment")
        self._players: int | None = None
        self._after = False
        if not self._compact:
            self._players, self._after = sizes[seen.shape[0]]
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
            ValueError: for a table of another size.
        """
        return act_in(env, self)

    def choose(
        self, states: np.ndarray, rows: np.ndarray, *, slots: bool = False, canonical: bool = False
    ) -> np.ndarray:
        """int64[N]: actions of the environment for the seats to act in some rows of STATE[B]."""
        if self._actions != 2:
            answers = self._as_cards(states, rows, self._answers(states, rows))
            agents_actions(states, rows, answers, canonical, slots)
            return answers
        return choose_when_to_knock(
            controller(self.controller),
            lambda asked: self._answers(states, asked),
            states,
            rows,
            slots=slots,
            canonical=canonical,
        )

    def _as_cards(self, states: np.ndarray, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """The model's actions as the engine's."""
        resolved = np.empty(len(rows), np.int64)
        slots = self._actions == NUM_SLOT_ACTIONS
        bad = resolve_actions(
            states, rows, NO_BOOK.array, answers, resolved, self._canonical, slots, MAX_SEATS
        )
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
            more = AFTERSTATE_SIZE if self._after else 0
            seen = np.zeros((size, width + more), np.uint8)
            observe_rows(states, rows, seen, self._canonical, 0, len(rows))
            if self._after:
                seen[: len(rows), width:] = afterstate_flags(states, rows, self._canonical)
        if self._actions == 2:
            mask[: len(rows)] = 1
        else:
            slots = self._actions == NUM_SLOT_ACTIONS
            mask_rows(states, rows, mask, self._canonical, slots, 0, len(rows))
        given = {"observation": seen, "action_mask": mask} if self._dict else seen
        masked = {"action_masks": mask == 1} if takes_masks(self.model) else {}
        actions, _ = self.model.predict(given, deterministic=True, **masked)
        return np.asarray(actions, np.int64)


def afterstate_flags(states: np.ndarray, rows: np.ndarray, canonical: bool) -> np.ndarray:
    """uint8[N, AFTERSTATE_SIZE]: the values of afterstates of the seats to act, as flags."""
    places: np.ndarray = np.empty((len(rows), AFTERSTATES), np.int16)
    afterstate_rows(states, rows, canonical, 0, places)
    flags: np.ndarray = np.zeros((len(rows), AFTERSTATE_SIZE), np.uint8)
    for column in places.T:
        flags[np.flatnonzero(column >= 0), column[column >= 0]] = 1
    return flags


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
