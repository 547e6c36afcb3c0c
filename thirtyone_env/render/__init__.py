"""A table as text, SVG or pixels, in a window or in a notebook; pygame is imported when needed.

What a viewer sees is decided in one place (`seen`), and SVG, pixels and window draw one list of
shapes (`scene`).
"""

from thirtyone_env.render.display import RENDER_FPS, RENDER_MODES, Display
from thirtyone_env.render.pixels import render_pixels
from thirtyone_env.render.svg import render_svg
from thirtyone_env.render.text import render_text
from thirtyone_env.render.view import TableView

__all__ = [
    "RENDER_FPS",
    "RENDER_MODES",
    "Display",
    "TableView",
    "render_pixels",
    "render_svg",
    "render_text",
]
