"""One learner a match: many matches side by side, the other seats played by bots or policies.

`Learners` is what the Gymnasium environments, one or many at a time, and the vector environment of
Stable-Baselines3 are made of. A step takes the learner's decision, lets everybody else play, and
stops at the learner's next decision or when the learner's part is over: the match (or round) has
ended or the learner is eliminated.

A reset ends nothing. Where the learner's part is over before its first decision, the mask allows
one action (pass, or going on), and its step brings the pending reward and flag.

Shapes: B matches, S seats, K numbers of an observation, A actions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from gymnasium import spaces

from thirtyone_env import game
from thirtyone_env._jit import entry, kernel
from thirtyone_env.actions import (
    KNOCK,
    NUM_ACTIONS,
    NUM_SLOT_ACTIONS,
    PASS,
    action_name,
    is_legal,
)
from thirtyone_env.arena import (
    CONTINUE_OR_KNOCK,
    Tables,
    naming_for,
    outside_action,
    resolve_actions,
    spread,
    waits_outside,
)
from thirtyone_env.bots import bot_action, controller
from thirtyone_env.checks import check_choice, checked_number, is_whole
from thirtyone_env.engine import run_on, step
from thirtyone_env.engine.rounds import match_payoff, prepare_match, set_first_dealer
from thirtyone_env.equity import equity
from thirtyone_env.observation import (
    COMPACT_SIZE,
    highest_values,
    observation_size,
    observe_compact,
    observe_full,
    write_mask,
    write_slot_mask,
)
from thirtyone_env.policy import KernelBot, Policy
from thirtyone_env.rng import USE_SEAT, below, derive
from thirtyone_env.rules import Rules, resolve_rules
from thirtyone_env.state import CONTROLLER, NOBODY, STATE, Phase, State, is_in

Opponent = str | Policy
LearnerSeat = int | Literal["rotate", "random"]
ROTATE, RANDOM = -1, -2
ILLEGAL, FINISH = -1, -2
"""Instead of an engine's action: no such action; the step that ends a match decided before."""

CHOICES: dict[str, tuple[Any, ...]] = {
    "episode": ("match", "round"),
    "reward": ("match", "lives", "equity", None),
    "illegal": ("raise", "terminate"),
    "observation_format": ("full", "compact"),
    "action_format": ("card", "slot"),
    "canonical_suits": (False, True),
}


# What a match waits for. UNDEALT: its first deal. DECIDES: the learner. PENDING: the step that
# brings a result decided before the learner's first decision. OPPONENT: a policy outside the kernel
# (never between steps). TERMINATED, TRUNCATED: a reset.
UNDEALT, DECIDES, PENDING, OPPONENT, TERMINATED, TRUNCATED = range(6)

LEARNER = np.dtype(
    [
        ("paid", np.float64),  # payoff of the learner that rewards have been paid for
        ("reward", np.float64),  # of the last step
        ("round_number", np.int32),  # when it was paid
        ("line_up", np.int32),  # number of the opponents' line-up
        ("start", np.int32),  # number of the situation that its matches begin with
        ("seat", np.int8),
        ("status", np.int8),
        ("begun", np.int8),  # the learner has stepped in this match
    ],
    align=True,
)
"""What is kept of a learner beside its match."""

VIEW = np.dtype(
    [
        ("kind", np.int8),  # of the reward: game.RESULT_KINDS
        ("seat", np.int8),  # the learner's, or ROTATE or RANDOM
        ("compact", np.bool_),
        ("slots", np.bool_),
        ("canonical", np.bool_),
        ("knock_only", np.bool_),
    ],
    align=True,
)
"""How all matches of a batch are seated, seen and paid."""


# --- kernels -------------------------------------------------------------------------------------


@kernel
def payoff(state: State, seat: int, kind: int) -> float:
    """A seat's payoff so far: match (0), lives (1) or equity (2)."""
    if kind == 0:
        return match_payoff(state, seat)
    if kind == 1:
        return np.float64(state.lives_payoff[seat])
    return equity(state, seat)


@kernel
def learner_seat(state: State, wanted: int) -> int:
    """The learner's seat in this match; rotation and lot follow from seed and match."""
    seats = np.int64(state.num_players)
    if wanted == ROTATE:
        turned = np.int64(state.seed % np.uint64(seats)) + np.int64(state.match) % seats
        return turned % seats
    if wanted == RANDOM:
        return below(derive(state.seed, state.match, 0, USE_SEAT), seats)
    return np.int64(wanted)


@kernel
def begin(state: State, start: State, dealer: int, me: Any, view: Any, controllers: Any) -> None:
    """Seat everybody and deal up to the first decision, whoever's it is."""
    prepare_match(state)
    if dealer != NOBODY:
        set_first_dealer(state, dealer)
    seats = np.int64(state.num_players)
    me.seat = learner_seat(state, np.int64(view.seat))
    for after in range(seats):
        state.lives[after] = start.lives[after]
        state.controllers[(np.int64(me.seat) + after) % seats] = controllers[me.line_up, after]
    state.rode = start.rode
    me.begun = 0
    me.reward = 0.0
    me.paid = payoff(state, np.int64(me.seat), np.int64(view.kind))
    me.round_number = -1
    run_on(state)


@kernel
def follow(state: State, me: Any) -> None:
    """Let bots play until a decision comes from outside or the learner's part is over."""
    seat = np.int64(me.seat)
    while state.phase != Phase.OVER and is_in(state.in_play, seat):
        if waits_outside(state):
            me.status = DECIDES if state.seat == seat else OPPONENT
            return
        step(state, bot_action(state))
    if not me.begun:
        me.status = PENDING
    elif state.truncated and is_in(state.in_play, seat):
        me.status = TRUNCATED
    else:
        me.status = TERMINATED


@kernel
def pay(state: State, me: Any, kind: int) -> None:
    """Pay the change in the learner's payoff since the last time."""
    if kind == 2 and me.status < TERMINATED:
        if me.round_number == state.round_number and state.pending == 0:
            me.reward = 0.0  # lives have not changed
            return
    now = payoff(state, np.int64(me.seat), kind)
    me.reward = now - me.paid
    me.paid = now
    me.round_number = state.round_number


@kernel
def forfeit(me: Any) -> None:
    """End the learner's part with an illegal action."""
    me.reward = -1.0
    me.status = TERMINATED


@kernel
def put_mask(state: State, me: Any, view: Any, naming: int, mask: Any, row: int) -> None:
    """The learner's legal actions; none when its part is over."""
    if me.status == DECIDES and not view.knock_only:
        if view.slots:
            write_slot_mask(state, naming, mask, row)
        else:
            write_mask(state, naming, mask, row)
        return
    for action in range(mask.shape[1]):
        mask[row, action] = 0
    if me.status == PENDING:
        mask[row, 0 if view.knock_only else PASS] = 1
    elif me.status == DECIDES:
        mask[row, 0] = 1
        mask[row, 1] = 1


@kernel
def show(state: State, me: Any, view: Any, full: Any, compact: Any, mask: Any, row: int) -> None:
    """What the learner sees, and its mask."""
    seat = np.int64(me.seat)
    naming = naming_for(state, seat, bool(view.canonical))
    if view.compact:
        observe_compact(state, seat, compact, row)
    else:
        observe_full(state, seat, naming, full, row)
    put_mask(state, me, view, naming, mask, row)


@kernel
def learner_action(state: State, me: Any, view: Any, action: int) -> int:
    """The engine's action for the learner's; FINISH for the one that ends what is decided."""
    if me.status == PENDING:
        return FINISH if action == (0 if view.knock_only else PASS) else ILLEGAL
    if me.status != DECIDES:
        return ILLEGAL
    naming = naming_for(state, np.int64(me.seat), bool(view.canonical))
    found = outside_action(state, action, naming, bool(view.slots))
    return found if is_legal(state, found) else ILLEGAL


@kernel
def take(state: State, me: Any, view: Any, action: int) -> None:
    """Take the learner's decision, then let bots play."""
    me.begun = 1
    if action == ILLEGAL:
        forfeit(me)
        return
    if action != FINISH:
        step(state, action)
    follow(state, me)


@entry
def begin_rows(
    states: Any,
    starts: Any,
    dealers: Any,
    learners: Any,
    view: Any,
    controllers: Any,
    rows: Any,
    full: Any,
    compact: Any,
    mask: Any,
    first: int,
    after: int,
) -> None:
    """Deal rows, up to the learner's first decision or one from outside the kernel."""
    for place in range(first, after):
        row = rows[place]
        state, me = states[row], learners[row]
        dealer = np.int64(dealers[me.start])
        begin(state, starts[me.start], dealer, me, view[0], controllers)
        follow(state, me)
        if me.status != OPPONENT:
            show(state, me, view[0], full, compact, mask, row)


@entry
def resolve_rows(
    states: Any,
    learners: Any,
    view: Any,
    rows: Any,
    actions: Any,
    resolved: Any,
    first: int,
    after: int,
) -> None:
    """Turn the learners' actions into the engine's."""
    for place in range(first, after):
        row = rows[place]
        action = learner_action(states[row], learners[row], view[0], np.int64(actions[place]))
        resolved[place] = action


@entry
def take_rows(
    states: Any,
    learners: Any,
    view: Any,
    rows: Any,
    resolved: Any,
    full: Any,
    compact: Any,
    mask: Any,
    first: int,
    after: int,
) -> None:
    """Take the learners' decisions; pay and show where nobody outside the kernel must decide."""
    for place in range(first, after):
        row = rows[place]
        state, me = states[row], learners[row]
        take(state, me, view[0], np.int64(resolved[place]))
        if me.status != OPPONENT:
            if resolved[place] != ILLEGAL:
                pay(state, me, np.int64(view[0].kind))
            show(state, me, view[0], full, compact, mask, row)


@entry
def oppose_rows(
    states: Any, learners: Any, rows: Any, resolved: Any, first: int, after: int
) -> None:
    """Take decisions of policies outside the kernel, then let bots play."""
    for place in range(first, after):
        row = rows[place]
        step(states[row], np.int64(resolved[place]))
        follow(states[row], learners[row])


@entry
def settle_rows(
    states: Any,
    learners: Any,
    view: Any,
    rows: Any,
    full: Any,
    compact: Any,
    mask: Any,
    first: int,
    after: int,
) -> None:
    """Pay and show after policies outside the kernel have decided."""
    for place in range(first, after):
        row = rows[place]
        state, me = states[row], learners[row]
        if me.begun:
            pay(state, me, np.int64(view[0].kind))
        show(state, me, view[0], full, compact, mask, row)


# --- the Python side -----------------------------------------------------------------------------


def seated_opponents(opponents: Any, num_players: int) -> list[Opponent]:
    """The opponents clockwise after the learner, one for each other seat.

    Args:
        opponents: one bot or policy for all, or one for each of the S − 1 other seats.
        num_players: S.

    Raises:
        ValueError: for an unknown bot, another number of them, or what is no policy.
    """
    if isinstance(opponents, str) or not isinstance(opponents, Sequence):
        found: list[Any] = [opponents] * (num_players - 1)
    else:
        found = list(opponents)
    if len(found) != num_players - 1:
        raise ValueError(
            f"opponents = {opponents!r} is not allowed; allowed: one for all, or "
            f"{num_players - 1}, clockwise after the learner"
        )
    for one in found:
        controller_of(one)
    return found


def as_bytes(states: np.ndarray) -> np.ndarray:
    """uint8[B, N]: the same states; NumPy copies those ten times faster than records."""
    return states.view(np.uint8).reshape(len(states), -1)


def controller_of(opponent: Opponent) -> np.ndarray:
    """What sits on an opponent's seat.

    Raises:
        ValueError: for an unknown bot, or what is no policy.
    """
    name = opponent
    if isinstance(opponent, KernelBot):
        name = opponent.name
    elif not isinstance(opponent, str):
        name = getattr(opponent, "controller", "external")
        if not callable(getattr(opponent, "act_batch", None)) or not isinstance(name, str):
            raise ValueError(
                f"opponent {opponent!r} is not allowed; allowed: a bot's name or a policy with "
                "act_batch(tables, rows)"
            )
    found = controller(name)
    if isinstance(opponent, str) and found["ask"]:
        raise ValueError(f"opponent {opponent!r} decides outside; name a bot or give a policy")
    return found


class Learners:
    """B matches with one learner each.

    Args:
        size: B.
        rules: a preset's name, a `Rules`, or a mapping of fields.
        num_players: S.
        opponents: a bot's name or a policy for all other seats, or S − 1 of them, clockwise after
            the learner. A policy has ``act_batch(tables, rows)``, and, where it decides about
            knocking only, ``controller = "knock"``; it is asked about all matches at once, and
            may refuse a table by raising from ``check(rules, num_players)``.
        learner_seat: a seat; ``"rotate"``: the next one in every match; ``"random"``: by lot.
        episode: ``"match"``, or ``"round"`` for the first round only.
        reward: as for the PettingZoo environment.
        illegal: ``"terminate"``: an illegal action ends the episode with −1; ``"raise"``.
        observation_format: ``"full"`` (uint8) or ``"compact"`` (float32).
        action_format: ``"card"`` (65 actions) or ``"slot"`` (14).
        canonical_suits: rename the suits by the learner's own holding.
        draws: None: every decision is the learner's. A rule's name: that rule draws and discards,
            and the learner decides only whether to knock (1) or to go on (0).
        threads: number of threads that rows are spread over; results do not depend on it.

    Raises:
        ValueError: for a value that is not allowed.
    """

    def __init__(
        self,
        size: int,
        *,
        rules: str | Rules | Mapping[str, Any] = "danish",
        num_players: int = 4,
        opponents: Any = "threshold:25",
        learner_seat: LearnerSeat = "rotate",
        episode: Literal["match", "round"] = "match",
        reward: Literal["match", "lives", "equity"] | None = None,
        illegal: Literal["raise", "terminate"] = "terminate",
        observation_format: Literal["full", "compact"] = "full",
        action_format: Literal["card", "slot"] = "card",
        canonical_suits: bool = False,
        draws: str | None = None,
        threads: int = 1,
    ) -> None:
        given = dict(locals())
        for name, allowed in CHOICES.items():
            check_choice(name, given[name], allowed)
        self.size = checked_number("num_envs", size, 1, 1 << 31)
        self.threads = checked_number("threads", threads, 1, 1 << 10)
        self.rules = resolve_rules(rules)
        self.num_players = self.rules.check_seats(num_players)
        self.episode, self.illegal, self.draws = episode, illegal, draws
        self.reward = reward or ("match" if episode == "match" else "lives")
        self._learner_controller = controller("external" if draws is None else f"knock:{draws}")
        self._view = np.zeros(1, VIEW)
        self._view["kind"] = game.RESULT_KINDS.index(self.reward)
        self._view["seat"] = self._checked_seat(learner_seat)
        self._view["compact"] = observation_format == "compact"
        self._view["slots"] = action_format == "slot"
        self._view["canonical"] = canonical_suits
        self._view["knock_only"] = draws is not None
        self.slots, self.canonical = action_format == "slot", bool(canonical_suits)
        self.compact = observation_format == "compact"
        self.num_actions = NUM_SLOT_ACTIONS if self.slots else NUM_ACTIONS
        if draws is not None:
            self.num_actions = CONTINUE_OR_KNOCK
        self.tables = Tables(
            self.rules, self.num_players, seed=0, matches=np.zeros(size, np.int64), threads=threads
        )
        self.learners = np.zeros(size, LEARNER)
        self._all = np.arange(size)
        self._size = observation_size(self.num_players)
        self._no_full = np.zeros((0, 0), np.uint8)
        self._no_compact = np.zeros((0, 0), np.float32)
        self._line_ups: list[list[Opponent]] = [[]]
        self._controllers = np.zeros((1, self.num_players), CONTROLLER)
        self._starts, self._dealers = np.zeros(0, STATE), np.zeros(0, np.int8)
        self.set_opponents(opponents)
        self.set_situation(self._all, {})

    def _checked_seat(self, seat: Any) -> int:
        named = {"rotate": ROTATE, "random": RANDOM}
        if isinstance(seat, str) and seat in named:
            return named[seat]
        if not is_whole(seat) or not 0 <= seat < self.num_players:
            raise ValueError(
                f"learner_seat = {seat!r} is not allowed; allowed: 0 … {self.num_players - 1}, "
                "'rotate', 'random'"
            )
        return int(seat)

    # --- who plays, and from where ---------------------------------------------------------------

    def set_opponents(self, opponents: Any) -> None:
        """Change the opponents of matches dealt from now on; those in progress keep theirs.

        Raises:
            ValueError: as for the class.
        """
        found = seated_opponents(opponents, self.num_players)
        controllers = np.zeros(self.num_players, CONTROLLER)
        controllers[0] = self._learner_controller
        for place, one in enumerate(found, 1):
            controllers[place] = controller_of(one)
            check = getattr(one, "check", None)
            if check is not None:
                check(self.rules, self.num_players)
        kept, self.learners["line_up"] = np.unique(self.learners["line_up"], return_inverse=True)
        self._line_ups = [*(self._line_ups[i] for i in kept), found]
        self._controllers = np.stack([*self._controllers[kept], controllers])
        self.opponents = tuple(found)
        self._policies = bool(self._controllers["ask"][:, 1:].any())

    def set_situation(self, rows: np.ndarray, situation: Mapping[str, Any]) -> None:
        """Say how matches dealt from now on in some rows begin.

        Args:
            rows: int64[N].
            situation: dealer, lives, deck, as for `game.prepare`.

        Raises:
            ValueError: for a value that is not allowed; nothing has changed then.
        """
        one_round = self.episode == "round"
        start = game.prepare(self.rules, self.num_players, one_round=one_round, **situation)
        dealer = situation.get("dealer")
        numbers = self.learners["start"]
        numbers[rows] = len(self._starts)
        kept, self.learners["start"] = np.unique(numbers, return_inverse=True)
        self._starts = np.concatenate([self._starts, start])[kept]
        self._dealers = np.append(self._dealers, NOBODY if dealer is None else dealer)[kept]
        self._dealers = self._dealers.astype(np.int8)

    # --- play ------------------------------------------------------------------------------------

    def new_outputs(self) -> tuple[np.ndarray, np.ndarray]:
        """Arrays for `deal` and `step` to write to: uint8 or float32[B, K], int8[B, A]."""
        if self.compact:
            seen: np.ndarray = np.empty((self.size, COMPACT_SIZE), np.float32)
        else:
            seen = np.empty((self.size, self._size), np.uint8)
        return seen, np.empty((self.size, self.num_actions), np.int8)

    def _outputs(self, seen: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, ...]:
        if self.compact:
            return self._no_full, seen, mask
        return seen, self._no_compact, mask

    def _run(self, rows_entry: Callable[..., None], size: int, *arguments: Any) -> None:
        """Call an entry for places 0 … size, spread over the threads."""
        if self.threads == 1:
            rows_entry(*arguments, 0, size)
        else:
            spread(lambda a, b: rows_entry(*arguments, a, b), size, self.threads)

    def deal(
        self,
        rows: np.ndarray,
        seeds: Any,
        matches: Any,
        seen: np.ndarray,
        mask: np.ndarray,
    ) -> None:
        """Begin new matches in some rows.

        Args:
            rows: int64[N], each once.
            seeds, matches: uint64[N] and int64[N], what the cards derive from.
            seen, mask: as from `new_outputs`; these rows of them are written.
        """
        states, learners = self.tables.states, self.learners
        as_bytes(states)[rows] = as_bytes(self._starts)[learners["start"][rows]]
        states["seed"][rows], states["match"][rows] = seeds, matches
        learners["line_up"][rows] = len(self._line_ups) - 1
        out = self._outputs(seen, mask)
        self._run(
            begin_rows,
            len(rows),
            states,
            self._starts,
            self._dealers,
            learners,
            self._view,
            self._controllers,
            rows,
            *out,
        )
        self._let_policies_play(rows, out)

    def step(
        self, rows: np.ndarray, actions: np.ndarray, seen: np.ndarray, mask: np.ndarray
    ) -> np.ndarray:
        """Take one decision of the learner in each of some rows; then everybody else plays.

        Args:
            rows: int64[N], each once, dealt and not over.
            actions: int64[N].
            seen, mask: as from `new_outputs`; these rows of them are written.

        Returns:
            int64[N]: `ILLEGAL` where the action was illegal and ended the episode.

        Raises:
            ValueError: for an illegal action under ``illegal="raise"``; no row has changed then.
        """
        states, learners, view = self.tables.states, self.learners, self._view
        resolved = np.empty(len(rows), np.int64)
        self._run(resolve_rows, len(rows), states, learners, view, rows, actions, resolved)
        if self.illegal == "raise" and (resolved == ILLEGAL).any():
            place = int(np.argmax(resolved == ILLEGAL))
            raise ValueError(self._complaint(int(rows[place]), int(actions[place])))
        out = self._outputs(seen, mask)
        self._run(take_rows, len(rows), states, learners, view, rows, resolved, *out)
        self._let_policies_play(rows, out)
        return resolved

    def _let_policies_play(self, rows: np.ndarray, out: tuple[np.ndarray, ...]) -> None:
        """Ask policies outside the kernel, many rows at a time, until every row has settled."""
        if not self._policies:
            return
        learners, states = self.learners, self.tables.states
        waiting = rows[learners["status"][rows] == OPPONENT]
        if not waiting.size:
            return
        asked = waiting
        while waiting.size:
            self._ask(waiting)
            waiting = waiting[learners["status"][waiting] == OPPONENT]
        self._run(settle_rows, len(asked), states, learners, self._view, asked, *out)

    def _ask(self, rows: np.ndarray) -> None:
        """One decision of a policy in each of these rows."""
        states, line_up = self.tables.states, self.learners["line_up"][rows]
        after = (states["seat"][rows] - self.learners["seat"][rows]) % self.num_players
        asked: dict[int, tuple[Any, list[np.ndarray]]] = {}
        for number, place in sorted({*zip(line_up.tolist(), after.tolist(), strict=True)}):
            policy = self._line_ups[number][place - 1]
            mine = rows[(line_up == number) & (after == place)]
            asked.setdefault(id(policy), (policy, []))[1].append(mine)
        for policy, parts in asked.values():
            mine = np.sort(np.concatenate(parts))
            actions = np.asarray(policy.act_batch(self.tables, mine))
            whole = np.issubdtype(actions.dtype, np.integer) and actions.shape == mine.shape
            resolved = np.empty(len(mine), np.int64)
            actions = actions.astype(np.int64) if whole else np.full(len(mine), -1)
            bad = resolve_actions(states, mine, actions, resolved, False, False)
            if bad >= 0:
                raise ValueError(
                    f"opponent {getattr(policy, 'name', policy)!r} chose the illegal action "
                    f"{actions[bad]} at seat {states['seat'][mine[bad]]}"
                )
            oppose_rows(states, self.learners, mine, resolved, 0, len(mine))

    # --- questions -------------------------------------------------------------------------------

    def _complaint(self, row: int, action: int) -> str:
        seen, mask = self.new_outputs()
        rows = np.array([row])
        settle = self._outputs(seen, mask)
        before = self.learners[rows]
        settle_rows(self.tables.states, self.learners, self._view, rows, *settle, 0, 1)
        self.learners[rows] = before
        legal = [f"{a} ({self.name_of(a, row)})" for a in np.flatnonzero(mask[row]).tolist()]
        where = f"row {row}, " if self.size > 1 else ""
        return (
            f"action {action} is illegal ({where}seat {before['seat'][0]}); "
            f"legal: {', '.join(legal) or 'none'}"
        )

    def name_of(self, action: int, row: int = 0) -> str:
        """What an action means in a row."""
        if self.draws is not None:
            return ("go on", "knock")[action]
        if self.slots and action >= 9:
            return f"slot {action - 9}"
        return action_name(action, int(self.tables.states["phase"][row]) if action >= 9 else None)

    def bot_actions(self, bot: KernelBot, rows: np.ndarray) -> np.ndarray:
        """int64[N]: what a bot would do for the learners in these rows.

        Raises:
            RuntimeError: where no learner is to act.
        """
        status = self.learners["status"][rows]
        if not np.isin(status, (DECIDES, PENDING)).all():
            raise RuntimeError("nobody is to act: the episode is over; call reset()")
        knock_only = self.draws is not None
        found = np.full(len(rows), 0 if knock_only else PASS, np.int64)
        live = status == DECIDES
        asked = bot.choose(
            self.tables.states,
            rows[live],
            slots=self.slots and not knock_only,
            canonical=self.canonical and not knock_only,
        )
        found[live] = asked == KNOCK if knock_only else asked
        return found

    def observation_space(self) -> spaces.Box:
        """What a learner sees."""
        if self.compact:
            return spaces.Box(-1.0, 4000.0, (COMPACT_SIZE,), np.float32)
        high = highest_values(self.num_players)
        return spaces.Box(np.zeros(len(high), np.uint8), high, dtype=np.uint8)

    def mask_space(self) -> spaces.Box:
        """The mask in an observation."""
        return spaces.Box(0, 1, (self.num_actions,), np.int8)
