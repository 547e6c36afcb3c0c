"""Thirty-One (31, Scat, Blitz, Schwimmen): the environment, its rules and its bots.

import thirtyone_env
env = thirtyone_env.env(rules="danish", num_players=4)
"""

from __future__ import annotations

import contextlib

import gymnasium

from thirtyone_env import thirtyone_v0
from thirtyone_env._version import __version__
from thirtyone_env.actions import action_name, parse_action
from thirtyone_env.aec import env, raw_env
from thirtyone_env.game import (
    clone,
    hand_points,
    legal_actions,
    legal_mask,
    new_match,
    resample_hidden,
    set_next_cards,
    step,
)
from thirtyone_env.policy import Policy, make_bot
from thirtyone_env.render import TableView
from thirtyone_env.rules import PRESETS, Rules, resolve_rules


def _register() -> None:
    """Register with Gymnasium, and with PettingZoo where the installed version has a registry."""
    for name in ("ThirtyOne", "KnockTiming"):
        if f"{name}-v0" not in gymnasium.registry:
            gymnasium.register(
                f"{name}-v0",
                entry_point=f"thirtyone_env.single:{name}Env",
                vector_entry_point=f"thirtyone_env.vector:{name}VectorEnv",
            )
    with contextlib.suppress(ImportError):
        from pettingzoo import aec_registry, register

        if not any("thirtyone_v0" in str(name) for name in aec_registry):
            register("aec", "thirtyone_v0", "thirtyone_env.thirtyone_v0:env")


_register()

__all__ = [
    "PRESETS",
    "Policy",
    "Rules",
    "TableView",
    "__version__",
    "action_name",
    "clone",
    "env",
    "hand_points",
    "legal_actions",
    "legal_mask",
    "make_bot",
    "new_match",
    "parse_action",
    "raw_env",
    "resample_hidden",
    "resolve_rules",
    "set_next_cards",
    "step",
    "thirtyone_v0",
]
