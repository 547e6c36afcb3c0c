"""Which options `lookahead:K` plays best with, by players in play (``bots.entries``).

Every value of one option is tried against fields of other bots, the others held fixed; the best
takes its place, and the next option follows. All tries play the same deals. A player count is tuned
after those below it, since a match of four ends with two.

    python -m benchmarks.tune_lookahead RULES DRAWS [players ...]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from thirtyone_env.arena import play_matches
from thirtyone_env.bots import entries
from thirtyone_env.rules import PRESETS, Rules

DEALS, SEED = 8_000, 17
FIELDS = {
    "draw": ("threshold:27", "danish", "lookahead:4,feed=0.3,high=0.05,knock=26"),
    "exchange": ("threshold:25", "threshold:22", "lookahead:3,feed=0.1,high=0.05,knock=25"),
}
TRIED: dict[str, tuple[Any, ...]] = {
    "feed": (0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8),
    "high": (0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6),
    "knock": tuple(
        knock
        for late in (18, 20, 21, 22, 23, 24, 25, 26, 27, 28)
        for knock in ((late,), (late - 2, late - 1, late))
    ),
}


def lone_wins(rules: Rules, bot: str, field: str, seats: int, deals: int = DEALS) -> np.ndarray:
    """float64[M]: share of matches won by one bot among others, over its seats, by deal."""
    matches, found = np.arange(deals), np.zeros(deals)
    for seat in range(seats):
        bots = [field] * seats
        bots[seat] = bot
        found += play_matches(rules, bots, seed=SEED, matches=matches)[:, seat]
    return (found / seats * (seats - 1) + 1) / seats


def score(rules: Rules, draws: int, seats: int) -> float:
    """Mean share of matches won against every field, with the options as they stand."""
    fields = FIELDS[rules.family]
    wins = [lone_wins(rules, f"lookahead:{draws}", field, seats).mean() for field in fields]
    return float(np.mean(wins))


def put(family: str, option: str, players: int, value: Any) -> None:
    """Set an option for so many players in play and more."""
    table = list(getattr(entries.TUNED[family], option))
    table[players - 2 :] = [value] * (10 - players)
    entries.TUNED[family] = entries.TUNED[family]._replace(**{option: tuple(table)})


def tuned(rules: Rules, draws: int, players: int) -> Iterator[tuple[str, Any, float]]:
    """The best value of each option in turn, with its score."""
    for option, values in TRIED.items():
        scores = {}
        for value in values:
            put(rules.family, option, players, value)
            scores[value] = score(rules, draws, players)
        best = max(scores, key=lambda value: scores[value])
        put(rules.family, option, players, best)
        yield option, best, scores[best]


def main(rules: str, draws: str, *counts: str) -> None:
    """Tune some player counts one after another; print what is best."""
    for players in map(int, counts or ("2", "3", "4")):
        for option, best, found in tuned(PRESETS[rules], int(draws), players):
            print(
                f"{rules}, {players} players: {option} {best} wins {100 * found:.2f} %", flush=True
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
