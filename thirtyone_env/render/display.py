"""What `render()` of an environment returns or shows, by its render mode."""

from __future__ import annotations

from typing import Any

import numpy as np

from thirtyone_env.render.pixels import load_pygame, render_pixels
from thirtyone_env.render.scene import describe
from thirtyone_env.render.text import render_text
from thirtyone_env.render.window import Window
from thirtyone_env.state import Phase

RENDER_MODES = ("human", "ansi", "rgb_array")
RENDER_FPS = 2
"""Decisions a second in a window or a video: as fast as the eye follows a table."""
SETTLED_SECONDS = 2.0
"""How long a window shows the end of a round."""


class Display:
    """Shows tables in one render mode; the environments of all interfaces hold one.

    A copy of a display (copied or pickled) opens a window of its own.

    Args:
        mode: one of `RENDER_MODES`; None shows nothing.
        colours: 4, a colour a suit, or 2.

    Raises:
        ValueError: for another mode.
        DependencyNotInstalled: for a mode that needs pygame, where that is missing.
    """

    def __init__(self, mode: str | None, *, colours: int = 4) -> None:
        if mode is not None and mode not in RENDER_MODES:
            allowed = ", ".join(map(repr, (*RENDER_MODES, None)))
            raise ValueError(f"render_mode = {mode!r} is not allowed; allowed: {allowed}")
        if mode in ("human", "rgb_array"):
            load_pygame()
        self.mode, self.colours = mode, colours
        self._window: Window | None = None
        self._settled = b""  # the end of a round that the window showed last

    def show(
        self, states: np.ndarray, viewer: int | None, last_round: np.ndarray | None = None
    ) -> str | np.ndarray | None:
        """Show a table.

        Args:
            states: STATE[1].
            viewer: the seat whose view it is; None shows everything, −1 what everybody sees.
            last_round: STATE[1] of the round before as it was settled; a window shows it first
                if it has not yet.

        Returns:
            The text for "ansi", uint8[640, 960, 3] for "rgb_array", otherwise None.
        """
        if self.mode == "ansi":
            return render_text(states, viewer)
        if self.mode == "rgb_array":
            return render_pixels(states, viewer, colours=self.colours, last_round=last_round)
        if self.mode == "human":
            if last_round is not None and last_round.tobytes() != self._settled:
                self._show_in_window(last_round, viewer, None)
            self._show_in_window(states, viewer, last_round)
        return None

    def _show_in_window(
        self, states: np.ndarray, viewer: int | None, last_round: np.ndarray | None
    ) -> None:
        if self._window is None:
            self._window = Window()
        seconds = 1 / RENDER_FPS
        if states["phase"][0] > Phase.JUDGE:
            seconds = SETTLED_SECONDS
        if states["phase"][0] == Phase.ROUND_OVER:
            self._settled = states.tobytes()
        shapes = describe(states, viewer, colours=self.colours, last_round=last_round)
        self._window.show(shapes, seconds)

    def close(self) -> None:
        """Close the window for good, if there is one."""
        if self._window is not None:
            self._window.close()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_window": None}
