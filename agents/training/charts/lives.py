"""What lives are worth heads-up: the chances to win a match that a chart's own rounds give.

A match of two is a walk over (losses to go of the first player of the round, of the other). In each
of these situations the chart's play makes every outcome of a round so likely; after it the other
player is first. So the chances to win solve one small system of linear equations, and a round is
worth the chances that it leaves.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from agents.training.charts.bank import NO_CELL, Bank
from agents.training.charts.learning import PARTS, Setting
from thirtyone_env._jit import entry
from thirtyone_env.rules import Rules

OUT = 0
"""No losses to go: out."""
SMALLEST_UNIT = 0.01
"""Chances to win that a life is worth at least, however little it seems to be at the start."""


@entry
def add_outcomes(
    chart: Any, starts: Any, cells: Any, codes: Any, ends: Any, offsets: Any, out: Any
) -> None:
    """Add up how likely each code is, round by round, when both play the chart."""
    places = len(offsets)
    for row in range(len(ends)):
        run, place = 1.0, 0
        for turn in range(starts[row], starts[row + 1]):
            if run < 1e-9:
                break
            if cells[turn] != NO_CELL:
                knock = chart[cells[turn] + offsets[place]]
                out[codes[turn]] += run * knock
                run *= 1.0 - knock
            place = place + 1 if place + 1 < places else 0
        out[ends[row]] += run


def losses_at_start(rules: Rules) -> int:
    """Losses to go at the start of a match."""
    return rules.lives + (1 if rules.free_ride else 0)


def after_loss(rules: Rules, to_go: int, loss: int) -> int:
    """Losses to go after a round; a loss never costs the last life and the free ride at once."""
    if loss == 0:
        return to_go
    if rules.free_ride and to_go > 1:
        return max(to_go - loss, 1)
    return max(to_go - loss, OUT)


def win_chances(rules: Rules, outcomes: np.ndarray) -> np.ndarray:
    """Chances of the first player of a round to win the match.

    Args:
        rules: of the match, heads-up.
        outcomes: float64[L, L, 9], chance of each code by both players' losses to go, less one.

    Returns:
        float64[L + 1, L + 1] by losses to go; 0 and 1 where a player is out, and one half where a
        round that would eliminate both ends the match.
    """
    most = len(outcomes)
    number = most * most
    system, constant = np.eye(number), np.zeros(number)
    for first in range(1, most + 1):
        for second in range(1, most + 1):
            row = (first - 1) * most + second - 1
            for code, chance in enumerate(outcomes[first - 1, second - 1]):
                mine = after_loss(rules, first, code % 3)
                theirs = after_loss(rules, second, code // 3)
                if mine == OUT and theirs == OUT and rules.decider == "deal":
                    mine, theirs = 1, 1
                if mine == OUT or theirs == OUT:
                    constant[row] += chance * _won(mine, theirs)
                else:  # the other player is first then
                    system[row, (theirs - 1) * most + mine - 1] += chance
                    constant[row] += chance
    chances = np.full((most + 1, most + 1), 0.5)
    chances[OUT, 1:], chances[1:, OUT] = 0.0, 1.0
    chances[1:, 1:] = np.linalg.solve(system, constant).reshape(most, most)
    return chances


def _won(mine: int, theirs: int) -> float:
    return 0.5 if mine == theirs else float(mine > theirs)


def pay_of(rules: Rules, chances: np.ndarray, first: int, second: int) -> np.ndarray:
    """float64[9, 2]: the chances to win the match that each code leaves both places."""
    pay = np.zeros((9, 2))
    for code in range(9):
        mine, theirs = after_loss(rules, first, code % 3), after_loss(rules, second, code // 3)
        if mine == OUT and theirs == OUT and rules.decider == "deal":
            mine, theirs = 1, 1
        over = mine == OUT or theirs == OUT
        left = _won(mine, theirs) if over else 1.0 - chances[theirs, mine]
        pay[code] = left, 1.0 - left
    return pay


def in_lives(pay: np.ndarray) -> np.ndarray:
    """Chances to win in units of a life: half of what it is worth who of the two loses one.

    The cells of each situation of lives are its own, so that nothing but the pace of learning and
    the pull of the magnet depends on the unit; recipes give both in lives.
    """
    other_loses, own_loss = pay[3, 0], pay[1, 0]
    return pay / max((other_loses - own_loss) / 2, SMALLEST_UNIT)


class LivesSettings:
    """The settings of a chart that knows both players' lives, by its own chances to win.

    Args:
        rules: of the match.
        bank: rounds of two players, whose cells lie in the bin of 1 own and 1 other loss to go.
        cells: cells of one bin of lives.
        threads: the numbers do not depend on them.
        meets_blind: whether every second time the other seat plays the cells of one bin that lie
            behind those of all lives: a chart that knows nothing of lives.
    """

    def __init__(
        self, rules: Rules, bank: Bank, cells: int, threads: int, meets_blind: bool = False
    ) -> None:
        self.rules, self.bank, self.cells, self.threads = rules, bank, cells, threads
        self.meets_blind, self.passes = meets_blind, 0
        self.most = losses_at_start(rules)
        self.chances = np.full((self.most + 1, self.most + 1), 0.5)

    def offsets(self, first: int, second: int) -> np.ndarray:
        """int64[2]: where the cells of both places lie, by losses to go."""
        bins = np.array(
            [(first - 1) * self.most + second - 1, (second - 1) * self.most + first - 1]
        )
        return bins * self.cells

    def outcomes(self, chart: np.ndarray) -> np.ndarray:
        """float64[L, L, 9]: chance of each code when both play the chart."""
        result = np.zeros((self.most, self.most, 9))
        bounds = [self.bank.rounds * part // PARTS for part in range(PARTS + 1)]
        banks = [self.bank.part(a, b) for a, b in pairwise(bounds)]

        def work(place: tuple[int, int]) -> None:
            offsets, out = self.offsets(place[0] + 1, place[1] + 1), np.zeros(9)
            for some in banks:
                rounds = some.starts, some.cells, some.codes, some.ends
                add_outcomes(chart, *rounds, offsets, out)
            result[place] = out / self.bank.rounds

        with ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(work, np.ndindex(self.most, self.most)))
        return result

    def __call__(self, chart: np.ndarray) -> list[Setting]:
        """Every situation of lives, worth what the chart so far makes of it."""
        self.chances = win_chances(self.rules, self.outcomes(chart))
        self.passes += 1
        return [
            Setting(offsets, in_lives(pay_of(self.rules, self.chances, a + 1, b + 1)))
            for a, b in np.ndindex(self.most, self.most)
            for offsets in self._places(a + 1, b + 1)
        ]

    def _places(self, first: int, second: int) -> list[np.ndarray]:
        """Where the cells of both places lie in this pass, once or with either one blind."""
        both = self.offsets(first, second)
        if not self.meets_blind or self.passes % 2:
            return [both]
        blind = self.most**2 * self.cells
        return [np.array([both[0], blind]), np.array([blind, both[1]])]
