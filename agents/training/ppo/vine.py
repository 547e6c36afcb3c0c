"""What every likely action leads to, played out from the same cards.

After a roll-out each of its decisions is taken again, once with every action that the network gives
some chance. From copies of the same state they are played on to the end of the round: the learner's
seats, and all networks, by their likeliest actions, the others by whoever sits there. The cards to
come and the streams of the bots are the same for all of them, so that what the seat is paid at the
end differs by what it did and by little else, where the return of one trajectory has all the luck
of a round in it. This is the vine method with common random numbers of Schulman et al., "Trust
Region Policy Optimization" (2015), section 5.2.

Shapes: `N` decisions of a roll-out, `C` copies of their states, `S` = 9 places for seats, `A`
actions, `P` numbers of a network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from agents.training.ppo.kernels import play_round, shuffle_stocks
from agents.training.ppo.league import deciding
from agents.training.ppo.tables import LEARNER, VIEW, LeagueVecEnv
from thirtyone_env.actions import NUM_SLOT_ACTIONS
from thirtyone_env.arena import Tables, resolve_actions
from thirtyone_env.rules import MAX_SEATS
from thirtyone_env.state import STATE

CHUNK = 4096
"""Copies that are played side by side."""
Spread = Callable[[Callable[[np.ndarray], None], Iterable[np.ndarray]], Iterable[None]]


class Vine:
    """The decisions of a roll-out, and what else they might have led to.

    Args:
        env: the tables that they are taken at; their matches are never touched.
        least: an action that the network gives a smaller chance is not tried.
        futures: how often each action is played out: with the stock as it lies, then shuffled
            anew.
    """

    def __init__(self, env: LeagueVecEnv, least: float, futures: int = 1) -> None:
        self.env, self.least, self.futures = env, least, futures
        self._make_room(0)

    def _make_room(self, size: int) -> None:
        self._states: np.ndarray = np.zeros(size, STATE)
        self._owner: np.ndarray = np.zeros((size, MAX_SEATS), np.int64)
        self.chances: np.ndarray = np.zeros((size, NUM_SLOT_ACTIONS), np.float32)
        """float32[N, A], that the network gave the legal actions; 0 for the others."""
        self.gains: np.ndarray = np.zeros((size, NUM_SLOT_ACTIONS), np.float32)
        """float32[N, A], chance of each action times its advantage over what the network does."""

    def begin(self, steps: int) -> None:
        """A roll-out of so many decisions a row."""
        size = steps * self.env.num_envs
        if len(self.gains) != size:
            self._make_room(size)

    def keep(self, here: slice, logits: np.ndarray) -> None:
        """The decisions that are to be taken now, and logits float32[B, ≥A] for them."""
        self._states[here], self._owner[here] = self.env.tables.states, self.env.owner
        legal = self.env.mask == 1
        some = np.where(legal, logits[:, : legal.shape[1]].astype(np.float64), -np.inf)
        weights = np.exp(some - some.max(axis=1, keepdims=True))
        self.chances[here] = weights / weights.sum(axis=1, keepdims=True)

    def judge(self, weights: np.ndarray, spread: Spread) -> None:
        """Play every likely action out; 0 for the others, and wherever there is only one.

        Args:
            weights: float32[P], of the network.
            spread: maps a function over parts of the work, in threads.
        """
        env, pool = self.env, self.env.league.pool
        params = np.concatenate([weights[None], pool]) if pool.size else weights[None]
        tried = self.chances >= self.least
        tried &= tried.sum(axis=1, keepdims=True) > 1
        decisions, actions = np.nonzero(tried)
        paid = np.zeros(len(decisions))

        def play_out(part: np.ndarray) -> None:
            mine = decisions[part]
            variant, owner = env.variant[mine % env.num_envs], self._owner[mine]
            for future in range(self.futures):
                copies = Copies(env, self._states[mine], variant, owner, params, future)
                paid[part] += copies.paid(actions[part]) / self.futures

        parts = max(1, -(-len(decisions) // CHUNK))
        list(spread(play_out, np.array_split(np.arange(len(decisions)), parts)))
        found = np.zeros(tried.shape)
        found[decisions, actions] = paid
        shares = np.where(tried, self.chances, 0.0)
        total = np.maximum(shares.sum(axis=1, keepdims=True), 1e-9)
        mean = (shares * found).sum(axis=1, keepdims=True) / total
        self.gains[:] = shares * (found - mean)

    @property
    def telling(self) -> np.ndarray:
        """int64: the decisions at which something else would have come of something else."""
        return np.flatnonzero(self.gains.any(axis=1))

    def spread(self, decisions: np.ndarray) -> float:
        """Standard deviation of the advantage of what the network does at some decisions."""
        gains, chances = self.gains[decisions], self.chances[decisions]
        squares = gains.astype(np.float64) ** 2 / np.maximum(chances, self.least)
        return float(np.sqrt(squares.sum() / len(decisions)))


class Copies:
    """States that are played to the end of their rounds.

    Args:
        env: the tables they come from.
        states: STATE[C], a decision of a learner's seat each.
        variant: int64[C], which of the league's tables they are.
        owner: int64[C, S], who sits where, as in `LeagueVecEnv.owner`.
        params: float32[1 + M, P]: the learner's network, and those of the league's pool.
        future: number of the order in which the stock lies, 0 as it does at the tables; the same
            for all copies of a state.
    """

    def __init__(
        self,
        env: LeagueVecEnv,
        states: np.ndarray,
        variant: np.ndarray,
        owner: np.ndarray,
        params: np.ndarray,
        future: int = 0,
    ) -> None:
        self.env, self.variant, self.owner, self.params = env, variant, owner, params
        rules, size = env.league.variants[0]
        self.tables = Tables(rules, size, seed=0, matches=np.arange(len(states)), deal=False)
        self.tables.book = env.tables.book
        self.tables.states[:] = states
        if future:
            shuffle_stocks(self.tables.states, future)
        self._rounds = states["round_number"].astype(np.int64)

    def paid(self, actions: np.ndarray) -> np.ndarray:
        """float64[C]: what the seats to act have been paid when the round ends, if they do this.

        Args:
            actions: int64[C], slots, with suits renamed.
        """
        tables, states = self.tables, self.tables.states
        rows, seats = np.arange(tables.size), states["seat"].astype(np.int64)
        resolved = self._resolved(rows, actions)
        while rows.size:
            asked = np.zeros(rows.size, bool)
            play_round(states, rows, resolved, self._rounds, tables.book.array, asked)
            rows = rows[asked]
            resolved = self._decided(rows)
        places = self.env.places_at(states, self.variant, self.owner)
        paid = self.env.payoffs(tables, np.arange(tables.size), places)
        return paid[np.arange(tables.size), seats] * self.env.reward_scale

    def _resolved(self, rows: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """int64[any]: the engine's actions for those of networks."""
        found, book = np.empty(rows.size, np.int64), self.tables.book.array
        states = self.tables.states
        bad = resolve_actions(states, rows, book, actions, found, True, True, MAX_SEATS)
        if bad >= 0:
            raise RuntimeError(f"action {actions[bad]} cannot be taken again")
        return found

    def _decided(self, rows: np.ndarray) -> np.ndarray:
        """int64[any]: what those who are asked in these rows do."""
        league, states = self.env.league, self.tables.states
        members, known = self.owner[rows, states["seat"][rows]], len(league.names)
        network = (members == LEARNER) | (members >= known)
        found = np.empty(rows.size, np.int64)
        if network.any():
            places = np.where(members == LEARNER, 0, 1 + members - known)[network]
            found[network] = self._by_networks(rows[network], places)
        for member in np.unique(members[~network]).tolist():
            mine = members == member
            found[mine] = deciding(league.policies[member]).act_batch(self.tables, rows[mine])
        return found

    def _by_networks(self, rows: np.ndarray, places: np.ndarray) -> np.ndarray:
        """int64[any]: the likeliest actions by the networks at some places of `params`."""
        seen = self.tables.observe("full", rows, canonical=True)
        mask = self.tables.action_mask(rows, **VIEW)
        more, kinds = self.env.beside(self.tables.states, rows), self.variant[rows]
        likeliest = np.full(rows.size, -1.0)
        actions = self.env.picked(seen, mask, more, kinds, self.params, places, likeliest)
        return self._resolved(rows, actions)
