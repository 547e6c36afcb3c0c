"""Follows match records of Thirty-One card by card, by the rules and the record format alone.

`check_match` and `check_file` raise `Fault` at the first thing that is wrong and return a Counter
of everything that happened. Lines count from 1; rounds and events from 0, as their lists do.
"""

import gzip
import json
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from . import scorer

Json = Any
Tally = Counter[str]
Cards = list[str]
Options = Mapping[str, Iterable[str] | None]

FORMAT = "thirtyone-record"
VERSION = 1
RANKS = "23456789TJQKA"
SUITS = "cdhs"


class Fault(Exception):
    """The first thing that is wrong with a record, and where."""

    def __init__(
        self, line: int | None, round_index: int | None, event: int | None, message: str
    ) -> None:
        self.line = line
        self.round = round_index
        self.event = event
        self.message = message
        super().__init__(line, round_index, event, message)

    def __str__(self) -> str:
        places = (("line", self.line), ("round", self.round), ("event", self.event))
        where = ", ".join(f"{name} {number}" for name, number in places if number is not None)
        return f"{where or 'header'}: {self.message}"


class _Cut(Exception):
    """The events of a round stop before the round does."""


# ---------------------------------------------------------------------------------------------
# Plain checks


def _dump(value: Json) -> str:
    """The canonical text of a value; two values are the same if their texts are."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _same(given: Json, expected: Json) -> bool:
    """Equality that tells 1 from 1.0 and from true."""
    return _dump(given) == _dump(expected)


def _is_int(value: Json) -> bool:
    return type(value) is int


def _need(condition: bool, message: str, round_index: int | None = None) -> None:
    """Raise a fault of the header or of a round unless the condition holds."""
    if not condition:
        raise Fault(None, round_index, None, message)


def _need_keys(given: Json, keys: Sequence[str], what: str, round_index: int | None) -> None:
    """An object must have exactly these keys, in this order."""
    _need(type(given) is dict, f"{what} is no object", round_index)
    if tuple(given) != tuple(keys):
        missing = [key for key in keys if key not in given]
        unknown = [key for key in given if key not in keys]
        detail = f"missing {missing}, unknown {unknown}" if missing or unknown else "wrong order"
        _need(False, f"keys of {what}: {detail}", round_index)


def card_order(card: str) -> tuple[int, int]:
    """Sorts cards: clubs, diamonds, hearts, spades; two to ace; jokers last."""
    if card[0] == "X":
        return len(SUITS), int(card[1:])
    return SUITS.index(card[1]), RANKS.index(card[0])


def _sorted(cards: Iterable[str]) -> Cards:
    return sorted(cards, key=card_order)


def points(half_points: int) -> int | float:
    """A value as it is written: an integer, or with .5."""
    return half_points / 2 if half_points % 2 else half_points // 2


def _is_points(value: Json) -> bool:
    """Whether a number is an integer or a float ending in .5."""
    return _is_int(value) or (type(value) is float and value % 1 == 0.5)


# ---------------------------------------------------------------------------------------------
# Rules and presets


def _integer(low: int, high: int | None = None) -> Callable[[Json], bool]:
    """A test for an integer within bounds."""
    return lambda value: _is_int(value) and low <= value and (high is None or value <= high)


def _one_of(*allowed: Json) -> Callable[[Json], bool]:
    """A test for one of some values, types included."""
    return lambda value: any(type(value) is type(item) and value == item for item in allowed)


_BOOL = _one_of(False, True)
RULE_FIELDS: dict[str, Callable[[Json], bool]] = {
    "family": _one_of("draw", "exchange"),
    "low_rank": _integer(2, 9),
    "jokers": _integer(0, 4),
    "min_players": _integer(2),
    "max_players": _integer(2),
    "hand_size": _one_of(3, 4),
    "lives": _integer(1, 9),
    "free_ride": _BOOL,
    "three_of_a_kind": _one_of(None, 30, 30.5),
    "three_aces": _one_of(None, 31, 32, 33),
    "suited_run": _one_of(None, 30),
    "blitz_value": _one_of(31, 41),
    "blitz_after_knock": _BOOL,
    "blitz_loss": _one_of("others", "lowest"),
    "fire_loss": _one_of("others", "lowest"),
    "ties": _one_of("share", "suit"),
    "knocker_lowest_loss": _one_of(1, 2),
    "knocker_tie": _one_of("safe", "shares"),
    "first_turn_knock": _BOOL,
    "min_knock": lambda value: _is_points(value) and value >= 0,
    "pass_allowed": _one_of("always", "final_turn", "never"),
    "return_upcard": _BOOL,
    "stock_out": _one_of("void", "showdown", "continue", "reshuffle"),
    "dealer_choice": _BOOL,
    "dealt_blitz_exchange": _BOOL,
    "table_out": _one_of("reshuffle", "showdown"),
    "buy_ins": _integer(0, 9),
    "decider": _one_of("deal", "draw"),
    "max_turns": _integer(1),
    "max_rounds": _integer(1),
}

_DEFAULTS: dict[str, Json] = {
    "jokers": 0,
    "hand_size": 3,
    "suited_run": None,
    "three_aces": None,
    "blitz_value": 31,
    "min_knock": 0,
    "first_turn_knock": True,
    "pass_allowed": "never",
    "return_upcard": False,
    "stock_out": "void",
    "dealer_choice": False,
    "dealt_blitz_exchange": False,
    "table_out": "showdown",
    "buy_ins": 0,
    "decider": "deal",
    "max_turns": 100,
    "max_rounds": 500,
}
_DRAW: dict[str, Json] = {
    "family": "draw",
    "low_rank": 2,
    "min_players": 2,
    "max_players": 9,
    "lives": 3,
    "free_ride": True,
    "three_of_a_kind": None,
    "blitz_after_knock": True,
    "blitz_loss": "others",
    "fire_loss": "others",
    "ties": "share",
}
_FOUR: dict[str, Json] = {"hand_size": 4, "blitz_value": 41}
_PRESETS: dict[str, tuple[str | None, dict[str, Json]]] = {
    "danish": (
        None,
        _DRAW
        | {"free_ride": False, "three_of_a_kind": 30, "knocker_lowest_loss": 2}
        | {"knocker_tie": "safe", "pass_allowed": "always"},
    ),
    "swedish": (None, _DRAW | {"knocker_lowest_loss": 2, "knocker_tie": "shares"}),
    "finnish": (
        None,
        _DRAW | {"three_aces": 31, "knocker_lowest_loss": 1, "knocker_tie": "shares"},
    ),
    "dutch": (
        None,
        _DRAW
        | {"max_players": 7, "three_of_a_kind": 30.5, "blitz_after_knock": False}
        | {"knocker_lowest_loss": 2, "knocker_tie": "safe", "first_turn_knock": False}
        | {"pass_allowed": "final_turn", "stock_out": "showdown"},
    ),
    "schwimmen_a7": (
        None,
        _DRAW
        | {"family": "exchange", "low_rank": 7, "max_players": 6, "three_of_a_kind": 30.5}
        | {"three_aces": 32, "blitz_loss": "lowest", "fire_loss": "lowest", "ties": "suit"}
        | {"knocker_lowest_loss": 1, "dealer_choice": True, "dealt_blitz_exchange": True},
    ),
    "schwimmen_a9": ("schwimmen_a7", {"low_rank": 9}),
    "schwimmen_a5": ("schwimmen_a7", {"low_rank": 5}),
    "danish_free_ride": ("danish", {"free_ride": True}),
    "danish_continue": ("danish", {"stock_out": "continue"}),
    "danish_reshuffle": ("danish", {"stock_out": "reshuffle"}),
    "danish_straight": ("danish", {"suited_run": 30}),
    "danish_joker": ("danish", {"jokers": 2}),
    "danish_min_knock_17": ("danish", {"min_knock": 17}),
    "danish_min_knock_21": ("danish", {"min_knock": 21}),
    "danish_half": ("danish", {"three_of_a_kind": 30.5}),
    "danish_four_cards": ("danish", _FOUR),
    "danish_four_lives": ("danish", {"lives": 4}),
    "finnish_five_lives": ("finnish", {"lives": 5}),
    "swedish_house": ("swedish", {"three_of_a_kind": 30.5, "first_turn_knock": False}),
    "dutch_four_cards": ("dutch", _FOUR),
    "dutch_buy_in": ("dutch", {"buy_ins": 1, "free_ride": False}),
    "dutch_no_trips": ("dutch", {"three_of_a_kind": None}),
    "cadillac": ("finnish", {"three_aces": 33}),
    "scat": ("dutch", {"three_of_a_kind": 30}),
    "widow": (
        "schwimmen_a7",
        {"low_rank": 2, "dealer_choice": False, "dealt_blitz_exchange": False, "ties": "share"}
        | {"knocker_tie": "shares", "three_aces": None, "three_of_a_kind": None},
    ),
    "schwimmen_german": (
        "schwimmen_a7",
        {"fire_loss": "others", "first_turn_knock": False, "table_out": "reshuffle"},
    ),
}
PRESET_NAMES = tuple(_PRESETS)


def preset_fields(name: str) -> dict[str, Json]:
    """The fields a preset settles; `knocker_tie` is open where it has no ties."""
    base, changes = _PRESETS[name]
    settled = (_DEFAULTS if base is None else preset_fields(base)) | changes
    return {key: settled[key] for key in RULE_FIELDS if key in settled}


def preset_rules(name: str) -> dict[str, Json]:
    """A preset as a record carries it, an open `knocker_tie` as safe."""
    settled = {"knocker_tie": "safe"} | preset_fields(name)
    return {key: settled[key] for key in RULE_FIELDS}


def deck_in_use(rules: Mapping[str, Json]) -> Cards:
    """All cards of the deck, sorted, jokers last."""
    low = rules["low_rank"]
    ranks = [rank for rank in RANKS if rank in "TJQKA" or int(rank) >= low]
    cards = [rank + suit for suit in SUITS for rank in ranks]
    return cards + [f"X{number}" for number in range(1, rules["jokers"] + 1)]


def _check_rules(rules: Json, preset: Json) -> None:
    """Every field present, in order, allowed, and as the named preset has it."""
    _need_keys(rules, tuple(RULE_FIELDS), "rules", None)
    for name, allowed in RULE_FIELDS.items():
        _need(allowed(rules[name]), f"rule {name} cannot be {rules[name]!r}")
    four = rules["hand_size"] == 4
    _need(rules["blitz_value"] == (41 if four else 31), "blitz_value does not suit hand_size")
    _need(not (four and rules["family"] == "exchange"), "exchange is played with three cards")
    _need(rules["min_players"] <= rules["max_players"], "min_players above max_players")
    if preset in _PRESETS:
        for name, expected in preset_fields(preset).items():
            _need(_same(rules[name], expected), f"{preset} has {name} = {expected!r}")


def _check_seats(rules: Mapping[str, Json], seats: Json) -> None:
    """The number of players is allowed and the deck suffices for it."""
    _need(_is_int(seats), "num_players is no integer")
    _need(rules["min_players"] <= seats <= rules["max_players"], "num_players not allowed")
    spare = 2 if rules["family"] == "draw" else 3
    cards = seats * rules["hand_size"] + spare
    _need(cards <= len(deck_in_use(rules)), "the deck does not suffice for num_players")


# ---------------------------------------------------------------------------------------------
# Hands

_SCORING_FIELDS = ("low_rank", "three_of_a_kind", "three_aces", "suited_run", "ties")
_Key = tuple[int, ...]
_known_scores: dict[tuple[Json, ...], dict[frozenset[str], _Key]] = {}
_SCORES_KEPT = 400_000


def _scores_for(rules: Mapping[str, Json]) -> dict[frozenset[str], _Key]:
    """The order keys found so far under rules that score alike."""
    if sum(map(len, _known_scores.values())) > _SCORES_KEPT:
        _known_scores.clear()
    return _known_scores.setdefault(tuple(rules[name] for name in _SCORING_FIELDS), {})


class Hands:
    """The hands of a round, with their worth."""

    def __init__(self, rules: Mapping[str, Json], hands: Sequence[Cards]) -> None:
        self.rules = rules
        self.cards = [set(hand) for hand in hands]
        self._scores = _scores_for(rules)
        self.blitz = 2 * rules["blitz_value"]

    def key(self, seat: int) -> _Key:
        """Orders hands; equal keys are a tie."""
        hand = frozenset(self.cards[seat])
        found = self._scores.get(hand)
        if found is None:
            found = scorer.order_key(sorted(hand), self.rules)
            self._scores[hand] = found
        return found

    def value(self, seat: int) -> int:
        """Half points."""
        return self.key(seat)[0]

    def holds_blitz(self, seat: int) -> bool:
        """Whether a hand is worth enough to end the round."""
        return self.value(seat) >= self.blitz

    def has_three_aces(self, seat: int) -> bool:
        """Whether a hand counts as three aces."""
        return scorer.has_three_aces(sorted(self.cards[seat]), self.rules)


# ---------------------------------------------------------------------------------------------
# Events

_CARD_ACTIONS = ("draw_stock", "take_upcard", "discard", "give", "take")
_PLAIN_ACTIONS = ("knock", "pass", "keep", "refuse", "swap_all", "buy_in", "decline")
_CARDS_ACTIONS = ("renew_table", "reshuffle")
_EVENT_KEYS = (
    dict.fromkeys(_PLAIN_ACTIONS, ("seat", "action"))
    | dict.fromkeys(_CARD_ACTIONS, ("seat", "action", "card"))
    | dict.fromkeys(_CARDS_ACTIONS, ("seat", "action", "cards"))
)


class Events:
    """Reads the events of a round one by one, each against what may happen there."""

    def __init__(self, events: Json, round_index: int, tally: Tally) -> None:
        _need(type(events) is list, "events is no list", round_index)
        self.events = events
        self.round = round_index
        self.at = 0
        self.tally = tally

    def fault(self, message: str) -> NoReturn:
        """Refuse the event read last."""
        raise Fault(None, self.round, self.at - 1, message)

    def next(self, seat: int | None, options: Options) -> tuple[str, Json]:
        """The next action, by this seat, one of these, with one of their cards or their cards."""
        if self.at == len(self.events):
            raise _Cut
        event = self.events[self.at]
        self.at += 1
        action = self._action(event)
        if type(event["seat"]) is not type(seat) or event["seat"] != seat:
            self.fault(f"seat {event['seat']!r} cannot {action}: seat {seat} is to act")
        if action not in options:
            self.fault(f"{action} is not allowed, only {', '.join(options)}")
        self.tally[action] += 1
        if action in _CARDS_ACTIONS:
            return action, self._cards(event["cards"], options[action] or ())
        if action in _CARD_ACTIONS:
            return action, self._card(event["card"], action, options[action] or ())
        return action, None

    def _action(self, event: Json) -> str:
        """The action of an event of the right form."""
        if type(event) is not dict or type(event.get("action")) is not str:
            self.fault("no event")
        action: str = event["action"]
        if action not in _EVENT_KEYS:
            self.fault(f"unknown action {action!r}")
        if tuple(event) != _EVENT_KEYS[action]:
            self.fault(f"keys of {action} are not {', '.join(_EVENT_KEYS[action])}")
        return action

    def _card(self, card: Json, action: str, allowed: Iterable[str]) -> str:
        """One card of those allowed."""
        if type(card) is not str or card not in allowed:
            self.fault(f"{action} {card!r}: not one of {_sorted(allowed)}")
        return card

    def _cards(self, cards: Json, expected: Iterable[str]) -> Cards:
        """The cards expected, in any order."""
        if type(cards) is not list or not all(type(card) is str for card in cards):
            self.fault("cards is no list of cards")
        if sorted(cards) != sorted(expected):
            self.fault(f"cards are not {_sorted(expected)}")
        return list(cards)

    def finish(self) -> None:
        """Nothing may follow."""
        if self.at < len(self.events):
            self.at += 1
            self.fault("an event after the end of the round")


# ---------------------------------------------------------------------------------------------
# One round

ALL_PASSED_MODES = ("continue", "reshuffle")


class Play:
    """What the two families have in common: seats, turns, knock and showdown."""

    def __init__(self, rules: Mapping[str, Json], deal: Mapping[str, Json], events: Events) -> None:
        self.rules = rules
        self.events = events
        self.tally = events.tally
        self.dealer: int = deal["dealer"]
        self.in_play: list[int] = deal["in_play"]
        self.hands = Hands(rules, deal["hands"])
        self.stock: Cards = list(reversed(deal["stock"]))  # the top is the last
        self.knocker: int | None = None
        self.turns = 0
        self.turns_of = [0] * len(deal["hands"])
        self.passes = 0

    def from_left_of_dealer(self) -> list[int]:
        """The seats in play in the order of their turns."""
        return [s for s in self.in_play if s > self.dealer] + [
            s for s in self.in_play if s <= self.dealer
        ]

    def holders(self) -> list[int]:
        """The seats that hold a blitz."""
        return [seat for seat in self.in_play if self.hands.holds_blitz(seat)]

    def play(self) -> str:
        """Play the round; how it ended."""
        end = self.before_first_turn()
        order = self.from_left_of_dealer()
        place = 0
        while end is None:
            seat = order[place]
            place = (place + 1) % len(order)
            end = self.turn(seat)
            self.turns += 1
            self.turns_of[seat] += 1
            end = end or self.after_turn(order[place])
        return end

    def before_first_turn(self) -> str | None:
        """What happens before the first turn; the end, if it ends the round."""
        raise NotImplementedError

    def turn(self, seat: int) -> str | None:
        """One turn; the end, if the turn itself ends the round."""
        raise NotImplementedError

    def out_of_cards(self) -> str | None:
        """Judge the stock or the table after a turn; the end, if it ends the round."""
        raise NotImplementedError

    def after_turn(self, following: int) -> str | None:
        """Judge stock or table, then the knock, then the cap on turns."""
        end = self.out_of_cards()
        if end is not None:
            return end
        if self.knocker is not None:
            return "knock" if following == self.knocker else None
        return "max_turns" if self.turns >= self.rules["max_turns"] else None

    def may_knock(self, seat: int) -> bool:
        """Whether a seat may knock now."""
        if self.knocker is not None:
            return False
        if self.turns_of[seat] == 0 and not self.rules["first_turn_knock"]:
            self.tally["first_turn_knock_refused"] += 1
            return False
        if self.hands.value(seat) < 2 * self.rules["min_knock"]:
            self.tally["min_knock_bound"] += 1
            return False
        return True

    def knock(self, seat: int) -> None:
        """A seat knocks."""
        self.knocker = seat
        self.tally["knock_on_first_turn"] += self.turns_of[seat] == 0
        self.tally["knock_in_max_turns_turn"] += self.turns + 1 == self.rules["max_turns"]

    def blitz_ends(self, seat: int) -> bool:
        """Whether the hand just made ends the round."""
        if not self.hands.holds_blitz(seat):
            return False
        if self.knocker is None:
            return True
        if self.rules["blitz_after_knock"]:
            self.tally["blitz_after_knock"] += 1
            return True
        self.tally["blitz_after_knock_only_highest"] += 1
        return False


class DrawPlay(Play):
    """A round of the draw family."""

    def __init__(self, rules: Mapping[str, Json], deal: Mapping[str, Json], events: Events) -> None:
        super().__init__(rules, deal, events)
        self.pile: Cards = [deal["upcard"]]
        self.drew_last = False

    def before_first_turn(self) -> str | None:
        """A dealt blitz ends the round."""
        return "dealt_blitz" if self.holders() else None

    def turn(self, seat: int) -> str | None:
        """Knock, pass, or take a card and discard one."""
        self.drew_last = False
        action, card = self.events.next(seat, self.options(seat))
        if action == "knock":
            return self.knock_here(seat)
        if action == "pass":
            return self.pass_here()
        self.passes = 0
        self.draw(seat, action, card)
        return "blitz" if self.blitz_ends(seat) else None

    def options(self, seat: int) -> dict[str, Sequence[str] | None]:
        """What a seat may do at the start of its turn."""
        options: dict[str, Sequence[str] | None] = {"take_upcard": self.pile[-1:]}
        if self.stock:
            options["draw_stock"] = self.stock[-1:]
        if self.may_knock(seat):
            options["knock"] = None
        if self.may_pass():
            options["pass"] = None
        return options

    def may_pass(self) -> bool:
        """Whether a plain pass is allowed."""
        if not self.stock or self.rules["pass_allowed"] == "always":
            return True
        return self.rules["pass_allowed"] == "final_turn" and self.knocker is not None

    def knock_here(self, seat: int) -> str | None:
        """A knock, which may end a round whose stock is out."""
        self.knock(seat)
        if self.stock:
            return None
        self.tally["knock_on_empty_stock"] += 1
        if self.rules["stock_out"] == "showdown":
            self.tally["stock_out_knock"] += 1
            return "stock_out"
        return None

    def pass_here(self) -> str | None:
        """A pass, which may end a round whose stock is out."""
        if self.stock:
            self.tally["pass_before_knock" if self.knocker is None else "pass_in_last_turn"] += 1
            return None
        self.tally["pass_on_empty_stock"] += 1
        if self.knocker is not None:
            return None
        if self.rules["stock_out"] == "showdown":
            self.tally["stock_out_pass"] += 1
            return "stock_out"
        self.passes += 1
        if self.rules["stock_out"] in ALL_PASSED_MODES and self.passes == len(self.in_play):
            self.tally["stock_out_all_passed"] += 1
            return "stock_out"
        return None

    def draw(self, seat: int, action: str, card: str) -> None:
        """The card drawn joins the hand, another leaves it."""
        hand = self.hands.cards[seat]
        forbidden = None
        if action == "draw_stock":
            self.stock.pop()
            self.drew_last = not self.stock
        else:
            self.pile.pop()
            self.tally["take_upcard_on_empty_stock"] += not self.stock
            if not self.rules["return_upcard"]:
                forbidden = card
        hand.add(card)
        _, gone = self.events.next(seat, {"discard": [c for c in hand if c != forbidden]})
        hand.remove(gone)
        self.pile.append(gone)
        if gone == card:
            self.tally["return_upcard" if action == "take_upcard" else "discard_drawn"] += 1

    def out_of_cards(self) -> str | None:
        """The turn in which the last stock card was drawn is over."""
        if not self.drew_last:
            return None
        if self.knocker is not None:
            self.tally["stock_ran_out_after_knock"] += 1
            return None
        mode = self.rules["stock_out"]
        self.tally[f"stock_ran_out_{mode}"] += 1
        if mode == "void":
            return "void"
        if mode == "reshuffle":
            self.reshuffle()
        return None

    def reshuffle(self) -> None:
        """The discard pile under the upcard becomes the stock."""
        if len(self.pile) > 1:
            _, cards = self.events.next(None, {"reshuffle": self.pile[:-1]})
            self.stock = cards[::-1]
            self.pile = self.pile[-1:]


class ExchangePlay(Play):
    """A round of the exchange family."""

    def __init__(self, rules: Mapping[str, Json], deal: Mapping[str, Json], events: Events) -> None:
        super().__init__(rules, deal, events)
        self.table: set[str] = set()
        self.given_table: Json = deal["table"]
        self.aside: Cards = []

    def before_first_turn(self) -> str | None:
        """The dealer's choice, the table, and a dealt blitz with its exchange."""
        choice = "keep"
        if self.rules["dealer_choice"]:
            choice, _ = self.events.next(self.dealer, {"keep": None, "refuse": None})
        self.lay_table(choice)
        self.check_table()
        holders = self.holders()
        if not holders:
            return None
        if self.rules["dealt_blitz_exchange"]:
            self.dealt_exchange(holders)
        return "dealt_blitz"

    def lay_table(self, choice: str) -> None:
        """Three stock cards become the table, or the dealer's hand does and they the hand."""
        three = {self.stock.pop() for _ in range(3)}
        self.table = three
        if choice == "refuse":
            self.table = self.hands.cards[self.dealer]
            self.hands.cards[self.dealer] = three
            self.tally["refuse_made_dealt_blitz"] += self.hands.holds_blitz(self.dealer)

    def check_table(self) -> None:
        """The table of the record is this one, in any order."""
        given, where = self.given_table, self.events.round
        proper = type(given) is list and all(type(card) is str for card in given)
        _need(proper and sorted(given) == sorted(self.table), "table is not the one laid", where)

    def dealt_exchange(self, holders: Sequence[int]) -> None:
        """One turn, without a knock, for everyone who does not hold a blitz."""
        for seat in self.from_left_of_dealer():
            if seat not in holders:
                self.tally["dealt_blitz_exchange"] += 1
                action, card = self.events.next(seat, self.swaps(seat) | {"pass": None})
                self.swap(seat, action, card)
                made = self.hands.holds_blitz(seat)
                self.tally["dealt_blitz_exchange_made_blitz"] += made

    def swaps(self, seat: int) -> dict[str, Iterable[str] | None]:
        """The swaps a seat may make."""
        return {"give": self.hands.cards[seat], "swap_all": None}

    def swap(self, seat: int, action: str, card: str | None) -> None:
        """Carry out a swap; a pass changes nothing."""
        hand = self.hands.cards[seat]
        if action == "swap_all":
            self.hands.cards[seat], self.table = self.table, hand
        if action == "give" and card is not None:
            _, taken = self.events.next(seat, {"take": self.table})
            hand.remove(card)
            self.table.remove(taken)
            hand.add(taken)
            self.table.add(card)
            self.tally["swap_one"] += 1

    def turn(self, seat: int) -> str | None:
        """Knock, pass or swap."""
        options = self.swaps(seat) | {"pass": None}
        if self.may_knock(seat):
            options["knock"] = None
        action, card = self.events.next(seat, options)
        if action == "pass":
            self.tally["pass_before_knock" if self.knocker is None else "pass_in_last_turn"] += 1
            self.passes += 1
            return None
        self.passes = 0
        if action == "knock":
            self.knock(seat)
            return None
        self.swap(seat, action, card)
        return "blitz" if self.blitz_ends(seat) else None

    def out_of_cards(self) -> str | None:
        """When all in play have passed one after another the table is renewed."""
        if self.knocker is not None or self.passes < len(self.in_play):
            return None
        self.passes = 0
        self.aside += sorted(self.table)
        if len(self.stock) < 3:
            self.tally[f"table_out_{self.rules['table_out']}"] += 1
            if self.rules["table_out"] == "showdown":
                return "stock_out"
            _, cards = self.events.next(None, {"reshuffle": self.aside + self.stock})
            self.stock = cards[::-1]
            self.aside = []
        _, cards = self.events.next(None, {"renew_table": self.stock[-3:]})
        del self.stock[-3:]
        self.table = set(cards)
        return None


# ---------------------------------------------------------------------------------------------
# Losses


def losses_of(play: Play, end: str) -> list[int]:
    """The penalty of every seat."""
    losses = [0] * len(play.hands.cards)
    if end in ("void", "max_turns"):
        return losses
    if end not in ("blitz", "dealt_blitz"):
        _showdown(play, losses)
        return losses
    holders = play.holders()
    if _blitz_rule(play, holders) == "lowest":
        _showdown(play, losses)
        play.tally["blitz_holder_loses"] += any(losses[seat] for seat in holders)
        return losses
    for seat in play.in_play:
        losses[seat] = int(seat not in holders)
    _count_holders(play, end, holders)
    return losses


def _blitz_rule(play: Play, holders: Sequence[int]) -> str:
    """Who loses on this blitz: the others or the lowest."""
    rules, tally = play.rules, play.tally
    rule: str = rules["blitz_loss"]
    aces = rules["three_aces"]
    if aces is not None and aces > 31 and any(map(play.hands.has_three_aces, holders)):
        tally["fire"] += 1
        tally["fire_decides_otherwise"] += rules["fire_loss"] != rule
        tally["fire_beside_another_blitz"] += len(holders) > 1
        rule = rules["fire_loss"]
    tally[f"blitz_{rule}"] += 1
    return rule


def _count_holders(play: Play, end: str, holders: Sequence[int]) -> None:
    """Count what is rare about a blitz for which the others pay."""
    play.tally["several_holders_safe"] += len(holders) > 1
    play.tally["all_hold_a_blitz"] += len(holders) == len(play.in_play)
    play.tally["knocker_beaten_by_blitz"] += end == "blitz" and play.knocker is not None


def _showdown(play: Play, losses: list[int]) -> None:
    """The lowest hands lose."""
    keys = {seat: play.hands.key(seat) for seat in play.in_play}
    low = min(keys.values())
    lowest = [seat for seat in play.in_play if keys[seat] == low]
    for seat in lowest:
        losses[seat] = 1
    _count_showdown(play, keys, lowest)
    if play.knocker not in lowest:
        return
    if len(lowest) == 1:
        losses[play.knocker] = play.rules["knocker_lowest_loss"]
        play.tally["two_life_loss" if losses[play.knocker] == 2 else "knocker_lowest_one_life"] += 1
    elif play.rules["knocker_tie"] == "safe":
        losses[play.knocker] = 0
        play.tally["knocker_tie_safe"] += 1
    else:
        play.tally["knocker_tie_shares"] += 1


def _count_showdown(play: Play, keys: Mapping[int, _Key], lowest: Sequence[int]) -> None:
    """Count ties and what decided them."""
    tally = play.tally
    low = keys[lowest[0]]
    equals = [seat for seat in keys if keys[seat][0] == low[0]]
    tally["lowest_tie"] += len(lowest) > 1
    tally["all_tie"] += len(lowest) == len(keys)
    tally["suit_tie_decided"] += len(equals) > len(lowest)
    tally["tie_under_suit_rule"] += len(low) > 1 and len(lowest) > 1
    tally["showdown_without_knocker"] += play.knocker is None
    tally["knocker_wins_showdown"] += play.knocker is not None and play.knocker not in lowest


# ---------------------------------------------------------------------------------------------
# The match

ROUND_KEYS = (
    *("dealer", "in_play", "decider", "hands", "upcard", "table", "stock", "events"),
    *("end", "values", "final_hands", "losses", "lives", "free_ride", "eliminated"),
)
_PLAYED_FIELDS = ("end", "values", "final_hands", "losses")
_SETTLED_FIELDS = ("lives", "free_ride", "eliminated")
MATCH_KEYS = (
    *("format", "version", "preset", "rules", "num_players", "seed", "deal", "policies"),
    *("rounds", "winner", "returns", "pot"),
)


@dataclass
class Match:
    """Lives, stakes and seats between rounds."""

    rules: Mapping[str, Json]
    seats: int
    tally: Tally = field(default_factory=Counter)

    def __post_init__(self) -> None:
        everyone = range(self.seats)
        self.in_play = list(everyone)
        self.lives = [self.rules["lives"] for _ in everyone]
        self.had_free_ride = [False for _ in everyone]
        self.buy_ins_left = [self.rules["buy_ins"] for _ in everyone]
        self.stakes = [1 for _ in everyone]
        self.dealer: int | None = None
        self.rounds = 0
        self.decider = False
        self.over = False
        self.deck = frozenset(deck_in_use(self.rules))

    def next_dealer(self) -> int | None:
        """The next player in play clockwise from the last dealer's seat; None: anyone."""
        if self.dealer is None:
            return None
        seat = (self.dealer + 1) % self.seats
        while seat not in self.in_play:
            seat = (seat + 1) % self.seats
        return seat

    def free_rides(self) -> list[bool]:
        """Who is in play without lives by virtue of the free ride."""
        return [
            seat in self.in_play and self.lives[seat] == 0 and not self.decider
            for seat in range(self.seats)
        ]

    def settle(self, losses: Sequence[int], dealer: int, events: Events) -> list[int]:
        """Take the losses, ask for buy-ins, eliminate; the seats eliminated."""
        self.dealer = dealer
        in_decider = self.decider
        self.tally["rounds_in_decider"] += in_decider
        self.tally["void_in_decider"] += in_decider and not any(losses)
        going = [seat for seat in self.in_play if losses[seat] and self.is_last_loss(seat, losses)]
        if not in_decider:
            going = self.ask_for_buy_ins(going, dealer, events)
        gone = self.eliminate(going)
        self.rounds += 1
        self.close()
        return gone

    def is_last_loss(self, seat: int, losses: Sequence[int]) -> bool:
        """Take a loss; whether it eliminates."""
        before = self.lives[seat]
        self.lives[seat] = max(0, before - losses[seat])
        if self.lives[seat] > 0:
            return False
        if self.decider:
            return True
        if self.rules["free_ride"] and not self.had_free_ride[seat]:
            self.had_free_ride[seat] = True
            self.tally["free_ride_taken"] += 1
            self.tally["free_ride_by_two_life_loss"] += before < losses[seat]
            return False
        self.tally["free_ride_over"] += self.rules["free_ride"] and before == 0
        self.tally["out_with_free_ride_used_before"] += self.rules["free_ride"] and before > 0
        return True

    def ask_for_buy_ins(self, going: list[int], dealer: int, events: Events) -> list[int]:
        """Everyone going who has buy-ins left decides; those who still go."""
        order = [(dealer + step) % self.seats for step in range(1, self.seats + 1)]
        asked = [seat for seat in order if seat in going and self.buy_ins_left[seat] > 0]
        still_going = list(going)
        for seat in asked:
            action, _ = events.next(seat, {"buy_in": None, "decline": None})
            if action == "buy_in":
                still_going.remove(seat)
                self.lives[seat] = 1
                self.buy_ins_left[seat] -= 1
                self.stakes[seat] += 1
        self.count_buy_ins(going, asked, still_going)
        return still_going

    def count_buy_ins(self, going: list[int], asked: list[int], still_going: list[int]) -> None:
        """Count what is rare about buy-ins."""
        tally = self.tally
        tally["several_asked"] += len(asked) > 1
        tally["out_of_buy_ins"] += self.rules["buy_ins"] > 0 and len(going) > len(asked)
        if len(still_going) == len(going):
            return
        tally["buy_in_keeps_match_alive"] += len(self.in_play) - len(going) == 1
        tally["buy_in_averts_decider"] += len(self.in_play) == len(going)
        tally["buy_in_after_last_round"] += self.rounds + 1 == self.rules["max_rounds"]
        tally["buy_in_wins"] += len(self.in_play) - len(still_going) == 1

    def eliminate(self, going: list[int]) -> list[int]:
        """Those going go, unless nobody would be left."""
        if going and len(going) == len(self.in_play):
            self.nobody_left()
            return []
        self.in_play = [seat for seat in self.in_play if seat not in going]
        self.tally["eliminated"] += len(going)
        self.tally["several_eliminated_at_once"] += len(going) > 1
        if self.decider and going:
            self.tally["decider_won" if len(self.in_play) == 1 else "decider_narrowed"] += 1
        return going

    def nobody_left(self) -> None:
        """Everyone would go: a decider, or a match without a winner."""
        if self.rules["decider"] == "draw":
            self.tally["decider_draw"] += 1
            self.over = True
        else:
            self.tally["decider_repeated" if self.decider else "decider_started"] += 1
        self.decider = True

    def close(self) -> None:
        """Judge whether the match is over."""
        last = self.rounds == self.rules["max_rounds"]
        if len(self.in_play) == 1:
            self.tally["winner"] += 1
            self.tally["winner_on_last_round"] += last
            self.tally["winner_on_free_ride"] += self.free_rides()[self.in_play[0]]
            self.tally["winner_after_buy_in"] += self.stakes[self.in_play[0]] > 1
            self.over = True
        elif last and not self.over:
            self.tally["max_rounds"] += 1
            self.tally["max_rounds_in_decider"] += self.decider
            self.over = True

    def winner(self) -> int | None:
        """The last player in play, if there is one."""
        return self.in_play[0] if len(self.in_play) == 1 else None

    def returns(self) -> list[float]:
        """What every seat has won or lost of the pot."""
        share = Fraction(sum(self.stakes), len(self.in_play))
        won = [share * (seat in self.in_play) - self.stakes[seat] for seat in range(self.seats)]
        return [round(float(part / (self.seats - 1)), 6) + 0.0 for part in won]


# ---------------------------------------------------------------------------------------------
# Rounds against their records


def _check_deal(match: Match, given: Mapping[str, Json], index: int) -> None:
    """Dealer, seats and the whole deck are right."""
    dealer, expected = given["dealer"], match.next_dealer()
    _need(_is_int(dealer) and dealer in match.in_play, "the dealer is not in play", index)
    _need(expected in (None, dealer), f"the dealer is seat {expected}", index)
    _need(_same(given["in_play"], match.in_play), f"in_play is {match.in_play}", index)
    _need(_same(given["decider"], match.decider), f"decider is {match.decider}", index)
    hands, stock = given["hands"], given["stock"]
    _need(_is_cards(stock, match.deck), "stock is no list of cards of the deck", index)
    _check_hands(match, hands, index)
    cards = [card for hand in hands for card in hand] + stock
    if match.rules["family"] == "draw":
        _need(_is_cards([given["upcard"]], match.deck), "upcard is no card of the deck", index)
        _need(given["table"] is None, "the draw family has no table", index)
        cards.append(given["upcard"])
    else:
        _need(given["upcard"] is None, "the exchange family has no upcard", index)
    whole = len(cards) == len(match.deck) and set(cards) == match.deck
    _need(whole, "hands, upcard and stock are not the deck, each card once", index)


def _is_cards(cards: Json, deck: frozenset[str]) -> bool:
    """Whether this is a list of cards of the deck."""
    return type(cards) is list and all(type(card) is str and card in deck for card in cards)


def _check_hands(match: Match, hands: Json, index: int) -> None:
    """One sorted hand a seat in play, an empty list for every other."""
    _need(type(hands) is list and len(hands) == match.seats, "not one hand a seat", index)
    for seat, hand in enumerate(hands):
        size = match.rules["hand_size"] if seat in match.in_play else 0
        _need(_is_cards(hand, match.deck), f"hand {seat} is no list of cards", index)
        _need(len(hand) == size, f"hand {seat} has not {size} cards", index)
        _need(hand == _sorted(hand), f"hand {seat} is not sorted", index)


def _play_class(rules: Mapping[str, Json]) -> type[Play]:
    """The play of the family."""
    return DrawPlay if rules["family"] == "draw" else ExchangePlay


@dataclass
class Outcome:
    """What a replay found; the fields are missing as far as the events stop early."""

    fields: dict[str, Json] = field(default_factory=dict)
    complete: bool = False


def replay_round(match: Match, deal: Mapping[str, Json], events: Events) -> Outcome:
    """Follow the events of a round and settle the match."""
    outcome = Outcome()
    play = _play_class(match.rules)(match.rules, deal, events)
    try:
        if match.rules["family"] == "draw":
            _count_deal(play)
        end = play.play()
        losses = losses_of(play, end)
        outcome.fields = _played(play, end, losses)
        eliminated = match.settle(losses, deal["dealer"], events)
    except _Cut:
        _need_table_unknown(play)
        return outcome
    settled = (list(match.lives), match.free_rides(), sorted(eliminated))
    outcome.fields |= dict(zip(_SETTLED_FIELDS, settled, strict=True))
    outcome.complete = True
    _count_round(play, end, losses)
    return outcome


def _need_table_unknown(play: Play) -> None:
    """Before the dealer's choice there is no table yet."""
    if isinstance(play, ExchangePlay) and not play.table:
        _need(play.given_table is None, "a table before the dealer's choice", play.events.round)


def _played(play: Play, end: str, losses: list[int]) -> dict[str, Json]:
    """End, values, final hands and losses, as a record has them."""
    seats = range(len(losses))
    values = [points(play.hands.value(s)) if s in play.in_play else None for s in seats]
    hands = [_sorted(play.hands.cards[seat]) for seat in seats]
    return dict(zip(_PLAYED_FIELDS, (end, values, hands, losses), strict=True))


def _count_deal(play: Play) -> None:
    """Count several dealt holders."""
    play.tally["several_dealt_holders"] += len(play.holders()) > 1


def _count_round(play: Play, end: str, losses: Sequence[int]) -> None:
    """Count how a round ended."""
    tally = play.tally
    tally["rounds"] += 1
    tally[f"end:{end}"] += 1
    tally["turns"] += play.turns
    tally["two_players"] += len(play.in_play) == 2
    tally["nobody_loses"] += not any(losses)
    tally["several_lose"] += sum(map(bool, losses)) > 1
    jokers = any(card[0] == "X" for seat in play.in_play for card in play.hands.cards[seat])
    tally["joker_in_final_hand"] += jokers
    tally["after_reshuffle_max_turns"] += end == "max_turns" and "reshuffle" in {
        event["action"] for event in play.events.events[-1:]
    }


def _check_round(match: Match, given: Json, index: int, may_stop: bool) -> bool:
    """Check a round; whether it is complete."""
    _need_keys(given, ROUND_KEYS, "the round", index)
    _check_deal(match, given, index)
    events = Events(given["events"], index, match.tally)
    outcome = replay_round(match, given, events)
    if not outcome.complete and not may_stop:
        raise Fault(None, index, len(events.events), "the events stop before the round ends")
    events.finish()
    for name in (*_PLAYED_FIELDS, *_SETTLED_FIELDS):
        known = outcome.fields.get(name)
        if given[name] is None and not outcome.complete:
            continue  # a round that waits for buy-ins may leave open what it knows
        _need(_same(given[name], known), f"{name} is {_dump(known)}, not {given[name]!r}", index)
    match.tally["decisions"] += sum(event["seat"] is not None for event in events.events)
    return outcome.complete


# ---------------------------------------------------------------------------------------------
# Whole records


def check_match(record: Json) -> Tally:
    """Check one match record; what happened in it. Raises Fault at the first thing wrong."""
    match = _check_header(record)
    unfinished = "unfinished" in record
    rounds = record["rounds"]
    complete = True
    for index, given in enumerate(rounds):
        _need(not match.over, "a round after the end of the match", index)
        may_stop = unfinished and index == len(rounds) - 1
        complete = _check_round(match, given, index, may_stop)
    _check_result(match, record, unfinished, complete)
    match.tally["matches"] += 1
    match.tally[f"preset:{_preset_name(record['preset'])}"] += 1
    return Counter({name: count for name, count in match.tally.items() if count})


def _preset_name(preset: Json) -> str:
    """The name to count a record under."""
    return preset if preset in _PRESETS else "(other)"


def _check_header(record: Json) -> Match:
    """Everything but the rounds and the result."""
    _need(type(record) is dict, "no object")
    _need(_same(record.get("format"), FORMAT), f"format is not {FORMAT}")
    _need(_same(record.get("version"), VERSION), f"version is not {VERSION}")
    if "unfinished" in record:
        _need(record["unfinished"] is True, "unfinished is not true")
    known = {key: value for key, value in record.items() if key != "unfinished"}
    _need_keys(known, MATCH_KEYS, "the record", None)
    preset, seats, policies = record["preset"], record["num_players"], record["policies"]
    _need(preset is None or type(preset) is str, "preset is no name")
    _check_rules(record["rules"], preset)
    _check_seats(record["rules"], seats)
    for name in ("seed", "deal"):
        _need(record[name] is None or _is_int(record[name]), f"{name} is no integer")
    _need(type(policies) is list and len(policies) == seats, "not one policy a seat")
    _need(all(p is None or type(p) is str for p in policies), "a policy is no name")
    _need(type(record["rounds"]) is list, "rounds is no list")
    return Match(record["rules"], seats)


def _check_result(match: Match, record: Json, unfinished: bool, complete: bool) -> None:
    """Winner, returns and pot."""
    over = match.over and complete
    _need(not (unfinished and over), "the match is over, yet called unfinished")
    _need(unfinished or over, "the match is not over, yet not called unfinished")
    match.tally["unfinished"] += unfinished
    match.tally["unfinished_within_a_round"] += not complete
    winner = match.winner() if over else None
    returns = match.returns() if over else None
    match.tally["shared_pot"] += over and winner is None
    _need(_same(record["winner"], winner), f"winner is {winner}")
    _need(_same(record["returns"], returns), f"returns are {returns}")
    _need(_same(record["pot"], sum(match.stakes)), f"pot is {sum(match.stakes)}")


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, packed or not."""
    if path.name.endswith(".gz"):
        with gzip.open(path, "rb") as packed:
            yield from packed
    else:
        with path.open("rb") as plain:
            yield from plain


def _check_line(line: bytes) -> Tally:
    """Check one line: its text, then the match in it."""
    try:
        text = line.decode("utf-8").removesuffix("\n")
        record = json.loads(text)
        canonical = text in (_dump(record), json.dumps(record, separators=(",", ":")))
    except (ValueError, RecursionError) as error:
        raise Fault(None, None, None, f"no JSON: {error}") from None
    tally = check_match(record)
    _need(canonical, "not in canonical form")
    return tally


def check_file(path: str | Path) -> Tally:
    """Check every match of a .jsonl or .jsonl.gz file."""
    total: Tally = Counter()
    lines = enumerate(_lines(Path(path)), 1)
    number = 0
    while True:
        try:
            number, line = next(lines, (number, None))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise Fault(number + 1, None, None, f"the file is cut off: {error}") from None
        if line is None:
            return total
        try:
            total.update(_check_line(line))
        except Fault as fault:
            raise Fault(number, fault.round, fault.event, fault.message) from None


def main(paths: Sequence[str]) -> int:
    """Check files, write what happened in them; 1 at the first fault."""
    total: Tally = Counter()
    for path in paths:
        try:
            total.update(check_file(path))
        except Fault as fault:
            sys.stderr.write(f"{path}: {fault}\n")
            return 1
    for name in sorted(total):
        sys.stdout.write(f"{total[name]:>12} {name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
