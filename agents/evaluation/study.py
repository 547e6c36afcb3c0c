"""A study as one self-contained page, its figures and its tables as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from agents.evaluation import chart, figures
from agents.evaluation.pages import environment
from agents.evaluation.standings import Standings
from agents.evaluation.tables import DataTable, write_tables
from agents.evaluation.threshold_study import Study
from agents.evaluation.threshold_tables import players_name, tables_of
from agents.policies.files import write_bytes, write_text

PAGE = "report.html"


@dataclass(frozen=True)
class Picture:
    """A figure with the name of its files and what it shows."""

    name: str
    figure: Figure
    caption: str


@dataclass(frozen=True)
class Section:
    """A part of a page."""

    title: str
    tables: Sequence[DataTable] = ()
    pictures: Sequence[Picture] = field(default_factory=tuple)


def write_study(
    folder: Path,
    name: str,
    *,
    title: str,
    summary: Sequence[str],
    sections: Sequence[Section],
    tables: Sequence[DataTable],
    facts: Mapping[str, Any],
    shown_facts: Mapping[str, str],
    repeat: str,
    parquet: bool = False,
) -> Path:
    """Write numbers, figures and the page into an existing folder.

    Args:
        folder: where the files go.
        name: of the JSON file.
        title: heading of the page.
        summary: the main results, in sentences.
        sections: parts of the page.
        tables: all tables, those for files only too.
        facts: what the JSON file says besides the tables.
        shown_facts: "how it was made", by label.
        repeat: command that gives the same numbers.
        parquet: whether tables are written as Parquet too.

    Returns:
        The path of the page.
    """
    write_tables(folder, name, facts, tables, parquet)
    shown = []
    for section in sections:
        drawings = []
        for picture in section.pictures:
            write_bytes(folder / f"{picture.name}.png", chart.png(picture.figure))
            write_text(folder / f"{picture.name}.svg", chart.svg_file(picture.figure))
            drawings.append((chart.inline_svg(picture.figure, picture.name), picture.caption))
        shown.append({"title": section.title, "figures": drawings, "tables": section.tables})
    page = (
        environment()
        .get_template("study.html")
        .render(
            title=title, summary=summary, sections=shown, facts=shown_facts, repeat=repeat, zip=zip
        )
    )
    write_text(folder / PAGE, page)
    return folder / PAGE


def tournament_sections(standings: Standings) -> list[Section]:
    """The page of a tournament."""
    by_name = {table.name: table for table in standings.tables}
    level = f"{standings.level:.0%}"
    pair_label = by_name["pairs"].columns[2].unit
    pairs = [
        Picture(
            "payoff_matrix",
            figures.payoff_matrix(standings.names, standings.matrix, pair_label, 2),
            "What the policy of the row gets against that of the column.",
        )
    ]
    if standings.mixture is not None:
        pairs.append(
            Picture(
                "mixture",
                figures.mixture(standings),
                "Nash: a mixture that no policy of the roster beats. α-Rank: how long evolution "
                "stays at a policy. Where policies beat each other in a circle these say more than "
                "a rating.",
            )
        )
    return [
        Section(
            "Standings",
            [by_name["standings"]],
            [
                Picture(
                    "ratings",
                    figures.ratings(standings),
                    f"Ratings from one fit to all results, with {level} intervals clustered by "
                    "deal; 400 points are a factor of ten in worth.",
                )
            ],
        ),
        Section(by_name["pairs"].title, [by_name["pairs"]], pairs),
        Section("Matches won by seat", [by_name["seats"]]),
        Section(
            "Knocks and blitzes",
            [by_name["knocks"]],
            [
                Picture(
                    "knock_charts",
                    figures.knock_charts(standings),
                    "How often each policy knocked where it could; grey: hardly ever there.",
                )
            ],
        ),
        Section(
            "Lengths",
            [by_name["lengths"]],
            [Picture("lengths", figures.lengths(standings), "How long rounds and matches were.")],
        ),
    ]


def threshold_sections(study: Study) -> list[Section]:
    """The page of a threshold study."""
    tables = {table.name: table for table in tables_of(study)}
    sections = []
    for payoffs in study.payoffs:
        tag, name = f"{payoffs.players}_players", players_name(payoffs.players)
        sections.append(
            Section(
                name,
                [tables[f"replies_{tag}"], tables[f"mixture_{tag}"]],
                [
                    Picture(
                        f"payoffs_{tag}",
                        figures.threshold_matrix(payoffs),
                        "Blue: the threshold of the row does better than its opponent.",
                    ),
                    Picture(
                        f"mixture_{tag}",
                        figures.threshold_mixture(payoffs),
                        f"The unbeaten mixture, with {payoffs.level:.0%} bootstrap intervals.",
                    ),
                ],
            )
        )
        sections.append(Section(f"By seat, {name.lower()}", [tables[f"seats_{tag}"]]))
    if study.lives is not None:
        first = next(payoffs for payoffs in study.payoffs if payoffs.players == 2)
        picture = Picture(
            "by_lives",
            figures.thresholds_by_lives(first, study.lives),
            "Mean threshold of unbeaten play that may depend on lives and on who begins. A free "
            "ride to come counts as one more loss to go.",
        )
        sections.append(Section("By lives left, heads-up", [tables["lives"]], [picture]))
    if study.turns is not None:
        picture = Picture(
            "by_turn",
            figures.gains_by_turn(study.turns),
            "Blue: knocking is better than going on, if all else follows the mixture; grey: hardly "
            "ever there.",
        )
        sections.append(Section("By turn, heads-up", [tables["turns"]], [picture]))
    return sections
