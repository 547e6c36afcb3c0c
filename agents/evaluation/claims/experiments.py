"""The experiments that claims are checked by, each a dataclass whose fields a YAML file names.

`columns` plays some deals and gives float64[D, K]; `figure` turns the rows of all deals into a
number. Both know nothing of the limit that the claim sets.

Shapes: as in `findings` and `forks`. Lives a round are life swings: the mean loss of the others
minus the own one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from agents.evaluation.claims.findings import Figure, contrast, quotient, ratio, shortfall
from agents.evaluation.claims.forks import (
    Gathered,
    Moment,
    cards_of,
    gather,
    hand_values,
    moments,
    played_on,
    single_rounds,
    suit_points,
    swings,
)
from agents.evaluation.claims.policies import seat_policy, without_knocks
from agents.evaluation.exploit import swings_of
from agents.evaluation.match import lone, play_deals
from agents.evaluation.options import ConfigError, HouseRules
from agents.policies import TablePolicy
from thirtyone_env import Rules, make_bot
from thirtyone_env.actions import DRAW_STOCK, FIRST_CARD, KNOCK, TAKE_UPCARD
from thirtyone_env.cards import BIT, LOWEST_JOKER, NO_CARD, RANK_MASK, RANK_POINTS
from thirtyone_env.state import NOBODY, End, Phase

Unit = Literal["share", "lives", "turns", "times"]
BOT = "lookahead:4"
"""Who plays at all seats, unless a claim names another bot: it draws well, by any rules."""
LATEST = 99
MOST_TURNS = 8
"""Own turns that a contrast tells apart; later ones count with the last."""
MOST_POINTS = 41
LEAST_GAP = 5
"""Points between two cards of which the higher one counts as high."""


class Experiment(Protocol):
    """What a claim is checked by."""

    unit: Unit

    def check(self, rules: Rules, num_players: int) -> None:
        """Raise ValueError where it cannot be done, saying why."""

    def columns(self, rules: Rules, num_players: int, deals: np.ndarray, seed: int) -> np.ndarray:
        """float64[D, K] of some deals."""

    def figure(self, columns: np.ndarray) -> Figure | None:
        """The number; None where too little was seen."""


@dataclass(frozen=True)
class KnockNow:
    """A hand of some value is knocked with at once, at a table of one bot."""

    points: tuple[float, ...] = (0, MOST_POINTS)
    """Least and greatest value of the hand."""
    turns: tuple[int, ...] = (1, LATEST)
    """First and last own turn, from 1."""
    when: Literal["always", "collector", "changed_suit", "three_of_a_kind"] = "always"
    """What else must be so: an opponent openly holds two or more cards of a suit worth 20; one took
    an open card of another suit than before in its latest turn; three own cards are of one rank."""
    outcome: Literal["loses", "gains", "beats", "gains_more"] = "gains"
    """Share of knocks that cost the knocker a life; lives that the knock gains over going on; share
    of the opponents whose hand at the end is lower; how much more it gains than in other moments
    with the same value at the same own turn."""
    bot: str = BOT
    """Who plays at all seats, before and after."""

    def __post_init__(self) -> None:
        _pair("points", self.points)
        _pair("turns", self.turns)
        if self.outcome == "gains_more" and self.when == "always":
            raise ConfigError("outcome: gains_more needs `when`, a moment to tell from others")
        without_knocks(self.bot)

    @property
    def unit(self) -> Unit:
        """What the figure counts."""
        return "share" if self.outcome in ("loses", "beats") else "lives"

    def check(self, rules: Rules, num_players: int) -> None:
        """Refuse moments that the rules do not know."""
        seat_policy(self.bot).check(rules, num_players)
        if not rules.first_turn_knock and self.turns[1] == 1:
            raise ValueError("nobody may knock on the first own turn")

    def columns(self, rules: Rules, num_players: int, deals: np.ndarray, seed: int) -> np.ndarray:
        """Sum and number by deal; of a contrast those of every cell, [D, C × 2 × 2]."""
        found = gather(self._asks, self.bot, rules, num_players, deals, seed, self.turns[1])
        knocked = played_on(found.states, np.full(len(found.states), KNOCK), self.bot, rules)
        seats = found.seats
        if self.outcome == "loses":
            lost = knocked["losses"][np.arange(len(knocked)), seats] > 0
            return found.by_deal(lost.astype(np.float64), deals.size)
        if self.outcome == "beats":
            return found.by_deal(_beaten(knocked, seats, rules, num_players), deals.size)
        going = make_bot(without_knocks(self.bot))
        actions = going.choose(found.states, np.arange(len(found.states)))
        gains = swings(knocked, seats) - swings(
            played_on(found.states, actions, self.bot, rules), seats
        )
        if self.outcome == "gains":
            return found.by_deal(gains, deals.size)
        return self._cells(found, gains, deals.size)

    def figure(self, columns: np.ndarray) -> Figure | None:
        """The mean over all knocks, or the contrast."""
        if self.outcome == "gains_more":
            return contrast(columns.reshape(len(columns), -1, 2, 2))
        return ratio(columns[:, 0], columns[:, 1])

    def _asks(self, moment: Moment) -> tuple[np.ndarray, np.ndarray]:
        """Which moments; noted of each: own turn, points, whether it is as `when` says."""
        values, turns = moment.values, moment.turns
        picked = moment.may_knock & (values >= 2 * self.points[0]) & (values <= 2 * self.points[1])
        picked &= (turns >= self.turns[0]) & (turns <= self.turns[1])
        so = np.ones(len(values), bool)
        if self.when == "three_of_a_kind":
            so = _three_of_a_rank(moment.own("hands"))
        elif self.when == "collector":
            so = _others(moment, _collects(moment.field("known")))
        elif self.when == "changed_suit":
            so = _others(moment, moment.changed[moment.rows])
        if self.outcome != "gains_more":
            picked &= so
        return picked, np.stack([turns, values // 2, so], axis=1)

    def _cells(self, found: Gathered, gains: np.ndarray, deals: int) -> np.ndarray:
        least, most = int(self.points[0]), int(self.points[1])
        turns = np.minimum(found.marks[:, 0], MOST_TURNS)
        cells = (turns - 1) * (most - least + 1) + found.marks[:, 1] - least
        size = MOST_TURNS * (most - least + 1)
        places = (found.tables * size + cells) * 2 + 1 - found.marks[:, 2]
        sums = np.bincount(places, gains, deals * size * 2)
        counts = np.bincount(places, minlength=deals * size * 2)
        return np.stack([sums, counts], axis=1).reshape(deals, -1)


@dataclass(frozen=True)
class Choose:
    """One draw or discard is done in two ways, at a table of one bot (draw family)."""

    unit: ClassVar[Unit] = "lives"

    choice: Literal["take_upcard", "keep_high", "keep_suit"]
    """take_upcard: take an upcard that is of the hand's best suit and makes it worth more, or draw
    from the stock. keep_high: with two cards of the best suit and two others, one of them at least
    5 points higher, discard the lower of those or the higher. keep_suit: holding
    two cards or more of the best suit, discard a card of another suit that was drawn from the
    stock, or the lowest one of the suit held so far, which makes the hand worth more."""
    card_points: tuple[float, ...] = (0, 11)
    """Least and greatest points of the upcard that may be taken."""
    turns: tuple[int, ...] = (1, LATEST)
    """First and last own turn, from 1."""
    bot: str = BOT
    """Who plays at all seats, before and after."""

    def __post_init__(self) -> None:
        _pair("card_points", self.card_points)
        _pair("turns", self.turns)

    def check(self, rules: Rules, num_players: int) -> None:
        """Refuse games without upcards."""
        seat_policy(self.bot).check(rules, num_players)
        if rules.family != "draw":
            raise ValueError(_NO_CHOICE[self.choice])

    def columns(self, rules: Rules, num_players: int, deals: np.ndarray, seed: int) -> np.ndarray:
        """Sum and number by deal of what the first way gains over the second."""

        def asks(moment: Moment) -> tuple[np.ndarray, np.ndarray]:
            phase = Phase.TURN if self.choice == "take_upcard" else Phase.DISCARD
            turns = moment.turns
            picked = (moment.field("phase") == phase) & (moment.field("knocker") == NOBODY)
            picked &= (turns >= self.turns[0]) & (turns <= self.turns[1])
            ways = np.full((len(picked), 2), -1)
            at = np.flatnonzero(picked)
            if at.size:
                ways[at] = _WAYS[self.choice](self, moment, at, rules)
            return picked & (ways >= 0).all(axis=1), ways

        found = gather(asks, self.bot, rules, num_players, deals, seed, self.turns[1])
        first, second = (
            swings(played_on(found.states, found.marks[:, way], self.bot, rules), found.seats)
            for way in (0, 1)
        )
        return found.by_deal(first - second, deals.size)

    def figure(self, columns: np.ndarray) -> Figure | None:
        """The mean gain."""
        return ratio(columns[:, 0], columns[:, 1])


@dataclass(frozen=True)
class Swap:
    """One policy sits alone among others in place of another one, on the same deals and seats."""

    policy: str
    """A bot or saved policy, or "knock:RULE,points=T[,last_life=T]"."""
    instead_of: str
    """Whom it is measured against."""
    among: str = ""
    """Who else sits there; none: copies of `instead_of`."""
    measure: Literal["lives", "wins"] = "lives"
    """Lives a round, in single rounds; or share of matches won."""

    @property
    def unit(self) -> Unit:
        """What the figure counts."""
        return "lives" if self.measure == "lives" else "share"

    def check(self, rules: Rules, num_players: int) -> None:
        """Refuse tables that a policy was not made for."""
        for name in {self.policy, self.instead_of, self.among or self.instead_of}:
            seat_policy(name).check(rules, num_players)

    def columns(self, rules: Rules, num_players: int, deals: np.ndarray, seed: int) -> np.ndarray:
        """Gain by deal, over all rotations of the seats, and 1."""
        others = seat_policy(self.among or self.instead_of)
        gains = self._plays(self.policy, others, rules, num_players, deals, seed)
        if self.among:
            gains -= self._plays(self.instead_of, others, rules, num_players, deals, seed)
        elif self.measure == "wins":
            gains -= 1 / num_players  # what the copy that it stands for wins, in all rotations
        return np.stack([gains, np.ones(deals.size)], axis=1)

    def figure(self, columns: np.ndarray) -> Figure | None:
        """The mean gain."""
        return ratio(columns[:, 0], columns[:, 1])

    def _plays(
        self,
        name: str,
        others: TablePolicy,
        rules: Rules,
        num_players: int,
        deals: np.ndarray,
        seed: int,
    ) -> np.ndarray:
        line_up: list[Any] = lone(seat_policy(name), others, num_players)
        if self.measure == "lives":
            found = swings_of(line_up, rules, deals, seed)[:, :, 0].mean(axis=1)
        else:
            payoffs = play_deals(line_up, rules, deals, seed).payoffs[:, :, 0].mean(axis=1)
            found = (payoffs * (num_players - 1) + 1) / num_players
        return np.asarray(found)


@dataclass(frozen=True)
class BestThreshold:
    """How much a recommended knock threshold gains less than the best other one, alone in a field.

    The best other one is chosen on half of the deals and measured on the other half.
    """

    unit: ClassVar[Unit] = "lives"

    recommended: int
    """Points from which the source says to knock."""
    among: str
    """Who sits at all other seats."""
    thresholds: tuple[int, ...] = (22, 31)
    """Least and greatest threshold that is tried."""

    def __post_init__(self) -> None:
        _pair("thresholds", self.thresholds)
        if self.recommended not in self.tried:
            raise ConfigError(f"recommended: {self.recommended} is none of {self.tried}")

    @property
    def tried(self) -> list[int]:
        """All thresholds."""
        return list(range(self.thresholds[0], self.thresholds[1] + 1))

    def check(self, rules: Rules, num_players: int) -> None:
        """Refuse tables that the field was not made for."""
        seat_policy(self.among).check(rules, num_players)

    def columns(self, rules: Rules, num_players: int, deals: np.ndarray, seed: int) -> np.ndarray:
        """Lives a round by threshold, [D, T]."""
        others = seat_policy(self.among)
        return np.stack(
            [
                swings_of(
                    [seat_policy(f"threshold:{points}")] + [others] * (num_players - 1),
                    rules,
                    deals,
                    seed,
                )[:, :, 0].mean(axis=1)
                for points in self.tried
            ],
            axis=1,
        )

    def figure(self, columns: np.ndarray) -> Figure | None:
        """The shortfall."""
        return shortfall(columns, self.tried.index(self.recommended), self.tried)


@dataclass(frozen=True)
class Waiting:
    """Own turns from holding one value until holding another, where nobody knocks."""

    unit: ClassVar[Unit] = "turns"

    points: tuple[float, ...]
    """The value that could be knocked with, and the one that is waited for."""
    bot: str = BOT
    """Who plays at all seats, and does not knock."""

    def __post_init__(self) -> None:
        _pair("points", self.points)

    def check(self, rules: Rules, num_players: int) -> None:
        """Refuse tables that the bot was not made for."""
        seat_policy(self.bot).check(rules, num_players)

    def columns(self, rules: Rules, num_players: int, deals: np.ndarray, seed: int) -> np.ndarray:
        """Sum and number of waits by deal; one that the end of the round cuts off counts so far."""
        since = np.zeros((deals.size, num_players), np.int64)
        until = np.zeros_like(since)
        tables = None
        for moment in moments(without_knocks(self.bot), rules, num_players, deals, seed):
            tables = moment.tables
            starts = np.flatnonzero(moment.field("phase") == Phase.TURN)
            at = moment.rows[starts], moment.seats[starts]
            values, turns = moment.values[starts], moment.turns[starts]
            begins = (since[at] == 0) & (values >= 2 * self.points[0])
            reached = values >= 2 * self.points[1]
            since[at] = np.where(begins & ~reached, turns, since[at])
            since[at] = np.where(begins & reached, -1, since[at])  # there was nothing to wait for
            until[at] = np.where((since[at] > 0) & (until[at] == 0) & reached, turns, until[at])
        if tables is not None:
            last = tables.states["own_turns"][:, :num_players].astype(np.int64) + 1
            until = np.where((since > 0) & (until == 0), last, until)
        waited = np.where(since > 0, until - since, 0)
        return np.stack([waited.sum(axis=1), (since > 0).sum(axis=1)], axis=1).astype(np.float64)

    def figure(self, columns: np.ndarray) -> Figure | None:
        """The mean wait."""
        return ratio(columns[:, 0], columns[:, 1])


@dataclass(frozen=True)
class Rounds:
    """How rounds of one bot at all seats end, and how long they are."""

    counted: Literal["blitz", "turns"]
    """Share of rounds that a blitz ends, dealt or made; or turns that each player takes."""
    change: HouseRules = field(default_factory=dict)
    """Fields of the rules: how many times as much there is with these as without."""
    bot: str = BOT
    """Who plays."""

    @property
    def unit(self) -> Unit:
        """What the figure counts."""
        if self.change:
            return "times"
        return "share" if self.counted == "blitz" else "turns"

    def check(self, rules: Rules, num_players: int) -> None:
        """Refuse a change that the rules do not allow."""
        for each in self._rules(rules):
            each.check_seats(num_players)
            seat_policy(self.bot).check(each, num_players)

    def columns(self, rules: Rules, num_players: int, deals: np.ndarray, seed: int) -> np.ndarray:
        """Number and rounds by deal; with a change first those with it, then those without."""
        parts = [self._counts(each, num_players, deals, seed) for each in self._rules(rules)]
        return np.stack(
            [part for counts in parts for part in (counts, np.ones(deals.size))], axis=1
        )

    def figure(self, columns: np.ndarray) -> Figure | None:
        """The share or mean, or how many times as much."""
        return quotient(columns) if self.change else ratio(columns[:, 0], columns[:, 1])

    def _rules(self, rules: Rules) -> list[Rules]:
        if not self.change:
            return [rules]
        changed = Rules.from_dict({**rules.to_dict(), **self.change})
        if changed == rules:
            raise ValueError(f"the rules are so already: {self.change}")
        return [changed, rules]

    def _counts(self, rules: Rules, num_players: int, deals: np.ndarray, seed: int) -> np.ndarray:
        tables = single_rounds(rules, num_players, deals, seed)
        for seat in range(num_players):
            tables.set_controllers(None, seat, self.bot)
        tables.play()
        if self.counted == "turns":
            return tables.states["turns"] / num_players
        ends = tables.states["end"]
        return ((ends == End.BLITZ) | (ends == End.DEALT_BLITZ)).astype(np.float64)


EXPERIMENTS: dict[str, type[Any]] = {
    "knock": KnockNow,
    "choose": Choose,
    "swap": Swap,
    "best_threshold": BestThreshold,
    "waiting": Waiting,
    "rounds": Rounds,
}
"""By the name that a claim's file says."""


def _pair(name: str, values: tuple[float, ...]) -> None:
    if len(values) != 2 or values[0] > values[1]:
        raise ConfigError(f"{name} must be a least and a greatest value, not {list(values)}")


def _others(moment: Moment, seats: np.ndarray) -> np.ndarray:
    """bool[N]: whether bool[N, …] holds for any seat but the one that decides."""
    seats = seats.copy()
    seats[np.arange(len(seats)), moment.seats] = False
    return np.asarray(seats.any(axis=1))


def _collects(known: np.ndarray) -> np.ndarray:
    """bool[…]: whether openly taken cards, at least two of one suit, are worth 20 points."""
    return np.asarray((suit_points(known) >= 40).any(axis=-1))


def _three_of_a_rank(hands: np.ndarray) -> np.ndarray:
    suits = (hands[:, None] >> (16 * np.arange(4))) & RANK_MASK
    ranks = (suits[..., None] >> np.arange(13)) & 1
    return np.asarray((ranks.sum(axis=1) >= 3).any(axis=1))


def _beaten(states: np.ndarray, seats: np.ndarray, rules: Rules, num_players: int) -> np.ndarray:
    """float64[N]: share of the opponents with a lower hand at the end."""
    hands = states["hands"][:, :num_players]
    values = hand_values(hands.ravel(), rules).reshape(hands.shape)
    own = np.take_along_axis(values, seats[:, None], axis=1)
    return np.asarray((values < own).sum(axis=1) / (num_players - 1))


def _take_upcard(case: Choose, moment: Moment, at: np.ndarray, rules: Rules) -> np.ndarray:
    """Take the upcard, or draw; −1 where it does not fit."""
    ways = np.full((at.size, 2), -1)
    masks = moment.tables.action_mask(moment.rows[at])
    upcards = moment.field("upcard")[at].astype(np.int64)
    fits = (masks[:, [DRAW_STOCK, TAKE_UPCARD]] != 0).all(axis=1)
    fits &= (upcards != NO_CARD) & (upcards < LOWEST_JOKER)
    hands, cards = moment.own("hands")[at], np.where(fits, upcards, 0)
    points = np.asarray(RANK_POINTS)[cards % 13]
    fits &= (points >= 2 * case.card_points[0]) & (points <= 2 * case.card_points[1])
    suits = suit_points(hands)
    fits &= suits[np.arange(at.size), cards // 13] == suits.max(axis=1)
    taken = [
        [hand ^ int(BIT[c]) | int(BIT[card]) for c in cards_of(hand)]
        for hand, card in zip(hands[fits].tolist(), cards[fits].tolist(), strict=True)
    ]
    gains = np.array([most > own for most, own in _most(taken, hands[fits], rules)], bool)
    ways[np.flatnonzero(fits)[gains]] = TAKE_UPCARD, DRAW_STOCK
    return ways


def _most(kept: list[list[int]], hands: np.ndarray, rules: Rules) -> list[tuple[int, int]]:
    """The best value among some hands of each row, and the value of another hand of that row."""
    flat = np.array([hand for row in kept for hand in row], np.int64)
    values, own = hand_values(flat, rules).tolist(), hand_values(hands, rules).tolist()
    found, start = [], 0
    for row, value in zip(kept, own, strict=True):
        found.append((max(values[start : start + len(row)], default=0), value))
        start += len(row)
    return found


def _keep_high(case: Choose, moment: Moment, at: np.ndarray, rules: Rules) -> np.ndarray:
    """Discard the lower or the higher of two cards outside the best suit."""
    ways = np.full((at.size, 2), -1)
    points, hands = np.asarray(RANK_POINTS), moment.own("hands")[at]
    taken, best = moment.field("taken")[at], suit_points(hands)
    for i, (hand, suit) in enumerate(zip(hands.tolist(), best.argmax(axis=1), strict=True)):
        cards = cards_of(hand)
        others = sorted((c for c in cards if c // 13 != suit), key=lambda c: points[c % 13])
        if len(cards) != 4 or len(others) != 2 or taken[i] in others:
            continue
        low, high = others
        if points[high % 13] - points[low % 13] >= 2 * LEAST_GAP:
            ways[i] = FIRST_CARD + low, FIRST_CARD + high
    there = np.flatnonzero(ways[:, 0] >= 0)
    for way in (0, 1):  # the best suit is what the hand is worth, whichever of them goes
        left = hands[there] ^ np.asarray(BIT)[ways[there, way] - FIRST_CARD]
        ways[there[hand_values(left, rules) != best[there].max(axis=1)]] = -1
    return ways


def _keep_suit(case: Choose, moment: Moment, at: np.ndarray, rules: Rules) -> np.ndarray:
    """Discard the card drawn from the stock, or the lowest card of the suit held so far."""
    ways = np.full((at.size, 2), -1)
    hands, drawn = moment.own("hands")[at], moment.field("drawn")[at].astype(np.int64)
    fits = (moment.field("taken")[at] == NO_CARD) & (drawn >= 0) & (drawn < LOWEST_JOKER)
    card = np.where(fits, drawn, 0)
    before = hands & ~np.asarray(BIT)[card]
    suits = suit_points(before).argmax(axis=1)
    after = suit_points(hands)[np.arange(at.size), card // 13]
    fits &= (card // 13 != suits) & (after > hand_values(before, rules))
    for i in np.flatnonzero(fits).tolist():
        held = [c for c in cards_of(int(before[i])) if c // 13 == suits[i]]
        if len(held) >= 2:
            ways[i] = FIRST_CARD + drawn[i], FIRST_CARD + held[0]
    return ways


_NO_CHOICE = {
    "take_upcard": "no card is unknown where cards are swapped with open ones",
    "keep_high": "nothing is discarded: what is swapped away lies open on the table for all",
    "keep_suit": "no card is drawn that may be kept or discarded",
}
"""Why there is no such choice in the exchange family."""
_WAYS = {"take_upcard": _take_upcard, "keep_high": _keep_high, "keep_suit": _keep_suit}
