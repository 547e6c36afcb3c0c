"""What the tables of the exchange family begin with, and how errors are shared among them."""

from __future__ import annotations

import numpy as np

from thirtyone_env import Rules
from thirtyone_env.bots.worth import values_of
from thirtyone_env.exchange_parts import OWN, VALUE_STEP, VALUES, ExchangePart
from thirtyone_env.solvers import solver_classes, table_sizes

TABLES_IN_SUM: dict[ExchangePart, int] = {
    ExchangePart.RACE: 5,
    ExchangePart.HAND: 5,
    ExchangePart.OUTLOOK: 5,
    ExchangePart.NEXT: 5,
    ExchangePart.RIVALRY: 5,
    ExchangePart.KNOCK: 3,
    ExchangePart.KNOCK_TABLE: 3,
    ExchangePart.KNOCK_TURN: 3,
    ExchangePart.RENEWAL: 2,
    ExchangePart.RENEWAL_HAND: 2,
    ExchangePart.DEALER: 1,
    ExchangePart.LAST: 1,
}
"""How many tables add up to the worth of a choice."""


def shares(rules: Rules, turns: int, seats: int) -> np.ndarray:
    """float64[size]: the share of an error that each place takes on; together all of it."""
    sizes = table_sizes(rules, turns, seats)
    each = [1 / TABLES_IN_SUM[part] if part in TABLES_IN_SUM else 0 for part in ExchangePart]
    return np.repeat(each, sizes)


def first_guess(rules: Rules, turns: int, seats: int) -> np.ndarray:
    """float64[size]: worth in lives by value and reach, to begin with."""
    points = np.arange(VALUES) / 2
    of_step = np.array([points[step == VALUE_STEP].mean() for step in range(OWN)])
    hands = values_of(solver_classes(rules).hands, rules) / 2
    sizes = table_sizes(rules, turns, seats)
    result = np.zeros(sum(sizes))
    parts = np.split(result, np.cumsum(sizes)[:-1])
    both = (of_step[:, None] + of_step) / 2
    parts[ExchangePart.RACE].reshape(-1, OWN, OWN)[:] = np.clip(0.06 * (both - 24), -1, 1)
    parts[ExchangePart.KNOCK_TURN].reshape(-1, VALUES)[:] = np.clip(0.12 * (points - 24), -1, 1)
    parts[ExchangePart.RENEWAL].reshape(-1, OWN)[:] = np.clip(0.08 * (of_step - 23), -1, 1)
    parts[ExchangePart.LAST].reshape(-1, VALUES, 2)[:] = np.clip(0.2 * (points - 23), -1, 1)[
        :, None
    ]
    parts[ExchangePart.DEALER].reshape(2, -1)[1] = 0.05 * (hands - 20)
    return result
