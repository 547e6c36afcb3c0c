"""Many matches side by side: bots inside the kernel, outside decisions by row.

`Tables` holds B independent matches whose seats are played by kernel bots or from outside;
`play_matches` plays whole matches between kernel bots. Row b depends on its own rules, seats and
match index alone, never on the other rows, the batch size or the number of threads. Work is spread
over a pool of Python threads (the kernels release the GIL), each owning whole rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import numpy as np

from thirtyone_env._jit import entry, inlined_kernel, kernel, put_flags
from thirtyone_env.actions import (
    FIRST_CARD,
    KNOCK,
    NUM_ACTIONS,
    NUM_SLOT_ACTIONS,
    is_legal,
    may_knock,
)
from thirtyone_env.bots import Book, bot_action, by_rules, check_seats, controller, going_on
from thirtyone_env.canonical import IDENTITY, suit_names
from thirtyone_env.checks import checked_seed
from thirtyone_env.engine import run_on, start_match, step
from thirtyone_env.engine.rounds import match_payoff
from thirtyone_env.equity import equity
from thirtyone_env.observation import (
    COMPACT_SIZE,
    engine_action,
    observation_size,
    observe_compact,
    observe_full,
    own_value,
    write_mask,
    write_slot_mask,
)
from thirtyone_env.rules import MAX_SEATS, Rules
from thirtyone_env.state import (
    ASK_ALL,
    ASK_KNOCK,
    CONTROLLER,
    NOBODY,
    STATE,
    Phase,
    State,
    acting_seat,
    new_states,
)

PayoffKind = Literal["match", "lives", "equity"]
CONTINUE_OR_KNOCK = 2
"""Number of actions of a seat that decides about knocking only: 0 goes on, 1 knocks."""
_SEAT_FIELDS = tuple(
    name
    for name in STATE.names or ()
    if STATE[name].shape == (MAX_SEATS,) and name != "controllers"
)


# --- kernels -------------------------------------------------------------------------------------


@inlined_kernel
def waits_outside(state: State) -> bool:
    """Whether the decision comes from outside."""
    ask = state.controllers[acting_seat(state)].ask
    if ask == ASK_ALL:
        return True
    return ask == ASK_KNOCK and state.phase == Phase.TURN and may_knock(state)


@inlined_kernel
def advance(state: State, book: Any) -> None:
    """Let bots play until a decision comes from outside or the match is over."""
    while state.phase != Phase.OVER:
        if waits_outside(state):
            return
        step(state, bot_action(state, book))


@kernel
def outside_action(state: State, action: int, naming: int, slots: bool, book: Any) -> int:
    """The engine's action for an outside decision; −1 where there is no such action."""
    if state.phase == Phase.OVER:
        return -1
    if state.controllers[state.seat].ask == ASK_KNOCK:
        if action == 1:
            return KNOCK
        return going_on(state, book) if action == 0 else -1
    if action < 0 or action >= (NUM_SLOT_ACTIONS if slots else NUM_ACTIONS):
        return -1
    return engine_action(state, action, naming, slots)


@kernel
def naming_for(state: State, seat: int, canonical: bool) -> int:
    """The suit naming in force for a seat."""
    return suit_names(state, seat) if canonical else IDENTITY


@entry
def start_rows(states: Any, rows: Any, first: int, after: int) -> None:
    """Deal rows afresh."""
    for place in range(first, after):
        state = states[rows[place]]
        start_match(state)


@entry
def advance_rows(states: Any, rows: Any, book: Any, first: int, after: int) -> None:
    """Let bots play in rows."""
    for place in range(first, after):
        state = states[rows[place]]
        run_on(state)
        advance(state, book)


@entry
def resolve_actions(
    states: Any, rows: Any, book: Any, actions: Any, resolved: Any, canonical: bool, slots: bool
) -> int:
    """Turn outside decisions into the engine's; the first illegal place, or −1."""
    for place in range(len(rows)):
        state = states[rows[place]]
        naming = naming_for(state, np.int64(state.seat), canonical)
        action = outside_action(state, np.int64(actions[place]), naming, slots, book)
        if not is_legal(state, action):
            return place
        resolved[place] = action
    return -1


@entry
def act_rows(states: Any, rows: Any, book: Any, actions: Any, first: int, after: int) -> None:
    """Take resolved decisions, then let bots play."""
    for place in range(first, after):
        state = states[rows[place]]
        step(state, np.int64(actions[place]))
        advance(state, book)


@entry
def observe_rows(states: Any, rows: Any, out: Any, canonical: bool, first: int, after: int) -> None:
    """Full observations of the seats to act."""
    for place in range(first, after):
        state = states[rows[place]]
        seat = np.int64(state.seat)
        observe_full(state, seat, naming_for(state, seat, canonical), out, place)


@entry
def observe_compact_rows(states: Any, rows: Any, out: Any, first: int, after: int) -> None:
    """Compact observations of the seats to act."""
    for place in range(first, after):
        state = states[rows[place]]
        observe_compact(state, np.int64(state.seat), out, place)


@entry
def mask_rows(
    states: Any, rows: Any, out: Any, canonical: bool, slots: bool, first: int, after: int
) -> None:
    """Legal actions of the seats to act."""
    for place in range(first, after):
        state = states[rows[place]]
        if state.controllers[state.seat].ask == ASK_KNOCK and state.phase < Phase.JUDGE:
            put_flags(out, place, 0, 0b11, NUM_SLOT_ACTIONS)
            for action in range(NUM_SLOT_ACTIONS, out.shape[1]):
                out[place, action] = 0
            continue
        naming = naming_for(state, np.int64(state.seat), canonical)
        if slots:
            write_slot_mask(state, naming, out, place)
        else:
            write_mask(state, naming, out, place)


@entry
def payoff_rows(states: Any, rows: Any, kind: int, out: Any) -> None:
    """Payoffs of all seats so far: match (0) or equity (2)."""
    for place in range(len(rows)):
        state = states[rows[place]]
        for seat in range(state.num_players):
            out[place, seat] = match_payoff(state, seat) if kind == 0 else equity(state, seat)
        for seat in range(state.num_players, out.shape[1]):
            out[place, seat] = 0.0


@entry
def value_rows(states: Any, rows: Any, out: Any) -> None:
    """Values of the hands of the seats to act, in half points."""
    for place in range(len(rows)):
        state = states[rows[place]]
        out[place] = own_value(state, np.int64(state.seat))


@entry
def play_rows(scratch: Any, book: Any, matches: Any, out: Any, first: int, after: int) -> None:
    """Play whole matches of bots in one scratch state; payoffs by match and seat."""
    state = scratch[0]
    for place in range(first, after):
        state.match = matches[place]
        start_match(state)
        advance(state, book)
        for seat in range(state.num_players):
            out[place, seat] = match_payoff(state, seat)


# --- threads -------------------------------------------------------------------------------------


def spread(work: Callable[[int, int], None], size: int, threads: int) -> None:
    """Run ``work(first, after)`` over 0 … size in contiguous parts, one a thread."""
    if threads <= 1 or size < 2 * threads:
        work(0, size)
        return
    bounds = [size * part // threads for part in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, bounds[:-1], bounds[1:]))


def _rows(rows: Any, size: int) -> np.ndarray:
    """Rows as int64[N]: all for None, those of a mask, or the numbers given."""
    if rows is None:
        return np.arange(size)
    given = np.atleast_1d(np.asarray(rows))
    if given.dtype == bool and given.shape == (size,):
        return np.flatnonzero(given)
    good = given.ndim == 1 and (not given.size or np.issubdtype(given.dtype, np.integer))
    if not good or (given.size and not 0 <= given.min() <= given.max() < size):
        raise ValueError(f"rows: whole numbers in 0 … {size - 1} are expected, or a mask of them")
    return given.astype(np.int64)


def _output(out: np.ndarray | None, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """The array to write to: the one given, if it is right, or a new one."""
    if out is None:
        return np.empty(shape, dtype)
    good = isinstance(out, np.ndarray) and out.shape == shape and out.dtype == dtype
    if not good or not out.flags.c_contiguous or not out.flags.writeable:
        raise ValueError(
            f"out: {getattr(out, 'dtype', type(out).__name__)}{list(np.shape(out))}; expected a "
            f"writable array {np.dtype(dtype)}{list(shape)} in C order"
        )
    return out


def _distinct_rows(rows: Any, size: int) -> np.ndarray:
    """The same for what changes rows: none may come twice."""
    if rows is None:
        return _rows(rows, size)
    rows = _rows(rows, size)
    there = np.zeros(size, bool)
    there[rows] = True
    if np.count_nonzero(there) != len(rows):
        raise ValueError("rows: a row is there twice")
    return rows


class Tables:
    """B matches side by side.

    Args:
        rules: one rule set for all rows, or one a row.
        num_players: seats, one number for all rows or one a row; S below is the most of them.
        seed: what all cards derive from, together with the match index of a row.
        matches: int64[B], the match index of each row: rows with equal index are dealt the same
            cards (and the same first dealer), whoever plays.
        threads: number of threads that rows are spread over; results do not depend on it.

    Every seat begins with the controller ``"external"``; after `set_controllers` call `play`.

    Raises:
        ValueError: for a number of seats that the rules do not allow.
    """

    def __init__(
        self,
        rules: Rules | Sequence[Rules],
        num_players: int | Sequence[int] | np.ndarray,
        *,
        seed: int,
        matches: Sequence[int] | np.ndarray,
        threads: int = 1,
    ) -> None:
        self.size = len(matches)
        self.threads = threads
        self.states: np.ndarray = new_states(rules, num_players, self.size)
        self.book = Book()
        self.states["seed"] = checked_seed(seed)
        self._all = np.arange(self.size)
        self._start(self._all, np.asarray(matches))

    def _start(self, rows: np.ndarray, matches: np.ndarray) -> None:
        self.states["match"][rows] = matches
        self._spread(lambda a, b: start_rows(self.states, rows, a, b), len(rows))

    def _spread(self, work: Callable[[int, int], None], size: int) -> None:
        spread(work, size, self.threads)

    def set_controllers(self, rows: Any, seats: Any, controllers: Any) -> None:
        """Say who decides; takes effect at the next decision.

        Args:
            rows: int[N] or a number; None for all rows.
            seats: int[N] or a number.
            controllers: a name or N names (see `bots.controller`), or CONTROLLER[N] or one
                CONTROLLER of a bot without tables or of `self.book`.

        Raises:
            ValueError: for an unknown bot, or one whose tables are not in `self.book`.
        """
        rows = self._all if rows is None else np.asarray(rows)
        seats = np.asarray(seats)
        if isinstance(controllers, np.ndarray) and controllers.dtype == CONTROLLER:
            self.book.check(controllers["entry"])
            self.states["controllers"][rows, seats] = controllers
            return
        names = np.asarray(controllers)
        rows, seats, names = np.broadcast_arrays(rows, seats, names)
        for name in np.unique(names).tolist():
            mine = names == name
            self._seat(rows[mine], seats[mine], name)

    def _seat(self, rows: np.ndarray, seats: np.ndarray, name: str) -> None:
        """Put a bot on seats; its tables are those of the rules of each row."""
        found = controller(name)
        if found["entry"] == 0:
            self.states["controllers"][rows, seats] = found
            return
        for players in np.unique(self.states["num_players"][rows]).tolist():
            check_seats(name, players)
        for rules, places in by_rules(self.states, rows):
            found = controller(name, rules, self.book)
            self.states["controllers"][rows[places], seats[places]] = found

    def _find_tables_again(self, rows: np.ndarray) -> None:
        """Let the bots of rows whose rules have changed look up tables of the new ones."""
        entries = self.states["controllers"]["entry"][rows]
        for number in np.unique(entries[entries > 0]).tolist():
            mine, seats = np.nonzero(entries == number)
            self._seat(rows[mine], seats, self.book.name_of(number))

    def deal(
        self,
        rows: Any,
        matches: Any,
        num_players: Any = None,
        rules: Rules | Sequence[Rules] | None = None,
    ) -> None:
        """Begin new matches in some rows; their controllers stay.

        Args:
            rows: int[N].
            matches: int64[N], the new match indices.
            num_players: int or int[N]; None: as before.
            rules: one or N rule sets; None: as before.

        Raises:
            ValueError: for a number of seats that the rules do not allow, or the deck does not
                suffice for.
        """
        rows = _distinct_rows(rows, self.size)
        if rules is not None or num_players is not None:
            numbers = self.states["num_players"][rows] if num_players is None else num_players
            if rules is None:
                self._check_seats(rows, np.asarray(numbers))
                self.states["num_players"][rows] = numbers
            else:
                fresh = new_states(rules, numbers, len(rows))
                self.states["rules"][rows] = fresh["rules"]
                self.states["num_players"][rows] = fresh["num_players"]
                self._find_tables_again(rows)
            for name in _SEAT_FIELDS:  # nothing stays of seats that there are no longer
                self.states[name][rows] = 0
        self._start(rows, np.asarray(matches))

    def _check_seats(self, rows: np.ndarray, numbers: np.ndarray) -> None:
        """The decks suffice for these numbers of seats."""
        rules = self.states["rules"][rows]
        spare = np.where(rules["exchange"] == 1, 3, 2)
        most = np.minimum((rules["deck_size"] - spare) // rules["hand_size"], MAX_SEATS)
        whole = np.issubdtype(numbers.dtype, np.integer)
        if not whole or (numbers < 2).any() or (numbers > most).any():
            raise ValueError(f"num_players = {numbers} is not allowed; allowed: 2 … {most}")

    def play(self, rows: Any = None) -> None:
        """Let bots play until every row waits for a decision from outside or is over."""
        rows, book = _distinct_rows(rows, self.size), self.book.array
        self._spread(lambda a, b: advance_rows(self.states, rows, book, a, b), len(rows))

    def act(
        self, actions: Any, rows: Any = None, *, slots: bool = False, canonical: bool = False
    ) -> None:
        """Take one outside decision a row, then let bots play.

        Args:
            actions: int[N], in the format that `action_mask` describes with the same options; for a
                seat with the controller ``"knock"`` 0 goes on and 1 knocks.
            rows: int[N], each once; None for all rows.

        Raises:
            ValueError: for an illegal action or a match that is over; no row has changed then.
        """
        rows = _distinct_rows(rows, self.size)
        actions = np.atleast_1d(np.asarray(actions))
        if not np.issubdtype(actions.dtype, np.integer) or actions.shape != rows.shape:
            raise ValueError(
                f"actions: {actions.dtype}{list(actions.shape)}; expected integers, one for each "
                f"of {len(rows)} rows"
            )
        actions = np.ascontiguousarray(actions, np.int64)
        resolved = np.empty(len(rows), np.int64)
        book = self.book.array
        bad = resolve_actions(self.states, rows, book, actions, resolved, canonical, slots)
        if bad >= 0:
            legal = np.flatnonzero(self.action_mask(rows[bad], slots=slots, canonical=canonical)[0])
            raise ValueError(
                f"row {rows[bad]}: action {actions[bad]} is not legal for seat "
                f"{self.waiting[rows[bad]]}; legal are {legal.tolist()}"
            )
        self._spread(lambda a, b: act_rows(self.states, rows, book, resolved, a, b), len(rows))

    def observe(
        self,
        format: Literal["compact", "full"] = "compact",
        rows: Any = None,
        *,
        canonical: bool = False,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """Observations of the seats to act.

        Args:
            format: ``"compact"`` or ``"full"``.
            rows: int[N]; None for all rows.
            canonical: rename the suits by each seat's own holding.
            out: an array of the shape and type below to write to; every number is overwritten.

        Returns:
            `out` or a new array: float32[N, COMPACT_SIZE], or uint8[N, observation_size(S)], filled
            up with zeros for rows with fewer seats.

        Raises:
            ValueError: for an unknown format, or an array of another shape, type or order.
        """
        rows = _rows(rows, self.size)
        states = self.states
        if format == "compact":
            seen = _output(out, (len(rows), COMPACT_SIZE), np.float32)
            self._spread(lambda a, b: observe_compact_rows(states, rows, seen, a, b), len(rows))
        elif format == "full":
            width = observation_size(int(states["num_players"].max()))
            seen = _output(out, (len(rows), width), np.uint8)
            self._spread(lambda a, b: observe_rows(states, rows, seen, canonical, a, b), len(rows))
        else:
            raise ValueError(f"observation format {format!r}; allowed: 'full' or 'compact'")
        return seen

    def action_mask(
        self,
        rows: Any = None,
        *,
        slots: bool = False,
        canonical: bool = False,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """int8[N, A]: the legal actions of the seats to act; all zero where a match is over.

        They are written to `out` where it is given, every number of it.
        """
        rows = _rows(rows, self.size)
        mask = _output(out, (len(rows), NUM_SLOT_ACTIONS if slots else NUM_ACTIONS), np.int8)
        states = self.states
        self._spread(lambda a, b: mask_rows(states, rows, mask, canonical, slots, a, b), len(rows))
        return mask

    def payoffs(
        self, kind: PayoffKind = "match", rows: Any = None, *, out: np.ndarray | None = None
    ) -> np.ndarray:
        """float64[N, 9]: payoffs of every seat so far; differences are rewards.

        ``"match"``: the payoff of the rules, 0 while a seat may still win. ``"lives"``: sum of the
        rounds' life swings. ``"equity"``: the chance to win the match by lives. They are written to
        `out` where it is given, every number of it.
        """
        rows = _rows(rows, self.size)
        if kind not in ("match", "lives", "equity"):
            raise ValueError(f"payoff {kind!r}; allowed: 'match', 'lives' or 'equity'")
        paid = _output(out, (len(rows), MAX_SEATS), np.float64)
        if kind == "lives":
            paid[:] = self.states["lives_payoff"][rows]
        else:
            payoff_rows(self.states, rows, 0 if kind == "match" else 2, paid)
        return paid

    @property
    def over(self) -> np.ndarray:
        """bool[B]: the match is over."""
        return self.states["phase"] == Phase.OVER

    @property
    def waiting(self) -> np.ndarray:
        """int8[B]: the seat that must act, NOBODY (−1) where the match is over."""
        return np.where(self.over, np.int8(NOBODY), self.states["seat"])

    @property
    def rounds(self) -> np.ndarray:
        """int32[B]: index of the round in progress."""
        return self.states["round_number"].copy()

    @property
    def winner(self) -> np.ndarray:
        """int8[B]: the winning seat, NOBODY (−1) without one."""
        return self.states["winner"].copy()

    @property
    def waiting_turn(self) -> np.ndarray:
        """int16[B]: turns that the seat to act has taken in this round."""
        return self.states["own_turns"][self._all, self.states["seat"]]

    @property
    def waiting_value(self) -> np.ndarray:
        """int16[B]: value of the hand of the seat to act, in half points."""
        out = np.empty(self.size, np.int16)
        value_rows(self.states, self._all, out)
        return out


def play_matches(
    rules: Rules,
    bots: Sequence[str],
    *,
    seed: int,
    matches: Sequence[int] | np.ndarray,
    threads: int = 1,
) -> np.ndarray:
    """Play whole matches between kernel bots.

    Args:
        rules: the rules.
        bots: a bot's name for each seat.
        seed: what the cards derive from, with the match indices.
        matches: int64[M], match indices.
        threads: threads to spread them over; results do not depend on it.

    Returns:
        float64[M, S]: match payoffs by seat.

    Raises:
        ValueError: for an unknown bot, or one that is played from outside.
    """
    matches = np.asarray(matches, np.int64)
    blank = new_states(rules, len(bots), 1)
    blank["seed"] = checked_seed(seed)
    book = Book()
    for seat, name in enumerate(bots):
        check_seats(name, len(bots))
        blank["controllers"][0, seat] = controller(name, rules.record, book)
        if blank["controllers"]["ask"][0, seat]:
            raise ValueError(f"bot {name!r} at seat {seat} decides outside; name a kernel bot")
    out = np.zeros((len(matches), len(bots)))

    def work(first: int, after: int) -> None:
        padded = np.zeros(3, STATE)  # a state of its own, no cache line shared with other threads
        padded[1] = blank[0]
        play_rows(padded[1:2], book.array, matches, out, first, after)

    spread(work, len(matches), threads)
    return out


__all__ = [
    "COMPACT_SIZE",
    "CONTINUE_OR_KNOCK",
    "CONTROLLER",
    "FIRST_CARD",
    "Tables",
    "controller",
    "play_matches",
]
