"""How bots are named, and who decides for a seat."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from thirtyone_env.bots.book import Book
from thirtyone_env.bots.entries import (
    chart_entry,
    lookahead_entry,
    parse_chart,
    parse_options,
)
from thirtyone_env.bots.knocking import Bot
from thirtyone_env.bots.solver_entry import solver_entry
from thirtyone_env.charts import Chart
from thirtyone_env.checks import check_choice
from thirtyone_env.seen import SeenSolver, load_solver
from thirtyone_env.state import (
    ASK_ALL,
    ASK_KNOCK,
    ASK_NOTHING,
    CONTROLLER,
    EXTERNAL,
    MAX_THRESHOLDS,
)

BOTS: tuple[str, ...] = (
    "random",
    "never_knock",
    "threshold:25",
    "danish",
    "dutch",
    "swedish",
    "lookahead:4",
    "counter",
)
"""One example of every bot."""
BOT_FORMS: tuple[str, ...] = (
    "random",
    "never_knock",
    "threshold:T",
    "threshold_by_turn:T1,T2,…",
    "danish",
    "dutch",
    "swedish",
    "lookahead:K[,feed=X][,high=X][,knock=T1/T2/…]",
    "counter[,feed=X][,high=X][,knock=T1/T2/…]",
    "chart:NAME[,draws=RULE]",
    "solver:NAME",
)
"""How bots are named; T is in points, halves allowed."""
LOOKING_AHEAD: dict[str, Bot] = {"lookahead": Bot.LOOKAHEAD, "counter": Bot.COUNTER}
DRAWS: dict[str, Bot] = {"greedy": Bot.NEVER_KNOCK, "swedish": Bot.SWEDISH}
"""Rules that draw and discard for a seat that decides about knocking only."""


def _thresholds(spec: str, text: str) -> list[int]:
    try:
        values = [float(part) for part in text.split(",")]
        good = all(v * 2 == int(v * 2) and 0 <= v <= 60 for v in values)
    except (ValueError, OverflowError):
        good, values = False, []
    if not good or not 1 <= len(values) <= MAX_THRESHOLDS:
        raise ValueError(
            f"bot {spec!r}: thresholds are 1 to {MAX_THRESHOLDS} numbers of points, 0 … 60, "
            "in steps of one half, such as 'threshold:25' or 'threshold_by_turn:21,25.5,28'"
        )
    return [int(2 * v) for v in values]


def drawing(spec: str, rules: Any = None, book: Book | None = None) -> np.ndarray:
    """The CONTROLLER of a rule that draws and discards: one of `DRAWS`, or a bot that looks ahead.

    Raises:
        ValueError: for an unknown rule.
    """
    if isinstance(spec, str) and re.split("[:,]", spec)[0] in LOOKING_AHEAD:
        return controller(spec, rules, book)
    check_choice("draws", spec, (*DRAWS, *LOOKING_AHEAD))
    result = np.zeros((), CONTROLLER)
    result["bot"], result["ask"] = DRAWS[spec], ASK_NOTHING
    return result


def _chart(spec: str, rules: Any, book: Book | None) -> np.ndarray:
    """The CONTROLLER of a bot that knocks by a chart."""
    name, draws = parse_chart(spec)
    chart = Chart.load(name)
    result = drawing(draws or chart.draws, rules, book)
    header = int(result["entry"])
    result["entry"] = -1
    if book is not None:
        chart.check_record(rules)
        result["entry"] = chart_entry(spec, chart, header, rules, book)
    return result


def check_seats(spec: str, num_players: int) -> None:
    """Refuse a table that the bot of a name was not made for.

    Raises:
        ValueError: naming the numbers of players it knows.
    """
    if isinstance(spec, str) and spec.startswith("chart:"):
        Chart.load(parse_chart(spec)[0]).check_players(num_players)


def controller(spec: str, rules: Any = None, book: Book | None = None) -> np.ndarray:
    """Who decides for a seat.

    Args:
        spec: a bot as in `BOT_FORMS`; ``"external"``: every decision comes from outside;
            ``"knock:RULE"``: a rule of `DRAWS` draws and discards, and from outside comes only
            whether to knock (1) or to go on (0) where both are legal; ``"knock"``: by the greedy
            rule.
        rules: the rules in force, a record of dtype `RULES`.
        book: the book of whoever owns the states; what a bot looks up is placed in it. Without
            one the name is checked alone, and the entry of a bot with tables is −1.

    Returns:
        A 0-dimensional array of dtype `CONTROLLER`.

    Raises:
        ValueError: for an unknown name, or malformed thresholds or options.
    """
    result = np.zeros((), CONTROLLER)
    name, _, text = spec.partition(":") if isinstance(spec, str) else ("", "", "")
    result["ask"] = ASK_NOTHING
    if spec == "external":
        result["bot"], result["ask"] = EXTERNAL, ASK_ALL
    elif name == "knock":
        rule = "greedy" if spec == "knock" else text
        check_choice("draws", rule, tuple(DRAWS))
        result["bot"], result["ask"] = DRAWS[rule], ASK_KNOCK
    elif name in ("threshold", "threshold_by_turn") and text:
        values = _thresholds(spec, text)
        if name == "threshold" and len(values) > 1:
            raise ValueError(f"bot {spec!r}: one threshold, or threshold_by_turn:{text}")
        result["bot"], result["num_thresholds"] = Bot.THRESHOLD, len(values)
        result["thresholds"][: len(values)] = values
    elif name.split(",")[0] in LOOKING_AHEAD:
        options = parse_options(spec)
        result["bot"], result["entry"] = LOOKING_AHEAD[name.split(",")[0]], -1
        if book is not None:
            result["entry"] = lookahead_entry(spec, options, rules, book)
    elif name == "chart":
        result = _chart(spec, rules, book)
    elif name == "solver" and text:
        solver = load_solver(text)
        result["bot"], result["entry"] = Bot.SOLVER, -1
        if isinstance(solver, SeenSolver):
            result["bot"] = Bot.SEEN
        if book is not None:
            result["entry"] = solver_entry(spec, solver, rules, book)
    elif isinstance(spec, str) and spec in BOT_FORMS and not text:
        result["bot"] = Bot[spec.upper()]
    else:
        raise ValueError(f"unknown bot {spec!r}; bots are {', '.join(BOT_FORMS)}")
    return result


def bot_table() -> dict[str, str]:
    """Every bot with the advice that it follows, for the docs."""
    return {
        "random": "any legal action, each as likely",
        "never_knock": "best value, never knocks",
        "threshold:T": "best value; knocks with T points or more",
        "threshold_by_turn:T1,T2,…": "the same, a threshold for each own turn; the last goes on",
        "danish": "knocks with 25; with 21 or 23 on the first two own turns, 27 from the sixth on "
        "(8 points more with four cards, as the next two)",
        "dutch": "knocks with 28; 26 where knocks come late, 29 where they come early; "
        "two less on the last life",
        "swedish": "commits to its best suit, prefers a known 8 of it to an unknown card; knocks "
        "with 27, with 23 when an opponent openly collects 20 points of a suit",
        "lookahead:K[,feed=X][,high=X][,knock=T1/T2/…]": "draws and discards by the hand's "
        "expected value K own draws ahead; counts X points for each point of a discard, and of one "
        "that the next player openly collects; knocks with T1 points on the first own turn, …",
        "counter[,feed=X][,high=X][,knock=T1/T2/…]": "as lookahead:4, with the cards counted that "
        "it has seen; after a knock with what opponents openly hold (in the exchange family it "
        "plays as lookahead:4)",
        "chart:NAME[,draws=RULE]": "knocks by a chart, a shipped one or a file; draws and discards "
        "by the rule that the chart was made with, or another one",
        "solver:NAME": "every decision by what it is worth in the rest of the round, from a "
        "solver's tables, NAME being a file, danish or schwimmen_a7; by the rules that they are "
        "made for",
    }
