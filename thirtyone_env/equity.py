"""Chance to win a match by lives alone, from a table: the yardstick of reward "equity".

Model: in every round one player in play, each as likely as any other, loses one life. Then a player
with L losses to go is out after a Gamma(L, 1) time, independent of the others' (the race of
independent Poisson clocks), and the chance to be the last one left is

    p_i = ∫ f_{L_i}(t) ∏_{j≠i} F_{L_j}(t) dt,

taken with 64 Gauss–Laguerre nodes and scaled to the sum 1. Own derivation.
"""

from __future__ import annotations

from math import exp, factorial

import numpy as np

from thirtyone_env._jit import kernel
from thirtyone_env.state import Phase, State, is_in, losses_to_go, seats_in

_MOST = 10
_NODES, _WEIGHTS = np.polynomial.laguerre.laggauss(64)


def _gamma_cdf(losses: int, time: float) -> float:
    """F_L(t), summed from the side that does not cancel."""
    if time > 2 * _MOST + 10:
        return 1.0 - exp(-time) * sum(time**k / factorial(k) for k in range(losses))
    return exp(-time) * sum(time**k / factorial(k) for k in range(losses, losses + 120))


CDF: np.ndarray = np.array([[_gamma_cdf(n, t) for t in _NODES] for n in range(1, _MOST + 1)])
"""float64[10, 64]: F_L at the nodes."""
HAZARD: np.ndarray = (
    np.array([[t ** (n - 1) / factorial(n - 1) for t in _NODES] for n in range(1, _MOST + 1)])
    * _WEIGHTS
    / CDF
)
"""float64[10, 64]: f_L / F_L at the nodes, times the weight."""


@kernel
def seats_alive(state: State) -> int:
    """Seats that still have a chance: in play and not about to be eliminated, unless all are."""
    alive = np.int64(state.in_play) & ~np.int64(state.pending)
    return alive if alive else np.int64(state.in_play)


@kernel
def raw_equity(state: State, seat: int, alive: int) -> float:
    """The integral of one seat, before scaling."""
    own = losses_to_go(state, seat) - 1
    total = 0.0
    for node in range(CDF.shape[1]):
        product = HAZARD[own, node]
        for other in range(state.num_players):
            if is_in(alive, other):
                product *= CDF[losses_to_go(state, other) - 1, node]
        total += product
    return total


@kernel
def equity(state: State, seat: int) -> float:
    """The seat's chance to win the match by lives; its share of the pot once it is over."""
    alive = seats_alive(state)
    if not is_in(alive, seat):
        return 0.0
    if state.phase == Phase.OVER and not state.one_round:
        return 1.0 / seats_in(state.in_play)
    total = 0.0
    for other in range(state.num_players):
        if is_in(alive, other):
            total += raw_equity(state, other, alive)
    return raw_equity(state, seat, alive) / total
