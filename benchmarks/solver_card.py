"""The card of a solver that comes with the package: rules, recipe, figures, picture.

    python -m benchmarks.solver_card NAME [DEALS]

Measures what the solver gains against rule bots, alone among copies of each, at every size of table
that it was made for; writes the figures into thirtyone_env/data/solvers/NAME.json and the page
NAME.md with the picture NAME.png beside it.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from agents.evaluation import chart, knock_study
from agents.evaluation.exploit import gain_of
from agents.evaluation.parts import Parts
from agents.policies import make
from agents.policies.files import write_bytes, write_text
from thirtyone_env.solvers import FOLDER, Solver

DEALS, CHART_DEALS, SEED = 10_000, 1_000, 1_000_000
OPPONENTS = {
    "draw": (
        "chart:danish,draws=lookahead:6",
        "chart:danish,draws=lookahead:4",
        "lookahead:6",
        "lookahead:4",
        "counter",
        "danish",
        "swedish",
        "threshold:27",
    ),
    "exchange": (
        "lookahead:4",
        "lookahead:6",
        "chart:schwimmen_a7,draws=lookahead:4",
        "threshold:25",
    ),
}
"""By family: the strongest of each kind of rule bot. `counter` is `lookahead:4` in exchanges."""
Figures = dict[str, dict[str, list[float]]]


def measured(name: str, deals: int) -> Figures:
    """Gains in lives a round with the ends of their 95 % intervals, by seats and bot."""
    solver = Solver.load(name)
    found: Figures = {}
    for seats in sorted(solver.tables):
        rows = found[str(seats)] = {}
        for bot in OPPONENTS[solver.rules.family]:
            table: dict[str, Any] = {"rules": solver.rules, "num_players": seats}
            parts = Parts(workers=None)
            gain = gain_of(f"solver:{name}", bot, deals=deals, seed=SEED, parts=parts, **table)
            rows[bot] = [round(float(x), 4) for x in (gain.mean, gain.low, gain.high)]
    return found


def picture(name: str) -> bytes:
    """When it knocks, by own turn and value, one panel a size of table."""
    solver = Solver.load(name)
    seats = tuple(sorted(solver.tables))
    found, _ = knock_study.sample(
        [make(f"solver:{name}")],
        among=None,
        rules=solver.rules,
        players=seats,
        deals=CHART_DEALS,
        seed=SEED,
        workers=None,
    )
    return chart.png(chart.share_panels({size: found[0].shares(size) for size in seats}))


def page(name: str, about: dict[str, Any], deals: int) -> str:
    """The page, from what is kept beside the solver."""
    solver = Solver.load(name)
    seats = " and ".join(str(size) for size in sorted(solver.tables))
    size = (FOLDER / f"{name}.npz").stat().st_size
    recipe = [f"| `{key}` | {json.dumps(value)} |" for key, value in about["config"].items()]
    rows = [
        f"| {table} | `{bot}` | {mean:+.4f} | {low:+.4f} … {high:+.4f} |"
        for table, bots in about["lives_a_round"].items()
        for bot, (mean, low, high) in bots.items()
    ]
    lines = [
        f"# solver:{name}",
        "",
        f"Tables of what every decision of a round is worth, for tables of {seats} by the rules "
        f"`{solver.rules.preset_name}`; lives, buy-ins and deciders do not matter to it, any other "
        f"difference is refused. {size / 1000:,.0f} kB.",
        "",
        "## Training",
        "",
        "It is repeated by",
        "",
        "```",
        about["reproduce"],
        "```",
        "",
        "| key | value |",
        "| --- | --- |",
        *recipe,
        "",
        "## Strength",
        "",
        f"Lives a round with 95 % intervals, alone among copies of the other; {deals:,} deals, "
        "each played once in every rotation of the seats.",
        "",
        "| players | against | gain | interval |",
        "| --- | --- | ---: | ---: |",
        *rows,
        "",
        "```",
        f"python -m benchmarks.solver_card {name} {deals}",
        "```",
        "",
        "## When it knocks",
        "",
        f"![How often it knocks where it can, by own turn and value]({name}.png)",
    ]
    return "\n".join(lines) + "\n"


def main(name: str, deals: int = DEALS) -> None:
    """Measure, and write figures, page and picture."""
    path, solver = FOLDER / f"{name}.json", Solver.load(name)
    about: dict[str, Any] = {"rules": solver.rules.to_dict(), "turns": solver.turns}
    about |= {"ramp": solver.ramp, **solver.card}
    about["reproduce"] = f"python train.py configs/solver_{name}.yaml"
    about["lives_a_round"] = measured(name, deals)
    write_text(path, json.dumps(about, indent=1) + "\n")
    write_bytes(FOLDER / f"{name}.png", picture(name))
    write_text(FOLDER / f"{name}.md", page(name, about, deals))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]))
