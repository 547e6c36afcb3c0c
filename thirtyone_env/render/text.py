"""A table as text: what one seat sees, or everything."""

from __future__ import annotations

import numpy as np

from thirtyone_env.actions import ACTION_WORDS, FIRST_CARD
from thirtyone_env.cards import NAMES, NO_CARD, names_of
from thirtyone_env.render import seen
from thirtyone_env.state import NOBODY, End, Phase

_COLOURS = {"c": "32", "d": "34", "h": "31", "s": "90", "X": "35"}
_HIDDEN = "▒▒"


def _card(name: str, colour: bool) -> str:
    if not colour or name == _HIDDEN:
        return name
    key = "X" if name[0] == "X" else name[1]
    return f"\x1b[{_COLOURS[key]}m{name}\x1b[0m"


def _cards(names: list[str], colour: bool) -> str:
    return " ".join(_card(name, colour) for name in names)


def _hand(states: np.ndarray, seat: int, viewer: int | None, colour: bool) -> str:
    """A hand as a viewer sees it: own or open cards by name, the rest as backs."""
    cards, backs = seen.hand_seen(states, seat, viewer)
    return _cards([NAMES[card] for card in cards] + [_HIDDEN] * backs, colour)


def _last_move(states: np.ndarray, seat: int) -> str:
    action = int(states["moves"][0, seat]) - 1
    if action < 0:
        return ""
    return "swap one" if action >= FIRST_CARD else ACTION_WORDS[action].replace("_", " ")


def _seat_line(states: np.ndarray, seat: int, viewer: int | None, colour: bool) -> str:
    lives = int(states["lives"][0, seat])
    in_play = bool(int(states["in_play"][0]) >> seat & 1)
    marks = []
    if seat == int(states["dealer"][0]):
        marks.append("dealer")
    if seat == int(states["knocker"][0]):
        marks.append("knocked")
    if in_play and lives == 0:
        marks.append("decider" if states["decider"][0] else "free ride")
    if not in_play:
        marks.append("out")
    move = _last_move(states, seat)
    turn = "▶" if seat == int(states["seat"][0]) and states["phase"][0] < Phase.JUDGE else " "
    hand = _hand(states, seat, viewer, colour)
    size = 3 * int(states["rules"]["hand_size"][0]) + 2
    pad = " " * max(0, size - len(_hand(states, seat, viewer, False)))
    notes = ", ".join(marks + ([f"last: {move}"] if move and in_play else []))
    return f"{turn} seat {seat}  {'♥' * lives:<4} {hand}{pad} {notes}".rstrip()


def render_text(states: np.ndarray, viewer: int | None = None, *, colour: bool = False) -> str:
    """The table as text.

    Args:
        states: STATE[1].
        viewer: the seat whose view it is; None shows everything, −1 what everybody sees.
        colour: suits in four colours (ANSI escapes).

    Returns:
        Several lines without a line's end.

    Raises:
        ValueError: for a viewer that there is not.
    """
    viewer = seen.checked_viewer(states, viewer)
    over = states["phase"][0] == Phase.OVER
    head = f"round {int(states['round_number'][0]) + 1}, turn {int(states['turns'][0]) + 1}"
    stock = int(states["deck_end"][0]) - int(states["top"][0])
    lines = [head if not over else "match over", f"  stock: {stock} cards"]
    if states["rules"]["exchange"][0]:
        lines.append(f"  table: {_cards(names_of(states['table'][0]), colour) or '–'}")
    else:
        upcard = int(states["upcard"][0])
        shown = _card(NAMES[upcard], colour) if upcard != NO_CARD else "–"
        lines.append(f"  upcard: {shown}")
    for seat in range(int(states["num_players"][0])):
        lines.append(_seat_line(states, seat, viewer, colour))
    if over:
        winner, end = int(states["winner"][0]), End(int(states["end"][0]))
        result = "no winner" if winner == NOBODY else f"seat {winner} wins"
        lines.append(f"  {result} (last round: {end.name.lower().replace('_', ' ')})")
    return "\n".join(lines)
