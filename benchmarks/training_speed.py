"""How fast whole policies learn: `train.py` at the setting of its curve, beside plain SB3.

    python -m benchmarks.training_speed [CONFIG] [ROLL-OUTS]

Both learn heads-up Danish with the full observation; steps are decisions of the learner. The other
side is MaskablePPO with the defaults of sb3-contrib on a DummyVecEnv with eight single
environments. CPU time is what two free cores would show where torch has one thread; the wall clock
means something on an idle machine only.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import gymnasium
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.wrappers import ActionMasker
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

from agents.training import ppo
from agents.training.config import PpoConfig, load
from agents.training.memory import keep_freed_memory

CONFIG = Path(__file__).parents[1] / "configs" / "ppo_danish_minute.yaml"
SINGLE_ENVS = 8
WARM = 4
"""Roll-outs that are not counted: compiling, and a start in which nobody knocks."""


class _Clock(BaseCallback):
    """Notes both clocks at the start of every roll-out."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[tuple[int, float, float]] = []

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        self.times.append((self.num_timesteps, time.process_time(), time.perf_counter()))

    def _on_training_end(self) -> None:
        self._on_rollout_start()

    def rates(self, skipped: int) -> tuple[float, float]:
        """Steps a second of CPU time and of the wall clock, after some roll-outs."""
        (first, *begun), (last, *ended) = self.times[skipped], self.times[-1]
        return (last - first) / (ended[0] - begun[0]), (last - first) / (ended[1] - begun[1])


def ours(config: PpoConfig, rollouts: int) -> tuple[float, float, dict[str, float]]:
    """Our rates, and the share of the time that each part took."""
    model, clock = ppo.build(config), _Clock()
    model.learn((WARM + rollouts) * config.rows * config.rollout, callback=clock)
    total = sum(model.seconds.values())
    return *clock.rates(WARM), {name: value / total for name, value in model.seconds.items()}


def plain(updates: int = 2) -> tuple[float, float]:
    """Those of the defaults on single environments."""

    def single() -> gymnasium.Env:
        env = gymnasium.make("ThirtyOne-v0", num_players=2, opponents="threshold:25")
        flat = gymnasium.wrappers.TransformObservation(
            env, lambda seen: seen["observation"], env.observation_space["observation"]
        )
        return ActionMasker(flat, lambda env: env.unwrapped.action_masks())

    model = MaskablePPO("MlpPolicy", DummyVecEnv([single] * SINGLE_ENVS), device="cpu", seed=0)
    clock = _Clock()
    model.learn(updates * model.n_steps * SINGLE_ENVS, callback=clock)
    return clock.rates(0)


def main() -> None:
    """Measure and print both."""
    config = load(sys.argv[1] if len(sys.argv) > 1 else CONFIG)
    assert isinstance(config, PpoConfig)
    torch.set_num_threads(1)
    keep_freed_memory()
    config = replace(config, steps=10**9)
    cpu, wall, shares = ours(config, int(sys.argv[2]) if len(sys.argv) > 2 else 20)
    print(f"ours:        {cpu:9,.0f} steps a second of CPU time, {wall:9,.0f} of the wall clock")
    print("             " + ", ".join(f"{name} {share:.0%}" for name, share in shares.items()))
    plain_cpu, plain_wall = plain()
    print(f"SB3 default: {plain_cpu:9,.0f} and {plain_wall:9,.0f}")
    print(f"             {cpu / plain_cpu:.0f} times, {wall / plain_wall:.0f} by the wall clock")


if __name__ == "__main__":
    main()
