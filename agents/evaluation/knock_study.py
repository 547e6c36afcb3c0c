"""The knock chart of any policy, from its decisions in play, and how two charts differ.

A policy plays matches, and every turn at whose start it may knock is counted by own turn and hand
value, with what it did. That asks nothing of the policy but that it plays: bots, charts, solvers,
searches, networks and policies from outside are charted alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from rich.console import Console

from agents.evaluation import chart, report, study
from agents.evaluation.commands import Spread, StudyCommand
from agents.evaluation.jobs import LOCAL, Backend, chunks_of
from agents.evaluation.match import KnockCounts, play_deals, torch_for
from agents.evaluation.options import SeatCounts, some
from agents.evaluation.parts import Parts
from agents.evaluation.progress import progress
from agents.evaluation.store import PartStore, plan_text
from agents.evaluation.tables import Column, DataTable
from agents.policies import TablePolicy, make
from thirtyone_env.rules import Rules
from thirtyone_env.tally import MAX_TURNS, Knock

CHUNK_DEALS = 128
COLUMNS = 8
"""Own turns that the tables show."""


@dataclass(frozen=True)
class Sampled:
    """What one policy did where it could knock."""

    name: str
    counts: Mapping[int, KnockCounts]
    """By number of players."""
    deals: int
    """Deals that were played at each, in all rotations."""

    def shares(self, players: int) -> np.ma.MaskedArray:
        """Share of decisions that were knocks, float64[turns, values].

        Masked where there were hardly any.
        """
        counts = self.counts[players]
        few = counts.decisions < chart.MIN_DECISIONS
        found: np.ma.MaskedArray = np.ma.masked_array(
            counts.knocks / np.maximum(counts.decisions, 1), mask=few
        )
        return found


def sample(
    policies: Sequence[TablePolicy],
    *,
    among: TablePolicy | None,
    rules: Rules,
    players: Sequence[int],
    deals: int,
    seed: int,
    store: PartStore | None = None,
    workers: int | None = 1,
    backend: Backend = LOCAL,
    progress: Callable[[int], None] | None = None,
) -> tuple[list[Sampled], bool]:
    """Let policies play and count their decisions about knocking.

    Args:
        policies: who is charted, all on the same deals.
        among: who holds the other seats; None: copies of the policy, whose decisions count too.
        rules: of every match.
        players: seat counts.
        deals: deals a policy and seat count; each is played in all rotations.
        seed: start of the cards and of the bots' randomness.
        store: where finished parts are kept and found again, from `open_store`.
        workers: threads, None for as many as this process may run at once; the numbers do not
            depend on them.
        backend: where the matches are played; nor on that.
        progress: called with the number of matches since its last call.

    Returns:
        What was counted; and whether an interrupt came. Then the deals are those that all of them
        have finished.

    Raises:
        ValueError: for a seat count that the rules do not allow, a policy not made for the table,
            or an illegal action.
    """
    everybody = _everybody(policies, among)
    for size in players:
        rules.check_seats(size)
        for policy in everybody:
            policy.check(rules, size)
    chunks = chunks_of(deals, CHUNK_DEALS)
    groups = [(p, size) for p in range(len(policies)) for size in players]
    jobs = [(chunk, p, size) for chunk in chunks for p, size in groups]

    def work(job: tuple[range, int, int]) -> dict[str, np.ndarray]:
        chunk, p, size = job
        others = [among if among is not None else policies[p]] * (size - 1)
        played = play_deals([policies[p], *others], rules, np.array(chunk), seed)
        mine = played.knocks if among is None else played.knocks[:1]
        asked, knocked = (mine[:, what].sum(axis=0) for what in (Knock.ASKED, Knock.KNOCKED))
        return {"decisions": asked, "knocks": knocked}

    names = [f"{p}-{size}-{chunk.start:07d}" for chunk, p, size in jobs]
    sizes = [len(chunk) * size for chunk, _, size in jobs]
    parts = Parts(store, None, workers, backend, progress)
    fields = ("decisions", "knocks")
    with torch_for(everybody):
        results, interrupted = parts.play(names, jobs, work, sizes, fields=fields)
    counted = [None if part is None else KnockCounts(**part) for part in results]
    by_job = dict(zip(jobs, counted, strict=True))
    whole = [c for c in chunks if all(by_job[c, p, size] is not None for p, size in groups)]
    found = []
    for p, policy in enumerate(policies):
        counts = {}
        for size in players:
            mine = [by_job[chunk, p, size] for chunk in whole]
            counts[size] = sum((each for each in mine if each), KnockCounts.empty())
        found.append(Sampled(policy.name, counts, sum(map(len, whole))))
    return found, interrupted


def _everybody(policies: Sequence[TablePolicy], among: TablePolicy | None) -> list[TablePolicy]:
    return [*policies, *([] if among is None else [among])]


def open_store(
    folder: Path,
    policies: Sequence[TablePolicy],
    *,
    among: TablePolicy | None,
    rules: Rules,
    players: Sequence[int],
    deals: int,
    seed: int,
) -> PartStore:
    """Where a chart keeps its finished parts; arguments as for `sample`.

    Raises:
        PlanError: if another study lies in the folder.
    """
    plan = plan_text(
        "chart",
        CHUNK_DEALS,
        _everybody(policies, among),
        among=among is not None,
        rules=rules.to_dict(),
        players=list(players),
        deals=deals,
        seed=seed,
    )
    return PartStore(folder, plan, "chart")


def difference(one: Sampled, other: Sampled, players: int) -> np.ma.MaskedArray:
    """How much more often one knocks, float64[turns, values]; masked where one hardly ever was."""
    less: np.ma.MaskedArray = one.shares(players) - other.shares(players)
    return less


# --- tables --------------------------------------------------------------------------------------


def tables_of(found: Sequence[Sampled]) -> list[DataTable]:
    """The counts in full, then a table to read for each seat count, of shares and differences."""
    tables = [_data(found)]
    for i, one in enumerate(found):
        for size in one.counts:
            name = f"chart_{size}" if i == 0 else f"chart_{size}_other"
            title = f"{one.name}, {size} players: knocks, % of decisions"
            tables.append(_readable(name, title, one.shares(size), "share"))
    if len(found) == 2:
        for size in found[0].counts:
            title = f"{found[0].name} less {found[1].name}, {size} players: percentage points"
            less = 100 * difference(found[0], found[1], size)
            tables.append(_readable(f"difference_{size}", title, less, "points"))
    return [table for table in tables if table.rows]


def _data(found: Sequence[Sampled]) -> DataTable:
    rows = [
        (one.name, size, int(turn) + 1, int(value), int(asked[turn, value]), int(made[turn, value]))
        for one in found
        for size, counts in one.counts.items()
        for asked, made in [(counts.decisions, counts.knocks)]
        for turn, value in zip(*np.nonzero(asked), strict=True)
    ]
    return DataTable(
        "knock_chart",
        "Knocks by turn and value",
        (
            Column("policy", "policy", "name", "text"),
            Column("players", "players", "seats", "count"),
            Column("turn", "turn", f"own turn from 1; the {MAX_TURNS}th and later ones", "count"),
            Column("value", "value", "points; half points count with the point below", "count"),
            Column("asked", "asked", "turns at whose start knocking was legal", "count"),
            Column("knocked", "knocked", "knocks", "count"),
        ),
        tuple(rows),
        data=True,
    )


def _readable(name: str, title: str, shares: np.ma.MaskedArray, kind: Any) -> DataTable:
    reached = ~np.ma.getmaskarray(shares)[:COLUMNS]
    turns, values = (np.flatnonzero(reached.any(axis=axis)) for axis in (1, 0))
    last = int(turns.max()) + 1 if turns.size else 0
    unit = "share of decisions" if kind == "share" else "percentage points"
    columns = [Column("value", "points", "hand value, points", "count")]
    columns += [Column(f"turn_{t + 1}", f"turn {t + 1}", unit, kind) for t in range(last)]
    any_ = np.flatnonzero((np.ma.filled(np.ma.abs(shares), 0)[:COLUMNS] > 0).any(axis=0))
    lowest = max(int(any_.min()) - 1, 0) if any_.size else 0
    rows = [
        (int(value), *(float(shares[t, value]) if reached[t, value] else None for t in range(last)))
        for value in values[::-1]
        if value >= lowest
    ]
    note = f"–: fewer than {chart.MIN_DECISIONS} decisions."
    if values.size and values.min() < lowest:
        note = f"Below {lowest}: {'0 %' if kind == 'share' else 'no difference'}. {note}"
    return DataTable(name, title, tuple(columns), tuple(rows), note)


def sections(found: Sequence[Sampled]) -> list[study.Section]:
    """The page."""
    tables = {table.name: table for table in tables_of(found)}
    parts = []
    for i, one in enumerate(found):
        shares = {size: one.shares(size) for size in one.counts}
        if all(np.ma.getmaskarray(share).all() for share in shares.values()):
            continue
        picture = study.Picture(
            "knock_chart" if i == 0 else "knock_chart_other",
            chart.share_panels(shares),
            f"How often {one.name} knocked where it could; grey: hardly ever there.",
        )
        names = [f"chart_{size}" if i == 0 else f"chart_{size}_other" for size in one.counts]
        parts.append(study.Section(one.name, [tables[n] for n in names if n in tables], [picture]))
    if len(found) == 2:
        sizes = found[0].counts
        less = {size: difference(found[0], found[1], size) for size in sizes}
        if not all(np.ma.getmaskarray(share).all() for share in less.values()):
            picture = study.Picture(
                "difference",
                chart.share_panels(
                    less,
                    colours="RdBu_r",
                    limits=(-100, 100),
                    label=f"knocks more often than {found[1].name}, percentage points",
                ),
                f"Red: {found[0].name} knocks more often than {found[1].name}; blue: less often.",
            )
            names = [f"difference_{size}" for size in sizes]
            listed = [tables[n] for n in names if n in tables]
            parts.append(study.Section("The difference", listed, [picture]))
    return parts


def summary(found: Sequence[Sampled]) -> list[str]:
    """What the charts say, in sentences."""
    lines = []
    for one in found:
        for size, counts in one.counts.items():
            knocks = int(counts.knocks.sum())
            if not knocks:
                lines.append(f"{one.name} never knocks at {size} players.")
                continue
            value = float(counts.knocks.sum(axis=0) @ np.arange(counts.knocks.shape[1])) / knocks
            turn = float(counts.knocks.sum(axis=1) @ np.arange(1, MAX_TURNS + 1)) / knocks
            lines.append(
                f"{one.name} knocks at {size} players with {value:.1f} points on own turn "
                f"{turn:.1f} in the mean ({knocks:,} knocks)."
            )
    if len(found) == 2:
        for size in found[0].counts:
            less = difference(found[0], found[1], size)
            weight = found[0].counts[size].decisions + found[1].counts[size].decisions
            if less.count():
                mean = float((np.ma.abs(less) * weight).sum() / weight[~less.mask].sum())
                lines.append(
                    f"At {size} players they differ in {100 * mean:.1f} % of the decisions "
                    "that both come to."
                )
    return lines


# --- the command ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChartCommand(StudyCommand, Spread):
    """Draw when a policy knocks, by own turn and hand value, and how it differs from another.

    The policy plays matches against copies of itself, or of the policy named with --among, and its
    decisions are counted.
    """

    policy: tyro.conf.Positional[str] = ""
    """A bot by name, or a saved policy by the path of its run folder."""
    against: str | None = None
    """Another one, whose chart is taken away from the first."""
    among: str | None = None
    """Who holds the other seats; copies of the policy if not given."""
    players: SeatCounts = (2, 4)
    """Seat counts of the tables."""
    deals: int = 2_000
    """Deals a seat count, each in all rotations of the seats."""

    def command_line(self) -> str:
        """The command that gives the same numbers."""
        words = ["chart", self.policy, *self.common_words()]
        for option, name in (("--against", self.against), ("--among", self.among)):
            words += [option, name] if name is not None else []
        words += ["--players", ",".join(str(size) for size in self.players)]
        return self.joined([*words, "--deals", str(self.deals)])

    def __call__(self) -> int:
        """Play, print, and write what was asked for."""
        self.check_output()
        if not self.policy:
            raise ValueError("name a policy: a bot, or the path of a run folder")
        some(players=self.players)
        if self.deals < 1:
            raise ValueError(f"--deals {self.deals}: at least 1")
        rules = self.the_rules()
        names = [self.policy] + ([self.against] if self.against is not None else [])
        policies = [make(name, outside=True) for name in names]
        among = make(self.among, outside=True) if self.among is not None else None
        table: dict[str, Any] = {"among": among, "rules": rules, "players": self.players}
        table |= {"deals": self.deals, "seed": self.seed}
        store = None if self.out is None else open_store(self.out, policies, **table)
        errors = Console(stderr=True, highlight=False, soft_wrap=True)
        total = len(policies) * self.deals * sum(self.players)
        with progress(errors, "chart", total, "matches") as advance:
            found, interrupted = sample(
                policies,
                **table,
                store=store,
                workers=self.workers,
                backend=self.where(),
                progress=advance,
            )
        if found[0].deals:
            self.show(rules, found, errors)
        if not interrupted:
            return 0
        done = f"{found[0].deals:,} of {self.deals:,} deals are finished"
        return self.stopped(done, store is not None)

    def show(self, rules: Rules, found: Sequence[Sampled], errors: Console) -> None:
        """Print, and write the folder."""
        tables, lines = tables_of(found), summary(found)
        facts: dict[str, object] = {
            "study": "chart",
            "policies": [one.name for one in found],
            "among": self.among,
            "rules": rules.to_dict(),
            "players": list(self.players),
            "deals": found[0].deals,
            "seed": self.seed,
            "summary": lines,
        }
        self.print_tables(facts, tables, lines)
        if self.out is None:
            return
        page = study.write_study(
            self.out,
            "chart",
            title="Knock chart: " + " less ".join(one.name for one in found),
            summary=lines,
            sections=sections(found),
            tables=tables,
            facts=facts,
            shown_facts={
                "Rules": report.rules_name(rules),
                "Other seats": self.among or "copies of the policy",
                "Deals": f"{found[0].deals:,} a seat count, each in all rotations of the seats",
                "Seed": str(self.seed),
            },
            repeat=self.command_line(),
            parquet=self.format == "parquet",
        )
        errors.print(f"report: {page}", markup=False)
