"""What a training of when to knock is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from agents.evaluation.options import ConfigError, Mixture, SeatCounts
from agents.training.config.checks import at_least, named, shares, weights
from agents.training.config.models import ModelConfig
from thirtyone_env import make_bot


def _mixture() -> dict[str, float]:
    return {
        "random": 0.5,
        "never_knock": 2.0,
        **{f"threshold:{value}": 1.0 for value in (17, 19, 21, 23, 25, 27, 29, 30, 31)},
        "danish": 1.0,
        "dutch": 1.0,
        "swedish": 1.0,
    }


@dataclass(frozen=True)
class KnockConfig(ModelConfig):
    """What every training has that learns when to knock; draws and discards are the kernel's."""

    name: str = "knock"
    """The run's folder is runs/NAME-NUMBER."""
    players: SeatCounts = (2, 4)
    """Seat counts of the tables; the rows are dealt out to them in turn."""
    opponents: Mixture = field(default_factory=_mixture)
    """Bots and how often each is drawn for a match, relative to the others."""
    copies: float = 0.9
    """Probability that all opponents of a match are copies of one bot."""
    draws: Literal["greedy", "swedish"] = "greedy"
    """The rule that draws and discards for the learner."""
    reward: Literal["equity", "lives"] = "equity"
    """Changes of the chance to win the match given the lives, or lives lost against the rest."""
    reward_scale: float = 3.0
    """Factor on the rewards."""
    rows: int = 1024
    """Tables played side by side."""
    gamma: float = 1.0
    """Discount a decision."""
    hidden: tuple[int, ...] = (64, 64)
    """Units of the hidden layers, of every network."""
    activation: Literal["tanh", "relu"] = "relu"
    """Between the layers; relu takes half the time of tanh."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, rows=1, reward_scale=0)
        shares(self, "copies", "gamma")
        if not self.hidden or min(self.hidden) < 1:
            raise ConfigError("hidden must name at least one layer, each of at least one unit")
        weights(self.opponents)
        with named("opponents"):
            for name in self.opponents:
                make_bot(name)


@dataclass(frozen=True)
class KnockPpoConfig(KnockConfig):
    """Learn when to knock by proximal policy optimisation; draws and discards are the kernel's."""

    algorithm: ClassVar[str] = "knock_ppo"

    rollout: int = 32
    """Decisions a row between two updates."""
    batch: int = 4096
    """Decisions a gradient step."""
    epochs: int = 5
    """Passes over a roll-out in an update."""
    learning_rate: float = 1e-2
    """At the start; it falls in a straight line."""
    final_learning_rate: float = 1e-4
    """At the end."""
    entropy: float = 0.01
    """Weight of the entropy bonus, which keeps the policy trying both actions."""
    gae_lambda: float = 0.95
    """Decay of generalised advantage estimation."""
    clip: float = 0.2
    """Clip range of the probability ratio."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, rollout=1, batch=2, epochs=1)
        at_least(self, learning_rate=0, final_learning_rate=0, entropy=0)
        shares(self, "gae_lambda")
        if self.rows * self.rollout % self.batch:
            raise ConfigError(
                f"batch must divide rows × rollout ({self.rows * self.rollout}), not {self.batch}"
            )


@dataclass(frozen=True)
class KnockDqnConfig(KnockConfig):
    """Learn when to knock by deep Q-learning; draws and discards are the kernel's."""

    algorithm: ClassVar[str] = "knock_dqn"

    rows: int = 512
    """Tables played side by side."""
    batch: int = 2048
    """Decisions a gradient step, drawn from the replay buffer."""
    updates: int = 2
    """Gradient steps after every decision of all rows."""
    buffer: int = 500_000
    """Decisions that the replay buffer holds."""
    warm_up: int = 50_000
    """Decisions before the first gradient step."""
    target_every: int = 10_240
    """Steps between two copies of the network that learns to the one that it learns from."""
    explore: float = 1.0
    """How likely a decision is random, at the start; it falls in a straight line."""
    final_explore: float = 0.05
    """And at the end of the fall."""
    explore_share: float = 0.2
    """Share of the steps after which that is so."""
    learning_rate: float = 2e-3
    """At the start; it falls in a straight line."""
    final_learning_rate: float = 1e-5
    """At the end."""
    save_replay: bool = False
    """Whether checkpoints hold the replay buffer; without, a resumed run fills a new one first."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, batch=2, updates=1, warm_up=0, learning_rate=0, final_learning_rate=0)
        at_least(self, target_every=self.rows, buffer=32 * self.rows)
        shares(self, "explore", "final_explore", "explore_share")
