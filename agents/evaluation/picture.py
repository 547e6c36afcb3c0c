"""A table, and what happens at it, for a terminal.

A viewer is a seat, None for somebody who sees all cards, or NOBODY (−1) for what everybody sees.
Nothing that the viewer may not see is drawn or told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import rich.box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from agents.evaluation.live import Moment
from thirtyone_env.cards import NAMES, NO_CARD, names_of, points, set_of
from thirtyone_env.game import value_of
from thirtyone_env.record import Json
from thirtyone_env.render import seen

SYMBOLS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
COLOURS = {"c": "green", "d": "blue", "h": "red", "s": "default", "X": "magenta"}
BAR = 12
"""Characters of a full bar of probability."""
EVENTS_SHOWN = 8


def card_text(name: str) -> Text:
    """A card in the colour of its suit."""
    if name[0] == "X":
        return Text(f"{name}", style=f"bold {COLOURS['X']}")
    rank = "10" if name[0] == "T" else name[0]
    return Text(f"{rank}{SYMBOLS[name[1]]}", style=f"bold {COLOURS[name[1]]}")


def cards_text(names: Sequence[str], backs: int = 0) -> Text:
    """Cards side by side, hidden ones as backs."""
    return Text(" ").join([card_text(name) for name in names] + [Text("▒▒", "dim")] * backs)


def who(seat: int, names: Sequence[str | None], viewer: int | None) -> str:
    """A seat with the name of whoever sits there."""
    if viewer == seat and names[seat] is None:
        return "you"
    return f"{names[seat] or 'a person'} ({seat})"


def table_picture(
    states: np.ndarray, names: Sequence[str | None], viewer: int | None = None
) -> Panel:
    """The table: stock, open cards, and a line a seat.

    Args:
        states: STATE[1].
        names: of the policies, None for a person.
        viewer: whose view it is.
    """
    viewer = seen.checked_viewer(states, viewer)
    seats = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    for column in ("mark", "name", "lives", "cards", "worth", "notes"):
        seats.add_column(column, justify="right" if column == "worth" else "left", no_wrap=True)
    for seat in range(int(states["num_players"][0])):
        seats.add_row(*_seat_cells(states, seat, names, viewer))
    title = f"{seen.rules_word(states)}, round {int(states['round_number'][0]) + 1}"
    return Panel(
        Group(_middle(states), Text(), seats),
        title=title,
        title_align="left",
        box=rich.box.ROUNDED,
        border_style="dim",
        expand=False,
        padding=(0, 1),
    )


def _middle(states: np.ndarray) -> Text:
    line = Text(f"stock {seen.stock_size(states)} cards", style="dim")
    line.append("    ")
    if states["rules"]["exchange"][0]:
        line.append("table ", style="dim")
        line.append_text(cards_text(names_of(states["table"][0])))
    elif states["upcard"][0] != NO_CARD:
        line.append("upcard ", style="dim")
        line.append_text(card_text(NAMES[int(states["upcard"][0])]))
    else:
        line.append("no upcard", style="dim")
    return line


def _seat_cells(
    states: np.ndarray, seat: int, names: Sequence[str | None], viewer: int | None
) -> list[Text]:
    lives = int(states["lives"][0, seat])
    in_play = bool(int(states["in_play"][0]) >> seat & 1)
    acts = seat == int(states["seat"][0]) and seen.someone_acts(states)
    cards, backs = seen.hand_seen(states, seat, viewer)
    marks = [
        (seat == int(states["dealer"][0]), "dealer"),
        (seat == int(states["knocker"][0]), "knocked"),
        (in_play and lives == 0, "decider" if states["decider"][0] else "free ride"),
        (not in_play, "out"),
    ]
    words = [word for there, word in marks if there]
    last = seen.move_word(states, seat)
    if last and last != "knocked":
        words.append(last)
    style = "bold" if acts else ("dim" if not in_play else "")
    return [
        Text("▶" if acts else " ", "bold yellow"),
        Text(who(seat, names, viewer), style),
        Text("♥" * lives, "red"),
        cards_text([NAMES[card] for card in cards], backs),
        Text(_worth(states, cards) if not backs else "", style),
        Text(", ".join(words), "dim"),
    ]


def _worth(states: np.ndarray, cards: Sequence[int]) -> str:
    """The value of a whole hand; of one with a card too many there is none."""
    if len(cards) != states["rules"]["hand_size"][0]:
        return ""
    return f"{points(value_of(states, set_of(cards))):g}"


def chances_picture(chances: Mapping[str, Mapping[str, float]]) -> RenderableType:
    """Probabilities of actions as bars, the likeliest first."""
    view = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    for _ in range(4):
        view.add_column(no_wrap=True)
    for name, found in chances.items():
        for place, (action, chance) in enumerate(found.items()):
            bar = Text("█" * round(BAR * chance), "cyan")
            bar.append("·" * (BAR - len(bar)), "dim")
            view.add_row(
                Text("" if place else name, "dim"), bar, f"{100 * chance:3.0f} %", words_of(action)
            )
    return view


# --- in words ------------------------------------------------------------------------------------


def words_of(action: str) -> str:
    """The name of an action as people say it: "draw_stock" is "draw stock"."""
    return action.replace("_", " ")


def sees(viewer: int | None, seat: int | None) -> bool:
    """Whether the viewer sees what a seat holds."""
    return viewer is None or viewer == seat


def event_words(event: Json, names: Sequence[str | None], viewer: int | None) -> str:
    """An event in words, a hidden card left out."""
    word, seat = event["action"], event["seat"]
    if seat is None:
        if word == "reshuffle":
            return "the discards are shuffled into a new stock"
        return f"new table cards: {' '.join(event['cards'])}"
    shown = word not in ("draw_stock", "give") or sees(viewer, seat)
    card = event.get("card", "") if shown else ""
    name = who(seat, names, viewer)
    return f"{name} {_SAID[word][name == 'you']} {card}".rstrip()


_SAID = {
    "draw_stock": ("draws from the stock", "draw from the stock"),
    "take_upcard": ("takes the upcard", "take the upcard"),
    "discard": ("discards", "discard"),
    "knock": ("knocks", "knock"),
    "pass": ("passes", "pass"),
    "keep": ("keeps the cards", "keep the cards"),
    "refuse": ("refuses the cards", "refuse the cards"),
    "give": ("gives", "give"),
    "take": ("takes", "take"),
    "swap_all": ("swaps all cards", "swap all cards"),
    "buy_in": ("buys in", "buy in"),
    "decline": ("declines to buy in", "decline to buy in"),
}
"""What somebody does, and what you do."""


def chances_words(chances: Mapping[str, Mapping[str, float]], ask: bool) -> str:
    """Probabilities in brackets; nothing for a choice that is certain and the policy's own."""
    parts = []
    for name, found in chances.items():
        listed = ", ".join(f"{words_of(action)} {100 * p:.0f} %" for action, p in found.items())
        if ask:
            parts.append(f"{name}: {listed}")
        elif len(found) > 1:
            parts.append(listed)
    return f"  [{'; '.join(parts)}]" if parts else ""


def round_words(
    states: np.ndarray, row: Json, names: Sequence[str | None], viewer: int | None
) -> list[str]:
    """How a settled round ended, a line each: the end, the open hands, the losses."""
    lines = [f"end of the round: {row['end'].replace('_', ' ')}"]
    for seat in row["in_play"]:
        cards, backs = seen.hand_seen(states, seat, viewer)
        lost = row["losses"][seat]
        text = f"  {who(seat, names, viewer)}: "
        if cards and not backs:
            hand = [NAMES[card] for card in cards]
            text += f"{' '.join(hand)} = {row['values'][seat]:g}"
        else:
            text += "hand not shown"
        text += f", loses {'a life' if lost == 1 else f'{lost} lives'}" if lost else ""
        lives = row["lives"][seat]
        left = (
            "the last life lost"
            if not lives
            else "1 life left"
            if lives == 1
            else f"{lives} lives left"
        )
        text += "; out" if seat in row["eliminated"] else f"; {left}"
        lines.append(text)
    return lines


def match_words(record: Json, names: Sequence[str | None], viewer: int | None) -> str:
    """How a match ended."""
    if record.get("unfinished"):
        return "the match is not finished"
    if record["winner"] is None:
        return "the match ended without a winner"
    name = who(record["winner"], names, viewer)
    return "you win the match" if name == "you" else f"{name} wins the match"


def frame(
    moment: Moment,
    names: Sequence[str | None],
    viewer: int | None,
    told: Sequence[str],
    foot: str = "",
) -> Group:
    """The table, the probabilities of the last decision, and what was told lately."""
    parts: list[RenderableType] = [table_picture(moment.states, names, viewer)]
    if moment.chances and sees(viewer, moment.seat):
        parts += [chances_picture(moment.chances)]
    parts += [Text(line) for line in told[-EVENTS_SHOWN:]]
    if foot:
        parts.append(Text(foot, "dim"))
    return Group(*parts)
