"""Actions: their codes and names, and which of them are legal.

One fixed `Discrete` space serves all rules. `"card"` format (A = 65): the nine named actions, then
one action a card, which is discarded, given or taken by the phase. `"slot"` format (A = 14): the
same nine, then the place of the card in the sorted hand (or table).
"""

from __future__ import annotations

import numpy as np

from thirtyone_env._jit import inlined_kernel, kernel
from thirtyone_env.cards import (
    BIT,
    BIT_OR_NOTHING,
    NAMES,
    NO_CARD,
    NUM_CARDS,
    hand_value,
    parse_card,
)
from thirtyone_env.rules import OUT_SHOWDOWN, PASS_ALWAYS, PASS_FINAL_TURN
from thirtyone_env.state import NOBODY, Phase, State, acting_seat, stock_left

DRAW_STOCK, TAKE_UPCARD, KNOCK, PASS, SWAP_ALL, KEEP, REFUSE, BUY_IN, DECLINE = range(9)
FIRST_CARD = 9
NUM_SLOTS = 5
NUM_ACTIONS = FIRST_CARD + NUM_CARDS
NUM_SLOT_ACTIONS = FIRST_CARD + NUM_SLOTS
ACTION_WORDS = (
    "draw_stock",
    "take_upcard",
    "knock",
    "pass",
    "swap_all",
    "keep",
    "refuse",
    "buy_in",
    "decline",
)
"""Names of the actions before the cards, by code."""
CARD_WORDS = {Phase.DISCARD: "discard", Phase.TURN: "give", Phase.TAKE: "take"}
"""What a card action does, by phase."""


@inlined_kernel
def may_knock(state: State) -> bool:
    """Whether the seat to act may knock at the start of its turn."""
    seat = acting_seat(state)
    if state.knocker != NOBODY or state.dealt_blitz:
        return False
    if not state.rules.first_turn_knock and state.own_turns[seat] == 0:
        return False
    if state.rules.min_knock == 0:
        return True
    return hand_value(np.int64(state.hands[seat]), state.rules) >= state.rules.min_knock


@kernel
def may_pass(state: State) -> bool:
    """Whether the seat to act may pass at the start of its turn."""
    if state.rules.exchange or stock_left(state) == 0:
        return True
    allowed = state.rules.pass_allowed
    return allowed == PASS_ALWAYS or (allowed == PASS_FINAL_TURN and state.knocker != NOBODY)


@inlined_kernel
def legal_words(state: State) -> int:
    """The legal actions among the nine named ones, one bit an action."""
    phase = state.phase
    if phase == Phase.TURN:
        words = 0
        if state.rules.exchange:
            words = 1 << SWAP_ALL
        else:
            if stock_left(state) > 0:
                words |= 1 << DRAW_STOCK
            if state.upcard != NO_CARD:
                words |= 1 << TAKE_UPCARD
        if may_knock(state):
            words |= 1 << KNOCK
        if may_pass(state):
            words |= 1 << PASS
        return words
    if phase == Phase.DEALER:
        return (1 << KEEP) | (1 << REFUSE)
    if phase == Phase.BUY_IN:
        return (1 << BUY_IN) | (1 << DECLINE)
    return 0


@inlined_kernel
def discardable_cards(state: State, hand: int) -> int:
    """The cards of a hand that may be laid off, as a set."""
    if state.rules.return_upcard:
        return hand
    return hand & ~np.int64(BIT_OR_NOTHING[np.int64(state.taken) & 63])


@inlined_kernel
def legal_cards(state: State) -> int:
    """The cards that may be discarded, given or taken now, as a set."""
    phase = state.phase
    hand = np.int64(state.hands[acting_seat(state)])
    if phase == Phase.DISCARD:
        return discardable_cards(state, hand)
    if phase == Phase.TURN and state.rules.exchange:
        return hand
    if phase == Phase.TAKE:
        return np.int64(state.table)
    return 0


@kernel
def slot_cards(state: State, seat: int) -> int:
    """The cards that slots count through: the table while one is taken, else the seat's hand."""
    if state.phase == Phase.TAKE and state.seat == seat:
        return np.int64(state.table)
    return np.int64(state.hands[seat])


@kernel
def is_legal(state: State, action: int) -> bool:
    """Whether an action (card format) is legal now."""
    if action < 0 or action >= NUM_ACTIONS or state.phase >= Phase.JUDGE:
        return False
    if action < FIRST_CARD:
        return (legal_words(state) >> action) & 1 == 1
    return legal_cards(state) & np.int64(BIT[action - FIRST_CARD]) != 0


@inlined_kernel
def is_among(words: int, cards: int, action: int) -> bool:
    """Whether an action (card format) is one of some named ones or of those with some cards."""
    if action < 0 or action >= NUM_ACTIONS:
        return False
    if action < FIRST_CARD:
        return (words >> action) & 1 == 1
    return cards & np.int64(BIT[action - FIRST_CARD]) != 0


@inlined_kernel
def ends_on_empty_stock(state: State) -> bool:
    """Whether a knock or a pass now ends the round at once (`stock_out = "showdown"`)."""
    return (
        not state.rules.exchange
        and state.rules.stock_out == OUT_SHOWDOWN
        and state.knocker == NOBODY
        and stock_left(state) == 0
    )


# --- names ---------------------------------------------------------------------------------------


def action_name(action: int, phase: Phase | int | None = None) -> str:
    """The name of an action of the card format.

    Args:
        action: code, 0 … 64.
        phase: what a card action does is named by the phase: ``"discard Kh"``, ``"give Kh"``,
            ``"take Kh"``; ``"card Kh"`` without one.

    Raises:
        ValueError: if there is no such action.
    """
    if isinstance(action, bool) or not isinstance(action, int | np.integer):
        raise ValueError(f"action {action!r} is not a whole number in 0 … {NUM_ACTIONS - 1}")
    if not 0 <= action < NUM_ACTIONS:
        raise ValueError(f"action {action!r} is not in 0 … {NUM_ACTIONS - 1}")
    if action < FIRST_CARD:
        return ACTION_WORDS[action]
    word = CARD_WORDS.get(Phase(phase), "card") if phase is not None else "card"
    return f"{word} {NAMES[action - FIRST_CARD]}"


def parse_action(text: str) -> int:
    """The code (card format) of a name: ``"knock"``, ``"discard Kh"``, ``"give Kh"``, ``"Kh"``.

    Raises:
        ValueError: if it names no action.
    """
    words = text.split() if isinstance(text, str) else []
    if len(words) == 1 and words[0] in ACTION_WORDS:
        return ACTION_WORDS.index(words[0])
    if len(words) == 2 and words[0] in ("discard", "give", "take", "card"):
        return FIRST_CARD + parse_card(words[1])
    if len(words) == 1 and words[0] in NAMES:
        return FIRST_CARD + parse_card(words[0])
    raise ValueError(
        f"unknown action {text!r}; an action is one of {', '.join(ACTION_WORDS)}, "
        "or discard, give or take with a card, such as 'discard Kh'"
    )
