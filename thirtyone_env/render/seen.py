"""What a viewer sees of a table, and the words for it; text and pictures both ask here.

A viewer is a seat, None for somebody who sees everything, or NOBODY for what everybody sees. Hands
that the rules lay open at the end of a round are open to everybody once it is settled
(`Phase.ROUND_OVER`, `Phase.OVER`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thirtyone_env.actions import DRAW_STOCK, KNOCK, PASS, SWAP_ALL, TAKE_UPCARD
from thirtyone_env.cards import NAMES, NO_CARD, cards_of
from thirtyone_env.game import value_of
from thirtyone_env.rules import PRESETS
from thirtyone_env.state import NOBODY, End, Phase

MOVES = {
    DRAW_STOCK: "drew a card",
    TAKE_UPCARD: "took the upcard",
    KNOCK: "knocked",
    PASS: "passed",
    SWAP_ALL: "swapped all",
}


def checked_viewer(states: np.ndarray, viewer: Any) -> int | None:
    """The viewer.

    Raises:
        ValueError: if there is no such seat.
    """
    seats = int(states["num_players"][0])
    whole = isinstance(viewer, int | np.integer) and not isinstance(viewer, bool)
    if viewer is not None and not (whole and NOBODY <= viewer < seats):
        allowed = f"None, {NOBODY} … {seats - 1}"
        raise ValueError(f"viewer = {viewer!r} is not allowed; allowed: {allowed}")
    return None if viewer is None else int(viewer)


def seats_of(states: np.ndarray, field: str) -> list[int]:
    """The seats in one of the sets of seats."""
    return [s for s in range(int(states["num_players"][0])) if int(states[field][0]) >> s & 1]


def is_settled(states: np.ndarray) -> bool:
    """Whether the round is over and judged."""
    return bool(states["phase"][0] > Phase.JUDGE)


def someone_acts(states: np.ndarray) -> bool:
    """Whether a seat is to decide something."""
    return bool(states["phase"][0] < Phase.JUDGE)


def holders(states: np.ndarray) -> list[int]:
    """The seats that hold a blitz; for settled rounds only."""
    least = int(states["rules"]["blitz_value"][0])
    hands = states["hands"][0]
    return [s for s in seats_of(states, "dealt_in") if value_of(states, int(hands[s])) >= least]


def _all_compared(states: np.ndarray) -> bool:
    """Whether the end of the round laid all hands open."""
    end, rules = End(int(states["end"][0])), states["rules"][0]
    if end in (End.BLITZ, End.DEALT_BLITZ):
        aces = int(rules["three_aces"])
        fire = aces > 62 and any(
            value_of(states, int(states["hands"][0, seat])) == aces for seat in holders(states)
        )
        return bool(rules["fire_lowest"] if fire else rules["blitz_lowest"])
    return end in (End.KNOCK, End.STOCK_OUT)


def _is_open(states: np.ndarray, seat: int, viewer: int | None) -> bool:
    """Whether the viewer sees all cards of a hand."""
    if viewer is None or viewer == seat:
        return True
    if not is_settled(states):
        return False
    blitz = states["end"][0] in (End.BLITZ, End.DEALT_BLITZ)
    return _all_compared(states) or (bool(blitz) and seat in holders(states))


def hand_seen(states: np.ndarray, seat: int, viewer: int | None) -> tuple[list[int], int]:
    """The cards of a hand that the viewer sees, sorted, and the number of the others."""
    hand = int(states["hands"][0, seat])
    seen = hand if _is_open(states, seat, viewer) else int(states["known"][0, seat]) & hand
    return cards_of(seen), bin(hand & ~seen).count("1")


def just_taken(states: np.ndarray, seat: int, viewer: int | None) -> int:
    """The card that a seat has taken and not yet answered with a discard, as far as it is seen."""
    if states["phase"][0] != Phase.DISCARD or seat != states["seat"][0]:
        return NO_CARD
    if viewer is None or viewer == seat:
        return int(states["drawn"][0])
    return int(states["taken"][0])


def just_given(states: np.ndarray, seat: int, viewer: int | None) -> int:
    """Exchange family: the card that a seat is about to give, as far as it is seen."""
    if states["phase"][0] != Phase.TAKE or seat != states["seat"][0]:
        return NO_CARD
    return int(states["given"][0]) if viewer is None or viewer == seat else NO_CARD


def move_word(states: np.ndarray, seat: int) -> str:
    """What a seat did last in this round; empty where it has done nothing yet."""
    action = int(states["moves"][0, seat]) - 1
    if states["phase"][0] == Phase.TAKE and seat == states["seat"][0]:
        return "gives a card"
    return MOVES.get(action, "swapped one") if action >= 0 else ""


def stock_size(states: np.ndarray) -> int:
    """Cards in the stock."""
    return int(states["deck_end"][0]) - int(states["top"][0])


_PRESET_OF = {rules.record.tolist(): name for name, rules in PRESETS.items()}


def rules_word(states: np.ndarray) -> str:
    """The preset's name, or what house rules are called."""
    return _PRESET_OF.get(states["rules"][0].tolist(), "house rules")


def _these(seats: list[int]) -> str:
    return ("seat " if len(seats) == 1 else "seats ") + ", ".join(map(str, seats))


def end_words(states: np.ndarray) -> str:
    """How the settled round ended."""
    end = End(int(states["end"][0]))
    if end == End.KNOCK:
        return f"seat {int(states['knocker'][0])} knocked"
    if end == End.BLITZ:
        return f"blitz by {_these(holders(states))}"
    if end == End.DEALT_BLITZ:
        return f"blitz dealt to {_these(holders(states))}"
    return {
        End.VOID: "stock out, no result",
        End.STOCK_OUT: "stock out, showdown",
        End.MAX_TURNS: "turn limit, no result",
    }.get(end, "")


def loss_words(states: np.ndarray) -> str:
    """Who lost lives in the settled round."""
    losses = states["losses"][0, : int(states["num_players"][0])]
    losers = np.flatnonzero(losses).tolist()
    if len(losers) > 2 and set(losers) == set(seats_of(states, "dealt_in")) - set(holders(states)):
        return "all others lose a life"
    if not losers:
        return "nobody loses a life"
    amount = "2 lives" if losses.max() > 1 else "a life"
    return f"{_these(losers)} {'loses' if len(losers) == 1 else 'lose'} {amount}"


def _verdict(states: np.ndarray) -> str:
    """What a match that is over came to."""
    winner = int(states["winner"][0])
    if winner != NOBODY:
        return f"Seat {winner} wins the match"
    if states["one_round"][0]:
        return "The round is over"
    return "No winner: the pot is shared"


def headline(states: np.ndarray) -> str:
    """Who is to do what, or what the end was."""
    phase, seat = Phase(int(states["phase"][0])), int(states["seat"][0])
    if phase == Phase.OVER:
        return _verdict(states)
    if phase >= Phase.JUDGE:
        words = end_words(states)
        return words[:1].upper() + words[1:]
    if phase == Phase.TURN:
        if states["knocker"][0] != NOBODY or states["dealt_blitz"][0]:
            return f"Seat {seat} has a last turn"
        return f"Seat {seat} to play"
    return {
        Phase.DISCARD: f"Seat {seat} to discard",
        Phase.TAKE: f"Seat {seat} to take a table card",
        Phase.DEALER: f"Seat {seat} keeps or refuses",
        Phase.BUY_IN: f"Seat {seat} buys in or declines",
    }[phase]


def _actor(states: np.ndarray) -> int:
    """The seat that acted last in this round; NOBODY before the first action."""
    phase, seat = states["phase"][0], int(states["seat"][0])
    if phase in (Phase.DISCARD, Phase.TAKE):
        return seat
    if phase != Phase.TURN or states["turns"][0] == 0:
        return NOBODY
    seats = int(states["num_players"][0])
    for step in range(1, seats + 1):
        before = (seat - step) % seats
        if states["own_turns"][0, before] and int(states["in_play"][0]) >> before & 1:
            return before
    return NOBODY


def detail(states: np.ndarray) -> str:
    """What happened last."""
    if is_settled(states):
        lost = loss_words(states)
        if states["phase"][0] == Phase.OVER:
            lost = f"{end_words(states)}; {lost}"
        return lost[:1].upper() + lost[1:]
    if states["phase"][0] == Phase.BUY_IN:
        return ""
    seat = _actor(states)
    if seat == NOBODY:
        return "A blitz was dealt" if states["dealt_blitz"][0] else ""
    words = f"Seat {seat} {move_word(states, seat)}"
    drew = int(states["moves"][0, seat]) - 1 in (DRAW_STOCK, TAKE_UPCARD)
    if drew and states["phase"][0] == Phase.TURN and states["upcard"][0] != NO_CARD:
        words += f", discarded {NAMES[int(states['upcard'][0])]}"
    knocker = int(states["knocker"][0])
    if knocker not in (NOBODY, seat):
        words += f"; seat {knocker} knocked"
    return words
