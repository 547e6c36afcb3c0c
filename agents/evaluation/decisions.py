"""The decisions of matches that are shown, as tables: what was done, how likely it was, the rounds.

What a viewer does not see is not in them either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.evaluation.live import Moment
from agents.evaluation.picture import sees
from agents.evaluation.tables import Column, DataTable
from thirtyone_env.record import Json

_MATCH = (
    Column("match", "match", "number of the deal, or line of the file", "count"),
    Column("round", "round", "number from 0", "count"),
)
_DECISION = (
    *_MATCH,
    Column("event", "event", "number in its round, from 0", "count"),
    Column("seat", "seat", "number from 0", "count"),
)
_WITH_CARD = ("discard", "give", "take")
"""Actions that are named with their card where probabilities are told."""


def seen_event(event: Json, seen: bool) -> Json:
    """An event as somebody at the table may know it.

    Args:
        event: of a match record.
        seen: whether the hand of its seat is seen.
    """
    told = dict(event)
    if told["action"] in ("draw_stock", "give") and not seen:
        told.pop("card", None)
    return told


@dataclass
class Decisions:
    """What has happened so far in some matches."""

    viewer: int | None
    """A seat, None for all cards, NOBODY for what everybody sees."""
    events: list[tuple[Any, ...]] = field(default_factory=list)
    odds: list[tuple[Any, ...]] = field(default_factory=list)
    rounds: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, moment: Moment, match: int, names: Sequence[str | None]) -> None:
        """Take in what happened.

        Args:
            moment: after it.
            match: its number.
            names: of the policies, by seat; None for a person.
        """
        seen = sees(self.viewer, moment.seat)
        first = len(moment.row["events"]) - len(moment.events)
        for number, event in enumerate(moment.events, first):
            seat, told = event["seat"], seen_event(event, seen)
            name = names[seat] if seat is not None else None
            at = match, moment.round, number, seat
            chances = moment.chances if number == first and seen else {}
            action = told["action"]
            if action in _WITH_CARD and "card" in told:
                action += f" {told['card']}"
            own = chances.get(name or "")
            chance = None if own is None else own.get(action, 0.0)
            card = told.get("card") or " ".join(told.get("cards", ())) or None
            self.events.append((*at, name, told["action"], card, chance))
            for asked, found in chances.items():
                self.odds += [(*at, asked, *each, each[0] == action) for each in found.items()]
        if moment.settled:
            row = moment.row
            for seat in row["in_play"]:
                lost, left = row["losses"][seat], row["lives"][seat]
                end = row["end"]
                self.rounds.append((match, moment.round, seat, names[seat], end, lost, left))

    def tables(self) -> list[DataTable]:
        """The decisions, the probabilities behind them, and how rounds ended."""
        policy = Column("policy", "policy", "name; none for a person", "text")
        action = Column("action", "action", "name, as in match records", "text")
        return [
            DataTable(
                "decisions",
                "Decisions",
                (
                    *_DECISION,
                    policy,
                    action,
                    Column("card", "card", "card, or the new cards of the table", "text"),
                    Column("probability", "probability", "its own policy's, 0 to 1", "percent"),
                ),
                tuple(self.events),
            ),
            DataTable(
                "probabilities",
                "Probabilities of the actions",
                (
                    *_DECISION,
                    Column("asked", "asked", "name of the policy that says it", "text"),
                    Column("action", "action", "name, with its card", "text"),
                    Column("probability", "probability", "0 to 1", "percent"),
                    Column("taken", "taken", "whether that was done", "text"),
                ),
                tuple(self.odds),
                data=True,
            ),
            DataTable(
                "rounds",
                "Ends of the rounds",
                (
                    *_MATCH,
                    Column("seat", "seat", "number from 0", "count"),
                    policy,
                    Column("end", "end", "as in match records", "text"),
                    Column("lost", "lost", "lives", "count"),
                    Column("lives", "lives", "lives left", "count"),
                ),
                tuple(self.rounds),
                data=True,
            ),
        ]
