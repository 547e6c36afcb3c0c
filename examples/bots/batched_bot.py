"""A bot that decides for many tables at a time, from arrays.

    python evaluate.py tournament python:examples/bots/batched_bot.py:Careful danish random

It is asked about all tables of a batch at once, so a network answers them in one pass. Here an
array formula decides about knocking; a bot of the kernel draws and discards.
"""

import numpy as np

from thirtyone_env import make_bot
from thirtyone_env.actions import KNOCK


class Careful:
    """Knocks the later the more points its hand lacks, and sooner with one life left."""

    name = "careful"

    def __init__(self):
        self.draws = make_bot("never_knock")

    def act_batch(self, tables, rows):
        """int64[N]: actions (card format) of the seats to act in these rows."""
        rows = np.asarray(rows)
        actions = self.draws.act_batch(tables, rows)
        seats = tables.states["seat"][rows]
        lives = tables.states["lives"][rows, seats]
        limit = np.clip(22 + tables.waiting_turn[rows], 22, 27) - (lives <= 1)
        wants = tables.waiting_value[rows] >= 2 * limit  # values are counted in half points
        may = tables.action_mask(rows)[:, KNOCK] == 1
        return np.where(wants & may, KNOCK, actions)
