"""Each policy against each opponent: heads-up, or alone among copies of the opponent.

A benchmark is rows of numbers and knock counts; every table, plot, page and file is made from
those and from nothing else.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from agents.evaluation.jobs import LOCAL, Backend, chunks_of
from agents.evaluation.match import (
    CHUNK_DEALS,
    Chunk,
    KnockCounts,
    Matches,
    lone,
    matches_of,
    play_chunk,
    torch_for,
)
from agents.evaluation.options import at_least
from agents.evaluation.parts import LINES, Parts
from agents.evaluation.recording import Recording, Wanted
from agents.evaluation.statistics import LEVEL
from agents.evaluation.store import PartStore, plan_text
from agents.evaluation.tables import Column, DataTable
from agents.policies import DecidingPolicy, TablePolicy, seated
from thirtyone_env.rules import Rules

OPPONENTS = (
    "random",
    "never_knock",
    "threshold:21",
    "threshold:23",
    "threshold:25",
    "threshold:27",
    "threshold:29",
    "threshold:31",
    "danish",
    "dutch",
    "swedish",
)
"""Opponents of a benchmark unless others are named."""


ROUNDING = 1e-9
"""By how much sums of shares may miss a par such as 1/3."""


@dataclass(frozen=True)
class Row:
    """One policy against copies of one opponent."""

    policy: str
    opponent: str
    players: int
    deals: int
    matches: int
    """Deals times rotations of the seats."""
    win_rate: float
    win_rate_low: float
    win_rate_high: float
    par: float
    """What a copy of the opponent would win: one over the number of players."""
    payoff: float
    """Mean payoff of a match: 1 for a win, −1/(players − 1) for a loss."""
    payoff_low: float
    payoff_high: float

    @property
    def verdict(self) -> str:
        """On which side of par the whole interval lies: "above", "below", or neither: "at"."""
        if self.win_rate_low > self.par + ROUNDING:
            return "above"
        return "below" if self.win_rate_high < self.par - ROUNDING else "at"


@dataclass(frozen=True)
class Benchmark:
    """The results of `run`, and what is needed to repeat it."""

    rules: Rules
    seed: int
    level: float
    """Of the intervals."""
    rows: tuple[Row, ...]
    knocks: dict[tuple[str, int, str], KnockCounts] = field(default_factory=dict)
    """By policy, seat count and opponent; policies outside the kernel only."""
    planned: int | None = None
    """Deals a pairing that were planned, where an interrupt came; rows have fewer, or lack."""


def count_deals(policies: int, opponents: int, tables: int, deals: int) -> int:
    """Deals that `run` will report, for these numbers of policies, opponents and seat counts."""
    return policies * opponents * tables * deals


def run(
    policies: Sequence[TablePolicy],
    opponents: Sequence[TablePolicy],
    *,
    rules: Rules,
    players: Sequence[int],
    deals: int,
    seed: int,
    store: PartStore | None = None,
    recording: Recording | None = None,
    workers: int | None = 1,
    backend: Backend = LOCAL,
    progress: Callable[[int], None] | None = None,
) -> Benchmark:
    """Play every policy against every opponent at every seat count, all on the same deals.

    Args:
        policies: whose results are wanted; their names must differ.
        opponents: each fills all other seats of a table in turn.
        rules: of every match.
        players: seat counts.
        deals: deals a pairing; each is played once in every rotation of the seats.
        seed: start of the cards and of the bots' randomness.
        store: where finished parts are kept and found again, from `open_store`.
        recording: where match records go; with a store, when the benchmark is finished.
        workers: threads, None for as many as this process may run at once; the numbers do not
            depend on them.
        backend: where the matches are played; nor on that.
        progress: called with the number of deals finished since the last call.

    Returns:
        The results; after an interrupt those of the deals that are finished, if any.

    Raises:
        ValueError: for two policies of one name, fewer than two deals, or a refusal of `play`.
    """
    names = [policy.name for policy in policies]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise ValueError(f"two policies are called {doubled[0]!r}; give them folders of their own")
    at_least(2, deals=deals)
    for policy in [*policies, *opponents]:
        for size in players:
            policy.check(rules, size)
    pairings = [(p, size, o) for p in policies for size in players for o in opponents]
    line_ups = [[seated(each) for each in lone(p, o, size)] for p, size, o in pairings]
    wanted = Wanted(tuple(map(len, line_ups)), recording.most if recording else 0)
    chunks = chunks_of(deals, CHUNK_DEALS)
    jobs = [(i, c) for i in range(len(pairings)) for c in range(len(chunks))]
    noting = recording is not None

    def work(job: tuple[int, int]) -> dict[str, Any]:
        numbers = np.array(chunks[job[1]])
        mine = wanted.of(job[0], numbers) if noting else None
        return _arrays(play_chunk(line_ups[job[0]], rules, numbers, seed, mine))

    names = [f"{i:04d}-{c:05d}" for i, c in jobs]
    records = [int(wanted.of(i, np.array(chunks[c])).sum()) for i, c in jobs]
    sizes = [len(chunks[c]) for _, c in jobs]
    parts = Parts(store, recording, workers, backend, progress)
    with torch_for([*policies, *opponents]):
        results, interrupted = parts.play(names, jobs, work, sizes, fields=_ARRAYS, records=records)
    finished = [j for j, part in enumerate(results) if part is not None]
    finished.sort(key=lambda j: (jobs[j][1], jobs[j][0]))  # records: by deals, then by pairings
    in_order = [names[j] for j in finished], [records[j] for j in finished]
    parts.write_records(*in_order, len(finished) == len(jobs))
    found = _gathered(line_ups, results)
    rows = [
        _row(p.name, o.name, size, found[i])
        for i, (p, size, o) in enumerate(pairings)
        if i in found
    ]
    knocks = {
        (p.name, size, o.name): found[i].knocks[0]
        for i, (p, size, o) in enumerate(pairings)
        if i in found and isinstance(p, DecidingPolicy)
    }
    return Benchmark(rules, seed, LEVEL, tuple(rows), knocks, deals if interrupted else None)


def _gathered(
    line_ups: Sequence[Sequence[TablePolicy]],
    results: Sequence[Mapping[str, np.ndarray] | None],
) -> dict[int, Matches]:
    """What each pairing came to, by number, where two deals or more were finished."""
    chunks, found = len(results) // len(line_ups), {}
    for i, line_up in enumerate(line_ups):
        mine = results[i * chunks : (i + 1) * chunks]
        played = [_chunk(part) for part in mine if part is not None]
        if sum(len(chunk.payoffs) for chunk in played) >= 2:
            found[i] = matches_of(line_up, played)
    return found


def open_store(
    folder: Path,
    policies: Sequence[TablePolicy],
    opponents: Sequence[TablePolicy],
    *,
    rules: Rules,
    players: Sequence[int],
    deals: int,
    seed: int,
) -> PartStore:
    """Where a benchmark keeps its finished parts; arguments as for `run`.

    Raises:
        PlanError: if another study lies in the folder.
    """
    plan = plan_text(
        "benchmark",
        CHUNK_DEALS,
        [*policies, *opponents],
        measured=len(policies),
        rules=rules.to_dict(),
        players=list(players),
        deals=deals,
        seed=seed,
    )
    return PartStore(folder, plan, "benchmark")


_ARRAYS = ("payoffs", "decisions", "knocks")


def _arrays(chunk: Chunk) -> dict[str, Any]:
    """A chunk as arrays, with its records."""
    decisions = np.array([counts.decisions for counts in chunk.knocks])
    knocks = np.array([counts.knocks for counts in chunk.knocks])
    arrays = dict(zip(_ARRAYS, (chunk.payoffs, decisions, knocks), strict=True))
    return {**arrays, LINES: chunk.lines}


def _chunk(part: Mapping[str, np.ndarray]) -> Chunk:
    """A chunk from its arrays."""
    counts = zip(part["decisions"], part["knocks"], strict=True)
    return Chunk(part["payoffs"], tuple(KnockCounts(*each) for each in counts))


def _row(policy: str, opponent: str, size: int, matches: Matches) -> Row:
    rate, payoff = matches.win_rate(0), matches.payoff(0)
    deals = len(matches.payoffs)
    return Row(
        policy=policy,
        opponent=opponent,
        players=size,
        deals=deals,
        matches=deals * size,
        win_rate=rate.mean,
        win_rate_low=rate.low,
        win_rate_high=rate.high,
        par=1 / size,
        payoff=payoff.mean,
        payoff_low=payoff.low,
        payoff_high=payoff.high,
    )


def to_json(benchmark: Benchmark) -> str:
    """The benchmark as JSON text: rules, seed, rows, and knock counts as lists by turn and value.

    One row of results a line, so that two files can be compared line by line.
    """
    rows = [json.dumps(_with_verdict(row)) for row in benchmark.rows]
    knocks = [
        json.dumps(
            {
                "policy": policy,
                "players": players,
                "opponent": opponent,
                "decisions": counts.decisions.tolist(),
                "knocks": counts.knocks.tolist(),
            }
        )
        for (policy, players, opponent), counts in benchmark.knocks.items()
    ]
    parts = [
        f'"rules": {json.dumps(benchmark.rules.to_dict())}',
        f'"seed": {benchmark.seed}',
        f'"level": {benchmark.level}',
        '"rows": [\n' + ",\n".join(rows) + "\n]",
        '"knocks": [\n' + ",\n".join(knocks) + "\n]",
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def to_csv(benchmark: Benchmark) -> str:
    """The rows as CSV text with a header line."""
    text = io.StringIO()
    rows = [_with_verdict(row) for row in benchmark.rows]
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def to_parquet(benchmark: Benchmark) -> bytes:
    """The rows as a Parquet file.

    Raises:
        ValueError: if pyarrow is not installed.
    """
    rows = [_with_verdict(row) for row in benchmark.rows]
    columns = tuple(Column(name, name, _UNITS.get(name, "share of matches")) for name in rows[0])
    values = tuple(tuple(row.values()) for row in rows)
    return DataTable("benchmark", "Benchmark", columns, values).to_parquet()


_UNITS = {
    "policy": "name",
    "opponent": "name",
    "players": "seats",
    "deals": "deals",
    "matches": "matches",
    "payoff": "stakes a match",
    "payoff_low": "stakes a match",
    "payoff_high": "stakes a match",
    "verdict": "side of par on which the whole interval lies",
}


def _with_verdict(row: Row) -> dict[str, Any]:
    return {**asdict(row), "verdict": row.verdict}
