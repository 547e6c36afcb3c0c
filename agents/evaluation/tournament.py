"""A tournament: a plan of line-ups and deals, the matches of it, and what they say.

Every match is assigned before the first is played: each line-up plays the same deals, each deal in
all rotations of the seats, in chunks of a fixed size. A finished chunk is a file, so a tournament
that was stopped goes on where it was; only deals that every line-up has finished are counted.

Shapes: `N` policies of the roster, `L` line-ups, `D` deals, `R` rotations, `P` policies of a
line-up (= players).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import combinations, combinations_with_replacement, permutations
from math import comb, factorial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from agents.evaluation.jobs import LOCAL, Backend, chunks_of
from agents.evaluation.match import Played, play_deals, torch_for
from agents.evaluation.options import at_least
from agents.evaluation.parts import LINES, Parts
from agents.evaluation.recording import MatchScribe, Recording, Wanted
from agents.evaluation.store import PartStore, PlanError, digest
from agents.policies import TablePolicy
from thirtyone_env.rules import Rules

Pairing = Literal["all", "duel", "lone"]
CHUNK_DEALS = 256
"""Deals a chunk: what an interrupt may lose, and a batch for learned policies."""
FORMAT = 1


@dataclass(frozen=True)
class Plan:
    """Everything that the results depend on."""

    names: tuple[str, ...]
    """Of the roster; copies are numbered."""
    digests: tuple[str, ...]
    """What each policy is, beyond its name."""
    rules: dict[str, Any]
    players: int
    pairing: Pairing
    line_ups: tuple[tuple[int, ...], ...]
    """The policies around each table, by their number in the roster."""
    deals: int
    seed: int
    luck: bool
    """Whether luck of the draw is measured."""
    chunk: int = CHUNK_DEALS
    format: int = FORMAT

    @property
    def chunks(self) -> list[range]:
        """The deals of every chunk."""
        return chunks_of(self.deals, self.chunk)

    @property
    def matches(self) -> int:
        """Matches in all."""
        return len(self.line_ups) * self.deals * self.players

    def to_json(self) -> str:
        """The plan as JSON text."""
        return json.dumps(asdict(self), indent=1) + "\n"


def make_plan(
    roster: Sequence[TablePolicy],
    *,
    rules: Rules,
    players: int,
    deals: int,
    seed: int,
    pairing: Pairing = "all",
    most_line_ups: int = 120,
    luck: bool = True,
) -> Plan:
    """Assign all matches.

    Args:
        roster: the policies; one that is there several times plays as so many copies.
        rules: of every match.
        players: seats of a table.
        deals: deals a line-up; each is played in all rotations.
        seed: start of the cards, of the bots' randomness and of the choice of line-ups.
        pairing: ``"all"``: every combination of policies in every order around the table;
            ``"duel"``: every two, heads-up; ``"lone"``: every policy against copies of every other.
        most_line_ups: if there are more combinations, so many are drawn by lot, in which all
            policies play about equally often.
        luck: whether to measure the luck of the draw.

    Raises:
        PlanError: for a roster, a table or numbers that make no tournament.
        ValueError: if a policy was not made for the table.
    """
    size = rules.check_seats(players)
    if len(roster) < 2:
        raise PlanError("a tournament needs at least two policies")
    at_least(2, deals=deals)
    at_least(1, line_ups=most_line_ups)
    if pairing == "duel" and players != 2:
        raise PlanError(f"a duel has two players, not {players}; see --pairing all or lone")
    for policy in roster:
        policy.check(rules, size)
    return Plan(
        names=numbered([policy.name for policy in roster]),
        digests=tuple(digest(policy) for policy in roster),
        rules=rules.to_dict(),
        players=players,
        pairing=pairing,
        line_ups=line_ups(len(roster), players, pairing, most_line_ups, seed),
        deals=deals,
        seed=seed,
        luck=luck,
    )


def numbered(names: Sequence[str]) -> tuple[str, ...]:
    """The names, with a number behind the second copy and later ones."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return tuple(found)


def line_ups(
    size: int, players: int, pairing: Pairing, most: int, seed: int
) -> tuple[tuple[int, ...], ...]:
    """The policies around every table, by number."""
    if pairing == "lone":
        pairs = list(permutations(range(size), 2))
        return tuple((a, *[b] * (players - 1)) for a, b in pairs if players > 2 or a < b)
    if pairing == "duel" or players == 2:
        return tuple(combinations(range(size), 2))
    if size < players:
        groups = combinations_with_replacement(range(size), players)
        return _limited([g for g in groups if len(set(g)) > 1], most, seed)
    if comb(size, players) * factorial(players - 1) > most:
        return _drawn(size, players, most, seed)
    return tuple(
        (group[0], *rest)
        for group in combinations(range(size), players)
        for rest in permutations(group[1:])
    )


def _limited(found: list[tuple[int, ...]], most: int, seed: int) -> tuple[tuple[int, ...], ...]:
    if len(found) <= most:
        return tuple(found)
    chosen = np.random.default_rng(seed).permutation(len(found))[:most]
    return tuple(found[i] for i in np.sort(chosen))


def _drawn(size: int, players: int, most: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Line-ups by lot: the roster is shuffled and cut into tables, again and again."""
    rng = np.random.default_rng(seed)
    found: dict[tuple[int, ...], None] = {}
    queue: list[int] = []
    while len(found) < most:
        queue += rng.permutation(size).tolist()
        while len(queue) >= players:
            table, queue = queue[:players], queue[players:]
            if len(set(table)) == players:
                start = table.index(min(table))
                found[tuple(table[start:] + table[:start])] = None
    return tuple(found)[:most]


# --- playing -------------------------------------------------------------------------------------


class Store(PartStore):
    """Finished chunks in a folder, one file each."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        """Open or begin a folder.

        Raises:
            PlanError: if another tournament lies there.
        """
        super().__init__(folder, plan.to_json(), "tournament")


def _arrays(played: Played) -> dict[str, Any]:
    """A chunk as arrays."""
    values = {field.name: getattr(played, field.name) for field in fields(Played)}
    return values | {"faults": np.array(played.faults, dtype=np.str_)}


def _played(arrays: Mapping[str, Any]) -> Played:
    """A chunk from its arrays."""
    return Played(**{**arrays, "faults": tuple(str(fault) for fault in arrays["faults"])})


def part_name(line_up: int, chunk: int) -> str:
    """What the part of a line-up and a chunk is called."""
    return f"{line_up:04d}-{chunk:05d}"


@dataclass(frozen=True)
class Results:
    """What has been played of a plan: the deals that all line-ups have finished."""

    plan: Plan
    line_ups: tuple[Played, ...]
    """Of every line-up, the same deals in the same order."""
    deals: np.ndarray
    """int64[D]: their numbers."""
    chunks_done: int
    """Of all line-ups, those included that do not count yet."""

    @property
    def complete(self) -> bool:
        """Whether everything that was planned was played."""
        return len(self.deals) == self.plan.deals


def run(
    plan: Plan,
    roster: Sequence[TablePolicy],
    *,
    rules: Rules,
    store: Store | None = None,
    recording: Recording | None = None,
    workers: int | None = 1,
    backend: Backend = LOCAL,
    progress: Callable[[int], None] | None = None,
) -> Results:
    """Play what is not played yet.

    Args:
        plan: what to play.
        roster: the policies of the plan.
        rules: of the plan.
        store: where finished chunks are kept and found again.
        recording: where match records go; one of a forfeited match is unfinished. After an
            interrupt the file is written only if there is no store to go on from.
        workers: threads, None for as many as this process may run at once; the results do not
            depend on them.
        backend: where the matches are played; nor on that.
        progress: called with the number of matches done since its last call.

    Returns:
        What is finished; after an interrupt that is less than the plan.
    """
    chunks = plan.chunks
    jobs = [(i, c) for c in range(len(chunks)) for i in range(len(plan.line_ups))]
    wanted = Wanted((plan.players,) * len(plan.line_ups), recording.most if recording else 0)
    seed, luck, noting = plan.seed, plan.luck, recording is not None

    def numbers(job: tuple[int, int]) -> np.ndarray:
        return np.arange(chunks[job[1]].start, chunks[job[1]].stop)

    def work(job: tuple[int, int]) -> dict[str, Any]:
        table, deals = [roster[member] for member in plan.line_ups[job[0]]], numbers(job)
        answers: dict[int, list[int]] | None = {} if noting else None
        played = play_deals(table, rules, deals, seed, luck=luck, forfeits=True, answers=answers)
        mine = wanted.of(job[0], deals)
        if answers is None or not mine.any():
            return _arrays(played)
        lines = MatchScribe(table, rules, seed).lines(deals, mine, answers)
        return {**_arrays(played), LINES: lines}

    names = [part_name(*job) for job in jobs]
    records = [int(wanted.of(job[0], numbers(job)).sum()) for job in jobs]
    sizes = [len(chunks[job[1]]) * plan.players for job in jobs]
    parts = Parts(store, recording, workers, backend, progress)
    needed = [field.name for field in fields(Played)]
    with torch_for(roster):
        results, _ = parts.play(names, jobs, work, sizes, fields=needed, records=records)
    there = [i for i, part in enumerate(results) if part is not None]
    parts.write_records(
        [names[i] for i in there], [records[i] for i in there], len(there) == len(jobs)
    )
    played = [None if part is None else _played(part) for part in results]
    return _gathered(plan, dict(zip(jobs, played, strict=True)))


def _gathered(plan: Plan, played: dict[tuple[int, int], Played | None]) -> Results:
    tables, chunks = range(len(plan.line_ups)), plan.chunks
    whole = [c for c in range(len(chunks)) if all(played[i, c] is not None for i in tables)]
    numbers = [np.arange(chunks[c].start, chunks[c].stop) for c in whole]
    return Results(
        plan,
        tuple(joined([played[i, c] for c in whole]) for i in tables) if whole else (),  # type: ignore[misc]
        np.concatenate(numbers) if whole else np.zeros(0, np.int64),
        sum(result is not None for result in played.values()),
    )


def joined(parts: Sequence[Played]) -> Played:
    """Several parts of the same line-up as one: deals one after the other, counts added up."""
    values: dict[str, Any] = {}
    for field in fields(Played):
        pieces = [getattr(part, field.name) for part in parts]
        if field.name == "faults":
            values["faults"] = tuple(
                next((fault for fault in by_part if fault), "")
                for by_part in zip(*pieces, strict=True)
            )
        elif field.name in ("counts", "knocks", "lengths"):
            values[field.name] = np.sum(pieces, axis=0)
        else:
            values[field.name] = np.concatenate(pieces)
    return Played(**values)
