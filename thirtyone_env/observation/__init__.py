"""What a seat sees, as numbers: `"full"` (bytes) and `"compact"` (about 30 floats).

Both hold what a perfect-memory player at that seat may know, and nothing else. The full layout is
the list `BLOCKS`; its size depends on the number of seats only. Seats are relative: 0 is the
observer, 1 the next one clockwise. In this package S is the number of seats.
"""

from thirtyone_env.observation.afterstates import (
    AFTERSTATE_SIZE,
    AFTERSTATES,
    put_afterstates,
)
from thirtyone_env.observation.box import seen_space
from thirtyone_env.observation.compact import (
    COMPACT_FEATURES,
    COMPACT_SIZE,
    compact_names,
    observe_compact,
)
from thirtyone_env.observation.full import observe_full
from thirtyone_env.observation.layout import (
    BLOCKS,
    NUM_VALUES,
    Block,
    Row,
    describe,
    highest_values,
    observation_size,
    slices,
)
from thirtyone_env.observation.masks import (
    agent_action,
    engine_action,
    put_legal,
    write_mask,
    write_slot_mask,
)
from thirtyone_env.observation.parts import own_value

__all__ = [
    "AFTERSTATES",
    "AFTERSTATE_SIZE",
    "BLOCKS",
    "COMPACT_FEATURES",
    "COMPACT_SIZE",
    "NUM_VALUES",
    "Block",
    "Row",
    "agent_action",
    "compact_names",
    "describe",
    "engine_action",
    "highest_values",
    "observation_size",
    "observe_compact",
    "observe_full",
    "own_value",
    "put_afterstates",
    "put_legal",
    "seen_space",
    "slices",
    "write_mask",
    "write_slot_mask",
]
