"""A table as an array of pixels, drawn with pygame in memory; no display and no sound is opened.

Every shape is drawn once at four times its size, scaled down and kept; a picture is put together
from such sprites. The font is the one that pygame carries, so that the bytes do not depend on what
is installed.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled

from thirtyone_env.render.outlines import Point
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

_FINE = 4  # sub-pixels a side
_STEPS = 8  # straight pieces of a curve


def load_pygame() -> Any:
    """The module pygame.

    Raises:
        DependencyNotInstalled: where it is missing.
    """
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame
        import pygame.font
    except ImportError as error:
        raise DependencyNotInstalled(
            "pictures need pygame-ce, which is not installed: pip install 'thirtyone-env[render]'"
        ) from error
    return pygame


@lru_cache(maxsize=32)
def _font(size: int) -> Any:
    pygame = load_pygame()
    if not pygame.font.get_init():
        pygame.font.init()
    folder = os.path.dirname(pygame.__file__)
    return pygame.font.Font(os.path.join(folder, pygame.font.get_default_font()), size)


def text_size(text: str, size: int) -> tuple[int, int, int]:
    """Width, height above the base line and height below it of a line of text."""
    font = _font(size)
    width, height = font.size(text)
    return width, font.get_ascent(), height - font.get_ascent()


def _flattened(start: Point, curves: tuple[tuple[Point, Point, Point], ...]) -> list[Point]:
    """The corners of a part as a polygon."""
    corners, here = [start], start
    for one, two, end in curves:
        if one == two == end:
            corners.append(end)
        else:
            for step in range(1, _STEPS + 1):
                t = step / _STEPS
                a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
                corners.append(
                    (
                        a * here[0] + b * one[0] + c * two[0] + d * end[0],
                        a * here[1] + b * one[1] + c * two[1] + d * end[1],
                    )
                )
        here = end
    return corners


@lru_cache(maxsize=4096)
def _sprite(shape: Shape) -> Any:
    """The picture of a shape that stands at the origin."""
    pygame = load_pygame()
    if isinstance(shape, Text):
        return _font(shape.size).render(shape.text, True, shape.fill)
    if isinstance(shape, Circle):
        width = height = 2 * shape.radius
    elif isinstance(shape, Path):
        width = height = shape.size + 2
    else:
        width, height = shape.width, shape.height
    colour = pygame.Color(shape.fill)
    fine = pygame.Surface((width * _FINE, height * _FINE), pygame.SRCALPHA, 32)
    # The clear pixels have the colour too, lest edges turn dark when they are mixed.
    fine.fill((colour.r, colour.g, colour.b, 0))
    if isinstance(shape, Circle):
        radius = shape.radius * _FINE
        pygame.draw.circle(fine, colour, (radius, radius), radius)
    elif isinstance(shape, Path):
        half, scale = width * _FINE / 2, shape.size * _FINE
        for part in shape.outline:
            corners = [(half + scale * x, half + scale * y) for x, y in _flattened(*part)]
            pygame.draw.polygon(fine, colour, corners)
    else:
        pygame.draw.rect(fine, colour, fine.get_rect(), border_radius=shape.radius * _FINE)
    sprite = pygame.transform.smoothscale(fine, (width, height))
    if shape.opacity < 1:
        sprite.fill(
            (255, 255, 255, round(255 * shape.opacity)), special_flags=pygame.BLEND_RGBA_MULT
        )
    return sprite


def _put(surface: Any, shape: Shape) -> None:
    """Draw a shape where it stands."""
    sprite, x, y = _sprite(shape._replace(x=0, y=0)), shape.x, shape.y
    if isinstance(shape, Text):
        y -= text_size(shape.text, shape.size)[1]
        if shape.anchor != "start":
            x -= sprite.get_width() // (2 if shape.anchor == "middle" else 1)
    elif isinstance(shape, Circle | Path):
        x, y = x - sprite.get_width() // 2, y - sprite.get_height() // 2
    surface.blit(sprite, (x, y))


@lru_cache(maxsize=1)
def _background() -> Any:
    pygame = load_pygame()
    surface = pygame.Surface((WIDTH, HEIGHT), 0, 32)
    for shape in table_top():
        _put(surface, shape)
    _sprite.cache_clear()
    return surface


def draw(shapes: tuple[Shape, ...]) -> Any:
    """A pygame surface: some shapes on the table top."""
    surface = _background().copy()
    for shape in shapes:
        _put(surface, shape)
    return surface


def render_pixels(
    states: np.ndarray,
    viewer: int | None = None,
    *,
    colours: int = 4,
    last_round: np.ndarray | None = None,
) -> np.ndarray:
    """The table as pixels.

    Args:
        states: STATE[1].
        viewer: the seat whose view it is; None shows everything, −1 what everybody sees.
        colours: 4, a colour a suit, or 2.
        last_round: STATE[1] of the round before as it was settled, to say how it ended.

    Returns:
        uint8[640, 960, 3].

    Raises:
        ValueError: for a viewer or a number of colours that there is not.
        DependencyNotInstalled: without pygame.
    """
    surface = draw(describe(states, viewer, colours=colours, last_round=last_round))
    raw = bytearray(load_pygame().image.tobytes(surface, "RGB"))
    return np.frombuffer(raw, np.uint8).reshape(HEIGHT, WIDTH, 3)
