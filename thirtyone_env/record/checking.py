"""Checking: lay a record's cards on the decks, take its decisions, compare what comes out."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from thirtyone_env.actions import FIRST_CARD, parse_action
from thirtyone_env.cards import NAMES, NO_CARD, parse_card, set_of
from thirtyone_env.record.recorder import (
    FORMAT,
    VERSION,
    Json,
    Recorder,
    row_is_legal,
    seats_in_set,
    settle_row,
)
from thirtyone_env.rules import Rules
from thirtyone_env.state import Phase

_MATCH_KEYS = ("format", "version", "preset", "rules", "num_players", "seed", "deal", "policies")
_RESULT_KEYS = ("winner", "returns", "pot")


class Fault(ValueError):
    """A record that is malformed, or breaks the rules that it names.

    Attributes:
        line: number of the line, from 1; None if unknown.
        round: index of the round, from 0; None outside the rounds.
        event: index of the event in its round, from 0; None outside the events.
    """

    def __init__(
        self,
        message: str,
        *,
        line: int | None = None,
        round: int | None = None,
        event: int | None = None,
    ) -> None:
        self.message, self.line, self.round, self.event = message, line, round, event
        super().__init__(message)

    def __str__(self) -> str:
        places = [("line", self.line), ("round", self.round), ("event", self.event)]
        where = ", ".join(f"{name} {number}" for name, number in places if number is not None)
        return f"{where}: {self.message}" if where else self.message


def dump(record: Json) -> str:
    """The canonical line of a record, without the line's end."""
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False)


def _need(condition: bool, message: str) -> None:
    if not condition:
        raise Fault(message)


def _check_head(record: Any) -> tuple[Rules, int]:
    """Format, rules and seats of a record."""
    _need(isinstance(record, dict), "a record is a JSON object")
    _need(record.get("format") == FORMAT, f"format {record.get('format')!r} is not {FORMAT!r}")
    _need(
        record.get("version") == VERSION,
        f"version {record.get('version')!r} is not known; this program reads version {VERSION}",
    )
    for key in (*_MATCH_KEYS, "rounds", *_RESULT_KEYS):
        _need(key in record, f"key {key!r} is missing")
    _need(isinstance(record["rules"], dict), "rules: an object is expected")
    missing = set(Rules().to_dict()) - set(record["rules"])
    _need(not missing, f"rules: {', '.join(sorted(missing))} missing")
    try:
        rules = Rules.from_dict(record["rules"])
        seats = rules.check_seats(record["num_players"])
    except ValueError as fault:
        raise Fault(f"rules: {fault}") from None
    policies = record["policies"]
    good = isinstance(policies, list) and all(p is None or isinstance(p, str) for p in policies)
    _need(good and len(policies) == seats, f"policies: a name or null for each of {seats} seats")
    for key in ("seed", "deal"):
        good = record[key] is None or (type(record[key]) is int and 0 <= record[key] < 1 << 64)
        _need(good, f"{key} {record[key]!r} is neither null nor a number below 2**64")
    _need(isinstance(record["rounds"], list) and record["rounds"] != [], "rounds: a list with one")
    return rules, seats


def _cards(names: Any, what: str) -> list[int]:
    """The cards of a list of names."""
    _need(isinstance(names, list), f"{what}: a list of cards is expected, not {names!r}")
    try:
        return [parse_card(name) for name in names]
    except ValueError as fault:
        raise Fault(f"{what}: {fault}") from None


def _whole_deck(rules: Rules) -> set[int]:
    """The cards of the deck in use."""
    plain = {13 * s + r for s in range(4) for r in range(rules.low_rank - 2, 13)}
    return plain | {52 + j for j in range(rules.jokers)}


def _deck_of(row: Json, rules: Rules, recorder: Recorder) -> list[int]:
    """The whole deck of a recorded round, in dealing order."""
    states = recorder.states
    in_play = seats_in_set(states, "in_play")
    _need(row.get("in_play") == in_play, f"in_play {row.get('in_play')} where {in_play} are")
    hands = row.get("hands")
    seats = int(states["num_players"][0])
    _need(isinstance(hands, list) and len(hands) == seats, "hands: one list a seat is expected")
    held = [_cards(hand, f"hand of seat {seat}") for seat, hand in enumerate(hands or [])]
    for seat, hand in enumerate(held):
        size = rules.hand_size if seat in in_play else 0
        _need(len(hand) == size, f"hand of seat {seat} has {len(hand)} cards, not {size}")
    after = int(states["dealer"][0]) + 1
    order = [s for s in in_play if s >= after] + [s for s in in_play if s < after]
    next_dealer = order[0]
    order = [s for s in in_play if s > next_dealer] + [s for s in in_play if s <= next_dealer]
    deck = [held[seat][k] for k in range(rules.hand_size) for seat in order]
    if rules.family == "draw":
        deck += _cards([row.get("upcard")], "upcard")
    deck += _cards(row.get("stock"), "stock")
    whole = _whole_deck(rules)
    doubles = sorted({NAMES[c] for c in deck if deck.count(c) > 1})
    _need(not doubles, f"cards dealt twice: {', '.join(doubles)}")
    strange = sorted(NAMES[c] for c in set(deck) - whole)
    _need(not strange, f"cards that are not in this deck: {', '.join(strange)}")
    lost = sorted(NAMES[c] for c in whole - set(deck))
    _need(not lost, f"cards that are missing from the deck: {', '.join(lost)}")
    return deck


def _event_action(event: Any) -> int | None:
    """The decision of an event; None for what is not a player's action."""
    _need(isinstance(event, dict), f"an event is an object, not {event!r}")
    word = event.get("action")
    if word in ("reshuffle", "renew_table"):
        return None
    try:
        if word in ("discard", "give", "take"):
            return FIRST_CARD + parse_card(event.get("card"))
        action = parse_action(word)
    except ValueError as fault:
        raise Fault(str(fault)) from None
    _need(action < FIRST_CARD, f"unknown action {word!r}")
    return action


def _lay_next_cards(recorder: Recorder, events: list[Any], index: int) -> None:
    """Lay the cards of a coming reshuffle or new table where the engine will take them."""
    states = recorder.states
    following = events[index + 1] if index + 1 < len(events) else None
    if isinstance(following, dict) and following.get("action") == "reshuffle":
        cards = _cards(following.get("cards"), "reshuffle")
        _need(len(set(cards)) == len(cards) <= 56, "reshuffle: a card is there twice")
        # What is left of the stock may lie where the cards are stacked: look at it before.
        stock = states["deck"][0, int(states["top"][0]) : int(states["deck_end"][0])].tolist()
        hidden = sorted(set(stock) - set(cards))
        _need(not hidden, f"reshuffle: {', '.join(NAMES[c] for c in hidden)} missing")
        recorder.stack(cards)


def _follow_round(recorder: Recorder, row: Json) -> None:
    """Take the decisions of a recorded round, comparing event by event."""
    events = row.get("events")
    _need(isinstance(events, list), "events: a list is expected")
    done = recorder.rounds[-1]["events"]
    for index, event in enumerate(events or []):
        try:
            if index >= len(done):
                _take_event(recorder, events or [], index)
            _need(
                index < len(done) and dump(done[index]) == dump(event),
                f"{dump(event)} does not follow; the rules lead to "
                f"{dump(done[index]) if index < len(done) else 'no such event'}",
            )
        except Fault as fault:
            raise Fault(fault.message, event=index) from None
    if len(done) > len(events or []):
        raise Fault(f"{dump(done[len(events or [])])} is missing", event=len(events or []))


def _take_event(recorder: Recorder, events: list[Any], index: int) -> None:
    """Take the decision of one event."""
    states, event = recorder.states, events[index]
    action = _event_action(event)
    _need(action is not None, f"{event.get('action')} is not due here")
    phase = states["phase"][0]
    _need(phase < Phase.JUDGE, "the round is over before this event")
    seat = int(states["seat"][0])
    _need(event.get("seat") == seat, f"seat {event.get('seat')!r} acts where seat {seat} has to")
    _need(
        bool(row_is_legal(states, 0, action)),
        f"{event.get('action')} {event.get('card', '')} is not legal here".replace("  ", " "),
    )
    _lay_next_cards(recorder, events, index)
    recorder.take(int(action or 0))
    if states["reshuffles"][0] and recorder.rounds[-1]["events"][-1]["action"] != "pass":
        _check_all_cards_there(states, recorder.rules)
    _need(not states["stacked"][0], "a reshuffle is not due here")


def _check_all_cards_there(states: np.ndarray, rules: Rules) -> None:
    """Every card of the deck lies in exactly one place."""
    out = np.zeros(56, np.int64)
    end = settle_row(states.copy(), 0, out)
    top = int(states["top"][0])
    places = [set_of(out[top:end]), int(states["table"][0]), int(states["pile"][0])]
    places += [int(hand) for hand in states["hands"][0]]
    if states["upcard"][0] != NO_CARD:
        places.append(set_of([int(states["upcard"][0])]))
    total = sum(bin(cards).count("1") for cards in places)
    union = 0
    for cards in places:
        union |= cards
    whole = union == set_of(_whole_deck(rules)) and total == rules.deck_size
    whole = whole and end - top == len(set(out[top:end]))
    _need(whole, "reshuffle: these are not the cards that are shuffled")


def _compare(given: Any, made: Any, what: str) -> None:
    if dump(given) != dump(made):
        raise Fault(f"{what} is {dump(given)}, the rules lead to {dump(made)}")


def _first_dealer(record: Json, seats: int) -> int:
    row = record["rounds"][0]
    dealer = row.get("dealer") if isinstance(row, dict) else None
    if type(dealer) is not int or not 0 <= dealer < seats:
        raise Fault(f"dealer {dealer!r} is not a seat 0 … {seats - 1}", round=0)
    return dealer


def replay(record: Json) -> Json:
    """Play a recorded match again through the engine.

    Returns:
        The record that comes out; for a good record equal to the byte.

    Raises:
        Fault: for a record that is malformed or breaks its rules, with round and event.
    """
    rules, seats = _check_head(record)
    recorder = Recorder(
        rules,
        seats,
        seed=record["seed"],
        deal=record["deal"],
        policies=record["policies"],
        dealer=_first_dealer(record, seats),
    )
    for index, row in enumerate(record["rounds"]):
        try:
            _need(isinstance(row, dict), "a round is an object")
            _need(recorder.states["phase"][0] == Phase.ROUND_OVER, "the match is over before it")
            recorder.stack(_deck_of(row, rules, recorder))
            recorder.deal_round()
            _follow_round(recorder, row)
            last = index == len(record["rounds"]) - 1
            made = recorder.rounds[-1]
            _need(list(row) == list(made), f"keys are {', '.join(row)}, not {', '.join(made)}")
            for key in made:
                _compare(row[key], made[key], key)
            settled = recorder.states["phase"][0] >= Phase.ROUND_OVER
            _need(settled or last, "the round is not over")
        except Fault as fault:
            raise Fault(fault.message, round=index, event=fault.event) from None
    return recorder.record


def check(record: Json, line: int | None = None) -> None:
    """Check a record against the rules that it names.

    Raises:
        Fault: at the first fault, with line, round and event.
    """
    try:
        made = replay(record)
        for key in made:
            _need(key in record, f"key {key!r} is missing: the match is not over")
            _compare(record[key], made[key], key)
        _need(list(record) == list(made), f"keys are {', '.join(record)}, not {', '.join(made)}")
    except Fault as fault:
        raise Fault(fault.message, line=line, round=fault.round, event=fault.event) from None
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError) as fault:
        raise Fault(f"malformed: {fault!r}", line=line) from None
