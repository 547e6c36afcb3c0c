"""Deal anew everything that a seat cannot know: for search, and for tests that nobody peeks.

The new cards are uniform over what the public history allows: cards taken openly stay where they
are; a hand that was not shown holds no blitz (and one that must hold a dealt blitz does); the
knocker's hand is worth `min_knock`; after a reshuffle a hand holds as many recycled cards as it
must, and cards that lay hidden in hands then are still there. They are drawn by dealing the unseen
cards until these conditions hold (rejection keeps the distribution uniform).

Two things are not reconstructed; the true deal stays possible in both. Hands as they were earlier
in the round: a seat that took the upcard and gave up the ace of its suit cannot hide the rest of a
blitz (a few deals in a thousand). And from the second reshuffle of one round on, which of the
hidden cards had been recycled in the first.
"""

from __future__ import annotations

import numpy as np

from thirtyone_env._jit import kernel
from thirtyone_env.cards import BIT, NO_CARD, count, hand_value, lowest
from thirtyone_env.rng import USE_RESAMPLE, advance_stream, below, derive, mix
from thirtyone_env.state import NOBODY, Phase, State, is_in, stock_set

MAX_TRIES = 1_000_000


@kernel
def shown(state: State, seat: int) -> int:
    """Cards of a hand that everybody has seen."""
    cards = np.int64(state.known[seat])
    if state.given != NO_CARD and state.seat == seat:
        cards |= np.int64(BIT[state.given])
    return cards & np.int64(state.hands[seat])


@kernel
def draw_from(cards: int, stream: np.uint64) -> int:
    """One card of a set, each as likely."""
    choice = below(stream, count(cards))
    while choice:
        cards &= cards - 1
        choice -= 1
    return cards & -cards


@kernel
def hidden_recycled(state: State, seat: int) -> int:
    """How many of a hand's hidden cards are recycled ones."""
    return np.int64(state.fresh[seat]) if state.reshuffles else 0


@kernel
def unseen_cards(state: State, seat: int) -> int:
    """Cards whose place the seat does not know."""
    cards = stock_set(state)
    for other in range(state.num_players):
        if other != seat:
            cards |= np.int64(state.hands[other]) & ~shown(state, other)
    return cards


@kernel
def deal_unseen(state: State, seat: int, stream: np.uint64) -> np.uint64:
    """Deal the unseen cards to the hidden places of the other hands and to the stock."""
    unseen = unseen_cards(state, seat)
    recycled = unseen & np.int64(state.recycled)
    old = unseen & ~recycled
    for other in range(state.num_players):
        if other == seat:
            continue
        open_part = shown(state, other)
        places = count(np.int64(state.hands[other]) & ~open_part)
        fresh = hidden_recycled(state, other)
        hand = open_part
        for place in range(places):
            stream = advance_stream(stream)
            if place < fresh:
                card = draw_from(recycled, stream)
                recycled ^= card
            else:
                card = draw_from(old, stream)
                old ^= card
            hand |= card
            if state.seat == other and state.drawn != NO_CARD and state.taken == NO_CARD:
                if place == 0:
                    state.drawn = lowest(card)
        state.hands[other] = hand
    lay_stock(state, recycled | old)
    return stream


@kernel
def lay_stock(state: State, cards: int) -> None:
    """Make some cards the stock, none of them settled yet."""
    place = np.int64(state.top)
    while cards:
        state.deck[place] = lowest(cards)
        cards &= cards - 1
        place += 1
    state.shuffled = state.top


@kernel
def has_moved_since_knock(state: State, seat: int) -> bool:
    """Whether a seat has had its last turn."""
    if state.knocker == NOBODY or seat == state.knocker:
        return False
    seats = np.int64(state.num_players)
    now = (np.int64(state.seat) - np.int64(state.knocker) + seats) % seats
    return (seat - np.int64(state.knocker) + seats) % seats < now


@kernel
def dealt_blitz_is_possible(state: State) -> bool:
    """After a dealt blitz: who was passed over holds one, who acts holds none, and one exists."""
    seats = np.int64(state.num_players)
    first = np.int64(state.dealer) + 1
    now = (np.int64(state.seat) - first + seats) % seats
    holders = 0
    for step in range(seats):
        seat = (first + step) % seats
        if not is_in(state.in_play, seat):
            continue
        blitz = hand_value(np.int64(state.hands[seat]), state.rules) >= state.rules.blitz_value
        if step < now and state.own_turns[seat] == 0 and not blitz:
            return False
        if step == now and blitz:
            return False
        if blitz and state.own_turns[seat] == 0:
            holders += 1
    return holders > 0


@kernel
def hand_is_possible(state: State, seat: int) -> bool:
    """Whether the public history allows a hand."""
    hand = np.int64(state.hands[seat])
    if state.seat == seat and state.drawn != NO_CARD:
        hand &= ~np.int64(BIT[state.drawn])
    value = hand_value(hand, state.rules)
    if seat == state.knocker and value < state.rules.min_knock:
        return False
    if value < state.rules.blitz_value:
        return True
    return has_moved_since_knock(state, seat) and not state.rules.blitz_after_knock


@kernel
def deal_is_possible(state: State, seat: int) -> bool:
    """Whether the public history allows all hands."""
    if state.phase >= Phase.DEALER:
        return True
    if state.dealt_blitz:
        return dealt_blitz_is_possible(state)
    for other in range(state.num_players):
        if other != seat and is_in(state.in_play, other) and not hand_is_possible(state, other):
            return False
    return True


@kernel
def replace_streams(state: State, seat: int, stream: np.uint64) -> None:
    """New randomness for all that is to come; the seat's own policy stream is its own."""
    state.stream = derive(stream, 0, 0, USE_RESAMPLE)
    state.seed = derive(stream, 1, 0, USE_RESAMPLE)
    for other in range(state.num_players):
        if other != seat:
            state.policy_streams[other] = derive(stream, 2, other, USE_RESAMPLE)


@kernel
def resample_hidden(state: State, seat: int, stream: np.uint64) -> bool:
    """Deal anew what a seat cannot know, from a stream.

    Returns:
        False where no possible deal was found in `MAX_TRIES` tries; the hands are then the last
        ones tried.
    """
    stream = mix(stream)
    for _ in range(MAX_TRIES):
        stream = deal_unseen(state, seat, stream)
        if deal_is_possible(state, seat):
            replace_streams(state, seat, stream)
            return True
    return False
