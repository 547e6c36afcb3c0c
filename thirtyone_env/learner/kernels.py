"""One learner a match, inside the kernel: seats, turns, what is paid and seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from thirtyone_env._jit import entry, inlined_kernel, kernel, prefetch
from thirtyone_env.actions import PASS, is_among, is_legal, legal_cards, legal_words
from thirtyone_env.arena import (
    AHEAD,
    UNKNOWN,
    naming_for,
    outside_action,
    seat_action,
    waits_outside,
)
from thirtyone_env.bots import bot_action
from thirtyone_env.engine import apply, deal_next
from thirtyone_env.engine.rounds import prepare_match, set_first_dealer
from thirtyone_env.game import payoff
from thirtyone_env.observation import (
    observe_compact,
    observe_full,
    put_legal,
    write_slot_mask,
)
from thirtyone_env.rng import USE_SEAT, below, derive
from thirtyone_env.state import NOBODY, Phase, State, is_in

ROTATE, RANDOM = -1, -2
"""Instead of a learner's seat: the next one in every match; by lot."""
ILLEGAL, FINISH, BEGIN = -1, -2, -3
"""Instead of an engine's action: no such action; none, only what follows; the deal of a match."""

# What a match waits for. UNDEALT: its first deal. DECIDES: the learner. PENDING: the step that
# brings a result decided before the learner's first decision. OPPONENT: a policy outside the
# kernel; RUNNING: whoever watches (neither is left between steps). TERMINATED, TRUNCATED: a reset.
UNDEALT, DECIDES, PENDING, OPPONENT, RUNNING, TERMINATED, TRUNCATED = range(7)


def _record(fields: list[Any]) -> np.dtype[Any]:
    """A layout whose fields are attributes, compiled and interpreted alike."""
    return np.dtype((np.record, np.dtype(fields, align=True)))


LEARNER = _record(
    [
        ("paid", np.float64),  # payoff of the learner that rewards have been paid for
        ("reward", np.float64),  # of the last step
        ("words", np.int64),  # legal named actions of the engine, UNKNOWN where not kept
        ("cards", np.int64),  # legal cards
        ("round_number", np.int32),  # when it was paid
        ("line_up", np.int32),  # number of the opponents' line-up
        ("start", np.int32),  # number of the situation that its matches begin with
        ("seat", np.int8),
        ("status", np.int8),
        ("begun", np.int8),  # the learner has stepped in this match
    ]
)
"""What is kept of a learner beside its match."""

VIEW = _record(
    [
        ("kind", np.int8),  # of the reward: game.RESULT_KINDS
        ("seat", np.int8),  # the learner's, or ROTATE or RANDOM
        ("compact", np.bool_),
        ("slots", np.bool_),
        ("canonical", np.bool_),
        ("knock_only", np.bool_),
        ("slowly", np.bool_),  # stop after every decision of a bot, for those who watch
    ]
)
"""How all matches of a batch are seated, seen and paid."""


# --- kernels -------------------------------------------------------------------------------------


@kernel
def learner_seat(state: State, wanted: int) -> int:
    """The learner's seat in this match; rotation and lot follow from seed and match."""
    seats = np.int64(state.num_players)
    if wanted == ROTATE:
        turned = np.int64(state.seed % np.uint64(seats)) + np.int64(state.match) % seats
        return turned % seats
    if wanted == RANDOM:
        return below(derive(state.seed, state.match, 0, USE_SEAT), seats)
    return np.int64(wanted)


@kernel
def begin(state: State, start: State, dealer: int, me: Any, view: Any, controllers: Any) -> None:
    """Seat everybody and deal up to the first decision, whoever's it is."""
    prepare_match(state)
    if dealer != NOBODY:
        set_first_dealer(state, dealer)
    seats = np.int64(state.num_players)
    me.seat = learner_seat(state, np.int64(view.seat))
    for after in range(seats):
        state.lives[after] = start.lives[after]
        state.controllers[(np.int64(me.seat) + after) % seats] = controllers[me.line_up, after]
    state.rode = start.rode
    me.begun = 0
    me.reward = 0.0
    me.paid = payoff(state, np.int64(me.seat), np.int64(view.kind))
    me.round_number = -1


@inlined_kernel
def follow(state: State, me: Any, action: int, book: Any, slowly: bool) -> None:
    """Take a decision (FINISH: none), deal and let bots play until one comes from outside.

    It ends where the learner's part is over, too. Slowly, it stops after each deal and decision.
    """
    seat, taken = np.int64(me.seat), action
    me.status = RUNNING
    while True:
        if taken >= 0:
            apply(state, taken)
            if slowly:
                return
        if state.phase == Phase.OVER:
            break
        if state.phase == Phase.ROUND_OVER:
            deal_next(state)
            if slowly:
                return
            taken = FINISH
        elif not is_in(state.in_play, seat):
            break
        elif waits_outside(state):
            me.status = DECIDES if state.seat == seat else OPPONENT
            return
        else:
            taken = bot_action(state, book)
    if not me.begun:
        me.status = PENDING
    elif state.truncated and is_in(state.in_play, seat):
        me.status = TRUNCATED
    else:
        me.status = TERMINATED


@kernel
def pay(state: State, me: Any, kind: int) -> None:
    """Pay the change in the learner's payoff since the last time."""
    if kind == 2 and me.status < TERMINATED:
        if me.round_number == state.round_number and state.pending == 0:
            me.reward = 0.0  # lives have not changed
            return
    now = payoff(state, np.int64(me.seat), kind)
    me.reward = now - me.paid
    me.paid = now
    me.round_number = state.round_number


@kernel
def forfeit(me: Any) -> None:
    """End the learner's part with an illegal action."""
    me.reward = -1.0
    me.status = TERMINATED


@inlined_kernel
def put_mask(state: State, me: Any, view: Any, naming: int, mask: Any, row: int) -> None:
    """The learner's legal actions; none when its part is over."""
    if me.status == DECIDES and not view.knock_only:
        if view.slots:
            write_slot_mask(state, naming, mask, row)
            return
        words, cards = legal_words(state), legal_cards(state)
        put_legal(words, cards, naming, mask, row)
        if not view.canonical:
            me.words, me.cards = words, cards
        return
    for action in range(mask.shape[1]):
        mask[row, action] = 0
    if me.status == PENDING or me.status == DECIDES:
        if view.knock_only:
            mask[row, 0] = 1
            mask[row, 1] = 1
        else:
            mask[row, PASS] = 1


@kernel
def show(state: State, me: Any, view: Any, full: Any, compact: Any, mask: Any, row: int) -> None:
    """What the learner sees, and its mask."""
    seat = np.int64(me.seat)
    naming = naming_for(state, seat, bool(view.canonical))
    if view.compact:
        observe_compact(state, seat, compact, row)
    else:
        observe_full(state, seat, naming, full, row)
    put_mask(state, me, view, naming, mask, row)


@kernel
def learner_action(state: State, me: Any, view: Any, knocking: Any, book: Any, action: int) -> int:
    """The engine's action for the learner's; FINISH for one that ends what is decided.

    `knocking` is None where the learner decides everything: then no bot is compiled.
    """
    if me.status == PENDING:
        return FINISH if view.knock_only or action == PASS else ILLEGAL
    if me.status != DECIDES:
        return ILLEGAL
    if me.words != UNKNOWN:
        return action if is_among(me.words, me.cards, action) else ILLEGAL
    naming = naming_for(state, np.int64(me.seat), bool(view.canonical))
    if knocking is None:
        found = seat_action(state, action, naming, bool(view.slots))
    else:
        found = outside_action(state, action, naming, bool(view.slots), book)
    return found if is_legal(state, found) else ILLEGAL


@entry
def resolve_rows(
    states: Any,
    learners: Any,
    view: Any,
    knocking: Any,
    book: Any,
    rows: Any,
    actions: Any,
    resolved: Any,
    first: int,
    after: int,
) -> int:
    """Turn the learners' actions into the engine's; the first illegal place, or −1."""
    bad = -1
    for place in range(first, after):
        row = rows[place]
        if learners[row].words == UNKNOWN:
            prefetch(states, rows[min(place + AHEAD, after - 1)], "hands", "controllers")
        chosen = np.int64(actions[place])
        action = learner_action(states[row], learners[row], view[0], knocking, book, chosen)
        resolved[place] = action
        if action == ILLEGAL and bad < 0:
            bad = place
    return bad


@entry
def play_rows(
    states: Any,
    starts: Any,
    dealers: Any,
    learners: Any,
    view: Any,
    controllers: Any,
    book: Any,
    rows: Any,
    actions: Any,
    full: Any,
    compact: Any,
    mask: Any,
    own: bool,
    first: int,
    after: int,
) -> None:
    """Take resolved decisions, then let bots play up to one from outside.

    The learners' own ones (and deals, BEGIN) are paid and shown where nobody else must decide;
    those of policies (and FINISH: one decision of a bot, for those who watch) are not.
    """
    for place in range(first, after):
        row, action = rows[place], np.int64(actions[place])
        prefetch(states, rows[min(place + AHEAD, after - 1)], "hands", "controllers")
        state, me = states[row], learners[row]
        me.words = UNKNOWN
        if action == BEGIN:
            dealer = np.int64(dealers[me.start])
            begin(state, starts[me.start], dealer, me, view[0], controllers)
        elif own:
            me.begun = 1
        if action == ILLEGAL:
            forfeit(me)
        else:
            follow(state, me, action, book, bool(view[0].slowly))
        if own and me.status != OPPONENT and me.status != RUNNING:
            if action != ILLEGAL and action != BEGIN:
                pay(state, me, np.int64(view[0].kind))
            show(state, me, view[0], full, compact, mask, row)


@entry
def show_rows(
    states: Any,
    learners: Any,
    view: Any,
    rows: Any,
    full: Any,
    compact: Any,
    mask: Any,
    settles: bool,
    first: int,
    after: int,
) -> None:
    """What the learners see, once more; or pay what was played outside the kernel or slowly."""
    for place in range(first, after):
        row = rows[place]
        state, me = states[row], learners[row]
        if settles and me.begun:
            pay(state, me, np.int64(view[0].kind))
        show(state, me, view[0], full, compact, mask, row)
