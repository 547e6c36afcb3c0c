"""Every knock threshold against every other, heads-up, from one playing of the cards.

The bots `threshold:T` draw and discard alike whatever their thresholds, so the cards of a round run
the same way until somebody knocks. Each round is played once without a knock; wherever a seat's
hand first reaches a threshold, the last turns after a knock there are played on a copy. The result
of the round for every pair of thresholds is then looked up, and a match is a walk through its
rounds: the same lives, payoffs and winners as `arena.play_matches` gives, about thirty times as
quickly. Heads-up only: at larger tables the deal depends on who is out.

Shapes: `M` matches, `K` thresholds in ascending order, `R` rounds at most, `T` own turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thirtyone_env._jit import entry, kernel
from thirtyone_env.actions import BUY_IN, KNOCK, may_knock
from thirtyone_env.bots import controller
from thirtyone_env.bots.greedy import continuing_action
from thirtyone_env.cards import hand_value
from thirtyone_env.checks import checked_seed
from thirtyone_env.engine import apply
from thirtyone_env.engine.rounds import (
    ask_next_buy_in,
    decide_buy_in,
    judge_round,
    match_payoff,
    next_round,
    pay_lives,
    prepare_match,
    take_lives,
)
from thirtyone_env.rng import USE_DEALER, below, derive
from thirtyone_env.rules import Rules
from thirtyone_env.state import STATE, Phase, State, acting_seat, new_states

NEVER = 32767
MAX_LOSS = 2
SAMPLED_ROUNDS = 4
"""Rounds of every match that the outcomes by round are counted from."""
MAX_TURNS = 8
"""Own turns that gains are counted for."""
VALUES = 32
"""Hand values in points that gains are counted for, from 0."""


# --- one round -----------------------------------------------------------------------------------


@kernel
def begin_lone_round(state: State) -> None:
    """Deal the next round as if the match had just begun."""
    state.in_play = 3
    state.rode = 0
    state.decider = 0
    state.winner = -1
    state.one_round = 1
    for seat in range(2):
        state.lives[seat] = state.rules.lives
    next_round(state)
    if state.phase == Phase.JUDGE:
        judge_round(state)


@kernel
def take(state: State, action: int) -> None:
    """As `engine.apply`, as one call: set in once, it compiles in a fraction of the time."""
    apply(state, action)


@kernel
def go_on(state: State) -> None:
    """One decision other than a knock."""
    take(state, continuing_action(state))


@kernel
def play_out(state: State) -> None:
    """Knock, then play on to the end of the round."""
    take(state, KNOCK)
    while state.phase != Phase.OVER:
        go_on(state)


@kernel
def note_stops(
    states: Any, thresholds: Any, made: Any, turn: int, when: Any, lost: Any, nth: int
) -> None:
    """Where the hand of the seat to act reaches thresholds for the first time: what a knock does.

    `made` is the number of thresholds that each seat has reached.
    """
    state = states[0]
    seat = acting_seat(state)
    value = hand_value(np.int64(state.hands[seat]), state.rules)
    k = np.int64(made[seat])
    if k >= len(thresholds) or thresholds[k] > value:
        return
    states[1] = states[0]
    copy = states[1]
    play_out(copy)
    while k < len(thresholds) and thresholds[k] <= value:
        when[nth, seat, k] = turn
        lost[nth, seat, k, 0] = copy.losses[0]
        lost[nth, seat, k, 1] = copy.losses[1]
        k += 1
    made[seat] = k


@kernel
def play_round(
    states: Any, thresholds: Any, made: Any, when: Any, lost: Any, natural: Any, nth: int
) -> None:
    """Play one round without a knock, noting what every threshold would have made of it."""
    state = states[0]
    begin_lone_round(state)
    for seat in range(2):
        made[seat] = 0
        for k in range(len(thresholds)):
            when[nth, seat, k] = NEVER
    turn = 0
    while state.phase != Phase.OVER:
        if state.phase == Phase.TURN:
            if may_knock(state):
                note_stops(states, thresholds, made, turn, when, lost, nth)
            turn += 1
        go_on(state)
    natural[nth, 0] = state.losses[0]
    natural[nth, 1] = state.losses[1]


# --- matches -------------------------------------------------------------------------------------


@kernel
def take_round(life: State, loss_0: int, loss_1: int, nth: int) -> None:
    """Take the lives of a round, with whatever buy-ins follow."""
    life.round_number = nth
    life.losses[0] = loss_0
    life.losses[1] = loss_1
    life.asked = 0
    life.pending = 0
    life.eliminated = 0
    pay_lives(life)
    take_lives(life)
    ask_next_buy_in(life)
    while life.phase == Phase.BUY_IN:
        decide_buy_in(life, continuing_action(life) == BUY_IN)
    life.dealer = 1 - life.dealer


@kernel
def ready_rounds(
    states: Any,
    thresholds: Any,
    made: Any,
    when: Any,
    lost: Any,
    natural: Any,
    ready: int,
    wanted: int,
) -> int:
    """Play rounds until so many are there; how many there are."""
    while ready < wanted:
        play_round(states, thresholds, made, when, lost, natural, ready)
        ready += 1
    return ready


@kernel
def walk(
    states: Any,
    thresholds: Any,
    made: Any,
    when: Any,
    lost: Any,
    natural: Any,
    ready: int,
    i: int,
    j: int,
) -> int:
    """One match of threshold i in seat 0 against j in seat 1; how many rounds are there now."""
    life = states[2]
    prepare_match(life)
    life.dealer = 1 - life.dealer  # of round 0
    nth = 0
    while life.phase != Phase.OVER:
        if nth >= ready:
            ready = ready_rounds(states, thresholds, made, when, lost, natural, ready, nth + 1)
        first, second = when[nth, 0, i], when[nth, 1, j]
        if first < second:
            take_round(life, lost[nth, 0, i, 0], lost[nth, 0, i, 1], nth)
        elif second < first:
            take_round(life, lost[nth, 1, j, 0], lost[nth, 1, j, 1], nth)
        else:
            take_round(life, natural[nth, 0], natural[nth, 1], nth)
        nth += 1
    return ready


@kernel
def count_outcomes(
    when: Any, lost: Any, natural: Any, nth: int, begins: int, outcomes: Any
) -> None:
    """Count a round for every pair, the thresholds of who begins and of the other in this order."""
    other, size = 1 - begins, outcomes.shape[0]
    for i in range(size):
        for j in range(size):
            first, second = when[nth, begins, i], when[nth, other, j]
            a, b = np.int64(natural[nth, begins]), np.int64(natural[nth, other])
            if first < second:
                a, b = np.int64(lost[nth, begins, i, begins]), np.int64(lost[nth, begins, i, other])
            elif second < first:
                a, b = np.int64(lost[nth, other, j, begins]), np.int64(lost[nth, other, j, other])
            outcomes[i, j, a, b] += 1


@entry
def play_pairs(
    states: Any,
    matches: Any,
    thresholds: Any,
    made: Any,
    when: Any,
    lost: Any,
    natural: Any,
    payoffs: Any,
    outcomes: Any,
) -> None:
    """Play every match for every pair of thresholds."""
    state, life = states[0], states[2]
    for m in range(len(matches)):
        state.match = matches[m]
        life.match = matches[m]
        prepare_match(state)
        begins = np.int64(state.dealer)  # the deal passes on before the first round
        ready = ready_rounds(
            states, thresholds, made, when, lost, natural, 0, min(SAMPLED_ROUNDS, len(when))
        )
        for nth in range(ready):
            count_outcomes(when, lost, natural, nth, (begins + nth) & 1, outcomes)
        for i in range(len(thresholds)):
            for j in range(len(thresholds)):
                ready = walk(states, thresholds, made, when, lost, natural, ready, i, j)
                payoffs[m, i, j] = match_payoff(life, 0)


# --- what a deviation on one turn is worth -------------------------------------------------------


@kernel
def trace_round(states: Any, value: Any, losses: Any, when: Any, natural: Any) -> None:
    """Play one round without a knock; value, place and result of a knock at every own turn."""
    state = states[0]
    begin_lone_round(state)
    for seat in range(2):
        for turn in range(value.shape[1]):
            when[seat, turn] = NEVER
            value[seat, turn] = -1
    nth = 0
    while state.phase != Phase.OVER:
        if state.phase == Phase.TURN:
            seat = acting_seat(state)
            turn = np.int64(state.own_turns[seat])
            if may_knock(state) and turn < value.shape[1]:
                states[1] = states[0]
                copy = states[1]
                play_out(copy)
                value[seat, turn] = hand_value(np.int64(state.hands[seat]), state.rules)
                losses[seat, turn] = np.int64(copy.losses[1 - seat]) - np.int64(copy.losses[seat])
                when[seat, turn] = nth
            nth += 1
        go_on(state)
    natural[0] = np.int64(state.losses[1]) - np.int64(state.losses[0])


@kernel
def stop_turn(value: Any, seat: int, threshold: int, turn: int) -> int:
    """The first own turn from one on with a hand worth the threshold; one past the last if none."""
    while turn < value.shape[1] and (value[seat, turn] < threshold or value[seat, turn] < 0):
        turn += 1
    return turn


@kernel
def weigh_stops(
    value: Any,
    losses: Any,
    when: Any,
    natural: Any,
    thresholds: Any,
    mixture: Any,
    seat: int,
    worth: Any,
    alive: Any,
) -> None:
    """Expected swing of stopping at each own turn (the last: never) against a mixture.

    `alive` is the chance that the other has not knocked before.
    """
    other, turns = 1 - seat, value.shape[1]
    for turn in range(turns + 1):
        worth[turn] = 0.0
        alive[turn] = 0.0
    for j in range(len(thresholds)):
        if mixture[j] == 0.0:
            continue
        stop = stop_turn(value, other, thresholds[j], 0)
        ends = np.int64(when[other, stop]) if stop < turns else NEVER
        swing = -np.int64(losses[other, stop]) if stop < turns else np.int64(natural[0])
        if seat == 1 and stop == turns:
            swing = -swing
        for turn in range(turns + 1):
            mine = np.int64(when[seat, turn]) if turn < turns else NEVER
            if turn < turns and mine < ends:
                worth[turn] += mixture[j] * np.int64(losses[seat, turn])
                alive[turn] += mixture[j]
            else:
                worth[turn] += mixture[j] * swing


@kernel
def add_gains(
    value: Any,
    thresholds: Any,
    mixture: Any,
    seat: int,
    role: int,
    worth: Any,
    alive: Any,
    gains: Any,
    reached: Any,
    choices: Any,
) -> None:
    """Add what knocking gains over going on at every own turn, by value; and by threshold."""
    turns = value.shape[1]
    for turn in range(min(turns, gains.shape[1])):
        if value[seat, turn] < 0:
            continue
        weight, going_on = 0.0, 0.0
        for i in range(len(thresholds)):
            if mixture[i] > 0.0 and stop_turn(value, seat, thresholds[i], 0) >= turn:
                weight += mixture[i]
                later = stop_turn(value, seat, thresholds[i], turn + 1)
                going_on += mixture[i] * worth[later]
        gain = weight * worth[turn] - going_on
        points = min(np.int64(value[seat, turn]) // 2, gains.shape[2] - 1)
        gains[role, turn, points] += gain
        reached[role, turn, points] += weight * alive[turn]
        for k in range(len(thresholds)):
            if value[seat, turn] >= thresholds[k]:
                choices[role, turn, k] += gain


@entry
def trace_turns(
    states: Any,
    matches: Any,
    thresholds: Any,
    mixture: Any,
    value: Any,
    losses: Any,
    when: Any,
    natural: Any,
    worth: Any,
    alive: Any,
    gains: Any,
    reached: Any,
    choices: Any,
) -> None:
    """Play the first round of every match and add up the gains of both seats."""
    state = states[0]
    for m in range(len(matches)):
        state.match = matches[m]
        prepare_match(state)
        begins = np.int64(state.dealer)
        trace_round(states, value, losses, when, natural)
        for seat in range(2):
            role = 0 if seat == begins else 1
            weigh_stops(value, losses, when, natural, thresholds, mixture, seat, worth, alive)
            add_gains(value, thresholds, mixture, seat, role, worth, alive, gains, reached, choices)


@entry
def find_first_seats(seed: Any, matches: Any, num_players: int, out: Any) -> None:
    """The seat that begins the first round of each match."""
    for m in range(len(matches)):
        dealer = below(derive(seed[0], matches[m], 0, USE_DEALER), num_players)
        out[m] = (dealer + 1) % num_players


# --- from Python ---------------------------------------------------------------------------------


def half_points(thresholds: Sequence[float]) -> np.ndarray:
    """int64[K]: thresholds in half points.

    Raises:
        ValueError: for a threshold that no bot has, or if they do not ascend.
    """
    found = np.array([controller(f"threshold:{t:g}")["thresholds"][0] for t in thresholds], int)
    if not found.size or (np.diff(found) <= 0).any():
        raise ValueError("thresholds must ascend, and there must be at least one")
    return found


def _states(rules: Rules, seed: int) -> np.ndarray:
    states = np.zeros(5, STATE)  # one more at either end: no cache line shared with other threads
    states[1:4] = new_states(rules, 2, 1)[0]
    states["seed"] = checked_seed(seed)
    states["controllers"]["ask"] = 0
    return states[1:4]


def threshold_payoffs(
    rules: Rules, thresholds: Sequence[float], *, seed: int, matches: Sequence[int] | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Match payoffs of every threshold against every other, heads-up.

    Args:
        rules: the rules.
        thresholds: K thresholds in points, ascending.
        seed: what the cards derive from.
        matches: int64[M], match indices.

    Returns:
        Payoffs float64[M, K, K] of seat 0, by its threshold and that of seat 1, equal to those of
        `play_matches`; and counts int64[K, K, 3, 3] of single rounds by the thresholds of the seat
        that begins and of the other, and the lives that each loses.

    Raises:
        ValueError: for rules that allow no two players, or thresholds that do not ascend.
    """
    limits = half_points(thresholds)
    matches, size = np.asarray(matches, np.int64), len(limits)
    payoffs = np.empty((len(matches), size, size))
    outcomes = np.zeros((size, size, MAX_LOSS + 1, MAX_LOSS + 1), np.int64)
    rounds = rules.max_rounds
    scratch = (
        np.zeros(2, np.int64),
        np.zeros((rounds, 2, size), np.int16),
        np.zeros((rounds, 2, size, 2), np.int8),
        np.zeros((rounds, 2), np.int8),
    )
    play_pairs(_states(rules, seed), matches, limits, *scratch, payoffs, outcomes)
    return payoffs, outcomes


def turn_gains(
    rules: Rules,
    thresholds: Sequence[float],
    mixture: np.ndarray,
    *,
    seed: int,
    matches: Sequence[int] | np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What one decision is worth while everything else follows a mixture of thresholds, heads-up.

    Both seats draw a threshold from the mixture before the round. Counted is the first round of
    each match, in life swings (the lives that the other loses more).

    Args:
        rules, thresholds, seed, matches: as for `threshold_payoffs`.
        mixture: float64[K], shares of the thresholds.

    Returns:
        Gains float64[2, MAX_TURNS, VALUES] of knocking over going on, by role (0: the seat that
        begins), own turn and points, summed over the rounds; how often a decision was reached,
        in the same shape; and float64[2, MAX_TURNS, K]: summed gains over never knocking on a turn
        of a threshold that holds on this turn alone.
    """
    limits = half_points(thresholds)
    turns = rules.max_turns
    scratch = (
        np.zeros((2, turns), np.int16),
        np.zeros((2, turns), np.int8),
        np.zeros((2, turns), np.int16),
        np.zeros(1, np.int8),
        np.zeros(turns + 1),
        np.zeros(turns + 1),
    )
    gains = np.zeros((2, MAX_TURNS, VALUES))
    reached, choices = np.zeros_like(gains), np.zeros((2, MAX_TURNS, len(limits)))
    numbers = np.asarray(matches, np.int64)
    shares = np.asarray(mixture, np.float64)
    trace_turns(_states(rules, seed), numbers, limits, shares, *scratch, gains, reached, choices)
    return gains, reached, choices


def first_seats(seed: int, matches: Sequence[int] | np.ndarray, num_players: int) -> np.ndarray:
    """int64[M]: the seat that begins the first round of each match."""
    numbers = np.asarray(matches, np.int64)
    out = np.empty(len(numbers), np.int64)
    find_first_seats(np.array([checked_seed(seed)], np.uint64), numbers, num_players, out)
    return out
