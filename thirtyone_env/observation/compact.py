"""The compact observation: about 30 numbers, each of the size of one."""

from __future__ import annotations

from typing import Any

import numpy as np

from thirtyone_env._jit import kernel
from thirtyone_env.bots.hands import best_with_open_cards, openly_collected
from thirtyone_env.canonical import open_cards
from thirtyone_env.cards import LOWEST_JOKER, RANK_MASK, RANK_POINTS, count, lowest
from thirtyone_env.observation.parts import move_kind, own_value
from thirtyone_env.state import NOBODY, State, is_in, losses_to_go, seats_in, stock_left

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


def compact_names() -> list[str]:
    """Names of the numbers of the compact observation."""
    return [name for name, _ in COMPACT_FEATURES]


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
    """Write the compact observation of a seat into a row."""
    for number in range(COMPACT_SIZE):
        out[row, number] = 0.0
    put_hand_numbers(state, seat, out, row)
    put_lives_numbers(state, seat, out, row)
    put_opponent_numbers(state, seat, out, row)
    put_history_numbers(state, seat, out, row)
