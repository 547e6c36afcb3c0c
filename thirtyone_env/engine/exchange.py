"""The exchange family's turn: swap one card or all, knock, or pass; the dealer's choice.

The rules are docs/rules.md, "A round, exchange family".
"""

from __future__ import annotations

import numpy as np

from thirtyone_env._jit import kernel
from thirtyone_env.actions import FIRST_CARD, KNOCK, PASS, SWAP_ALL
from thirtyone_env.cards import BIT
from thirtyone_env.engine.deck import next_card, recycle
from thirtyone_env.engine.rounds import (
    blitz_counts,
    count_turn,
    end_round,
    knock,
    next_after_dealt_blitz,
    open_round,
    pass_turn_on,
    turn_up_table,
)
from thirtyone_env.state import NOBODY, End, Phase, State, seats_in, stock_left


@kernel
def choose_as_dealer(state: State, keeps: bool) -> None:
    """Keep the hand and turn up a table, or lay it open as the table and take three new cards."""
    if keeps:
        turn_up_table(state)
    else:
        seat = state.seat
        state.refused = 1
        state.table = state.hands[seat]
        state.hands[seat] = 0
        for _ in range(3):
            state.hands[seat] |= np.int64(BIT[next_card(state)])
    open_round(state)


@kernel
def begin_exchange_turn(state: State, action: int) -> None:
    """Take the action that begins a turn; a card is the one to give."""
    state.moves[state.seat] = min(action, FIRST_CARD) + 1
    if action == SWAP_ALL:
        swap_all(state)
    elif action == KNOCK or action == PASS:
        state.passes = state.passes + 1 if action == PASS else 0
        if action == KNOCK:
            knock(state)
        end_exchange_turn(state)
    else:
        state.given = action - FIRST_CARD
        state.phase = Phase.TAKE


@kernel
def swap_all(state: State) -> None:
    """Exchange the whole hand for the table."""
    seat = state.seat
    hand = np.int64(state.hands[seat])
    state.hands[seat] = state.table
    state.known[seat] = state.table
    state.discards[seat] |= hand
    state.table = hand
    finish_swap(state)


@kernel
def take_from_table(state: State, card: int) -> None:
    """Complete the swap of one card."""
    seat = state.seat
    given, taken = np.int64(BIT[state.given]), np.int64(BIT[card])
    state.hands[seat] = (state.hands[seat] & ~given) | taken
    state.known[seat] = (state.known[seat] & ~given) | taken
    state.discards[seat] |= given
    state.table = (state.table & ~taken) | given
    finish_swap(state)


@kernel
def finish_swap(state: State) -> None:
    """A swap starts the count of passes anew, and may have made a blitz."""
    state.passes = 0
    if not state.dealt_blitz and blitz_counts(state):
        count_turn(state)
        end_round(state, End.BLITZ)
    else:
        end_exchange_turn(state)


@kernel
def end_exchange_turn(state: State) -> None:
    """Renew the table when all have passed, then pass the turn on."""
    count_turn(state)
    if state.dealt_blitz:
        next_after_dealt_blitz(state, state.seat, True)
        return
    if state.knocker == NOBODY and state.passes >= seats_in(state.in_play):
        if stock_left(state) < 3 and not state.rules.table_reshuffle:
            end_round(state, End.STOCK_OUT)
            return
        renew_table(state)
    pass_turn_on(state)


@kernel
def renew_table(state: State) -> None:
    """Put the table aside and turn up three new cards, all aside reshuffled if need be."""
    state.passes = 0
    state.pile |= state.table
    if stock_left(state) < 3:
        recycle(state, np.int64(state.pile))
        state.pile = 0
    turn_up_table(state)
    state.renewals += 1
