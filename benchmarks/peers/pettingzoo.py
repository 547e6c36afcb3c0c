"""PettingZoo's own classic games through the loop of `last` and `step`."""

from __future__ import annotations

import importlib
import os
from functools import partial

os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"

from benchmarks.peers.clock import Measurement, main
from benchmarks.peers.loops import pettingzoo_loop


def loop(module: str, matches: int) -> Measurement:
    """One of the games, wrapped as `env()` returns it."""
    return pettingzoo_loop(importlib.import_module(f"pettingzoo.classic.{module}").env(), matches)


MEASUREMENTS = {
    "leduc holdem": partial(loop, "leduc_holdem_v4", 1_000),
    "tictactoe": partial(loop, "tictactoe_v3", 1_000),
    "connect four": partial(loop, "connect_four_v3", 300),
    "gin rummy": partial(loop, "gin_rummy_v4", 15),
}

if __name__ == "__main__":
    main("pettingzoo", MEASUREMENTS)
