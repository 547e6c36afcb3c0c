"""Watched matches: who knocked when and how well, lengths, placement, and luck of the draw.

`WatchedTables` plays like `Tables`, move for move, and counts on the way, for kernel bots and for
policies outside alike. It sees all cards, as a referee does; nothing of it reaches a policy.

**Luck** of a draw from the stock is the worth of the card that came minus the mean worth over all
cards that were in the stock, so its expectation is 0 whatever anybody does, and subtracting a
multiple of it from a result leaves the mean as it is (a control variate). Worth is counted in
`LUCK` kinds: before a knock the value of the best hand with the card, in points, early and late in
the round, and whether it is a blitz; after a knock the life swing that the hand would bring
against the knocker's. Luck of the deal is the value of a dealt hand minus the mean of all hands
dealt with it, whose expectation is 0 as well. The exchange family has that kind alone.

Shapes: `B` tables, `P` owners (policies), `S` seats.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from thirtyone_env._jit import entry, inlined_kernel, kernel
from thirtyone_env.actions import DRAW_STOCK, may_knock
from thirtyone_env.arena import DEAL, NO_ACTION, Tables, waits_outside
from thirtyone_env.bots import bot_action
from thirtyone_env.bots.hands import best_after_taking
from thirtyone_env.cards import BIT, hand_value
from thirtyone_env.engine import apply, deal_next
from thirtyone_env.engine.rounds import holds_blitz, prepare_match
from thirtyone_env.rules import MAX_SEATS, Rules
from thirtyone_env.state import NOBODY, End, Phase, State, acting_seat, is_in, stock_left

MAX_TURNS = 24
"""Own turns that are counted apart; later ones count with the last."""
MAX_VALUE = 41
"""Highest hand value that is counted apart, in points; half points count with the point below."""
MAX_LENGTH = 128
"""Turns of a round and rounds of a match that are counted apart; more count with the last."""
LUCK = ("early", "late", "blitz", "showdown", "dealt")
"""Kinds of luck, by their place in an array."""
EARLY, LATE, BLITZ, SHOWDOWN, DEALT = range(len(LUCK))
EARLY_TURNS = 3
"""Own turns whose draws count as early."""


class Event(IntEnum):
    """What is counted by owner."""

    MATCHES = 0
    """Seats held in matches that began."""
    ROUNDS = 1
    """Rounds dealt in."""
    KNOCKS = 2
    RIGHT = 3
    """Knocks after which the knocker lost nothing."""
    TWO_LIVES = 4
    """Knocks that cost the knocker two lives."""
    BLITZES = 5
    """Hands that ended a round as a blitz."""
    DEALT_BLITZES = 6
    LIVES_LOST = 7


class Knock(IntEnum):
    """What is counted by owner, own turn and value."""

    ASKED = 0
    """Turns at whose start knocking was legal."""
    KNOCKED = 1
    RIGHT = 2


MARK = np.dtype(
    [
        ("luck", np.float64, (MAX_SEATS, len(LUCK))),
        ("rounds", np.int32),
        ("out", np.int32, (MAX_SEATS,)),  # the round after which a seat was out; −1 in play
        ("dealt", np.int32, (MAX_SEATS,)),  # rounds that a seat was dealt in
        ("owner", np.int8, (MAX_SEATS,)),
        ("first", np.int8),  # the seat to begin the first round
    ],
    align=True,
)
"""What is noted of one table."""


# --- kernels -------------------------------------------------------------------------------------


@inlined_kernel
def swing_at_showdown(state: State, value: int) -> int:
    """Life swing of the seat to act against the knocker alone, with a hand of this value."""
    limit = hand_value(np.int64(state.hands[state.knocker]), state.rules)
    if value >= state.rules.blitz_value and state.rules.blitz_after_knock:
        return 1
    if value < limit:
        return -1
    if value > limit:
        return np.int64(state.rules.knocker_lowest_loss)
    return 0 if state.rules.knocker_tie_shares else -1


@kernel
def note_late_draw(state: State, mark: Any, seat: int, hand: int) -> None:
    """Luck of a draw after a knock."""
    drawn = np.int64(state.drawn)
    worth = swing_at_showdown(state, best_after_taking(hand, drawn, state.rules))
    total = worth
    for place in range(state.top, state.deck_end):
        card = np.int64(state.deck[place])
        total += swing_at_showdown(state, best_after_taking(hand, card, state.rules))
    mark.luck[seat, SHOWDOWN] += worth - total / (stock_left(state) + 1)


@kernel
def note_draw(state: State, mark: Any) -> None:
    """Luck of the draw from the stock that the seat to act has just made."""
    seat, drawn = acting_seat(state), np.int64(state.drawn)
    hand = np.int64(state.hands[seat]) & ~np.int64(BIT[drawn])
    if state.knocker != NOBODY:
        note_late_draw(state, mark, seat, hand)
        return
    worth, blitz = best_after_taking(hand, drawn, state.rules), np.int64(state.rules.blitz_value)
    total, blitzes = worth, np.int64(worth >= blitz)
    for place in range(state.top, state.deck_end):
        value = best_after_taking(hand, np.int64(state.deck[place]), state.rules)
        total += value
        blitzes += value >= blitz
    cards = stock_left(state) + 1
    kind = EARLY if state.own_turns[seat] < EARLY_TURNS else LATE
    mark.luck[seat, kind] += 0.5 * (worth - total / cards)
    mark.luck[seat, BLITZ] += np.int64(worth >= blitz) - blitzes / cards


@kernel
def note_deal(state: State, mark: Any) -> None:
    """Luck of the hands just dealt, against their mean."""
    total, seats = 0, 0
    for seat in range(state.num_players):
        if is_in(state.dealt_in, seat):
            total += hand_value(np.int64(state.hands[seat]), state.rules)
            seats += 1
    for seat in range(state.num_players):
        if is_in(state.dealt_in, seat):
            value = hand_value(np.int64(state.hands[seat]), state.rules)
            mark.luck[seat, DEALT] += 0.5 * (value - total / seats)


@kernel
def note_question(state: State, mark: Any, knocks: Any) -> None:
    """Count a turn at whose start the seat to act may knock."""
    seat = acting_seat(state)
    turn = min(np.int64(state.own_turns[seat]), MAX_TURNS - 1)
    value = min(hand_value(np.int64(state.hands[seat]), state.rules) // 2, MAX_VALUE)
    knocks[mark.owner[seat], Knock.ASKED, turn, value] += 1


@kernel
def note_knock(state: State, mark: Any, counts: Any, knocks: Any) -> None:
    """Count the knock of the round that is over, and what became of it."""
    seat = np.int64(state.knocker)
    owner = np.int64(mark.owner[seat])
    turn = min(np.int64(state.own_turns[seat]) - 1, MAX_TURNS - 1)
    value = min(hand_value(np.int64(state.hands[seat]), state.rules) // 2, MAX_VALUE)
    loss = np.int64(state.losses[seat])
    knocks[owner, Knock.KNOCKED, turn, value] += 1
    counts[owner, Event.KNOCKS] += 1
    counts[owner, Event.TWO_LIVES] += loss > 1
    if loss == 0:
        knocks[owner, Knock.RIGHT, turn, value] += 1
        counts[owner, Event.RIGHT] += 1


@kernel
def note_seats(state: State, mark: Any, counts: Any) -> None:
    """Count the round that is over for every seat that was dealt in."""
    blitz = state.end == End.BLITZ or state.end == End.DEALT_BLITZ
    event = Event.BLITZES if state.end == End.BLITZ else Event.DEALT_BLITZES
    for seat in range(state.num_players):
        if not is_in(state.dealt_in, seat):
            continue
        owner = np.int64(mark.owner[seat])
        mark.dealt[seat] += 1
        counts[owner, Event.ROUNDS] += 1
        counts[owner, Event.LIVES_LOST] += np.int64(state.losses[seat])
        if blitz and holds_blitz(state, seat):
            counts[owner, event] += 1
        if not is_in(state.in_play, seat):
            mark.out[seat] = state.round_number


@kernel
def note_round(state: State, mark: Any, counts: Any, knocks: Any, lengths: Any) -> None:
    """Count the round that is over, and the match if it is over with it."""
    mark.rounds += 1
    lengths[0, min(np.int64(state.turns), MAX_LENGTH - 1)] += 1
    if state.knocker != NOBODY:
        note_knock(state, mark, counts, knocks)
    note_seats(state, mark, counts)
    if state.phase == Phase.OVER:
        lengths[1, min(np.int64(mark.rounds), MAX_LENGTH - 1)] += 1


@kernel
def deal_on(state: State, mark: Any, counts: Any, knocks: Any, lengths: Any, luck: bool) -> None:
    """Deal until somebody must decide or the match is over, counting every round."""
    while state.phase == Phase.ROUND_OVER:
        deal_next(state)
        if luck:
            note_deal(state, mark)
        if state.round_number == 0:
            mark.first = (np.int64(state.dealer) + 1) % np.int64(state.num_players)
        if state.phase >= Phase.ROUND_OVER:
            note_round(state, mark, counts, knocks, lengths)


@kernel
def watched_step(
    state: State, action: int, mark: Any, counts: Any, knocks: Any, lengths: Any, luck: bool
) -> None:
    """As `engine.step`, counting."""
    turn = state.phase == Phase.TURN
    if turn and may_knock(state):
        note_question(state, mark, knocks)
    apply(state, action)
    if luck and turn and action == DRAW_STOCK:
        note_draw(state, mark)
    if state.phase >= Phase.ROUND_OVER:
        note_round(state, mark, counts, knocks, lengths)
        deal_on(state, mark, counts, knocks, lengths, luck)


@kernel
def watched_advance(
    state: State, book: Any, mark: Any, counts: Any, knocks: Any, lengths: Any, luck: bool
) -> None:
    """As `arena.advance`, counting."""
    while state.phase != Phase.OVER and not waits_outside(state):
        watched_step(state, bot_action(state, book), mark, counts, knocks, lengths, luck)


@kernel
def watched_start(
    state: State, mark: Any, counts: Any, knocks: Any, lengths: Any, luck: bool
) -> None:
    """Deal a match afresh; what was noted of the table goes, what was counted stays."""
    mark.rounds = 0
    for seat in range(state.num_players):
        mark.out[seat] = -1
        mark.dealt[seat] = 0
        counts[mark.owner[seat], Event.MATCHES] += 1
        for kind in range(mark.luck.shape[1]):
            mark.luck[seat, kind] = 0.0
    prepare_match(state)
    deal_on(state, mark, counts, knocks, lengths, luck)


@entry
def watched_rows(
    states: Any,
    rows: Any,
    book: Any,
    actions: Any,
    marks: Any,
    counts: Any,
    knocks: Any,
    lengths: Any,
    luck: bool,
) -> None:
    """Take resolved decisions, NO_ACTION and DEAL among them, then let bots play."""
    for place in range(len(rows)):
        state, mark, action = states[rows[place]], marks[rows[place]], np.int64(actions[place])
        if action == DEAL:
            watched_start(state, mark, counts, knocks, lengths, luck)
            continue
        if action != NO_ACTION:
            watched_step(state, action, mark, counts, knocks, lengths, luck)
        watched_advance(state, book, mark, counts, knocks, lengths, luck)


# --- tables --------------------------------------------------------------------------------------


class WatchedTables(Tables):
    """`Tables` that count; one thread.

    Args:
        rules: as for `Tables`.
        num_players: seats of every table, S.
        seed: as for `Tables`.
        matches: int64[B], as for `Tables`.
        owners: int[B, S]: whose seat it is, 0 … P−1; several may be one owner's.
        luck: whether luck of the draw is measured (it costs as much as the play of bots).

    Attributes:
        marks: MARK[B], what is noted of each table.
        counts: int64[P, len(Event)].
        knocks: int64[P, len(Knock), MAX_TURNS, MAX_VALUE + 1], by own turn from 0 and points.
        lengths: int64[2, MAX_LENGTH]: rounds by their turns, matches by their rounds.
    """

    def __init__(
        self,
        rules: Rules,
        num_players: int,
        *,
        seed: int,
        matches: Sequence[int] | np.ndarray,
        owners: np.ndarray,
        luck: bool = True,
    ) -> None:
        size = int(owners.max()) + 1
        self.luck = luck
        self.marks = np.zeros(len(matches), MARK)
        self.marks["owner"][:, :num_players] = owners
        self.counts = np.zeros((size, len(Event)), np.int64)
        self.knocks = np.zeros((size, len(Knock), MAX_TURNS, MAX_VALUE + 1), np.int64)
        self.lengths = np.zeros((2, MAX_LENGTH), np.int64)
        super().__init__(rules, num_players, seed=seed, matches=matches)

    @property
    def _notes(self) -> tuple[np.ndarray, ...]:
        return self.marks, self.counts, self.knocks, self.lengths

    def _go_on(self, rows: np.ndarray, resolved: np.ndarray) -> None:
        watched_rows(self.states, rows, self.book.array, resolved, *self._notes, self.luck)

    def _run(self, rows: np.ndarray, resolved: np.ndarray, *arguments: Any) -> None:
        raise NotImplementedError("watched tables are played by play and act, not by step")

    @property
    def places(self) -> np.ndarray:
        """float64[B, S]: finishing ranks from 1; seats that went out together share theirs."""
        out = self.marks["out"][:, : int(self.states["num_players"].max())].astype(np.int64)
        out[out < 0] = np.iinfo(np.int64).max
        ahead = (out[:, None, :] > out[:, :, None]).sum(axis=2)
        level = (out[:, None, :] == out[:, :, None]).sum(axis=2)
        return 1.0 + ahead + (level - 1) / 2
