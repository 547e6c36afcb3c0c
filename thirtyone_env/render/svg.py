"""A table as SVG: one self-contained file without scripts, the same bytes for the same table."""

from __future__ import annotations

from functools import lru_cache
from xml.sax.saxutils import escape

import numpy as np

from thirtyone_env.render import seen
from thirtyone_env.render.outlines import Outline
from thirtyone_env.render.scene import (
    HEIGHT,
    WIDTH,
    Circle,
    Path,
    Shape,
    Text,
    describe,
    table_top,
)

# All have the widths of the font of the pictures.
FONTS = "FreeSans, Helvetica, Arial, Liberation Sans, sans-serif"


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


@lru_cache(maxsize=512)
def _data(outline: Outline, x: int, y: int, size: int) -> str:
    """An outline as path data."""

    def at(point: tuple[float, float]) -> str:
        return f"{_number(x + size * point[0])} {_number(y + size * point[1])}"

    words = []
    for start, curves in outline:
        words.append(f"M{at(start)}")
        for one, two, end in curves:
            straight = one == two == end
            words.append(f"L{at(end)}" if straight else f"C{at(one)} {at(two)} {at(end)}")
        words.append("Z")
    return "".join(words)


def _element(shape: Shape) -> str:
    """A shape as one element."""
    if isinstance(shape, Text):
        anchor = "" if shape.anchor == "start" else f' text-anchor="{shape.anchor}"'
        return (
            f'<text x="{shape.x}" y="{shape.y}" font-size="{shape.size}" fill="{shape.fill}"'
            f"{anchor}>{escape(shape.text)}</text>"
        )
    paint = f'fill="{shape.fill}"'
    if shape.opacity < 1:
        paint += f' fill-opacity="{_number(shape.opacity)}"'
    if isinstance(shape, Circle):
        return f'<circle cx="{shape.x}" cy="{shape.y}" r="{shape.radius}" {paint}/>'
    if isinstance(shape, Path):
        return f'<path d="{_data(shape.outline, shape.x, shape.y, shape.size)}" {paint}/>'
    return (
        f'<rect x="{shape.x}" y="{shape.y}" width="{shape.width}" height="{shape.height}" '
        f'rx="{shape.radius}" {paint}/>'
    )


def render_svg(
    states: np.ndarray,
    viewer: int | None = None,
    *,
    colours: int = 4,
    last_round: np.ndarray | None = None,
) -> str:
    """The table as SVG of 960 × 640.

    Args:
        states: STATE[1].
        viewer: the seat whose view it is; None shows everything, −1 what everybody sees.
        colours: 4, a colour a suit, or 2.
        last_round: STATE[1] of the round before as it was settled, to say how it ended.

    Raises:
        ValueError: for a viewer or a number of colours that there is not.
    """
    shapes = (*table_top(), *describe(states, viewer, colours=colours, last_round=last_round))
    title = f"Thirty-One, {seen.rules_word(states)}: {seen.headline(states)}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" font-family="{FONTS}" font-weight="bold">',
        f"<title>{escape(title)}</title>",
        *map(_element, shapes),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"
