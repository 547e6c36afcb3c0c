"""A table at one moment, to look at in a notebook or to put into a paper."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from thirtyone_env.render import seen
from thirtyone_env.render.pixels import draw, load_pygame, render_pixels
from thirtyone_env.render.scene import WIDTH, checked_colours, describe
from thirtyone_env.render.svg import render_svg
from thirtyone_env.render.text import render_text


class TableView:
    """What a seat, or somebody who sees everything, sees of a table now.

    Notebooks show it as a picture, `str` is the text. It keeps a copy of the state, so that it
    stays as it is when play goes on.

    Args:
        states: STATE[1].
        viewer: the seat whose view it is; None shows everything, −1 what everybody sees.
        colours: 4, a colour a suit, or 2.
        last_round: STATE[1] of the round before as it was settled, to say how it ended.

    Raises:
        ValueError: for a viewer or a number of colours that there is not.
    """

    def __init__(
        self,
        states: np.ndarray,
        viewer: int | None = None,
        *,
        colours: int = 4,
        last_round: np.ndarray | None = None,
    ) -> None:
        if states.shape != (1,):
            raise ValueError(f"states of shape {states.shape}: one state is needed, STATE[1]")
        self.viewer = seen.checked_viewer(states, viewer)
        self.colours = checked_colours(colours)
        self._states = states.copy()
        self._last_round = None if last_round is None else last_round.copy()

    def svg(self) -> str:
        """The picture as SVG."""
        return render_svg(
            self._states, self.viewer, colours=self.colours, last_round=self._last_round
        )

    def pixels(self) -> np.ndarray:
        """The picture as uint8[640, 960, 3]; needs pygame."""
        return render_pixels(
            self._states, self.viewer, colours=self.colours, last_round=self._last_round
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file that ends in ``.svg`` or ``.png``.

        Raises:
            ValueError: for another ending.
        """
        file = Path(path)
        if file.suffix == ".svg":
            file.write_text(self.svg(), encoding="utf-8", newline="\n")
        elif file.suffix == ".png":
            shapes = describe(
                self._states, self.viewer, colours=self.colours, last_round=self._last_round
            )
            load_pygame().image.save(draw(shapes), str(file))
        else:
            raise ValueError(f"path = {str(path)!r}: a picture's name ends in .svg or .png")

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        return f'<div style="max-width: {WIDTH}px">\n{self.svg()}</div>'

    def __str__(self) -> str:
        return render_text(self._states, self.viewer)

    def __repr__(self) -> str:
        return f"<TableView, viewer {self.viewer}: {seen.headline(self._states)}>"
