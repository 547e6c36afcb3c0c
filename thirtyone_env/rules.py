"""The rules of every game as data: `Rules`, its checks and its presets.

The fields, presets and words are those of the project's rules page (docs/rules.md). A preset is a
named choice of fields, a house rule a preset with some of them changed::

    Rules.preset("danish", min_knock=21)
"""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from thirtyone_env.cards import points

MAX_SEATS = 9

_CHOICES: dict[str, tuple[str, ...]] = {
    "family": ("draw", "exchange"),
    "blitz_loss": ("others", "lowest"),
    "fire_loss": ("others", "lowest"),
    "ties": ("share", "suit"),
    "knocker_tie": ("safe", "shares"),
    "pass_allowed": ("never", "final_turn", "always"),
    "stock_out": ("void", "showdown", "continue", "reshuffle"),
    "table_out": ("showdown", "reshuffle"),
    "decider": ("deal", "draw"),
}
_RANGES: dict[str, tuple[int, int]] = {
    "low_rank": (2, 9),
    "jokers": (0, 4),
    "min_players": (2, MAX_SEATS),
    "max_players": (2, MAX_SEATS),
    "hand_size": (3, 4),
    "lives": (1, 9),
    "knocker_lowest_loss": (1, 2),
    "buy_ins": (0, 9),
    "max_turns": (1, 30_000),
    "max_rounds": (1, 1_000_000),
}
_VALUES: dict[str, tuple[float | None, ...]] = {
    "three_of_a_kind": (None, 30, 30.5),
    "three_aces": (None, 31, 32, 33),
    "suited_run": (None, 30),
}
_FLAGS = (
    "free_ride",
    "blitz_after_knock",
    "first_turn_knock",
    "return_upcard",
    "dealer_choice",
    "dealt_blitz_exchange",
)
# Fields that only one family uses, with the value that they keep in the other one.
_DRAW_ONLY = {"pass_allowed": "never", "return_upcard": False, "stock_out": "void"}
_EXCHANGE_ONLY = {"dealer_choice": False, "dealt_blitz_exchange": False, "table_out": "showdown"}

RULES = np.dtype(
    [
        ("max_turns", np.int16),
        ("max_rounds", np.int32),
        ("deck_size", np.int8),
        ("exchange", np.int8),
        ("low_rank", np.int8),
        ("jokers", np.int8),
        ("hand_size", np.int8),
        ("lives", np.int8),
        ("free_ride", np.int8),
        ("three_of_a_kind", np.int8),  # half points; 0 for none
        ("three_aces", np.int8),
        ("suited_run", np.int8),
        ("blitz_value", np.int8),
        ("blitz_after_knock", np.int8),
        ("blitz_lowest", np.int8),
        ("fire_lowest", np.int8),
        ("ties_by_suit", np.int8),
        ("knocker_lowest_loss", np.int8),
        ("knocker_tie_shares", np.int8),
        ("first_turn_knock", np.int8),
        ("min_knock", np.int8),
        ("pass_allowed", np.int8),  # 0 never, 1 final turn, 2 always
        ("return_upcard", np.int8),
        ("stock_out", np.int8),  # 0 void, 1 showdown, 2 continue, 3 reshuffle
        ("dealer_choice", np.int8),
        ("dealt_blitz_exchange", np.int8),
        ("table_reshuffle", np.int8),
        ("buy_ins", np.int8),
        ("decider_draw", np.int8),
    ],
    align=True,
)
"""The rules in force as kernels read them; nested in every State."""

PASS_NEVER, PASS_FINAL_TURN, PASS_ALWAYS = range(3)
OUT_VOID, OUT_SHOWDOWN, OUT_CONTINUE, OUT_RESHUFFLE = range(4)


@dataclass(frozen=True, kw_only=True)
class Rules:
    """One rule set. Every field is there in both families; see docs/rules.md for their meaning.

    Raises:
        ValueError: for a value or a combination that no game can have; the message names the
            field, the value and what is allowed.
    """

    family: Literal["draw", "exchange"] = "draw"
    """Take one card and discard one, or swap with three open cards."""
    low_rank: int = 2
    """Lowest number card in the deck: 2 (52 cards), 5 (40), 7 (32), 9 (24)."""
    jokers: int = 0
    """Jokers in the deck; each counts as the card that makes the hand highest."""
    min_players: int = 2
    """Fewest seats."""
    max_players: int = 9
    """Most seats; the deck must suffice for them."""
    hand_size: int = 3
    """Cards in a hand: 3, or 4 in the draw family."""
    lives: int = 3
    """Lives at the start."""
    free_ride: bool = False
    """A player who loses the last life stays for one more loss."""
    three_of_a_kind: float | None = None
    """Worth of three cards of one rank."""
    three_aces: float | None = None
    """Worth of three aces, where it is higher than three of a kind."""
    suited_run: float | None = None
    """Worth of three cards of one suit in sequence."""
    blitz_value: float = 31
    """A hand worth this or more ends the round: 31 with three cards, 41 with four."""
    blitz_after_knock: bool = True
    """Whether a blitz still ends the round in the turns after a knock."""
    blitz_loss: Literal["others", "lowest"] = "others"
    """Who loses a life on a blitz: all who hold none, or the lowest hand at a showdown."""
    fire_loss: Literal["others", "lowest"] | None = None
    """The same when a holder has three aces worth more than 31; None: as `blitz_loss`."""
    ties: Literal["share", "suit"] = "share"
    """Equal values are equal, or every two hands are ordered."""
    knocker_lowest_loss: int = 2
    """Lives lost by a knocker who alone is lowest."""
    knocker_tie: Literal["safe", "shares"] = "safe"
    """Whether a knocker among several lowest loses nothing, or one like the others."""
    first_turn_knock: bool = True
    """Whether a player may knock on their own first turn of a round."""
    min_knock: float = 0
    """Lowest hand value that may knock."""
    pass_allowed: Literal["never", "final_turn", "always"] = "never"
    """Draw family: whether a turn may be a plain pass; final_turn: only after a knock."""
    return_upcard: bool = False
    """Draw family: whether the card just taken from the discard pile may be discarded at once."""
    stock_out: Literal["void", "showdown", "continue", "reshuffle"] = "void"
    """Draw family: what happens when the stock has run out without a knock."""
    dealer_choice: bool = False
    """Exchange family: the dealer may refuse their first three cards."""
    dealt_blitz_exchange: bool = False
    """Exchange family: after a dealt blitz all who hold none get one turn."""
    table_out: Literal["showdown", "reshuffle"] = "showdown"
    """Exchange family: what happens when the stock cannot renew the table."""
    buy_ins: int = 0
    """How often each player may come back after elimination."""
    decider: Literal["deal", "draw"] = "deal"
    """When a round would eliminate all: those players play on, or share the pot."""
    max_turns: int = 100
    """Turns after which a round without a knock is void."""
    max_rounds: int = 500
    """Rounds after which a match ends without a winner."""

    def __post_init__(self) -> None:
        if self.fire_loss is None:
            object.__setattr__(self, "fire_loss", self.blitz_loss)
        for name in FIELDS:
            object.__setattr__(self, name, _checked(name, getattr(self, name)))
        self._check_combinations()

    def _check_combinations(self) -> None:
        four = self.hand_size == 4
        if self.family == "exchange" and four:
            raise _refusal("hand_size", 4, "3 in the exchange family")
        if self.blitz_value != (41 if four else 31):
            allowed = "41 with four cards" if four else "31 with three cards"
            raise _refusal("blitz_value", self.blitz_value, f"{allowed} (the most a suit is worth)")
        if self.min_knock > self.blitz_value:
            raise _refusal("min_knock", self.min_knock, f"0 … blitz_value ({self.blitz_value})")
        foreign = _EXCHANGE_ONLY if self.family == "draw" else _DRAW_ONLY
        other = "exchange" if self.family == "draw" else "draw"
        for name, default in foreign.items():
            if getattr(self, name) != default:
                raise _refusal(
                    name,
                    getattr(self, name),
                    f"only {default!r} in the {self.family} family "
                    f"(the field belongs to the {other} family)",
                )
        if self.min_players > self.max_players:
            raise _refusal("min_players", self.min_players, f"2 … max_players ({self.max_players})")
        if self.max_players > self.seats_that_fit:
            raise _refusal(
                "max_players",
                self.max_players,
                f"2 … {self.seats_that_fit} with a deck of {self.deck_size} cards "
                f"and hands of {self.hand_size}",
            )

    @property
    def deck_size(self) -> int:
        """Cards in the deck, jokers included."""
        return 4 * (15 - self.low_rank) + self.jokers

    @property
    def seats_that_fit(self) -> int:
        """Most seats that the deck suffices for."""
        if self.family == "exchange":
            return min(MAX_SEATS, (self.deck_size - 3) // 3)
        return min(MAX_SEATS, (self.deck_size - 2) // self.hand_size)

    def check_seats(self, num_players: int) -> int:
        """The number of seats, if this game can be played with it.

        Raises:
            ValueError: if it cannot.
        """
        number = num_players.item() if isinstance(num_players, np.integer) else num_players
        good = isinstance(number, int) and not isinstance(number, bool)
        if not good or not self.min_players <= number <= self.max_players:
            raise _refusal("num_players", num_players, f"{self.min_players} … {self.max_players}")
        return number

    @classmethod
    def preset(cls, name: str, /, **changes: Any) -> Rules:
        """A preset by name, with some fields changed.

        Where a change of the deck leaves too few cards for the preset's `max_players`, that is
        lowered to what fits; a `max_players` given here is checked instead.

        Raises:
            ValueError: for an unknown preset or field, or a value that is not allowed.
        """
        if not isinstance(name, str) or name not in PRESETS:
            raise ValueError(
                f"unknown preset {name!r}{_nearest(name, PRESETS)}; there are {', '.join(PRESETS)}"
            )
        if not changes:
            return PRESETS[name]
        _check_names(changes)
        return cls(**_fit_seats(PRESETS[name].to_dict() | _linked(name, changes), changes))

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Rules:
        """Rules of a mapping of fields; fields that are not named have their defaults.

        Raises:
            ValueError: for an unknown field or a value that is not allowed.
        """
        _check_names(fields)
        return cls(**fields)

    def to_dict(self) -> dict[str, Any]:
        """Every field, resolved, in the order of the rules page."""
        return {name: getattr(self, name) for name in FIELDS}

    @property
    def preset_name(self) -> str | None:
        """The name of the preset that these rules are, None for house rules."""
        return next((name for name, rules in PRESETS.items() if rules == self), None)

    @cached_property
    def record(self) -> np.ndarray:
        """The rules as kernels read them: a 0-dimensional array of dtype `RULES`."""
        record = np.zeros((), RULES)
        for name in ("max_turns", "max_rounds", "low_rank", "jokers", "deck_size", "hand_size"):
            record[name] = getattr(self, name)
        for name in ("lives", "knocker_lowest_loss", "buy_ins", *_FLAGS):
            record[name] = getattr(self, name)
        for name in (*_VALUES, "blitz_value", "min_knock"):
            record[name] = int(2 * (getattr(self, name) or 0))
        record["exchange"] = self.family == "exchange"
        record["blitz_lowest"] = self.blitz_loss == "lowest"
        record["fire_lowest"] = self.fire_loss == "lowest"
        record["ties_by_suit"] = self.ties == "suit"
        record["knocker_tie_shares"] = self.knocker_tie == "shares"
        record["pass_allowed"] = _CHOICES["pass_allowed"].index(self.pass_allowed)
        record["stock_out"] = _CHOICES["stock_out"].index(self.stock_out)
        record["table_reshuffle"] = self.table_out == "reshuffle"
        record["decider_draw"] = self.decider == "draw"
        record.setflags(write=False)
        return record


FIELDS: tuple[str, ...] = tuple(field.name for field in dataclasses.fields(Rules))
"""Names of all fields, in the order of the rules page."""


def _refusal(name: str, value: object, allowed: str) -> ValueError:
    return ValueError(f"{name} = {value!r} is not allowed; allowed: {allowed}")


def _nearest(name: object, known: Any) -> str:
    close = difflib.get_close_matches(str(name), list(known), 1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _check_names(fields: Mapping[str, Any]) -> None:
    for name in fields:
        if name not in FIELDS:
            raise ValueError(
                f"unknown rule {name!r}{_nearest(name, FIELDS)}; the rules are {', '.join(FIELDS)}"
            )


def _plain(value: Any) -> Any:
    """A NumPy scalar as the Python value that it stands for."""
    return value.item() if isinstance(value, np.generic) else value


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _checked(name: str, value: Any) -> Any:
    """The value of a field in its one form, or the refusal of it."""
    value = _plain(value)
    if name in _FLAGS:
        if not isinstance(value, bool):
            raise _refusal(name, value, "True or False")
    elif name in _CHOICES:
        if not isinstance(value, str) or value not in _CHOICES[name]:
            raise _refusal(name, value, " or ".join(map(repr, _CHOICES[name])))
    elif name in _RANGES:
        low, high = _RANGES[name]
        if not _is_number(value) or value != int(value) or not low <= value <= high:
            raise _refusal(name, value, f"a whole number, {low} … {high}")
        value = int(value)
    elif name in _VALUES:
        if not (value is None or _is_number(value)) or value not in _VALUES[name]:
            raise _refusal(name, value, " or ".join(map(str, _VALUES[name])))
        value = None if value is None else points(2 * value)
    else:  # blitz_value, min_knock
        if not _is_number(value) or value < 0 or 2 * value != int(2 * value) or value > 50:
            raise _refusal(name, value, "0, or a multiple of one half such as 17, 21 or 30.5")
        value = points(int(2 * value))
    return value


def _linked(name: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes with what follows from them: `fire_loss` goes with `blitz_loss` where it did."""
    changes = dict(changes)
    base = PRESETS[name]
    if "blitz_loss" in changes and "fire_loss" not in changes:
        if base.fire_loss == base.blitz_loss:
            changes["fire_loss"] = None
    return changes


def _fit_seats(fields: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Lower a preset's own `max_players` to what a changed deck suffices for."""
    if "max_players" in changes or not {"low_rank", "jokers", "hand_size"} & set(changes):
        return fields
    most = fields["max_players"]
    unlimited = Rules(**(fields | {"min_players": 2, "max_players": 2}))
    return fields | {"max_players": max(2, min(most, unlimited.seats_that_fit))}


def _presets() -> dict[str, Rules]:
    danish: dict[str, Any] = {"three_of_a_kind": 30, "pass_allowed": "always"}
    swedish: dict[str, Any] = {"free_ride": True, "knocker_tie": "shares"}
    finnish = swedish | {"three_aces": 31, "knocker_lowest_loss": 1}
    dutch: dict[str, Any] = {
        "max_players": 7,
        "free_ride": True,
        "three_of_a_kind": 30.5,
        "blitz_after_knock": False,
        "first_turn_knock": False,
        "pass_allowed": "final_turn",
        "stock_out": "showdown",
    }
    schwimmen: dict[str, Any] = {
        "family": "exchange",
        "low_rank": 7,
        "max_players": 6,
        "free_ride": True,
        "three_of_a_kind": 30.5,
        "three_aces": 32,
        "blitz_loss": "lowest",
        "ties": "suit",
        "knocker_lowest_loss": 1,
        "dealer_choice": True,
        "dealt_blitz_exchange": True,
    }
    four_cards = {"hand_size": 4, "blitz_value": 41}
    widow = {
        "low_rank": 2,
        "dealer_choice": False,
        "dealt_blitz_exchange": False,
        "ties": "share",
        "knocker_tie": "shares",
        "three_aces": None,
        "three_of_a_kind": None,
    }
    german = {"fire_loss": "others", "first_turn_knock": False, "table_out": "reshuffle"}
    table = {
        "danish": danish,
        "swedish": swedish,
        "finnish": finnish,
        "dutch": dutch,
        "schwimmen_a7": schwimmen,
        "schwimmen_a9": schwimmen | {"low_rank": 9},
        "schwimmen_a5": schwimmen | {"low_rank": 5},
        "danish_free_ride": danish | {"free_ride": True},
        "danish_continue": danish | {"stock_out": "continue"},
        "danish_reshuffle": danish | {"stock_out": "reshuffle"},
        "danish_straight": danish | {"suited_run": 30},
        "danish_joker": danish | {"jokers": 2},
        "danish_min_knock_17": danish | {"min_knock": 17},
        "danish_min_knock_21": danish | {"min_knock": 21},
        "danish_half": danish | {"three_of_a_kind": 30.5},
        "danish_four_cards": danish | four_cards,
        "danish_four_lives": danish | {"lives": 4},
        "finnish_five_lives": finnish | {"lives": 5},
        "swedish_house": swedish | {"three_of_a_kind": 30.5, "first_turn_knock": False},
        "dutch_four_cards": dutch | four_cards,
        "dutch_buy_in": dutch | {"buy_ins": 1, "free_ride": False},
        "dutch_no_trips": dutch | {"three_of_a_kind": None},
        "cadillac": finnish | {"three_aces": 33},
        "scat": dutch | {"three_of_a_kind": 30},
        "widow": schwimmen | widow,
        "schwimmen_german": schwimmen | german,
    }
    return {name: Rules(**fields) for name, fields in table.items()}


PRESETS: dict[str, Rules] = _presets()
"""Every preset and named variant."""


def resolve_rules(rules: str | Rules | Mapping[str, Any]) -> Rules:
    """Rules of whatever names them.

    Args:
        rules: a preset's name, a `Rules`, or a mapping of fields, which may begin from a preset:
            ``{"preset": "danish", "min_knock": 21}``.

    Raises:
        ValueError: for an unknown name, or fields that are not allowed.
        TypeError: for anything else.
    """
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str):
        return Rules.preset(rules)
    if isinstance(rules, Mapping):
        fields = dict(rules)
        if "preset" in fields:
            return Rules.preset(fields.pop("preset"), **fields)
        return Rules.from_dict(fields)
    raise TypeError(f"rules = {rules!r}: expected a preset's name, a Rules, or a mapping of fields")
