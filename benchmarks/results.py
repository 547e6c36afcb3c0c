"""Make the tables and pictures of docs/results.md, and those of play in docs/bots.md.

`python -m benchmarks.results PART …` plays what the parts need, keeps the numbers in
docs/assets/results.json, draws the pictures and writes the tables into docs/results.md and
docs/bots.md, each between ``<!-- results: NAME -->`` and ``<!-- end -->``. Without a part it writes
the pages anew from the numbers that are there; ``--check`` says whether that would change them. The
same seed gives the same numbers on any machine, but for the part `costs`, which measures time.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from agents.evaluation import chart, figures, threshold_study, tournament
from agents.evaluation.claims import report
from agents.evaluation.claims.claims import check, load_all, trials_of
from agents.evaluation.cli import ThresholdsCommand
from agents.evaluation.exploit import RULE_BOTS, exploit
from agents.evaluation.standings import standings
from agents.evaluation.statistics import Estimate
from agents.evaluation.tables import Column, DataTable
from agents.evaluation.threshold_tables import sweep_table
from agents.policies import make, pretrained_names
from agents.training.exploit import ExploitCommand
from benchmarks.knock_window import difference, learned, weigh
from thirtyone_env import Rules
from thirtyone_env.arena import Tables
from thirtyone_env.charts import Chart

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "docs" / f"{name}.md" for name in ("results", "bots")]
ASSETS = ROOT / "docs" / "assets"
NUMBERS = ASSETS / "results.json"
BLOCK = re.compile(
    r"(?P<head><!-- results: (?P<name>\w+) -->\n).*?(?P<tail><!-- end -->)", re.DOTALL
)
RULE_SETS = ("danish", "dutch", "swedish", "finnish", "schwimmen_a7")
PLAYERS = (2, 3, 4, 5, 6)
SEED = 90_000
"""Nothing was tuned, fitted or chosen on the cards of this seed."""
ROSTER = (
    "random",
    "never_knock",
    "threshold:25",
    "threshold:27",
    "threshold:29",
    "danish",
    "dutch",
    "swedish",
    "lookahead:4",
    "counter",
    "chart:danish",
    "chart:danish,draws=lookahead:4",
)
LARGER_DEALS = 5_000
"""Of threshold studies at tables of three and more."""
NETWORK = "network:ppo_danish_heads_up"
LEAGUE = "network:league_danish_heads_up"
NETWORK_OF_FOUR = "network:ppo_danish_four"
EXPLOIT = ExploitCommand(
    "BOT",
    exploiters=(*RULE_BOTS, "chart:danish", "solver:danish", NETWORK),
    chart_deals=20_000,
    learn=20,
    deals=6_000,
    seed=SEED,
)
LEARN_STEPS = 2_000_000
"""Of the networks that answer a network."""
PICTURES = {
    "claims": "Every figure of every claim with its interval and the limit",
    "ranking_2": "Payoffs of every bot against every other, heads-up",
    "ranking_4": "Payoffs of every bot alone among copies of every other, four at the table",
}
"""Captions of the pictures that follow a table."""
MISSING = "Not measured yet: `python -m benchmarks.results` with the name of the part does it."
Part = dict[str, Any]


def part_of(command: str, tables: Sequence[DataTable], **more: Any) -> Part:
    """What is kept of a part: the command that gives its numbers, the tables as they are shown."""
    shown = {
        table.name: {
            "head": [column.heading for column in table.columns if not column.wide],
            "rows": [
                [
                    column.show(cell)
                    for column, cell in zip(table.columns, row, strict=True)
                    if not column.wide
                ]
                for row in table.rows
            ],
        }
        for table in tables
    }
    return {"command": command, "tables": shown, **more}


def charts() -> Part:
    """From which value on, and up to which, the shipped charts knock on the first turn."""
    columns = [Column("rules", "rules", "", "text"), Column("players", "players", "", "count")]
    columns += [Column(f"turn{t}", f"own turn {t}", "", "text") for t in (1, 2, 3, 5)]
    columns.append(Column("by", "answered by, lives a round", "", "text"))
    rows: list[tuple[Any, ...]] = []
    for name in RULE_SETS:
        found = Chart.load(name)
        measured = {each["players"]: each for each in found.card["figures"]}
        for players in PLAYERS:
            windows = [window(found, players, turn) for turn in (0, 1, 2, 4)]
            if name == "dutch":
                windows[0] = "–"
            answered = small(Estimate(*measured[players]["exploitability"]))
            rows.append((name, players, *windows, answered))
    table = DataTable("charts", "", tuple(columns), tuple(rows))
    return part_of("python train.py configs/chart_NAME.yaml", [table])


def small(estimate: Estimate) -> str:
    """An estimate of a few thousandths."""
    return f"{estimate.mean:.4f} ({estimate.low:.4f} … {estimate.high:.4f})"


def window(found: Chart, players: int, turn: int) -> str:
    """Values that the first seat knocks with, half of the time or more, with nothing to take."""
    axes = found.axes
    shares = found.probabilities[players - axes.first_players, 0, 0, 0, turn, 0, 0]
    spans: list[list[float]] = []
    for value, share, before in zip(axes.points, shares, [0.0, *shares[:-1]], strict=True):
        if share >= 0.5 and before < 0.5:
            spans.append([value, value])
        elif share >= 0.5:
            spans[-1][1] = value
    words = [f"{low:g}" if low == high else f"{low:g}–{high:g}" for low, high in spans]
    return ", ".join(words) or "none"


def thresholds() -> Part:
    """The unbeaten mixture of fixed thresholds under every rule set, by players."""
    command = ThresholdsCommand(
        rules=RULE_SETS, players=PLAYERS, first=19, larger_deals=LARGER_DEALS, seed=SEED
    )
    found = []
    for name in RULE_SETS:
        study = threshold_study.run(
            Rules.preset(name),
            players=PLAYERS,
            thresholds=range(command.first, command.last + 1),
            deals=command.deals,
            larger_deals=command.larger_deals,
            seed=SEED,
            workers=None,
        )
        if study.interrupted:
            raise KeyboardInterrupt
        found.append((name, study))
    kept = {
        f"{name}_{payoffs.players}": np.round(payoffs.mixture.shares, 4).tolist()
        for name, study in found
        for payoffs in study.payoffs
    }
    table = replace(sweep_table(found), name="thresholds")
    return part_of(command.command_line(), [table], shares=kept)


def exploits() -> Part:
    """The most that fixed and learned exploiters gain against each policy, heads-up, danish.

    Networks that come with the checkout are exploited too, where they play it. Against policies of
    the kernel a response learns in tables, against networks two networks do.
    """
    columns = (
        Column("bot", "bot", "", "text"),
        Column("exploiter", "who gains most", "", "text"),
        Column("gain", "gain, lives a round", "", "signed", interval=True),
    )
    rules, rows = Rules.preset("danish"), []
    for name in (*ROSTER, "solver:danish", *pretrained_names()):
        target = make(name)
        try:
            target.check(rules, 2)
        except ValueError:
            continue  # made for another game
        command = replace(EXPLOIT, policy=name)
        if name in pretrained_names():
            command = replace(command, learn=0, learn_steps=LEARN_STEPS)
        with TemporaryDirectory() as folder:
            found = exploit(
                target,
                command.suite(Path(folder)),
                rules=rules,
                num_players=2,
                deals=command.deals,
                seed=SEED,
                workers=None,
            )
        if found.interrupted:
            raise KeyboardInterrupt
        best = found.bound.exploiter  # a copy of it gains nothing
        rows.append((name, "nobody" if best == name else best, found.bound.gain))
    rows.sort(key=lambda row: row[2].mean)
    return part_of(EXPLOIT.command_line(), [DataTable("exploits", "", columns, tuple(rows))])


def ranking(players: int, roster: Sequence[str], deals: int, pairing: Any) -> Part:
    """Standings of a tournament, and its pictures."""
    policies = [make(name) for name in roster]
    rules = Rules.preset("danish")
    plan = tournament.make_plan(
        policies, rules=rules, players=players, deals=deals, seed=SEED, pairing=pairing
    )
    found = standings(tournament.run(plan, policies, rules=rules, workers=1))
    names = " ".join(f"'{name}'" if "," in name else name for name in roster)
    command = (
        f"python evaluate.py tournament {names} --players {players} --pairing {pairing} "
        f"--deals {deals} --seed {SEED}"
    )
    main = found.tables[0]
    table = DataTable(f"ranking_{players}", main.title, main.columns, main.rows)
    matrix = np.round(found.matrix, 4).tolist()
    return part_of(
        command, [table], summary=list(found.summary), names=list(found.names), matrix=matrix
    )


def ranking_2() -> Part:
    """Every two heads-up."""
    return ranking(2, (*ROSTER[1:], "solver:danish", NETWORK, LEAGUE), 600, "duel")


def ranking_4() -> Part:
    """Everyone alone among copies of everyone else, four at the table."""
    return ranking(4, (*ROSTER[1:], "solver:danish", NETWORK_OF_FOUR), 120, "lone")


def claims() -> Part:
    """The verdicts on all claims."""
    checked = check(trials_of(load_all(), (), ()), seed=SEED, workers=2)
    if checked.interrupted:
        raise KeyboardInterrupt
    (ASSETS / "claims.png").write_bytes(chart.png(report.overview(checked)))
    table = report.verdict_table(checked)
    places = [
        next(i for i, c in enumerate(table.columns) if c.name == name)
        for name in ("text", "verdict", "details", "figures")
    ]
    shown = tuple(
        Column(table.columns[i].name, table.columns[i].heading, "", "text") for i in places
    )
    rows = tuple(tuple(row[i] for i in places) for row in table.rows)
    tables = [DataTable("claims", "", shown, rows)]
    return part_of(
        f"python evaluate.py claims --seed {SEED}", tables, summary=report.summary_of(checked)
    )


def knock_window() -> Part:
    """What a knock on the first turn gains, by value, and how well two charts can be answered."""
    columns = (
        Column("value", "points", "", "count"),
        Column("first", "first player: the chart knocks", "", "share"),
        Column("first_gain", "a knock gains", "", "signed", interval=True),
        Column("second", "second player: the chart knocks", "", "share"),
        Column("second_gain", "a knock gains", "", "signed", interval=True),
    )
    free = learned("free")
    rows = tuple(
        (first.value, first.share, first.gain, second.share, second.gain)
        for first, second in zip(*weigh(free), strict=True)
    )
    monotone = learned("monotone").answered
    answers = (
        Column("shape", "chart", "", "text"),
        Column("gain", "answered by, lives a round", "", "text"),
    )
    answered = (
        ("`chart:danish`, any shape", small(free.answered)),
        ("the best that knocks from some value on", small(monotone)),
        ("difference", small(difference(monotone, free.answered))),
    )
    tables = [
        DataTable("knock_window", "", columns, rows),
        DataTable("monotone", "", answers, answered),
    ]
    return part_of("python -m benchmarks.knock_window", tables)


def costs() -> Part:
    """What a decision of each bot costs in matches of copies, heads-up and four."""
    columns = [Column("bot", "bot", "", "text")]
    columns += [Column(f"p{p}", f"µs a decision, {p} players", "", "number") for p in (2, 4)]
    columns += [Column(f"t{p}", f"`threshold:25` is 1, {p} players", "", "number") for p in (2, 4)]
    roster = (*ROSTER, "solver:danish")
    spent: dict[tuple[str, int], list[float]] = {}
    for players in (2, 4):
        for repeat in range(6):
            for name in roster:  # in turns, so that all see the same machine
                taken = _microseconds(name, players)
                if repeat:  # the first one loads kernels and tables
                    spent.setdefault((name, players), []).append(taken)
    best = {key: min(taken) for key, taken in spent.items()}
    rows = tuple(
        (
            name,
            best[name, 2],
            best[name, 4],
            best[name, 2] / best["threshold:25", 2],
            best[name, 4] / best["threshold:25", 4],
        )
        for name in roster
    )
    command = "python -m benchmarks.results costs"
    return part_of(command, [DataTable("costs", "", tuple(columns), rows)])


def _microseconds(name: str, players: int, matches: int = 200) -> float:
    """Time of one thread for each decision in whole matches."""
    tables = Tables(Rules.preset("danish"), players, seed=SEED, matches=range(matches))
    for seat in range(players):
        tables.set_controllers(None, seat, name)
    started = time.thread_time()
    tables.play()
    taken = time.thread_time() - started
    return 1e6 * taken / int(tables.states["decisions"].sum())


PARTS: dict[str, Callable[[], Part]] = {
    "charts": charts,
    "thresholds": thresholds,
    "exploits": exploits,
    "ranking_2": ranking_2,
    "ranking_4": ranking_4,
    "knock_window": knock_window,
    "claims": claims,
    "costs": costs,
}


def markdown(part: Part, name: str) -> str:
    """A table with the command that gives its numbers."""
    table = part["tables"][name]
    lines = [table["head"], ["---"] * len(table["head"]), *table["rows"]]
    text = "".join("| " + " | ".join(_escaped(c) for c in line) + " |\n" for line in lines)
    summary = "".join(f"{line}\n\n" for line in part.get("summary", ()))
    picture = f"\n![{PICTURES[name]}](assets/{name}.png)\n" if name in PICTURES else ""
    return f"```\n{part['command']}\n```\n\n{summary}{text}{picture}"


def draw_ranking(part: Part, players: int) -> Figure:
    """Who beats whom, the best first."""
    order = [part["names"].index(row[0]) for row in part["tables"][f"ranking_{players}"]["rows"]]
    matrix = np.array(part["matrix"])[np.ix_(order, order)]
    short = {NETWORK: "network", NETWORK_OF_FOUR: "network", LEAGUE: "league network"}
    names = [short.get(n, n).replace(":danish,draws=", " + ") for n in part["names"]]
    names = [names[i] for i in order]
    label = "payoff of a match, row against column"
    return figures.payoff_matrix(names, matrix, label, 2)


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")


def rendered(page: str, numbers: dict[str, Part]) -> str:
    """The page with its tables written anew."""

    def written(block: re.Match[str]) -> str:
        for part in numbers.values():
            if block["name"] in part["tables"]:
                return f"{block['head']}\n{markdown(part, block['name'])}\n{block['tail']}"
        return f"{block['head']}\n{MISSING}\n\n{block['tail']}"

    return BLOCK.sub(written, page)


def known() -> dict[str, Part]:
    """The numbers that were kept."""
    found: dict[str, Part] = json.loads(NUMBERS.read_text()) if NUMBERS.exists() else {}
    return found


def main() -> int:
    """Run the parts, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART")
    parser.add_argument("--check", action="store_true", help="change nothing")
    arguments = parser.parse_args()
    if hasattr(os, "nice"):
        os.nice(19)
    for name in arguments.parts:
        part = PARTS[name]()
        kept = {**known(), name: part}
        NUMBERS.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    numbers, stale = known(), False
    for path in PAGES:
        page = path.read_text(encoding="utf-8")
        new = rendered(page, numbers)
        stale |= new != page
        if not arguments.check:
            path.write_text(new, encoding="utf-8")
    if not arguments.check:
        for players in (2, 4):
            if "matrix" in numbers.get(f"ranking_{players}", {}):
                picture = draw_ranking(numbers[f"ranking_{players}"], players)
                (ASSETS / f"ranking_{players}.png").write_bytes(chart.png(picture))
    return int(arguments.check and stale)


if __name__ == "__main__":
    raise SystemExit(main())
