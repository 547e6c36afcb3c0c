"""The first layer in training, and advantages seat by seat.

Shapes: `T` decisions a row, `B` rows, `S` = 9 places for seats, `N` decisions of a minibatch, `F`
inputs, `H` units. Inputs are as in `agents.policies.network_kernels`.
"""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np

from agents.policies.network_kernels import GROUP, MOST_INPUTS
from thirtyone_env._jit import entry, inlined_kernel, kernel, wide_entry
from thirtyone_env.arena import naming_for, waits_outside
from thirtyone_env.bots.deciding import bot_action
from thirtyone_env.canonical import rename_card
from thirtyone_env.cards import BIT, NUM_CARDS, lowest
from thirtyone_env.engine import step
from thirtyone_env.observation import agent_action
from thirtyone_env.rng import USE_RESAMPLE, derive
from thirtyone_env.state import Phase

TILE = 512
"""Rows whose slopes are kept near while their gradients are added up."""
OPEN, ENDED, CUT, GOES_ON = range(4)
"""What is known, going backwards, of a seat's time after a decision: nothing; its episode ends, or
is cut short; it decides again."""


@entry
def hand_rows(states: Any, inputs: int, out: Any) -> None:
    """The hands of the others, as inputs from `inputs` on; for values, never for a policy.

    Seats count from the one to act; suits are renamed as it sees them. `out` int16[B, any] is
    filled up with −1.
    """
    for row in range(out.shape[0]):
        state = states[row]
        seat, seats, place = np.int64(state.seat), np.int64(state.num_players), 0
        naming = naming_for(state, seat, True)
        for after in range(1, seats):
            hand = np.int64(state.hands[(seat + after) % seats])
            while hand and place < out.shape[1]:
                card = lowest(hand)
                hand ^= np.int64(BIT[card])
                spot = inputs + NUM_CARDS * (after - 1) + rename_card(card, naming)
                out[row, place] = spot
                place += 1
        for i in range(place, out.shape[1]):
            out[row, i] = -1


@entry
def taught_actions(states: Any, copies: Any, book: Any, out: Any) -> None:
    """What the bots of the seats to act would do, int64[B], as slots with canonical suits.

    `copies` is scratch: what a bot changes in a state, such as its stream, stays as it was.
    """
    for row in range(len(out)):
        copies[0] = states[row]
        state = copies[0]
        naming = naming_for(state, np.int64(state.seat), True)
        action = bot_action(state, book)
        out[row] = agent_action(state, action, naming, True)


@entry
def play_round(states: Any, rows: Any, actions: Any, rounds: Any, book: Any, asked: Any) -> None:
    """Take a decision of the engine in some rows, then let bots play, but in no other round.

    `rounds` int64[B] are the rounds in progress; `asked` bool[N] is written: somebody has to be
    asked before the round ends.
    """
    for place in range(len(rows)):
        row = rows[place]
        state, action = states[row], np.int64(actions[place])
        while True:
            step(state, action)
            ended = state.phase == Phase.OVER or state.round_number != rounds[row]
            if ended or waits_outside(state):
                asked[place] = not ended
                break
            action = bot_action(state, book)


@entry
def shuffle_stocks(states: Any, number: int) -> None:
    """Let the stocks lie in another order, by lots of their own for every number."""
    for row in range(len(states)):
        state = states[row]
        state.shuffled = state.top
        state.stream = derive(state.stream, number, 0, USE_RESAMPLE)


@wide_entry
def first_layer(
    starts: Any, spots: Any, amounts: Any, rows: Any, weights: Any, biases: Any, out: Any
) -> None:
    """Sums float32[N, H] of the first layer for some rows of the inputs; weights float32[F, H]."""
    width = weights.shape[1]
    for place in range(len(rows)):
        row = rows[place]
        for h in range(width):
            out[place, h] = biases[h]
        for i in range(starts[row], starts[row + 1], GROUP):
            amount, spot = amounts[i : i + GROUP], spots[i : i + GROUP]
            add_rows(out[place], amount, weights, spot)


@inlined_kernel
def add_rows(out: Any, amounts: Any, rows: Any, spots: Any) -> None:
    """Add GROUP rows of float32[any, H] to float32[H], each so many times."""
    a, b = np.float32(amounts[0]), np.float32(amounts[1])
    c, d = np.float32(amounts[2]), np.float32(amounts[3])
    at_a, at_b, at_c, at_d = spots[0], spots[1], spots[2], spots[3]
    for h in range(len(out)):
        out[h] = (
            out[h] + a * rows[at_a, h] + b * rows[at_b, h] + c * rows[at_c, h] + d * rows[at_d, h]
        )


@kernel
def sort_inputs(starts: Any, spots: Any, amounts: Any, rows: Any, lists: Any) -> None:
    """Sort the inputs of some rows by which they are.

    `lists` are written: `ends` int64[F], where the list of each input ends (it begins after the one
    before, at a multiple of GROUP); the place in `rows`, and the byte, of every one, which is 0 in
    the gaps.
    """
    ends, places, times = lists
    ends[:] = 0
    for place in range(len(rows)):
        for i in range(starts[rows[place]], starts[rows[place] + 1]):
            ends[spots[i]] += amounts[i] != 0
    total = 0
    for spot in range(len(ends)):
        begin, after = total, total + ends[spot]
        ends[spot] = begin
        while after % GROUP:
            places[after], times[after] = 0, 0
            after += 1
        total = after
    for place in range(len(rows)):
        for i in range(starts[rows[place]], starts[rows[place] + 1]):
            if amounts[i]:
                at = ends[spots[i]]
                places[at], times[at] = place, amounts[i]
                ends[spots[i]] = at + 1


@wide_entry
def first_layer_gradient(
    starts: Any, spots: Any, amounts: Any, rows: Any, slopes: Any, lists: Any, gradient: Any
) -> None:
    """Add to float32[F, H] what the slopes float32[N, H] of those sums give.

    TILE rows after another, whose slopes stay near; of these input by input, GROUP rows at a time,
    so that the gradient is written a quarter as often. `lists` is scratch, see `room`.
    """
    ends, places, times = lists
    for first in range(0, len(rows), TILE):
        near = slopes[first : first + TILE]
        sort_inputs(starts, spots, amounts, rows[first : first + TILE], lists)
        i = 0
        for spot in range(len(ends)):
            while i < ends[spot]:
                add_rows(gradient[spot], times[i : i + GROUP], near, places[i : i + GROUP])
                i += GROUP


def room(inputs: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scratch for `first_layer_gradient` of so many inputs."""
    most = TILE * MOST_INPUTS + inputs * GROUP
    return np.empty(inputs, np.int64), np.empty(most, np.uint16), np.empty(most, np.uint8)


@entry
def advantages(
    seats: Any,
    rewards: Any,
    ended: Any,
    values: Any,
    last_seats: Any,
    last_values: Any,
    gamma: float,
    decay: float,
    memory: Any,
    gains: Any,
    valid: Any,
) -> None:
    """Generalised advantage estimation, each seat's decisions by themselves.

    The last decision of a seat that waits when the roll-out ends has not yet led to anything: it is
    not learned from (`valid` is 0), and its value stands for what follows the one before. Where an
    episode is cut short, the value of its last decision stands for what would have followed.

    Args:
        seats: int8[T, B], who decided.
        rewards: float32[T, B, S], what every seat was paid after each decision of the row.
        ended: int8[T, B, S], whose episodes ended then (ENDED) or were cut short (CUT).
        values: float32[T, B], by the network.
        last_seats, last_values: int8[B], float32[B], who decides next, and the value of that.
        gamma, decay: the discount, and lambda.
        memory: float64[4, S], anything.
        gains: float32[T, B], written: the advantages.
        valid: bool[T, B], written.
    """
    known, paid, value, gain = memory[0], memory[1], memory[2], memory[3]
    for row in range(seats.shape[1]):
        for seat in range(rewards.shape[2]):
            known[seat], paid[seat] = OPEN, 0.0
        known[last_seats[row]] = GOES_ON
        value[last_seats[row]], gain[last_seats[row]] = last_values[row], 0.0
        for t in range(seats.shape[0] - 1, -1, -1):
            for seat in range(rewards.shape[2]):
                if ended[t, row, seat]:
                    known[seat], paid[seat] = ended[t, row, seat], 0.0
                paid[seat] += rewards[t, row, seat]
            seat = seats[t, row]
            follows, now = known[seat], np.float64(values[t, row])
            found = paid[seat] - now
            if follows == GOES_ON:
                found += gamma * value[seat] + gamma * decay * gain[seat]
            elif follows == CUT:
                found += gamma * now
            valid[t, row] = follows != OPEN
            gains[t, row] = found
            known[seat], paid[seat], value[seat] = GOES_ON, 0.0, now
            gain[seat] = found if follows != OPEN else 0.0


@inlined_kernel
def log_sum(logits: Any, masks: Any, place: int, row: int) -> float:
    """Logarithm of the sum of exponentials of a decision's legal logits."""
    most, total = -1e30, 0.0
    for action in range(logits.shape[1]):
        if masks[row, action]:
            most = max(most, np.float64(logits[place, action]))
    for action in range(logits.shape[1]):
        if masks[row, action]:
            total += exp(np.float64(logits[place, action]) - most)
    return most + log(total)


@inlined_kernel
def entropy_of(logits: Any, masks: Any, place: int, row: int, whole: float) -> float:
    """Entropy of a decision, given the logarithm of the sum of its exponentials."""
    entropy = 0.0
    for action in range(logits.shape[1]):
        if masks[row, action]:
            log_chance = np.float64(logits[place, action]) - whole
            entropy -= exp(log_chance) * log_chance
    return entropy


@entry
def loss_slopes(
    logits: Any,
    values: Any,
    masks: Any,
    actions: Any,
    log_chances: Any,
    gains: Any,
    returns: Any,
    rows: Any,
    numbers: Any,
    slopes: Any,
    value_slopes: Any,
    sums: Any,
) -> None:
    """The loss of PPO and its slopes in logits and values.

    Args:
        logits, values: float32[N, A], float32[N], of the network now.
        masks, actions, log_chances, gains, returns: of all decisions: legal actions, the one
            taken, its log-probability then, its advantage, and what the value should be.
        rows: int64[N], which decisions these are.
        numbers: float64[7]: mean and spread that advantages are normalised by, the clip range, the
            weights of entropy and value loss, decisions of the whole minibatch, and 1 where the
            actions are a teacher's, which are to become as likely as possible.
        slopes, value_slopes: float32[N, A], float32[N], written.
        sums: float64[5], added to: policy loss, value loss, negative entropy, divergence from the
            old policy, clipped ratios.
    """
    mean, spread, clip = numbers[0], numbers[1], numbers[2]
    entropy_weight, value_weight, count = numbers[3], numbers[4], numbers[5]
    taught = numbers[6] > 0
    for place in range(len(rows)):
        row = rows[place]
        taken, whole = actions[row], log_sum(logits, masks, place, row)
        entropy = entropy_of(logits, masks, place, row, whole)
        change = np.float64(logits[place, taken]) - whole - np.float64(log_chances[row])
        ratio, gain = exp(change), (np.float64(gains[row]) - mean) / spread
        near = min(max(ratio, 1.0 - clip), 1.0 + clip)
        pull = -gain * ratio if gain * ratio <= gain * near else 0.0
        pull = -1.0 if taught else pull
        for action in range(logits.shape[1]):
            slope = 0.0
            if masks[row, action]:
                log_chance = np.float64(logits[place, action]) - whole
                chance = exp(log_chance)
                slope = entropy_weight * chance * (log_chance + entropy) - pull * chance
            slopes[place, action] = (slope + pull * (action == taken)) / count
        error = np.float64(values[place]) - np.float64(returns[row])
        value_slopes[place] = 2.0 * value_weight * error / count
        sums[0] -= (
            np.float64(logits[place, taken]) - whole if taught else min(gain * ratio, gain * near)
        )
        sums[1] += error * error
        sums[2] -= entropy
        sums[3] += ratio - 1.0 - change
        sums[4] += abs(ratio - 1.0) > clip


@entry
def vine_slopes(
    logits: Any,
    masks: Any,
    chances: Any,
    gains: Any,
    rows: Any,
    numbers: Any,
    slopes: Any,
    sums: Any,
) -> None:
    """The policy's part of the same loss, where the advantages of all actions are known.

    It is then no estimate by the one action taken, but the sum over all of them, by their chances.

    Args:
        logits: float32[N, A], of the network now.
        masks, chances, gains: of all decisions: legal actions, their chances then, and those times
            the advantages.
        rows, numbers, slopes, sums: as for `loss_slopes`; the value's are not used.
    """
    spread, clip, entropy_weight, count = numbers[1], numbers[2], numbers[3], numbers[5]
    for place in range(len(rows)):
        row, pulls, clipped = rows[place], 0.0, False
        whole = log_sum(logits, masks, place, row)
        entropy = entropy_of(logits, masks, place, row, whole)
        for action in range(logits.shape[1]):
            slopes[place, action] = 0.0
            then, gain = np.float64(chances[row, action]), np.float64(gains[row, action]) / spread
            if masks[row, action] and then > 0:
                change = np.float64(logits[place, action]) - whole - log(then)
                ratio = exp(change)
                near = min(max(ratio, 1.0 - clip), 1.0 + clip)
                pull = -gain * ratio if gain * ratio <= gain * near else 0.0
                slopes[place, action] = pull
                pulls += pull
                clipped = clipped or (gain != 0 and abs(ratio - 1.0) > clip)
                sums[0] -= min(gain * ratio, gain * near)
                sums[3] -= then * change
        for action in range(logits.shape[1]):
            if masks[row, action]:
                log_chance = np.float64(logits[place, action]) - whole
                chance, pull = exp(log_chance), np.float64(slopes[place, action])
                slope = entropy_weight * chance * (log_chance + entropy) - pulls * chance
                slopes[place, action] = (slope + pull) / count
        sums[2] -= entropy
        sums[4] += clipped
