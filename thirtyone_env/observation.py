"""What a seat sees, as numbers: `"full"` (bytes) and `"compact"` (about 30 floats).

Both hold what a perfect-memory player at that seat may know, and nothing else. The full layout is
the list `BLOCKS`; its size depends on the number of seats only. Seats are relative: 0 is the
observer, 1 the next one clockwise. In this module S is the number of seats.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thirtyone_env._jit import kernel
from thirtyone_env.actions import (
    DRAW_STOCK,
    FIRST_CARD,
    PASS,
    SWAP_ALL,
    TAKE_UPCARD,
    legal_cards,
    legal_words,
    slot_cards,
)
from thirtyone_env.bots import best_with_open_cards, openly_collected
from thirtyone_env.canonical import old_names, open_cards, rename_card, rename_set
from thirtyone_env.cards import (
    BIT,
    LOWEST_JOKER,
    NO_CARD,
    NUM_CARDS,
    RANK_MASK,
    RANK_POINTS,
    count,
    hand_value,
    lowest,
    nth_card,
    place_of,
)
from thirtyone_env.engine.rounds import on_free_ride
from thirtyone_env.state import (
    NOBODY,
    Phase,
    State,
    is_in,
    losses_to_go,
    seats_in,
    stock_left,
)

NUM_VALUES = 83
_OWN_TURNS = 10
_STOCK_STEPS = (0, 1, 2, 3, 5, 8, 13, 21)
_TURN_STEPS = (1, 2, 4, 8, 16)
_ROUND_STEPS = (1, 2, 4, 8)
STOCK_STEPS, TURN_STEPS = np.array(_STOCK_STEPS), np.array(_TURN_STEPS)
ROUND_STEPS = np.array(_ROUND_STEPS)
_RULE_NAMES = (
    "exchange",
    "low_rank",
    "jokers",
    "hand_size",
    "lives",
    "free_ride",
    "three_of_a_kind",
    "three_aces",
    "suited_run",
    "blitz_value",
    "blitz_after_knock",
    "blitz_lowest",
    "fire_lowest",
    "ties_by_suit",
    "knocker_lowest_loss",
    "knocker_tie_shares",
    "first_turn_knock",
    "min_knock",
    "pass_allowed",
    "return_upcard",
    "stock_out",
    "dealer_choice",
    "dealt_blitz_exchange",
    "table_reshuffle",
    "buy_ins",
    "decider_draw",
)


@dataclass(frozen=True)
class Block:
    """A named part of the full observation."""

    name: str
    size: Callable[[int], int]
    """Bytes, by the number of seats."""
    highest: int
    """Largest number that a byte takes: 1 for flags."""
    meaning: str


def _c(seats: int) -> int:
    return NUM_CARDS


def _s(seats: int) -> int:
    return seats


def _fixed(size: int) -> Callable[[int], int]:
    return lambda seats: size


BLOCKS: tuple[Block, ...] = (
    Block("hand", _c, 1, "own cards, one flag a card"),
    Block("open", _c, 1, "the upcard, or the open table"),
    Block("moving", _c, 1, "the card just drawn (own), taken or given, until the turn is complete"),
    Block("pile", _c, 1, "discards under the upcard, or table cards put aside"),
    Block("recycled", _c, 1, "cards shuffled back into the stock and not seen since"),
    Block("known", lambda s: s * NUM_CARDS, 1, "by seat: cards in its hand that it took openly"),
    Block(
        "discards",
        lambda s: (s - 1) * NUM_CARDS,
        1,
        "by opponent: cards it discarded or gave in this round",
    ),
    Block("value", _fixed(NUM_VALUES), 1, "own value in half points (while discarding: the best)"),
    Block(
        "best_open",
        _fixed(NUM_VALUES),
        1,
        "best value if the upcard is taken or cards are exchanged; none while discarding",
    ),
    Block("phase", _fixed(5), 1, "turn, discard, take, dealer's choice, buy-in"),
    Block("to_act", _s, 1, "who decides"),
    Block("dealer", _s, 1, "who dealt"),
    Block("knocker", lambda s: s + 1, 1, "who has knocked; the last flag: nobody"),
    Block("in_play", _s, 1, "by seat: not eliminated"),
    Block("lives", _s, 9, "by seat: lives"),
    Block("free_ride", _s, 1, "by seat: on the free ride"),
    Block("ride_left", _s, 1, "by seat: the free ride is still to come"),
    Block("buy_ins", _s, 9, "by seat: buy-ins left"),
    Block("stakes", _s, 10, "by seat: stakes paid"),
    Block(
        "moves",
        lambda s: 4 * s,
        1,
        "by seat: the last turn was a draw from the stock, an open card, a pass, a swap of all",
    ),
    Block("fresh", _s, 5, "by seat: recycled cards that must be hidden in its hand"),
    Block("turns", _s, 255, "by seat: turns taken in this round"),
    Block("own_turns", _fixed(_OWN_TURNS), 1, "flag k: the seat has had more than k turns"),
    Block("stock", _fixed(1), 56, "cards in the stock"),
    Block("stock_steps", _fixed(len(_STOCK_STEPS)), 1, f"stock at most {_STOCK_STEPS}"),
    Block(
        "turn_steps", _fixed(len(_TURN_STEPS)), 1, f"turns left to the cap at most {_TURN_STEPS}"
    ),
    Block("round_steps", _fixed(len(_ROUND_STEPS)), 1, f"rounds left at most {_ROUND_STEPS}"),
    Block("passes", _fixed(1), 255, "passes in a row"),
    Block("decider", _fixed(1), 1, "this round is a decider"),
    Block("dealt_blitz", _fixed(1), 1, "the turns after a dealt blitz"),
    Block("refused", _fixed(1), 1, "the dealer refused the first cards"),
    Block("knocks", _fixed(2), 255, "knocks in this match; mean own turn of the knockers, times 8"),
    Block("rules", _fixed(len(_RULE_NAMES)), 100, "the rules in force: " + ", ".join(_RULE_NAMES)),
)
"""The layout of the full observation, in order."""

COMPACT_FEATURES: tuple[tuple[str, str], ...] = (
    ("value", "own value / blitz value (while discarding: the best)"),
    ("best_open", "best value if the upcard is taken or cards are exchanged / blitz value"),
    ("suit_count", "cards in the own best suit / 4"),
    ("upcard", "points of the upcard, or of the best table card / 11"),
    ("own_turn", "own turns taken in this round / 8"),
    ("first_turn", "1 on the own first turn"),
    ("position", "seats between the first player and the observer / S"),
    ("stock", "cards in the stock / 52"),
    ("turns_left", "turns left to the cap / 100"),
    ("knocked", "1 after a knock"),
    ("turns_to_showdown", "turns left until the showdown / S; 0 before a knock"),
    ("in_play", "players in play / 9"),
    ("num_players", "S / 9"),
    ("own_losses_to_go", "single losses until the observer is out / 4"),
    ("least_losses_to_go", "the same, the least of the others"),
    ("mean_losses_to_go", "the same, their mean"),
    ("most_losses_to_go", "the same, their most"),
    ("decider", "1 in a decider"),
    ("next_known", "cards that the next player holds openly / 4"),
    ("most_known", "most cards that an opponent holds openly / 4"),
    ("collected", "most points in one suit that an opponent openly collects / 31"),
    ("took", "share of the opponents whose last turn took an open card"),
    ("passed", "share of the opponents whose last turn was a pass"),
    ("knock_turn", "mean own turn of the knocks in this match / 8; 0.5 before the first"),
    ("knock_share", "knocks in this match per round played, 0.5 in the first round"),
    ("exchange", "1 in the exchange family"),
    ("three_of_a_kind", "worth of three of a kind / 31"),
    ("knocker_lowest_loss", "lives that a lone lowest knocker loses − 1"),
    ("knocker_tie_shares", "1 if a knocker who ties for the lowest loses a life"),
    ("blitz_after_knock", "1 if a blitz ends the round after a knock"),
    ("ride_left", "1 if the own free ride is still to come"),
    ("pass_final", "1 if a turn after a knock may be a pass"),
)
"""Name and meaning of every number of the compact observation."""
COMPACT_SIZE = len(COMPACT_FEATURES)


def observation_size(num_players: int) -> int:
    """Bytes of the full observation with a number of seats."""
    return sum(block.size(num_players) for block in BLOCKS)


def slices(num_players: int) -> dict[str, slice]:
    """Where each named block of the full observation lies."""
    result, start = {}, 0
    for block in BLOCKS:
        stop = start + block.size(num_players)
        result[block.name] = slice(start, stop)
        start = stop
    return result


def highest_values(num_players: int) -> np.ndarray:
    """uint8[observation_size]: the largest number that each byte takes."""
    return np.concatenate(
        [np.full(block.size(num_players), block.highest, np.uint8) for block in BLOCKS]
    )


def compact_names() -> list[str]:
    """Names of the numbers of the compact observation."""
    return [name for name, _ in COMPACT_FEATURES]


# --- parts that both formats share ---------------------------------------------------------------


@kernel
def own_value(state: State, seat: int) -> int:
    """Value of the seat's hand in half points; with a card too many, of the best it can keep."""
    hand = np.int64(state.hands[seat])
    if count(hand) <= state.rules.hand_size:
        return hand_value(hand, state.rules)
    best = 0
    cards = legal_cards(state) if state.seat == seat else hand
    while cards:
        card = lowest(cards)
        cards ^= np.int64(BIT[card])
        best = max(best, hand_value(hand ^ np.int64(BIT[card]), state.rules))
    return best


@kernel
def moving_card(state: State, seat: int) -> int:
    """The card on its way as a seat sees it; NO_CARD where it sees none."""
    if state.given != NO_CARD:
        return np.int64(state.given)
    if state.seat == seat:
        return np.int64(state.drawn)
    return np.int64(state.taken)


# --- full ----------------------------------------------------------------------------------------


@kernel
def put_set(out: Any, row: int, at: int, cards: int) -> int:
    """Flags of a set of cards; returns where the next block begins."""
    while cards:
        out[row, at + lowest(cards)] = 1
        cards &= cards - 1
    return at + NUM_CARDS


@kernel
def put_cards(state: State, seat: int, naming: int, out: Any, row: int) -> int:
    """The blocks of card sets."""
    seats = np.int64(state.num_players)
    at = put_set(out, row, 0, rename_set(np.int64(state.hands[seat]), naming))
    at = put_set(out, row, at, rename_set(open_cards(state), naming))
    moving = rename_card(moving_card(state, seat), naming)
    if moving != NO_CARD:
        out[row, at + moving] = 1
    at += NUM_CARDS
    at = put_set(out, row, at, rename_set(np.int64(state.pile), naming))
    unseen = np.int64(state.recycled) & ~np.int64(state.hands[seat])
    at = put_set(out, row, at, rename_set(unseen, naming))
    for step in range(seats):
        other = (seat + step) % seats
        at = put_set(out, row, at, rename_set(np.int64(state.known[other]), naming))
    for step in range(1, seats):
        other = (seat + step) % seats
        at = put_set(out, row, at, rename_set(np.int64(state.discards[other]), naming))
    return at


@kernel
def put_values(state: State, seat: int, out: Any, row: int, at: int) -> int:
    """Own value, best value with the open cards, phase."""
    if is_in(state.in_play, seat) or state.hands[seat] != 0:
        out[row, at + own_value(state, seat)] = 1
    at += NUM_VALUES
    best = best_with_open_cards(state, seat)
    if best > 0:
        out[row, at + best] = 1
    at += NUM_VALUES
    if state.phase < Phase.JUDGE:
        out[row, at + np.int64(state.phase)] = 1
    return at + 5


@kernel
def put_roles(state: State, seat: int, out: Any, row: int, at: int) -> int:
    """Who decides, deals, has knocked."""
    seats = np.int64(state.num_players)
    if state.phase < Phase.JUDGE:
        out[row, at + (np.int64(state.seat) - seat + seats) % seats] = 1
    at += seats
    out[row, at + (np.int64(state.dealer) - seat + seats) % seats] = 1
    at += seats
    if state.knocker == NOBODY:
        out[row, at + seats] = 1
    else:
        out[row, at + (np.int64(state.knocker) - seat + seats) % seats] = 1
    return at + seats + 1


@kernel
def put_seat_numbers(state: State, seat: int, out: Any, row: int, at: int) -> int:
    """Lives, rides and stakes by seat."""
    seats = np.int64(state.num_players)
    for step in range(seats):
        other = (seat + step) % seats
        place = at + step
        out[row, place] = is_in(state.in_play, other)
        out[row, place + seats] = state.lives[other]
        out[row, place + 2 * seats] = on_free_ride(state, other)
        rides = state.rules.free_ride and not is_in(state.rode, other)
        out[row, place + 3 * seats] = rides and is_in(state.in_play, other)
        out[row, place + 4 * seats] = state.buy_ins[other]
        out[row, place + 5 * seats] = state.stakes[other]
    return at + 6 * seats


@kernel
def move_kind(state: State, seat: int) -> int:
    """How a seat's last turn began: 0 stock, 1 an open card, 2 a pass, 3 swap all; −1 none."""
    action = np.int64(state.moves[seat]) - 1
    if action == DRAW_STOCK:
        return 0
    if action == TAKE_UPCARD or action == FIRST_CARD:
        return 1
    if action == PASS:
        return 2
    return 3 if action == SWAP_ALL else -1


@kernel
def put_moves(state: State, seat: int, out: Any, row: int, at: int) -> int:
    """Last moves, hidden recycled cards and turns by seat."""
    seats = np.int64(state.num_players)
    for step in range(seats):
        other = (seat + step) % seats
        kind = move_kind(state, other)
        if kind >= 0:
            out[row, at + 4 * step + kind] = 1
        if state.recycled != 0 and other != seat:
            out[row, at + 4 * seats + step] = state.fresh[other]
        out[row, at + 5 * seats + step] = min(np.int64(state.own_turns[other]), 255)
    return at + 6 * seats


@kernel
def put_steps(amount: int, steps: Any, out: Any, row: int, at: int) -> int:
    """Flags: an amount is at most each of some steps."""
    for place in range(len(steps)):
        out[row, at + place] = amount <= steps[place]
    return at + len(steps)


@kernel
def put_table(state: State, seat: int, out: Any, row: int, at: int) -> int:
    """What concerns the whole table."""
    for turn in range(_OWN_TURNS):
        out[row, at + turn] = state.own_turns[seat] > turn
    at += _OWN_TURNS
    out[row, at] = stock_left(state)
    at = put_steps(stock_left(state), STOCK_STEPS, out, row, at + 1)
    turns_left = np.int64(state.rules.max_turns) - np.int64(state.turns)
    at = put_steps(turns_left, TURN_STEPS, out, row, at)
    rounds_left = np.int64(state.rules.max_rounds) - np.int64(state.round_number)
    at = put_steps(rounds_left, ROUND_STEPS, out, row, at)
    out[row, at] = min(np.int64(state.passes), 255)
    out[row, at + 1] = state.decider
    out[row, at + 2] = state.dealt_blitz
    out[row, at + 3] = state.refused
    out[row, at + 4] = min(np.int64(state.knocks), 255)
    if state.knocks > 0:
        mean = 8 * np.int64(state.knock_turns) // np.int64(state.knocks)
        out[row, at + 5] = min(mean, 255)
    return at + 6


@kernel
def put_rules(state: State, out: Any, row: int, at: int) -> None:
    """The rules in force, values in half points."""
    rules = state.rules
    out[row, at] = rules.exchange
    out[row, at + 1] = rules.low_rank
    out[row, at + 2] = rules.jokers
    out[row, at + 3] = rules.hand_size
    out[row, at + 4] = rules.lives
    out[row, at + 5] = rules.free_ride
    out[row, at + 6] = rules.three_of_a_kind
    out[row, at + 7] = rules.three_aces
    out[row, at + 8] = rules.suited_run
    out[row, at + 9] = rules.blitz_value
    out[row, at + 10] = rules.blitz_after_knock
    out[row, at + 11] = rules.blitz_lowest
    out[row, at + 12] = rules.fire_lowest
    out[row, at + 13] = rules.ties_by_suit
    out[row, at + 14] = rules.knocker_lowest_loss
    out[row, at + 15] = rules.knocker_tie_shares
    out[row, at + 16] = rules.first_turn_knock
    out[row, at + 17] = rules.min_knock
    out[row, at + 18] = rules.pass_allowed
    out[row, at + 19] = rules.return_upcard
    out[row, at + 20] = rules.stock_out
    out[row, at + 21] = rules.dealer_choice
    out[row, at + 22] = rules.dealt_blitz_exchange
    out[row, at + 23] = rules.table_reshuffle
    out[row, at + 24] = rules.buy_ins
    out[row, at + 25] = rules.decider_draw


@kernel
def observe_full(state: State, seat: int, naming: int, out: Any, row: int) -> None:
    """Write the full observation of a seat into a row of zeros."""
    at = put_cards(state, seat, naming, out, row)
    at = put_values(state, seat, out, row, at)
    at = put_roles(state, seat, out, row, at)
    at = put_seat_numbers(state, seat, out, row, at)
    at = put_moves(state, seat, out, row, at)
    at = put_table(state, seat, out, row, at)
    put_rules(state, out, row, at)


# --- masks and actions ---------------------------------------------------------------------------


@kernel
def write_mask(state: State, naming: int, out: Any, row: int) -> None:
    """Write the legal actions of the seat to act into a row of zeros (card format)."""
    words = legal_words(state)
    for word in range(FIRST_CARD):
        out[row, word] = (words >> word) & 1
    put_set(out, row, FIRST_CARD, rename_set(legal_cards(state), naming))


@kernel
def write_slot_mask(state: State, naming: int, out: Any, row: int) -> None:
    """The same in the slot format."""
    words = legal_words(state)
    for word in range(FIRST_CARD):
        out[row, word] = (words >> word) & 1
    legal = rename_set(legal_cards(state), naming)
    cards = rename_set(slot_cards(state, np.int64(state.seat)), naming)
    while legal:
        card = lowest(legal)
        legal ^= np.int64(BIT[card])
        out[row, FIRST_CARD + place_of(cards, card)] = 1


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


# --- compact -------------------------------------------------------------------------------------


@kernel
def best_suit_count(hand: int) -> int:
    """Cards in the fullest suit."""
    best = 0
    for suit in range(4):
        best = max(best, count((hand >> (16 * suit)) & RANK_MASK))
    return best


@kernel
def best_open_points(state: State) -> int:
    """Half points of the upcard or the best table card; a joker counts 11 points."""
    best = 0
    cards = open_cards(state)
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        worth = 22 if card >= LOWEST_JOKER else np.int64(RANK_POINTS[card % 13])
        best = max(best, worth)
    return best


@kernel
def turns_to_showdown(state: State) -> int:
    """Turns left until the knocker's turn comes round; 0 before a knock."""
    if state.knocker == NOBODY:
        return 0
    seats = np.int64(state.num_players)
    turns = 0
    seat = np.int64(state.seat)
    while seat != state.knocker and turns <= seats:
        turns += is_in(state.in_play, seat)
        seat = (seat + 1) % seats
    return turns


@kernel
def put_hand_numbers(state: State, seat: int, out: Any, row: int) -> None:
    """Compact numbers 0–12: the hand, the open cards, the turn."""
    seats = np.int64(state.num_players)
    blitz = np.float64(state.rules.blitz_value)
    out[row, 0] = own_value(state, seat) / blitz
    out[row, 1] = best_with_open_cards(state, seat) / blitz
    out[row, 2] = best_suit_count(np.int64(state.hands[seat])) / 4
    out[row, 3] = best_open_points(state) / 22
    out[row, 4] = state.own_turns[seat] / 8
    out[row, 5] = state.own_turns[seat] == 0
    out[row, 6] = (seat - np.int64(state.dealer) - 1 + 2 * seats) % seats / seats
    out[row, 7] = stock_left(state) / 52
    out[row, 8] = (np.int64(state.rules.max_turns) - np.int64(state.turns)) / 100
    out[row, 9] = state.knocker != NOBODY
    out[row, 10] = turns_to_showdown(state) / seats
    out[row, 11] = seats_in(state.in_play) / 9
    out[row, 12] = seats / 9


@kernel
def put_lives_numbers(state: State, seat: int, out: Any, row: int) -> None:
    """Compact numbers 13–17: losses to go, own and others'."""
    least, most, total, others = 100, 0, 0, 0
    for other in range(state.num_players):
        if other != seat and is_in(state.in_play, other):
            losses = losses_to_go(state, other)
            least = min(least, losses)
            most = max(most, losses)
            total += losses
            others += 1
    out[row, 13] = losses_to_go(state, seat) / 4
    if others:
        out[row, 14] = least / 4
        out[row, 15] = total / others / 4
        out[row, 16] = most / 4
    out[row, 17] = state.decider


@kernel
def put_opponent_numbers(state: State, seat: int, out: Any, row: int) -> None:
    """Compact numbers 18–22: what the others hold openly and did last."""
    seats = np.int64(state.num_players)
    most, collected, took, passed, others = 0, 0, 0, 0, 0
    for step in range(seats - 1, 0, -1):
        other = (seat + step) % seats
        if not is_in(state.in_play, other):
            continue
        held = count(np.int64(state.known[other]))
        out[row, 18] = held / 4
        most = max(most, held)
        collected = max(collected, openly_collected(state, other))
        took += move_kind(state, other) == 1
        passed += move_kind(state, other) == 2
        others += 1
    out[row, 19] = most / 4
    out[row, 20] = collected / 62
    if others:
        out[row, 21] = took / others
        out[row, 22] = passed / others


@kernel
def put_history_numbers(state: State, seat: int, out: Any, row: int) -> None:
    """Compact numbers 23–31: knocks so far and the rules that bear on knocking."""
    rules = state.rules
    out[row, 23] = 0.5
    out[row, 24] = 0.5
    if state.knocks > 0:
        out[row, 23] = np.int64(state.knock_turns) / np.int64(state.knocks) / 8
    if state.round_number > 0:
        out[row, 24] = (state.knocks - (state.knocker != NOBODY)) / state.round_number
    out[row, 25] = rules.exchange
    out[row, 26] = rules.three_of_a_kind / 62
    out[row, 27] = rules.knocker_lowest_loss - 1
    out[row, 28] = rules.knocker_tie_shares
    out[row, 29] = rules.blitz_after_knock
    out[row, 30] = rules.free_ride and not is_in(state.rode, seat)
    out[row, 31] = rules.pass_allowed > 0 or rules.exchange


@kernel
def observe_compact(state: State, seat: int, out: Any, row: int) -> None:
    """Write the compact observation of a seat into a row of zeros."""
    put_hand_numbers(state, seat, out, row)
    put_lives_numbers(state, seat, out, row)
    put_opponent_numbers(state, seat, out, row)
    put_history_numbers(state, seat, out, row)


@dataclass(frozen=True)
class Row:
    """One row of the documented table of the full observation."""

    name: str
    start: int
    stop: int
    highest: int
    meaning: str


def describe(num_players: int) -> list[Row]:
    """The table of the full observation for a number of seats."""
    places = slices(num_players)
    return [
        Row(b.name, places[b.name].start, places[b.name].stop, b.highest, b.meaning) for b in BLOCKS
    ]
