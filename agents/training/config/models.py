"""What trainings of a model of Stable-Baselines3 are told: steps, checkpoints, the panel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from agents.evaluation.options import ConfigError, Names, SeatCounts
from agents.training.config.base import RunConfig
from agents.training.config.checks import at_least, seat_counts

PANEL = (
    "never_knock",
    "threshold:21",
    "threshold:25",
    "threshold:27",
    "threshold:29",
    "threshold:31",
    "danish",
    "dutch",
)
"""Opponents of the panel unless others are named."""


@dataclass(frozen=True)
class PanelConfig:
    """What the policy is measured against while it learns."""

    every: int = 1_000_000
    """Environment steps between two evaluations; 0: none, and the last policy is the best."""
    players: SeatCounts = ()
    """Seat counts of the tables; none: those of the training."""
    opponents: Names = PANEL
    """Bots or saved policies; each fills all other seats in turn."""
    deals: int = 300
    """Deals a pairing, the same every time; each is played once in every rotation of the seats."""
    seed: int = 3_000
    """Start of the cards and of the bots' randomness; not the training's, nor the benchmark's."""
    workers: int | None = None
    """Threads; none: as many as this process may run at once. The numbers do not depend on them."""

    def __post_init__(self) -> None:
        at_least(self, every=0, deals=2, seed=0)
        if self.workers is not None:
            at_least(self, workers=1)
        if not self.opponents:
            raise ConfigError("panel needs at least one opponent")


@dataclass(frozen=True)
class ModelConfig(RunConfig):
    """What every training of a model of Stable-Baselines3 has, which can be resumed."""

    steps: int = 5_000_000
    """Decisions of the learner, over all rows; rounded up to whole roll-outs."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where the networks are; networks this small learn faster on the processor."""
    threads: int = 1
    """Threads of torch; a training repeats exactly at the same number on the same machine.

    Networks this small gain little from a second one, and lose a lot if another program needs it.
    """
    save_every: int = 1_000_000
    """Steps between two checkpoints; the policy so far is saved with each."""
    panel: PanelConfig = field(default_factory=PanelConfig)
    """What the policy is measured against while it learns; the best by it is kept."""

    @property
    def torch_threads(self) -> int:
        """Threads that torch gets."""
        return self.threads

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, steps=0, threads=1, save_every=1)
        if not self.players:
            raise ConfigError("players must name at least one seat count")
        for where, sizes in (("players", self.players), ("panel.players", self.panel.players)):
            seat_counts(sizes, self.resolved_rules(), key=where)
