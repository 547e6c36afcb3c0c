"""What a seat sees of its table in plain words, for policies that know nothing of arrays.

A view is a dictionary of JSON values, and holds what the seat that is to act may know, nothing
more. Actions are names, as in match records: "draw_stock", "knock", "discard Kh".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thirtyone_env.actions import action_name
from thirtyone_env.cards import NAMES, NO_CARD, names_of, points
from thirtyone_env.game import legal_actions, value_of
from thirtyone_env.render.seen import seats_of, stock_size
from thirtyone_env.state import NOBODY, Phase

View = dict[str, Any]


def view_of(states: np.ndarray, row: int) -> View:
    """The view of the seat to act in one row of STATE[B]."""
    one = states[row : row + 1]
    seats, seat = int(one["num_players"][0]), int(one["seat"][0])
    phase = Phase(int(one["phase"][0]))
    hand = int(one["hands"][0, seat])
    whole = len(names_of(hand)) == one["rules"]["hand_size"][0]
    return {
        "phase": phase.name.lower(),
        "seat": seat,
        "num_players": seats,
        "round": int(one["round_number"][0]) + 1,
        "turn": int(one["own_turns"][0, seat]) + 1,
        "turns": int(one["turns"][0]),
        "dealer": int(one["dealer"][0]),
        "knocker": _seat(one["knocker"][0]),
        "lives": one["lives"][0, :seats].tolist(),
        "in_play": seats_of(one, "in_play"),
        "hand": names_of(hand),
        "value": points(value_of(one, hand)) if whole else None,
        "drawn": _card(one["drawn"][0]) if phase == Phase.DISCARD else None,
        "given": _card(one["given"][0]) if phase == Phase.TAKE else None,
        "upcard": _card(one["upcard"][0]),
        "table": names_of(int(one["table"][0])) if phase != Phase.DEALER else [],
        "stock": stock_size(one),
        "known": [names_of(int(one["known"][0, s] & one["hands"][0, s])) for s in range(seats)],
        "discards": [names_of(int(one["discards"][0, s])) for s in range(seats)],
        "legal": [action_name(action, phase) for action in legal_actions(one)],
    }


def _seat(seat: int) -> int | None:
    return None if seat == NOBODY else int(seat)


def _card(card: int) -> str | None:
    return None if card == NO_CARD else NAMES[int(card)]


def action_in(states: np.ndarray, row: int, name: object) -> int:
    """The action (card format) of a name, as the view of the row lists it.

    Raises:
        ValueError: if it is not among the legal ones.
    """
    one = states[row : row + 1]
    phase = Phase(int(one["phase"][0]))
    for action in legal_actions(one):
        if action_name(action, phase) == name:
            return action
    legal = ", ".join(action_name(action, phase) for action in legal_actions(one))
    raise ValueError(f"{name!r} is not legal; legal are {legal}")


KEYS: dict[str, str] = {
    "phase": "turn, discard (draw family), take (exchange family), dealer or buy_in",
    "seat": "the own seat, from 0",
    "num_players": "seats",
    "round": "number of the round, from 1",
    "turn": "number of the own turn in this round, from 1",
    "turns": "turns taken in this round by all",
    "dealer": "seat of the dealer",
    "knocker": "seat that has knocked, or null",
    "lives": "of each seat",
    "in_play": "seats that are still in the match",
    "hand": "own cards",
    "value": "their worth in points; null while there is a card too many",
    "drawn": "the card just drawn or taken, before the discard; else null",
    "given": "the card just given, before one is taken; else null",
    "upcard": "the open card (draw family) or null",
    "table": "the open cards (exchange family)",
    "stock": "cards in the stock",
    "known": "for each seat the cards of its hand that it took openly",
    "discards": "for each seat the cards that it laid open in this round",
    "legal": "names of the actions that are allowed now",
}
"""What every key of a view means."""
