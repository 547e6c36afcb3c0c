"""Thirty-One as a multi-agent environment of RLlib (new API stack).

Only the agent to act observes, so that RLlib asks nobody else. Rewards go to every agent at every
step: RLlib adds up those between two own turns. An eliminated agent, and everybody at the end of
the match, gets a last observation with its flag.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from thirtyone_env.adapters.live_turns import LiveTurns
from thirtyone_env.aec import env as make_env

Seen = dict[str, dict[str, np.ndarray]]


class ThirtyOneMultiAgentEnv(MultiAgentEnv):
    """A match of Thirty-One, in turn, for RLlib.

    An observation is a dictionary of ``"observations"`` and ``"action_mask"``, both float32, as
    RLlib's ``ActionMaskingTorchRLModule`` expects them.

    Args:
        config: options of `thirtyone_env.env`, for example
            ``{"rules": "danish", "num_players": 2}``.
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.env = LiveTurns(make_env(**(config or {})))
        self.possible_agents = list(self.env.possible_agents)
        self.agents = list(self.possible_agents)
        self.observation_spaces = {agent: self._space_of(agent) for agent in self.agents}
        self.action_spaces = {agent: self.env.action_space(agent) for agent in self.agents}

    def _space_of(self, agent: str) -> spaces.Dict:
        space = self.env.observation_space(agent)
        inner, mask = space["observation"], space["action_mask"]
        return spaces.Dict(
            {
                "observations": spaces.Box(
                    inner.low.astype(np.float32), inner.high.astype(np.float32), dtype=np.float32
                ),
                "action_mask": spaces.Box(0.0, 1.0, mask.shape, np.float32),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Begin a match; what the first agent to act sees."""
        self.env.reset(seed=seed, options=options)
        self.agents = list(self.possible_agents)
        return self._seen(self.env.agent_selection), {}

    def step(
        self, action_dict: dict[str, Any]
    ) -> tuple[Seen, dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Take the action of the agent to act; any other agent's is an error."""
        actor = self.env.agent_selection
        if set(action_dict) != {actor}:
            raise ValueError(f"actions for {sorted(action_dict)}, but {actor} is to act")
        self.env.step(action_dict[actor])
        playing = self.agents
        ended = [a for a in playing if self.env.terminations[a] or self.env.truncations[a]]
        self.agents = [agent for agent in playing if agent not in ended]
        last = ended if self.env.over else [*ended, self.env.agent_selection]
        terminated = {agent: self.env.terminations[agent] for agent in playing}
        truncated = {agent: self.env.truncations[agent] for agent in playing}
        cut = any(truncated.values())
        terminated["__all__"] = self.env.over and not cut
        truncated["__all__"] = self.env.over and cut
        rewards = {agent: float(self.env.rewards[agent]) for agent in playing}
        return self._seen(*last), rewards, terminated, truncated, {}

    def _seen(self, *agents: str) -> Seen:
        seen = {agent: self.env.observe(agent) for agent in agents}
        return {
            agent: {
                "observations": view["observation"].astype(np.float32),
                "action_mask": view["action_mask"].astype(np.float32),
            }
            for agent, view in seen.items()
        }

    def render(self) -> Any:
        """The table, as the environment renders it."""
        return self.env.render()

    def close(self) -> None:
        """Nothing is held open."""
