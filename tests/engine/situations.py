"""Situations in card notation for the tests of the engine.

    t = table("danish", "2h 3h 4s", "Ah Kh 2s", upcard="2c")
    t.play("knock  stock 9d")

A script is a row of turns: ``stock 9d`` draws and discards, ``burn`` draws and discards the card
drawn, ``upcard 9d`` takes the upcard and discards, ``swap 9d Kh`` gives and takes, ``all`` swaps
all; ``knock``, ``pass``, ``keep``, ``refuse``, ``buy_in`` and ``decline`` stand for themselves.
``draw`` and ``lift`` are the first halves of a draw-family turn alone, ``give 9d`` that of a swap.
Whatever is played is followed by the independent checker too, as far as it knows such a beginning.
"""

from __future__ import annotations

import json
import os
import random
import sys
from typing import Any

import numpy as np

from tests.independent import checker
from thirtyone_env import game
from thirtyone_env.actions import DRAW_STOCK, FIRST_CARD, TAKE_UPCARD, parse_action
from thirtyone_env.cards import NAMES, names_of, parse_card, parse_cards
from thirtyone_env.record import Recorder, dump
from thirtyone_env.rules import Rules, resolve_rules
from thirtyone_env.state import Phase

FIRST_HALVES = {
    "stock": DRAW_STOCK,
    "burn": DRAW_STOCK,
    "draw": DRAW_STOCK,
    "upcard": TAKE_UPCARD,
    "lift": TAKE_UPCARD,
}


def fresh_seed() -> int:
    """A seed for a random test; its output names it, THIRTYONE_TEST_SEED repeats it."""
    seed = int(os.environ.get("THIRTYONE_TEST_SEED") or random.SystemRandom().randrange(1 << 30))
    sys.stdout.write(f"THIRTYONE_TEST_SEED={seed}\n")
    return seed


def checked(record: dict[str, Any]) -> checker.Tally:
    """What happened in a record, by the independent checker, which must find nothing wrong."""
    return checker.check_match(json.loads(dump(record)))


class Table:
    """A match that is played by scripts, round by round."""

    def __init__(self, states: np.ndarray, rules: Rules, known_to_checker: bool) -> None:
        self.rules = rules
        self.recorder = Recorder.follow(states, [None] * int(states["num_players"][0]), rules)
        self._known_to_checker = known_to_checker

    # --- dealing and playing -------------------------------------------------------------------

    def deal(self, *hands: str, upcard: str = "", table: str = "", stock: str = "") -> Table:
        """Deal a round; hands by seat, an empty one for a seat that is out."""
        states = self.states
        seats, in_play = len(self.lives), int(states["in_play"][0])
        if hands:
            after = [(int(states["dealer"][0]) + step) % seats for step in range(1, seats + 1)]
            dealer = next(seat for seat in after if in_play >> seat & 1)
            order = [(dealer + step) % seats for step in range(1, seats + 1)]
            held = [hands[seat].split() for seat in order if in_play >> seat & 1]
            dealt = [hand[place] for place in range(self.rules.hand_size) for hand in held]
            self.recorder.stack(parse_cards(f"{' '.join(dealt)} {upcard} {table} {stock}"))
        self.recorder.deal_round()
        return self

    def play(self, script: str) -> Table:
        """Play turns; every decision has to be legal."""
        words = script.split()
        while words:
            word = words.pop(0)
            if word in FIRST_HALVES:
                self._take(FIRST_HALVES[word])
                if word in ("stock", "upcard"):
                    self._take(FIRST_CARD + parse_card(words.pop(0)))
                if word == "burn":
                    self._take(FIRST_CARD + int(self.states["drawn"][0]))
            elif word in ("swap", "give"):
                for _ in range(2 if word == "swap" else 1):
                    self._take(FIRST_CARD + parse_card(words.pop(0)))
            else:
                self._take(parse_action("swap_all" if word == "all" else word))
        self.check()
        return self

    def burn_until(self, left: int) -> Table:
        """Everybody draws and discards the drawn card until so many cards are in the stock."""
        return self.play("burn " * (self.stock_left - left))

    def all_pass(self, times: int = 1) -> Table:
        """Everybody in play passes, so often."""
        return self.play("pass " * (times * bin(int(self.states["in_play"][0])).count("1")))

    def _take(self, action: int) -> None:
        legal = game.legal_actions(self.states)
        if action not in legal:
            raise AssertionError(f"{action} is not legal, only {game.legal_names(self.states)}")
        self.recorder.take(action)

    def check(self) -> None:
        """Let the independent checker follow the match so far."""
        if self._known_to_checker:
            checked(self.record)

    # --- looking -------------------------------------------------------------------------------

    @property
    def states(self) -> np.ndarray:
        return self.recorder.states

    @property
    def record(self) -> dict[str, Any]:
        return self.recorder.record

    @property
    def round(self) -> dict[str, Any]:
        """The record of the round dealt last."""
        return self.record["rounds"][-1]

    @property
    def end(self) -> str | None:
        return self.round["end"]

    @property
    def losses(self) -> list[int] | None:
        return self.round["losses"]

    @property
    def events(self) -> list[str]:
        """The actions of the round, in order."""
        return [event["action"] for event in self.round["events"]]

    @property
    def lives(self) -> list[int]:
        return self.states["lives"][0, : int(self.states["num_players"][0])].tolist()

    @property
    def legal(self) -> set[str]:
        """Names of what may be done now, cards without what is done with them."""
        names = game.legal_names(self.states)
        return {name.split()[-1] for name in names}

    @property
    def seat(self) -> int:
        return int(self.states["seat"][0])

    @property
    def phase(self) -> Phase:
        return Phase(int(self.states["phase"][0]))

    @property
    def stock_left(self) -> int:
        return int(self.states["deck_end"][0]) - int(self.states["top"][0])

    @property
    def open_table(self) -> str:
        return " ".join(names_of(self.states["table"][0]))

    @property
    def upcard(self) -> str:
        return NAMES[int(self.states["upcard"][0])]

    def hand(self, seat: int) -> str:
        return " ".join(names_of(self.states["hands"][0, seat]))


def table(
    rules: Any,
    *hands: str,
    upcard: str = "",
    table: str = "",
    stock: str = "",
    dealer: int | None = None,
    lives: list[int] | None = None,
    rules_lives: int | None = None,
    **changes: Any,
) -> Table:
    """A match in which the first round is dealt; by default the last seat deals, seat 0 begins.

    Args:
        rules: a preset's name, or rules.
        hands: one a seat, as dealt.
        upcard, table, stock: what follows in the deck; `table` are the three cards after the hands.
        dealer: who deals.
        lives: one number a seat, other than the rules'.
        rules_lives: the house rule `lives`.
        changes: other house rules.
    """
    if rules_lives is not None:
        changes["lives"] = rules_lives
    resolved = Rules.preset(rules, **changes) if isinstance(rules, str) else resolve_rules(rules)
    dealer = len(hands) - 1 if dealer is None else dealer
    states = game.prepare(resolved, len(hands), dealer=dealer, lives=lives)
    made = Table(states, resolved, lives is None)
    return made.deal(*hands, upcard=upcard, table=table, stock=stock)
