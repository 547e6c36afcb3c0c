"""Match records: write, read, replay and check them (docs/record.md is the format).

A record is one JSON line that holds every card of a match. Whatever is recorded is first played by
the engine: writing, replaying and checking are one mechanism, `Recorder`, which follows the engine
step by step and notes what happened. A record is checked by laying its cards on the decks, taking
its decisions, and comparing what comes out with what it says, to the byte.

Command line: ``python -m thirtyone_env.record play|check|show``.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from thirtyone_env._jit import entry
from thirtyone_env.actions import (
    ACTION_WORDS,
    DRAW_STOCK,
    FIRST_CARD,
    TAKE_UPCARD,
    is_legal,
    parse_action,
)
from thirtyone_env.bots import bot_action, controller
from thirtyone_env.cards import NAMES, NO_CARD, hand_value, names_of, parse_card, points, set_of
from thirtyone_env.engine import apply, deal_next
from thirtyone_env.engine.deck import settle_deck
from thirtyone_env.engine.rounds import match_payoff, prepare_match, set_first_dealer
from thirtyone_env.rules import Rules
from thirtyone_env.state import NOBODY, End, Phase, is_in, new_states

FORMAT, VERSION = "thirtyone-record", 1
ENDS: dict[End, str] = {end: end.name.lower() for end in End if end != End.RUNNING}
_MATCH_KEYS = ("format", "version", "preset", "rules", "num_players", "seed", "deal", "policies")
_RESULT_KEYS = ("winner", "returns", "pot")

Json = dict[str, Any]


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


# --- entries -------------------------------------------------------------------------------------


@entry
def prepare_row(states: Any, row: int, dealer: int) -> None:
    """Make a match ready for its first deal, by a given dealer or one drawn by lot."""
    state = states[row]
    prepare_match(state)
    if dealer != NOBODY:
        set_first_dealer(state, dealer)


@entry
def follow_row(states: Any, row: int, action: int) -> None:
    """Take a decision and stop where the round is settled; NO_CARD (−1) deals the next round."""
    state = states[row]
    if action == NO_CARD:
        deal_next(state)
    else:
        apply(state, action)


@entry
def row_is_legal(states: Any, row: int, action: int) -> bool:
    """Whether an action is legal."""
    state = states[row]
    return is_legal(state, action)


@entry
def bot_row(states: Any, row: int) -> int:
    """The decision of the bot whose turn it is."""
    state = states[row]
    return bot_action(state)


@entry
def settle_row(states: Any, row: int, out: Any) -> int:
    """Settle the order of the stock; the deck, and the place after its last card."""
    state = states[row]
    settle_deck(state)
    for place in range(state.deck_end):
        out[place] = state.deck[place]
    return int(state.deck_end)


@entry
def results_row(states: Any, row: int, values: Any, payoffs: Any) -> None:
    """Hand values of the seats that were dealt in, −1 for the others, and match payoffs."""
    state = states[row]
    for seat in range(state.num_players):
        values[seat] = -1
        if is_in(state.dealt_in, seat):
            values[seat] = hand_value(np.int64(state.hands[seat]), state.rules)
        payoffs[seat] = match_payoff(state, seat)


# --- following a match ---------------------------------------------------------------------------


def _seats(states: np.ndarray, field: str) -> list[int]:
    """The seats of a set of seats."""
    mask, seats = int(states[field][0]), int(states["num_players"][0])
    return [seat for seat in range(seats) if mask >> seat & 1]


def _whole_deck(states: np.ndarray) -> list[int]:
    """All cards of the round's deck in the order in which they lie, dealt ones included."""
    out = np.zeros(56, np.int64)
    end = settle_row(states.copy(), 0, out)
    return [int(card) for card in out[:end]]


class Recorder:
    """Follows one match through the engine and notes it down.

    Args:
        rules: the rules.
        num_players: seats.
        seed, deal: what the cards derive from; None where that is unknown.
        policies: a name or None for each seat.
        dealer: the first dealer; None: drawn by lot.
        deck: cards in dealing order that the first round begins with; the rest by lot.

    `begin` deals the first round, `take` takes a decision; `record` is the record so far.
    """

    def __init__(
        self,
        rules: Rules,
        num_players: int,
        *,
        seed: int | None = None,
        deal: int | None = None,
        policies: Sequence[str | None] | None = None,
        dealer: int | None = None,
    ) -> None:
        self.rules = rules
        self.states: np.ndarray = new_states(rules, num_players, 1)
        self.states["seed"] = seed or 0
        self.states["match"] = deal or 0
        prepare_row(self.states, 0, NOBODY if dealer is None else dealer)
        self._head: Json = {
            "format": FORMAT,
            "version": VERSION,
            "preset": rules.preset_name,
            "rules": rules.to_dict(),
            "num_players": num_players,
            "seed": seed,
            "deal": deal,
            "policies": list(policies) if policies is not None else [None] * num_players,
        }
        self._rounds: list[Json] = []

    @classmethod
    def follow(cls, states: np.ndarray, policies: Sequence[str | None], rules: Rules) -> Recorder:
        """A recorder for a match that is prepared, with lives, dealer or cards set by hand."""
        recorder = cls(rules, int(states["num_players"][0]), policies=policies)
        recorder.states = states.copy()
        if not states["stacked"][0]:
            recorder._head["seed"] = int(states["seed"][0])
            recorder._head["deal"] = int(states["match"][0])
        return recorder

    @property
    def over(self) -> bool:
        """Whether the match is over."""
        return bool(self.states["phase"][0] == Phase.OVER)

    def stack(self, cards: Sequence[int]) -> None:
        """Lay cards on top of the next shuffle, first card first."""
        self.states["deck"][0, : len(cards)] = cards
        self.states["stacked"] = len(cards)

    def deal_round(self) -> None:
        """Deal the next round."""
        decider = bool(self.states["decider"][0])
        follow_row(self.states, 0, NO_CARD)
        states, deck = self.states, _whole_deck(self.states)
        in_play, dealer = _seats(states, "dealt_in"), int(states["dealer"][0])
        order = [s for s in in_play if s > dealer] + [s for s in in_play if s <= dealer]
        dealt = self.rules.hand_size * len(order)
        hands: list[list[str]] = [[] for _ in range(self._head["num_players"])]
        for place, seat in enumerate(order):
            hands[seat] = names_of(set_of(deck[place : dealt : len(order)]))
        exchange = self.rules.family == "exchange"
        self._rounds.append(
            {
                "dealer": dealer,
                "in_play": in_play,
                "decider": decider,
                "hands": hands,
                "upcard": None if exchange else NAMES[deck[dealt]],
                "table": names_of(states["table"][0]) or None,
                "stock": [NAMES[card] for card in deck[dealt if exchange else dealt + 1 :]],
                "events": [],
                "end": None,
                "values": None,
                "final_hands": None,
                "losses": None,
                "lives": None,
                "free_ride": None,
                "eliminated": None,
            }
        )
        self._note_end()

    def take(self, action: int) -> None:
        """Take a legal decision (card format); deal with `deal_round` when a round is settled."""
        states, events = self.states, self._rounds[-1]["events"]
        phase, seat = int(states["phase"][0]), int(states["seat"][0])
        counts = int(states["reshuffles"][0]), int(states["renewals"][0])
        follow_row(states, 0, action)
        events.append(self._event(phase, seat, action))
        if states["reshuffles"][0] > counts[0]:
            deck = [NAMES[card] for card in _whole_deck(states)]
            events.append({"seat": None, "action": "reshuffle", "cards": deck})
        if states["renewals"][0] > counts[1]:
            cards = names_of(states["table"][0])
            events.append({"seat": None, "action": "renew_table", "cards": cards})
        if phase == Phase.DEALER:
            self._rounds[-1]["table"] = names_of(states["table"][0])
        self._note_end()

    def _event(self, phase: int, seat: int, action: int) -> Json:
        if action >= FIRST_CARD:
            word = {Phase.DISCARD: "discard", Phase.TURN: "give", Phase.TAKE: "take"}[Phase(phase)]
            return {"seat": seat, "action": word, "card": NAMES[action - FIRST_CARD]}
        event: Json = {"seat": seat, "action": ACTION_WORDS[action]}
        if action in (DRAW_STOCK, TAKE_UPCARD):
            event["card"] = NAMES[int(self.states["drawn"][0])]
        return event

    def _note_end(self) -> None:
        """Note what is known once the round has been judged, and once it is settled."""
        states, row = self.states, self._rounds[-1]
        phase = states["phase"][0]
        if phase < Phase.BUY_IN:
            return
        seats = self._head["num_players"]
        if row["end"] is None:
            values, payoffs = np.zeros(9, np.int64), np.zeros(9)
            results_row(states, 0, values, payoffs)
            row["end"] = ENDS[End(int(states["end"][0]))]
            row["values"] = [points(v) if v >= 0 else None for v in values[:seats]]
            row["final_hands"] = [names_of(hand) for hand in states["hands"][0, :seats]]
            row["losses"] = states["losses"][0, :seats].tolist()
        if phase > Phase.JUDGE:
            row["lives"] = states["lives"][0, :seats].tolist()
            row["free_ride"] = [self._on_free_ride(seat) for seat in range(seats)]
            row["eliminated"] = _seats(states, "eliminated")

    def _on_free_ride(self, seat: int) -> bool:
        states = self.states
        rides = states["in_play"] & states["rode"] & ~states["pending"]
        lives = states["lives"][0, seat]
        return bool(rides[0] >> seat & 1 and lives == 0 and not states["decider"][0])

    @property
    def record(self) -> Json:
        """The record, marked as unfinished while the match has not ended by its rules."""
        states, seats = self.states, self._head["num_players"]
        finished = self.over and not (states["one_round"][0] and states["winner"][0] == NOBODY)
        result: Json = dict(self._head)
        result["rounds"] = self._rounds
        pot = int(states["stakes"][0, :seats].sum())
        if not finished:
            return result | {"unfinished": True, "winner": None, "returns": None, "pot": pot}
        values, payoffs = np.zeros(9, np.int64), np.zeros(9)
        results_row(states, 0, values, payoffs)
        winner = int(states["winner"][0])
        returns = [round(float(payoff), 6) + 0.0 for payoff in payoffs[:seats]]
        return result | {
            "winner": None if winner == NOBODY else winner,
            "returns": returns,
            "pot": pot,
        }


def record_match(
    states: np.ndarray, actions: Iterable[int], policies: Sequence[str | None], rules: Rules
) -> Json:
    """The record of a match that was prepared in a state and went on by some decisions.

    Args:
        states: STATE[1], prepared and not yet dealt.
        actions: the decisions in order (card format).
        policies: a name or None for each seat.
        rules: the rules of the state.
    """
    recorder = Recorder.follow(states, policies, rules)
    recorder.deal_round()
    for action in actions:
        while recorder.states["phase"][0] == Phase.ROUND_OVER:
            recorder.deal_round()
        recorder.take(action)
    while recorder.states["phase"][0] == Phase.ROUND_OVER:
        recorder.deal_round()
    return recorder.record


def play_match(rules: Rules, policies: Sequence[str], *, seed: int, deal: int) -> Json:
    """Play a match between kernel bots and record it.

    Args:
        rules: the rules.
        policies: a bot's name for each seat.
        seed, deal: what the cards derive from.
    """
    recorder = Recorder(rules, len(policies), seed=seed, deal=deal, policies=policies)
    for seat, name in enumerate(policies):
        recorder.states["controllers"][0, seat] = controller(name)
    while not recorder.over:
        if recorder.states["phase"][0] == Phase.ROUND_OVER:
            recorder.deal_round()
        else:
            recorder.take(int(bot_row(recorder.states, 0)))
    return recorder.record


# --- checking ------------------------------------------------------------------------------------


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


def _deck_of(row: Json, rules: Rules, recorder: Recorder) -> list[int]:
    """The whole deck of a recorded round, in dealing order."""
    states = recorder.states
    in_play = _seats(states, "in_play")
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
    whole = {13 * s + r for s in range(4) for r in range(rules.low_rank - 2, 13)}
    whole |= {52 + j for j in range(rules.jokers)}
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
        recorder.stack(cards)
        stock = states["deck"][0, int(states["top"][0]) : int(states["deck_end"][0])].tolist()
        hidden = set(stock) - set(cards)
        _need(not hidden, f"reshuffle: {', '.join(NAMES[c] for c in hidden)} missing")


def _follow_round(recorder: Recorder, row: Json) -> None:
    """Take the decisions of a recorded round, comparing event by event."""
    events = row.get("events")
    _need(isinstance(events, list), "events: a list is expected")
    done = recorder._rounds[-1]["events"]
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
    if states["reshuffles"][0] and recorder._rounds[-1]["events"][-1]["action"] != "pass":
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
    whole = bin(union).count("1") == total == rules.deck_size and end - top == len(
        set(out[top:end])
    )
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
            made = recorder._rounds[-1]
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


# --- files ---------------------------------------------------------------------------------------


@contextmanager
def open_to_read(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A record file (``.jsonl`` or ``.jsonl.gz``; ``-`` is standard input) as bytes."""
    if str(path) == "-":
        yield sys.stdin.buffer
    elif str(path).endswith(".gz"):
        with gzip.open(path, "rb") as file:
            yield file  # type: ignore[misc]
    else:
        with open(path, "rb") as file:
            yield file


def read(path: str | os.PathLike[str]) -> Iterator[tuple[int, Json]]:
    """Line number, from 1, and record of every line of a file; nothing is checked but the JSON.

    Raises:
        Fault: for a line that is cut off or no JSON.
        OSError: for a file that cannot be read.
    """
    with open_to_read(path) as file:
        number = 0
        try:
            for number, raw in enumerate(file, 1):
                yield number, _parse_line(raw, number)
        except (EOFError, gzip.BadGzipFile) as fault:
            raise Fault(f"the file is cut off: {fault}", line=number + 1) from None


def _unique(pairs: list[tuple[str, Any]]) -> Json:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key is there twice")
    return result


def _parse_line(raw: bytes, number: int) -> Json:
    try:
        text = raw.decode("utf-8")
        if not text.endswith("\n"):
            raise ValueError("the line is cut off")
        result: Json = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as fault:
        raise Fault(f"not a record: {fault}", line=number) from None
    if dump(result) + "\n" != text:
        raise Fault("not in canonical form (spaces, escapes or number format)", line=number)
    return result


@contextmanager
def open_to_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A new record file; it appears under its name when it is complete.

    Raises:
        FileExistsError: if there is such a file already.
    """
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    if target.exists():
        raise FileExistsError(f"{target} exists; choose another name, nothing is overwritten")
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as raw:
            if target.suffix == ".gz":
                with gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as file:
                    yield file  # type: ignore[misc]
            else:
                yield raw
        os.chmod(name, 0o644)
        os.link(name, target)
    finally:
        os.unlink(name)


def write(path: str | os.PathLike[str], records: Iterable[Json]) -> int:
    """Write records to a new file; the number written.

    Raises:
        FileExistsError: if there is such a file already.
    """
    count = 0
    with open_to_write(path) as file:
        for record in records:
            file.write((dump(record) + "\n").encode())
            count += 1
    return count


def check_file(path: str | os.PathLike[str]) -> int:
    """Check every record of a file; the number of matches.

    Raises:
        Fault: at the first fault, with line, round and event.
    """
    count = 0
    for line, record in read(path):
        check(record, line)
        count += 1
    return count


# --- in words ------------------------------------------------------------------------------------


def _event_text(event: Json) -> str:
    word = str(event["action"]).replace("_", " ")
    if event["seat"] is None:
        return f"    — {word}: {' '.join(event['cards'])}"
    return f"    seat {event['seat']}  {word} {event.get('card', '')}".rstrip()


def describe_round(row: Json, index: int) -> str:
    """A recorded round in words."""
    lines = [f"Round {index}{' (decider)' if row['decider'] else ''}, dealer: seat {row['dealer']}"]
    lines += [f"  seat {seat}: {' '.join(row['hands'][seat])}" for seat in row["in_play"]]
    if row["upcard"]:
        lines.append(f"  upcard: {row['upcard']}")
    if row["table"]:
        lines.append(f"  table: {' '.join(row['table'])}")
    lines += [_event_text(event) for event in row["events"]]
    if row["end"]:
        lines.append(f"  end: {row['end'].replace('_', ' ')}")
        for seat in row["in_play"]:
            loss = f", loses {row['losses'][seat]}" if row["losses"][seat] else ""
            hand = " ".join(row["final_hands"][seat])
            lines.append(f"    seat {seat}: {hand} = {row['values'][seat]}{loss}")
    if row["lives"] is not None:
        lines.append(f"  lives: {' '.join(map(str, row['lives']))}")
        if row["eliminated"]:
            lines.append(f"  eliminated: {' '.join(f'seat {s}' for s in row['eliminated'])}")
    return "\n".join(lines)


def describe(record: Json) -> str:
    """A record in words."""
    name = record["preset"] or "house rules"
    lines = [
        f"{name}, {record['num_players']} players, seed {record['seed']}, deal {record['deal']}"
    ]
    lines += [f"  seat {s}: {p or 'a person'}" for s, p in enumerate(record["policies"])]
    lines += [describe_round(row, index) for index, row in enumerate(record["rounds"])]
    if record.get("unfinished"):
        lines.append("The match is not finished.")
    elif record["winner"] is None:
        lines.append("The match ended without a winner.")
    else:
        lines.append(f"Seat {record['winner']} wins.")
    if record["returns"]:
        lines.append(f"Payoffs: {' '.join(f'{r:g}' for r in record['returns'])}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; see ``--help``."""
    from thirtyone_env.record_cli import run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
