"""What the hand is worth after each action that changes it: for networks, beside the bytes.

An *afterstate* (Sutton and Barto, *Reinforcement Learning*, 6.8) is what an action leaves behind
before chance or anybody else moves. `AFTERSTATES` actions have one: those of the slots, and the
swap of the whole hand. Its value, in half points, is that of the hand without the card that is
discarded; with the one that is taken from the table; with the best one from the table in the place
of the one that is given; that of the table. All of it follows from the full observation, but a
network would have to find out by itself which card is in which slot, and what goes well together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thirtyone_env._jit import kernel
from thirtyone_env.actions import NUM_SLOTS, legal_cards, slot_cards
from thirtyone_env.bots.hands import best_with_one_of
from thirtyone_env.canonical import rename_card, rename_set
from thirtyone_env.cards import BIT, hand_value, lowest, place_of
from thirtyone_env.observation.layout import NUM_VALUES
from thirtyone_env.state import Phase, State

AFTERSTATES = NUM_SLOTS + 1
"""Actions that have one: the slots, then `swap_all`."""
AFTERSTATE_SIZE = AFTERSTATES * NUM_VALUES
"""Flags: one for each value of each of them."""


@kernel
def value_after(state: State, card: int) -> int:
    """The value in half points that discarding, giving or taking a card leads to."""
    hand, rules = np.int64(state.hands[state.seat]), state.rules
    if state.phase == Phase.TAKE:
        return hand_value(hand | np.int64(BIT[card]), rules)
    hand ^= np.int64(BIT[card])
    if state.phase == Phase.DISCARD:
        return hand_value(hand, rules)
    return best_with_one_of(hand, np.int64(state.table), rules)


@kernel
def put_afterstates(state: State, naming: int, first: int, out: Any, row: int) -> None:
    """Write the flags of the seat to act, counted from `first` on, into a row int16[AFTERSTATES].

    −1 stands where an action is not legal.
    """
    for place in range(AFTERSTATES):
        out[row, place] = -1
    legal = legal_cards(state)
    if legal:
        cards = rename_set(slot_cards(state, np.int64(state.seat)), naming)
        if state.phase == Phase.TURN:
            value = hand_value(np.int64(state.table), state.rules)
            out[row, NUM_SLOTS] = first + NUM_SLOTS * NUM_VALUES + value
    while legal:
        card = lowest(legal)
        legal ^= np.int64(BIT[card])
        place = place_of(cards, rename_card(card, naming))
        out[row, place] = first + place * NUM_VALUES + value_after(state, card)
