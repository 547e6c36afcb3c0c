"""The space of an observation, as Gymnasium and PettingZoo want it."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from thirtyone_env.observation.afterstates import AFTERSTATE_SIZE
from thirtyone_env.observation.compact import COMPACT_SIZE
from thirtyone_env.observation.layout import highest_values


def seen_space(num_players: int, compact: bool, *, afterstates: bool = False) -> spaces.Box:
    """The space of one observation: the compact one, or the full one at a table of this size.

    With `afterstates` flags of their values follow, as some networks read them.
    """
    if compact:
        return spaces.Box(-1.0, 4000.0, (COMPACT_SIZE,), np.float32)
    high = highest_values(num_players)
    if afterstates:
        high = np.append(high, np.ones(AFTERSTATE_SIZE, np.uint8))
    return spaces.Box(np.zeros(len(high), np.uint8), high, dtype=np.uint8)
