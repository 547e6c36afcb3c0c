"""Policies of the environment for the match runner: bots of the kernel, and anybody's objects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thirtyone_env import Policy, Rules, make_bot
from thirtyone_env.arena import Tables
from thirtyone_env.bots.entries import parse_chart
from thirtyone_env.charts import Chart


@dataclass(frozen=True)
class ScriptedPolicy:
    """A bot that plays inside the kernel.

    Raises:
        ValueError: if there is no bot of this name.
    """

    name: str
    """The bot's name with its numbers, such as "threshold:25"."""

    def __post_init__(self) -> None:
        make_bot(self.name)

    @property
    def controller(self) -> str:
        """What sits on the seat: the bot itself."""
        return self.name

    def check(self, rules: Rules, num_players: int) -> None:
        """Refuse a table that the bot was not made for; only charts do.

        Raises:
            ValueError: naming the difference.
        """
        if self.name.startswith("chart:"):
            Chart.load(parse_chart(self.name)[0]).check(rules, num_players)


@dataclass(frozen=True)
class ForeignPolicy:
    """An object with the environment's `Policy` interface, asked for every decision of its seat."""

    policy: Policy

    @property
    def name(self) -> str:
        """The name that the object gives itself."""
        return self.policy.name

    @property
    def controller(self) -> str:
        """Every decision comes from outside the kernel."""
        return "external"

    def check(self, rules: Rules, num_players: int) -> None:
        """Nothing is known about what it was made for."""

    def act_batch(self, tables: Tables, rows: np.ndarray) -> np.ndarray:
        """What the object answers."""
        return self.policy.act_batch(tables, rows)
