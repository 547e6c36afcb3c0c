"""Knock thresholds against each other: payoffs, best replies, the unbeaten mixture.

All bots are `threshold:T`: they draw and discard alike and differ in when they knock. Heads-up
every threshold meets every other in both seatings of every deal. At larger tables every threshold
sits alone among copies of every other, in all rotations.

Shapes: `K` thresholds, `D` deals, `S` seats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from scipy import stats

from agents.evaluation.equilibrium import (
    TOLERANCE,
    Mixture,
    bootstrap_mixtures,
    circle,
    maximin,
    symmetric_equilibrium,
)
from agents.evaluation.jobs import LOCAL, Backend, chunks_of, run_jobs
from agents.evaluation.match import play_bots, seats_of
from agents.evaluation.options import at_least
from agents.evaluation.parts import Parts
from agents.evaluation.statistics import LEVEL, Estimate, ratio_interval
from agents.evaluation.store import PartStore, plan_text
from agents.policies import ScriptedPolicy
from thirtyone_env.rules import Rules
from thirtyone_env.thresholds import first_seats, threshold_payoffs, turn_gains

THRESHOLDS = tuple(range(17, 32))
"""In points, unless others are asked for."""
CHUNK_DEALS = 500
BLOCK_DEALS = 50
"""Most deals that the bootstrap draws together."""
BLOCKS = 40
"""Blocks that it draws from at least, or its intervals would hang on the accidents of a few."""
LEAST_DEALS = 100
"""Deals that intervals need."""
TRIALS = 400
"""Bootstrap matrices heads-up."""
LARGER_TRIALS = 200
"""At larger tables, where an equilibrium takes longer to find."""


@dataclass(frozen=True)
class Payoffs:
    """Payoff matrix of one size of table, the threshold of the row against that of the column.

    Heads-up a mean over both seatings; else of the one that sits alone among copies of the other.
    """

    players: int
    thresholds: tuple[float, ...]
    deals: int
    level: float
    matrix: np.ndarray
    """float64[K, K]: mean match payoff."""
    half: np.ndarray
    """float64[K, K]: half of the interval's width."""
    mixture: Mixture
    """The unbeaten mixture: nothing gets more against it than it gets itself."""
    shares: tuple[Estimate, ...]
    """Its shares with bootstrap intervals."""
    by_seat: np.ndarray
    """float64[S, K, K]: the matrix by place after the first dealer, 0 begins; heads-up in life
    swings of one round, else in match payoffs."""

    @property
    def matches(self) -> int:
        """Of each cell."""
        return self.deals * self.players

    def replies(self) -> list[int]:
        """The best reply to each threshold, by number; itself where no other gets more."""
        others = self.matrix - TOLERANCE * (1 - np.eye(len(self.matrix)))
        found: list[int] = np.argmax(others, axis=0).tolist()
        return found

    def reply_circle(self) -> list[int]:
        """The circle that going from best reply to best reply ends in."""
        replies, path = self.replies(), [int(np.argmax(self.mixture.shares))]
        while replies[path[-1]] not in path:
            path.append(replies[path[-1]])
        return path[path.index(replies[path[-1]]) :]

    def circle(self) -> list[int]:
        """A shortest circle of thresholds of which each beats the next, by more than chance."""
        return circle(self.matrix, self.matrix - self.half > 0)


@dataclass(frozen=True)
class ByLives:
    """The unbeaten play where thresholds may depend on lives and on who begins, heads-up.

    Lives are counted as losses until a seat is out: its lives, and one more while it has a free
    ride to come.
    """

    value: np.ndarray
    """float64[L, L]: match payoff of the seat that begins, by its own and the other's losses to go
    less one."""
    begins: np.ndarray
    """float64[L, L, K]: its mixture."""
    other: np.ndarray
    """float64[L, L, K]: the mixture of the other seat (first axis: the losses of who begins)."""


@dataclass(frozen=True)
class ByTurn:
    """What knocking gains over going on where all else follows the mixture, heads-up."""

    gain: np.ndarray
    """float64[2, T, V]: life swings, by role (0 begins), own turn and points; NaN: not reached."""
    half: np.ndarray
    """float64[2, T, V]"""
    reached: np.ndarray
    """float64[2, T, V]: share of rounds."""
    best: np.ndarray
    """int64[2, T]: number of the threshold that is best on this turn alone."""


@dataclass(frozen=True)
class Study:
    """Everything about thresholds under one set of rules."""

    rules: Rules
    seed: int
    payoffs: tuple[Payoffs, ...]
    """By size of table."""
    lives: ByLives | None
    """None without heads-up, and where seats can be bought back."""
    turns: ByTurn | None
    interrupted: bool


@dataclass(frozen=True)
class _Part:
    """Sums over a chunk of deals."""

    deals: int
    total: np.ndarray
    squares: np.ndarray
    blocks: np.ndarray
    seats: np.ndarray


def run(
    rules: Rules,
    *,
    players: Sequence[int] = (2,),
    thresholds: Sequence[float] = THRESHOLDS,
    deals: int = 50_000,
    larger_deals: int = 2_000,
    seed: int = 0,
    store: PartStore | None = None,
    workers: int | None = 1,
    backend: Backend = LOCAL,
    level: float = LEVEL,
    progress: Callable[[int], None] | None = None,
) -> Study:
    """Play all thresholds against each other.

    Args:
        rules: of every match.
        players: seat counts.
        thresholds: in points, ascending.
        deals: deals heads-up; each is played in both seatings by every pair.
        larger_deals: deals at larger tables, in all rotations.
        seed: start of the cards.
        store: where finished parts are kept and found again, from `open_store`.
        workers: threads, None for as many as this process may run at once; the results do not
            depend on them.
        backend: where the matches are played; nor on that.
        level: of the intervals.
        progress: called with the number of matches since its last call.

    Returns:
        The study; after an interrupt, of the deals that are finished, if any.

    Raises:
        ValueError: for seat counts that the rules do not allow, or thresholds that do not ascend.
    """
    for size in players:
        rules.check_seats(size)
    at_least(LEAST_DEALS, deals=deals, larger_deals=larger_deals)
    limits = tuple(thresholds)
    found, lives, turns, interrupted = [], None, None, False
    parts_of = Parts(store, None, workers, backend, progress)
    play = _Player(rules, seed, limits, parts_of)
    for size in players:
        number = deals if size == 2 else larger_deals
        chunks = chunks_of(number, CHUNK_DEALS)
        if size == 2:
            outcomes, parts, interrupted = play.heads_up(chunks, block_deals(number))
        else:
            parts, interrupted = play.larger(size, chunks, block_deals(number))
        if not parts:
            break
        payoffs = _payoffs(size, limits, parts, block_deals(number), level, seed)
        if size == 2:
            chances = outcomes / outcomes.sum(axis=(2, 3), keepdims=True)
            payoffs = _with_rounds(payoffs, chances)
            lives = None if rules.buy_ins else by_lives(rules, chances)
            count = sum(part.deals for part in parts)
            shares = payoffs.mixture.shares
            turns, cut = by_turn(rules, limits, shares, count, seed, workers, backend, level)
            interrupted |= cut
        found.append(payoffs)
        if interrupted:
            break
    return Study(rules, seed, tuple(found), lives, turns, interrupted)


def count_matches(players: Sequence[int], thresholds: int, deals: int, larger_deals: int) -> int:
    """Matches that `run` will report."""
    pairs = thresholds * (thresholds - 1)
    return sum(pairs * (deals if size == 2 else larger_deals * size) for size in players)


# --- playing -------------------------------------------------------------------------------------


def open_store(
    folder: Path,
    rules: Rules,
    *,
    players: Sequence[int],
    thresholds: Sequence[float],
    deals: int,
    larger_deals: int,
    seed: int,
) -> PartStore:
    """Where a study keeps its finished parts; arguments as for `run`.

    Raises:
        PlanError: if another study lies in the folder.
    """
    plan = plan_text(
        "thresholds",
        CHUNK_DEALS,
        rules=rules.to_dict(),
        players=list(players),
        thresholds=list(thresholds),
        deals=deals,
        larger_deals=larger_deals,
        seed=seed,
        blocks=[block_deals(deals), block_deals(larger_deals)],
    )
    return PartStore(folder, plan, "study")


@dataclass(frozen=True)
class _Player:
    """Plays the chunks of a study that are not finished yet."""

    rules: Rules
    seed: int
    limits: tuple[float, ...]
    parts: Parts

    def heads_up(self, chunks: Sequence[range], block: int) -> tuple[np.ndarray, list[_Part], bool]:
        """Every threshold against every other."""
        size, rules, limits, seed = len(self.limits), self.rules, self.limits, self.seed

        def work(chunk: range) -> dict[str, np.ndarray]:
            matches = np.array(chunk)
            payoffs, outcomes = threshold_payoffs(rules, limits, seed=seed, matches=matches)
            both = (payoffs - payoffs.transpose(0, 2, 1)) / 2
            part = _part(both, np.zeros((2, size, size)), block)
            return {"outcomes": outcomes, **_arrays(part)}

        names = [f"2-{chunk.start:07d}" for chunk in chunks]
        matches = [len(chunk) * size * (size - 1) for chunk in chunks]
        results, interrupted = self.parts.play(names, chunks, work, matches)
        finished = [result for result in results if result is not None]
        none = np.zeros((size, size, 3, 3), np.int64)
        outcomes = sum((result["outcomes"] for result in finished), none)
        return outcomes, [_part_of(result) for result in finished], interrupted

    def larger(self, players: int, chunks: Sequence[range], block: int) -> tuple[list[_Part], bool]:
        """Every threshold alone among copies of every other."""
        size, rules, seed = len(self.limits), self.rules, self.seed
        bots = [ScriptedPolicy(f"threshold:{limit:g}") for limit in self.limits]
        jobs = [(chunk, i) for chunk in chunks for i in range(size)]

        def work(job: tuple[range, int]) -> dict[str, np.ndarray]:
            chunk, i = job
            numbers = np.array(chunk)
            first = first_seats(seed, numbers, players)[:, None]
            place = (seats_of(players)[:, 0] - first) % players
            by_deal = np.zeros((len(chunk), size))
            by_seat = np.zeros((players, size))
            for j in range(size):
                if j == i:
                    continue
                line_up = [bots[i]] + [bots[j]] * (players - 1)
                mine = play_bots(line_up, rules, numbers, seed)[:, :, 0]
                by_deal[:, j] = mine.mean(axis=1)
                by_seat[:, j] = [mine[place == q].sum() for q in range(players)]
            return {"by_deal": by_deal, "by_seat": by_seat}

        names = [f"{players}-{chunk.start:07d}-{i:02d}" for chunk, i in jobs]
        matches = [len(chunk) * (size - 1) * players for chunk, _ in jobs]
        results, interrupted = self.parts.play(names, jobs, work, matches)
        parts = []
        for c in range(len(chunks)):
            rows = results[c * size : (c + 1) * size]
            whole = [row for row in rows if row is not None]
            if len(whole) == size:
                by_deal = np.stack([row["by_deal"] for row in whole], axis=1)
                by_seat = np.stack([row["by_seat"] for row in whole], axis=1)
                parts.append(_part(by_deal, by_seat, block))
        return parts, interrupted


def _arrays(part: _Part) -> dict[str, np.ndarray]:
    return {name: np.asarray(value) for name, value in vars(part).items()}


def _part_of(arrays: Mapping[str, np.ndarray]) -> _Part:
    others = {field.name: arrays[field.name] for field in fields(_Part) if field.name != "deals"}
    return _Part(int(arrays["deals"]), **others)


def block_deals(deals: int) -> int:
    """Deals that the bootstrap of so many draws together."""
    return max(1, min(BLOCK_DEALS, deals // BLOCKS))


def _part(by_deal: np.ndarray, seats: np.ndarray, block: int) -> _Part:
    starts = np.arange(0, len(by_deal), block)
    return _Part(
        deals=len(by_deal),
        total=by_deal.sum(axis=0),
        squares=(by_deal**2).sum(axis=0),
        blocks=np.add.reduceat(by_deal, starts, axis=0),
        seats=seats,
    )


def _payoffs(
    players: int,
    limits: tuple[float, ...],
    parts: Sequence[_Part],
    block: int,
    level: float,
    seed: int,
) -> Payoffs:
    deals = sum(part.deals for part in parts)
    matrix: np.ndarray = np.sum([part.total for part in parts], axis=0) / deals
    variance = np.sum([part.squares for part in parts], axis=0) / deals - matrix**2
    error = np.sqrt(np.maximum(variance, 0) / (deals - 1))
    blocks = np.concatenate([part.blocks for part in parts])
    sizes = np.concatenate([_block_sizes(part.deals, block) for part in parts])
    flat = blocks.reshape(len(blocks), -1)

    def draw(rng: np.random.Generator) -> np.ndarray:
        weights = rng.multinomial(len(flat), np.full(len(flat), 1 / len(flat)))
        drawn: np.ndarray = (weights @ flat / (weights @ sizes)).reshape(matrix.shape)
        return drawn

    mixture = symmetric_equilibrium(matrix)
    trials = TRIALS if players == 2 else LARGER_TRIALS
    drawn = np.array([m.shares for m in bootstrap_mixtures(draw, trials=trials, seed=seed)])
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Payoffs(
        players=players,
        thresholds=limits,
        deals=deals,
        level=level,
        matrix=matrix,
        half=float(stats.norm.ppf((1 + level) / 2)) * error,
        mixture=mixture,
        shares=tuple(
            Estimate(float(s), float(min(a, s)), float(max(b, s)))
            for s, a, b in zip(mixture.shares, low, high, strict=True)
        ),
        by_seat=np.sum([part.seats for part in parts], axis=0) / deals,
    )


def _block_sizes(deals: int, block: int) -> np.ndarray:
    return np.diff(np.append(np.arange(0, deals, block), deals))


# --- by seat, lives and turn ---------------------------------------------------------------------


def swings(chances: np.ndarray) -> np.ndarray:
    """float64[K, K]: mean life swing of the seat that begins, its threshold in the row.

    Args:
        chances: float64[K, K, 3, 3] of the lives that it and the other lose.
    """
    own, other = np.meshgrid(np.arange(3), np.arange(3), indexing="ij")
    swing: np.ndarray = (chances * (other - own)).sum(axis=(2, 3))
    return swing


def _with_rounds(payoffs: Payoffs, chances: np.ndarray) -> Payoffs:
    first = swings(chances)
    return Payoffs(**{**vars(payoffs), "by_seat": np.stack([first, -first.T])})


def losses_after(rules: Rules, to_go: int, loss: int) -> int:
    """Losses to go of a seat that has lost lives."""
    if not loss:
        return to_go
    if rules.free_ride and to_go > 1:
        return max(to_go - 1 - loss, 0) + 1
    return max(to_go - loss, 0)


def match_values(
    rules: Rules,
    chances: np.ndarray,
    solve: Callable[[np.ndarray, int, int], float],
    tolerance: float = 1e-7,
) -> np.ndarray:
    """Match payoff of who begins, by the losses to go of both: a game of rounds.

    Args:
        rules: the rules; buy-ins are left out.
        chances: float64[K, K, 3, 3].
        solve: value of a matrix float64[K, K] of match payoffs, for own and other losses to go.
        tolerance: where repeating stops.

    Returns:
        float64[L, L], by losses less one.
    """
    most = rules.lives + bool(rules.free_ride)
    value = np.zeros((most, most))
    for total in range(2, 2 * most + 1):
        states = [(a, total - a) for a in range(1, most + 1) if 1 <= total - a <= most]
        while True:
            before = value.copy()
            for a, b in states:
                worth = np.array(
                    [[_next_value(rules, value, a, b, i, j) for j in range(3)] for i in range(3)]
                )
                game = np.tensordot(chances, worth, axes=([2, 3], [0, 1]))
                value[a - 1, b - 1] = solve(game, a, b)
            if np.abs(value - before).max() < tolerance:
                break
    return value


def _next_value(rules: Rules, value: np.ndarray, a: int, b: int, loss_a: int, loss_b: int) -> float:
    """Payoff of who began, after these losses: the other begins the next round."""
    a, b = losses_after(rules, a, loss_a), losses_after(rules, b, loss_b)
    if a and b:
        return -float(value[b - 1, a - 1])
    if a or b:
        return 1.0 if a else -1.0
    return 0.0 if rules.decider == "draw" else -float(value[0, 0])


def by_lives(rules: Rules, chances: np.ndarray) -> ByLives:
    """The unbeaten thresholds by lives, from the outcomes of single rounds."""
    most, size = rules.lives + bool(rules.free_ride), len(chances)
    begins, other = np.zeros((most, most, size)), np.zeros((most, most, size))

    def solve(game: np.ndarray, a: int, b: int) -> float:
        best = maximin(game)
        begins[a - 1, b - 1] = best.shares
        return best.value

    def reply(game: np.ndarray, a: int, b: int) -> float:
        best = maximin(-game.T)
        other[a - 1, b - 1] = best.shares
        return -best.value

    value = match_values(rules, chances, solve, tolerance=1e-5)
    match_values(rules, chances, reply, tolerance=1e-5)
    return ByLives(value, begins, other)


def by_turn(
    rules: Rules,
    limits: tuple[float, ...],
    shares: np.ndarray,
    deals: int,
    seed: int,
    workers: int | None,
    backend: Backend = LOCAL,
    level: float = LEVEL,
) -> tuple[ByTurn | None, bool]:
    """What a knock gains on each turn, where all else follows a mixture; whether Ctrl-C came."""
    chunks = chunks_of(deals, max(deals // 100, BLOCK_DEALS))

    def work(chunk: range) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return turn_gains(rules, limits, shares, seed=seed, matches=np.array(chunk))

    results, interrupted = run_jobs(chunks, work, workers=workers, backend=backend)
    done = [result for result in results if result is not None]
    if len(done) < 2:
        return None, interrupted
    gains, reached, choices = (np.array([result[k] for result in done]) for k in range(3))
    mean, half = np.full(gains.shape[1:], np.nan), np.full(gains.shape[1:], np.nan)
    for cell in zip(*np.nonzero((reached > 0).sum(axis=0) >= len(done) // 2), strict=True):
        estimate, _ = ratio_interval(
            gains[(slice(None), *cell)], reached[(slice(None), *cell)], level
        )
        mean[cell], half[cell] = estimate.mean, estimate.half
    share, best = reached.sum(axis=0) / deals, np.argmax(choices.sum(axis=0), axis=-1)
    return ByTurn(mean, half, share, best), interrupted
