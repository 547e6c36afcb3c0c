"""Small policies for the tests of the application."""

import numpy as np

from agents.policies import KnockPolicy
from agents.policies.neural import KnockPolicyConfig
from thirtyone_env import Rules
from thirtyone_env.observation import COMPACT_SIZE


def small_policy(seed=0, players=(2, 4), rules="danish", name="small", size=8):
    """A policy with random weights."""
    rng = np.random.default_rng(seed)
    shapes = [(COMPACT_SIZE, size), (size,), (size, 2), (2,)]
    weights = tuple(rng.normal(0, 0.7, shape).astype(np.float32) for shape in shapes)
    config = KnockPolicyConfig(rules=Rules.preset(rules).to_dict(), players=players)
    return KnockPolicy(config, weights, name)


def threshold_policy(points, players=(2, 3, 4), rules="danish"):
    """A network that does exactly what threshold:POINTS does."""
    hidden = np.zeros((COMPACT_SIZE, 1), np.float32)
    hidden[0] = 31  # the first number is the value of the hand over 31
    limit = np.array([-(points - 1.25)], np.float32)
    out = np.array([[0, 1]], np.float32)
    bias = np.array([0, -1], np.float32)
    config = KnockPolicyConfig(
        rules=Rules.preset(rules).to_dict(), players=players, activation="relu"
    )
    return KnockPolicy(config, (hidden, limit, out, bias), f"net:{points}")
