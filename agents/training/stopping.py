"""Ctrl-C and SIGTERM: the first saves and stops, the second quits at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SHOW_CURSOR = b"\x1b[?25h\n"


class Interrupted(KeyboardInterrupt):
    """A signal stopped the run.

    Args:
        number: the signal's.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number

    @property
    def status(self) -> int:
        """What a shell expects as the exit status: 130 for Ctrl-C, 143 for SIGTERM."""
        return 128 + self.number


class Stop:
    """What has been asked of this process.

    `gently` says what the first signal does: raise `Interrupted` where the program is, or only be
    remembered until `check` is called at a place where the run can be saved.
    """

    def __init__(self) -> None:
        self.gently = False
        self.number: int | None = None

    def check(self) -> None:
        """Raise `Interrupted` if a signal has come.

        Raises:
            Interrupted: if so.
        """
        if self.number is not None:
            raise Interrupted(self.number)

    @contextmanager
    def at_checks(self) -> Iterator[None]:
        """Stop at calls of `check` only."""
        self.gently = True
        try:
            yield
        finally:
            self.gently = False

    def _handle(self, number: int, _: FrameType | None) -> None:
        if self.number is not None:
            if sys.stdout.isatty():  # a progress bar hides it
                os.write(sys.stdout.fileno(), _SHOW_CURSOR)
            os._exit(128 + number)
        self.number = number
        if not self.gently:
            raise Interrupted(number)
        if number == signal.SIGINT:
            os.write(2, b"\nsaving, then stopping; Ctrl-C once more quits at once\n")


@contextmanager
def stopping() -> Iterator[Stop]:
    """Catch Ctrl-C and SIGTERM; what was done with them before is done again afterwards.

    A shell that starts a command in the background lets it ignore Ctrl-C; a training must not.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, stop._handle) for number in SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
