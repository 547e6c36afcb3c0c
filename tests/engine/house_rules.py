"""House rules at random: every field of `Rules`, in combinations that no preset has."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st

from thirtyone_env.rules import MAX_SEATS, Rules

_ANY: dict[str, tuple[Any, ...]] = {
    "low_rank": (2, 2, 5, 7, 9),
    "jokers": (0, 0, 0, 1, 2, 4),
    "lives": (1, 2, 3),
    "free_ride": (False, True),
    "three_of_a_kind": (None, 30, 30.5),
    "three_aces": (None, 31, 32, 33),
    "suited_run": (None, 30),
    "blitz_after_knock": (False, True),
    "blitz_loss": ("others", "lowest"),
    "fire_loss": (None, "others", "lowest"),
    "ties": ("share", "suit"),
    "knocker_lowest_loss": (1, 2),
    "knocker_tie": ("safe", "shares"),
    "first_turn_knock": (False, True),
    "min_knock": (0, 0, 17, 25.5, 30.5),
    "buy_ins": (0, 0, 1, 2),
    "decider": ("deal", "draw"),
    "max_turns": (1, 2, 5, 20, 100),
    "max_rounds": (1, 2, 5, 30),
}
_DRAW: dict[str, tuple[Any, ...]] = {
    "hand_size": (3, 4),
    "pass_allowed": ("never", "final_turn", "always"),
    "return_upcard": (False, True),
    "stock_out": ("void", "showdown", "continue", "reshuffle"),
}
_EXCHANGE: dict[str, tuple[Any, ...]] = {
    "dealer_choice": (False, True),
    "dealt_blitz_exchange": (False, True),
    "table_out": ("showdown", "reshuffle"),
}
FIELDS = {"draw": _ANY | _DRAW, "exchange": _ANY | _EXCHANGE}


def made(family: str, fields: dict[str, Any], seats: int) -> tuple[Rules, int]:
    """Rules with these fields, and as many of the seats as fit."""
    four = fields.get("hand_size") == 4
    blank = Rules(family=family, max_players=2, blitz_value=41 if four else 31, **fields)  # type: ignore[arg-type]
    seats = min(seats, blank.seats_that_fit)
    return Rules.from_dict(blank.to_dict() | {"max_players": blank.seats_that_fit}), seats


def random_house_rules(rng: random.Random) -> tuple[Rules, int]:
    """House rules and a number of seats."""
    family = rng.choice(("draw", "exchange"))
    fields = {name: rng.choice(values) for name, values in FIELDS[family].items()}
    return made(family, fields, rng.choice((2, 3, 4, MAX_SEATS)))


@st.composite
def house_rules(draw: st.DrawFn) -> tuple[Rules, int]:
    """The same for Hypothesis."""
    family = draw(st.sampled_from(("draw", "exchange")))
    fields = {
        name: draw(st.sampled_from(list(dict.fromkeys(values))))
        for name, values in FIELDS[family].items()
    }
    return made(family, fields, draw(st.integers(2, MAX_SEATS)))
