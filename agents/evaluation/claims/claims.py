"""Claims from files, what checking them found, and the verdicts.

A claim says what must be measured and on which side of which limit it must lie, before anything is
measured. Under each rule set, number of players and case it gets one *answer*: yes or no where the
figure lies on one side beyond chance, else open. Chances are adjusted for the number of figures of
all claims that are checked together (Holm), at 5 %: the chance of a single wrong yes or no among
them is at most that.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from agents.evaluation.claims.experiments import EXPERIMENTS, Experiment, Unit
from agents.evaluation.claims.findings import Figure, holm
from agents.evaluation.jobs import LOCAL, Backend
from agents.evaluation.options import ConfigError
from agents.evaluation.parts import Parts
from agents.evaluation.store import PartStore, plan_text
from agents.evaluation.typed import build, nearest, read_yaml
from thirtyone_env import Rules

FOLDER = Path(__file__).resolve().parents[3] / "configs" / "studies" / "claims"
"""The claims that come with the project."""
CHUNK_DEALS = 512
"""Deals of a job; the numbers depend on it in the last digit only, so it stays as it is."""
RISK = 0.05
"""Chance of a wrong answer among all."""

Answer = Literal["yes", "no", "open"]
Word = Literal["true", "false", "depends", "undecided", "does not apply"]


@dataclass(frozen=True)
class Case:
    """One figure that a claim needs, and what it must be."""

    name: str
    experiment: Experiment
    above: float | None
    below: float | None

    @property
    def limit(self) -> float:
        """What the figure must lie above or below."""
        limit = self.above if self.above is not None else self.below
        assert limit is not None
        return limit

    def holds(self, mean: float) -> bool:
        """Whether it lies on the side that the claim says."""
        return mean > self.limit if self.above is not None else mean < self.limit


@dataclass(frozen=True)
class ClaimFile:
    """A claim as its file says it."""

    claim: str
    """The advice, in a sentence."""
    source: str
    """Which rule book gives it."""
    test: str
    """How it is read and what decides it, settled before any figure was seen."""
    experiment: str
    """What measures it."""
    rules: tuple[str, ...]
    """Presets that it is checked under."""
    players: tuple[int, ...]
    """Numbers of players that it is checked for."""
    deals: int
    """Deals a case, rule set and number of players."""
    parameters: dict[str, Any]
    """Fields of the experiment, and the limit: `above` or `below`."""
    cases: dict[str, dict[str, Any]]
    """The same by case; what a case says goes before what `parameters` say."""


@dataclass(frozen=True)
class Claim:
    """A claim that can be checked."""

    name: str
    text: str
    source: str
    test: str
    rules: tuple[str, ...]
    players: tuple[int, ...]
    deals: int
    cases: tuple[Case, ...]


def load(path: Path) -> Claim:
    """A claim from its file.

    Raises:
        ConfigError: if it is missing, not YAML, or says something that no field expects.
    """
    data = read_yaml(path)
    try:
        if not isinstance(data, dict):
            raise ConfigError("must be keys and values")
        file = build(ClaimFile, {"parameters": {}, "cases": {"": {}}, **data})
        if file.experiment not in EXPERIMENTS:
            raise ConfigError(
                f"experiment must be one of {', '.join(EXPERIMENTS)}, not {file.experiment!r}"
                + nearest(file.experiment, EXPERIMENTS)
            )
        cases = tuple(
            _case(file.experiment, name, {**file.parameters, **own})
            for name, own in file.cases.items()
        )
        for name in file.rules:
            Rules.preset(name)
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from error
    return Claim(
        path.stem, file.claim, file.source, file.test, file.rules, file.players, file.deals, cases
    )


def _case(experiment: str, name: str, values: dict[str, Any]) -> Case:
    where = f"case {name!r}: " if name else ""
    limits = {key: values.pop(key) for key in ("above", "below") if key in values}
    if len(limits) != 1:
        raise ConfigError(f"{where}needs a limit: either above or below")
    if not all(isinstance(limit, int | float) for limit in limits.values()):
        raise ConfigError(f"{where}the limit must be a number, not {limits}")
    try:
        made = build(EXPERIMENTS[experiment], values)
    except ConfigError as error:
        raise ConfigError(f"{where}{error}") from None
    return Case(name, made, limits.get("above"), limits.get("below"))


def load_all(names: Sequence[str] = (), folder: Path = FOLDER) -> list[Claim]:
    """Claims by name, all of a folder if none is named.

    Raises:
        ConfigError: for an unknown name, or a file that cannot be used.
    """
    known = {path.stem: path for path in sorted(folder.glob("*.yaml"))}
    for name in names:
        if name not in known:
            raise ConfigError(
                f"unknown claim {name!r}{nearest(name, known)}; claims are {', '.join(known)}"
            )
    return [load(known[name]) for name in (names or known)]


@dataclass(frozen=True)
class Trial:
    """A case at one table."""

    claim: Claim
    case: Case
    rules_name: str
    rules: Rules
    players: int
    refused: str = ""
    """Why it cannot be checked there."""


@dataclass(frozen=True)
class Finding:
    """What a trial gave."""

    trial: Trial
    figure: Figure | None
    """None where too little was seen."""
    chance: float
    """Adjusted for the number of figures."""

    @property
    def answer(self) -> Answer:
        """Whether the figure is on the side that the claim says."""
        if self.figure is None or self.chance >= RISK:
            return "open"
        return "yes" if self.trial.case.holds(self.figure.mean) else "no"

    @property
    def unit(self) -> Unit:
        """What the figure counts."""
        return self.trial.case.experiment.unit


@dataclass(frozen=True)
class Verdict:
    """What the figures say of a claim."""

    claim: Claim
    findings: tuple[Finding, ...]
    refused: tuple[Trial, ...]

    @property
    def word(self) -> Word:
        """True or false where all answers are, depends where there are both."""
        answers = {finding.answer for finding in self.findings}
        if not answers:
            return "does not apply"
        if {"yes", "no"} <= answers:
            return "depends"
        if "open" in answers:
            return "undecided"
        return "true" if answers == {"yes"} else "false"

    @property
    def details(self) -> str:
        """On what it depends, and how close it is."""
        if self.word == "does not apply":
            return "; ".join(sorted({trial.refused for trial in self.refused}))
        if self.word in ("true", "false"):
            return ""
        parts, everything = [], [label_of(finding.trial) for finding in self.findings]
        for answer, word in (("yes", "true"), ("no", "false"), ("open", "open")):
            labels = [label_of(f.trial) for f in self.findings if f.answer == answer]
            if labels:
                parts.append(f"{word}: {summed_up(labels, everything)}")
        return "; ".join(parts)


Label = tuple[str, str, str]
"""Case, players and rules of a trial, in words."""


def label_of(trial: Trial) -> Label:
    """What tells a trial from others of its claim."""
    return trial.case.name, f"{trial.players} players", trial.rules_name


def summed_up(some: Sequence[Label], everything: Sequence[Label]) -> str:
    """Some trials in few words; what all trials share is left out.

    Two groups that differ along one axis are put together, until none are left that do.
    """
    groups = [tuple(frozenset([word]) for word in label) for label in some]
    while (pair := _alike(groups)) is not None:
        first, second = pair
        groups.remove(second)
        merged = tuple(a | b for a, b in zip(first, second, strict=True))
        groups[groups.index(first)] = merged
    orders = [list(dict.fromkeys(label[k] for label in everything)) for k in range(3)]
    texts = []
    for group in groups:
        parts = [
            " or ".join(word for word in order if word in words)
            for words, order in zip(group, orders, strict=True)
            if len(words) < len(order)
        ]
        texts.append(", ".join(parts) or "everywhere")
    return "; ".join(texts)


def _alike(
    groups: Sequence[tuple[frozenset[str], ...]],
) -> tuple[tuple[frozenset[str], ...], tuple[frozenset[str], ...]] | None:
    """The first two groups that differ along one axis alone."""
    for first, second in itertools.combinations(groups, 2):
        if sum(a != b for a, b in zip(first, second, strict=True)) == 1:
            return first, second
    return None


@dataclass(frozen=True)
class Checked:
    """All verdicts of a run."""

    verdicts: tuple[Verdict, ...]
    seed: int
    interrupted: bool
    left_out: tuple[str, ...] = ()
    """Claims that were not finished."""


def trials_of(
    claims: Sequence[Claim], rules: Sequence[tuple[str, Rules]], players: Sequence[int]
) -> list[Trial]:
    """Every case at every table.

    Args:
        claims: what is checked.
        rules: rule sets by name, in place of those that the claims name; none: those.
        players: numbers of players, the same.
    """
    trials = []
    for claim in claims:
        sets = rules or [(name, Rules.preset(name)) for name in claim.rules]
        for name, each in sets:
            for size in players or claim.players:
                for case in claim.cases:
                    refused = ""
                    try:
                        each.check_seats(size)
                        case.experiment.check(each, size)
                    except ValueError as error:
                        refused = str(error)
                    trials.append(Trial(claim, case, name, each, size, refused))
    return trials


def check(
    trials: Sequence[Trial],
    *,
    seed: int,
    deals: int | None = None,
    store: PartStore | None = None,
    workers: int | None = None,
    backend: Backend = LOCAL,
    progress: Callable[[int], None] | None = None,
) -> Checked:
    """Play what the trials need, and judge.

    Args:
        trials: as from `trials_of`.
        seed: start of the cards and of the bots' randomness.
        deals: deals a trial; None: what each claim says.
        store: where finished parts are kept and found again, from `open_store`.
        workers: threads, None for as many as this process may run at once; the result does not
            depend on them.
        backend: where the rounds are played; nor on that.
        progress: called with the number of deals of every finished job.

    Raises:
        ValueError: for less than two deals.
    """
    playable = [trial for trial in trials if not trial.refused]
    jobs = []
    for i, trial in enumerate(playable):
        total = deals_of(trial, deals)
        jobs += [(i, d, min(d + CHUNK_DEALS, total)) for d in range(0, total, CHUNK_DEALS)]

    def work(job: tuple[int, int, int]) -> dict[str, np.ndarray]:
        i, first, after = job
        trial = playable[i]
        numbers = np.arange(first, after)
        return {"columns": trial.case.experiment.columns(trial.rules, trial.players, numbers, seed)}

    names = [f"{i:04d}-{first:07d}" for i, first, _ in jobs]
    sizes = [after - first for _, first, after in jobs]
    kept = Parts(store, None, workers, backend, progress)
    results, interrupted = kept.play(names, jobs, work, sizes, fields=("columns",))
    parts = [None if part is None else part["columns"] for part in results]
    by_trial: dict[int, list[np.ndarray | None]] = {}
    for (i, _, _), part in zip(jobs, parts, strict=True):
        by_trial.setdefault(i, []).append(part)
    figures: dict[int, Figure | None] = {}
    for i, pieces in by_trial.items():
        whole = [piece for piece in pieces if piece is not None]
        if len(whole) == len(pieces):
            figures[i] = playable[i].case.experiment.figure(np.concatenate(whole))
    return _judged(trials, playable, figures, seed, interrupted)


def open_store(
    folder: Path, trials: Sequence[Trial], *, seed: int, deals: int | None = None
) -> PartStore:
    """Where claims keep their finished parts; arguments as for `check`.

    Raises:
        PlanError: if another study lies in the folder.
    """
    made = [
        [trial.case.experiment.__class__.__name__, asdict(trial.case.experiment)]  # type: ignore[call-overload]
        + [trial.rules.to_dict(), trial.players, deals_of(trial, deals)]
        for trial in trials
        if not trial.refused
    ]
    return PartStore(folder, plan_text("claims", CHUNK_DEALS, trials=made, seed=seed), "study")


def deals_of(trial: Trial, deals: int | None) -> int:
    """How many deals a trial plays.

    Raises:
        ValueError: for less than two.
    """
    total = trial.claim.deals if deals is None else deals
    if total < 2:
        raise ValueError(f"deals = {total} is not allowed; allowed: 2 or more")
    return total


def _judged(
    trials: Sequence[Trial],
    playable: Sequence[Trial],
    figures: dict[int, Figure | None],
    seed: int,
    interrupted: bool,
) -> Checked:
    """Verdicts on the claims all of whose trials were finished."""
    unfinished = {playable[i].claim.name for i in range(len(playable)) if i not in figures}
    kept = [i for i in figures if playable[i].claim.name not in unfinished]
    chances = []
    for i in kept:
        figure = figures[i]
        chances.append(1.0 if figure is None else figure.chance(playable[i].case.limit))
    findings = [
        Finding(playable[i], figures[i], chance)
        for i, chance in zip(kept, holm(chances), strict=True)
    ]
    verdicts = []
    for claim in dict.fromkeys(trial.claim.name for trial in trials):
        if claim not in unfinished:
            mine = [trial for trial in trials if trial.claim.name == claim]
            found = tuple(f for f in findings if f.trial.claim.name == claim)
            refused = tuple(trial for trial in mine if trial.refused)
            verdicts.append(Verdict(mine[0].claim, found, refused))
    left_out = tuple(dict.fromkeys(t.claim.name for t in trials if t.claim.name in unfinished))
    return Checked(tuple(verdicts), seed, interrupted, left_out)
