"""Rounds from which a solver learns: at every decision, what each choice leads to.

A round is played by the real engine. Where the learner decides, every discard is tried on a copy of
the state, and so are a knock and a draw; the others play on by their own policies until the
learner's next turn, whose worth by the learner's tables is what the choice led to (the payoff where
the round ended). Copies share the cards to come with the state, so that what is learned is an
average over the true deals. Sums are of errors, in lives, by the place in the tables.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thirtyone_env._jit import entry, kernel
from thirtyone_env.actions import DRAW_STOCK, FIRST_CARD, KNOCK, legal_cards, legal_words, may_knock
from thirtyone_env.bots.deciding import bot_action
from thirtyone_env.bots.solving import (
    best_discard,
    block_of,
    card_place,
    class_place,
    solver_action,
    spot_of,
    turn_worth,
    value_place,
    worth_after,
    worth_of_drawing,
    worth_of_knocking,
)
from thirtyone_env.cards import BIT, NO_CARD, count, lowest, nth_card
from thirtyone_env.engine import deal_next, start_match, step
from thirtyone_env.engine.deck import swap_places
from thirtyone_env.engine.rounds import prepare_match
from thirtyone_env.rng import advance_stream, below, derive
from thirtyone_env.solvers import UNIT, Part, SolverHead
from thirtyone_env.state import NOBODY, Phase, State, acting_seat, stock_left

USE_EXPLORE = 131


@kernel
def take(state: State, action: int) -> None:
    """Take a decision."""
    step(state, action)


@kernel
def table_action(state: State, book: Any, at: int) -> int:
    """What the seat to act does: its bot, or the tables of `at` where it has none."""
    if state.controllers[acting_seat(state)].bot:
        return bot_action(state, book)
    return solver_action(state, book, at)


@kernel
def led_to(state: State, seat: int, book: Any, own: int, others: int) -> float:
    """What a seat has got once it is its turn again or the round is over, in lives."""
    while state.phase != Phase.OVER:
        if state.seat == seat and state.phase == Phase.TURN:
            return turn_worth(state, book, block_of(state, book, own)) / UNIT
        take(state, table_action(state, book, others))
    return np.float64(state.lives_payoff[seat])


@kernel
def first_of(book: Any, at: int) -> int:
    """Where the tables of a block begin."""
    return np.int64(book[at + SolverHead.PARTS])


@kernel
def note(place: int, error: float, sums: Any, counts: Any) -> None:
    """Add an error at a place in the tables."""
    sums[place] += error
    counts[place] += 1


@kernel
def try_discards(
    states: Any, spot: int, book: Any, at: int, own: int, others: int, sums: Any, counts: Any
) -> None:
    """What every discard leads to."""
    state, copy = states[0], states[1]
    seat, last = acting_seat(state), state.knocker != NOBODY
    hand, cards, start = np.int64(state.hands[seat]), legal_cards(state), first_of(book, at)
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        rest = hand & ~np.int64(BIT[card])
        thought = worth_after(state, seat, rest, card, spot, book, at) / UNIT
        part = Part.LAST_CARD if last else Part.CARD
        open_place = card_place(state, part, seat, rest, card, spot, book, at)
        if last:
            place = value_place(state, Part.LAST, rest, spot, book, at)
        else:
            place = class_place(Part.AFTER, rest, spot, book, at)
        states[1] = states[0]
        take(copy, FIRST_CARD + card)
        error = led_to(copy, seat, book, own, others) - thought
        note(place - start, error, sums, counts)
        note(open_place - start, error, sums, counts)


@kernel
def try_draw(states: Any, spot: int, book: Any, at: int, sums: Any, counts: Any) -> None:
    """What a draw from the stock leads to."""
    state, copy = states[0], states[1]
    seat, start = acting_seat(state), first_of(book, at)
    thought = worth_of_drawing(state, seat, spot, book, at) / UNIT
    part = Part.DRAW if state.knocker == NOBODY else Part.LAST_DRAW
    place = class_place(part, np.int64(state.hands[seat]), spot, book, at)
    states[1] = states[0]
    take(copy, DRAW_STOCK)
    hand = np.int64(copy.hands[seat])
    best = best_discard(copy, seat, hand, legal_cards(copy), spot, book, at) >> 14
    note(place - start, best / UNIT - thought, sums, counts)


@kernel
def try_knock(
    states: Any, spot: int, book: Any, at: int, own: int, others: int, sums: Any, counts: Any
) -> None:
    """What a knock leads to."""
    state, copy = states[0], states[1]
    seat, start = acting_seat(state), first_of(book, at)
    hand = np.int64(state.hands[seat])
    thought = worth_of_knocking(state, seat, spot, book, at) / UNIT
    place = value_place(state, Part.KNOCK, hand, spot, book, at)
    states[1] = states[0]
    take(copy, KNOCK)
    error = led_to(copy, seat, book, own, others) - thought
    note(place - start, error, sums, counts)
    if state.upcard != NO_CARD:
        upcard = np.int64(state.upcard)
        place = card_place(state, Part.KNOCK_CARD, seat, hand, upcard, spot, book, at)
        note(place - start, error, sums, counts)


@kernel
def try_all(states: Any, book: Any, own: int, others: int, sums: Any, counts: Any) -> None:
    """What every choice of the seat to act leads to."""
    state = states[0]
    at = block_of(state, book, own)
    spot = spot_of(state, acting_seat(state), book, at)
    if state.phase == Phase.DISCARD:
        try_discards(states, spot, book, at, own, others, sums, counts)
        return
    if may_knock(state):
        try_knock(states, spot, book, at, own, others, sums, counts)
    if stock_left(state) > 0:
        try_draw(states, spot, book, at, sums, counts)


# --- rounds --------------------------------------------------------------------------------------


@kernel
def any_action(state: State, stream: np.uint64) -> int:
    """One of the legal decisions, each as likely."""
    words, cards = legal_words(state), legal_cards(state)
    choice = below(stream, count(words) + count(cards))
    for word in range(FIRST_CARD):
        if (words >> word) & 1:
            if choice == 0:
                return word
            choice -= 1
    return FIRST_CARD + nth_card(cards, choice)


@kernel
def deal_from(state: State, laid: State, size: int, settled: int) -> None:
    """Deal a round from the first cards of another state's deck, all but some of them shuffled."""
    prepare_match(state)
    stream = derive(state.seed, state.match, 1, USE_EXPLORE)
    for place in range(size):
        state.deck[place] = laid.deck[place]
    for place in range(settled, size):
        stream = advance_stream(stream)
        swap_places(state, place, place + below(stream, size - place))
    state.stacked = size
    deal_next(state)
    state.deck_end = size
    state.shuffled = size


@kernel
def deal_round(states: Any, laid: Any, learner: int, match: int) -> tuple[int, int]:
    """Deal a round; who learns from it, as a set of seats, and who explores in it.

    `learner` is the seat that learns and, in every second round, explores; NOBODY: all learn, and
    in every second round one of them explores and learns alone. `laid` int64[2]: cards of a short
    deck that lie in states[2], and how many of them in order; 0 for the whole deck.
    """
    state, explorer = states[0], np.int64(NOBODY)
    seats = np.int64(state.num_players)
    learners = (1 << seats) - 1 if learner == NOBODY else 1 << learner
    if match & 1:
        explorer = (match >> 1) % seats if learner == NOBODY else learner
        learners = 1 << explorer
    state.match = match
    if laid[0]:
        deal_from(state, states[2], laid[0], laid[1])
    else:
        start_match(state)
    return learners, explorer


@kernel
def explored(state: State, action: int, explore: int, stream: np.uint64) -> tuple[int, np.uint64]:
    """The decision of a seat that explores: at times any; and its stream."""
    stream = advance_stream(stream)
    if below(stream, UNIT) < explore:
        stream = advance_stream(stream)
        action = any_action(state, stream)
    return action, stream


@kernel
def learn_round(
    states: Any,
    book: Any,
    own: int,
    others: int,
    learners: int,
    explorer: int,
    explore: int,
    sums: Any,
    counts: Any,
) -> None:
    """Play a round that is dealt; learners are a set of seats; the explorer at times plays any."""
    state = states[0]
    stream = derive(state.seed, state.match, 0, USE_EXPLORE)
    while state.phase != Phase.OVER:
        seat = acting_seat(state)
        learns = (learners >> seat) & 1
        if learns and state.phase <= Phase.DISCARD:
            try_all(states, book, own, others, sums, counts)
        action = solver_action(state, book, own) if learns else table_action(state, book, others)
        if seat == explorer:
            action, stream = explored(state, action, explore, stream)
        take(state, action)


@entry
def learn_rounds(
    states: Any,
    laid: Any,
    book: Any,
    own: int,
    others: int,
    learner: int,
    explore: int,
    first: int,
    after: int,
    sums: Any,
    counts: Any,
) -> None:
    """Learn from rounds; `laid` and `learner` are those of `deal_round`."""
    for match in range(first, after):
        learners, explorer = deal_round(states, laid, learner, match)
        learn_round(states, book, own, others, learners, explorer, explore, sums, counts)
