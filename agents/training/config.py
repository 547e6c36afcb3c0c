"""Typed configurations: dataclasses, read from YAML 1.2 files and from the command line.

A field is documented once, in the text below it; `train.py CONFIG --help` and the documentation
read it there. Whatever a file says that no field expects is refused, with the nearest valid key.
"""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

from ruamel.yaml import YAML

from agents.evaluation.benchmark import OPPONENTS
from agents.evaluation.options import (
    ConfigError,
    HouseRules,
    Mixture,
    Names,
    SeatCounts,
    rules_of,
)
from agents.evaluation.typed import build, nearest, read_yaml
from agents.policies import make
from thirtyone_env import Rules, make_bot
from thirtyone_env.bots import drawing

Config = TypeVar("Config")


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
    """Deals a rule bot plays alone among copies of the policy, for the card; 0: none."""
    workers: int | None = None
    """Threads; none: as many as this process may run at once. The numbers do not depend on them."""

    def __post_init__(self) -> None:
        _at_least(self, deals=2, seed=0, exploit_deals=0)
        if self.workers is not None:
            _at_least(self, workers=1)
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
        _at_least(self, seed=0)
        if not self.name or set(self.name) & set("/\\") or self.name.startswith("."):
            raise ConfigError(f"name must be usable as the name of a folder, not {self.name!r}")
        self.resolved_rules()

    def resolved_rules(self) -> Rules:
        """The rules that the preset and the house rules give.

        Raises:
            ConfigError: if they do not exist or do not fit together.
        """
        return rules_of(self.rules, self.house_rules)


def _mixture() -> dict[str, float]:
    return {
        "random": 0.5,
        "never_knock": 2.0,
        **{f"threshold:{value}": 1.0 for value in (17, 19, 21, 23, 25, 27, 29, 30, 31)},
        "danish": 1.0,
        "dutch": 1.0,
        "swedish": 1.0,
    }


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
        _at_least(self, every=0, deals=2, seed=0)
        if self.workers is not None:
            _at_least(self, workers=1)
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
        _at_least(self, steps=0, threads=1, save_every=1)
        if not self.players:
            raise ConfigError("players must name at least one seat count")
        for where, sizes in (("players", self.players), ("panel.players", self.panel.players)):
            with _named(where):
                for size in sizes:
                    self.resolved_rules().check_seats(size)


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
        _at_least(self, rows=1, reward_scale=0)
        _shares(self, "copies", "gamma")
        if not self.hidden or min(self.hidden) < 1:
            raise ConfigError("hidden must name at least one layer, each of at least one unit")
        weights = self.opponents.values()
        if min(weights, default=0) < 0 or not any(weights):
            raise ConfigError("opponents must give bots weights of 0 or more, one a weight above 0")
        with _named("opponents"):
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
        _at_least(self, rollout=1, batch=2, epochs=1)
        _at_least(self, learning_rate=0, final_learning_rate=0, entropy=0)
        _shares(self, "gae_lambda")
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
        _at_least(self, batch=2, updates=1, warm_up=0, learning_rate=0, final_learning_rate=0)
        _at_least(self, target_every=self.rows, buffer=32 * self.rows)
        _shares(self, "explore", "final_explore", "explore_share")


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
    pick_ups: bool = True
    """Whether it matters that an opponent took the upcard in its last turn."""
    seats: bool = True
    """Whether the place in the round matters."""
    first_value: int = 20
    """Half points of the lowest bin of hand values."""
    value_step: int = 2
    """Half points from bin to bin."""
    last_value: int = 60
    """Half points of the highest bin."""
    fit_rounds: int = 1_000_000
    """Rounds that the best response is fitted on."""
    score_rounds: int = 4_000_000
    """New rounds that it is scored on."""
    table_rounds: int = 400_000
    """Rounds of the table against fixed thresholds."""
    compare: str = ""
    """A chart, by file or name, that the report shows the differences from; none if empty."""
    threads: int = 2
    """Threads; the numbers do not depend on them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _at_least(self, bank=1000, batch=100, passes=1, threads=1, turns=1, value_step=1)
        _at_least(self, fit_rounds=100, score_rounds=100, table_rounds=100)
        _at_least(self, first_value=0)
        if not 0 <= self.tremble < 0.5:
            raise ConfigError(f"tremble must lie between 0 and 0.5, not {self.tremble}")
        for name in ("cooled", "averaged"):
            if not 0 < getattr(self, name) <= 1:
                raise ConfigError(f"{name} must lie above 0, up to 1, not {getattr(self, name)}")
        for name in ("rate", "temperature", "final_temperature"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ConfigError(f"{name} must be a number above 0, not {getattr(self, name)}")
        if self.last_value < self.first_value:
            raise ConfigError(f"last_value must be at least {self.first_value}")
        numbers = tuple(range(min(self.players, default=2), max(self.players, default=1) + 1))
        if self.players != numbers:
            raise ConfigError(f"players must be numbers one after the other, not {self.players}")
        if self.lives and self.players != (2,):
            raise ConfigError(f"lives are learned heads-up: players must be 2, not {self.players}")
        with _named("draws"):
            drawing(self.draws)
        with _named("players"):
            for size in self.players:
                self.resolved_rules().check_seats(size)


@dataclass(frozen=True)
class SolverConfig(RunConfig):
    """Learn what every decision of a round is worth, in tables, by self-play in the kernel."""

    algorithm: ClassVar[str] = "solver"

    name: str = "solver"
    """The run's folder is runs/NAME-NUMBER."""
    players: SeatCounts = (2,)
    """Seat counts; each has tables of its own, one after another learned."""
    batches: int = 800
    """Batches of rounds for each seat count; the tables change after each."""
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

    def __post_init__(self) -> None:
        super().__post_init__()
        _at_least(self, batches=1, rounds=8, turns=1, half_life=1, threads=1, save_every=1)
        _shares(self, "damping", "final_damping", "explore")
        if not 0 < self.ramp <= 2 or self.turns > 50:
            raise ConfigError(
                f"ramp must lie above 0, up to 2, and turns be at most 50, not {self.ramp} and "
                f"{self.turns}"
            )
        if self.resolved_rules().family != "draw":
            raise ConfigError("rules: a solver learns games of the draw family alone")
        if not self.players:
            raise ConfigError("players must name at least one seat count")
        with _named("players"):
            for size in self.players:
                self.resolved_rules().check_seats(size)
        weights = self.opponents.values()
        if min(weights, default=0) < 0 or not any(weights):
            raise ConfigError("opponents must give bots weights of 0 or more, one a weight above 0")
        with _named("opponents"):
            for name in self.opponents:
                if name != "self":
                    make_bot(name)


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
    reward: Literal["equity", "lives", "match"] = "equity"
    """Changes of the chance to win the match given the lives, lives lost against the rest, or the
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
    """Decay of generalised advantage estimation."""
    clip: float = 0.2
    """Clip range of the probability ratio."""
    value_weight: float = 0.5
    """Weight of the value loss."""
    max_gradient: float = 0.5
    """Longest gradient; longer ones are cut to it."""
    hidden: tuple[int, ...] = (128, 64)
    """Units of the hidden layers, multiples of 4."""
    critic: Literal["shared", "own", "open"] = "open"
    """What the value is learned from: the hidden layers of the policy; hidden layers of its own; or
    those, and the hands of the others, which the policy never sees."""
    activation: Literal["tanh", "relu"] = "relu"
    """Between the layers."""
    start_from: str = ""
    """A saved policy that the training begins with, or one that comes with the checkout
    (network:NAME); none if empty: random weights."""
    value_first: int = 0
    """Steps at the start in which the value alone is learned, so that a policy that the training
    begins with is not pulled about by values that are not worth anything yet."""
    threads: int = 2
    """Threads of an update; a training repeats exactly at the same number on the same machine."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _at_least(self, rows=1, rollout=2, batch=2, epochs=1, snapshot_every=1, snapshots=1)
        _at_least(self, learning_rate=0, final_learning_rate=0, entropy=0, final_entropy=0)
        _at_least(self, reward_scale=0, value_weight=0, max_gradient=0, value_first=0)
        _shares(self, "copies", "gamma", "gae_lambda", "self_play", "snapshot_play")
        if self.device != "cpu":
            raise ConfigError("device must be cpu: its first layer is a kernel of the processor")
        if self.self_play + self.snapshot_play > 1:
            raise ConfigError("self_play and snapshot_play must not be more than 1 together")
        if not self.hidden or min(self.hidden) < 4 or any(size % 4 for size in self.hidden):
            raise ConfigError(f"hidden must be multiples of 4, one at least, not {self.hidden}")
        if self.rows * self.rollout < self.batch:
            raise ConfigError(
                f"batch must be at most rows × rollout ({self.rows * self.rollout}), not "
                f"{self.batch}"
            )
        weights = self.opponents.values()
        if min(weights, default=0) < 0 or (self.self_play < 1 and not any(weights)):
            raise ConfigError("opponents must give bots weights of 0 or more, one a weight above 0")
        with _named("players"):
            for rules in self.all_rules():
                for size in self.players:
                    rules.check_seats(size)
        with _named("opponents"):
            for name in self.opponents:
                if name != TARGET:
                    make(name)

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
    """The policy that is answered, a bot or a saved one; it sits on all other seats."""
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


ALGORITHMS: dict[str, type[RunConfig]] = {
    config.algorithm: config
    for config in (
        KnockPpoConfig,
        KnockDqnConfig,
        PpoConfig,
        BestResponseConfig,
        ChartConfig,
        SolverConfig,
    )
}
"""The configuration of every algorithm, by the name that a file says under `algorithm`."""


def load(path: Path | str) -> RunConfig:
    """Read a configuration file.

    Raises:
        ConfigError: if it is missing, not YAML, or says something no field expects.
    """
    return read(Path(path), from_mapping)


def read(path: Path, meaning: Callable[[Any], Config]) -> Config:
    """What a YAML file means; its name stands before whatever is wrong.

    Raises:
        ConfigError: if it is missing, not YAML, or means nothing.
    """
    data = read_yaml(path)
    try:
        return meaning(data)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def from_mapping(data: Any) -> RunConfig:
    """The configuration that a file's content stands for.

    Raises:
        ConfigError: naming the key, what is allowed, and the nearest valid key.
    """
    if not isinstance(data, Mapping):
        raise ConfigError("must be keys and values")
    values = dict(data)
    algorithm = values.pop("algorithm", KnockPpoConfig.algorithm)
    if algorithm not in ALGORITHMS:
        raise ConfigError(
            f"algorithm must be one of {', '.join(ALGORITHMS)}, not {algorithm!r}"
            + nearest(str(algorithm), ALGORITHMS)
        )
    kind = ALGORITHMS[algorithm]
    if issubclass(kind, PpoConfig) and "rules" in values:
        values["rules"] = _joined_rules(values["rules"])
    config: RunConfig = build(kind, values)
    return config


def _joined_rules(given: Any) -> Any:
    """Presets as `PpoConfig.rules` has them: of a list, or a mapping with one under `any_of`."""
    if isinstance(given, Mapping):
        if set(given) != {"any_of"}:
            raise ConfigError(f"rules: a mapping has the key any_of alone, not {sorted(given)}")
        given = given["any_of"]
    if isinstance(given, list):
        if not given or not all(isinstance(name, str) for name in given):
            raise ConfigError(f"rules must name presets, not {given!r}")
        return ",".join(given)
    return given


def to_dict(config: RunConfig) -> dict[str, Any]:
    """The configuration as values for JSON or YAML, its algorithm among them."""
    values: dict[str, Any] = {"algorithm": config.algorithm}
    return values | _plain(dataclasses.asdict(config))


def recipe(config: RunConfig) -> dict[str, Any]:
    """The configuration as a saved policy keeps it: where the run was says nothing of it."""
    values = to_dict(config)
    del values["runs"]
    return values


def to_yaml(config: RunConfig) -> str:
    """The configuration as YAML text that `load` reads back as the same."""
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    text = io.StringIO()
    yaml.dump(to_dict(config), text)
    return text.getvalue()


@contextmanager
def _named(key: str) -> Iterator[None]:
    """Put the key before what the environment says about its value."""
    try:
        yield
    except ValueError as error:
        raise ConfigError(f"{key}: {error}") from error


def _at_least(config: Any, **bounds: float) -> None:
    for name, bound in bounds.items():
        value = getattr(config, name)
        if not value >= bound:
            raise ConfigError(f"{name} must be at least {bound}, not {value}")


def _shares(config: Any, *names: str) -> None:
    for name in names:
        if not 0 <= getattr(config, name) <= 1:
            raise ConfigError(f"{name} must lie between 0 and 1, not {getattr(config, name)}")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
