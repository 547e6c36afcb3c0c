"""The model card of a run: what its policy learned from, how strong it is, what it is not made for.

Everything in it is taken from the run's configuration and measurements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.evaluation import report
from agents.evaluation.benchmark import Benchmark
from agents.evaluation.chart import percent, table_name
from agents.evaluation.exploit import Exploitation
from agents.policies.files import write_text
from agents.training.config import RunConfig
from agents.training.panel import PanelResult

CARD = "card.md"


@dataclass(frozen=True)
class Trained:
    """How a policy came to be."""

    title: str
    """What it is about."""
    config: RunConfig
    steps: str
    """How much it learned from, with the unit."""
    seconds: float
    best: PanelResult | None = None
    """What the panel said of it when it was kept; None where no panel was asked."""


def write(
    folder: Path,
    trained: Trained,
    results: Benchmark,
    exploitations: Sequence[Exploitation],
    repeat: str,
) -> Path:
    """Write `card.md` into a run folder.

    Args:
        folder: the run's.
        trained: how the policy came to be.
        results: of its benchmark.
        exploitations: what a suite of exploiters gains against it, one a size of table.
        repeat: the command that repeats the benchmark.

    Returns:
        The path of the card.
    """
    config = trained.config
    seats = " and ".join(str(size) for size in config.players)
    lines = [
        f"# {folder.name}",
        "",
        f"{trained.title}, by `{config.algorithm}`, for tables of {seats} by the rules "
        f"{_rules(config)}. At any other table it refuses to play.",
        "",
        "## Training",
        "",
        f"{trained.steps} with seed {config.seed}, {trained.seconds:,.0f} seconds. "
        "`config.yaml` in the same folder repeats it:",
        "",
        "```",
        f"python train.py {folder.as_posix()}/config.yaml",
        "```",
        "",
        *_opponents(config),
        *_panel(trained),
        "## Strength",
        "",
        f"Matches won, with {results.level:.0%} intervals; {results.rows[0].deals:,} deals a "
        "pairing, each played once in every rotation of the seats.",
        "",
        *_table(results),
        "",
        "```",
        repeat,
        "```",
        "",
        *_pictures(folder),
        *_exploited(exploitations),
    ]
    path = folder / CARD
    write_text(path, "\n".join(lines).rstrip() + "\n")
    return path


def _rules(config: RunConfig) -> str:
    names = ", ".join(f"`{name.strip()}`" for name in config.rules.split(","))
    return f"{names} with {config.house_rules}" if config.house_rules else names


def _opponents(config: RunConfig) -> list[str]:
    opponents = getattr(config, "opponents", None)
    if not isinstance(opponents, dict):
        return []
    total = sum(opponents.values())
    shares = [f"`{name}` {percent(w / total, 0)}" for name, w in opponents.items() if w]
    return [f"Opponents, by how often they are drawn: {', '.join(shares)}.", ""]


def _panel(trained: Trained) -> list[str]:
    best = trained.best
    if best is None:
        return []
    rows = [
        f"| `{row.opponent}` | {table_name(row.players).lower()} | {percent(row.rate.mean)} | "
        f"{percent(row.rate.low)} – {percent(row.rate.high)} |"
        for row in best.rows
    ]
    score = best.score
    return [
        f"It is the best by the panel, as it was after {best.step:,} steps: it won "
        f"{percent(score.mean)} ({percent(score.low)} – {percent(score.high)}) of the matches "
        "there. It was chosen by these numbers, which are therefore a little too good; those "
        "under *Strength* are from other deals.",
        "",
        "| panel | table | won | interval |",
        "| --- | --- | ---: | ---: |",
        *rows,
        "",
    ]


def _table(results: Benchmark) -> list[str]:
    lines = ["| against | table | won | interval | par |", "| --- | --- | ---: | ---: | ---: |"]
    for section in report.sections(results):
        for opponent, rate, interval, _, _ in section.rows:
            lines.append(
                f"| `{opponent}` | {section.title.lower()} | {rate} | {interval} | {section.par} |"
            )
    return lines


def _pictures(folder: Path) -> list[str]:
    chart = "knock_chart.png"
    if not (folder / chart).exists():
        return []
    return ["## When it knocks", "", f"![How often it knocks, by turn and value]({chart})", ""]


def _exploited(exploitations: Sequence[Exploitation]) -> list[str]:
    if not exploitations:
        return []
    rows = []
    for found in exploitations:
        gain = found.bound.gain
        rows.append(
            f"| {table_name(found.players).lower()} | `{found.bound.exploiter}` | {gain.mean:+.4f} "
            f"| {gain.low:+.4f} … {gain.high:+.4f} |"
        )
    return [
        "## How far it is from unbeatable",
        "",
        "Exploitability: the most that a rule bot gains against it, or a chart that was fitted to "
        "it, lives a round, alone among copies of it. That is a lower bound: a policy that learned "
        "against it gains more (`python evaluate.py exploit`).",
        "",
        "| table | by | gain | 95 % interval |",
        "| --- | --- | ---: | ---: |",
        *rows,
        "",
    ]
