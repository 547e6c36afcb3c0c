"""The PettingZoo environment: every seat an agent, in turn (AEC).

Agents are ``player_0`` … in the order of seats. An observation is a dict of ``"observation"`` and
``"action_mask"`` (int8, all zero for an agent whose turn it is not). Eliminated agents terminate
when they are eliminated and get their one dead step.
"""

from __future__ import annotations

import copy
import secrets
import warnings
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from thirtyone_env import game
from thirtyone_env.actions import NUM_ACTIONS, NUM_SLOT_ACTIONS, PASS, action_name
from thirtyone_env.cards import NUM_CARDS
from thirtyone_env.checks import check_choice, checked_action, checked_seed, known_options
from thirtyone_env.observation import highest_values, observation_size, seen_space
from thirtyone_env.policy import Bot
from thirtyone_env.record import record_match
from thirtyone_env.render import RENDER_FPS, RENDER_MODES, Display, TableView
from thirtyone_env.rules import Rules, resolve_rules
from thirtyone_env.state import Phase

_OVER, _JUDGE = int(Phase.OVER), int(Phase.JUDGE)  # a member of an enum is slow to look up
_CHOICES: dict[str, tuple[Any, ...]] = {
    "episode": ("match", "round"),
    "reward": ("match", "lives", "equity", None),
    "illegal": ("raise", "terminate"),
    "render_mode": (*RENDER_MODES, None),
    "render_perspective": ("own", "all"),
    "observation_format": ("full", "compact"),
    "action_format": ("card", "slot"),
    "canonical_suits": (False, True),
}


class raw_env(AECEnv):  # noqa: N801 (PettingZoo's own name)
    """A match (or round) of Thirty-One for 2 to 9 agents.

    Args:
        rules: a preset's name, a `Rules`, or a mapping of fields that may begin from a preset.
        num_players: seats.
        episode: ``"match"``, or ``"round"`` for the first round only.
        reward: ``"match"``: the payoff of the rules, paid when the agent's match ends (with
            ``episode="round"``: as if those still in play shared the pot after the round);
            ``"lives"``: after each round the average loss of the others in play minus the own;
            ``"equity"``: the change in the chance to win by lives. All are zero-sum. None:
            ``"match"`` for matches and ``"lives"`` for rounds.
        illegal: ``"raise"``: an illegal action raises and changes nothing; ``"terminate"``: it
            ends the match, the offender is paid −1, the others in play 1/(n−1) each.
        render_mode: ``"human"`` shows the table in a window, ``"rgb_array"`` returns it as
            uint8[640, 960, 3], ``"ansi"`` as text.
        render_perspective: ``"own"``: as the agent to act sees it; ``"all"``: everything.
        observation_format: ``"full"`` (uint8) or ``"compact"`` (float32, a fixed size).
        action_format: ``"card"`` (65 actions) or ``"slot"`` (14).
        canonical_suits: rename the suits by the acting seat's own holding, in observation, mask
            and actions alike; off by itself where the rules order the suits.

    Raises:
        ValueError: for a value that is not allowed.
        DependencyNotInstalled: for a render mode that needs pygame, where that is missing.
    """

    metadata = {  # noqa: RUF012 (PettingZoo's own form)
        "name": "thirtyone_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": RENDER_FPS,
    }

    def __init__(
        self,
        rules: str | Rules | Mapping[str, Any] = "danish",
        num_players: int = 4,
        episode: Literal["match", "round"] = "match",
        reward: Literal["match", "lives", "equity"] | None = None,
        illegal: Literal["raise", "terminate"] = "raise",
        render_mode: Literal["human", "ansi", "rgb_array"] | None = None,
        render_perspective: Literal["own", "all"] = "own",
        observation_format: Literal["full", "compact"] = "full",
        action_format: Literal["card", "slot"] = "card",
        canonical_suits: bool = False,
    ) -> None:
        super().__init__()
        given = dict(locals())
        for name, allowed in _CHOICES.items():
            check_choice(name, given[name], allowed)
        self.rules = resolve_rules(rules)
        self.num_players = self.rules.check_seats(num_players)
        self.episode, self.illegal = episode, illegal
        self.reward = reward or ("match" if episode == "match" else "lives")
        self._kind = game.RESULT_KINDS.index(self.reward)
        self.render_mode, self.render_perspective = render_mode, render_perspective
        self._display = Display(render_mode)
        self._compact = observation_format == "compact"
        self._slots, self._canonical = action_format == "slot", bool(canonical_suits)
        self._num_actions = NUM_SLOT_ACTIONS if self._slots else NUM_ACTIONS
        self._size = observation_size(self.num_players)
        self.possible_agents = [f"player_{seat}" for seat in range(self.num_players)]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.agents: list[str] = []
        self._make_spaces()
        self._states: np.ndarray | None = None
        self._last_round: np.ndarray | None = None
        self._seed: int | None = None
        self._match = -1

    def _make_spaces(self) -> None:
        seats = self.num_players
        inner = seen_space(seats, self._compact)
        mask = spaces.Box(0, 1, (self._num_actions,), np.int8)
        # PettingZoo wants one and the same object for an agent at every call.
        self._observation_spaces: dict[str, spaces.Space] = {
            agent: spaces.Dict({"observation": inner, "action_mask": mask})
            for agent in self.possible_agents
        }
        self._action_spaces: dict[str, spaces.Space] = {
            agent: spaces.Discrete(self._num_actions) for agent in self.possible_agents
        }
        top = np.concatenate([highest_values(seats), np.ones((seats + 1) * NUM_CARDS, np.uint8)])
        self.state_space = spaces.Box(np.zeros(len(top), np.uint8), top, dtype=np.uint8)

    def observation_space(self, agent: str) -> spaces.Space:
        """The observation space of an agent."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        """The action space of an agent."""
        return self._action_spaces[agent]

    # --- a match ---------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a match.

        Args:
            seed: what the cards derive from; without one the next match under the last seed
                is dealt (the first time: under a seed drawn from the system).
            options: a situation: ``"dealer"`` (seat), ``"lives"`` (one number a seat), ``"deck"``
                (card names in dealing order, all or a prefix). Unknown options are ignored with a
                warning.

        Raises:
            ValueError: for a seed or an option that is not allowed; the match in progress stays.
        """
        situation = known_options(options)
        if seed is None:
            chosen = secrets.randbits(63) if self._seed is None else self._seed
            match = self._match + 1
        else:
            chosen, match = checked_seed(seed), 0
        one_round = self.episode == "round"
        states = game.prepare(
            self.rules, self.num_players, seed=chosen, match=match, one_round=one_round, **situation
        )
        self._seed, self._match, self._start = chosen, match, states.copy()
        self._states, self._actions = states, []  # type: ignore[var-annotated]
        self._begin()

    def _begin(self) -> None:
        states = self._table
        self.agents = list(self.possible_agents)
        self.rewards: dict[str, float] = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._paid = game.payoffs(states, self.reward)
        self._unpaid = True  # all rewards are zero
        game.deal_first(states)
        # A reset cannot end anything: where the deal itself decided the round, the first player
        # may only pass on, and that step brings the rewards.
        self._settled_by_deal = bool(states["phase"][0] >= _JUDGE)
        self._forfeited = False
        if self._settled_by_deal:
            first = (int(states["dealer"][0]) + 1) % self.num_players
            self.agent_selection = self.possible_agents[first]
        else:
            self.agent_selection = self.possible_agents[int(states["seat"][0])]
        self._last_round = None
        if self.render_mode == "human":
            self.render()

    @property
    def _table(self) -> np.ndarray:
        if self._states is None:
            raise RuntimeError("call reset() first: no match has been dealt")
        return self._states

    def _require_live(self) -> None:
        if self._states is None:
            raise RuntimeError("call reset() first: no match has been dealt")
        if not self.agents:
            raise RuntimeError("the match is over and all agents are done; call reset()")

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """The agents in the order in which they act, to the end of the match."""
        self._table  # noqa: B018 (raises before reset)
        return super().agent_iter(max_iter)

    def __copy__(self) -> raw_env:
        """A copy that goes on by itself, as for `copy.deepcopy`."""
        return copy.deepcopy(self)

    def last(
        self, observe: bool = True
    ) -> tuple[dict[str, np.ndarray] | None, float, bool, bool, dict[str, Any]]:
        """Observation, reward, termination, truncation and info of the agent whose turn it is."""
        self._require_live()
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def step(self, action: Any) -> None:
        """Take the action of ``agent_selection``; None for an agent that is finished.

        Raises:
            ValueError: for an action that is not in the space (nothing changes), or an illegal
                one under ``illegal="raise"`` (naming the agent, the action and the legal ones).
            RuntimeError: before reset and after the end.
        """
        self._require_live()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._finish_agent(action)
            return
        number = checked_action(action, self._num_actions)
        if self._settled_by_deal:
            if number != PASS:
                self._refuse(agent, number)
                return
            self._settled_by_deal = False
            self._clear_and_pay(agent, game.DEAL)
            return
        move = number
        if self._slots or self._canonical:
            move = game.translate(self._states, number, self._canonical, self._slots)
            move = move if move >= 0 else game.ILLEGAL
        if not self._clear_and_pay(agent, move):
            self._refuse(agent, number)

    def _clear_and_pay(self, agent: str, move: int) -> bool:
        """Take a decision and pay what came of it; False for an illegal one, nothing changed."""
        states = self._table
        former = game.clone(states) if self.render_mode is not None else None
        paid = np.empty(self.num_players)
        answer = game.turn(states, move, self._kind, paid) if move >= game.DEAL else game.ILLEGAL
        if answer == game.ILLEGAL:
            return False
        if former is not None and former["round_number"][0] != states["round_number"][0]:
            self._last_round = game.settled_round(former, move)
        if move != game.DEAL:
            self._actions.append(move)
        self._cumulative_rewards[agent] = 0.0
        if answer >= game.CHANGED:
            self._pay(paid)
            self._select_next()
        else:
            if not self._unpaid:
                self._clear_rewards()
                self._unpaid = True
            self.agent_selection = self.possible_agents[answer]
        if self.render_mode == "human":
            self.render()
        return True

    def _pay(self, paid: np.ndarray) -> None:
        """Pay the change in everybody's payoff, and end the parts that are over."""
        states, before = self._table, self._paid
        over = states["phase"][0] == _OVER
        in_play, truncated = int(states["in_play"][0]), bool(states["truncated"][0])
        for other in self.agents:
            seat = self._seat_of[other]
            reward = float(paid[seat] - before[seat])
            self.rewards[other] = reward
            self._cumulative_rewards[other] += reward
            if not in_play >> seat & 1:
                self.terminations[other] = True
            elif over:
                self.terminations[other] = not truncated
                self.truncations[other] = truncated
        self._paid, self._unpaid = paid, False

    def _select_next(self) -> None:
        """Finished agents first, in order of seats; else the seat to act."""
        for agent in self.agents:
            if self.terminations[agent] or self.truncations[agent]:
                self.agent_selection = agent
                return
        if self.agents:
            self.agent_selection = self.possible_agents[int(self._table["seat"][0])]

    def _finish_agent(self, action: Any) -> None:
        if action is not None:
            raise ValueError(
                f"{self.agent_selection} is finished; its only action is None, not {action!r}"
            )
        agent = self.agent_selection
        for record in (
            self.terminations,
            self.truncations,
            self.rewards,
            self._cumulative_rewards,
            self.infos,
        ):
            del record[agent]
        self.agents.remove(agent)
        self._clear_rewards()
        self._unpaid = True
        self._select_next()
        if self.render_mode == "human" and self.agents:
            self.render()

    def _refuse(self, agent: str, action: int) -> None:
        """An illegal action: raise, or end the match."""
        if self.illegal == "raise":
            legal = self._legal_names()
            raise ValueError(
                f"{agent}: action {action} ({self._name(action)}) is illegal; "
                f"legal: {', '.join(legal)}"
            )
        self._forfeited, self._unpaid = True, False
        share = 1.0 / (self.num_players - 1)
        self._cumulative_rewards[agent] = 0.0
        for other in self.agents:
            reward = -1.0 if other == agent else share
            if self.terminations[other] or self.truncations[other]:
                reward = 0.0
            self.rewards[other] = reward
            self._cumulative_rewards[other] += reward
            self.terminations[other] = True
            self.infos[other] = {"illegal_action_by": agent, "illegal_action": action}
        self._select_next()

    def _name(self, action: int) -> str:
        if self._slots and action >= 9:
            return f"slot {action - 9}"
        return action_name(action, int(self._table["phase"][0]) if action >= 9 else None)

    def _legal_names(self) -> list[str]:
        seat = self._seat_of[self.agent_selection]
        _, mask = self._look(seat, acting=True)
        return [f"{action} ({self._name(action)})" for action in np.flatnonzero(mask).tolist()]

    # --- what agents see ----------------------------------------------------------------------

    def _look(self, seat: int, acting: bool) -> tuple[np.ndarray, np.ndarray]:
        full = np.zeros((1, self._size), np.uint8)
        mask = np.zeros((1, self._num_actions), np.int8)
        game.look(self._states, seat, full, mask, self._canonical, self._slots)
        if not acting:
            mask[:] = 0
        elif self._settled_by_deal:
            mask[0, PASS] = 1
        return full[0], mask[0]

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """What an agent sees now, in new arrays; the mask is zero unless it is to act."""
        states = self._table
        if agent not in self._seat_of:
            raise ValueError(f"unknown agent {agent!r}; agents are {self.possible_agents}")
        seat = self._seat_of[agent]
        acts = agent == self.agent_selection and agent in self.terminations
        acts = acts and not (self.terminations[agent] or self.truncations[agent])
        observation, mask = self._look(seat, acts)
        if self._compact:
            observation = game.observe(states, seat, "compact")
        return {"observation": observation, "action_mask": mask}

    def state(self) -> np.ndarray:
        """The whole table for centralised critics.

        Returns:
            uint8: seat 0's full observation, then every hand and the stock, one flag a card.
        """
        full, _ = self._look_plain()
        hidden = np.zeros((self.num_players + 1, NUM_CARDS), np.uint8)
        game.look_at_all(self._table, hidden)
        return np.concatenate([full, hidden.ravel()])

    def _look_plain(self) -> tuple[np.ndarray, np.ndarray]:
        full = np.zeros((1, self._size), np.uint8)
        mask = np.zeros((1, NUM_ACTIONS), np.int8)
        game.look(self._table, 0, full, mask, False, False)
        return full[0], mask[0]

    def bot_action(self, bot: Bot) -> int:
        """What a bot does for the agent whose turn it is; `make_bot(...).act(env)` calls it."""
        self._require_live()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            raise RuntimeError(f"{agent} is finished; its only action is None")
        if self._settled_by_deal:
            return PASS
        chosen = bot.choose(
            self._table, np.zeros(1, np.int64), slots=self._slots, canonical=self._canonical
        )
        return int(chosen[0])

    # --- records and rendering ----------------------------------------------------------------

    def record(self, policies: list[str | None] | None = None) -> dict[str, Any]:
        """The record of the match in progress or just over (docs/record.md).

        Args:
            policies: a name or None for each seat.

        Raises:
            RuntimeError: before reset.
            ValueError: for a match that began with lives other than the rules', which a record
                cannot hold.
        """
        self._table  # noqa: B018 (raises before reset)
        begun = self._start["lives"][0, : self.num_players]
        if (begun != self.rules.lives).any():
            raise ValueError(
                f"the match began with lives {begun.tolist()}; a record can only begin with "
                f"{self.rules.lives} each"
            )
        names = list(policies) if policies is not None else [None] * self.num_players
        if len(names) != self.num_players:
            raise ValueError(f"policies = {policies!r}: {self.num_players} names are needed")
        return record_match(self._start, self._actions, names, self.rules)

    def render(self) -> str | np.ndarray | None:
        """The table as the render mode says: text, pixels, or in the window.

        In mode ``"human"`` it is shown after every step without being asked.
        """
        if self.render_mode is None:
            warnings.warn("render() without a render_mode shows nothing", stacklevel=2)
            return None
        own = self.render_perspective == "own"
        states = self._table
        viewer = self._seat_of[self.agent_selection] if own else None
        return self._display.show(states, viewer, self._last_round)

    def view(self, agent: str | None = None, *, colours: int = 4) -> TableView:
        """A picture of the table now, for a notebook or a paper.

        Args:
            agent: whose view it is; None shows everything.
            colours: 4, a colour a suit, or 2.
        """
        states = self._table
        if agent is not None and agent not in self._seat_of:
            raise ValueError(f"unknown agent {agent!r}; agents are {self.possible_agents}")
        viewer = None if agent is None else self._seat_of[agent]
        return TableView(states, viewer, colours=colours, last_round=self._last_round)

    def close(self) -> None:
        """Close the window, if there is one."""
        self._display.close()


def env(**options: Any) -> raw_env:
    """The environment; options as for `raw_env`.

    It checks the order of calls and every action itself, so that no wrapper is needed.
    """
    return raw_env(**options)
