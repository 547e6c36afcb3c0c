"""A neural network that takes every decision, on the full observation.

It reads the bytes of the observation, suits renamed by its own holding (`inputs`), names cards by
their slots, and takes its most likely action, so that no generator is drawn from. Each row is
computed by itself in the kernel (`network_kernels`): a decision depends neither on the other rows
nor on threads.

Shapes: `N` rows, `A` = 14 slot actions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from agents.policies import inputs
from agents.policies.network_kernels import (
    MOST_INPUTS,
    index_rows,
    network_rows,
    pick_rows,
)
from agents.policies.storage import (
    PolicyFileError,
    check_format,
    check_layers,
    name_of,
    network_file,
    read_network,
    refuse_other_rules,
    write_network,
)
from thirtyone_env import Rules
from thirtyone_env.actions import NUM_SLOT_ACTIONS
from thirtyone_env.arena import Tables, mask_rows, observe_rows, resolve_actions
from thirtyone_env.bots import NO_BOOK
from thirtyone_env.observation import observation_size
from thirtyone_env.policy import act_in, agents_actions
from thirtyone_env.rules import MAX_SEATS

FORMAT = "thirtyone-policy"
VERSION = 1
CHUNK = 1024
"""Rows that are worked on at a time, so that memory stays small."""


@dataclass(frozen=True)
class NetworkConfig:
    """What a network was made for, saved with its weights."""

    rules: tuple[Mapping[str, Any], ...]
    """All fields of each rule set it learned by."""
    players: tuple[int, ...]
    """Seat counts it learned at."""
    activation: Literal["tanh", "relu"] = "relu"
    """Between the layers."""
    afterstates: bool = False
    """Whether it reads the values of afterstates."""
    training: Mapping[str, Any] = field(default_factory=dict)
    """How it was trained; for people, not read by anything."""

    @property
    def most_seats(self) -> int:
        """Seats of the largest table."""
        return max(self.players)


@dataclass(frozen=True)
class NetworkPolicy:
    """Takes the legal action that its network gives the greatest chance.

    Raises:
        ValueError: for layers that do not fit together or numbers that are not finite.
    """

    config: NetworkConfig
    weights: tuple[np.ndarray, ...]
    """float32[in, out] and bias float32[out] of each layer in turn; the inputs are bytes."""
    name: str = "policy"

    def __post_init__(self) -> None:
        if not self.config.players or not self.config.rules:
            raise ValueError("a policy is made for some number of players and some rules")
        check_layers(self._inputs, self.weights, NUM_SLOT_ACTIONS)
        hidden = [len(bias) for bias in self.weights[1:-1:2]]
        if any(size % 4 for size in hidden):
            raise ValueError(f"hidden layers must have a multiple of 4 units, not {hidden}")

    @property
    def _inputs(self) -> int:
        return inputs.size(self.config.most_seats, after=self.config.afterstates)

    @property
    def controller(self) -> str:
        """Every decision comes from outside the kernel."""
        return "external"

    @property
    def sizes(self) -> np.ndarray:
        """int64: inputs, then the units of every layer."""
        return np.array([len(self.weights[0]), *(len(bias) for bias in self.weights[1::2])])

    @property
    def flat(self) -> np.ndarray:
        """float32[P]: all numbers of the network, as the kernels read them."""
        return flattened(self.weights)

    def act_batch(self, tables: Tables, rows: Any = None) -> np.ndarray:
        """int64[N]: the actions of the seats to act in these rows; None for all."""
        rows = np.arange(tables.size) if rows is None else np.atleast_1d(np.asarray(rows))
        return self.choose(tables.states, rows)

    def act(self, env: Any) -> int:
        """The action of the agent whose turn it is in an environment of the package.

        Raises:
            TypeError: for an environment of another kind.
            ValueError: for a table that it was not made for.
        """
        return act_in(env, self)

    def choose(
        self, states: np.ndarray, rows: np.ndarray, *, slots: bool = False, canonical: bool = False
    ) -> np.ndarray:
        """int64[N]: actions for the seats to act in some rows of STATE[B].

        Args:
            states: the matches.
            rows: int64[N].
            slots: whether cards are named by their place in the hand.
            canonical: whether suits are renamed.
        """
        rows = np.asarray(rows, np.int64)
        parts = [self._choose(states, rows[a : a + CHUNK]) for a in range(0, len(rows), CHUNK)]
        actions: np.ndarray = np.concatenate([np.empty(0, np.int64), *parts])
        if slots or canonical:
            agents_actions(states, rows, actions, canonical, slots)
        return actions

    def _choose(self, states: np.ndarray, rows: np.ndarray) -> np.ndarray:
        logits = self.logits(states, rows)
        mask: np.ndarray = np.zeros((len(rows), NUM_SLOT_ACTIONS), np.int8)
        mask_rows(states, rows, mask, True, True, 0, len(rows))
        picked, resolved = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        best = np.full(len(rows), -1.0)
        pick_rows(logits, mask, best, picked, np.empty(len(rows), np.float32))
        resolve_actions(states, rows, NO_BOOK.array, picked, resolved, True, True, MAX_SEATS)
        return resolved

    def action_probabilities(self, tables: Tables, row: int) -> dict[int, float]:
        """What the network gives each legal action (card format) of the seat to act in a row.

        The policy itself takes the likeliest of them.
        """
        rows = np.array([row])
        mask: np.ndarray = np.zeros((1, NUM_SLOT_ACTIONS), np.int8)
        mask_rows(tables.states, rows, mask, True, True, 0, 1)
        legal = np.flatnonzero(mask[0])
        logits = self.logits(tables.states, rows)[0, legal].astype(np.float64)
        chances = np.exp(logits - logits.max())
        resolved, book = np.empty(len(legal), np.int64), NO_BOOK.array
        every = np.full(len(legal), row)
        resolve_actions(tables.states, every, book, legal, resolved, True, True, MAX_SEATS)
        return dict(zip(resolved.tolist(), (chances / chances.sum()).tolist(), strict=True))

    def logits(self, states: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """float32[N, A]: what the network gives for the seats to act, illegal actions among it."""
        count = len(rows)
        spots = np.empty(count * MOST_INPUTS, np.uint16)
        amounts = np.empty(count * MOST_INPUTS, np.uint8)
        starts: np.ndarray = np.zeros(count + 1, np.int64)
        seats = states["num_players"][rows]
        order = np.argsort(seats, kind="stable")
        first = 0
        for size in np.unique(seats).tolist():
            mine = order[seats[order] == size]
            seen: np.ndarray = np.empty((len(mine), observation_size(size)), np.uint8)
            observe_rows(states, rows[mine], seen, True, 0, len(mine))
            layouts = inputs.layout(size, self.config.most_seats)[None]
            kinds: np.ndarray = np.zeros(len(mine), np.int64)
            most, after = self.config.most_seats, self.config.afterstates
            more = inputs.beside(states, rows[mine], most, after=after)
            index_rows(seen, layouts, kinds, more, starts, spots, amounts, first)
            first += len(mine)
        out: np.ndarray = np.empty((count, NUM_SLOT_ACTIONS), np.float32)
        sizes = self.sizes
        network_rows(
            starts,
            spots,
            amounts,
            np.argsort(order),
            self.flat[None],
            np.zeros(count, np.int64),
            sizes,
            self.config.activation == "relu",
            np.empty((2, sizes[1:].max()), np.float32),
            out,
        )
        return out

    def check(self, rules: Rules, num_players: int) -> None:
        """Refuse a table the policy was not made for.

        Raises:
            ValueError: naming every rule that differs from the nearest of its rule sets, or the
                seat counts it knows.
        """
        if num_players not in self.config.players:
            known = " and ".join(str(n) for n in self.config.players)
            raise ValueError(f"{self.name} learned at tables of {known}, not of {num_players}")
        refuse_other_rules(self.name, self.config.rules, rules)

    def save(self, folder: Path) -> Path:
        """Write `policy.safetensors` and `policy.json`, each by a temporary file and a rename.

        Returns:
            The path of the weights, which `load` takes.
        """
        header = {
            "format": FORMAT,
            "version": VERSION,
            "observation": inputs.names(self.config.most_seats, after=self.config.afterstates),
            "actions": "slot",
            "canonical_suits": True,
            "layers": self.sizes.tolist(),
            **asdict(self.config),
        }
        return write_network(folder, header, self.weights)

    @classmethod
    def load(cls, path: Path | str, name: str | None = None) -> NetworkPolicy:
        """Read a saved policy.

        Args:
            path: the run folder, or the `.safetensors` or `.json` file in it.
            name: what tables call it; the folder's name if not given.

        Raises:
            PolicyFileError: if it is missing, damaged, or made for other observations.
        """
        file = network_file(path)
        header, weights = read_network(file)
        try:
            check_format(header, FORMAT, VERSION)
            config = NetworkConfig(
                rules=tuple(dict(rules) for rules in header["rules"]),
                players=tuple(int(n) for n in header["players"]),
                activation=header["activation"],
                afterstates=bool(header.get("afterstates", False)),
                training=dict(header["training"]),
            )
            other = inputs.differences(header["observation"], config.most_seats)
            if other:
                raise PolicyFileError(f"{file} reads other observations ({other})")
            return cls(config, weights, name or name_of(file))
        except PolicyFileError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise PolicyFileError(f"{file} is not a readable policy: {error}") from error


def flattened(weights: Sequence[np.ndarray]) -> np.ndarray:
    """float32[P]: the layers of a network one after another."""
    flat: np.ndarray = np.concatenate([np.ravel(array) for array in weights]).astype(np.float32)
    return flat
