"""The draw family's turn: draw and discard, knock, or pass (docs/rules.md)."""

from __future__ import annotations

import numpy as np

from thirtyone_env._jit import inlined_kernel
from thirtyone_env.actions import DRAW_STOCK, KNOCK, PASS, TAKE_UPCARD, ends_on_empty_stock
from thirtyone_env.cards import BIT, BIT_OR_NOTHING, NO_CARD
from thirtyone_env.engine.deck import next_card, recycle
from thirtyone_env.engine.rounds import (
    blitz_counts,
    count_turn,
    end_round,
    knock,
    pass_turn_on,
)
from thirtyone_env.rules import OUT_RESHUFFLE, OUT_VOID
from thirtyone_env.state import NOBODY, End, Phase, State, acting_seat, seats_in, stock_left


@inlined_kernel
def begin_draw_turn(state: State, action: int) -> None:
    """Take the action that begins a turn."""
    state.moves[acting_seat(state)] = action + 1
    if action == DRAW_STOCK:
        draw_stock(state)
    elif action == TAKE_UPCARD:
        take_upcard(state)
    elif action == KNOCK or action == PASS:
        knock_or_pass(state, action == KNOCK)


@inlined_kernel
def draw_stock(state: State) -> None:
    """Draw the stock's top card, unseen by the others."""
    seat = acting_seat(state)
    card = next_card(state)
    state.hands[seat] |= np.int64(BIT[card])
    state.drawn = card
    state.fresh[seat] += 1
    state.phase = Phase.DISCARD


@inlined_kernel
def take_upcard(state: State) -> None:
    """Take the upcard, in everybody's sight."""
    seat = acting_seat(state)
    card = np.int64(state.upcard) & 63
    state.hands[seat] |= np.int64(BIT[card])
    state.known[seat] |= np.int64(BIT[card])
    state.drawn = card
    state.taken = card
    state.upcard = NO_CARD
    state.phase = Phase.DISCARD


@inlined_kernel
def discard(state: State, card: int) -> None:
    """Lay a card on the pile and end the turn."""
    seat = acting_seat(state)
    bit = np.int64(BIT[card & 63])
    if state.recycled & bit:
        state.fresh[seat] -= 1
        state.recycled &= ~bit
    state.hands[seat] &= ~bit
    state.known[seat] &= ~bit
    state.discards[seat] |= bit
    state.pile |= np.int64(BIT_OR_NOTHING[np.int64(state.upcard) & 63])  # none where it was taken
    state.upcard = card
    state.passes = 0
    if blitz_counts(state):
        count_turn(state)
        end_round(state, End.BLITZ)
    else:
        end_draw_turn(state)


@inlined_kernel
def knock_or_pass(state: State, knocks: bool) -> None:
    """Let the turn go by, with or without a knock."""
    final = ends_on_empty_stock(state)
    state.passes = 0 if knocks else state.passes + 1
    if knocks:
        knock(state)
    if final:
        count_turn(state)
        end_round(state, End.STOCK_OUT)
    else:
        end_draw_turn(state)


@inlined_kernel
def end_draw_turn(state: State) -> None:
    """Judge an empty stock, then pass the turn on."""
    count_turn(state)
    if stock_left(state) == 0 and state.knocker == NOBODY:
        mode = state.rules.stock_out
        if mode == OUT_VOID:
            end_round(state, End.VOID)
            return
        if mode == OUT_RESHUFFLE and state.pile != 0:
            recycle(state, np.int64(state.pile))
            state.pile = 0
        elif state.passes >= seats_in(state.in_play):
            end_round(state, End.STOCK_OUT)
            return
    pass_turn_on(state)
