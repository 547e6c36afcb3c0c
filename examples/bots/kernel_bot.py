"""A bot compiled like those of the package: one plain function on a table's record.

    python evaluate.py tournament python:examples/bots/kernel_bot.py:Quick danish random

The function is the whole bot, and sees what the seat may see by the package's own functions. It is
compiled on first use; with NUMBA_DISABLE_JIT=1 the same text runs under a debugger.
"""

import numba
import numpy as np

from thirtyone_env.actions import KNOCK, NUM_ACTIONS, may_knock
from thirtyone_env.bots.greedy import continuing_action
from thirtyone_env.cards import hand_value
from thirtyone_env.state import Phase


@numba.njit
def decide(state):
    """Knock with 24 points, with 26 if anybody has taken the upcard; otherwise be greedy."""
    if state.phase == Phase.TURN and may_knock(state):
        seat = state.seat
        others_took = False
        for other in range(state.num_players):
            others_took |= other != seat and state.known[other] != 0
        limit = 52 if others_took else 48  # half points
        if hand_value(np.int64(state.hands[seat]), state.rules) >= limit:
            return KNOCK
    return continuing_action(state)


@numba.njit
def decide_rows(states, rows, actions):
    """Decisions for some rows of tables."""
    for place in range(len(rows)):
        actions[place] = decide(states[rows[place]])


class Quick:
    """The compiled function as a policy."""

    name = "quick"

    def act_batch(self, tables, rows):
        """int64[N]: actions (card format) of the seats to act in these rows."""
        actions = np.zeros(len(rows), np.int64)
        decide_rows(tables.states, np.asarray(rows), actions)
        assert ((actions >= 0) & (actions < NUM_ACTIONS)).all()
        return actions
