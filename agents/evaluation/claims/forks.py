"""Rounds watched from turn to turn, and played on in two ways from the same moment.

All seats are played by one bot. At a moment that a question picks, the state is copied, and each
copy is played on from another decision, with the same hidden cards and the same bot at all seats.
The hidden cards are thus as likely as they are in such rounds, and no belief about them is needed.
Who is asked, and what is compared, depends only on what the seat can see.

Shapes: `D` deals (tables), `N` moments, `S` seats. Values of hands are in half points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from thirtyone_env import Rules, make_bot
from thirtyone_env.actions import FIRST_CARD, KNOCK, TAKE_UPCARD
from thirtyone_env.arena import Tables, value_rows
from thirtyone_env.cards import RANK_MASK, SUIT_POINTS
from thirtyone_env.state import NOBODY, STATE, Phase

SUITS = np.arange(4)


def single_rounds(rules: Rules, num_players: int, deals: np.ndarray, seed: int) -> Tables:
    """Tables that play one round each, dealt; all seats decide outside."""
    tables = Tables(rules, num_players, seed=seed, matches=deals, deal=False)
    tables.states["one_round"] = 1
    tables.deal(None, deals)
    return tables


@dataclass(frozen=True)
class Moment:
    """Tables that wait for a decision."""

    tables: Tables
    rows: np.ndarray
    """int[N]: those that wait."""
    seats: np.ndarray
    """int[N]: for whom."""
    changed: np.ndarray
    """bool[D, S]: the seat took, in its latest turn, an upcard or one card of the table, of another
    suit than the last one that it took."""

    def field(self, name: str) -> np.ndarray:
        """A field of the states that wait, [N] or [N, 9]."""
        values: np.ndarray = self.tables.states[name][self.rows]
        return values

    def own(self, name: str) -> np.ndarray:
        """A field by seat, of the seat that decides, [N]."""
        values: np.ndarray = self.tables.states[name][self.rows, self.seats]
        return values

    @property
    def values(self) -> np.ndarray:
        """int64[N]: values of the hands."""
        out = np.empty(len(self.rows), np.int16)
        value_rows(self.tables.states, self.rows, out)
        return out.astype(np.int64)

    @property
    def may_knock(self) -> np.ndarray:
        """Whether a knock is legal, bool[N]."""
        return self.tables.action_mask(self.rows)[:, KNOCK] != 0

    @property
    def turns(self) -> np.ndarray:
        """int64[N]: own turns, this one counted."""
        return self.own("own_turns").astype(np.int64) + 1


def moments(
    bot: str, rules: Rules, num_players: int, deals: np.ndarray, seed: int
) -> Iterator[Moment]:
    """One round of each deal, played by one bot at all seats; each decision is shown before."""
    tables, player = single_rounds(rules, num_players, deals, seed), make_bot(bot)
    suits = np.full((deals.size, num_players), NOBODY)
    changed = np.zeros((deals.size, num_players), bool)
    while (rows := np.flatnonzero(~tables.over)).size:
        moment = Moment(tables, rows, tables.states["seat"][rows].astype(np.int64), changed)
        starts = moment.field("phase") == Phase.TURN
        changed[rows[starts], moment.seats[starts]] = False
        yield moment
        actions = player.choose(tables.states, rows)
        swaps = moment.field("phase") == Phase.TAKE
        takes = swaps | (starts & (actions == TAKE_UPCARD) & (rules.family == "draw"))
        places = rows[takes], moment.seats[takes]
        taken = np.where(swaps, actions - FIRST_CARD, tables.states["upcard"][rows])
        suit = taken[takes].astype(np.int64) // 13
        changed[places] = (suits[places] >= 0) & (suits[places] != suit)
        suits[places] = suit
        tables.act(actions, rows)


@dataclass(frozen=True)
class Gathered:
    """Moments that a question picked, of all tables."""

    states: np.ndarray
    """STATE[N], copies."""
    tables: np.ndarray
    """int[N]: the place of the deal."""
    marks: np.ndarray
    """int64[N, M]: what the question noted of each."""

    @property
    def seats(self) -> np.ndarray:
        """int64[N]: who decides."""
        return self.states["seat"].astype(np.int64)

    def by_deal(self, values: np.ndarray, deals: int) -> np.ndarray:
        """float64[D, 2]: sum and number of values float64[N] by deal."""
        sums = np.bincount(self.tables, values, deals)
        return np.stack([sums, np.bincount(self.tables, minlength=deals)], axis=1)


Question = Callable[[Moment], tuple[np.ndarray, np.ndarray]]
"""bool[N], which moments are picked, and int64[N, M], what is noted of them."""


def gather(
    question: Question,
    bot: str,
    rules: Rules,
    num_players: int,
    deals: np.ndarray,
    seed: int,
    last_turn: int,
) -> Gathered:
    """Copies of the moments of these rounds that a question picks, up to some own turn."""
    states, tables = [np.zeros(0, STATE)], [np.zeros(0, np.int64)]
    marks = []
    for moment in moments(bot, rules, num_players, deals, seed):
        if (moment.turns > last_turn).all():
            break
        picked, noted = question(moment)
        marks.append(noted[picked])
        if picked.any():
            states.append(moment.tables.states[moment.rows[picked]])
            tables.append(moment.rows[picked])
    noted = np.concatenate(marks) if marks else np.zeros((0, 3), np.int64)  # all dealt a blitz
    return Gathered(np.concatenate(states), np.concatenate(tables), noted)


def played_on(states: np.ndarray, actions: np.ndarray, bot: str, rules: Rules) -> np.ndarray:
    """STATE[N] at the end of the round: one decision each, then a bot plays all seats."""
    num_players = int(states["num_players"].max(initial=2))
    blank = np.zeros(len(states), np.int64)
    tables = Tables(rules, num_players, seed=0, matches=blank, deal=False)
    tables.states[:] = states
    tables.act(actions)
    for seat in range(num_players):
        tables.set_controllers(None, seat, bot)
    tables.play()
    return tables.states


def swings(states: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """float64[N]: lives that a seat won in the round, against the mean of the others."""
    found: np.ndarray = states["lives_payoff"][np.arange(len(states)), seats]
    return found


def hand_values(hands: np.ndarray, rules: Rules) -> np.ndarray:
    """int64[N]: values of hands given as sets int64[N]."""
    states = np.zeros(len(hands), STATE)
    states["rules"], states["hands"][:, 0] = rules.record, hands
    out = np.empty(len(hands), np.int16)
    value_rows(states, np.arange(len(hands)), out)
    return out.astype(np.int64)


def suit_points(cards: np.ndarray) -> np.ndarray:
    """int64[…, 4]: half points of each suit in sets int64[…], jokers left out."""
    ranks = (np.asarray(cards)[..., None] >> (16 * SUITS)) & RANK_MASK
    points: np.ndarray = np.asarray(SUIT_POINTS)[0, ranks].astype(np.int64)
    return points


def cards_of(hand: int) -> list[int]:
    """The cards of a set, jokers left out, in order."""
    return [
        13 * suit + rank for suit in range(4) for rank in range(13) if hand >> 16 * suit + rank & 1
    ]
