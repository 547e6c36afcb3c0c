"""Policies that differ in one thing alone, for claims about what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from agents.evaluation.options import ConfigError
from agents.policies import TablePolicy, make
from thirtyone_env import Rules
from thirtyone_env.arena import Tables
from thirtyone_env.bots import DRAWS
from thirtyone_env.bots.entries import parse_options

_FORM = re.compile(r"knock:(?P<draws>\w+),points=(?P<points>[\d.]+)(,last_life=(?P<last>[\d.]+))?")
_BY_VALUE = ("threshold:", "threshold_by_turn:", "never_knock", "danish", "dutch")
"""Bots that draw and discard as `never_knock` does."""


@dataclass(frozen=True)
class KnockPoints:
    """Knocks with some points or more, and with others on the last life."""

    name: str
    draws: str
    """The rule of the kernel that draws and discards."""
    points: float
    last_life: float

    @property
    def controller(self) -> str:
        """The kernel draws and discards; whether to knock is asked."""
        return f"knock:{self.draws}"

    def check(self, rules: Rules, num_players: int) -> None:
        """It plays at any table."""

    def act_batch(self, tables: Tables, rows: np.ndarray) -> np.ndarray:
        """1 where the hand is worth the threshold, else 0."""
        states = tables.states
        seats = states["seat"][rows].astype(np.int64)
        lives = states["lives"][rows, seats]
        ride = states["rules"]["free_ride"][rows] & ~(states["rode"][rows] >> seats) & 1
        limits = np.where(lives + ride <= 1, self.last_life, self.points)
        return (tables.waiting_value[rows] >= 2 * limits).astype(np.int64)


def seat_policy(name: str) -> TablePolicy:
    """A policy by name or path, or `KnockPoints` as "knock:RULE,points=T[,last_life=T]".

    Raises:
        ConfigError: for a name of neither kind.
    """
    if name.startswith("knock:"):
        match = _FORM.fullmatch(name)
        if match is None or match["draws"] not in DRAWS:
            raise ConfigError(
                f"policy {name!r}: write knock:RULE,points=T[,last_life=T] with RULE one of "
                f"{', '.join(DRAWS)}"
            )
        points = float(match["points"])
        return KnockPoints(name, match["draws"], points, float(match["last"] or points))
    try:
        return make(name)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def without_knocks(bot: str) -> str:
    """The bot that draws and discards as another one does, and never knocks.

    Raises:
        ConfigError: for a bot whose draws no such bot has.
    """
    seat_policy(bot)
    if bot.startswith(_BY_VALUE):
        return "never_knock"
    if bot.startswith("lookahead:"):
        parse_options(bot)
        kept = [part for part in bot.split(",") if not part.startswith("knock=")]
        return ",".join([*kept, "knock=60"])
    raise ConfigError(
        f"bot {bot!r}: its draws are not known without its knocks; allowed: lookahead:K with "
        f"options, {', '.join(_BY_VALUE)}"
    )
