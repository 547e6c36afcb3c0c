"""What both formats of the observation say: own value, the card on its way, how a turn began."""

from __future__ import annotations

import numpy as np

from thirtyone_env._jit import inlined_kernel, kernel
from thirtyone_env.actions import (
    DRAW_STOCK,
    FIRST_CARD,
    PASS,
    SWAP_ALL,
    TAKE_UPCARD,
    legal_cards,
)
from thirtyone_env.bots.hands import best_after_discard
from thirtyone_env.cards import NO_CARD, count, hand_value
from thirtyone_env.state import State

MOVE_KINDS: np.ndarray = np.full(16, -1)
"""int64[16]: how a turn began, by `State.moves` (an action + 1); −1 where none did."""
for _action, _kind in (
    (DRAW_STOCK, 0),
    (TAKE_UPCARD, 1),
    (FIRST_CARD, 1),
    (PASS, 2),
    (SWAP_ALL, 3),
):
    MOVE_KINDS[_action + 1] = _kind
MOVE_FLAGS: np.ndarray = np.where(MOVE_KINDS >= 0, 1 << np.maximum(MOVE_KINDS, 0), 0)
"""int64[16]: the same with one bit a kind."""


@kernel
def own_value(state: State, seat: int) -> int:
    """Value of the seat's hand in half points; with a card too many, of the best it can keep."""
    hand = np.int64(state.hands[seat])
    if count(hand) <= state.rules.hand_size:
        return hand_value(hand, state.rules)
    cards = legal_cards(state) if state.seat == seat else hand
    return best_after_discard(hand, cards, state.rules)


@kernel
def moving_card(state: State, seat: int) -> int:
    """The card on its way as a seat sees it; NO_CARD where it sees none."""
    if state.given != NO_CARD:
        return np.int64(state.given)
    if state.seat == seat:
        return np.int64(state.drawn)
    return np.int64(state.taken)


@inlined_kernel
def move_kind(state: State, seat: int) -> int:
    """How a seat's last turn began: 0 stock, 1 an open card, 2 a pass, 3 swap all; −1 none."""
    return np.int64(MOVE_KINDS[np.int64(state.moves[seat]) & 15])
