"""When to knock by a chart: the cell of the seat to act, from what that seat sees.

A chart lies in a book (int32) from a place `at` on: its head (`charts.Head`), then the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thirtyone_env._jit import inlined_kernel, kernel
from thirtyone_env.actions import PASS, TAKE_UPCARD
from thirtyone_env.bots.hands import best_with_open_cards
from thirtyone_env.cards import hand_value
from thirtyone_env.charts import CERTAIN, Head
from thirtyone_env.rng import advance_stream, below
from thirtyone_env.state import State, acting_seat, is_in, losses_to_go, place_in_round, seats_in


@inlined_kernel
def clipped(place: int, length: int) -> int:
    """The nearest bin of an axis."""
    return max(0, min(np.int64(place), np.int64(length) - 1))


@kernel
def least_losses_of_others(state: State, seat: int) -> int:
    """The least of the opponents' losses until they are out."""
    least = 100
    for other in range(state.num_players):
        if other != seat and is_in(state.in_play, other):
            least = min(least, losses_to_go(state, other))
    return least


@kernel
def picked_up(state: State, seat: int) -> bool:
    """Whether a seat took the upcard, or exchanged cards, in its last turn of this round."""
    move = np.int64(state.moves[seat]) - 1
    return move == TAKE_UPCARD or (state.rules.exchange and move >= 0 and move != PASS)


@kernel
def pick_up_bin(state: State, seat: int, length: int) -> int:
    """What opponents picked up: the last bin if one did in its last turn of this round.

    Of three bins the one between: one holds cards still that it took openly before.
    """
    reached = 0
    for other in range(state.num_players):
        if other != seat and is_in(state.in_play, other):
            if picked_up(state, other):
                return length - 1
            if length > 2 and state.known[other]:
                reached = 1
    return reached


@kernel
def gain_bin(state: State, seat: int, value: int, book: Any, at: int) -> int:
    """How many edges the gain by the open cards reaches."""
    gain = best_with_open_cards(state, seat) - value
    reached = 0
    for edge in range(np.int64(book[at + Head.GAINS]) - 1):
        reached += gain >= book[at + Head.EDGES + edge]
    return reached


@kernel
def life_bins(state: State, seat: int, book: Any, at: int) -> int:
    """The bins of players, own lives and other lives, as one number."""
    own, others = np.int64(book[at + Head.OWN_LIVES]), np.int64(book[at + Head.OTHER_LIVES])
    players = np.int64(seats_in(state.in_play)) - np.int64(book[at + Head.FIRST_PLAYERS])
    cell = clipped(players, book[at + Head.PLAYERS])
    cell = cell * own + (clipped(losses_to_go(state, seat) - 1, own) if own > 1 else 0)
    if others > 1:
        return cell * others + clipped(least_losses_of_others(state, seat) - 1, others)
    return cell


@kernel
def chart_cell(state: State, book: Any, at: int) -> int:
    """The cell of the seat to act at the start of its turn."""
    seat = acting_seat(state)
    value = np.int64(hand_value(np.int64(state.hands[seat]), state.rules))
    seats, turns = np.int64(book[at + Head.SEATS]), np.int64(book[at + Head.TURNS])
    cell = life_bins(state, seat, book, at) * seats
    cell += clipped(place_in_round(state, seat), seats) if seats > 1 else 0
    cell = cell * turns + clipped(state.own_turns[seat], turns)
    pick_ups = np.int64(book[at + Head.PICK_UPS])
    cell *= pick_ups
    if pick_ups > 1:
        cell += pick_up_bin(state, seat, pick_ups)
    cell *= np.int64(book[at + Head.GAINS])
    if book[at + Head.GAINS] > 1:
        cell += gain_bin(state, seat, value, book, at)
    steps = (value - np.int64(book[at + Head.FIRST_VALUE])) // np.int64(book[at + Head.VALUE_STEP])
    return cell * np.int64(book[at + Head.VALUES]) + clipped(steps, book[at + Head.VALUES])


@kernel
def chart_knocks(state: State, book: Any, at: int) -> bool:
    """Whether the seat to act knocks, by the chart and the seat's own stream."""
    certain = np.int64(book[at + Head.SIZE + chart_cell(state, book, at)])
    if certain == 0 or certain == CERTAIN:
        return certain == CERTAIN
    seat = acting_seat(state)
    stream = advance_stream(state.policy_streams[seat])
    state.policy_streams[seat] = stream
    return below(stream, CERTAIN) < certain
