"""The recorder: follows a match through the engine, step by step, and notes it down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from thirtyone_env._jit import entry
from thirtyone_env.actions import ACTION_WORDS, DRAW_STOCK, FIRST_CARD, TAKE_UPCARD, is_legal
from thirtyone_env.bots import Book, bot_action, controller
from thirtyone_env.cards import NAMES, NO_CARD, hand_value, names_of, points, set_of
from thirtyone_env.engine import apply, deal_next
from thirtyone_env.engine.deck import settle_deck
from thirtyone_env.engine.rounds import match_payoff
from thirtyone_env.game import prepare_states
from thirtyone_env.rules import Rules
from thirtyone_env.state import NOBODY, End, Phase, is_in, new_states

FORMAT, VERSION = "thirtyone-record", 1
ENDS: dict[End, str] = {end: end.name.lower() for end in End if end != End.RUNNING}

Json = dict[str, Any]


# --- entries -------------------------------------------------------------------------------------


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
def bot_row(states: Any, row: int, book: Any) -> int:
    """The decision of the bot whose turn it is."""
    state = states[row]
    return bot_action(state, book)


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


def seats_in_set(states: np.ndarray, field: str) -> list[int]:
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

    `deal_round` deals the next round, `take` takes a decision; `record` is the record so far and
    `rounds` are its rounds.
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
        prepare_states(self.states, NOBODY if dealer is None else dealer)
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
        self.rounds: list[Json] = []

    @classmethod
    def follow(cls, states: np.ndarray, policies: Sequence[str | None], rules: Rules) -> Recorder:
        """A recorder for a match that is prepared, with lives, dealer or cards set by hand."""
        recorder = cls(rules, int(states["num_players"][0]), policies=policies)
        recorder.states = states.copy()
        recorder.states["one_round"] = False  # no rule of the game: a record waits for what follows
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
        in_play, dealer = seats_in_set(states, "dealt_in"), int(states["dealer"][0])
        order = [s for s in in_play if s > dealer] + [s for s in in_play if s <= dealer]
        dealt = self.rules.hand_size * len(order)
        hands: list[list[str]] = [[] for _ in range(self._head["num_players"])]
        for place, seat in enumerate(order):
            hands[seat] = names_of(set_of(deck[place : dealt : len(order)]))
        exchange = self.rules.family == "exchange"
        self.rounds.append(
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
        states, events = self.states, self.rounds[-1]["events"]
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
            self.rounds[-1]["table"] = names_of(states["table"][0])
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
        states, row = self.states, self.rounds[-1]
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
            row["eliminated"] = seats_in_set(states, "eliminated")

    def _on_free_ride(self, seat: int) -> bool:
        states = self.states
        rides = states["in_play"] & states["rode"] & ~states["pending"]
        lives = states["lives"][0, seat]
        return bool(rides[0] >> seat & 1 and lives == 0 and not states["decider"][0])

    @property
    def record(self) -> Json:
        """The record, marked as unfinished while the match has not ended by its rules."""
        states, seats = self.states, self._head["num_players"]
        result: Json = dict(self._head)
        result["rounds"] = self.rounds
        pot = int(states["stakes"][0, :seats].sum())
        if not self.over:
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
    while recorder.states["phase"][0] == Phase.ROUND_OVER and not states["one_round"][0]:
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
    book = Book()
    for seat, name in enumerate(policies):
        recorder.states["controllers"][0, seat] = controller(name, rules.record, book)
    while not recorder.over:
        if recorder.states["phase"][0] == Phase.ROUND_OVER:
            recorder.deal_round()
        else:
            recorder.take(int(bot_row(recorder.states, 0, book.array)))
    return recorder.record
