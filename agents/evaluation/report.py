"""The results of a benchmark as a table, files, figures and one page that works offline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure
from rich.table import Table

from agents.evaluation import chart
from agents.evaluation.benchmark import Benchmark, Row, to_csv, to_json
from agents.evaluation.chart import percent, table_name
from agents.evaluation.pages import environment
from agents.policies.files import write_bytes, write_text
from thirtyone_env.rules import Rules

PAGE = "report.html"
_MARK = {"above": "▲ above par", "at": "● at par", "below": "▼ below par"}
_STYLE = {"above": "green", "at": "yellow", "below": "red"}


@dataclass(frozen=True)
class Section:
    """One policy at one size of table, ready to be printed."""

    policy: str
    title: str
    par: str
    rows: tuple[tuple[str, str, str, str, str], ...]
    """Opponent, win rate, interval, mean payoff, verdict."""
    summary: str


def sections(benchmark: Benchmark) -> list[Section]:
    """The rows by policy and size of table, every number written the way it is shown everywhere."""
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in benchmark.rows:
        groups.setdefault((row.policy, row.players), []).append(row)
    return [
        Section(
            policy=policy,
            title=table_name(players),
            par=percent(rows[0].par, 0),
            rows=tuple(
                (
                    row.opponent,
                    percent(row.win_rate),
                    f"{percent(row.win_rate_low)} – {percent(row.win_rate_high)}",
                    f"{row.payoff:+.3f}",
                    row.verdict,
                )
                for row in rows
            ),
            summary=_summary(rows),
        )
        for (policy, players), rows in groups.items()
    ]


def _summary(rows: Sequence[Row]) -> str:
    above = sum(row.verdict == "above" for row in rows)
    rest = [f"{row.verdict} par against {row.opponent}" for row in rows if row.verdict != "above"]
    start = f"{table_name(rows[0].players)}: above par against {above} of {len(rows)} opponents"
    return f"{start}; {', '.join(rest)}." if rest else f"{start}."


def table(benchmark: Benchmark) -> Table:
    """The rows as a table for a terminal."""
    several = len({row.policy for row in benchmark.rows}) > 1
    view = Table(title=f"Matches won, with {benchmark.level:.0%} intervals", title_justify="left")
    if several:
        view.add_column("policy")
    view.add_column("table", no_wrap=True)
    view.add_column("against", overflow="fold")
    for heading in ("won", "interval"):
        view.add_column(heading, justify="right", no_wrap=True)
    view.add_column("", no_wrap=True)
    for section in sections(benchmark):
        for i, (opponent, rate, interval, _, verdict) in enumerate(section.rows):
            cells = [section.policy] if several else []
            cells.append(f"{section.title}, par {section.par}" if i == 0 else "")
            mark = f"[{_STYLE[verdict]}]{_MARK[verdict]}[/]"
            view.add_row(*cells, opponent, rate, interval, mark)
        view.add_section()
    return view


def write(
    benchmark: Benchmark,
    folder: Path,
    *,
    title: str,
    facts: Mapping[str, str] | None = None,
    repeat: str = "",
    curve: Figure | None = None,
) -> Path:
    """Write numbers, figures and the page into an existing folder.

    Files: `benchmark.json`, `benchmark.csv`, `win_rates.png` and `.svg`, for every policy that
    decides outside the kernel a knock chart `knock_chart.png` and `.svg` (with the policy's name
    in front if there are several), and `report.html`, which holds its figures itself.

    Args:
        benchmark: the one source of every number.
        folder: where the files go.
        title: heading of the page.
        facts: further lines of "how it was made", by their label.
        repeat: command that repeats the benchmark.
        curve: how the policy learned, written as `learning_curve.png` and `.svg` too.

    Returns:
        The path of the page.
    """
    write_text(folder / "benchmark.json", to_json(benchmark))
    write_text(folder / "benchmark.csv", to_csv(benchmark))
    rates = chart.win_rates(benchmark)
    _write_figure(rates, folder / "win_rates")
    if curve is not None:
        _write_figure(curve, folder / "learning_curve")
    charts = []
    deciding = list(dict.fromkeys(name for name, *_ in benchmark.knocks))
    for i, name in enumerate(deciding):
        figure = chart.knock_chart(benchmark, name)
        prefix = f"{name}-" if len(deciding) > 1 else ""
        _write_figure(figure, folder / f"{prefix}knock_chart")
        charts.append((name, chart.inline_svg(figure, f"knocks{i}")))
    first = benchmark.rows[0]
    page = (
        environment()
        .get_template(PAGE)
        .render(
            title=title,
            sections=sections(benchmark),
            several=len({row.policy for row in benchmark.rows}) > 1,
            marks=_MARK,
            level=f"{benchmark.level:.0%}",
            win_rates=chart.inline_svg(rates, "rates"),
            charts=charts,
            curve=None if curve is None else chart.inline_svg(curve, "curve"),
            facts={
                **_facts(benchmark, first),
                **(facts or {}),
            },
            repeat=repeat,
        )
    )
    write_text(folder / PAGE, page)
    return folder / PAGE


def _facts(benchmark: Benchmark, first: Row) -> dict[str, str]:
    return {
        "Rules": rules_name(benchmark.rules),
        "Deals": f"{first.deals:,} a pairing, each played once in every rotation of the seats",
        "Seed": str(benchmark.seed),
    }


def rules_name(rules: Rules) -> str:
    """The preset's name, or "house rules"."""
    return rules.preset_name or "house rules"


def _write_figure(figure: Figure, path: Path) -> None:
    write_bytes(path.with_suffix(".png"), chart.png(figure))
    write_text(path.with_suffix(".svg"), chart.svg_file(figure))
