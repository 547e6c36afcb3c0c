"""Which stream gives a number that is wished for: SplitMix64, backwards."""

from __future__ import annotations

import numpy as np

WORDS = 1 << 32
"""Numbers that a lot is made from."""
_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_STEPS = ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9))
"""Shift and factor of the finaliser's steps, the last one first."""


def stream_before(word: int) -> np.uint64:
    """The stream whose next number, one on and mixed, begins with these 32 bits.

    Args:
        word: 0 … `WORDS` - 1.
    """
    mixed = word << 32
    for shift, factor in _STEPS:
        mixed = _unshifted(mixed, shift) * pow(factor, -1, 1 << 64) & _MASK
    return np.uint64((_unshifted(mixed, 30) - _GOLDEN) & _MASK)


def _unshifted(word: int, shift: int) -> int:
    """The word of which ``word ^ (word >> shift)`` is this one."""
    found = word
    for _ in range(64 // shift):
        found = word ^ (found >> shift)
    return found
