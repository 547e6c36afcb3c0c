"""The cards of the charts that come with the package, and the pictures on their page.

`python -m benchmarks.chart_cards` draws the pictures of docs/chart_cards.md from the charts;
`make docs` writes the cards themselves.
"""

from __future__ import annotations

from pathlib import Path

from agents.evaluation import chart_report
from agents.evaluation.chart import png
from agents.policies.files import write_bytes
from thirtyone_env.charts import Chart, chart_names

DOCS = Path(__file__).resolve().parents[1] / "docs"
PICTURES = "assets/charts"


def pictures(chart: Chart) -> dict[int, str]:
    """Links to the pictures of a chart, from the page, by number of players."""
    sizes = chart_report.pictured(chart)
    return {size: f"{PICTURES}/{chart.name}_{size}.png" for size in sizes}


def card(name: str) -> str:
    """The card of a chart that comes with the package, for the page."""
    chart = Chart.load(name)
    return chart_report.card(chart, f"## chart:{name}", pictures(chart))


def main() -> None:
    """Draw the pictures."""
    (DOCS / PICTURES).mkdir(exist_ok=True)
    for chart in map(Chart.load, chart_names()):
        for size, link in pictures(chart).items():
            write_bytes(DOCS / link, png(chart_report.picture(chart, size)))


if __name__ == "__main__":
    main()
