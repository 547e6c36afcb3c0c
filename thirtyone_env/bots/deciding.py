"""What the bot of the seat to act does."""

from __future__ import annotations

from typing import Any

import numpy as np

from thirtyone_env._jit import inlined_kernel, kernel
from thirtyone_env.actions import FIRST_CARD, KNOCK, legal_cards, legal_words, may_knock
from thirtyone_env.bots.counter import counter_draw
from thirtyone_env.bots.exchanging import exchange_action
from thirtyone_env.bots.greedy import continuing_action
from thirtyone_env.bots.knocking import Bot, wants_knock
from thirtyone_env.bots.lookahead import lookahead_action
from thirtyone_env.bots.seeing import seen_action
from thirtyone_env.bots.solving import solver_action
from thirtyone_env.bots.swedish import swedish_discard, swedish_draw
from thirtyone_env.cards import count, lowest
from thirtyone_env.rng import advance_stream, below
from thirtyone_env.state import Phase, State, acting_seat


@kernel
def random_action(state: State) -> int:
    """One of the legal actions, from the seat's own stream."""
    seat = np.int64(state.seat)
    words, cards = legal_words(state), legal_cards(state)
    stream = advance_stream(state.policy_streams[seat])
    state.policy_streams[seat] = stream
    choice = below(stream, count(words) + count(cards))
    for word in range(FIRST_CARD):
        if (words >> word) & 1:
            if choice == 0:
                return word
            choice -= 1
    while choice:
        cards &= cards - 1
        choice -= 1
    return FIRST_CARD + lowest(cards)


@inlined_kernel
def going_on(state: State, book: Any) -> int:
    """What the seat's bot does when it does not knock."""
    bot = np.int64(state.controllers[acting_seat(state)].bot)
    if book is not None:
        if bot == Bot.COUNTER and state.phase == Phase.TURN and not state.rules.exchange:
            return counter_draw(state, book)
        if bot >= Bot.LOOKAHEAD and state.phase < Phase.BUY_IN:
            return lookahead_action(state, book)
    if bot == Bot.SWEDISH and not state.rules.exchange:
        if state.phase == Phase.TURN:
            return swedish_draw(state)
        if state.phase == Phase.DISCARD:
            return FIRST_CARD + swedish_discard(state)
    return continuing_action(state)


@inlined_kernel
def bot_action(state: State, book: Any) -> int:
    """The decision of the seat's bot (card format); its owner's book holds its tables."""
    bot = np.int64(state.controllers[acting_seat(state)].bot)
    if bot == Bot.RANDOM:
        return random_action(state)
    if book is not None:
        if bot == Bot.SOLVER:
            entry = np.int64(state.controllers[acting_seat(state)].entry)
            if state.rules.exchange:
                return exchange_action(state, book, entry)
            return solver_action(state, book, entry)
        if bot == Bot.SEEN:
            return seen_action(state, book, np.int64(state.controllers[acting_seat(state)].entry))
    phase = np.int64(state.phase)
    if phase == Phase.TURN and wants_knock(state, book) and may_knock(state):
        return KNOCK
    return going_on(state, book)
