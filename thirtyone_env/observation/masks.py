"""Masks of legal actions, and actions as an agent means them: suits renamed, cards by slot."""

from __future__ import annotations

from typing import Any

import numpy as np

from thirtyone_env._jit import inlined_kernel, kernel, put_flags
from thirtyone_env.actions import (
    FIRST_CARD,
    NUM_SLOT_ACTIONS,
    legal_cards,
    legal_words,
    slot_cards,
)
from thirtyone_env.canonical import old_names, rename_card, rename_set
from thirtyone_env.cards import BIT, NO_CARD, lowest, nth_card, place_of, side_by_side
from thirtyone_env.state import State


@inlined_kernel
def put_legal(words: int, cards: int, naming: int, out: Any, row: int) -> None:
    """Write some named actions and some cards into a row of a mask (card format)."""
    cards = side_by_side(rename_set(cards, naming))
    put_flags(out, row, 0, words | cards << FIRST_CARD, 64)
    out[row, 64] = cards >> (64 - FIRST_CARD)


@kernel
def write_mask(state: State, naming: int, out: Any, row: int) -> None:
    """Write the legal actions of the seat to act into a row (card format)."""
    put_legal(legal_words(state), legal_cards(state), naming, out, row)


@kernel
def write_slot_mask(state: State, naming: int, out: Any, row: int) -> None:
    """The same in the slot format."""
    words = legal_words(state)
    legal = rename_set(legal_cards(state), naming)
    cards = rename_set(slot_cards(state, np.int64(state.seat)), naming)
    slots = 0
    while legal:
        card = lowest(legal)
        legal ^= np.int64(BIT[card])
        slots |= 1 << place_of(cards, card)
    put_flags(out, row, 0, words | slots << FIRST_CARD, NUM_SLOT_ACTIONS)


@kernel
def engine_action(state: State, action: int, naming: int, slots: bool) -> int:
    """The card-format action with real suits that an agent's action stands for; −1 for none."""
    if action < FIRST_CARD:
        return action
    card = action - FIRST_CARD
    if slots:
        card = nth_card(rename_set(slot_cards(state, np.int64(state.seat)), naming), card)
        if card == NO_CARD:
            return -1
    return FIRST_CARD + rename_card(card, old_names(naming))


@kernel
def agent_action(state: State, action: int, naming: int, slots: bool) -> int:
    """The action by which an agent takes an engine's action: the way back of `engine_action`."""
    if action < FIRST_CARD:
        return action
    card = rename_card(action - FIRST_CARD, naming)
    if slots:
        return FIRST_CARD + place_of(
            rename_set(slot_cards(state, np.int64(state.seat)), naming), card
        )
    return FIRST_CARD + card
