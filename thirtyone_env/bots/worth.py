"""What hands are worth to a player who looks ahead, as tables over classes of hands.

Draw family. The worth of a hand after k own draws, by itself ("solitaire"): V_0 is its value, and
V_k its mean over the cards that are not in it, each drawn as likely, of the best V_{k-1} that a
discard leaves. Once somebody has knocked, what counts is the chance not to be lowest; it comes from
a model in which every player draws by V_3 and knocks from a threshold on, each by itself.

Exchange family. The same worth, a card on offer in place of one drawn: a look ahead of several such
cards stands for the tables of the turns to come.

Tables are whole numbers (`book.UNIT`, `book.CERTAIN`). Shapes: K classes, X cards not in a hand,
D what may be discarded (the card drawn first, then the hand's own), N indices of hands.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from thirtyone_env._jit import entry
from thirtyone_env.bots.book import CERTAIN, UNIT, VALUES
from thirtyone_env.cards import cards_of, hand_value
from thirtyone_env.classes import all_hands, hand_classes, indices_of, sets_of, whole_deck
from thirtyone_env.rules import MAX_SEATS, Rules
from thirtyone_env.state import new_states

DRAWS_AHEAD = (1, 2, 3, 4, 6)
"""How many own draws bots look ahead."""
MODEL_DRAWS = 3
MODEL_THRESHOLDS = (42, 46, 50, 54)
"""In half points, of three cards, each as likely; a fifth more with four."""
MODEL_TURNS = 15

HandKey = tuple[int, ...]
_FIELDS = (
    "low_rank",
    "jokers",
    "hand_size",
    "blitz_value",
    "three_of_a_kind",
    "three_aces",
    "suited_run",
)


class DrawTables(NamedTuple):
    """Tables of the draw family under some rules."""

    number: np.ndarray
    """int32[N]: the class of a hand by its index, −1 for no hand."""
    worth: np.ndarray
    """int32[7, K]: V_0 … V_6."""
    showdown: np.ndarray
    """int32[10, VALUES]: chance not to be lowest by seats in play and final value."""
    last: np.ndarray
    """int32[10, K]: the same by seats in play and class, before a last draw from the stock."""


class ExchangeTables(NamedTuple):
    """Tables of the exchange family under some rules; worth is that of single cards on offer."""

    number: np.ndarray
    """int32[N]: as for the draw family."""
    worth: np.ndarray
    """int32[7, K]: V_0 … V_6."""
    refused: np.ndarray
    """int32[7, K]: mean V_k of a dealer's second hand, by the class of the one that is refused."""


def hand_key(rules: Any) -> HandKey:
    """What the tables depend on, of a record of dtype `RULES`."""
    return tuple(int(rules[name]) for name in _FIELDS)


@entry
def class_values(states: Any, hands: Any, out: Any) -> None:
    """Values of hands in half points, by the rules of the first state."""
    state = states[0]
    for place in range(len(hands)):
        out[place] = hand_value(np.int64(hands[place]), state.rules)


def _plain_rules(key: HandKey) -> Rules:
    """The rules of a key; ties do not matter where values alone count."""
    low_rank, jokers, hand_size, blitz, trips, aces, run = key
    return Rules(
        max_players=2,
        low_rank=low_rank,
        jokers=jokers,
        hand_size=hand_size,
        blitz_value=blitz / 2,
        three_of_a_kind=trips / 2 if trips else None,
        three_aces=aces / 2 if aces else None,
        suited_run=run / 2 if run else None,
    )


def values_of(hands: np.ndarray, rules: Rules) -> np.ndarray:
    """int64[H]: values of hands, int64[H] of sets, in half points."""
    out = np.zeros(len(hands), np.int64)
    class_values(new_states(rules, 2, 1), hands, out)
    return out


def followers(hands: np.ndarray, number: np.ndarray, rules: Rules) -> np.ndarray:
    """int32[K, X, D]: the classes that hands may become by a draw and a discard."""
    size, deck = rules.hand_size, np.array(whole_deck(rules))
    cards = np.array([cards_of(hand) for hand in hands.tolist()])
    apart = (deck[None, :, None] != cards[:, None, :]).all(axis=2)
    unseen = np.broadcast_to(deck, apart.shape)[apart].reshape(len(cards), -1)
    found = np.empty((*unseen.shape, size + 1), np.int32)
    found[:, :, 0] = np.arange(len(cards))[:, None]
    for place in range(size):
        after = np.repeat(cards[:, None, :], unseen.shape[1], axis=1)
        after[:, :, place] = unseen
        indices = indices_of(after.reshape(-1, size))
        found[:, :, place + 1] = number[indices].reshape(unseen.shape)
    return found


def _mean(table: np.ndarray) -> np.ndarray:
    """int64[K]: the mean over X of whole numbers int64[K, X], rounded."""
    cards = table.shape[1]
    return (table.sum(axis=1) + cards // 2) // cards


def worth_ahead(values: np.ndarray, after: np.ndarray, draws: int) -> np.ndarray:
    """int64[draws + 1, K]: V_0 … V_draws of values int64[K]."""
    worth = [values * UNIT]
    for _ in range(draws):
        worth.append(_mean(worth[-1][after].max(axis=2)))
    return np.array(worth)


def chances_not_lowest(
    values: np.ndarray, sizes: np.ndarray, drawn: np.ndarray, threshold: int
) -> np.ndarray:
    """Chance that a final value is not the lowest after a knock, in the model of the module.

    Args:
        values: int64[K].
        sizes: int64[K], hands of a class.
        drawn: int[K, X], the class after a draw and the discard.
        threshold: half points from which a player knocks.

    Returns:
        float64[10, VALUES] by seats in play and value.
    """
    kinds, cards = drawn.shape
    dealt, gone = sizes / sizes.sum(), np.zeros(10)
    total, alive = np.zeros((10, VALUES)), 1.0
    seats = np.arange(10)
    for _ in range(MODEL_TURNS):
        knocks, waits = dealt * (values >= threshold), dealt * (values < threshold)
        stopped = knocks.sum()
        if waits.sum() == 0:
            break
        after = np.bincount(drawn.ravel(), np.repeat(waits / cards, cards), kinds)
        before, alive = alive, alive * (1 - stopped)
        if stopped > 0:
            weight = before**seats - alive**seats
            knocker = _at_least(values, knocks / stopped)
            others = _at_least(values, after / waits.sum())
            beaten = knocker * others ** np.maximum(seats - 2, 0)[:, None]
            total += weight[:, None] * (1 - beaten)
            gone += weight
        dealt = after / waits.sum()
    return total / np.maximum(gone, 1e-300)[:, None]


def _at_least(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """float64[VALUES]: weight of the classes that are worth at least so much."""
    by_value = np.bincount(values, weights, VALUES)
    return np.cumsum(by_value[::-1])[::-1]


@lru_cache(16)
def exchange_tables(key: HandKey) -> ExchangeTables:
    """The tables of the exchange family under the rules of a key (see `hand_key`)."""
    rules = _plain_rules(key)
    classes = hand_classes(rules)
    after = followers(classes.hands, classes.number, rules)
    worth = worth_ahead(values_of(classes.hands, rules), after, max(DRAWS_AHEAD))
    every = all_hands(rules, rules.hand_size)
    sets, of_all = sets_of(every), worth[:, classes.number[indices_of(every)]]
    refused = np.empty_like(worth)
    for place, hand in enumerate(classes.hands):
        refused[:, place] = _mean(of_all[:, sets & hand == 0])
    return ExchangeTables(classes.number, worth, refused)


@lru_cache(16)
def draw_tables(key: HandKey) -> DrawTables:
    """The tables of the draw family under the rules of a key (see `hand_key`)."""
    rules = _plain_rules(key)
    classes = hand_classes(rules)
    after = followers(classes.hands, classes.number, rules)
    values = values_of(classes.hands, rules)
    worth = worth_ahead(values, after, max(DRAWS_AHEAD))
    choice = worth[MODEL_DRAWS][after].argmax(axis=2)
    drawn = np.take_along_axis(after, choice[:, :, None], axis=2)[:, :, 0]
    showdown = np.mean(
        [
            chances_not_lowest(values, classes.sizes, drawn, threshold * (rules.hand_size + 2) // 5)
            for threshold in MODEL_THRESHOLDS
        ],
        axis=0,
    )
    showdown = np.rint(showdown * CERTAIN).astype(np.int64) + np.arange(VALUES)
    best = values[after].max(axis=2)
    last = [_mean(showdown[seats][best]) for seats in range(MAX_SEATS + 1)]
    return DrawTables(classes.number, worth, showdown, np.array(last))
