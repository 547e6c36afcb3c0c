"""When to knock: thresholds, charts, and the advice of three sources."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from thirtyone_env._jit import inlined_kernel, kernel
from thirtyone_env.bots.book import CHART
from thirtyone_env.bots.charting import chart_knocks
from thirtyone_env.bots.counter import loses_for_sure
from thirtyone_env.bots.hands import openly_collected
from thirtyone_env.bots.lookahead import lookahead_threshold
from thirtyone_env.cards import hand_value
from thirtyone_env.state import State, acting_seat, is_in, losses_to_go


class Bot(IntEnum):
    """Numbers of the bots; 0 is EXTERNAL."""

    RANDOM = 1
    """Any legal action, each as likely."""
    NEVER_KNOCK = 2
    """Draws and discards like `threshold:T` and never knocks."""
    THRESHOLD = 3
    """Knocks with a hand worth the threshold of its own turn, or more."""
    DANISH = 4
    """The Danish text: knock with 25; with less while few turns are played, with more late."""
    DUTCH = 5
    """The Dutch text: 28; 26 at cautious tables, 29 at aggressive ones; less on the last life."""
    SWEDISH = 6
    """The Swedish text: commit to a suit early; knock weak to stop a collector."""
    LOOKAHEAD = 7
    """Draws and discards by what a hand is worth some own draws ahead."""
    COUNTER = 8
    """The same, with the cards counted that were seen."""
    SOLVER = 9
    """Decides by a solver's tables of what each decision is worth in the rest of the round."""
    SEEN = 10
    """Decides by a solver's table of information sets."""


@inlined_kernel
def threshold_now(state: State) -> int:
    """The seat's threshold in half points, by its own turn; the last one goes on."""
    seat = acting_seat(state)
    controller = state.controllers[seat]
    turn = min(np.int64(state.own_turns[seat]), np.int64(controller.num_thresholds) - 1)
    return np.int64(controller.thresholds[turn & 7])


@kernel
def danish_threshold(state: State) -> int:
    """25 points; 21 on the first own turn, 23 on the second, 27 from the sixth on."""
    turn = np.int64(state.own_turns[state.seat])
    if turn == 0:
        return 42
    if turn == 1:
        return 46
    return 50 if turn < 5 else 54


@kernel
def dutch_threshold(state: State) -> int:
    """28; 26 where knocks have come late (5 turns or more), 29 where early (2 or fewer).

    Two points less with one loss to go.
    """
    value = 56
    knocks, turns = np.int64(state.knocks), np.int64(state.knock_turns)
    if knocks >= 2 and turns >= 5 * knocks:
        value = 52
    elif knocks >= 2 and turns <= 2 * knocks:
        value = 58
    if losses_to_go(state, state.seat) == 1:
        value -= 4
    return value


@kernel
def swedish_threshold(state: State) -> int:
    """27; 23 as soon as an opponent openly holds two cards of one suit worth 20 or more."""
    for seat in range(state.num_players):
        if seat != state.seat and is_in(state.in_play, seat):
            if openly_collected(state, seat) >= 40:
                return 46
    return 54


FOUR_CARDS_MORE = 16
"""Half points that the three texts' thresholds go up by with four cards (heads-up, measured)."""


@inlined_kernel
def wants_knock_by_book(state: State, book: Any, bot: int, entry: int, value: int) -> bool:
    """Whether a bot that looks things up knocks with a hand of this value."""
    if book[entry + CHART]:
        return chart_knocks(state, book, np.int64(book[entry + CHART]))
    if value < lookahead_threshold(state, book):
        return False
    return bot != Bot.COUNTER or not loses_for_sure(state, value)


@inlined_kernel
def wants_knock(state: State, book: Any) -> bool:
    """Whether the seat's bot knocks now, where it may."""
    seat = acting_seat(state)
    bot = np.int64(state.controllers[seat].bot)
    value = hand_value(np.int64(state.hands[seat]), state.rules)
    if book is not None:
        entry = np.int64(state.controllers[seat].entry)
        if entry:
            return wants_knock_by_book(state, book, bot, entry, value)
    if bot == Bot.NEVER_KNOCK:
        return False
    if bot == Bot.THRESHOLD:
        return value >= threshold_now(state)
    if bot == Bot.DANISH:
        threshold = danish_threshold(state)
    elif bot == Bot.DUTCH:
        threshold = dutch_threshold(state)
    else:
        threshold = swedish_threshold(state)
    return value >= threshold + FOUR_CARDS_MORE * (state.rules.hand_size - 3)
