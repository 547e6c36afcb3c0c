"""One match, step by step: between policies and people, or out of a record.

Whatever is shown or written of a match comes from here: `LiveMatch` deals, asks whoever is to act
and takes the decision; `replayed` goes through a recorded match. Both yield a `Moment` after every
event, and both keep the match record.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agents.policies import TablePolicy
from agents.policies.choices import Decider
from thirtyone_env.actions import action_name, parse_action
from thirtyone_env.cards import parse_card
from thirtyone_env.record import Json, Recorder, check
from thirtyone_env.rules import Rules
from thirtyone_env.state import Phase


@dataclass(frozen=True)
class Moment:
    """The table after something has happened."""

    states: np.ndarray
    """STATE[1], the table itself: it changes when the match goes on."""
    round: int
    """Index of the round, from 0."""
    events: tuple[Json, ...]
    """What happened, as a match record has it; empty where cards were dealt."""
    dealt: bool = False
    """Whether a round has just begun."""
    row: Json = field(default_factory=dict)
    """The round, as the record has it so far."""
    chances: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Probability of every action, by its name, of each policy that was asked about the
    decision."""

    @property
    def seat(self) -> int | None:
        """Who decided; None where nobody did."""
        return self.events[0]["seat"] if self.events else None

    @property
    def settled(self) -> bool:
        """Whether the round is over."""
        return self.row.get("lives") is not None


class LiveMatch:
    """One match between policies and people.

    Args:
        rules: of the match.
        policies: one a seat; None for a person, whose actions are given to `take`.
        seed: start of the cards and of the bots' randomness.
        deal: index of the match under that seed.

    Attributes:
        recorder: follows the match.

    Raises:
        ValueError: for a number of seats that the rules do not allow, or a policy not made for
            the table.
    """

    def __init__(
        self, rules: Rules, policies: Sequence[TablePolicy | None], *, seed: int, deal: int
    ) -> None:
        size = rules.check_seats(len(policies))
        self.rules, self.names = rules, tuple(p.name if p else None for p in policies)
        made = {id(p): Decider(p, rules, size) for p in policies if p is not None}
        self.deciders = [None if p is None else made[id(p)] for p in policies]
        self.recorder = Recorder(rules, size, seed=seed, deal=deal, policies=self.names)

    @property
    def states(self) -> np.ndarray:
        """The table, STATE[1]."""
        return self.recorder.states

    @property
    def over(self) -> bool:
        """Whether the match is over."""
        return self.recorder.over

    @property
    def seat(self) -> int:
        """The seat to act."""
        return int(self.states["seat"][0])

    @property
    def between_rounds(self) -> bool:
        """Whether a round is to be dealt."""
        return bool(self.states["phase"][0] == Phase.ROUND_OVER)

    def deal(self) -> Moment:
        """Deal the next round."""
        self.recorder.deal_round()
        return self._moment((), dealt=True)

    def go_on(self, *, chances: bool = True) -> Moment | None:
        """Deal, or let the policy that is to act decide; None where a person has to.

        Args:
            chances: whether the policy is asked for its probabilities as well.

        Raises:
            ValueError: if a policy chooses an illegal action.
        """
        if self.between_rounds:
            return self.deal()
        decider = self.deciders[self.seat]
        if decider is None:
            return None
        found = {decider.policy.name: named(self.states, decider)} if chances else {}
        return self.take(decider.action(self.states), found)

    def take(self, action: int, chances: Mapping[str, Mapping[str, float]] | None = None) -> Moment:
        """Take a legal decision (card format) of the seat to act."""
        before = len(self.recorder.rounds[-1]["events"])
        self.recorder.take(action)
        events = tuple(self.recorder.rounds[-1]["events"][before:])
        return self._moment(events, chances=chances or {})

    def _moment(self, events: tuple[Json, ...], **others: Any) -> Moment:
        rounds = self.recorder.rounds
        return Moment(self.states, len(rounds) - 1, events, row=rounds[-1], **others)

    def play(self, *, chances: bool = True) -> Iterator[Moment]:
        """Everything up to the end, or to a person's decision."""
        while not self.over:
            moment = self.go_on(chances=chances)
            if moment is None:
                return
            yield moment


def named(states: np.ndarray, decider: Decider) -> dict[str, float]:
    """A policy's probabilities by the names of the actions, the likeliest first."""
    phase = int(states["phase"][0])
    found = sorted(decider.probabilities(states).items(), key=lambda item: (-item[1], item[0]))
    return {action_name(action, phase): chance for action, chance in found}


def replayed(record: Json, ask: Sequence[TablePolicy] = ()) -> Generator[Moment, None, None]:
    """A recorded match, event by event.

    Args:
        record: the record; it is checked first.
        ask: policies that are asked what they would do at every decision.

    Raises:
        Fault: for a record that breaks the rules that it names.
        ValueError: for a policy that was not made for the table.
    """
    check(record)
    rules, seats = Rules.from_dict(record["rules"]), record["num_players"]
    deciders = [Decider(policy, rules, seats) for policy in ask]
    recorder = Recorder(
        rules,
        seats,
        seed=record["seed"],
        deal=record["deal"],
        policies=record["policies"],
        dealer=record["rounds"][0]["dealer"],
    )
    for index, row in enumerate(record["rounds"]):
        recorder.stack(_dealing_order(row, rules.hand_size))
        recorder.deal_round()
        yield Moment(recorder.states, index, (), dealt=True, row=recorder.rounds[-1])
        done = recorder.rounds[-1]["events"]
        while len(done) < len(row["events"]):
            before = len(done)
            chances = {d.policy.name: named(recorder.states, d) for d in deciders}
            for event in row["events"][before + 1 : before + 2]:
                if event["action"] == "reshuffle":
                    recorder.stack([parse_card(card) for card in event["cards"]])
            event = row["events"][before]
            recorder.take(_action(event))
            events = tuple(done[before:])
            yield Moment(recorder.states, index, events, row=recorder.rounds[-1], chances=chances)


def _action(event: Json) -> int:
    """The decision of an event."""
    card = event["action"] in ("discard", "give", "take")
    return parse_action(f"{event['action']} {event['card']}" if card else event["action"])


def _dealing_order(row: Json, hand_size: int) -> list[int]:
    """The deck of a recorded round, first card first."""
    dealer, seats = row["dealer"], row["in_play"]
    order = [s for s in seats if s > dealer] + [s for s in seats if s <= dealer]
    cards = [row["hands"][seat][k] for k in range(hand_size) for seat in order]
    cards += ([row["upcard"]] if row["upcard"] else []) + row["stock"]
    return [parse_card(card) for card in cards]
