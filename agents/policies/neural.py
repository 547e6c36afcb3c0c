"""A small neural network that decides when to knock, saved as weights and configuration.

It is saved as `storage` says.

torch is imported when a network is first asked, since commands that need none start twice as fast.
Inference is done in float64 by one torch thread, each row by itself: the decision in a row does
not depend on which other rows are asked at the same time.

Shapes: `B` rows, `K` size of the compact observation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from agents.policies.storage import (
    FILE_NAME,
    LAST,
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
from thirtyone_env.arena import Tables, observe_compact_rows
from thirtyone_env.bots import DRAWS, controller
from thirtyone_env.observation import COMPACT_SIZE, compact_names
from thirtyone_env.policy import act_in, choose_when_to_knock

FORMAT = "thirtyone-knock-policy"
VERSION = 1

__all__ = [
    "FILE_NAME",
    "LAST",
    "KnockPolicy",
    "KnockPolicyConfig",
    "PolicyFileError",
    "one_torch_thread",
]


@dataclass(frozen=True)
class KnockPolicyConfig:
    """What a policy was made for, saved with its weights."""

    rules: Mapping[str, Any]
    """All fields of the rules it learned by."""
    players: tuple[int, ...]
    """Seat counts it learned at."""
    activation: Literal["tanh", "relu"] = "tanh"
    """Between the layers."""
    observation: tuple[str, ...] = field(default_factory=lambda: tuple(compact_names()))
    """The names of the numbers it reads, in order."""
    draws: str = "greedy"
    """The rule of the kernel that draws and discards for it."""
    training: Mapping[str, Any] = field(default_factory=dict)
    """How it was trained; for people, not read by anything."""


@dataclass(frozen=True)
class KnockPolicy:
    """Knocks when the network gives knocking a probability of one half or more.

    Draws and discards are a rule of the kernel; the policy is asked only where knocking and
    continuing are both legal.
    """

    config: KnockPolicyConfig
    weights: tuple[np.ndarray, ...]
    """float32[in, out] and bias float32[out] of each layer in turn; the last `out` is 2."""
    name: str = "knock policy"

    def __post_init__(self) -> None:
        check_layers(len(self.config.observation), self.weights, 2)

    @property
    def controller(self) -> str:
        """The seat's draws and discards are the kernel's, the knocks this policy's."""
        return f"knock:{self.config.draws}"

    def knock_probability(self, observations: np.ndarray) -> np.ndarray:
        """Probability of knocking float64[B] for observations float32[B, K]."""
        import torch

        layers = [torch.from_numpy(array.astype(np.float64)) for array in self.weights]
        activation = getattr(torch, self.config.activation)
        with torch.inference_mode(), one_torch_thread():
            x = torch.from_numpy(np.asarray(observations, np.float64))
            for i in range(0, len(layers), 2):
                if i:
                    x = activation(x)
                x = torch.addmm(layers[i + 1], x, layers[i])
            probability: np.ndarray = torch.sigmoid(x[:, 1] - x[:, 0]).numpy()
        return probability

    def act_batch(self, tables: Tables, rows: np.ndarray | None = None) -> np.ndarray:
        """int64[N]: 1 knocks, 0 goes on, for the seats to act in these rows; None for all."""
        return self.decide(tables.observe("compact", rows))

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
        """int64[N]: actions of the environment for the seats to act in some rows of STATE[B].

        Args:
            states: the matches.
            rows: int64[N].
            slots: whether cards are named by their place in the hand.
            canonical: whether suits are renamed.
        """

        def decide(asked: np.ndarray) -> np.ndarray:
            observations = np.zeros((asked.size, COMPACT_SIZE), np.float32)
            observe_compact_rows(states, asked, observations, 0, asked.size)
            return self.decide(observations)

        return choose_when_to_knock(
            controller(self.controller), decide, states, rows, slots=slots, canonical=canonical
        )

    def decide(self, observations: np.ndarray) -> np.ndarray:
        """int64[B]: 1 knocks, 0 goes on, for compact observations float32[B, K]."""
        return (self.knock_probability(observations) >= 0.5).astype(np.int64)

    def check(self, rules: Rules, num_players: int) -> None:
        """Refuse a table the policy was not made for.

        Raises:
            ValueError: naming every rule that differs, or the seat counts it knows.
        """
        if num_players not in self.config.players:
            known = " and ".join(str(n) for n in self.config.players)
            raise ValueError(f"{self.name} learned at tables of {known}, not of {num_players}")
        refuse_other_rules(self.name, [self.config.rules], rules)

    def save(self, folder: Path) -> Path:
        """Write `policy.safetensors` and `policy.json`, each by a temporary file and a rename.

        Returns:
            The path of the weights, which `load` takes.
        """
        header = {"format": FORMAT, "version": VERSION, **asdict(self.config)}
        return write_network(folder, header, self.weights)

    @classmethod
    def load(cls, path: Path | str, name: str | None = None) -> KnockPolicy:
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
            config = _config(header)
        except (KeyError, TypeError, ValueError) as error:
            raise PolicyFileError(f"{file} is not a readable policy: {error}") from error
        _check_observation(file, config.observation)
        try:
            return cls(config, weights, name or name_of(file))
        except ValueError as error:
            raise PolicyFileError(f"{file} is not a readable policy: {error}") from error


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Let torch compute in this thread alone, so that sums are formed in one order."""
    import torch

    before = torch.get_num_threads()
    if before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _config(header: Mapping[str, Any]) -> KnockPolicyConfig:
    check_format(header, FORMAT, VERSION)
    draws = header.get("draws", "greedy")
    if draws not in DRAWS:
        raise ValueError(f"unknown rule to draw by {draws!r}")
    return KnockPolicyConfig(
        rules=dict(header["rules"]),
        players=tuple(int(n) for n in header["players"]),
        activation=header["activation"],
        observation=tuple(str(name) for name in header["observation"]),
        draws=draws,
        training=dict(header["training"]),
    )


def _check_observation(file: Path, names: tuple[str, ...]) -> None:
    now = tuple(compact_names())
    if names == now:
        return
    gone = sorted(set(names) - set(now))
    new = sorted(set(now) - set(names))
    parts = [f"{len(names)} numbers, now {len(now)}"] if len(names) != len(now) else []
    parts += [
        f"{label}: {', '.join(found)}" for label, found in (("gone", gone), ("new", new)) if found
    ]
    raise PolicyFileError(
        f"{file} reads other observations ({'; '.join(parts) or 'in another order'})"
    )
