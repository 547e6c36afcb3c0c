"""Random streams: SplitMix64, one stream a use, derived by hashing and never by adding to a seed.

A stream is one uint64 that is advanced in place. The generator and its finaliser are those of
Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
"""

from __future__ import annotations

import numpy as np

from thirtyone_env._jit import wrapping_kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)

# Uses of a stream, the last argument of `derive`.
USE_CARDS, USE_DEALER, USE_RESHUFFLE, USE_POLICY, USE_RESAMPLE, USE_SEAT, USE_SEARCH = range(1, 8)


@wrapping_kernel
def mix(word: np.uint64) -> np.uint64:
    """SplitMix64's finaliser: a bijection of 64-bit words that scatters every bit."""
    word = (word ^ (word >> _S30)) * _MIX_1
    word = (word ^ (word >> _S27)) * _MIX_2
    return word ^ (word >> _S31)


@wrapping_kernel
def derive(seed: np.uint64, first: int, second: int, use: int) -> np.uint64:
    """Start of the stream that belongs to (seed, first, second, use)."""
    word = mix(seed + _GOLDEN)
    word = mix(word ^ (np.uint64(first) + _GOLDEN))
    word = mix(word ^ (np.uint64(second) * _MIX_1 + np.uint64(use) * _MIX_2))
    return word


@wrapping_kernel
def advance_stream(stream: np.uint64) -> np.uint64:
    """The stream, one number on."""
    return stream + _GOLDEN


@wrapping_kernel
def below(stream: np.uint64, bound: int) -> int:
    """The number in 0 … bound−1 that the stream stands at (multiply and shift; bias < 2**-26)."""
    return np.int64(((mix(stream) >> _S32) * np.uint64(bound)) >> _S32)
