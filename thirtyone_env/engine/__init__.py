"""The engine: one function a transition, one file a family; `apply` and `step` bring them together.

`apply` takes one decision and stops when the round is settled (`Phase.ROUND_OVER`), so that a
recorder can look at it; `step` deals on until the next decision.
"""

from __future__ import annotations

import numpy as np

from thirtyone_env._jit import inlined_kernel, kernel
from thirtyone_env.actions import BUY_IN, FIRST_CARD, KEEP
from thirtyone_env.engine.draw import begin_draw_turn, discard
from thirtyone_env.engine.exchange import (
    begin_exchange_turn,
    choose_as_dealer,
    take_from_table,
)
from thirtyone_env.engine.rounds import (
    decide_buy_in,
    judge_round,
    next_round,
    prepare_match,
)
from thirtyone_env.state import Phase, State


@inlined_kernel
def apply(state: State, action: int) -> None:
    """Take one legal decision of the seat to act (card format), up to the end of the round."""
    state.decisions += 1
    phase = np.int64(state.phase)
    if phase == Phase.TURN:
        if state.rules.exchange:
            begin_exchange_turn(state, action)
        else:
            begin_draw_turn(state, action)
    elif phase == Phase.DISCARD:
        discard(state, action - FIRST_CARD)
    elif phase == Phase.TAKE:
        take_from_table(state, action - FIRST_CARD)
    elif phase == Phase.DEALER:
        choose_as_dealer(state, action == KEEP)
    elif phase == Phase.BUY_IN:
        decide_buy_in(state, action == BUY_IN)
    if state.phase == Phase.JUDGE:
        judge_round(state)


@inlined_kernel
def deal_next(state: State) -> None:
    """Deal the next round; a dealt blitz may end it at once."""
    next_round(state)
    if state.phase == Phase.JUDGE:
        judge_round(state)


@inlined_kernel
def run_on(state: State) -> None:
    """Deal until somebody must decide or the match is over."""
    while state.phase == Phase.ROUND_OVER:
        deal_next(state)


@kernel
def start_match(state: State) -> None:
    """Deal a match from its beginning, up to the first decision; rules and seeds are set."""
    prepare_match(state)
    run_on(state)


@inlined_kernel
def step(state: State, action: int) -> None:
    """Take one legal decision and deal on until the next one."""
    apply(state, action)
    run_on(state)
