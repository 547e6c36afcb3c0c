"""One match from Python: the engine for search, situations and games with explicit chance.

A match is a ``STATE[1]`` array. The functions here change it in place; a copy is `clone`. They are
thin: the environment, the record writer and the solvers go through the same kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from thirtyone_env._jit import entry, kernel, put_flags
from thirtyone_env.actions import (
    NUM_ACTIONS,
    NUM_SLOT_ACTIONS,
    action_name,
    is_legal,
    legal_cards,
    legal_words,
)
from thirtyone_env.canonical import IDENTITY, suit_names
from thirtyone_env.cards import (
    BIT,
    NAMES,
    NO_CARD,
    NUM_CARDS,
    cards_of,
    hand_value,
    parse_cards,
    points,
    set_of,
    side_by_side,
)
from thirtyone_env.checks import checked_number, checked_seed, is_whole
from thirtyone_env.classes import whole_deck
from thirtyone_env.engine import apply, deal_next, run_on
from thirtyone_env.engine import step as step_kernel
from thirtyone_env.engine.deck import place_next, unsettled_cards
from thirtyone_env.engine.hidden import resample_hidden as resample_kernel
from thirtyone_env.engine.rounds import match_payoff, prepare_match, set_first_dealer
from thirtyone_env.equity import equity
from thirtyone_env.observation import (
    COMPACT_SIZE,
    engine_action,
    observation_size,
    observe_compact,
    observe_full,
    write_mask,
    write_slot_mask,
)
from thirtyone_env.rules import Rules, resolve_rules
from thirtyone_env.state import NOBODY, Phase, State, new_states, stock_set

DEAL = -1
ILLEGAL = -2
CHANGED = 16
RESULT_KINDS = ("match", "lives", "equity")


@kernel
def payoff(state: State, seat: int, kind: int) -> float:
    """A seat's payoff so far: match (0), lives (1) or equity (2)."""
    if kind == 0:
        return match_payoff(state, seat)
    if kind == 1:
        return np.float64(state.lives_payoff[seat])
    return equity(state, seat)


# --- entries: what Python calls ------------------------------------------------------------------


@entry
def prepare_states(states: Any, dealer: int) -> None:
    """Make a match ready for its first deal, by a given dealer or one drawn by lot."""
    state = states[0]
    prepare_match(state)
    if dealer != NOBODY:
        set_first_dealer(state, dealer)


@entry
def step_states(states: Any, action: int) -> bool:
    """Take a decision (or DEAL none) and deal on; False for an illegal one, nothing changed."""
    state = states[0]
    if action != DEAL:
        if not is_legal(state, action):
            return False
        step_kernel(state, action)
    else:
        run_on(state)
    return True


@entry
def apply_states(states: Any, action: int) -> None:
    """Take a legal decision and stop where it settles the round."""
    state = states[0]
    apply(state, action)


@entry
def turn(states: Any, action: int, kind: int, out: Any) -> int:
    """Take a decision (or DEAL none) and deal on.

    Returns ILLEGAL, with nothing changed; or the seat to act, plus CHANGED where payoffs may have
    changed: then the payoffs of all seats are in `out`.
    """
    state = states[0]
    before = np.int64(state.round_number)
    asking = state.pending != 0
    if action != DEAL:
        if not is_legal(state, action):
            return ILLEGAL
        step_kernel(state, action)
    else:
        run_on(state)
    settled = before != state.round_number or asking or state.pending != 0
    if not settled and state.phase != Phase.OVER and action != DEAL:
        return int(state.seat)
    for seat in range(state.num_players):
        out[seat] = payoff(state, seat, kind)
    return CHANGED + int(state.seat)


@entry
def look(states: Any, seat: int, full: Any, mask: Any, canonical: bool, slots: bool) -> None:
    """Full observation of a seat and, if it is to act, its mask (else the mask stays)."""
    state = states[0]
    naming = suit_names(state, seat) if canonical else IDENTITY
    observe_full(state, seat, naming, full, 0)
    if state.seat == seat and state.phase < Phase.JUDGE:
        if slots:
            write_slot_mask(state, naming, mask, 0)
        else:
            write_mask(state, naming, mask, 0)


@entry
def look_compact(states: Any, seat: int, out: Any) -> None:
    """Compact observation of a seat."""
    state = states[0]
    observe_compact(state, seat, out, 0)


@entry
def look_at_all(states: Any, out: Any) -> None:
    """The hands of all seats and the stock, one flag a card; other rows stay."""
    state = states[0]
    for seat in range(state.num_players):
        put_flags(out, seat, 0, side_by_side(np.int64(state.hands[seat])), NUM_CARDS)
    put_flags(out, state.num_players, 0, side_by_side(stock_set(state)), NUM_CARDS)


@entry
def legal_sets(states: Any, out: Any) -> None:
    """The legal named actions as bits, and the legal cards as a set."""
    state = states[0]
    out[0] = legal_words(state) if state.phase < Phase.JUDGE else 0
    out[1] = legal_cards(state) if state.phase < Phase.JUDGE else 0


@entry
def translate(states: Any, action: int, canonical: bool, slots: bool) -> int:
    """The engine's action for an agent's action of the seat to act; −1 for none."""
    state = states[0]
    naming = suit_names(state, np.int64(state.seat)) if canonical else IDENTITY
    return engine_action(state, action, naming, slots)


@entry
def deal_first(states: Any) -> None:
    """Deal the first round only, even where the deal ends it."""
    state = states[0]
    deal_next(state)


@entry
def results(states: Any, kind: int, out: Any) -> None:
    """Payoffs of all seats so far: 0 match, 1 lives, 2 equity."""
    state = states[0]
    for seat in range(state.num_players):
        out[seat] = payoff(state, seat, kind)


@entry
def resample_states(states: Any, seat: int, stream: np.uint64) -> bool:
    """Deal anew what a seat cannot know."""
    state = states[0]
    return resample_kernel(state, seat, stream)


@entry
def place_card(states: Any, card: int, depth: int) -> bool:
    """Put a card of the stock some places below its top."""
    state = states[0]
    return place_next(state, card, depth)


@entry
def decide_states(states: Any, action: int, lots: Any) -> bool:
    """Take a decision up to the end of its round, noting the lots; False for an illegal one."""
    state = states[0]
    if not is_legal(state, action):
        return False
    pool, settled = unsettled_cards(state), np.int64(state.shuffled)
    reshuffles = np.int64(state.reshuffles)
    apply(state, action)
    lots[2] = state.reshuffles - reshuffles
    if lots[2]:
        pool, settled = np.int64(0), np.int64(0)
        for place in range(state.deck_end):
            pool |= np.int64(BIT[state.deck[place]])
    lots[0] = np.int64(state.shuffled) - settled
    lots[1] = pool
    return True


@entry
def deal_laid(states: Any, size: int, settled: int) -> None:
    """Deal the next round from the first `size` places of the deck, `settled` of them in order."""
    state = states[0]
    state.stacked = size
    deal_next(state)
    state.deck_end = size
    state.shuffled = max(np.int64(state.top), settled)


@entry
def value_of(states: Any, hand: int) -> int:
    """Value of a hand under the rules of a state."""
    state = states[0]
    return hand_value(hand, state.rules)


# --- the Python side -----------------------------------------------------------------------------


def _checked_lives(rules: Rules, num_players: int, lives: Sequence[int]) -> list[int]:
    least = 0 if rules.free_ride else 1
    given = list(lives) if isinstance(lives, Sequence | np.ndarray) else []
    good = len(given) == num_players and all(is_whole(v) and least <= v <= 9 for v in given)
    if not good:
        raise ValueError(
            f"lives = {lives!r} is not allowed; allowed: {num_players} numbers, {least} … 9"
            + (" (0: on the free ride)" if rules.free_ride else "")
        )
    return [int(v) for v in given]


def _checked_seat(states: np.ndarray, seat: Any) -> int:
    return checked_number("seat", seat, 0, int(states["num_players"][0]) - 1)


def checked_deck(rules: Rules, deck: str | Sequence[str | int]) -> list[int]:
    """The cards of a deck or a part of it, given by names or numbers.

    Raises:
        ValueError: for unknown or double cards, or some that the rules' deck has not.
    """
    if not isinstance(deck, Iterable):
        raise ValueError(f"deck = {deck!r}: card names are needed, in dealing order")
    given = deck if isinstance(deck, str) else list(deck)
    if isinstance(given, list) and given and all(is_whole(card) for card in given):
        cards = [int(card) for card in given]
        if len(set(cards)) < len(cards) or not all(0 <= card < len(NAMES) for card in cards):
            raise ValueError(f"deck = {deck!r}: distinct cards are needed, 0 … {len(NAMES) - 1}")
    else:
        cards = parse_cards(given)  # type: ignore[arg-type]
    whole = whole_deck(rules)
    strange = [NAMES[card] for card in cards if card not in whole]
    if strange:
        raise ValueError(f"deck: {', '.join(strange)} is not in a deck of {rules.deck_size} cards")
    return cards


def prepare(
    rules: Rules | str | Mapping[str, Any],
    num_players: int,
    *,
    seed: int = 0,
    match: int = 0,
    dealer: int | None = None,
    lives: Sequence[int] | None = None,
    deck: str | Sequence[str | int] | None = None,
    one_round: bool = False,
) -> np.ndarray:
    """A match before its first deal; `step` it with `DEAL`, or use `new_match`.

    Args:
        rules: the rules, or what names them (see `resolve_rules`).
        num_players: seats.
        seed, match: what the cards derive from, 0 … 2**64 − 1 and 0 … 2**63 − 1.
        dealer: seat of the first dealer; None: drawn by lot.
        lives: lives of each seat; None: as the rules say. 0 where the rules have a free ride.
        deck: cards in dealing order that the first round begins with, all or a prefix; the rest
            is shuffled.
        one_round: the match ends after its first round.

    Returns:
        STATE[1].

    Raises:
        ValueError: for a value that is not allowed.
    """
    rules = resolve_rules(rules)
    states = new_states(rules, rules.check_seats(num_players), 1)
    states["seed"] = checked_seed(seed)
    states["match"] = checked_number("match", match, 0, (1 << 63) - 1)
    states["one_round"] = bool(one_round)
    if dealer is not None:
        dealer = checked_number("dealer", dealer, 0, num_players - 1)
    prepare_states(states, NOBODY if dealer is None else dealer)
    if lives is not None:
        given = _checked_lives(rules, num_players, lives)
        states["lives"][0, :num_players] = given
        states["rode"] = sum(1 << seat for seat, number in enumerate(given) if number == 0)
    if deck is not None:
        cards = checked_deck(rules, deck)
        states["deck"][0, : len(cards)] = cards
        states["stacked"] = len(cards)
    return states


def new_match(
    rules: Rules | str | Mapping[str, Any], num_players: int, **options: Any
) -> np.ndarray:
    """A match up to its first decision; options as for `prepare`."""
    states = prepare(rules, num_players, **options)
    step_states(states, DEAL)
    return states


def is_over(states: np.ndarray) -> bool:
    """Whether the match is over."""
    return bool(states["phase"][0] == Phase.OVER)


def legal_mask(states: np.ndarray, *, slots: bool = False) -> np.ndarray:
    """bool[A]: the legal actions of the seat to act (A = 65, or 14 in the slot format)."""
    mask = np.zeros((1, NUM_SLOT_ACTIONS if slots else NUM_ACTIONS), np.int8)
    full = np.zeros((1, observation_size(int(states["num_players"][0]))), np.uint8)
    look(states, int(states["seat"][0]), full, mask, False, slots)
    return mask[0].astype(bool)


def legal_actions(states: np.ndarray) -> list[int]:
    """The legal actions of the seat to act, ascending (card format)."""
    sets = np.zeros(2, np.int64)
    legal_sets(states, sets)
    return [a for a in range(9) if sets[0] >> a & 1] + [9 + c for c in cards_of(sets[1])]


def legal_names(states: np.ndarray) -> list[str]:
    """Names of the legal actions of the seat to act."""
    return [action_name(action, int(states["phase"][0])) for action in legal_actions(states)]


def _code(action: Any) -> int:
    """An action as an int that the kernels refuse where it is no action."""
    if not is_whole(action):
        raise ValueError(f"action {action!r} is not a whole number in 0 … {NUM_ACTIONS - 1}")
    return int(action) if 0 <= action < NUM_ACTIONS else ILLEGAL


def _refusal(states: np.ndarray, action: int) -> ValueError:
    if is_over(states):
        return ValueError(f"action {action}: the match is over")
    return ValueError(
        f"action {action} is not legal for seat {int(states['seat'][0])}; "
        f"legal: {', '.join(legal_names(states))}"
    )


def step(states: np.ndarray, action: int) -> None:
    """Take a decision of the seat to act (card format) and deal on to the next one.

    Raises:
        ValueError: for an illegal action, naming the legal ones; the state is untouched.
    """
    if not step_states(states, _code(action)):
        raise _refusal(states, action)


class Lots(NamedTuple):
    """What chance did in a decision: it turned up some cards, in order, out of a pool."""

    number: int
    """Cards that were not settled before; 0: the decision left nothing to chance."""
    pool: int
    """The set that they came from, every order of it as likely."""
    reshuffled: bool
    """The pool was made by the decision itself."""


def decide(states: np.ndarray, action: int) -> Lots:
    """Take a decision up to the end of its round, without dealing the next one.

    Where the answer says that cards came by lot, other cards of the pool would have been as
    likely: `lay_cards` on a copy made before, and decide there.

    Raises:
        ValueError: for an illegal action, naming the legal ones; the state is untouched.
    """
    lots = np.zeros(3, np.int64)
    if not decide_states(states, _code(action), lots):
        raise _refusal(states, action)
    return Lots(int(lots[0]), int(lots[1]), bool(lots[2]))


def lay_cards(states: np.ndarray, cards: Sequence[int], *, reshuffled: bool = False) -> None:
    """Settle the next cards that chance turns up: those of the stock, or of a coming reshuffle.

    Raises:
        ValueError: for a card that is not in the stock; the cards before it have been placed.
    """
    if reshuffled:
        states["deck"][0, : len(cards)] = cards
        states["stacked"] = len(cards)
        return
    settled = int(states["shuffled"][0]) - int(states["top"][0])
    for depth, card in enumerate(cards, settled):
        if not place_card(states, card, depth):
            raise ValueError(f"{NAMES[card]} is not in the stock below the cards already placed")


def deal_cards(states: np.ndarray, cards: Sequence[int], settled: int) -> None:
    """Deal the next round, even where the deal ends it, from cards that are the whole deck.

    Args:
        states: STATE[1] between two rounds.
        cards: the deck in dealing order; it may be shorter than the deck of the rules.
        settled: how many of them lie in order; the rest is shuffled as it is drawn.
    """
    states["deck"][0, : len(cards)] = cards
    deal_laid(states, len(cards), settled)


def clone(states: np.ndarray) -> np.ndarray:
    """A copy that goes on independently, with the same cards to come; equal to the byte."""
    return states.view(np.uint8).copy().view(states.dtype)


def resample_hidden(states: np.ndarray, seat: int, rng: np.random.Generator) -> None:
    """Deal anew everything that a seat cannot know, and replace the random streams, in place.

    Uniform over what the public history allows. The seat's own policy stream stays.

    Args:
        states: STATE[1].
        seat: the observer.
        rng: where the new cards come from.

    Raises:
        ValueError: for a seat that there is not.
        RuntimeError: where a million deals met no possible one.
    """
    seat = _checked_seat(states, seat)
    if not resample_states(states, seat, np.uint64(rng.integers(1 << 63))):
        raise RuntimeError(f"no possible deal found for seat {seat} in a million tries")


def settled_round(states: np.ndarray, action: int) -> np.ndarray | None:
    """The round that a decision (or DEAL) of a match has ended, as it was when it was settled.

    Args:
        states: STATE[1] before the decision; it stays as it is.
        action: a legal action, or DEAL.

    Returns:
        STATE[1] of the last round before the one that is dealt next; None where none ended.
    """
    states, settled = clone(states), None
    if action != DEAL:
        apply_states(states, action)
    while states["phase"][0] == Phase.ROUND_OVER:
        settled = clone(states)
        deal_first(states)
    return settled


def set_next_cards(states: np.ndarray, cards: str | Sequence[str]) -> None:
    """Say which cards the stock yields next, first card first.

    Args:
        states: STATE[1].
        cards: names, such as ``"Kh 2s"``.

    Raises:
        ValueError: for a card that is not in the stock; the cards before it have been placed.
    """
    for depth, card in enumerate(parse_cards(cards)):
        if not place_card(states, card, depth):
            raise ValueError(f"{NAMES[card]} is not in the stock below the cards already placed")


def payoffs(states: np.ndarray, kind: Literal["match", "lives", "equity"] = "match") -> np.ndarray:
    """float64[S]: payoffs of all seats so far; differences are rewards."""
    if kind not in RESULT_KINDS:
        raise ValueError(f"payoff {kind!r}; allowed: {', '.join(RESULT_KINDS)}")
    out = np.zeros(int(states["num_players"][0]))
    results(states, RESULT_KINDS.index(kind), out)
    return out


def observe(
    states: np.ndarray,
    seat: int,
    format: Literal["full", "compact"] = "full",
    *,
    canonical: bool = False,
) -> np.ndarray:
    """What a seat sees: uint8[observation_size(S)], or float32[COMPACT_SIZE].

    Raises:
        ValueError: for a seat or a format that there is not.
    """
    seat = _checked_seat(states, seat)
    if format not in ("full", "compact"):
        raise ValueError(f"observation format {format!r}; allowed: 'full' or 'compact'")
    if format == "compact":
        out = np.zeros((1, COMPACT_SIZE), np.float32)
        look_compact(states, seat, out)
        return out[0]
    full = np.zeros((1, observation_size(int(states["num_players"][0]))), np.uint8)
    look(states, seat, full, np.zeros((1, NUM_ACTIONS), np.int8), canonical, False)
    return full[0]


def hand_points(cards: str | Sequence[str], rules: Rules | str | Mapping[str, Any]) -> float:
    """What a hand is worth, in points.

    Args:
        cards: names, such as ``["Kh", "9h", "4c"]``; as many as the rules deal.
        rules: a `Rules`, a preset's name or a mapping of fields.

    Raises:
        ValueError: for unknown or double cards, or a wrong number of them.
    """
    resolved = resolve_rules(rules)
    hand = parse_cards(cards)
    if len(hand) != resolved.hand_size:
        raise ValueError(f"{len(hand)} cards; a hand has {resolved.hand_size} under these rules")
    checked_deck(resolved, hand)
    states = new_states(resolved, resolved.min_players, 1)
    return float(points(value_of(states, set_of(hand))))


__all__ = [
    "DEAL",
    "NO_CARD",
    "Lots",
    "clone",
    "deal_cards",
    "decide",
    "hand_points",
    "is_over",
    "lay_cards",
    "legal_actions",
    "legal_mask",
    "legal_names",
    "new_match",
    "observe",
    "payoffs",
    "prepare",
    "resample_hidden",
    "set_next_cards",
    "step",
    "whole_deck",
]
