"""How well a search plays, by its margin and by what it believes of the others' hands.

python configs/studies/search.py

Win rates against copies of the bot that plays on in the search, paired deals, 95 % intervals.
"""

from __future__ import annotations

import sys

from agents.evaluation.match import lone, play
from thirtyone_env import Rules

BOT, DEALS = "threshold:27", {2: 300, 4: 100}
VARIANTS = ("margin=0,belief=dealt", "belief=dealt", "margin=0", "margin=2")


def main() -> None:
    """Play every variant, heads-up and one among four, and print a row each."""
    for variant in VARIANTS:
        name = f"search:400,bot={BOT},{variant}"
        for players, deals in DEALS.items():
            matches = play(
                lone(name, BOT, players),
                rules=Rules.preset("danish"),
                deals=deals,
                seed=7,
                workers=2,
            )
            rate = matches.win_rate(0)
            row = f"{name:60} {players} players {rate.mean:.1%} ({rate.low:.1%} … {rate.high:.1%})"
            sys.stdout.write(row + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
