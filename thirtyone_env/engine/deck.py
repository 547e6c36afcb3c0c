"""The deck of a round: dealt lazily, so that only cards that are drawn cost a random number.

The cards of round r are a function of (seed, match, r) alone: the k-th card is drawn by the k-th
number of the round's own stream, whatever anybody played (Fisher and Yates, from the top).
"""

from __future__ import annotations

import numpy as np

from thirtyone_env._jit import inlined_kernel, kernel
from thirtyone_env.cards import BIT, LOWEST_JOKER, NUM_CARDS, lowest
from thirtyone_env.rng import USE_CARDS, USE_RESHUFFLE, advance_stream, below, derive
from thirtyone_env.state import State, stock_set

DECKS: np.ndarray = np.zeros((16, NUM_CARDS), np.int8)
"""int8[16, 56]: the whole deck by its lowest rank, jokers last."""
for _low in range(2, 10):
    _deck = [13 * suit + rank for suit in range(4) for rank in range(_low - 2, 13)]
    DECKS[_low, : len(_deck) + 4] = [*_deck, *range(LOWEST_JOKER, NUM_CARDS)]


@kernel
def lay_under(state: State, size: int) -> None:
    """Lay the rest of the deck under so many cards that are stacked."""
    stacked = np.int64(0)
    for place in range(size):
        stacked |= np.int64(BIT[state.deck[place]])
    for place in range(state.rules.deck_size):
        card = np.int64(DECKS[np.int64(state.rules.low_rank), place])
        if not stacked & np.int64(BIT[card]):
            state.deck[size] = card
            size += 1


@kernel
def fresh_deck(state: State) -> None:
    """Lay out the whole deck: cards stacked on top first, nothing drawn yet."""
    size = np.int64(state.stacked)
    if size:
        lay_under(state, size)
    else:
        low_rank = np.int64(state.rules.low_rank) & 15
        for place in range(NUM_CARDS):
            state.deck[place] = DECKS[low_rank, place]
    state.shuffled = size
    state.stacked = 0
    state.top = 0
    state.deck_end = state.rules.deck_size
    state.stream = derive(state.seed, state.match, state.round_number, USE_CARDS)


@inlined_kernel
def swap_places(state: State, first: int, second: int) -> None:
    """Exchange two places of the deck."""
    card = state.deck[first]
    state.deck[first] = state.deck[second]
    state.deck[second] = card


@inlined_kernel
def shuffle_next(state: State) -> None:
    """Settle by lot which card lies at the first place that is not settled yet."""
    place = np.int64(state.shuffled) & 63
    state.stream = advance_stream(state.stream)
    other = place + below(state.stream, np.int64(state.deck_end) - place)
    swap_places(state, place, other & 63)
    state.shuffled = place + 1


@kernel
def shuffle_ahead(state: State, cards: int) -> None:
    """Settle by lot the next cards of the stock, as drawing them would."""
    place, stream = np.int64(state.shuffled) & 63, state.stream
    end = np.int64(state.deck_end)
    after = min(np.int64(state.top) + cards, end)
    while place < after:
        stream = advance_stream(stream)
        swap_places(state, place, place + below(stream, end - place) & 63)
        place += 1
    state.shuffled = place
    state.stream = stream


@inlined_kernel
def next_card(state: State) -> int:
    """Take the stock's top card."""
    if state.top == state.shuffled:
        shuffle_next(state)
    top = np.int64(state.top) & 63
    state.top = top + 1
    return np.int64(state.deck[top]) & 63


@kernel
def unsettled_cards(state: State) -> int:
    """The cards of the stock whose order is still open, as a set."""
    cards = np.int64(0)
    for place in range(state.shuffled, state.deck_end):
        cards |= np.int64(BIT[state.deck[place]])
    return cards


@kernel
def settle_deck(state: State) -> None:
    """Settle the order of the whole stock, as it would be drawn."""
    while state.shuffled < state.deck_end:
        shuffle_next(state)


@kernel
def place_next(state: State, card: int, depth: int) -> bool:
    """Put a card of the stock `depth` places below its top; False if the stock has it not.

    Cards have to be placed from depth 0 on: lesser depths stay as they are.
    """
    target = np.int64(state.top) + depth
    for place in range(target, state.deck_end):
        if state.deck[place] == card:
            if state.shuffled <= target:
                state.shuffled = target + 1
            swap_places(state, place, target)
            return True
    return False


@kernel
def recycle(state: State, cards: int) -> None:
    """Shuffle open cards together with what is left of the stock; that is the new stock.

    Cards stacked at the front of the deck (where the dealt cards lay) come on top.
    """
    left = stock_set(state)
    state.recycled = cards | (np.int64(state.recycled) & left)
    cards |= left
    size = np.int64(state.stacked)
    for place in range(size):
        cards &= ~np.int64(BIT[state.deck[place]])
    state.shuffled = size
    state.stacked = 0
    while cards:
        card = lowest(cards)
        cards ^= np.int64(BIT[card])
        state.deck[size] = card
        size += 1
    state.top = 0
    state.deck_end = size
    state.reshuffles += 1
    nth = np.int64(state.round_number) * (1 << 15) + state.reshuffles
    state.stream = derive(state.seed, state.match, nth, USE_RESHUFFLE)
    for seat in range(state.num_players):
        state.fresh[seat] = 0
