"""Thirty-One for Stable-Baselines3: vector environments, masked evaluation, models as policies.

`ThirtyOneVecEnv` and `KnockTimingVecEnv` are the Gymnasium environments of the same names, many
matches in one batch: row b plays what the single environment seeded with s + b plays, and
MaskablePPO finds the masks. `KnockVecEnv` is the variant for training a knock policy fast, with
episodes of one round inside matches that go on and opponents drawn anew for every match.

Stable-Baselines3's own `evaluate_policy` and evaluation callback ignore masks without a word; use
`evaluate_masked`, and `MaskedEvalCallback` while training.
"""

from thirtyone_env.adapters.sb3.evaluation import MaskedEvalCallback, evaluate_masked
from thirtyone_env.adapters.sb3.knock import KnockVecEnv
from thirtyone_env.adapters.sb3.learner import KnockTimingVecEnv, ThirtyOneVecEnv
from thirtyone_env.adapters.sb3.models import ModelPolicy, load_policy

__all__ = [
    "KnockTimingVecEnv",
    "KnockVecEnv",
    "MaskedEvalCallback",
    "ModelPolicy",
    "ThirtyOneVecEnv",
    "evaluate_masked",
    "load_policy",
]
