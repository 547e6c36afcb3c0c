"""How well a chart can be answered, and how it does against other charts, on banks of rounds.

The best response within the chart's own information knows the cells and nothing else: one player
answers, all others play the chart. It is found by backward induction over the own turns, latest
first: in every cell, knock where that gains more over the rounds of the bank, weighed by others'
reach and by the own reach; from the chart, from never knocking, and from the chart without its last
turns. Where many cells hardly matter, choosing in each by what a bank happened to say loses more
than it gains: so each of the three is also tried with the chart's own choice wherever the gain is
within its standard error. What the six are worth is then measured on rounds that they were not
fitted to, where chances are worked out and not drawn: the difference between answering and playing
the chart too, on the same rounds, averaged over the places. The best of the six on those rounds
counts, which if anything says too much.

Shapes: as in `bank`; `C` cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from agents.evaluation.statistics import Estimate
from agents.training.charts.bank import NO_CELL, Bank
from thirtyone_env._jit import entry, kernel

FLOOR = 0.01
GONE = 1e-9
PARTS = 16


@kernel
def run_on(
    field: Any, lone: Any, seat: int, places: int, cells: Any, start: int, after: int, reach: Any
) -> int:
    """Fill in the own reach and the others' at each turn; where the others' reach is gone."""
    own, others, place = 1.0, 1.0, 0
    for turn in range(start, after):
        if others < GONE:
            return turn
        here = turn - start
        reach[0, here], reach[1, here] = own, others
        if cells[turn] != NO_CELL:
            if place == seat:
                own *= 1.0 - lone[cells[turn]]
            else:
                others *= 1.0 - field[cells[turn]]
        place = place + 1 if place + 1 < places else 0
    return after


@entry
def gather_response(
    field: Any,
    lone: Any,
    weigher: Any,
    starts: Any,
    cells: Any,
    codes: Any,
    ends: Any,
    pay: Any,
    reach: Any,
    gains: Any,
) -> None:
    """Add up what knocking gains each place over `lone`, weighed by the reach of `weigher`."""
    places = pay.shape[1]
    for row in range(len(ends)):
        start = starts[row]
        for seat in range(places):
            after = run_on(field, weigher, seat, places, cells, start, starts[row + 1], reach)
            worth = pay[ends[row], seat]
            for turn in range(after - 1, start - 1, -1):
                cell, here = cells[turn], turn - start
                if cell == NO_CELL:
                    continue
                paid = pay[codes[turn], seat]
                if here % places == seat:
                    gains[cell] += reach[1, here] * (reach[0, here] + FLOOR) * (paid - worth)
                    worth += lone[cell] * (paid - worth)
                else:
                    worth += field[cell] * (paid - worth)


@entry
def score_rounds(
    field: Any, lone: Any, starts: Any, cells: Any, codes: Any, ends: Any, pay: Any, out: Any
) -> None:
    """What each round is worth to one player with `lone` among `field`, averaged over places."""
    places = pay.shape[1]
    for row in range(len(ends)):
        total = 0.0
        for seat in range(places):
            run, worth, place = 1.0, 0.0, 0
            for turn in range(starts[row], starts[row + 1]):
                if run < GONE:
                    break
                cell = cells[turn]
                if cell != NO_CELL:
                    knock = lone[cell] if place == seat else field[cell]
                    worth += run * knock * pay[codes[turn], seat]
                    run *= 1.0 - knock
                place = place + 1 if place + 1 < places else 0
            total += worth + run * pay[ends[row], seat]
        out[row] = total / places


def _split(bank: Bank) -> list[Bank]:
    bounds = [bank.rounds * part // PARTS for part in range(PARTS + 1)]
    return [bank.part(a, b) for a, b in pairwise(bounds)]


def _rounds(bank: Bank) -> tuple[np.ndarray, ...]:
    return bank.starts, bank.cells, bank.codes, bank.ends


def knock_gains(
    field: np.ndarray,
    lone: np.ndarray,
    weigher: np.ndarray,
    bank: Bank,
    pay: np.ndarray,
    pool: ThreadPoolExecutor,
) -> tuple[np.ndarray, np.ndarray]:
    """float64[C] each: what knocking gains over going on with `lone` among `field`; its error.

    The sum over the bank's rounds, and the standard error of that sum, from parts of the bank.
    """

    def work(some: Bank) -> np.ndarray:
        gains = np.zeros(len(field))
        longest = int(np.diff(some.starts).max(initial=1))
        gather_response(field, lone, weigher, *_rounds(some), pay, np.zeros((2, longest)), gains)
        return gains

    parts = np.array(list(pool.map(work, _split(bank))))
    errors: np.ndarray = parts.std(axis=0, ddof=1) * np.sqrt(len(parts))
    return parts.sum(axis=0), errors


def best_responses(
    chart: np.ndarray,
    turn_of: np.ndarray,
    bank: Bank,
    pay: np.ndarray,
    *,
    threads: int,
    sweeps: int = 3,
) -> list[np.ndarray]:
    """Answers to a chart that a bank teaches; which is the best, other rounds must say.

    A step of the induction changes one cell while the others stay, so that it can end in an answer
    that only several changes at once would mend: to wait now is worth most to who waits later too.
    It begins once with the chart and once with never knocking. The last bin holds several turns,
    whose cells do not change one at a time, so that a step there can also lose: a third answer
    leaves that bin to the chart.

    Args:
        chart: float64[C], what all others play.
        turn_of: int64[C], the own turn's bin of each cell.
        bank: rounds to learn on.
        pay: float64[K, S].
        threads: the answers do not depend on them.
        sweeps: passes over all turns. The first is weighed by the reach of what it begins with,
            later ones by that of the answer so far; the last bin holds several turns and is passed
            twice.

    Returns:
        float64[C] six times: each of the three of 0 and 1 (in cells that the bank has not, the
        number it began with), then with the chart's numbers where they are as good.
    """
    last, never = int(turn_of.max()), np.zeros(len(chart))
    with ThreadPoolExecutor(threads) as pool:
        answers = []
        for start, turns in (
            (chart, (last, *range(last, -1, -1))),
            (never, (last, *range(last, -1, -1))),
            (chart, tuple(range(last - 1, -1, -1))),
        ):
            answers += _induced(chart, start, turn_of, turns, bank, pay, sweeps, pool)
    return answers


def _induced(
    chart: np.ndarray,
    start: np.ndarray,
    turn_of: np.ndarray,
    turns: Sequence[int],
    bank: Bank,
    pay: np.ndarray,
    sweeps: int,
    pool: ThreadPoolExecutor,
) -> list[np.ndarray]:
    """What backward induction makes of an answer, and that with the chart's own doubtful cells."""
    answer, weigher = start.copy(), start
    for _ in range(sweeps):
        for turn in turns:
            gains, _ = knock_gains(chart, answer, weigher, bank, pay, pool)
            here = (turn_of == turn) & (gains != 0)
            answer[here] = gains[here] > 0
        weigher = answer.copy()
    careful = answer.copy()
    for turn in dict.fromkeys(turns):
        gains, errors = knock_gains(chart, careful, weigher, bank, pay, pool)
        doubtful = (turn_of == turn) & (np.abs(gains) <= errors)
        careful[doubtful] = chart[doubtful]
    return [answer, careful]


class Score:
    """A mean that grows batch by batch, with its interval."""

    def __init__(self) -> None:
        self.count, self.total, self.squares = 0, 0.0, 0.0

    def add(self, numbers: np.ndarray) -> None:
        """Count some independent observations float64[N]."""
        self.count += len(numbers)
        self.total += float(numbers.sum())
        self.squares += float((numbers**2).sum())

    @property
    def estimate(self) -> Estimate:
        """The mean and its 95 % interval (normal; there are thousands of observations)."""
        mean = self.total / self.count
        variance = max(self.squares / self.count - mean**2, 0.0)
        half = 1.96 * float(np.sqrt(variance / self.count))
        return Estimate(mean, mean - half, mean + half)


def worth(
    pairs: Sequence[tuple[np.ndarray, np.ndarray]],
    banks: Iterable[Bank],
    pay: np.ndarray,
    *,
    threads: int,
    minus: int | None = None,
    advance: Callable[[int], None] = lambda rounds: None,
) -> list[Estimate]:
    """What a round is worth to one player with a chart of its own among players with another.

    Args:
        pairs: (the lone player's chart, the others' chart), float64[C] each.
        banks: rounds, a chunk at a time.
        pay: float64[K, S].
        threads: the numbers do not depend on them.
        minus: index of the pair that is taken off the others, round by round.
        advance: called with the rounds of every chunk.
    """
    scores = [Score() for _ in pairs]
    with ThreadPoolExecutor(threads) as pool:
        for bank in banks:

            def work(pair: tuple[np.ndarray, np.ndarray], bank: Bank = bank) -> np.ndarray:
                out = np.empty(bank.rounds)
                score_rounds(pair[1], pair[0], *_rounds(bank), pay, out)
                return out

            results = list(pool.map(work, pairs))
            base = results[minus] if minus is not None else 0.0
            for score, result in zip(scores, results, strict=True):
                score.add(result - base)
            advance(bank.rounds)
    return [score.estimate for score in scores]
