"""Outlines of suits and marks in a unit square around the origin, y downwards.

An outline is some closed parts; a part is its first point and then cubic curves, each two control
points and an end. Parts run the same way round, so that they may overlap.
"""

from __future__ import annotations

import math

Point = tuple[float, float]
Curve = tuple[Point, Point, Point]
Part = tuple[Point, tuple[Curve, ...]]
Outline = tuple[Part, ...]


def polygon(*corners: Point) -> Part:
    """A closed part with straight sides."""
    sides = tuple((end, end, end) for end in (*corners[1:], corners[0]))
    return corners[0], sides


def disc(x: float, y: float, radius: float) -> Part:
    """A circle of four curves."""
    k = radius * 4 * (math.sqrt(2) - 1) / 3
    r = radius
    return (x, y - r), (
        ((x + k, y - r), (x + r, y - k), (x + r, y)),
        ((x + r, y + k), (x + k, y + r), (x, y + r)),
        ((x - k, y + r), (x - r, y + k), (x - r, y)),
        ((x - r, y - k), (x - k, y - r), (x, y - r)),
    )


def _mirrored(start: Point, right: tuple[Curve, ...]) -> Part:
    """A part that is symmetric to the vertical: its right half from `start`, and the left one."""
    ends = [start, *(curve[2] for curve in right)]
    left = tuple(
        ((-curve[1][0], curve[1][1]), (-curve[0][0], curve[0][1]), (-end[0], end[1]))
        for curve, end in zip(reversed(right), reversed(ends[:-1]), strict=True)
    )
    return start, right + left


HEART: Outline = (
    _mirrored(
        (0.0, -0.26),
        (
            ((0.04, -0.40), (0.13, -0.47), (0.25, -0.47)),
            ((0.40, -0.47), (0.49, -0.35), (0.49, -0.20)),
            ((0.49, 0.07), (0.20, 0.26), (0.0, 0.49)),
        ),
    ),
)
_STEM = _mirrored(
    (0.0, 0.05),
    (
        ((0.03, 0.05), (0.05, 0.10), (0.06, 0.18)),
        ((0.08, 0.36), (0.12, 0.44), (0.22, 0.49)),
        ((0.15, 0.49), (0.07, 0.49), (0.0, 0.49)),
    ),
)
SPADE: Outline = (
    _mirrored(
        (0.0, -0.49),
        (
            ((0.16, -0.26), (0.46, -0.10), (0.46, 0.14)),
            ((0.46, 0.28), (0.36, 0.35), (0.26, 0.35)),
            ((0.13, 0.35), (0.05, 0.28), (0.0, 0.16)),
        ),
    ),
    _STEM,
)
CLUB: Outline = (
    disc(0.0, -0.255, 0.225),
    disc(0.245, 0.1, 0.225),
    disc(-0.245, 0.1, 0.225),
    disc(0.0, 0.0, 0.14),
    _STEM,
)
DIAMOND: Outline = (
    _mirrored(
        (0.0, -0.5),
        (
            ((0.10, -0.30), (0.24, -0.13), (0.38, 0.0)),
            ((0.24, 0.13), (0.10, 0.30), (0.0, 0.5)),
        ),
    ),
)
STAR: Outline = (
    polygon(
        *(
            (
                (0.5 if step % 2 == 0 else 0.21) * math.sin(math.pi * step / 5),
                0.03 - (0.5 if step % 2 == 0 else 0.21) * math.cos(math.pi * step / 5),
            )
            for step in range(10)
        )
    ),
)
SUITS = {"c": CLUB, "d": DIAMOND, "h": HEART, "s": SPADE, "X": STAR}


def _lattice(columns: int = 4, rows: int = 6) -> Outline:
    """Small diamonds over the back of a card, five wide to seven high."""
    width, height = 0.66 / columns, 0.98 / rows
    parts = []
    for row in range(rows):
        for column in range(columns):
            x, y = (column - (columns - 1) / 2) * width, (row - (rows - 1) / 2) * height
            dx, dy = width * 0.33, height * 0.33
            parts.append(polygon((x, y - dy), (x + dx, y), (x, y + dy), (x - dx, y)))
    return tuple(parts)


LATTICE = _lattice()
