"""Single keys from a terminal, without waiting for the end of a line."""

from __future__ import annotations

import os
import select
import sys
from types import TracebackType
from typing import Any

try:
    import termios
    import tty
except ImportError:  # not a Unix: keys are not read, only the time passes
    termios = tty = None  # type: ignore[assignment]

END = "\x04"
"""Ctrl-D, and what is read where there is no more input."""


class Keys:
    """Reads single keys while it is open; as a context manager it leaves the terminal as it was.

    Where standard input is no terminal, there are no keys.
    """

    def __init__(self) -> None:
        self.there = termios is not None and sys.stdin.isatty()
        self._before: Any = None

    def __enter__(self) -> Keys:
        if self.there:
            self._before = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is not None:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._before)

    def wait(self, seconds: float | None) -> str:
        """The next key, or "" if none came in time.

        Args:
            seconds: how long; None: until there is one.
        """
        if not select.select([sys.stdin], [], [], seconds)[0]:
            return ""
        return os.read(sys.stdin.fileno(), 1).decode("latin-1") or END
