"""Count the sequences of legal actions from a fixed deal, twice: by the engine, by the checker.

`by_engine` walks the states of a match of one round. `by_checker` knows nothing of them: it lets
the independent checker read a row of events and asks what it would allow next. A sequence ends
with the round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

from tests.independent import checker
from thirtyone_env import game
from thirtyone_env.state import Phase

Event = tuple[str, Any]


def by_engine(states: np.ndarray, depth: int) -> int:
    """Sequences of exactly so many actions."""
    if depth == 0:
        return 1
    if states["phase"][0] >= Phase.JUDGE:
        return 0
    actions = game.legal_actions(states)
    if depth == 1:
        return len(actions)
    total = 0
    for action in actions:
        following = game.clone(states)
        game.step(following, action)
        total += by_engine(following, depth - 1)
    return total


class _Ask(checker.Events):
    """Feeds events to the checker; when there are no more, keeps what would be allowed."""

    def __init__(self, row: list[Event]) -> None:
        super().__init__([], 0, Counter())
        self.row = row
        self.allowed: list[Event] = []

    def next(self, seat: int | None, options: checker.Options) -> Event:
        if seat is None:  # new table cards
            ((action, cards),) = options.items()
            return action, list(cards or ())
        if self.at < len(self.row):
            self.at += 1
            return self.row[self.at - 1]
        for action, cards in options.items():
            many = action in ("draw_stock", "take_upcard", "discard", "give", "take")
            self.allowed += [(action, card) for card in cards or ()] if many else [(action, None)]
        raise checker._Cut

    def fault(self, message: str) -> NoReturn:
        raise AssertionError(message)


def _allowed(rules: Mapping[str, Any], deal: Mapping[str, Any], row: list[Event]) -> list[Event]:
    """What the checker allows after a row of actions; nothing once the round is over."""
    asked = _Ask(row)
    table = _table(rules, deal, row)
    play = checker._play_class(rules)(rules, {**deal, "table": table}, asked)
    try:
        play.play()
    except checker._Cut:
        return asked.allowed
    return []


def _table(rules: Mapping[str, Any], deal: Mapping[str, Any], row: Iterable[Event]) -> Any:
    """The table that a record of this row would name."""
    if rules["family"] == "draw":
        return None
    refused = ("refuse", None) in list(row)
    return deal["hands"][deal["dealer"]] if refused else deal["stock"][:3]


def by_checker(
    rules: Mapping[str, Any], deal: Mapping[str, Any], depth: int, row: list[Event] | None = None
) -> int:
    """The same number by the independent checker."""
    row = row or []
    allowed = _allowed(rules, deal, row)
    if depth <= 1:
        return len(allowed) if depth else 1
    return sum(by_checker(rules, deal, depth - 1, [*row, event]) for event in allowed)
