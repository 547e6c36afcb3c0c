"""Flags of sets of cards: the same by every processor's own way to write them, and interpreted."""

import random

import pytest

from tests.engine.processes import run
from thirtyone_env.cards import NUM_CARDS, set_of

TEXT = """
import sys
import numpy as np
from thirtyone_env._jit import entry, put_byte, put_flags, put_flags_among
from thirtyone_env.cards import JOKER_MASK, PLAIN_MASK

@entry
def write(sets, out):
    for row in range(len(sets)):
        bits = np.int64(sets[row])
        put_flags_among(out, row, 0, bits, PLAIN_MASK, JOKER_MASK)
        put_flags(out, row, 64, bits, 40)
        put_byte(out, row, 104, bits & 0xFFFF)

sets = np.array([int(word) for word in sys.argv[1:]], np.int64)
out = np.full((len(sets), 105), 9, np.uint8)
write(sets, out)
print(out.tobytes().hex())
"""


def expected(cards: list[int], bits: int) -> bytes:
    """A row as the script has to write it."""
    by_card = [card in cards for card in range(NUM_CARDS)] + [False] * (64 - NUM_CARDS)
    by_place = [bits >> place & 1 for place in range(40)]
    return bytes([*by_card, *by_place, bits & 255])


@pytest.mark.parametrize(
    "environment",
    [{}, {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""}, {"NUMBA_DISABLE_JIT": "1"}],
    ids=["this processor", "a plain one", "interpreted"],
)
def test_flags_are_those_of_the_cards(environment):
    rng = random.Random("flags")
    hands = [rng.sample(range(NUM_CARDS), rng.randrange(NUM_CARDS + 1)) for _ in range(20)]
    sets = [set_of(cards) for cards in hands]
    out, _ = run("-c", TEXT, *map(str, sets), **environment)
    rows = [expected(cards, bits) for cards, bits in zip(hands, sets, strict=True)]
    assert out.strip() == b"".join(rows).hex()
