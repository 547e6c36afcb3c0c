"""The tables that a whole policy learns at: self-play, snapshots, bots, in one batch.

`B` rows, each a match; every step is one decision of a learner's seat in every row. Matches of
self-play have learners on all seats, and each of them learns: nothing that the network computes is
thrown away. Opponents change only between matches. Whoever is asked from outside is asked about
many rows at once, on its own observation and mask.

What a seat is paid between two of its decisions belongs to the earlier one, also where the round or
the match ended after its last. What it loses before its first decision of a match belongs to no
decision; it counts in the results of the match.

Shapes: `B` rows, `S` = 9 places for seats, `K` bytes of an observation, `A` actions, `N` some rows.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np
from gymnasium import spaces

from agents.policies import inputs, make
from agents.policies.network_kernels import (
    MOST_INPUTS,
    index_rows,
    network_rows,
    pick_rows,
)
from agents.training.ppo.chances import Chances
from agents.training.ppo.kernels import CUT, ENDED, taught_actions
from agents.training.ppo.league import League, Variant, deciding
from thirtyone_env.actions import NUM_SLOT_ACTIONS
from thirtyone_env.adapters.sb3.batch import BatchVecEnv
from thirtyone_env.adapters.sb3.models import afterstate_flags
from thirtyone_env.arena import PayoffKind, Tables, controller
from thirtyone_env.observation import AFTERSTATE_SIZE, observation_size, seen_space
from thirtyone_env.rules import MAX_SEATS
from thirtyone_env.state import ASK_ALL, CONTROLLER, STATE, Phase

LEARNER, NOBODY = -1, -2
"""In `owner`: the learner's seat; no seat."""
Reward = Literal["equity", "chances", "lives", "match"]
VIEW: dict[str, Any] = {"slots": True, "canonical": True}
"""How the learner sees and acts."""


class LeagueVecEnv(BatchVecEnv):
    """`B` tables side by side, with at least one learner's seat each.

    As a plain `VecEnv` a row shows its learner's seats in turn; algorithms that do not look at
    `seat` should learn without self-play.

    Args:
        rows: number of tables `B`, dealt out to the variants of the league in turn.
        league: who sits on the other seats.
        sizes: int64, inputs and units of the layers of the snapshots' networks.
        relu: whether their activation is ReLU; else tanh.
        copies: probability that all opponents of a match are copies of one.
        reward: whose changes are the rewards: "equity", "lives" or "match" payoffs, or "chances",
            which are those of `Chances`.
        reward_scale: factor on the rewards.
        episode: "round" or "match".
        read_rules: whether the rules are inputs.
        afterstates: whether the values of afterstates are.
        threads: of the tables; nothing depends on them.
        teacher: a bot that says what it would do in the place of the learner; none if empty.
        seed: start of all randomness.

    Raises:
        ValueError: for a teacher that does not play at the tables.
    """

    def __init__(
        self,
        rows: int,
        league: League,
        *,
        sizes: np.ndarray,
        relu: bool = True,
        copies: float = 0.9,
        reward: Reward = "equity",
        reward_scale: float = 1.0,
        episode: Literal["round", "match"] = "round",
        read_rules: bool = False,
        afterstates: bool = False,
        teacher: str = "",
        threads: int = 1,
        seed: int = 0,
    ) -> None:
        self.league, self.copies, self.teacher = league, copies, teacher
        self.threads = threads
        self.reward, self.reward_scale, self.episode = reward, reward_scale, episode
        self.sizes, self.relu = np.asarray(sizes, np.int64), relu
        self.most_seats = max(size for _, size in league.variants)
        self.afterstates = afterstates
        space = seen_space(self.most_seats, False, afterstates=afterstates)
        super().__init__(rows, space, spaces.Discrete(NUM_SLOT_ACTIONS))
        self._all = np.arange(rows)
        self.variant = self._all % len(league.variants)
        self.layouts = self._layouts(read_rules)
        self._players = np.array([size for _, size in league.variants])[self.variant]
        self._actions = np.zeros(rows, np.int64)
        self._nothing: dict[str, Any] = {}
        self.asked_seconds = 0.0
        self.seed(seed)

    def _layouts(self, read_rules: bool) -> np.ndarray:
        """int16[V, K]."""
        width = observation_size(self.most_seats)
        found: np.ndarray = np.full((len(self.league.variants), width), -1, np.int16)
        kept = inputs.scales(self.most_seats, rules=read_rules) > 0
        for variant, (_, size) in enumerate(self.league.variants):
            layout = inputs.layout(size, self.most_seats)
            found[variant, : len(layout)] = np.where(kept[layout], layout, -1)
        return found

    # --- beginning -------------------------------------------------------------------------------

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Deal everything anew from a seed; None keeps it as it is."""
        if seed is not None:
            drawing, cards, lots = np.random.SeedSequence(seed).spawn(3)
            self._rng = np.random.Generator(np.random.PCG64(drawing))
            self.lots = np.random.Generator(np.random.PCG64(lots))
            self._begin(int(cards.generate_state(1)[0]))
        return [seed] * self.num_envs

    def _begin(self, seed: int) -> None:
        rows, shape = self.num_envs, (self.num_envs, MAX_SEATS)
        rules = [self.league.variants[v][0] for v in self.variant]
        self.tables = Tables(
            rules,
            self._players,
            seed=seed,
            matches=self._all,
            threads=self.threads,
            deal=False,
        )
        self._controllers = self._seated()
        self.owner = np.full(shape, NOBODY, np.int64)
        self.fresh = np.ones(shape, bool)  # has not yet decided in its match
        self.paid, self.round_number = np.zeros(shape), np.zeros(rows, np.int32)
        self.chances = Chances() if self.reward == "chances" else None
        self.places = np.zeros(shape, np.int64)  # as `Chances` knows them, after the last round
        self.rewards = np.zeros(shape, np.float32)
        self.ended: np.ndarray = np.zeros(shape, np.int8)
        self.next_match, self.matches = 0, 0
        self.seen, self.mask = self.tables.new_outputs(slots=True)
        self.seat = np.zeros(rows, np.int8)
        self.league_changed()
        self._deal(self._all)
        self._settle(self._all)
        self.rewards[:], self.ended[:] = 0, 0

    def _seated(self) -> np.ndarray:
        """CONTROLLER[V, M + 1]: what sits on a seat by member; the last is for all networks.

        Networks are asked from outside; the bot of their seats is the teacher.
        """
        league = self.league
        found: np.ndarray = np.zeros((len(league.variants), len(league.names) + 1), CONTROLLER)
        found[:, -1] = controller("external")
        for variant, (rules, size) in enumerate(league.variants):
            if self.teacher:
                make(self.teacher).check(rules, size)
                found[variant, -1] = controller(self.teacher, rules.record, self.tables.book)
                found[variant, -1]["ask"] = ASK_ALL
            for member, policy in enumerate(league.policies):
                if league.plays[variant, member]:
                    name = policy.controller
                    found[variant, member] = controller(name, rules.record, self.tables.book)
        return found

    def league_changed(self) -> None:
        """Let matches that begin from now on have the opponents of the league as it is now."""
        chances = self.league.chances()
        self._limits = np.cumsum(chances, axis=1)
        self._last = chances.shape[1] - 1 - np.argmax(chances[:, ::-1] > 0, axis=1)

    def find_chances(self) -> None:
        """Find the chances to win by all rounds until now, if the reward is theirs."""
        if self.chances is not None:
            self.chances.find()
            self.paid[:] = self.chances.payoffs(self.places)

    def kinds(self, variant: np.ndarray, owner: np.ndarray) -> np.ndarray:
        """int64[N]: what kind of opponents learners have; those of a kind share their chances.

        Copies of one member of the panel; snapshots, whichever; several of those; themselves.

        Args:
            variant: int64[N], which of the league's tables they sit at.
            owner: int64[N, S], who sits where.
        """
        known, others = len(self.league.names), owner >= 0
        members = np.minimum(owner, known)
        most = np.where(others, members, -1).max(axis=1)
        least = np.where(others, members, known).min(axis=1)
        kind = np.where(most == least, most, known + 1)
        kind = np.where(others.any(axis=1), kind, known + 2)
        found: np.ndarray = variant * (known + 3) + kind
        return found

    def places_at(self, states: np.ndarray, variant: np.ndarray, owner: np.ndarray) -> np.ndarray:
        """int64[N, S]: where STATE[N] puts all seats, by `Chances`; 0 if the reward is another.

        Args:
            states: of these tables, or copies.
            variant: int64[N], which of the league's tables they are.
            owner: int64[N, S], who sits where.
        """
        if self.chances is None:
            return np.zeros((len(states), MAX_SEATS), np.int64)
        return self.chances.places(states, self.kinds(variant, owner))

    def payoffs(self, tables: Tables, rows: np.ndarray, places: np.ndarray) -> np.ndarray:
        """float64[N, S]: what seats have been paid so far in some rows, at their places."""
        if self.chances is not None:
            return self.chances.payoffs(places)
        return tables.payoffs(cast(PayoffKind, self.reward), rows)

    def reset(self) -> np.ndarray:
        """What the learners' seats see: uint8[B, K]. Matches in progress go on."""
        return self.observations()

    # --- playing ---------------------------------------------------------------------------------

    def beside(self, states: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """int16[N, any]: inputs besides the bytes, of the seats to act in rows of STATE[any]."""
        return inputs.beside(states, rows, self.most_seats, after=self.afterstates)

    def taught(self) -> np.ndarray:
        """int64[B]: what the teacher would do now in every row."""
        actions: np.ndarray = np.zeros(self.num_envs, np.int64)
        taught_actions(self.tables.states, np.zeros(1, STATE), self.tables.book.array, actions)
        return actions

    def advance(self, actions: np.ndarray) -> None:
        """One decision of the learner in every row, and all that follows up to the next.

        Afterwards `seen`, `mask` and `seat` say who is to decide, `rewards` float32[B, S] what
        every seat of a learner was paid, and `ended` int8[B, S] whose episodes have ended (ENDED)
        or were cut short by the cap of rounds (CUT).
        """
        self.rewards[:] = 0
        self.ended[:] = 0
        self.fresh[self._all, self.seat] = False
        turn = self.tables.step(actions, self.seen, self.mask, **VIEW)
        self.seat[:] = turn.seats
        self._settle(self._all)

    def _settle(self, rows: np.ndarray) -> None:
        """Pay, deal and ask until a learner is to decide in each of these rows."""
        while rows.size:
            over = self.tables.states["phase"][rows] == Phase.OVER
            self._pay(rows, over)
            mine = self.owner[rows] == LEARNER
            in_play = self.tables.states["in_play"][rows, None] >> np.arange(MAX_SEATS) & 1
            out = over | ~(mine & (in_play == 1)).any(axis=1)
            dealt = rows[out]
            if dealt.size:
                self._count(dealt)
                self._deal(dealt)
            others = self.owner[rows, self.seat[rows]] >= 0
            asked = rows[others & ~out]
            if asked.size:
                self._ask(asked)
            rows = np.concatenate([dealt, asked])

    def _pay(self, rows: np.ndarray, over: np.ndarray) -> None:
        """Bring payoffs up to date where a round has ended: lives change at no other time."""
        numbers = self.tables.states["round_number"][rows]
        changed = np.flatnonzero(over | (numbers != self.round_number[rows]))
        if not changed.size:
            return
        hit = rows[changed]
        states, owner = self.tables.states, self.owner[hit]
        places = self.places_at(states[hit], self.variant[hit], owner)
        payoffs = self.payoffs(self.tables, hit, places)
        gains = (payoffs - self.paid[hit]) * self.reward_scale
        ended: np.ndarray = np.full(payoffs.shape, ENDED, np.int8)
        in_play = (states["in_play"][hit, None] >> np.arange(MAX_SEATS) & 1) == 1
        cut = in_play & (states["truncated"][hit] == 1)[:, None]
        if self.episode == "match":
            ended[in_play & ~over[changed, None]] = 0
            ended[cut] = CUT
            if self.reward != "lives":  # a share of the pot for want of time is no result
                gains[cut] = 0.0
        self.rewards[hit] += np.where(self.fresh[hit], 0.0, gains)
        self.ended[hit] = np.where(self.ended[hit] == 0, ended, self.ended[hit])
        if self.chances is not None:
            learned = (owner == LEARNER) & (self.places[hit] > 0) & ~cut
            self.chances.count(self.places[hit][learned], places[learned])
        self.paid[hit], self.round_number[hit] = payoffs, numbers[changed]
        self.places[hit] = places

    def _count(self, rows: np.ndarray) -> None:
        """Results of matches that are over for the learner."""
        payoffs = self.tables.payoffs("match", rows)
        self.matches += len(rows)
        owner = self.owner[rows]
        mine = owner == LEARNER
        mean = (payoffs * mine).sum(axis=1) / mine.sum(axis=1)
        over = self.tables.states["phase"][rows] == Phase.OVER
        places, seats = np.nonzero((owner >= 0) & over[:, None])
        size = self._players[rows[places]]
        gains = (mean[places] - payoffs[places, seats]) * (size - 1) / size
        self.league.count(owner[places, seats], 0.5 + 0.5 * gains)

    def _deal(self, rows: np.ndarray) -> None:
        """New matches in these rows, up to the first decision from outside."""
        self._seat(rows)
        tables, matches = self.tables, np.arange(self.next_match, self.next_match + rows.size)
        self.next_match += rows.size
        tables.deal(rows, matches)
        self.fresh[rows] = True
        self.round_number[rows] = tables.states["round_number"][rows]
        states = tables.states[rows]
        self.places[rows] = self.places_at(states, self.variant[rows], self.owner[rows])
        self.paid[rows] = self.payoffs(tables, rows, self.places[rows])
        tables.play(rows)
        self._show(rows)

    def _seat(self, rows: np.ndarray) -> None:
        """Draw who sits where in the next match of these rows."""
        count, rng, league = rows.size, self._rng, self.league
        kinds, copies = rng.random((2, count))
        lots, mine = rng.random((count, MAX_SEATS)), rng.random(count)
        variant, players = self.variant[rows], self._players[rows]
        found = (lots[:, :, None] >= self._limits[variant][:, None]).sum(axis=2)
        found = np.minimum(found, self._last[variant][:, None])
        found = np.where((copies < self.copies)[:, None], found[:, :1], found)
        found[np.arange(count), (mine * players).astype(np.int64)] = LEARNER
        found[kinds < league.self_play] = LEARNER
        found[np.arange(MAX_SEATS) >= players[:, None]] = NOBODY
        self.owner[rows] = found
        outside = (found < 0) | (found >= len(league.names))
        members = np.where(outside, len(league.names), found)
        chosen = self._controllers[variant[:, None], members]
        for seat in range(int(players.max())):
            here = np.flatnonzero(seat < players)
            self.tables.set_controllers(rows[here], seat, chosen[here, seat])

    def _show(self, rows: np.ndarray) -> None:
        """What the seats to act see in these rows."""
        live = rows[self.tables.states["phase"][rows] != Phase.OVER]
        self.seat[live] = self.tables.states["seat"][live]
        self.seen[live] = self.tables.observe("full", live, canonical=True)
        self.mask[live] = self.tables.action_mask(live, **VIEW)

    def _ask(self, rows: np.ndarray) -> None:
        """One decision of the opponents that are asked, in these rows."""
        start = time.perf_counter()
        members = self.owner[rows, self.seat[rows]]
        network = members >= len(self.league.names)
        if network.any():
            self._ask_networks(rows[network], members[network] - len(self.league.names))
        for member in np.unique(members[~network]).tolist():
            mine = rows[members == member]
            policy = deciding(self.league.policies[member])
            self.tables.act(policy.act_batch(self.tables, mine.copy()), mine)
            self._show(mine)
        self.asked_seconds += time.perf_counter() - start

    def _ask_networks(self, rows: np.ndarray, places: np.ndarray) -> None:
        order = np.argsort(places, kind="stable")
        rows, places = rows[order], places[order]
        more, kinds = self.beside(self.tables.states, rows), self.variant[rows]
        seen, mask, lots = self.seen[rows], self.mask[rows], self._rng.random(rows.size)
        actions = self.picked(seen, mask, more, kinds, self.league.pool, places, lots)
        seen, mask = np.empty_like(self.seen[rows]), np.empty_like(self.mask[rows])
        turn = self.tables.step(actions, seen, mask, rows, **VIEW)
        self.seen[rows], self.mask[rows], self.seat[rows] = seen, mask, turn.seats

    def picked(
        self,
        seen: np.ndarray,
        mask: np.ndarray,
        more: np.ndarray,
        kinds: np.ndarray,
        params: np.ndarray,
        places: np.ndarray,
        lots: np.ndarray,
    ) -> np.ndarray:
        """int64[N]: what networks do, as slots with suits renamed.

        Args:
            seen, mask, more: what each is shown: bytes, legal actions, inputs besides.
            kinds: int64[N], which of the league's tables it sits at.
            params, places: float32[any, P] and int64[N], which network it is.
            lots: float64[N], as `pick_rows` takes them.
        """
        count = len(places)
        starts: np.ndarray = np.zeros(count + 1, np.int64)
        spots = np.empty(count * MOST_INPUTS, np.uint16)
        amounts = np.empty(count * MOST_INPUTS, np.uint8)
        index_rows(seen, self.layouts, kinds, more, starts, spots, amounts, 0)
        logits = np.empty((count, NUM_SLOT_ACTIONS), np.float32)
        scratch = np.empty((2, self.sizes[1:].max()), np.float32)
        network_rows(
            starts, spots, amounts, np.arange(count), params, places, self.sizes, self.relu,
            scratch, logits,
        )  # fmt: skip
        actions = np.empty(count, np.int64)
        pick_rows(logits, mask, lots, actions, np.empty(count, np.float32))
        return actions

    # --- as a vector environment -----------------------------------------------------------------

    def observations(self) -> np.ndarray:
        """uint8[B, K]: what the seats to act see, laid out as at the largest table."""
        width = inputs.size(self.most_seats, after=self.afterstates)
        found: np.ndarray = np.zeros((self.num_envs, width), np.uint8)
        for variant, (_, size) in enumerate(self.league.variants):
            rows = np.flatnonzero(self.variant == variant)
            layout = inputs.layout(size, self.most_seats)
            found[np.ix_(rows, layout)] = self.seen[rows][:, : len(layout)]
        if self.afterstates:
            found[:, -AFTERSTATE_SIZE:] = afterstate_flags(self.tables.states, self._all, True)
        return found

    def action_masks(self) -> np.ndarray:
        """bool[B, A]: what the seats to act may do."""
        return self.mask == 1

    def step_async(self, actions: np.ndarray) -> None:
        """Keep int[B] for the next `step_wait`."""
        self._actions = np.asarray(actions, np.int64)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """One decision a row: observations, rewards and flags of the seats that took it, infos."""
        seats, before = self.seat.copy(), self.observations()
        self.advance(self._actions)
        dones = self.ended[self._all, seats] > 0
        infos = [self._nothing] * self.num_envs
        for row in np.flatnonzero(dones):
            infos[row] = {"terminal_observation": before[row]}
        return self.observations(), self.rewards[self._all, seats], dones, infos

    # --- saving ----------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All that moves but the league: arrays and numbers."""
        counted: dict[str, Any] = {}
        if self.chances is not None:
            counted = {"places": self.places.copy(), **self.chances.state()}
        return {
            "states": self.tables.states.view(np.uint8).reshape(self.num_envs, -1).copy(),
            "owner": self.owner.copy(),
            "fresh": self.fresh.copy(),
            "paid": self.paid.copy(),
            "round_number": self.round_number.copy(),
            "next_match": self.next_match,
            "matches": self.matches,
            "drawing": of_generator(self._rng),
            "lots": of_generator(self.lots),
            **counted,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of tables with the same arguments, the league restored before."""
        bytes_ = self.tables.states.view(np.uint8).reshape(self.num_envs, -1)
        bytes_[:] = state["states"]
        for name in ("owner", "fresh", "paid", "round_number"):
            getattr(self, name)[:] = state[name]
        self.next_match, self.matches = int(state["next_match"]), int(state["matches"])
        to_generator(self._rng, state["drawing"])
        to_generator(self.lots, state["lots"])
        if self.chances is not None:
            self.places[:] = state["places"]
            self.chances.restore(state)
        self.league_changed()
        self._show(self._all)


def of_generator(rng: np.random.Generator) -> list[int]:
    """The state of a PCG64 generator as whole numbers."""
    state = rng.bit_generator.state
    words = state["state"]
    return [words["state"], words["inc"], state["has_uint32"], state["uinteger"]]


def to_generator(rng: np.random.Generator, numbers: Sequence[int]) -> None:
    """Put a generator where `of_generator` found one."""
    state, inc, has, word = (int(number) for number in numbers)
    rng.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": state, "inc": inc},
        "has_uint32": has,
        "uinteger": word,
    }


def variants_of(rules: Sequence[Any], players: Sequence[int]) -> list[Variant]:
    """All tables of some rules and seat counts."""
    return [(one, size) for one in rules for size in players]
