"""A window that shows tables, one after another; at most one is open in a process."""

from __future__ import annotations

import logging
import os
import time
from typing import Any, ClassVar

from thirtyone_env.render.pixels import draw, load_pygame
from thirtyone_env.render.scene import HEIGHT, WIDTH, Shape

logger = logging.getLogger(__name__)


class Window:
    """Opens with its first picture and keeps every picture on view for a while.

    Once closed, by `close` or by the user, it stays closed and further pictures are not shown.
    Where there is no screen it is an unseen one (SDL's driver "dummy") and nothing waits.
    """

    _current: ClassVar[Window | None] = None  # the one whose pictures are on the screen

    def __init__(self) -> None:
        self._screen: Any = None
        self._shown: tuple[Shape, ...] = ()
        self._until = 0.0
        self.closed = False

    def show(self, shapes: tuple[Shape, ...], seconds: float) -> None:
        """Show a picture, after the one before has had its time, for at least some seconds."""
        if self.closed:
            return
        pygame = load_pygame()
        if Window._current is not self or pygame.display.get_surface() is None:
            self._open(pygame)
        self._pump(pygame)
        if shapes == self._shown:
            return
        while not self.closed and time.monotonic() < self._until:
            pygame.time.wait(10)
            self._pump(pygame)
        if self.closed:
            return
        self._screen.blit(draw(shapes), (0, 0))
        pygame.display.flip()
        self._pump(pygame)
        seen = not self.closed and pygame.display.get_driver() not in ("dummy", "offscreen")
        self._until = time.monotonic() + (seconds if seen else 0.0)
        self._shown = shapes

    def _open(self, pygame: Any) -> None:
        try:
            pygame.display.init()
        except pygame.error as error:
            logger.warning("there is no screen (%s); the window cannot be seen", error)
            before = os.environ.get("SDL_VIDEODRIVER")
            os.environ["SDL_VIDEODRIVER"] = "dummy"
            pygame.display.init()
            del os.environ["SDL_VIDEODRIVER"]
            if before is not None:
                os.environ["SDL_VIDEODRIVER"] = before
        self._screen = pygame.display.set_mode((WIDTH, HEIGHT))
        pygame.display.set_caption("Thirty-One")
        self._shown = ()
        Window._current = self

    def _pump(self, pygame: Any) -> None:
        """Let the system's events pass; the user may close the window."""
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            self.close()

    def close(self) -> None:
        """Close it for good."""
        self.closed = True
        self._screen, self._shown = None, ()
        if Window._current is self:
            Window._current = None
            load_pygame().display.quit()
