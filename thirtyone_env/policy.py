"""Policies: what takes an observation and a mask and gives an action, alone or in batches.

`make_bot` makes any kernel bot a policy for anybody's loop::

    bot = make_bot("threshold:25")
    for agent in env.agent_iter():
        *_, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else bot.act(env))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from thirtyone_env._jit import entry
from thirtyone_env.actions import KNOCK, NUM_ACTIONS
from thirtyone_env.arena import Tables, mask_rows, naming_for
from thirtyone_env.bots import (
    NO_BOOK,
    Book,
    bot_action,
    by_rules,
    check_seats,
    controller,
    going_on,
)
from thirtyone_env.game import legal_actions
from thirtyone_env.observation import agent_action
from thirtyone_env.rules import Rules
from thirtyone_env.search import is_search, judge, search_options
from thirtyone_env.state import ASK_KNOCK, Phase


@runtime_checkable
class Policy(Protocol):
    """Whoever decides for a seat."""

    name: str

    def act(self, env: Any) -> int:
        """The action of the agent whose turn it is in a PettingZoo environment of this package."""

    def act_batch(self, tables: Tables, rows: Any = None) -> np.ndarray:
        """int64[N]: the actions of the seats to act in some rows of tables."""


@entry
def bot_actions(
    states: Any, rows: Any, controllers: Any, book: Any, out: Any, canonical: bool, slots: bool
) -> None:
    """What a bot would do for the seats to act; only the seats' own streams move on."""
    for place in range(len(rows)):
        state = states[rows[place]]
        seat = np.int64(state.seat)
        controllers[1] = state.controllers[seat]
        state.controllers[seat] = controllers[0]
        knock_outside = state.controllers[seat].ask == ASK_KNOCK
        action = going_on(state, book) if knock_outside else bot_action(state, book)
        state.controllers[seat] = controllers[1]
        out[place] = agent_action(state, action, naming_for(state, seat, canonical), slots)


@entry
def agents_actions(states: Any, rows: Any, actions: Any, canonical: bool, slots: bool) -> None:
    """Put the engine's actions of the seats to act into an agent's format, in place."""
    for place in range(len(rows)):
        state = states[rows[place]]
        naming = naming_for(state, np.int64(state.seat), canonical)
        actions[place] = agent_action(state, np.int64(actions[place]), naming, slots)


def choose(
    controller: np.ndarray,
    states: np.ndarray,
    rows: np.ndarray,
    *,
    slots: bool = False,
    canonical: bool = False,
    book: Book = NO_BOOK,
) -> np.ndarray:
    """What a controller would do for the seats to act.

    Args:
        controller: a CONTROLLER: a bot, or one that decides outside about knocking: then what
            its rule does when it goes on.
        states: STATE[B].
        rows: int64[N].
        slots, canonical: the action format, as in `Tables.act`.
        book: where the controller's tables are.

    Returns:
        int64[N].
    """
    out = np.zeros(len(rows), np.int64)
    bot_actions(states, rows, np.repeat(controller, 2), book.array, out, canonical, slots)
    return out


def choose_when_to_knock(
    rule: np.ndarray,
    decide: Callable[[np.ndarray], np.ndarray],
    states: np.ndarray,
    rows: np.ndarray,
    *,
    slots: bool = False,
    canonical: bool = False,
) -> np.ndarray:
    """What a policy that decides about knocking only does for the seats to act.

    Args:
        rule: the CONTROLLER of the rule that draws and discards.
        decide: takes those of the rows in which knocking is legal, int64[M]; 1 knocks.
        states, rows, slots, canonical: as for `choose`.

    Returns:
        int64[N].
    """
    actions = choose(rule, states, rows, slots=slots, canonical=canonical)
    masks = np.zeros((len(rows), NUM_ACTIONS), np.int8)
    mask_rows(states, rows, masks, False, False, 0, len(rows))
    asked = np.flatnonzero(masks[:, KNOCK])
    if asked.size:
        actions[asked[decide(rows[asked]) == 1]] = KNOCK
    return actions


def act_in(env: Any, policy: Any) -> int:
    """What a policy with `choose` does for the agent whose turn it is in an environment.

    Args:
        env: an environment of this package, wrapped or not, in which that agent is to act.
        policy: has ``choose(states, rows, slots=..., canonical=...)``, and may refuse the table by
            raising from ``check(rules, num_players)``.

    Raises:
        TypeError: for an environment of another kind.
        RuntimeError: where nobody is to act.
    """
    core = getattr(env, "unwrapped", env)
    ask = getattr(core, "bot_action", None)
    if ask is None:
        raise TypeError(f"{type(core).__name__} is not an environment of thirtyone_env")
    check = getattr(policy, "check", None)
    if check is not None:
        check(core.rules, core.num_players)
    return int(ask(policy))


class Bot:
    """A scripted policy; make it with `make_bot`."""

    name: str

    def check(self, rules: Rules, num_players: int) -> None:
        """Refuse a table that the bot was not made for.

        Raises:
            ValueError: naming the difference.
        """

    def act(self, env: Any) -> int:
        """The bot's action for the agent whose turn it is; see `act_in`."""
        return act_in(env, self)

    def choose(
        self, states: np.ndarray, rows: np.ndarray, *, slots: bool = False, canonical: bool = False
    ) -> np.ndarray:
        """int64[N]: the bot's actions for the seats to act in some rows of STATE[B]."""
        raise NotImplementedError

    def act_batch(
        self, tables: Tables, rows: Any = None, *, slots: bool = False, canonical: bool = False
    ) -> np.ndarray:
        """int64[N]: the bot's actions for the seats to act.

        Args:
            tables: matches side by side.
            rows: int[N]; None for all rows.
            slots, canonical: the action format, as in `Tables.act`.

        Raises:
            ValueError: if a match among the rows is over.
        """
        rows = np.arange(tables.size) if rows is None else np.atleast_1d(np.asarray(rows))
        done = rows[tables.states["phase"][rows] == Phase.OVER]
        if len(done):
            raise ValueError(f"the match of row {done[0]} is over; nobody is to act")
        return self.choose(tables.states, rows, slots=slots, canonical=canonical)

    def __repr__(self) -> str:
        return f"make_bot({self.name!r})"


class KernelBot(Bot):
    """A bot that plays inside the kernel."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._controller = controller(name)
        if self._controller["ask"]:
            raise ValueError(f"{name!r} decides outside and is no bot")
        self._book = Book()

    def check(self, rules: Rules, num_players: int) -> None:
        """Refuse a table that the bot was not made for.

        Raises:
            ValueError: naming the difference.
        """
        check_seats(self.name, num_players)
        controller(self.name, rules.record, Book())

    def choose(
        self, states: np.ndarray, rows: np.ndarray, *, slots: bool = False, canonical: bool = False
    ) -> np.ndarray:
        """int64[N]: the bot's actions for the seats to act in some rows of STATE[B]."""
        if self._controller["entry"] == 0:
            return choose(self._controller, states, rows, slots=slots, canonical=canonical)
        rows, out = np.asarray(rows), np.zeros(len(rows), np.int64)
        for rules, places in by_rules(states, rows):
            found = controller(self.name, rules, self._book)
            out[places] = choose(
                found, states, rows[places], slots=slots, canonical=canonical, book=self._book
            )
        return out


class SearchBot(Bot):
    """A bot that improves on another one by rolling every legal action out (`search.judge`).

    It does as that bot would, unless another action is better by more than `margin` standard
    errors.

    Args:
        name: such as ``"search:200,bot=threshold:27"``.
        seconds: time for one decision, at a table; None: as long as its deals take, the same
            everywhere.
        threads: threads to spread the deals over; actions do not depend on it.
    """

    def __init__(self, name: str, *, seconds: float | None = None, threads: int = 1) -> None:
        self.name = name
        self._options = search_options(name) | {"seconds": seconds, "threads": threads}
        self._margin = self._options.pop("margin")
        self._usual = KernelBot(self._options["bot"])

    def check(self, rules: Rules, num_players: int) -> None:
        """Refuse a table that the bot that plays on was not made for.

        Raises:
            ValueError: naming the difference.
        """
        self._usual.check(rules, num_players)

    def choose(
        self, states: np.ndarray, rows: np.ndarray, *, slots: bool = False, canonical: bool = False
    ) -> np.ndarray:
        """int64[N]: the best actions for the seats to act in some rows of STATE[B]."""
        actions = self._usual.choose(states, rows)
        for place, row in enumerate(rows):
            if len(legal_actions(states[row : row + 1])) > 1:
                found = judge(states, int(row), **self._options)
                actions[place] = found.better_than(int(actions[place]), self._margin)
        if slots or canonical:
            agents_actions(states, rows, actions, canonical, slots)
        return actions


def make_bot(name: str) -> Bot:
    """A scripted policy.

    Args:
        name: a kernel bot as in `bots.BOT_FORMS`, such as ``"threshold:25"``, or a search as in
            `search.SEARCH_FORM`, such as ``"search:200"``.

    Raises:
        ValueError: for an unknown name.
    """
    return SearchBot(name) if is_search(name) else KernelBot(name)
