"""The PettingZoo environment with turns of agents in play only, for libraries without dead steps.

TorchRL, Tianshou and AgileRL step with an action of the space, never with None, and look up every
agent in ``rewards`` and ``terminations`` as long as the match lasts. With two players that is no
matter; with more, the first eliminated agent would stop them.
"""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv
from pettingzoo.utils import BaseWrapper


class LiveTurns(BaseWrapper):
    """An AEC environment that takes the dead steps of eliminated agents by itself.

    ``agent_selection`` is an agent in play until the match is over; then it is a finished one, and
    nothing is skipped. ``rewards``, ``terminations``, ``truncations`` and ``infos`` name all
    ``possible_agents`` to the end; agents eliminated before get a reward of 0.

    Args:
        env: the environment, from `thirtyone_env.env`.
    """

    def __init__(self, env: AECEnv) -> None:
        super().__init__(env)
        self.metadata = env.metadata

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a match, as the environment does."""
        self.env.reset(seed=seed, options=options)
        self.terminations = dict(self.env.terminations)
        self.truncations = dict(self.env.truncations)
        self.infos = dict(self.env.infos)
        self.rewards = dict(self.env.rewards)

    def step(self, action: Any) -> None:
        """Take the action of ``agent_selection``, then the dead steps of others if any."""
        self.env.step(action)
        self.rewards = dict.fromkeys(self.env.possible_agents, 0.0) | self.env.rewards
        self.terminations |= self.env.terminations
        self.truncations |= self.env.truncations
        self.infos |= self.env.infos
        while not self.over and self._finished(self.env.agent_selection):
            self.env.step(None)

    @property
    def over(self) -> bool:
        """Whether no agent is in play any more."""
        return all(self._finished(agent) for agent in self.env.agents)

    def _finished(self, agent: str) -> bool:
        return bool(self.env.terminations[agent] or self.env.truncations[agent])
