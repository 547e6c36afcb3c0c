"""Memory that is freed stays with the process.

An update makes and drops arrays of a few megabytes many times a second. The C library of Linux
gives each back to the system at once, which then hands it out page by page, zeroed: that took as
long as the arithmetic in it.
"""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Parameters of mallopt(3)."""
_LARGEST = 32 << 20
"""Bytes; the most that glibc takes for the second."""
_KEPT = 1 << 30
"""Bytes that may lie free at the top of the heap."""


def keep_freed_memory() -> bool:
    """Let the C library keep up to a gigabyte; False where it is none that can be told so."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _LARGEST)) and bool(mallopt(_TRIM_THRESHOLD, _KEPT))
