"""What a training of every decision is told, and one of the answer to a policy."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from agents.evaluation.options import ConfigError, Mixture, SeatCounts, rules_of
from agents.policies import make
from agents.training.config.checks import at_least, named, seat_counts, shares, weights
from agents.training.config.models import ModelConfig
from thirtyone_env import Rules, make_bot

TARGET = "target"
"""A name for the policy that a response answers, where a program hands it over."""


def _panel() -> dict[str, float]:
    return {
        "random": 0.25,
        "never_knock": 1.0,
        **{f"threshold:{value}": 1.0 for value in (21, 23, 25, 27, 29, 31)},
        "danish": 1.0,
        "dutch": 1.0,
        "swedish": 1.0,
    }


@dataclass(frozen=True)
class PpoConfig(ModelConfig):
    """Learn every decision by proximal policy optimisation, against itself and a league."""

    algorithm: ClassVar[str] = "ppo"

    name: str = "ppo"
    """The run's folder is runs/NAME-NUMBER."""
    rules: str = "danish"
    """The preset that is played; several, such as "danish,swedish", are dealt out to the rows."""
    steps: int = 45_000_000
    """Decisions of the learner, over all rows and seats; rounded up to whole roll-outs."""
    players: SeatCounts = (2,)
    """Seat counts of the tables; the rows are dealt out to them in turn."""
    self_play: float = 0.5
    """Share of the matches in which every seat is the learner, and all of them learn."""
    snapshot_play: float = 0.25
    """Share of the matches against older copies of the learner, as soon as there are some."""
    opponents: Mixture = field(default_factory=_panel)
    """Bots and saved policies for the other matches, and how often each is drawn, relative to the
    others; where the rules differ by row, each plays where it can."""
    copies: float = 0.9
    """Probability that all opponents of a match are copies of one."""
    league: Literal["uniform", "prioritised", "nash"] = "uniform"
    """How snapshots and bots are drawn: alike (bots by their weights), the more often the less the
    learner wins against them, or by the equilibrium mixture of the matches among all of them."""
    snapshot_every: int = 1_000_000
    """Steps between two snapshots."""
    snapshots: int = 16
    """Most snapshots that are kept, in memory and on disk."""
    episode: Literal["round", "match"] = "round"
    """Whether what follows a round counts for the decisions in it."""
    reward: Literal["equity", "chances", "lives", "match"] = "equity"
    """Changes of the chance to win the match given the lives, among equals or as counted in the
    training's own matches against each kind of opponents; lives lost against the rest; or the
    result of the match alone."""
    reward_scale: float = 3.0
    """Factor on the rewards."""
    rows: int = 1024
    """Tables played side by side."""
    rollout: int = 32
    """Decisions a row between two updates."""
    batch: int = 4096
    """Decisions a gradient step."""
    epochs: int = 3
    """Passes over a roll-out in an update."""
    learning_rate: float = 3e-3
    """At the start; it falls in a straight line."""
    final_learning_rate: float = 1e-4
    """At the end."""
    entropy: float = 0.03
    """Weight of the entropy bonus at the start, which keeps the policy trying all actions."""
    final_entropy: float = 0.005
    """At the end; it goes there in a straight line."""
    gamma: float = 1.0
    """Discount a decision."""
    gae_lambda: float = 0.5
    """Decay of generalised advantage estimation, at the start."""
    final_gae_lambda: float | None = None
    """At the end; it goes there in a straight line. None: it stays."""
    clip: float = 0.2
    """Clip range of the probability ratio."""
    value_weight: float = 0.5
    """Weight of the value loss."""
    max_gradient: float = 0.5
    """Longest gradient; longer ones are cut to it."""
    hidden: tuple[int, ...] = (128, 64)
    """Units of the hidden layers, multiples of 4."""
    afterstates: bool = True
    """Whether the policy is shown what its hand is worth after each discard and exchange."""
    critic: Literal["shared", "own", "open"] = "open"
    """What the value is learned from: the hidden layers of the policy; hidden layers of its own; or
    those, and the hands of the others, which the policy never sees."""
    activation: Literal["tanh", "relu"] = "relu"
    """Between the layers."""
    start_from: str = ""
    """A saved policy that the training begins with, or one that comes with the checkout
    (network:NAME); none if empty: random weights."""
    teacher: str = ""
    """A bot whose decisions the policy learns first, wherever its own play leads; none if empty."""
    teach_first: int = 4_000_000
    """Steps at the start in which it does."""
    value_first: int = 0
    """Steps at the start in which the value alone is learned, so that a policy that the training
    begins with is not pulled about by values that are not worth anything yet."""
    vine_last: int = 0
    """Steps at the end in which every likely action is played out to the end of the round, from the
    same cards: what comes of it takes the place of estimated advantages, and no value is learned
    any more."""
    vine_least: float = 0.02
    """Chance below which an action is not likely."""
    vine_futures: int = 1
    """How often every likely action is played out, each time with the stock in another order."""
    threads: int = 2
    """Threads of tables and updates; a training repeats exactly at the same number on the same
    machine."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, rows=1, rollout=2, batch=2, epochs=1, snapshot_every=1, snapshots=1)
        at_least(self, learning_rate=0, final_learning_rate=0, entropy=0, final_entropy=0)
        at_least(self, reward_scale=0, value_weight=0, max_gradient=0, value_first=0, teach_first=0)
        at_least(self, vine_last=0, vine_futures=1)
        shares(self, "copies", "gamma", "gae_lambda", "self_play", "snapshot_play", "vine_least")
        if self.vine_last and self.taught + self.vine_last > self.steps:
            also = f"teach_first ({self.taught:,}) and " if self.taught else ""
            raise ConfigError(
                f"{also}vine_last ({self.vine_last:,}) must not be more than steps ({self.steps:,})"
            )
        if self.vine_last and self.episode != "round":
            raise ConfigError(
                f"vine_last: decisions are played out to the end of the round; episode must be "
                f"'round', not {self.episode!r}"
            )
        if self.final_gae_lambda is not None:
            shares(self, "final_gae_lambda")
        if self.self_play + self.snapshot_play > 1:
            raise ConfigError("self_play and snapshot_play must not be more than 1 together")
        if not self.hidden or min(self.hidden) < 4 or any(size % 4 for size in self.hidden):
            raise ConfigError(f"hidden must be multiples of 4, one at least, not {self.hidden}")
        if self.rows * self.rollout < self.batch:
            raise ConfigError(
                f"batch must be at most rows × rollout ({self.rows * self.rollout}), not "
                f"{self.batch}"
            )
        weights(self.opponents, needed=self.self_play < 1)
        seat_counts(self.players, *self.all_rules())
        if self.teacher:
            with named("teacher"):
                make_bot(self.teacher)
        with named("opponents"):
            for name in self.opponents:
                if name != TARGET:
                    make(name)

    @property
    def taught(self) -> int:
        """Steps at the start that belong to the teacher; none where there is none."""
        return self.teach_first if self.teacher else 0

    @property
    def torch_threads(self) -> int:
        """One: the threads are the update's own, each with a part of every minibatch."""
        return 1

    def all_rules(self) -> tuple[Rules, ...]:
        """The rule sets that are played.

        Raises:
            ConfigError: if one does not exist.
        """
        names = [name.strip() for name in self.rules.split(",")]
        return tuple(rules_of(name, self.house_rules) for name in names)

    def resolved_rules(self) -> Rules:
        """The first of the rule sets: what the policy is measured by.

        Raises:
            ConfigError: if one does not exist.
        """
        return self.all_rules()[0]


@dataclass(frozen=True)
class BestResponseConfig(PpoConfig):
    """Learn the answer to one policy that does not change: how far it is from unbeatable."""

    algorithm: ClassVar[str] = "best_response"

    name: str = "response"
    """The run's folder is runs/NAME-NUMBER."""
    target: str = "threshold:25"
    """The policy that is answered, a bot or a saved one; it sits on all other seats. "target" among
    the opponents of the benchmark stands for it."""
    warm_start: bool = False
    """Begin with the target itself, whose layers the response then has."""
    steps: int = 20_000_000
    """Decisions of the learner, over all rows and seats; rounded up to whole roll-outs."""
    self_play: float = 0.0
    """Share of the matches in which every seat is the learner; a response needs none."""
    snapshot_play: float = 0.0
    """Share of the matches against older copies of the learner; a response needs none."""
    opponents: Mixture = field(default_factory=dict)
    """Not used: the target is the only opponent."""

    def __post_init__(self) -> None:
        if len(self.opponents) > 1:
            raise ConfigError("opponents: a best response has one alone, which target names")
        object.__setattr__(self, "opponents", {self.target: 1.0})
        if self.panel.every:
            object.__setattr__(
                self, "panel", dataclasses.replace(self.panel, opponents=(self.target,))
            )
        super().__post_init__()

    def settled(self) -> BestResponseConfig:
        """With the target among the opponents of the benchmark called by its name."""
        met = [self.target if one == TARGET else one for one in self.benchmark.opponents]
        benchmark = dataclasses.replace(self.benchmark, opponents=tuple(dict.fromkeys(met)))
        return dataclasses.replace(self, benchmark=benchmark)
