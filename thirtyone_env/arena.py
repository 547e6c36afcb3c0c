"""Many matches side by side: bots inside the kernel, outside decisions by row.

`Tables` holds B independent matches whose seats are played by kernel bots or from outside;
`play_matches` plays whole matches between kernel bots. Row b depends on its own rules, seats and
match index alone, never on the other rows, the batch size or the number of threads. Work is spread
over a pool of Python threads (the kernels release the GIL), each owning whole rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from thirtyone_env._jit import entry, inlined_kernel, kernel, prefetch, put_flags
from thirtyone_env.actions import (
    FIRST_CARD,
    KNOCK,
    NUM_ACTIONS,
    NUM_SLOT_ACTIONS,
    is_among,
    is_legal,
    legal_cards,
    legal_words,
    may_knock,
)
from thirtyone_env.bots import Book, bot_action, by_rules, check_seats, controller, going_on
from thirtyone_env.canonical import IDENTITY, suit_names
from thirtyone_env.checks import checked_seed
from thirtyone_env.engine import start_match, step
from thirtyone_env.engine.rounds import match_payoff
from thirtyone_env.equity import equity
from thirtyone_env.observation import (
    COMPACT_SIZE,
    engine_action,
    observation_size,
    observe_compact,
    observe_full,
    own_value,
    put_afterstates,
    put_legal,
    write_mask,
    write_slot_mask,
)
from thirtyone_env.pages import paged
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
from thirtyone_env.threads import checked_threads, spread

PayoffKind = Literal["match", "lives", "equity"]
LEAST_MATCHES = 64
"""Whole matches below which another thread costs more than it gains."""
CONTINUE_OR_KNOCK = 2
"""Number of actions of a seat that decides about knocking only: 0 goes on, 1 knocks."""
UNKNOWN = -1
"""Instead of the named actions that are legal in a row: its state has to be asked."""
NO_ACTION, DEAL = -1, -2
"""Instead of an engine's action: let bots play; deal anew, and let nobody play."""
MOST_PASSED_OVER = 1000
"""Matches in a row without a decision from outside after which a row is left over."""
AHEAD = 2
"""How many rows ahead of the one in work the processor is told to fetch."""
PLACES = 0x7FFF_FFFF
"""`place & PLACES` says that a place in a batch is not negative, which spares checks of indices."""
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
def advance(state: State, action: int, book: Any) -> None:
    """Take a decision (NO_ACTION: none), then let bots play until one comes from outside."""
    while True:
        if action != NO_ACTION:
            step(state, action)
        if state.phase == Phase.OVER or waits_outside(state):
            return
        action = bot_action(state, book)


@kernel
def seat_action(state: State, action: int, naming: int, slots: bool) -> int:
    """The engine's action for one of a seat that decides everything; −1 where there is none."""
    if action < 0 or action >= (NUM_SLOT_ACTIONS if slots else NUM_ACTIONS):
        return -1
    return engine_action(state, action, naming, slots)


@kernel
def outside_action(state: State, action: int, naming: int, slots: bool, book: Any) -> int:
    """The engine's action for an outside decision; −1 where there is no such action."""
    if state.phase == Phase.OVER:
        return -1
    if state.controllers[state.seat].ask == ASK_KNOCK:
        if action == 1:
            return KNOCK
        return going_on(state, book) if action == 0 else -1
    return seat_action(state, action, naming, slots)


@inlined_kernel
def naming_for(state: State, seat: int, canonical: bool) -> int:
    """The suit naming in force for a seat."""
    return suit_names(state, seat) if canonical else IDENTITY


@inlined_kernel
def put_mask(
    state: State, naming: int, knock_only: bool, slots: bool, mask: Any, place: int
) -> None:
    """Legal actions of the seat to act."""
    if knock_only:
        put_flags(mask, place, 0, 0b11, NUM_SLOT_ACTIONS)
        for action in range(NUM_SLOT_ACTIONS, mask.shape[1]):
            mask[place, action] = 0
    elif slots:
        write_slot_mask(state, naming, mask, place)
    else:
        write_mask(state, naming, mask, place)


@kernel
def put_payoffs(state: State, kind: int, paid: Any, place: int) -> None:
    """Payoffs of all seats so far: match (0) or equity (2)."""
    for seat in range(state.num_players):
        paid[place, seat] = match_payoff(state, seat) if kind == 0 else equity(state, seat)
    for seat in range(state.num_players, paid.shape[1]):
        paid[place, seat] = 0.0


@kernel
def play_bots(state: State, book: Any) -> None:
    """Let bots play until a decision comes from outside; apart, so that it slows nobody else."""
    advance(state, NO_ACTION, book)


@inlined_kernel
def play_on(state: State, action: int, book: Any, renewal: int, paid: Any, place: int) -> bool:
    """Take a decision and let bots play; deal on where a match ends. Whether one has ended."""
    dealt = -1
    while True:
        if action != NO_ACTION:
            step(state, action)
        if state.phase != Phase.OVER and not waits_outside(state):
            play_bots(state, book)
        if state.phase != Phase.OVER:
            return dealt >= 0
        dealt += 1
        if paid.shape[1] and dealt == 0:
            put_payoffs(state, 0, paid, place)
        if renewal == 0 or dealt == MOST_PASSED_OVER:
            return True
        state.match += renewal
        start_match(state)
        action = NO_ACTION


@entry
def step_rows(
    states: Any,
    legal: Any,
    rows: Any,
    book: Any,
    actions: Any,
    full: Any,
    compact: Any,
    mask: Any,
    paid: Any,
    over: Any,
    seats: Any,
    renewal: int,
    canonical: bool,
    slots: bool,
    first: int,
    after: int,
) -> None:
    """Take resolved decisions, let bots play, and write what the seats to act see.

    Arrays without columns or places are not written. What is legal next is kept where the mask says
    it in the engine's own terms.
    """
    for number in range(first, after):
        place = number & PLACES
        next_row = rows[min(place + AHEAD, after - 1) & PLACES]
        prefetch(states, next_row & PLACES, "hands", "discards")
        prefetch(states, next_row & PLACES, "table", "controllers")
        row = rows[place] & PLACES
        state = states[row]
        legal[row, 0] = UNKNOWN
        action = np.int64(actions[place])
        if action == DEAL:
            start_match(state)
            continue
        ended = play_on(state, action, book, renewal, paid, place)
        seat = acting_seat(state)
        live = state.phase != Phase.OVER
        if over.shape[0]:
            over[place] = ended
            seats[place] = seat if live else NOBODY
        if mask.shape[1]:
            naming = naming_for(state, seat, canonical)
            knock_only = live and state.controllers[seat].ask == ASK_KNOCK
            if knock_only or slots or canonical:
                put_mask(state, naming, knock_only, slots, mask, place)
            else:
                words, cards = legal_words(state), legal_cards(state)
                put_legal(words, cards, IDENTITY, mask, place)
                legal[row, 0], legal[row, 1] = words, cards
            if full.shape[1]:
                observe_full(state, seat, naming, full, place)
        if compact.shape[1]:
            observe_compact(state, seat, compact, place)


@entry
def first_doubtful(legal: Any, rows: Any, actions: Any) -> int:
    """The first place whose action is not known to be legal, or −1; states are not looked at."""
    for place in range(len(rows)):
        row = rows[place] & PLACES
        words = legal[row, 0]
        if words == UNKNOWN or not is_among(words, legal[row, 1], actions[place]):
            return place
    return -1


@entry
def resolve_actions(
    states: Any,
    rows: Any,
    book: Any,
    actions: Any,
    resolved: Any,
    canonical: bool,
    slots: bool,
    most_seats: int,
) -> int:
    """Turn outside decisions into the engine's; the first place that cannot be played, or −1."""
    last = len(rows) - 1
    for place in range(len(rows)):
        next_row = rows[min(place + AHEAD, last)] & PLACES
        prefetch(states, next_row, "hands", "hands")
        prefetch(states, next_row, "rules", "controllers")
        state = states[rows[place] & PLACES]
        action = np.int64(actions[place])
        if slots or canonical or state.controllers[acting_seat(state)].ask != ASK_ALL:
            naming = naming_for(state, acting_seat(state), canonical)
            action = outside_action(state, action, naming, slots, book)
        if not is_legal(state, action) or state.num_players > most_seats:
            return place
        resolved[place] = action
    return -1


@entry
def observe_rows(states: Any, rows: Any, out: Any, canonical: bool, first: int, after: int) -> None:
    """Full observations of the seats to act."""
    for place in range(first, after):
        state = states[rows[place]]
        seat = np.int64(state.seat)
        observe_full(state, seat, naming_for(state, seat, canonical), out, place)


@entry
def afterstate_rows(states: Any, rows: Any, canonical: bool, first: int, out: Any) -> None:
    """Values of the afterstates of the seats to act, as flags from `first` on; −1 for none."""
    for place in range(out.shape[0]):
        state = states[rows[place]]
        naming = naming_for(state, np.int64(state.seat), canonical)
        put_afterstates(state, naming, first, out, place)


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
        seat = acting_seat(state)
        knock_only = state.phase != Phase.OVER and state.controllers[seat].ask == ASK_KNOCK
        naming = naming_for(state, seat, canonical)
        put_mask(state, naming, knock_only, slots, out, place)


@entry
def payoff_rows(states: Any, rows: Any, kind: int, out: Any) -> None:
    """Payoffs of all seats so far: match (0) or equity (2)."""
    for place in range(len(rows)):
        put_payoffs(states[rows[place]], kind, out, place)


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
        advance(state, NO_ACTION, book)
        for seat in range(state.num_players):
            out[place, seat] = match_payoff(state, seat)


# --- rows ----------------------------------------------------------------------------------------


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


class Turn(NamedTuple):
    """How N rows stand after a step of `Tables`."""

    over: np.ndarray
    """bool[N]: a match has ended, whether or not the next one has been dealt."""
    seats: np.ndarray
    """int8[N]: the seat that must act, NOBODY (−1) where the match is over."""


_SEATS_SEEN = {observation_size(seats): seats for seats in range(2, MAX_SEATS + 1)}
"""Number of seats by the size of the full observation."""
_NO_FULL, _NO_COMPACT = np.zeros((0, 0), np.uint8), np.zeros((0, 0), np.float32)
_NO_PAYOFFS = np.zeros((0, 0))
_NOTHING = (
    _NO_FULL,
    _NO_COMPACT,
    np.zeros((0, 0), np.int8),
    _NO_PAYOFFS,
    np.zeros(0, bool),
    np.zeros(0, np.int8),
)
"""Outputs of `step_rows` that are not wanted."""


class Tables:
    """B matches side by side.

    Args:
        rules: one rule set for all rows, or one a row.
        num_players: seats, one number for all rows or one a row; S below is the most of them.
        seed: what all cards derive from, together with the match index of a row.
        matches: int64[B], the match index of each row: rows with equal index are dealt the same
            cards (and the same first dealer), whoever plays.
        threads: number of threads that rows are spread over, None for as many as this process may
            run at once; results do not depend on it.
        deal: whether all rows are dealt at once; else `deal` does it.

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
        threads: int | None = 1,
        deal: bool = True,
    ) -> None:
        self.size = len(matches)
        self.threads = checked_threads(threads)
        self._states: np.ndarray = new_states(rules, num_players, self.size)
        self._most_seats = int(self._states["num_players"].max(initial=0))
        self._legal = np.full((self.size, 2), UNKNOWN, np.int64)
        self._handed_out = False
        self.book = Book()
        self._states["seed"] = checked_seed(seed)
        self._all = np.arange(self.size)
        self._resolved = np.empty(self.size, np.int64)
        self._states["phase"] = Phase.OVER
        if deal:
            self._start(self._all, np.asarray(matches))

    @property
    def states(self) -> np.ndarray:
        """STATE[B]: the states themselves, to be read and changed.

        Whoever has had them may change them at any time, so that from then on `act` and `step` ask
        the states what is legal; before, they know it from the last step, which is quicker.
        """
        self._handed_out = True
        return self._states

    def _start(self, rows: np.ndarray, matches: np.ndarray) -> None:
        self._states["match"][rows] = matches
        self._go_on(rows, np.full(len(rows), DEAL))

    def _go_on(self, rows: np.ndarray, resolved: np.ndarray) -> None:
        """Let rows deal or play, and write nothing."""
        self._run(rows, resolved, *_NOTHING, 0, False, False)

    def _run(self, rows: np.ndarray, resolved: np.ndarray, *arguments: Any) -> None:
        """Take resolved decisions in rows, spread over the threads."""
        book = self.book.array
        if self.threads == 1:
            step_rows(self._states, self._legal, rows, book, resolved, *arguments, 0, len(rows))
        else:
            kept = self._states, self._legal
            self._spread(
                lambda a, b: step_rows(*kept, rows, book, resolved, *arguments, a, b), len(rows)
            )

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
        self._legal[rows, 0] = UNKNOWN
        if isinstance(controllers, np.ndarray) and controllers.dtype == CONTROLLER:
            self.book.check(controllers["entry"])
            self._states["controllers"][rows, seats] = controllers
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
            self._states["controllers"][rows, seats] = found
            return
        for players in np.unique(self._states["num_players"][rows]).tolist():
            check_seats(name, players)
        for rules, places in by_rules(self._states, rows):
            found = controller(name, rules, self.book)
            self._states["controllers"][rows[places], seats[places]] = found

    def _find_tables_again(self, rows: np.ndarray) -> None:
        """Let the bots of rows whose rules have changed look up tables of the new ones."""
        entries = self._states["controllers"]["entry"][rows]
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
        self._legal[rows, 0] = UNKNOWN
        if rules is not None or num_players is not None:
            numbers = self._states["num_players"][rows] if num_players is None else num_players
            if rules is None:
                self._check_seats(rows, np.asarray(numbers))
                self._states["num_players"][rows] = numbers
            else:
                fresh = new_states(rules, numbers, len(rows))
                self._states["rules"][rows] = fresh["rules"]
                self._states["num_players"][rows] = fresh["num_players"]
                self._find_tables_again(rows)
            self._most_seats = int(self._states["num_players"].max(initial=0))
            for name in _SEAT_FIELDS:  # nothing stays of seats that there are no longer
                self._states[name][rows] = 0
        self._start(rows, np.asarray(matches))

    def _check_seats(self, rows: np.ndarray, numbers: np.ndarray) -> None:
        """The decks suffice for these numbers of seats."""
        rules = self._states["rules"][rows]
        spare = np.where(rules["exchange"] == 1, 3, 2)
        most = np.minimum((rules["deck_size"] - spare) // rules["hand_size"], MAX_SEATS)
        whole = np.issubdtype(numbers.dtype, np.integer)
        if not whole or (numbers < 2).any() or (numbers > most).any():
            raise ValueError(f"num_players = {numbers} is not allowed; allowed: 2 … {most}")

    def play(self, rows: Any = None) -> None:
        """Let bots play until every row waits for a decision from outside or is over."""
        rows = _distinct_rows(rows, self.size)
        self._go_on(rows, np.full(len(rows), NO_ACTION))

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
        rows = self._all if rows is None else _distinct_rows(rows, self.size)
        self._go_on(rows, self._checked(rows, actions, canonical, slots, MAX_SEATS))

    def _checked(
        self, rows: np.ndarray, actions: Any, canonical: bool, slots: bool, most_seats: int
    ) -> np.ndarray:
        """int64[N], to be used at once: the engine's actions for legal outside decisions."""
        actions = np.atleast_1d(np.asarray(actions))
        if actions.dtype.kind not in "iu" or actions.shape != rows.shape:
            raise ValueError(
                f"actions: {actions.dtype}{list(actions.shape)}; expected integers, one for each "
                f"of {len(rows)} rows"
            )
        actions = np.ascontiguousarray(actions, np.int64)
        if not (self._handed_out or slots or canonical) and self._most_seats <= most_seats:
            if first_doubtful(self._legal, rows, actions) < 0:
                return actions
        resolved = self._resolved[: len(rows)]
        bad = resolve_actions(
            self._states, rows, self.book.array, actions, resolved, canonical, slots, most_seats
        )
        if bad >= 0:
            seats = self._states["num_players"][rows[bad]]
            if seats > most_seats:
                raise ValueError(f"seen: {most_seats} seats; row {rows[bad]} has {seats}")
            legal = np.flatnonzero(self.action_mask(rows[bad], slots=slots, canonical=canonical)[0])
            raise ValueError(
                f"row {rows[bad]}: action {actions[bad]} is not legal for seat "
                f"{self.waiting[rows[bad]]}; legal are {legal.tolist()}"
            )
        return resolved

    def new_outputs(
        self,
        format: Literal["compact", "full"] = "full",
        *,
        size: int | None = None,
        slots: bool = False,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Arrays for `step` to write to.

        Args:
            format: of the observation, ``"full"`` or ``"compact"``.
            size: N, the number of rows; None: all rows.
            slots: the slot format of actions.

        Returns:
            uint8[N, observation_size(S)] or float32[N, COMPACT_SIZE]; int8[N, A].
        """
        size = self.size if size is None else size
        mask = np.zeros((size, NUM_SLOT_ACTIONS if slots else NUM_ACTIONS), np.int8)
        if format == "compact":
            return paged((size, COMPACT_SIZE), np.float32, np.zeros), mask
        if format != "full":
            raise ValueError(f"observation format {format!r}; allowed: 'full' or 'compact'")
        width = observation_size(int(self._states["num_players"].max()))
        return paged((size, width), np.uint8, np.zeros), mask

    def step(
        self,
        actions: Any,
        seen: np.ndarray,
        mask: np.ndarray,
        rows: Any = None,
        *,
        renew: bool = False,
        slots: bool = False,
        canonical: bool = False,
        payoffs: np.ndarray | None = None,
    ) -> Turn:
        """`act`, `observe` and `action_mask` at once, and the next deals: the quickest way to play.

        Args:
            actions: int[N], as for `act`.
            seen: uint8[N, observation_size(S)] or float32[N, COMPACT_SIZE], as from `new_outputs`:
                what the seats to act see after that is written here, every number of it. S may be
                any number that is enough for these rows.
            mask: int8[N, A], as from `new_outputs`: their legal actions, all zero where a match is
                over.
            rows: int[N], each once; None for all rows.
            renew: deal the next match of a row (its match index plus B) where one is over, until a
                decision comes from outside (or in a thousand matches none has).
            slots, canonical: as for `act` and `observe`, the same from step to step.
            payoffs: float64[N, 9]: where a match has ended its payoffs are written here, as
                `payoffs` gives them; the other rows of it stay.

        Returns:
            Where a match has ended, and who must act.

        Raises:
            ValueError: for an illegal action, a match that is over, or an array of another shape,
                type or order; no row has changed then, and nothing is written.
        """
        rows = self._all if rows is None else _distinct_rows(rows, self.size)
        size, most_seats = len(rows), MAX_SEATS
        sights: tuple[np.ndarray, np.ndarray]
        if getattr(seen, "dtype", None) == np.float32:
            sights = _NO_FULL, _output(seen, (size, COMPACT_SIZE), np.float32)
        else:
            most_seats = _SEATS_SEEN.get(seen.shape[-1] if np.ndim(seen) else 0, MAX_SEATS)
            sights = _output(seen, (size, observation_size(most_seats)), np.uint8), _NO_COMPACT
        _output(mask, (size, NUM_SLOT_ACTIONS if slots else NUM_ACTIONS), np.int8)
        paid = _NO_PAYOFFS if payoffs is None else _output(payoffs, (size, MAX_SEATS), np.float64)
        resolved = self._checked(rows, actions, canonical, slots, most_seats)
        turn = Turn(np.empty(size, bool), np.empty(size, np.int8))
        renewal = self.size if renew else 0
        self._run(rows, resolved, *sights, mask, paid, *turn, renewal, canonical, slots)
        return turn

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
        states = self._states
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
        states = self._states
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
            paid[:] = self._states["lives_payoff"][rows]
        else:
            payoff_rows(self._states, rows, 0 if kind == "match" else 2, paid)
        return paid

    @property
    def over(self) -> np.ndarray:
        """bool[B]: the match is over."""
        return self._states["phase"] == Phase.OVER

    @property
    def waiting(self) -> np.ndarray:
        """int8[B]: the seat that must act, NOBODY (−1) where the match is over."""
        return np.where(self.over, np.int8(NOBODY), self._states["seat"])

    @property
    def rounds(self) -> np.ndarray:
        """int32[B]: index of the round in progress."""
        return self._states["round_number"].copy()

    @property
    def winner(self) -> np.ndarray:
        """int8[B]: the winning seat, NOBODY (−1) without one."""
        return self._states["winner"].copy()

    @property
    def waiting_turn(self) -> np.ndarray:
        """int16[B]: turns that the seat to act has taken in this round."""
        return self._states["own_turns"][self._all, self._states["seat"]]

    @property
    def waiting_value(self) -> np.ndarray:
        """int16[B]: value of the hand of the seat to act, in half points."""
        out = np.empty(self.size, np.int16)
        value_rows(self._states, self._all, out)
        return out


def play_matches(
    rules: Rules,
    bots: Sequence[str],
    *,
    seed: int,
    matches: Sequence[int] | np.ndarray,
    threads: int | None = None,
) -> np.ndarray:
    """Play whole matches between kernel bots.

    Args:
        rules: the rules.
        bots: a bot's name for each seat.
        seed: what the cards derive from, with the match indices.
        matches: int64[M], match indices.
        threads: threads to spread them over, None for as many as this process may run at once (few
            matches are played by one); results do not depend on it.

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

    spread(work, len(matches), checked_threads(threads), LEAST_MATCHES)
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
