"""The table seen from above as a flat list of simple shapes; SVG and pixels both draw this list.

Units are pixels of a picture of 960 × 640, y downwards. Seat 0 sits at the bottom, the others
clockwise. Everything stands upright, so that every card can be read. A shape never holds anything
that the viewer does not see.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from thirtyone_env.cards import NAMES, NO_CARD, cards_of, points
from thirtyone_env.game import value_of
from thirtyone_env.render import outlines, seen
from thirtyone_env.render.outlines import Outline
from thirtyone_env.state import NOBODY, Phase

WIDTH, HEIGHT = 960, 640
PLATE_WIDTH = 148


class Rect(NamedTuple):
    """A rectangle with rounded corners; x, y is its upper left corner."""

    x: int
    y: int
    width: int
    height: int
    radius: int
    fill: str
    opacity: float = 1.0


class Circle(NamedTuple):
    """A disc; x, y is its centre."""

    x: int
    y: int
    radius: int
    fill: str
    opacity: float = 1.0


class Path(NamedTuple):
    """A filled outline whose unit square is `size` wide; x, y is its centre."""

    x: int
    y: int
    size: int
    outline: Outline
    fill: str
    opacity: float = 1.0


class Text(NamedTuple):
    """One line in a bold sans serif; y is its base line, x its start, middle or end."""

    x: int
    y: int
    size: int
    text: str
    fill: str
    anchor: str = "start"


Shape = Rect | Circle | Path | Text

# --- colours -------------------------------------------------------------------------------------

CREAM, GOLD, INK, MUTED, ORANGE = "#f6f1e3", "#f4c64f", "#14181b", "#a6bdb2", "#ff8a3d"
RED, EDGE = "#d3202f", "#e6dec8"
SUIT_COLOURS = {
    4: {"c": "#11803a", "d": "#1a66cc", "h": RED, "s": INK, "X": "#7d2ea8"},
    2: {"c": INK, "d": RED, "h": RED, "s": INK, "X": INK},
}
_FELT, _RINGS = ((15, 71, 54), (28, 118, 87)), 30


def checked_colours(colours: int) -> int:
    """The number of suit colours.

    Raises:
        ValueError: if it is neither two nor four.
    """
    if colours not in SUIT_COLOURS:
        raise ValueError(f"colours = {colours!r} is not allowed; allowed: 2, 4")
    return colours


@lru_cache(maxsize=1)
def table_top() -> tuple[Shape, ...]:
    """The room, the rail and the felt: what is under every picture."""
    shapes: list[Shape] = [
        Rect(0, 0, WIDTH, HEIGHT, 0, "#12171b"),
        Rect(12, 46, 936, 588, 176, "#000000", 0.5),
        Rect(12, 42, 936, 586, 174, "#3a2417"),
        Rect(15, 45, 930, 580, 172, "#6d4528"),
        Rect(22, 52, 916, 566, 165, "#4a2d1b"),
        Rect(25, 55, 910, 560, 162, "#0b3327"),
    ]
    for ring in range(_RINGS):
        part = ring / (_RINGS - 1)
        mix = [round(a + (b - a) * part) for a, b in zip(*_FELT, strict=True)]
        inset = 28 + 7 * ring
        width, height = WIDTH - 2 * inset, HEIGHT - 30 - 2 * inset
        radius = max(159 - 4 * ring, 40)
        colour = "#{:02x}{:02x}{:02x}".format(*mix)
        shapes.append(Rect(inset, inset + 30, width, height, radius, colour))
    return tuple(shapes)


# --- where things lie ----------------------------------------------------------------------------


class Block(NamedTuple):
    """A seat's part of the table: its hand above its plate. x, y is the upper left corner."""

    x: int
    y: int
    width: int
    card: int  # width of a card
    plate: int  # height of the plate

    @property
    def card_height(self) -> int:
        """Height of a card."""
        return self.card * 7 // 5

    @property
    def plate_y(self) -> int:
        """Upper edge of the plate."""
        return self.y + self.card_height + 4

    @property
    def height(self) -> int:
        """Hand and plate together."""
        return self.card_height + 4 + self.plate


def _pushed(part: float, power: float) -> float:
    """A coordinate on the unit circle moved outwards, towards the corners of the table."""
    return math.copysign(abs(part) ** power, part) if abs(part) > 1e-9 else 0.0


def block(seat: int, seats: int, hand_size: int) -> Block:
    """Where a seat sits: on a rounded ring, clockwise from the bottom."""
    card, plate = (66, 46) if seats <= 4 else (56, 44) if seats <= 6 else (48, 40)
    width = max(card + (hand_size - 1) * card * 5 // 6, PLATE_WIDTH)
    height = card * 7 // 5 + 4 + plate
    power = 0.8 if seats < 9 else 0.95
    angle = math.pi / 2 + 2 * math.pi * seat / seats
    x = WIDTH / 2 + (WIDTH / 2 - 38 - width / 2) * _pushed(math.cos(angle), power)
    y = 341 + (264 - height / 2) * _pushed(math.sin(angle), power)
    return Block(round(x - width / 2), round(y - height / 2), width, card, plate)


CENTRE_Y, CENTRE_CARD = 244, 70
BANNER = Rect(WIDTH // 2 - 184, 386, 368, 52, 14, "#06211a", 0.72)


# --- cards ---------------------------------------------------------------------------------------


def _paper(x: int, y: int, width: int, face: str) -> list[Shape]:
    height, radius = width * 7 // 5, max(width // 10, 4)
    return [
        Rect(x + 1, y + 2, width, height, radius, "#000000", 0.35),
        Rect(x, y, width, height, radius, "#a79f8c"),
        Rect(x + 1, y + 1, width - 2, height - 2, radius - 1, face),
    ]


def _card(x: int, y: int, width: int, card: int, colours: int) -> list[Shape]:
    """A card face up."""
    name, height = NAMES[card], width * 7 // 5
    key = "X" if name[0] == "X" else name[1]
    ink, outline = SUIT_COLOURS[colours][key], outlines.SUITS[key]
    rank = {"T": "10", "X": name}.get(name[0], name[0])
    size, column = round(height * (0.22 if key == "X" else 0.26)), x + round(width * 0.245)
    return [
        *_paper(x, y, width, "#fffdf7"),
        Text(column, y + round(height * 0.265), size, rank, ink, "middle"),
        Path(column, y + round(height * 0.4), round(height * 0.17), outline, ink),
        Path(x + round(width * 0.56), y + round(height * 0.69), round(height * 0.36), outline, ink),
    ]


def _back(x: int, y: int, width: int) -> list[Shape]:
    """A card face down."""
    height = width * 7 // 5
    return [
        *_paper(x, y, width, "#f3ecd9"),
        Rect(x + 4, y + 4, width - 8, height - 8, 3, "#27436f"),
        Path(x + width // 2, y + height // 2, height - 12, outlines.LATTICE, "#4a6ba3"),
    ]


def _place(x: int, y: int, width: int) -> list[Shape]:
    """An empty place for a card."""
    return [Rect(x, y, width, width * 7 // 5, width // 10, "#000000", 0.16)]


def _pile(x: int, y: int, width: int, number: int) -> tuple[list[Shape], int, int]:
    """The lower cards of a pile, and where its top card lies."""
    layers = min(-(-number // 10), 4) if number > 1 else 0
    height, radius = width * 7 // 5, width // 10
    shapes: list[Shape] = []
    if layers:
        shapes.append(Rect(x + 3, y + 4, width, height, radius, "#000000", 0.3))
    for layer in range(layers):
        shapes.append(Rect(x - 2 * layer, y - 2 * layer, width, height, radius, "#8d8674"))
        shapes.append(Rect(x - 2 * layer, y - 2 * layer, width - 1, height - 1, radius, EDGE))
    return shapes, x - 2 * layers, y - 2 * layers


def _label(x: int, number: int | None, word: str) -> list[Shape]:
    """What lies there, under a place in the middle."""
    text = word if number is None else f"{word} {number}"
    return [
        Text(x + CENTRE_CARD // 2, CENTRE_Y + CENTRE_CARD * 7 // 5 + 20, 14, text, CREAM, "middle")
    ]


# --- the middle ----------------------------------------------------------------------------------


def _stock(states: np.ndarray, x: int) -> list[Shape]:
    number = seen.stock_size(states)
    shapes, left, top = _pile(x, CENTRE_Y, CENTRE_CARD, number)
    if number:
        shapes += _back(left, top, CENTRE_CARD)
    else:
        shapes += _place(x, CENTRE_Y, CENTRE_CARD)
    return shapes + _label(x, number, "stock")


def _middle_of_draw(states: np.ndarray, colours: int) -> list[Shape]:
    """Stock, and the upcard on the discard pile."""
    left, right = WIDTH // 2 - CENTRE_CARD - 22, WIDTH // 2 + 22
    upcard, beneath = int(states["upcard"][0]), bin(int(states["pile"][0])).count("1")
    total = beneath + (upcard != NO_CARD)
    shapes, x, y = _pile(right, CENTRE_Y, CENTRE_CARD, total)
    if upcard != NO_CARD:
        shapes += _card(x, y, CENTRE_CARD, upcard, colours)
    else:
        shapes += _paper(x, y, CENTRE_CARD, EDGE) if total else _place(x, y, CENTRE_CARD)
    return [*_stock(states, left), *shapes, *_label(right, total, "discards")]


def _middle_of_exchange(states: np.ndarray, colours: int) -> list[Shape]:
    """Stock, the three open cards, and the cards put aside."""
    step = CENTRE_CARD + 6
    first = WIDTH // 2 - CENTRE_CARD // 2 - step
    cards = cards_of(int(states["table"][0]))
    shapes: list[Shape] = []
    for place in range(3):
        x = first + place * step
        if place < len(cards):
            shapes += _card(x, CENTRE_Y, CENTRE_CARD, cards[place], colours)
        else:
            shapes += _place(x, CENTRE_Y, CENTRE_CARD)
    aside = bin(int(states["pile"][0])).count("1")
    x = first + 3 * step + 8
    lower, left, top = _pile(x, CENTRE_Y, CENTRE_CARD, aside)
    shapes += (
        [*lower, *_back(left, top, CENTRE_CARD)] if aside else _place(x, CENTRE_Y, CENTRE_CARD)
    )
    shapes += _label(first + step, None, "table") + _label(x, aside, "aside")
    return _stock(states, first - step - 8) + shapes


def _banner(states: np.ndarray) -> list[Shape]:
    """Who is to do what, and what happened last."""
    middle, more = WIDTH // 2, seen.detail(states)
    over = states["phase"][0] == Phase.OVER
    shapes: list[Shape] = [BANNER]
    size, y = (18, BANNER.y + 22) if more else (18, BANNER.y + 32)
    shapes.append(Text(middle, y, size, seen.headline(states), GOLD if over else CREAM, "middle"))
    if more:
        shapes.append(Text(middle, BANNER.y + 42, 12, more, MUTED, "middle"))
    return shapes


# --- seats ---------------------------------------------------------------------------------------


def _hand(
    states: np.ndarray, seat: int, viewer: int | None, at: Block, colours: int
) -> list[Shape]:
    """The cards of a seat, those that the viewer sees before the backs."""
    cards, backs = seen.hand_seen(states, seat, viewer)
    number = len(cards) + backs
    if not number:
        return []
    step = at.card * 5 // 6
    if number > 1:
        step = min(step, (at.width - at.card) // (number - 1))
    x = at.x + (at.width - at.card - (number - 1) * step) // 2
    raised = (seen.just_taken(states, seat, viewer), seen.just_given(states, seat, viewer))
    shapes: list[Shape] = []
    for card in cards:
        lift = 8 if card in raised else 0
        shapes += _card(x, at.y - lift, at.card, card, colours)
        x += step
    for _ in range(backs):
        shapes += _back(x, at.y, at.card)
        x += step
    return shapes


def _lives(states: np.ndarray, seat: int, right: int, y: int, ink: str) -> list[Shape]:
    """Lives as hearts, or what stands in their place."""
    if not int(states["in_play"][0]) >> seat & 1:
        return [Text(right, y + 5, 12, "OUT", ink, "end")]
    lives = int(states["lives"][0, seat])
    if lives == 0:
        word = "DECIDER" if states["decider"][0] else "FREE RIDE"
        if int(states["pending"][0]) >> seat & 1:
            word = "NO LIVES"
        return [Text(right, y + 5, 11, word, ink, "end")]
    slots = max(lives, int(states["rules"]["lives"][0]))
    if slots > 4:
        return [
            Text(right, y + 6, 15, str(lives), ink, "end"),
            Path(right - 20, y, 14, outlines.HEART, "#f0384a"),
        ]
    lost = ("#000000", 0.3) if ink == INK else ("#ffffff", 0.2)
    hearts = [("#f0384a", 1.0)] * lives + [lost] * (slots - lives)
    first = right - 7 - 14 * (slots - 1)
    return [
        Path(first + 14 * place, y, 13, outlines.HEART, fill, opacity)
        for place, (fill, opacity) in enumerate(hearts)
    ]


def _worth(states: np.ndarray, seat: int, viewer: int | None) -> str:
    """What a whole hand is worth, where the viewer sees it."""
    cards, backs = seen.hand_seen(states, seat, viewer)
    if backs or len(cards) != int(states["rules"]["hand_size"][0]):
        return ""
    return str(points(value_of(states, int(states["hands"][0, seat]))))


def _plate_colours(states: np.ndarray, seat: int) -> tuple[str, float, str, str]:
    """Fill and opacity of a plate, and the colours of its first and second line."""
    wins = states["phase"][0] == Phase.OVER and seat == states["winner"][0]
    acts = seen.someone_acts(states) and seat == states["seat"][0]
    if wins or acts:
        return GOLD, 1.0, INK, "#4a3905"
    if seat == states["knocker"][0]:
        return "#0c2a21", 1.0, CREAM, ORANGE
    if int(states["in_play"][0]) >> seat & 1:
        return "#06211a", 0.8, CREAM, MUTED
    return "#06211a", 0.5, MUTED, MUTED


def _plate(states: np.ndarray, seat: int, viewer: int | None, at: Block) -> list[Shape]:
    """Name, dealer's button, lives; last action and worth of the hand."""
    fill, opacity, ink, soft = _plate_colours(states, seat)
    width = PLATE_WIDTH
    x, y = at.x + (at.width - width) // 2, at.plate_y
    upper, lower = y + at.plate // 2 - 4, y + at.plate - 8
    shapes: list[Shape] = []
    if seat == states["knocker"][0]:
        shapes.append(Rect(x - 2, y - 2, width + 4, at.plate + 4, 11, ORANGE))
    shapes += [
        Rect(x, y, width, at.plate, 9, fill, opacity),
        Text(x + 9, upper, 15, f"Seat {seat}", ink),
    ]
    if seat == states["dealer"][0]:
        shapes += [
            Circle(x + 70, upper - 5, 9, "#000000", 0.4),
            Circle(x + 70, upper - 5, 8, "#ffffff"),
            Text(x + 70, upper - 1, 11, "D", INK, "middle"),
        ]
    shapes += _lives(states, seat, x + width - 9, upper - 5, ink)
    word = seen.move_word(states, seat)
    lost = int(states["losses"][0, seat])
    if states["phase"][0] == Phase.OVER and seat == states["winner"][0]:
        word = "winner"
    elif seen.is_settled(states) and lost:
        word, soft = f"lost {lost}", soft if fill == GOLD else "#ff9a9a"
    if word:
        shapes.append(Text(x + 9, lower, 12, word, soft))
    worth = _worth(states, seat, viewer)
    if worth:
        shapes.append(Text(x + width - 9, lower, 14, worth, ink, "end"))
    return shapes


def _seat(states: np.ndarray, seat: int, viewer: int | None, colours: int) -> list[Shape]:
    rules = states["rules"][0]
    at = block(seat, int(states["num_players"][0]), int(rules["hand_size"]))
    shapes: list[Shape] = []
    if seen.someone_acts(states) and seat == states["seat"][0]:
        edge = Rect(at.x - 8, at.y - 12, at.width + 16, at.height + 20, 16, GOLD, 0.22)
        shapes.append(edge)
    shapes += _hand(states, seat, viewer, at, colours)
    return shapes + _plate(states, seat, viewer, at)


# --- all of it -----------------------------------------------------------------------------------


def _frame(states: np.ndarray, viewer: int | None, last_round: np.ndarray | None) -> list[Shape]:
    """What is written around the table."""
    words = [
        seen.rules_word(states),
        f"round {int(states['round_number'][0]) + 1}",
        f"turn {int(states['turns'][0]) + 1}",
    ]
    if seen.is_settled(states):
        words.pop()
    view = "all hands open" if viewer is None else f"seat {viewer}'s view"
    if viewer == NOBODY:
        view = "what everybody sees"
    shapes: list[Shape] = [
        Text(16, 27, 19, "Thirty-One", GOLD),
        Text(128, 27, 14, " · ".join(words), CREAM),
        Text(WIDTH - 14, HEIGHT - 12, 13, view, MUTED, "end"),
    ]
    if last_round is not None and states["phase"][0] != Phase.OVER:
        text = f"last round: {seen.end_words(last_round)}; {seen.loss_words(last_round)}"
        shapes.append(Text(WIDTH - 14, 27, 12, text, MUTED, "end"))
    return shapes


def describe(
    states: np.ndarray,
    viewer: int | None = None,
    *,
    colours: int = 4,
    last_round: np.ndarray | None = None,
) -> tuple[Shape, ...]:
    """What lies on the `table_top`, from back to front.

    Args:
        states: STATE[1].
        viewer: the seat whose view it is; None shows everything, −1 what everybody sees.
        colours: 4, a colour a suit, or 2.
        last_round: STATE[1] of the round before this one as it was settled; how it ended is then
            written above the table.

    Raises:
        ValueError: for a viewer or a number of colours that there is not.
    """
    viewer, colours = seen.checked_viewer(states, viewer), checked_colours(colours)
    exchange = states["rules"]["exchange"][0]
    shapes = _frame(states, viewer, last_round)
    shapes += (_middle_of_exchange if exchange else _middle_of_draw)(states, colours)
    shapes += _banner(states)
    for seat in range(int(states["num_players"][0])):
        shapes += _seat(states, seat, viewer, colours)
    return tuple(shapes)
