"""Decisions by a table of information sets: all that a seat can tell of the round, as one number.

The number, a *key*, is made from everything that the State shows a seat: its cards, the upcard, the
pile, who openly took and laid off what, how each player's last turn began, who knocked, the stock's
size. With up to two own turns before a knock that is all that the seat has seen, but for the order
of its own draws. Of later turns the State no longer tells in which order cards were laid off.

The table is laid out in the book by `SeenHead`: keys in ascending order, and the chances of the
decisions in order (words by code, or cards by place). Where a seat does not find its key it plays
for value and never knocks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thirtyone_env._jit import entry, kernel, trailing_zeros, wrapping_kernel
from thirtyone_env.actions import FIRST_CARD, legal_cards, legal_words
from thirtyone_env.bots.greedy import continuing_action
from thirtyone_env.cards import count, lowest
from thirtyone_env.rng import advance_stream, below, mix
from thirtyone_env.seen import CERTAIN, WAYS, SeenHead
from thirtyone_env.state import Phase, State, acting_seat, next_seat, seats_in, stock_left

_STEP = np.uint64(0x9E3779B97F4A7C15)
_S32, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


@wrapping_kernel
def stirred(key: np.uint64, more: int) -> np.uint64:
    """A key with one more number in it."""
    return mix((key ^ np.uint64(more)) + _STEP)


@kernel
def with_player(state: State, key: np.uint64, other: int) -> np.uint64:
    """A key with what a player has done openly in it."""
    role = 1 if other == acting_seat(state) else 0
    key = stirred(key, role + (2 if other == state.knocker else 0))
    key = stirred(key, np.int64(state.known[other]))
    key = stirred(key, np.int64(state.discards[other]))
    key = stirred(key, np.int64(state.moves[other]))
    key = stirred(key, np.int64(state.own_turns[other]))
    return stirred(key, np.int64(state.fresh[other]))


@kernel
def seen_key(state: State) -> np.uint64:
    """The number of all that the seat to act can tell of the round."""
    key = stirred(np.uint64(0), np.int64(state.phase))
    key = stirred(key, np.int64(state.hands[acting_seat(state)]))
    key = stirred(key, np.int64(state.upcard) + 1)
    key = stirred(key, np.int64(state.taken) + 1)
    key = stirred(key, np.int64(state.pile))
    key = stirred(key, np.int64(state.recycled))
    key = stirred(key, np.int64(state.passes))
    key = stirred(key, stock_left(state))
    other = next_seat(state, state.dealer)
    for _ in range(seats_in(state.in_play)):
        key = with_player(state, key, other)
        other = next_seat(state, other)
    return key


@kernel
def num_ways(state: State) -> int:
    """How many decisions are legal; of words or of cards, never of both."""
    return count(np.int64(legal_words(state)) | legal_cards(state))


@kernel
def way_action(state: State, way: int) -> int:
    """A legal decision by its place in order."""
    cards, words = legal_cards(state), np.int64(legal_words(state))
    if cards:
        for _ in range(way):
            cards &= cards - 1
        return FIRST_CARD + lowest(cards)
    for _ in range(way):
        words &= words - 1
    return trailing_zeros(words)


@kernel
def key_in(book: Any, keys: int, row: int) -> np.uint64:
    """A key of the table, from its two halves."""
    high, low = np.int64(book[keys + 2 * row]), np.int64(book[keys + 2 * row + 1])
    return ((np.uint64(high) & _LOW) << _S32) | (np.uint64(low) & _LOW)


@kernel
def row_of(key: np.uint64, book: Any, at: int) -> int:
    """The row of a key in the table, −1 where it has none: a search by halves."""
    low, high = 0, np.int64(book[at + SeenHead.SIZE])
    keys = np.int64(book[at + SeenHead.KEYS])
    while low < high:
        middle = (low + high) // 2
        found = key_in(book, keys, middle)
        if found == key:
            return middle
        if found < key:
            low = middle + 1
        else:
            high = middle
    return -1


@kernel
def seen_action(state: State, book: Any, at: int) -> int:
    """The decision by a table of information sets, whose header begins at `at`."""
    if state.rules.exchange or state.phase > Phase.DISCARD:
        return continuing_action(state)
    row = row_of(seen_key(state), book, at)
    if row < 0:
        return continuing_action(state)
    seat = acting_seat(state)
    stream = advance_stream(state.policy_streams[seat])
    state.policy_streams[seat] = stream
    place, lot = np.int64(book[at + SeenHead.CHANCES]) + WAYS * row, below(stream, CERTAIN)
    way = 0
    while way < num_ways(state) - 1 and lot >= np.int64(book[place + way]):
        lot -= np.int64(book[place + way])
        way += 1
    return way_action(state, way)


@entry
def write_keys(states: Any, out: Any) -> None:
    """The keys of the seats to act, uint64[B]."""
    for row in range(len(states)):
        state = states[row]
        out[row] = seen_key(state)


@entry
def write_ways(states: Any, out: Any) -> None:
    """The legal decisions of the seats to act in order, int64[B, WAYS]; −1 where there is none."""
    for row in range(len(states)):
        state = states[row]
        for way in range(WAYS):
            out[row, way] = way_action(state, way) if way < num_ways(state) else -1


def keys_of(states: np.ndarray) -> np.ndarray:
    """uint64[B]: the keys of the seats to act in STATE[B]."""
    out = np.zeros(len(states), np.uint64)
    write_keys(states, out)
    return out


def ways_of(states: np.ndarray) -> np.ndarray:
    """int64[B, WAYS]: their legal decisions in the order of chances; −1 where there is none."""
    out = np.zeros((len(states), WAYS), np.int64)
    write_ways(states, out)
    return out
