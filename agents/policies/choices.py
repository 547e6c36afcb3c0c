"""One policy asked about one table: what it does, and how likely each of its actions is.

A policy may say how likely its actions are with the optional method of `ChancePolicy`. Networks
that decide about knocking give the probability that they see in it. A bot of the kernel that draws
lots is asked what it does with every number that its stream could give. Of all others the action
that they choose counts as certain.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, cast, runtime_checkable

import numpy as np

from agents.policies import DecidingPolicy, KnockPolicy, TablePolicy
from agents.policies.lots import WORDS, stream_before
from thirtyone_env import Rules
from thirtyone_env.actions import KNOCK
from thirtyone_env.arena import Tables, resolve_actions
from thirtyone_env.game import legal_actions
from thirtyone_env.record.recorder import bot_row
from thirtyone_env.rules import MAX_SEATS
from thirtyone_env.state import ASK_ALL, ASK_KNOCK, Phase

_ROW = np.zeros(1, np.int64)
_GRID = 256
"""Numbers that a bot is asked about first; none of its actions is rarer than one in so many, but
where there are two."""


@runtime_checkable
class ChancePolicy(Protocol):
    """A policy that knows how likely it is to take each action."""

    def action_probabilities(self, tables: Tables, row: int) -> Mapping[int, float]:
        """Probabilities by action (card format) of the seat to act in a row.

        An action that is left out is never taken.
        """


class Decider:
    """Asks one policy for the seat to act, on a copy of the table.

    Args:
        policy: whom to ask.
        rules: of the table.
        num_players: its seats.

    Raises:
        ValueError: if the policy was not made for the table.
    """

    def __init__(self, policy: TablePolicy, rules: Rules, num_players: int) -> None:
        policy.check(rules, num_players)
        self.policy = policy
        self._tables = Tables(rules, num_players, seed=0, matches=[0], deal=False)
        self._tables.set_controllers(0, np.arange(num_players), policy.controller)
        self._controllers = self._tables.states["controllers"].copy()

    def action(self, states: np.ndarray) -> int:
        """The action (card format) that the policy takes; a bot's random stream moves on.

        Args:
            states: STATE[1], in which a seat is to act.

        Raises:
            ValueError: for an answer that is no legal action; it names the policy.
        """
        self._copy(states)
        if self._outside():
            return self._answer()
        action = self._bots_choice()
        states["policy_streams"] = self._tables.states["policy_streams"]
        return action

    def probabilities(self, states: np.ndarray) -> dict[int, float]:
        """Probabilities by action (card format), those that are never taken left out.

        The table stays as it is. A policy outside the kernel that knows no probabilities is asked
        for its choice.
        """
        self._copy(states)
        if isinstance(self.policy, ChancePolicy):
            given = self.policy.action_probabilities(self._tables, 0)
            return {int(action): float(chance) for action, chance in given.items() if chance > 0}
        if not self._outside():
            return self._bots_chances()
        if isinstance(self.policy, KnockPolicy):
            knock = float(self.policy.knock_probability(self._tables.observe("compact"))[0])
            found = {KNOCK: knock, self._resolved(np.zeros(1, np.int64)): 1 - knock}
            return {action: chance for action, chance in found.items() if chance > 0}
        return {self._answer(): 1.0}

    def _copy(self, states: np.ndarray) -> None:
        self._tables.states[:] = states
        self._tables.states["controllers"] = self._controllers

    def _outside(self) -> bool:
        """Whether the decision is not the kernel's."""
        states = self._tables.states
        ask = states["controllers"]["ask"][0, int(states["seat"][0])]
        at_start = states["phase"][0] == Phase.TURN and KNOCK in legal_actions(states)
        return bool(ask == ASK_ALL or (ask == ASK_KNOCK and at_start))

    def _bots_choice(self) -> int:
        return int(bot_row(self._tables.states, 0, self._tables.book.array))

    def _bots_chances(self) -> dict[int, float]:
        """Probabilities of a bot of the kernel; it draws one lot a decision, if any.

        What it does changes at few numbers, which are looked for between those of a grid.
        """
        before = self._tables.states["policy_streams"].copy()
        choice = self._bots_choice()
        if np.array_equal(before, self._tables.states["policy_streams"]):
            return {choice: 1.0}
        ends = [*range(0, WORDS, WORDS // _GRID), WORDS - 1]
        choices = [self._choice_at(word) for word in ends]
        found: dict[int, float] = {}
        start = 0
        for k in range(1, len(ends)):
            if choices[k] != choices[k - 1]:
                end = self._change(ends[k - 1], ends[k], choices[k - 1])
                found[choices[k - 1]] = found.get(choices[k - 1], 0.0) + (end - start) / WORDS
                start = end
        found[choices[-1]] = found.get(choices[-1], 0.0) + (WORDS - start) / WORDS
        return {action: round(chance, 9) for action, chance in found.items()}

    def _choice_at(self, word: int) -> int:
        """What the bot does where its stream gives a number."""
        seat = int(self._tables.states["seat"][0])
        self._tables.states["policy_streams"][0, seat] = stream_before(word)
        return self._bots_choice()

    def _change(self, low: int, high: int, choice: int) -> int:
        """The first number above `low` at which the bot does not make its choice of there."""
        while high - low > 1:
            middle = (low + high) // 2
            if self._choice_at(middle) == choice:
                low = middle
            else:
                high = middle
        return high

    def _answer(self) -> int:
        given = np.asarray(cast(DecidingPolicy, self.policy).act_batch(self._tables, _ROW.copy()))
        if given.shape != (1,) or given.dtype.kind not in "iu":
            raise ValueError(f"{self.policy.name} answered {given!r}, not one whole number")
        return self._resolved(given.astype(np.int64))

    def _resolved(self, given: np.ndarray) -> int:
        out, tables = np.zeros(1, np.int64), self._tables
        arguments = (tables.states, _ROW, tables.book.array, given, out, False, False, MAX_SEATS)
        if resolve_actions(*arguments) >= 0:
            raise ValueError(f"{self.policy.name} chose action {given[0]}, which was not legal")
        return int(out[0])
