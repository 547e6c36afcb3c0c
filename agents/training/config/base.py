"""What every run is told, whatever learns, and what its policy is measured against."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from agents.evaluation.benchmark import OPPONENTS
from agents.evaluation.options import ConfigError, HouseRules, Names, SeatCounts, rules_of
from agents.training.config.checks import at_least
from thirtyone_env import Rules


@dataclass(frozen=True)
class BenchmarkConfig:
    """What a trained policy is measured against."""

    players: SeatCounts = (2, 4)
    """Seat counts of the tables."""
    opponents: Names = OPPONENTS
    """Bots or saved policies; each fills all other seats in turn."""
    deals: int = 10_000
    """Deals a pairing; each is played once in every rotation of the seats."""
    seed: int = 2_000
    """Start of the cards and of the bots' randomness; not the seed of the training."""
    exploit_deals: int = 1_000
    """Deals an exploiter plays alone among copies of the policy, for the card; 0: none."""
    workers: int | None = None
    """Threads; none: as many as this process may run at once. The numbers do not depend on them."""

    def __post_init__(self) -> None:
        at_least(self, deals=2, seed=0, exploit_deals=0)
        if self.workers is not None:
            at_least(self, workers=1)
        if not self.players or not self.opponents:
            raise ConfigError("benchmark needs at least one seat count and one opponent")


@dataclass(frozen=True)
class RunConfig:
    """What every run has, whatever learns."""

    algorithm: ClassVar[str]

    name: str = "run"
    """The run's folder is runs/NAME-NUMBER."""
    runs: str = "runs"
    """The folder that holds the run folders."""
    seed: int = 1
    """Start of all randomness of the training."""
    rules: str = "danish"
    """The preset that is played."""
    house_rules: HouseRules = field(default_factory=dict)
    """Fields of the rules that differ from the preset."""
    players: SeatCounts = (2,)
    """Seat counts of the tables."""
    benchmark: BenchmarkConfig = field(default_factory=BenchmarkConfig)
    """What the trained policy is measured against."""

    def __post_init__(self) -> None:
        at_least(self, seed=0)
        if not self.name or set(self.name) & set("/\\") or self.name.startswith("."):
            raise ConfigError(f"name must be usable as the name of a folder, not {self.name!r}")
        self.resolved_rules()

    def settled(self) -> RunConfig:
        """With everything called by its own name, once all keys are known."""
        return self

    @property
    def at_tables(self) -> bool:
        """Whether the policy plays at tables with a whole deck, where it can be measured."""
        return True

    def resolved_rules(self) -> Rules:
        """The rules that the preset and the house rules give.

        Raises:
            ConfigError: if they do not exist or do not fit together.
        """
        return rules_of(self.rules, self.house_rules)
