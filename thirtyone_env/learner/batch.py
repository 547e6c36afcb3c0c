"""One learner a match: many matches side by side, the other seats played by bots or policies.

`Learners` is what the Gymnasium environments, one or many at a time, and the vector environment of
Stable-Baselines3 are made of. A step takes the learner's decision, lets everybody else play, and
stops at the learner's next decision or when the learner's part is over: the match (or round) has
ended or the learner is eliminated.

A reset ends nothing. Where the learner's part is over before its first decision, the mask allows
one action, to pass (both, where it decides about knocking only), and that step brings the pending
reward and flag.

Shapes: B matches, S seats, K numbers of an observation, A actions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
from gymnasium import spaces

from thirtyone_env import game
from thirtyone_env.actions import (
    KNOCK,
    NUM_ACTIONS,
    NUM_SLOT_ACTIONS,
    PASS,
    action_name,
)
from thirtyone_env.arena import (
    CONTINUE_OR_KNOCK,
    Tables,
    resolve_actions,
)
from thirtyone_env.bots import DRAWS, check_seats, controller
from thirtyone_env.checks import check_choice, checked_number, is_whole
from thirtyone_env.learner.kernels import (
    BEGIN,
    DECIDES,
    FINISH,
    ILLEGAL,
    LEARNER,
    OPPONENT,
    PENDING,
    RANDOM,
    ROTATE,
    RUNNING,
    UNDEALT,
    VIEW,
    play_rows,
    resolve_rows,
    show_rows,
)
from thirtyone_env.observation import (
    COMPACT_SIZE,
    observation_size,
    seen_space,
)
from thirtyone_env.pages import paged
from thirtyone_env.policy import Bot, KernelBot, Policy, make_bot
from thirtyone_env.rules import MAX_SEATS, Rules, resolve_rules
from thirtyone_env.search import is_search
from thirtyone_env.state import CONTROLLER, NOBODY, STATE, fitting_rows
from thirtyone_env.threads import checked_threads, spread

Opponent = str | Policy
LearnerSeat = int | Literal["rotate", "random"]
CHOICES: dict[str, tuple[Any, ...]] = {
    "episode": ("match", "round"),
    "reward": ("match", "lives", "equity", None),
    "illegal": ("raise", "terminate"),
    "observation_format": ("full", "compact"),
    "action_format": ("card", "slot"),
    "canonical_suits": (False, True),
}


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
    found = [make_bot(one) if is_search(one) else one for one in found]
    for one in found:
        controller_of(one)
    return found


def as_bytes(states: np.ndarray) -> np.ndarray:
    """uint8[B, N]: the same states; NumPy copies those ten times faster than records."""
    return states.view(np.uint8).reshape(len(states), -1)


def controller_of(opponent: Opponent, tables: Tables | None = None) -> np.ndarray:
    """What sits on an opponent's seat.

    Args:
        opponent: a bot's name or a policy.
        tables: the matches that it is to play, all by the same rules; None: only the name counts.

    Raises:
        ValueError: for an unknown bot, or what is no policy.
    """
    name: Any = opponent
    if isinstance(opponent, KernelBot):
        name = opponent.name
    elif not isinstance(opponent, str):
        name = getattr(opponent, "controller", "external")
        plays = callable(getattr(opponent, "act_batch", None)) and not isinstance(opponent, type)
        if not plays or not isinstance(name, str):
            raise ValueError(
                f"opponent {opponent!r} is not allowed; allowed: a bot's name or a policy with "
                "act_batch(tables, rows)"
            )
    if tables is None:
        found = controller(name)
    else:
        check_seats(name, int(tables.states["num_players"].max()))
        found = controller(name, tables.states["rules"][0], tables.book)
    if isinstance(opponent, str) and found["ask"]:
        raise ValueError(f"opponent {opponent!r} decides outside; name a bot or give a policy")
    return found


class Learners:
    """B matches with one learner each.

    Args:
        size: B; ``"auto"``: as many as one core steps at full speed, a number that depends on the
            seats alone, so that play repeats on every machine.
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
        threads: number of threads that rows are spread over, None for as many as this process may
            run at once; results do not depend on it.
        watcher: called at every decision and deal between two steps, for pictures; it makes play
            slow and changes nothing else.

    Raises:
        ValueError: for a value that is not allowed.
    """

    def __init__(
        self,
        size: int | Literal["auto"],
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
        threads: int | None = 1,
        watcher: Callable[[], None] | None = None,
    ) -> None:
        given = dict(locals())
        for name, allowed in CHOICES.items():
            check_choice(name, given[name], allowed)
        check_choice("draws", draws, (None, *DRAWS))
        self.threads = checked_threads(threads)
        self.rules = resolve_rules(rules)
        self.num_players = self.rules.check_seats(num_players)
        if isinstance(size, str) and size == "auto":
            size = fitting_rows(observation_size(self.num_players))
        self.size = size = checked_number("num_envs", size, 1, 1 << 31)
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
        self._view["slowly"] = watcher is not None
        self._knocking = None if draws is None else True
        self.watcher = watcher
        self.slots, self.canonical = action_format == "slot", bool(canonical_suits)
        self.compact = observation_format == "compact"
        self.num_actions = NUM_SLOT_ACTIONS if self.slots else NUM_ACTIONS
        if draws is not None:
            self.num_actions = CONTINUE_OR_KNOCK
        self._all = np.arange(size)
        self.tables = Tables(
            self.rules, self.num_players, seed=0, matches=self._all, threads=threads, deal=False
        )
        self.learners = np.zeros(size, LEARNER)
        self._size = observation_size(self.num_players)
        self._no_full = np.zeros((0, 0), np.uint8)
        self._no_compact = np.zeros((0, 0), np.float32)
        self._line_ups: list[list[Opponent]] = [[]]
        self._controllers = np.zeros((1, self.num_players), CONTROLLER)
        self._starts, self._dealers = np.zeros(0, STATE), np.zeros(0, np.int8)
        self.set_opponents(opponents)
        self.put_situation(self._all, self.situation({}))

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
            controllers[place] = controller_of(one, self.tables)
            check = getattr(one, "check", None)
            if check is not None:
                check(self.rules, self.num_players)
        kept, self.learners["line_up"] = np.unique(self.learners["line_up"], return_inverse=True)
        self._line_ups = [*(self._line_ups[i] for i in kept), found]
        self._controllers = np.stack([*self._controllers[kept], controllers])
        self.opponents = tuple(found)
        self._policies = bool(self._controllers["ask"][:, 1:].any())

    def situation(self, options: Mapping[str, Any]) -> tuple[np.ndarray, int]:
        """How matches begin, checked: dealer, lives, deck, as for `game.prepare`.

        Returns:
            STATE[1] before the deal and the seat of the first dealer, for `put_situation`.

        Raises:
            ValueError: for a value that is not allowed.
        """
        one_round = self.episode == "round"
        start = game.prepare(self.rules, self.num_players, one_round=one_round, **options)
        dealer = options.get("dealer")
        return start, NOBODY if dealer is None else int(dealer)

    def put_situation(self, rows: np.ndarray, situation: tuple[np.ndarray, int]) -> None:
        """Let matches dealt from now on in some rows begin with a situation."""
        start, dealer = situation
        numbers = self.learners["start"]
        numbers[rows] = len(self._starts)
        kept, self.learners["start"] = np.unique(numbers, return_inverse=True)
        self._starts = np.concatenate([self._starts, start])[kept]
        self._dealers = np.append(self._dealers, dealer)[kept].astype(np.int8)

    # --- play ------------------------------------------------------------------------------------

    @contextmanager
    def undone_on_error(self, seen: np.ndarray, mask: np.ndarray) -> Iterator[None]:
        """Put every match back if a policy outside the kernel, or who watches, raises.

        Args:
            seen, mask: as from `new_outputs`; written anew then.
        """
        if not self._policies and self.watcher is None:
            yield
            return
        states, learners = game.clone(self.tables.states), self.learners.copy()
        try:
            yield
        except BaseException:
            self.tables.states[:], self.learners[:] = states, learners
            self.show(np.flatnonzero(learners["status"] != UNDEALT), seen, mask)
            raise

    def show(self, rows: np.ndarray, seen: np.ndarray, mask: np.ndarray) -> None:
        """Write what the learners in some rows see, and their masks."""
        self._show(rows, self._outputs(seen, mask), False)

    def _show(self, rows: np.ndarray, out: tuple[np.ndarray, ...], settles: bool) -> None:
        states, learners = self.tables.states, self.learners
        self._run(show_rows, len(rows), states, learners, self._view, rows, *out, settles)

    def _play(
        self, rows: np.ndarray, resolved: np.ndarray, out: tuple[np.ndarray, ...], own: bool = True
    ) -> None:
        """Take resolved decisions of the learners (`own`) or of policies."""
        self._run(
            play_rows,
            len(rows),
            self.tables.states,
            self._starts,
            self._dealers,
            self.learners,
            self._view,
            self._controllers,
            self.tables.book.array,
            rows,
            resolved,
            *out,
            own,
        )

    def new_outputs(self, lasting: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Arrays for `deal` and `step` to write to: uint8 or float32[B, K], int8[B, A].

        Args:
            lasting: they are written again and again, not handed out after one step.
        """
        shape = self.size, COMPACT_SIZE if self.compact else self._size
        dtype = np.float32 if self.compact else np.uint8
        seen: np.ndarray = paged(shape, dtype, np.empty) if lasting else np.empty(shape, dtype)
        return seen, np.empty((self.size, self.num_actions), np.int8)

    def _outputs(self, seen: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, ...]:
        if self.compact:
            return self._no_full, seen, mask
        return seen, self._no_compact, mask

    def _run(self, rows_entry: Callable[..., Any], size: int, *arguments: Any) -> None:
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
        with self.undone_on_error(seen, mask):
            self._begin(rows, seeds, matches, self._outputs(seen, mask))

    def _begin(
        self, rows: np.ndarray, seeds: Any, matches: Any, out: tuple[np.ndarray, ...]
    ) -> None:
        states, learners = self.tables.states, self.learners
        as_bytes(states)[rows] = as_bytes(self._starts)[learners["start"][rows]]
        states["seed"][rows], states["match"][rows] = seeds, matches
        learners["line_up"][rows] = len(self._line_ups) - 1
        self._play(rows, np.full(len(rows), BEGIN), out)
        self._play_on(rows, out)

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
            ValueError: for an illegal action under ``illegal="raise"``, or of a policy; no row has
                changed then, nor by whatever else a policy raises.
        """
        book, resolved = self.tables.book.array, np.empty(len(rows), np.int64)
        asked = self.tables.states, self.learners, self._view, self._knocking
        if self.threads == 1:
            bad = resolve_rows(*asked, book, rows, actions, resolved, 0, len(rows))
        else:
            self._run(resolve_rows, len(rows), *asked, book, rows, actions, resolved)
            bad = int(np.argmax(resolved == ILLEGAL)) if ILLEGAL in resolved else -1
        if bad >= 0 and self.illegal == "raise":
            raise ValueError(self._complaint(int(rows[bad]), int(actions[bad])))
        out = self._outputs(seen, mask)
        if not self._policies and self.watcher is None:
            self._play(rows, resolved, out)
            return resolved
        with self.undone_on_error(seen, mask):
            self._play(rows, resolved, out)
            self._play_on(rows, out)
        return resolved

    def _play_on(self, rows: np.ndarray, out: tuple[np.ndarray, ...]) -> None:
        """Go on until every row has settled: ask policies, many rows at a time, and be watched."""
        if not self._policies and self.watcher is None:
            return
        learners = self.learners
        unsettled = rows[np.isin(learners["status"][rows], (OPPONENT, RUNNING))]
        if not unsettled.size:
            return
        waiting = unsettled
        while waiting.size:
            if self.watcher is not None:
                self.watcher()
            status = learners["status"][waiting]
            asked, running = waiting[status == OPPONENT], waiting[status == RUNNING]
            if asked.size:
                self._ask(asked, out)
            if running.size:
                self._play(running, np.full(len(running), FINISH), out, own=False)
            waiting = waiting[np.isin(learners["status"][waiting], (OPPONENT, RUNNING))]
        self._show(unsettled, out, True)

    def _ask(self, rows: np.ndarray, out: tuple[np.ndarray, ...]) -> None:
        """One decision of a policy in each of these rows."""
        states, line_up = self.tables.states, self.learners["line_up"][rows]
        book = self.tables.book.array
        after = (states["seat"][rows] - self.learners["seat"][rows]) % self.num_players
        asked: dict[int, tuple[Any, list[np.ndarray]]] = {}
        for number, place in sorted({*zip(line_up.tolist(), after.tolist(), strict=True)}):
            policy = self._line_ups[number][place - 1]
            mine = rows[(line_up == number) & (after == place)]
            asked.setdefault(id(policy), (policy, []))[1].append(mine)
        for policy, parts in asked.values():
            mine = np.sort(np.concatenate(parts))
            name = getattr(policy, "name", policy)
            actions = np.asarray(policy.act_batch(self.tables, mine.copy()))
            if not np.issubdtype(actions.dtype, np.integer) or actions.shape != mine.shape:
                raise ValueError(
                    f"opponent {name!r} answered {actions.dtype}{list(actions.shape)}; "
                    f"int64[{len(mine)}] is expected, an action for each row"
                )
            actions, resolved = actions.astype(np.int64), np.empty(len(mine), np.int64)
            bad = resolve_actions(states, mine, book, actions, resolved, False, False, MAX_SEATS)
            if bad >= 0:
                raise ValueError(
                    f"opponent {name!r} chose the illegal action "
                    f"{actions[bad]} at seat {states['seat'][mine[bad]]}"
                )
            self._play(mine, resolved, out, own=False)

    # --- questions -------------------------------------------------------------------------------

    def _complaint(self, row: int, action: int) -> str:
        seen, mask = self.new_outputs()
        self.show(np.array([row]), seen, mask)
        legal = [f"{a} ({self.name_of(a, row)})" for a in np.flatnonzero(mask[row]).tolist()]
        where = f"row {row}, " if self.size > 1 else ""
        return (
            f"action {action} is illegal ({where}seat {self.learners['seat'][row]}); "
            f"legal: {', '.join(legal) or 'none'}"
        )

    def name_of(self, action: int, row: int = 0) -> str:
        """What an action means in a row."""
        if self.draws is not None:
            return ("go on", "knock")[action]
        if self.slots and action >= 9:
            return f"slot {action - 9}"
        return action_name(action, int(self.tables.states["phase"][row]) if action >= 9 else None)

    def bot_actions(self, bot: Bot, rows: np.ndarray) -> np.ndarray:
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

    def observation_space(self, flatten: bool) -> spaces.Space[Any]:
        """What a learner sees: a dict of the observation and the mask, or flat, without it."""
        seen = seen_space(self.num_players, self.compact)
        if flatten:
            return seen
        mask = spaces.Box(0, 1, (self.num_actions,), np.int8)
        return spaces.Dict({"observation": seen, "action_mask": mask})
