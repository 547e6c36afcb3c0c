"""Large arrays in large pages, where the system has them.

A batch walks through megabytes of states and observations once a step, in pages of 4 KiB a new one
every few rows. NumPy asks Linux for pages of 2 MiB for arrays of 4 MiB and more (a batch of 4,096
has less); here smaller ones are parts of such arrays. Where there are no large pages nothing
changes but the addresses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

PAGE = 1 << 21
"""Bytes of a large page."""
LARGE = 1 << 20
"""Bytes from which an array is worth large pages."""
ASKED_FOR = 1 << 22
"""Bytes from which NumPy asks for large pages."""


def paged(shape: tuple[int, ...], dtype: Any, make: Callable[..., np.ndarray]) -> np.ndarray:
    """An array as `make` (`numpy.zeros` or `numpy.empty`) makes it, in large pages if it is large.

    Args:
        shape: of the array.
        dtype: its type.
        make: what makes the memory.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if size < LARGE:
        return make(shape, dtype)
    room = make(max(size, ASKED_FOR) + PAGE, np.uint8)
    begin = -room.ctypes.data % PAGE
    return room[begin : begin + size].view(dtype).reshape(shape)
