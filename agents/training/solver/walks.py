"""Rounds from which tables of information sets learn: every choice of a seat, played to the end.

A round is played by the real engine. Where the learner decides, every choice is tried on a copy of
the state, down to the end of the round; the others draw their choices by lot. What a choice is
worth more than the mean of what the seat does is its regret, and choices are taken in proportion to
regrets above 0 (external sampling, after Lanctot, Waugh, Zinkevich and Bowling, "Monte Carlo
sampling for regret minimization in extensive games", 2009). Copies share the cards to come with the
state. The average of what the others do is what goes to an equilibrium in a game of two.

Shapes: `N` places of the table, a power of two, and one more for what finds no room in it; `W`
ways; `D` own decisions of a round at most.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.training.solver.kernels import deal_from, take
from thirtyone_env._jit import entry, kernel
from thirtyone_env.bots.seeing import num_ways, seen_key, way_action
from thirtyone_env.engine import start_match
from thirtyone_env.rng import advance_stream, below, derive
from thirtyone_env.state import Phase, State, acting_seat

USE_WALK = 132
PLACE, NUM_WAYS, NEXT = range(3)
"""What is kept of an own decision: its place in the table, its ways, and which is tried next."""
TAKEN, FULL = range(2)
"""Places taken, and whether an information set found none."""
FINE = 1 << 30
"""Steps of a lot."""


@kernel
def place_of(key: np.uint64, keys: Any, room: Any) -> int:
    """The place of an information set: from its key on, the first that is its own or free."""
    size = len(keys) - 1
    place = np.int64(key & np.uint64(size - 1))
    while keys[place] != 0 and keys[place] != key:
        place = (place + 1) & (size - 1)
    if keys[place] == 0:
        if 2 * room[TAKEN] >= size:
            room[FULL] = 1
            return size
        room[TAKEN] += 1
        keys[place] = key
    return int(place)


@kernel
def match_regrets(place: int, ways: int, regrets: Any, chances: Any) -> None:
    """Chances in proportion to regrets above 0; each as likely where there are none."""
    total = 0.0
    for way in range(ways):
        total += max(regrets[place, way], 0.0)
    for way in range(ways):
        chances[way] = max(regrets[place, way], 0.0) / total if total > 0.0 else 1.0 / ways


@kernel
def play_others(
    state: State,
    seat: int,
    weight: float,
    keys: Any,
    room: Any,
    regrets: Any,
    sums: Any,
    chances: Any,
    streams: Any,
) -> None:
    """Play on until a seat decides or the round is over, and add up what the others do."""
    while state.phase != Phase.OVER and acting_seat(state) != seat:
        ways = num_ways(state)
        place = place_of(seen_key(state), keys, room)
        match_regrets(place, ways, regrets, chances)
        streams[0] = advance_stream(streams[0])
        lot, chosen = below(streams[0], FINE) / FINE, 0
        for way in range(ways):
            sums[place, way] += weight * chances[way]
            chosen = way if lot >= 0.0 else chosen
            lot -= chances[way]
        take(state, way_action(state, chosen))


@kernel
def settle(node: Any, worth: Any, regrets: Any, chances: Any) -> float:
    """Add the regrets of an own decision; the mean worth of what is done there."""
    place, ways, mean = node[PLACE], node[NUM_WAYS], 0.0
    match_regrets(place, ways, regrets, chances)
    for way in range(ways):
        mean += chances[way] * worth[way]
    for way in range(ways):
        regrets[place, way] += worth[way] - mean
    return mean


@kernel
def begin(state: State, node: Any, keys: Any, room: Any) -> None:
    """Begin to try the choices of an own decision."""
    node[PLACE] = place_of(seen_key(state), keys, room)
    node[NUM_WAYS] = num_ways(state)
    node[NEXT] = 0


@kernel
def walk(
    states: Any,
    seat: int,
    weight: float,
    keys: Any,
    room: Any,
    regrets: Any,
    sums: Any,
    nodes: Any,
    worth: Any,
    chances: Any,
    streams: Any,
) -> None:
    """Try everything that a seat can do in a round that is dealt; `states` is a copy a decision."""
    depth = -1
    while True:
        state = states[depth + 1]
        play_others(state, seat, weight, keys, room, regrets, sums, chances, streams)
        if state.phase != Phase.OVER:
            depth += 1
            begin(state, nodes[depth], keys, room)
        elif depth >= 0:
            worth[depth, nodes[depth, NEXT] - 1] = state.lives_payoff[seat]
        while depth >= 0 and nodes[depth, NEXT] == nodes[depth, NUM_WAYS]:
            mean = settle(nodes[depth], worth[depth], regrets, chances)
            depth -= 1
            if depth >= 0:
                worth[depth, nodes[depth, NEXT] - 1] = mean
        if depth < 0:
            return
        states[depth + 1] = states[depth]
        copy = states[depth + 1]
        take(copy, way_action(copy, nodes[depth, NEXT]))
        nodes[depth, NEXT] += 1


@entry
def walk_rounds(
    states: Any,
    laid: Any,
    first: int,
    after: int,
    weight: float,
    keys: Any,
    room: Any,
    regrets: Any,
    sums: Any,
    nodes: Any,
    worth: Any,
    chances: Any,
    streams: Any,
) -> None:
    """Learn from rounds, each played once for every seat.

    `states` is STATE[D + 2]; `laid` as for `learn_rounds`, the cards in the last of them. `weight`
    is that of what is done in the average. `keys` is uint64[N + 1], `room` int64[2], `regrets` and
    `sums` float64[N + 1, W], `nodes` int64[D, 3], `worth` float64[D, W].
    """
    state, last = states[0], len(states) - 1
    for match in range(first, after):
        for seat in range(state.num_players):
            state.match = match
            streams[0] = derive(state.seed, match, seat, USE_WALK)
            if laid[0]:
                deal_from(state, states[last], laid[0], laid[1])
            else:
                start_match(state)
            walk(states, seat, weight, keys, room, regrets, sums, nodes, worth, chances, streams)
