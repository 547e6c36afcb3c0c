"""What a training of a knock chart is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from agents.evaluation.options import ConfigError, SeatCounts
from agents.training.config.base import RunConfig
from agents.training.config.checks import at_least, named, seat_counts
from thirtyone_env.bots import drawing
from thirtyone_env.charts import MAX_PICK_UPS


@dataclass(frozen=True)
class ChartConfig(RunConfig):
    """Learn a knock chart on a bank of rounds; draws and discards are the kernel's."""

    algorithm: ClassVar[str] = "chart"

    name: str = "chart"
    """The run's folder is runs/NAME-NUMBER."""
    players: SeatCounts = (2, 3, 4, 5, 6)
    """Numbers of players, one after the other; each is learned by itself."""
    draws: str = "greedy"
    """The rule that draws and discards for everybody."""
    lives: bool = False
    """Learn heads-up what to do with every number of own and other lives, for chances to win the
    match; without, lives lost are counted alike in all of them."""
    meets_blind: bool = False
    """Learn lives in every second pass against a chart that knows nothing of them, which is learned
    first, by the same recipe."""
    bank: int = 800_000
    """Player-rounds of the bank at each number of players: rounds times players, halved."""
    batch: int = 20_000
    """The same of an update."""
    passes: int = 22
    """Times that the bank is gone through."""
    tremble: float = 0.05
    """Probability of doing the other thing, at the start; it falls to 0 in a straight line."""
    rate: float = 8.0
    """Log odds of knocking that a gain of 1 adds in an update."""
    temperature: float = 0.05
    """Gain that makes knocking e times as likely as going on, at the start."""
    final_temperature: float = 0.001
    """The same at the end; it falls by the same factor every update."""
    cooled: float = 0.7
    """Share of the updates after which the temperature falls no more, and the tremble is 0."""
    averaged: float = 0.3
    """Share of the updates, the last ones, whose charts are averaged."""
    shape: Literal["free", "monotone"] = "free"
    """Any chart, or only charts that knock from some value on."""
    turns: int = 5
    """Own turns that are told apart; later ones count with the last."""
    gains: tuple[int, ...] = (1,)
    """Half points from which on a gain by the upcard counts in the next bin."""
    pick_ups: int = 3
    """1: it does not matter what opponents picked up; 2: whether one took the upcard in its last
    turn; 3: also whether one still holds a card that it took before."""
    seats: bool = True
    """Whether the place in the round matters."""
    first_value: int = 20
    """Half points of the lowest bin of hand values."""
    value_step: int = 2
    """Half points from bin to bin."""
    last_value: int = 60
    """Half points of the highest bin."""
    fit_rounds: int = 1_000_000
    """Player-rounds that the best response is fitted on, as for the bank."""
    score_rounds: int = 4_000_000
    """New player-rounds that it is scored on."""
    table_rounds: int = 400_000
    """Player-rounds of the table against fixed thresholds."""
    compare: str = ""
    """A chart, by file or name, that the report shows the differences from; none if empty."""
    threads: int = 2
    """Threads; the numbers do not depend on them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, bank=1000, batch=100, passes=1, threads=1, turns=1, value_step=1)
        at_least(self, fit_rounds=100, score_rounds=100, table_rounds=100)
        at_least(self, first_value=0, pick_ups=1)
        if not 0 <= self.tremble < 0.5:
            raise ConfigError(f"tremble must lie between 0 and 0.5, not {self.tremble}")
        for name in ("cooled", "averaged"):
            if not 0 < getattr(self, name) <= 1:
                raise ConfigError(f"{name} must lie above 0, up to 1, not {getattr(self, name)}")
        for name in ("rate", "temperature", "final_temperature"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ConfigError(f"{name} must be a number above 0, not {getattr(self, name)}")
        if self.pick_ups > MAX_PICK_UPS:
            raise ConfigError(f"pick_ups must be 1, 2 or {MAX_PICK_UPS}, not {self.pick_ups}")
        if self.last_value < self.first_value:
            raise ConfigError(f"last_value must be at least {self.first_value}")
        numbers = tuple(range(min(self.players, default=2), max(self.players, default=1) + 1))
        if self.players != numbers:
            raise ConfigError(f"players must be numbers one after the other, not {self.players}")
        if self.lives and self.players != (2,):
            raise ConfigError(f"lives are learned heads-up: players must be 2, not {self.players}")
        if self.meets_blind and not self.lives:
            raise ConfigError("meets_blind is for charts that know lives")
        with named("draws"):
            drawing(self.draws)
        seat_counts(self.players, self.resolved_rules())
