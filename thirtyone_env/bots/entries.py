"""Names of bots with options, such as ``lookahead:4,feed=0.5,knock=27/29``, and their entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from thirtyone_env.bots import book as words
from thirtyone_env.bots.book import BLOCK_SIZE, BLOCKS, HEADER_SIZE, UNIT, Book
from thirtyone_env.bots.worth import DRAWS_AHEAD, DrawTables, draw_tables, exchange_tables, hand_key
from thirtyone_env.charts import Chart
from thirtyone_env.state import MAX_THRESHOLDS


class Tuned(NamedTuple):
    """What options are where a name leaves them open, by players in play from 2 to 9."""

    feed: Sequence[float]
    """Cost of a point that the next player collects."""
    high: Sequence[float]
    """Cost of a point that is laid open."""
    knock: Sequence[tuple[float, ...]]
    """Points from which to knock, by own turn; with four cards 8 more."""


TUNED: dict[str, Tuned] = {
    "draw": Tuned(
        feed=(0.4, 0.1, *[0.05] * 6),
        high=(0.45, 0.2, *[0.1] * 6),
        knock=((23, 24, 25, 26, 27), *[(22, 23, 24, 25, 26)] * 7),
    ),
    "exchange": Tuned(
        feed=(0.3, 0.1, *[0] * 6),
        high=(0.05, 0.05, *[0] * 6),
        knock=((22,), (25,), *[(28,)] * 6),
    ),
}
"""By family; measured with benchmarks/tune_lookahead.py."""
MORE_WITH_FOUR_CARDS = 8
COUNTER_DRAWS = 4
"""How many own draws `counter` looks ahead."""


@dataclass(frozen=True)
class Options:
    """Options of a bot that looks ahead; None: the tuned ones, by players in play."""

    draws: int
    feed: float | None = None
    high: float | None = None
    knock: tuple[float, ...] | None = None


def _number(text: str, most: float) -> float:
    """A number of 0 … most.

    Raises:
        ValueError: for anything else.
    """
    value = float(text)
    if not 0 <= value <= most:
        raise ValueError(text)
    return value


def _points(text: str) -> tuple[float, ...]:
    """Thresholds by own turn."""
    values = tuple(_number(part, 60) for part in text.split("/"))
    if len(values) > MAX_THRESHOLDS or any(2 * value != int(2 * value) for value in values):
        raise ValueError(text)
    return values


def parse_options(spec: str) -> Options:
    """The options in the name of a bot that looks ahead.

    Raises:
        ValueError: for a malformed name.
    """
    first, *options = spec.split(",")
    bot, _, draws = first.partition(":")
    if first == "counter":
        draws = str(COUNTER_DRAWS)
    found: dict[str, Any] = {}
    try:
        if draws not in map(str, DRAWS_AHEAD) or (bot == "counter" and first != bot):
            raise ValueError(draws)
        for option in options:
            name, _, text = option.partition("=")
            if name in found or name not in ("feed", "high", "knock"):
                raise ValueError(option)
            found[name] = _points(text) if name == "knock" else _number(text, 20)
    except (ValueError, OverflowError):
        ahead = ", ".join(map(str, DRAWS_AHEAD))
        raise ValueError(
            f"bot {spec!r}: write lookahead:K with K one of {ahead}, or counter, then options "
            "once each: feed=X and high=X with 0 … 20, knock=T or knock=T1/T2/… with up to "
            f"{MAX_THRESHOLDS} thresholds of 0 … 60 points in steps of one half, such as "
            "'lookahead:4,feed=0.5,high=0.1,knock=26/27'"
        ) from None
    return Options(int(draws), **found)


def _blocks(options: Options, family: str, hand_size: int) -> np.ndarray:
    """int64[8, BLOCK_SIZE]: the options by players in play."""
    blocks, tuned = np.zeros((8, BLOCK_SIZE), np.int64), TUNED[family]
    for place, block in enumerate(blocks):
        knock = options.knock
        if knock is None:
            more = MORE_WITH_FOUR_CARDS if hand_size == 4 else 0
            knock = tuple(points + more for points in tuned.knock[place])
        thresholds = [knock[min(turn, len(knock) - 1)] for turn in range(MAX_THRESHOLDS)]
        feed = tuned.feed[place] if options.feed is None else options.feed
        high = tuned.high[place] if options.high is None else options.high
        block[words.FEED], block[words.HIGH] = round(feed * UNIT), round(high * UNIT)
        block[words.THRESHOLDS :] = [round(2 * points) for points in thresholds]
    return blocks


def lookahead_entry(spec: str, options: Options, rules: Any, book: Book) -> int:
    """Place what a bot that looks ahead needs under some rules; its entry."""
    key, family = hand_key(rules), "exchange" if rules["exchange"] else "draw"

    def header() -> np.ndarray:
        made = np.zeros(HEADER_SIZE, np.int64)
        tables = exchange_tables(key) if rules["exchange"] else draw_tables(key)
        made[words.CLASSES] = book.place(("classes", key), lambda: tables.number)
        made[words.NUM_CLASSES] = tables.worth.shape[1]
        near, far = options.draws - 1, options.draws
        made[words.NEAR] = book.place(("worth", near, key), lambda: tables.worth[near])
        made[words.FAR] = book.place(("worth", far, key), lambda: tables.worth[far])
        if isinstance(tables, DrawTables):
            made[words.SHOWDOWN] = book.place(("showdown", key), lambda: tables.showdown)
            made[words.LAST] = book.place(("last", key), lambda: tables.last)
        else:
            refused = tables.refused[near]
            made[words.REFUSED] = book.place(("refused", near, key), lambda: refused)
        made[BLOCKS:] = _blocks(options, family, int(rules["hand_size"])).ravel()
        return made

    return book.enter(spec, (family, key), header)


def parse_chart(spec: str) -> tuple[str, str]:
    """The chart, by file or name, and the rule of draws (or "") that the name of a bot says.

    Raises:
        ValueError: for a malformed name.
    """
    chart, option, draws = spec.partition(":")[2].partition(",draws=")
    if not chart or bool(option) != bool(draws):
        raise ValueError(
            f"bot {spec!r}: write chart:NAME or chart:FILE, then ,draws=RULE if it is to draw by "
            "another rule than it was made with, such as 'chart:danish,draws=lookahead:4'"
        )
    return chart, draws


def chart_entry(spec: str, chart: Chart, header: int, rules: Any, book: Book) -> int:
    """Place a chart and a header that says so; its entry.

    Args:
        spec: the bot's name.
        chart: the chart.
        header: the entry of the rule that draws, whose words are kept; 0 if it has none.
        rules: the rules in force, a record of dtype `RULES`.
        book: where to place it.
    """
    key = rules.tobytes()

    def made() -> np.ndarray:
        new = np.zeros(HEADER_SIZE, np.int64)
        if header and book.array is not None:
            new[:] = book.array[header : header + HEADER_SIZE]
        new[words.CHART] = book.place(("chart", chart.digest), lambda: chart.book)
        return new

    return book.enter(spec, (key, chart.digest), made)
