"""What a training of tables for the whole round is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from agents.evaluation.options import ConfigError, Mixture, SeatCounts
from agents.training.config.base import RunConfig
from agents.training.config.checks import at_least, named, seat_counts, shares, weights
from thirtyone_env import make_bot
from thirtyone_env.game import checked_deck
from thirtyone_env.rules import MAX_SEATS
from thirtyone_env.tree import Tree

MAX_OWN_TURNS = 6
"""Own turns of a round that are tried to its end; each makes that about eight times as long."""


@dataclass(frozen=True)
class SolverConfig(RunConfig):
    """Learn what every decision of a round is worth, in tables, by self-play in the kernel."""

    algorithm: ClassVar[str] = "solver"

    name: str = "solver"
    """The run's folder is runs/NAME-NUMBER."""
    players: SeatCounts = (2,)
    """Seat counts; each has tables of its own, one after another learned."""
    information: Literal["classes", "seen"] = "classes"
    """What tables go by: classes of hands with an open card, or all that was seen (short games)."""
    cards: str = ""
    """For `seen`: the cards of a short deck, such as "As Ks 9s Ah Kh 9h Qd 9d"; else the rules'."""
    known: str = ""
    """For `seen`: cards of it that every round begins with, in dealing order, known to all."""
    batches: int = 800
    """Batches of rounds for each seat count; the tables change after each."""
    batches_at: Mixture = field(default_factory=dict)
    """Batches at tables of some sizes, where others are wanted than `batches`."""
    rounds: int = 12_000
    """Rounds of a batch."""
    turns: int = 12
    """Own turns that are told apart; later ones count with the last."""
    damping: float = 0.6
    """Share of the mean error of a batch that is added to the tables, at first."""
    half_life: int = 15
    """Batches until the damping is half of that; it falls as 1 / (1 + batch / half_life)."""
    final_damping: float = 0.01
    """The least damping."""
    explore: float = 0.1
    """How likely a seat decides at random; in every second round one seat explores."""
    ramp: float = 0.02
    """Knocks are drawn by lot where the worth of knocking and going on differ by less, in lives."""
    opponents: Mixture = field(default_factory=lambda: {"self": 1.0})
    """Who sits on the other seats of a part of a batch: the learner itself, or copies of a bot."""
    threads: int = 2
    """Threads; the result does not depend on them."""
    save_every: int = 100
    """Batches between two savings of the tables."""
    measured_nodes: int = 200_000
    """For `seen`: games of at most so many nodes are enumerated, to measure exploitability."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, batches=1, rounds=8, turns=1, half_life=1, threads=1, save_every=1)
        at_least(self, measured_nodes=0)
        shares(self, "damping", "final_damping", "explore")
        if not 0 < self.ramp <= 2 or self.turns > 50:
            raise ConfigError(
                f"ramp must lie above 0, up to 2, and turns be at most 50, not {self.ramp} and "
                f"{self.turns}"
            )
        if not self.players:
            raise ConfigError("players must name at least one seat count")
        seat_counts(self.players, self.resolved_rules())
        whole = all(value >= 1 and value == int(value) for value in self.batches_at.values())
        sizes = set(map(str, range(2, MAX_SEATS + 1)))  # also those that are not played now
        if not whole or not set(self.batches_at) <= sizes:
            raise ConfigError(
                f"batches_at = {self.batches_at} must give seat counts, 2 … {MAX_SEATS}, whole "
                "numbers of batches, 1 or more"
            )
        weights(self.opponents)
        with named("opponents"):
            for name in self.opponents:
                if name != "self":
                    make_bot(name)
        self._check_information()

    def _check_information(self) -> None:
        """Refuse what tables of information sets are not made for, and their keys without them."""
        if self.information == "classes":
            if self.cards or self.known:
                raise ConfigError("cards and known are for information: seen alone")
            return
        rules = self.resolved_rules()
        if rules.family != "draw":
            raise ConfigError(f"information: seen is for the draw family, not for {self.rules}")
        if len(self.players) > 1 or set(self.opponents) != {"self"}:
            raise ConfigError("information: seen learns at tables of one size, by self-play")
        most = MAX_OWN_TURNS * self.players[0]
        if rules.max_turns > most:
            raise ConfigError(
                "information: seen tries every choice to the end of the round; house_rules must "
                f"set max_turns to at most {most}, not {rules.max_turns}"
            )
        with named("cards and known"):
            self.tree()

    def batches_of(self, seats: int) -> int:
        """The batches at tables of one size."""
        return int(self.batches_at.get(str(seats), self.batches))

    @property
    def at_tables(self) -> bool:
        """With a short deck there is no table for it but the tree of the game."""
        return not self.cards

    def tree(self) -> Tree:
        """The round that is learned, as a tree.

        Raises:
            ValueError: for cards that there are not, or too few of them.
        """
        rules = self.resolved_rules()
        cards, known = (tuple(checked_deck(rules, text)) for text in (self.cards, self.known))
        return Tree(rules, self.players[0], one_round=True, cards=cards, deck=known)
