"""Rounds of the exchange family from which a solver learns: what each choice leads to.

Where the learner decides, choices are tried on a copy of the state, and all play on by their
policies to the end of the round: what the seat then gets or loses is what the choice led to. (Worth
by the tables at the seat's next turn would be that of its best choice by them, which is too high as
long as they are in error; a round in which everybody hopes for more never ends.) Copies share the
cards to come with the state, so that what is learned is an average over the true deals. Sums are of
errors, in lives, by the place in the tables.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.training.solver.kernels import USE_EXPLORE, deal_round, explored, take
from thirtyone_env._jit import entry, kernel
from thirtyone_env.actions import FIRST_CARD, KEEP, KNOCK, PASS, REFUSE, SWAP_ALL, may_knock
from thirtyone_env.bots.deciding import bot_action
from thirtyone_env.bots.exchanging import (
    Places,
    best_exchange,
    exchange_action,
    exchange_block,
    exchange_spot,
    left_to_move,
    places_after,
    places_of_dealer,
    places_of_knock,
    places_of_last,
    places_of_pass,
    sum_at,
    weakest_opponent,
)
from thirtyone_env.bots.lookahead import is_last_turn
from thirtyone_env.cards import lowest
from thirtyone_env.exchange_parts import ExchangeHead
from thirtyone_env.rng import advance_stream, below, derive
from thirtyone_env.solvers import UNIT
from thirtyone_env.state import NOBODY, Phase, State, acting_seat

USE_RARELY = 132
MARGIN = UNIT // 4
"""Swaps that are worth less than the best choice by more than this, in lives, are tried rarely."""
RARELY = 8
"""One in so many."""


@kernel
def choose(state: State, book: Any, at: int) -> int:
    """What the seat to act does: its bot, or the tables of `at` where it has none."""
    if state.controllers[acting_seat(state)].bot:
        return bot_action(state, book)
    return exchange_action(state, book, at)


@kernel
def follow(
    states: Any, seat: int, places: Any, book: Any, own: int, others: int, sums: Any, counts: Any
) -> None:
    """Play the copy to its end, and note the error at the places of what has been tried."""
    copy = states[1]
    while copy.phase != Phase.OVER:
        take(copy, choose(copy, book, own if copy.seat == seat else others))
    error = np.float64(copy.lives_payoff[seat]) - sum_at(places, book) / UNIT
    first = np.int64(book[exchange_block(states[0], book, own) + ExchangeHead.PARTS])
    for place in places:
        sums[place - first] += error
        counts[place - first] += 1


@kernel
def places_of(
    state: State, hand: int, table: int, left: int, spot: int, other: int, book: Any, at: int
) -> Places:
    """The places of a swap; `left` as for `worth_of_swap`."""
    if left == NOBODY:
        return places_after(state, hand, table, 0, spot, other, book, at)
    return places_of_last(state, hand, table, left, book, at)


@kernel
def try_dealer(states: Any, book: Any, own: int, others: int, sums: Any, counts: Any) -> None:
    """What keeping and refusing lead to."""
    state, copy = states[0], states[1]
    at = exchange_block(state, book, own)
    for keeps in range(2):
        places = places_of_dealer(state, keeps, book, at)
        states[1] = states[0]
        take(copy, KEEP if keeps else REFUSE)
        follow(states, acting_seat(state), places, book, own, others, sums, counts)


@kernel
def try_words(
    states: Any,
    left: int,
    spot: int,
    other: int,
    book: Any,
    own: int,
    others: int,
    sums: Any,
    counts: Any,
) -> None:
    """What a pass, a knock and a swap of all lead to."""
    state, copy, seat = states[0], states[1], acting_seat(states[0])
    at, hand, table = exchange_block(state, book, own), state.hands[seat], np.int64(state.table)
    if left == NOBODY:
        places = places_of_pass(state, spot, other, book, at)
    else:
        places = places_of_last(state, np.int64(hand), table, left, book, at)
    states[1] = states[0]
    take(copy, PASS)
    follow(states, seat, places, book, own, others, sums, counts)
    if may_knock(state):
        places = places_of_knock(state, spot, other, book, at)
        states[1] = states[0]
        take(copy, KNOCK)
        follow(states, seat, places, book, own, others, sums, counts)
    places = places_of(state, table, np.int64(hand), left, spot, other, book, at)
    states[1] = states[0]
    take(copy, SWAP_ALL)
    follow(states, seat, places, book, own, others, sums, counts)


@kernel
def least_tried(state: State, left: int, spot: int, other: int, book: Any, at: int) -> int:
    """The worth below which a swap is tried rarely."""
    if left != NOBODY:
        return -(1 << 40)
    best = best_exchange(state, left, spot, other, book, at)[0] >> 16
    if may_knock(state):
        best = max(best, sum_at(places_of_knock(state, spot, other, book, at), book))
    return best - MARGIN


@kernel
def try_swaps(
    states: Any,
    left: int,
    spot: int,
    other: int,
    book: Any,
    own: int,
    others: int,
    sums: Any,
    counts: Any,
) -> None:
    """What swaps of one card lead to."""
    state, copy, seat = states[0], states[1], acting_seat(states[0])
    at, hand, table = exchange_block(state, book, own), state.hands[seat], np.int64(state.table)
    least = least_tried(state, left, spot, other, book, at)
    stream = derive(state.seed, state.match, np.int64(state.decisions), USE_RARELY)
    for pair in range(9):
        given, taken = nth_of(np.int64(hand), pair // 3), nth_of(table, pair % 3)
        after, middle = np.int64(hand) ^ given | taken, table ^ taken | given
        places = places_of(state, after, middle, left, spot, other, book, at)
        stream = advance_stream(stream)
        if sum_at(places, book) >= least or below(stream, RARELY) == 0:
            states[1] = states[0]
            take(copy, FIRST_CARD + lowest(given))
            take(copy, FIRST_CARD + lowest(taken))
            follow(states, seat, places, book, own, others, sums, counts)


@kernel
def nth_of(cards: int, nth: int) -> int:
    """The n-th lowest card of a set, from 0, as a set."""
    for _ in range(nth):
        cards &= cards - 1
    return cards & -cards


@kernel
def try_choices(states: Any, book: Any, own: int, others: int, sums: Any, counts: Any) -> None:
    """What the choices of the seat to act lead to."""
    state = states[0]
    if state.phase == Phase.DEALER:
        try_dealer(states, book, own, others, sums, counts)
        return
    seat, at = acting_seat(state), exchange_block(state, book, own)
    left = left_to_move(state, seat) if is_last_turn(state) else NOBODY
    if left == 0:  # the strongest hand is best
        return
    spot, other = exchange_spot(state, seat, book, at), weakest_opponent(state, seat)
    try_words(states, left, spot, other, book, own, others, sums, counts)
    try_swaps(states, left, spot, other, book, own, others, sums, counts)


# --- rounds --------------------------------------------------------------------------------------


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
        if learns and (state.phase == Phase.TURN or state.phase == Phase.DEALER):
            try_choices(states, book, own, others, sums, counts)
        action = choose(state, book, own if learns else others)
        if seat == explorer:
            action, stream = explored(state, action, explore, stream)
        take(state, action)


@entry
def learn_exchange_rounds(
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
    """Learn from rounds; the arguments are those of `kernels.learn_rounds`."""
    for match in range(first, after):
        learners, explorer = deal_round(states, laid, learner, match)
        learn_round(states, book, own, others, learners, explorer, explore, sums, counts)
