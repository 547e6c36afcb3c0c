"""Roll-outs: what an action is worth when the hidden cards are dealt anew and a bot plays on.

One decision is judged by N deals. Each deals anew everything that the seat cannot know, uniformly
over what the public history allows (`engine.hidden`), lets the others have drawn as often as they
have (hands grow better from turn to turn; to take them for just dealt makes a player knock too
early), and plays every legal action on from there with one bot on all seats, to the end of the
round or of the match. All actions meet the same deals,
so that differences between them carry little noise. This is determinised search of depth one, also
called flat Monte Carlo with hindsight sampling (Ginsberg, "GIB", 1999); its bot knows no more than
a player does, which spares it most of the strategy fusion of deeper searches.

Randomness comes from the seat's own stream and the number of decisions taken, so that a situation
that looks the same is judged the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from thirtyone_env._jit import entry, kernel
from thirtyone_env.bots import Book, bot_action, controller
from thirtyone_env.cards import BIT, count, hand_value, lowest
from thirtyone_env.engine import apply, run_on
from thirtyone_env.engine.hidden import resample_hidden
from thirtyone_env.game import RESULT_KINDS, legal_actions, payoff
from thirtyone_env.rng import USE_POLICY, USE_SEARCH, advance_stream, below, derive
from thirtyone_env.state import STATE, Phase, State, is_in, stock_left
from thirtyone_env.threads import spread

Work = Callable[[int, int], None]
Payoff = Literal["match", "lives", "equity"]
Belief = Literal["drawn", "dealt"]
BELIEFS = ("drawn", "dealt")
CHUNK = 64
"""Deals that are played between two looks at the clock."""
BOT = "threshold:27"
"""Who plays on unless another bot is named."""
MARGIN = 2.0
"""Standard errors by which an action must be better for a search to leave its bot's choice."""
NO_DEAL = np.nan
"""Payoff of a deal for which no possible one was found."""


@kernel
def play_on(state: State, book: Any, action: int, to_the_end: bool) -> None:
    """Take an action and let the bots of all seats play to the end of the round, or the match."""
    while True:
        apply(state, action)
        if state.phase == Phase.ROUND_OVER:
            if not to_the_end:
                return
            run_on(state)
        if state.phase == Phase.OVER:
            return
        action = bot_action(state, book)


@kernel
def with_card(state: State, seat: int, card: int) -> int:
    """The seat's hand with a card for the hidden one that it is best without; as it is if none."""
    hand = np.int64(state.hands[seat])
    best, found = hand_value(hand, state.rules), hand
    rest = hand & ~np.int64(state.known[seat])
    while rest:
        low = rest & -rest
        rest ^= low
        other = hand ^ low | np.int64(BIT[card])
        value = hand_value(other, state.rules)
        if best < value < state.rules.blitz_value:
            best, found = value, other
    return found


@kernel
def improve(state: State, seat: int, stream: np.uint64) -> None:
    """Draw family: let a seat have drawn as often as it has, keeping what made its hand better.

    Cards that it has taken openly stay. What it gives up goes back to the stock.
    """
    draws = np.int64(state.own_turns[seat]) - count(np.int64(state.known[seat]))
    draws -= seat == state.knocker  # whose last turn was the knock
    if state.rules.exchange or count(np.int64(state.hands[seat])) > state.rules.hand_size:
        return
    for _ in range(min(draws, stock_left(state))):
        stream = advance_stream(stream)
        place = np.int64(state.top) + below(stream, stock_left(state))
        card = np.int64(state.deck[place])
        hand, better = np.int64(state.hands[seat]), with_card(state, seat, card)
        if better != hand:
            state.deck[place] = lowest(hand & ~better)
            state.hands[seat] = better


@kernel
def imagine(state: State, seat: int, deal: int, bot: Any, drawn: bool) -> bool:
    """Deal anew what the seat cannot know and let one bot sit everywhere."""
    start = state.policy_streams[seat]
    stream = derive(start, np.int64(state.decisions), deal, USE_SEARCH)
    found = resample_hidden(state, seat, stream)
    state.policy_streams[seat] = derive(stream, 0, 0, USE_POLICY)
    for other in range(state.num_players):
        state.controllers[other] = bot
        if drawn and other != seat and is_in(state.in_play, other):
            improve(state, other, derive(stream, 1, other, USE_SEARCH))
    return found


@entry
def roll_out(
    states: Any,
    row: int,
    scratch: Any,
    book: Any,
    bot: Any,
    actions: Any,
    kind: int,
    drawn: bool,
    out: Any,
    first: int,
    after: int,
) -> None:
    """Play the actions on from the deals first … after; payoffs of the seat to act, by action."""
    seat = np.int64(states[row].seat)
    for deal in range(first, after):
        scratch[0] = states[row]
        imagined = scratch[0]
        found = imagine(imagined, seat, deal, bot[0], drawn)
        for place in range(len(actions)):
            scratch[1] = scratch[0]
            state = scratch[1]
            play_on(state, book, np.int64(actions[place]), kind == 0)
            out[place, deal] = payoff(state, seat, kind) if found else NO_DEAL


@dataclass(frozen=True)
class Judgement:
    """What each legal action of a seat is worth."""

    actions: tuple[int, ...]
    """In the card format, ascending."""
    payoffs: np.ndarray
    """float64[A, N]: by action and deal; the same deal for all actions."""

    @property
    def means(self) -> np.ndarray:
        """float64[A]: the mean payoff of each action."""
        return self.payoffs.mean(axis=1)

    @property
    def best(self) -> int:
        """The action with the highest mean; of equals the first."""
        return self.actions[int(np.argmax(self.means))]

    @property
    def errors(self) -> np.ndarray:
        """float64[A]: standard errors of the means."""
        return self.payoffs.std(axis=1, ddof=1) / np.sqrt(self.payoffs.shape[1])

    @property
    def behind(self) -> np.ndarray:
        """float64[A]: how much each action is worth less than the best one, 0 for that."""
        return self.means.max() - self.means

    def better_than(self, usual: int, margin: float) -> int:
        """The action that surely improves most on a usual one; that one where none does.

        An action's gain is its mean payoff above the usual action's, deal by deal, less `margin`
        standard errors. Without a margin the luckiest of many like actions is taken, and a search
        of few deals plays worse than its bot.
        """
        gains = self.payoffs - self.payoffs[self.actions.index(usual)]
        errors = gains.std(axis=1, ddof=1) / np.sqrt(gains.shape[1])
        sure = gains.mean(axis=1) - margin * errors
        place = int(np.argmax(sure))
        return self.actions[place] if sure[place] > 0 else usual


def natural_payoff(states: np.ndarray, row: int) -> Payoff:
    """What a seat plays for: lives in a single round, the chance to win by lives in a match."""
    return "lives" if states["one_round"][row] else "equity"


def judge(
    states: np.ndarray,
    row: int = 0,
    *,
    deals: int = 1_000,
    bot: str = BOT,
    payoff: Payoff | None = None,
    belief: Belief = "drawn",
    seconds: float | None = None,
    threads: int = 1,
) -> Judgement:
    """What each legal action of the seat to act is worth.

    Args:
        states: STATE[B]; they stay as they are, and nothing hidden in them matters.
        row: which of them.
        deals: N, at least 2.
        bot: a kernel bot, which plays on at every seat.
        payoff: ``"lives"``: the swing of this round's lives; ``"equity"``: the chance to win the
            match by the lives after this round; ``"match"``: the payoff of the match, played to
            its end. None: lives for a single round, equity for a match.
        belief: draw family: ``"drawn"``: the others have drawn as often as they have and kept
            what made their hands better; ``"dealt"``: their hidden cards are as likely as any.
        seconds: fewer deals where these would take longer; 128 are played in any case. A time
            limit makes results depend on the machine: for play at a table only.
        threads: threads to spread the deals over; results do not depend on it.

    Raises:
        ValueError: for a bot that decides outside, a payoff or number that is not allowed, or a
            match in which nobody is to act.
        RuntimeError: where no deal is found that the public history allows.
    """
    kind = payoff if payoff is not None else natural_payoff(states, row)
    if kind not in RESULT_KINDS:
        raise ValueError(f"payoff {payoff!r}; allowed: {', '.join(RESULT_KINDS)}")
    if belief not in BELIEFS:
        raise ValueError(f"belief {belief!r}; allowed: {', '.join(BELIEFS)}")
    if deals < 2:
        raise ValueError(f"deals = {deals} is not allowed; allowed: 2 or more")
    if states["phase"][row] >= Phase.JUDGE:
        raise ValueError(f"the match of row {row} is over; nobody is to act")
    book = Book()
    playing = continuation(bot, states["rules"][row], book)
    actions = np.array(legal_actions(states[row : row + 1]))
    out = np.empty((len(actions), deals))

    def work(first: int, after: int) -> None:
        scratch = np.zeros(4, STATE)[1:3]  # no cache line shared with other threads
        number, drawn = RESULT_KINDS.index(kind), belief == "drawn"
        roll_out(
            states, row, scratch, book.array, playing, actions, number, drawn, out, first, after
        )

    done = _in_time(work, deals, seconds, threads)
    paid = out[:, :done]
    if not np.isfinite(paid).all():
        raise RuntimeError(f"no possible deal found for seat {states['seat'][row]}")
    start = states["lives_payoff"][row, states["seat"][row]] if kind == "lives" else 0.0
    return Judgement(tuple(actions.tolist()), paid - start)


def continuation(bot: str, rules: Any = None, book: Book | None = None) -> np.ndarray:
    """CONTROLLER[1] of the bot that plays on; rules and book as for `bots.controller`.

    Raises:
        ValueError: for an unknown bot, or one that decides outside.
    """
    found = controller(bot, rules, book)
    if found["ask"]:
        raise ValueError(f"bot {bot!r} decides outside; name a kernel bot")
    return found.reshape(1)


def _in_time(work: Work, deals: int, seconds: float | None, threads: int) -> int:
    """Do the work for all deals, or for as many as there is time for; how many."""
    if seconds is None:
        spread(work, deals, threads, CHUNK)
        return deals
    end, done = time.monotonic() + seconds, 0
    while done < deals and (done < 2 * CHUNK or time.monotonic() < end):
        more = min(CHUNK * threads, deals - done)
        spread(partial(_shifted, work, done), more, threads, CHUNK)
        done += more
    return done


def _shifted(work: Work, start: int, first: int, after: int) -> None:
    work(start + first, start + after)


SEARCH_FORM = "search:N[,bot=BOT][,margin=X][,payoff=lives|equity|match][,belief=drawn|dealt]"
"""How search is named."""


def is_search(name: object) -> bool:
    """Whether a name asks for a search."""
    return isinstance(name, str) and name.partition(":")[0] == "search"


def search_options(spec: str) -> dict[str, Any]:
    """Deals, bot, margin and payoff of a name such as ``"search:200,bot=threshold:27"``.

    Raises:
        ValueError: for a name that is not of this form.
    """
    _, _, text = spec.partition(":")
    number, _, rest = text.partition(",")
    options: dict[str, Any] = {"bot": BOT, "margin": MARGIN}
    if number.isdigit() and 2 <= int(number) <= 1_000_000:
        options["deals"] = int(number)
    for part in _parts(rest):
        key, _, value = part.partition("=")
        if key == "bot" and value:
            continuation(value)
            options["bot"] = value
        elif key == "payoff" and value in RESULT_KINDS:
            options["payoff"] = value
        elif key == "belief" and value in BELIEFS:
            options["belief"] = value
        elif key == "margin" and value.replace(".", "", 1).isdigit():
            options["margin"] = float(value)
        else:
            options.pop("deals", None)
    if "deals" not in options:
        raise ValueError(f"bot {spec!r}: search is named {SEARCH_FORM}, N from 2 to 1,000,000")
    return options


def _parts(text: str) -> Sequence[str]:
    """The options, split where a comma begins the next key; a bot's own commas stay."""
    found: list[str] = []
    for part in text.split(",") if text else []:
        own = part.startswith(("bot=", "margin=", "payoff=", "belief="))
        if found and not own and found[-1].startswith("bot="):
            found[-1] += f",{part}"
        else:
            found.append(part)
    return found
