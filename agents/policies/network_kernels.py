"""Networks on full observations, inside the kernel: each row by itself, in one order of sums.

Of the bytes of a full observation about one in twelve is not zero, so that the first layer is a sum
of a few rows of its weights. *Inputs* are those bytes: the row of row i are the places
`starts[i]` … `starts[i + 1] − 1` of `spots` (which input) and `amounts` (its byte). A row takes
a whole number of `GROUP` places, the last ones filled up with amounts of 0.

A network is one flat array: for each layer the weights [in, out], then the biases [out]; its sizes
are those of the inputs and of every layer. No sum depends on another row, on the number of rows or
on threads, and nothing is contracted, so that every machine computes the same float32.

Shapes: `N` rows, `K` bytes of an observation, `F` inputs, `P` numbers of a network, `M` networks,
`A` actions.
"""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np

from thirtyone_env._jit import entry, inlined_kernel, wide_entry

GROUP = 4
"""Inputs are taken four at a time."""
SKIPPED = -1
"""In a layout: this byte is no input."""
NO_MORE: np.ndarray = np.zeros((1 << 20, 0), np.int16)
"""For observations that come alone."""
MOST_INPUTS = 384
"""More than any observation has, filled up; room for so many is needed for every row."""


@entry
def index_rows(
    seen: Any,
    layouts: Any,
    kinds: Any,
    more: Any,
    starts: Any,
    spots: Any,
    amounts: Any,
    first: int,
) -> None:
    """Find the inputs of observations uint8[N, K], from row `first` of the inputs on.

    `layouts` int16[L, K] says which input a byte is, `kinds` int64[N] which layout a row has;
    `more` int16[N, any] are inputs of 1 besides, SKIPPED for none.
    """
    for row in range(seen.shape[0]):
        place, layout = starts[first + row], kinds[row]
        for at in range(seen.shape[1]):
            if seen[row, at]:
                spot = layouts[layout, at]
                if spot != SKIPPED:
                    spots[place], amounts[place] = spot, seen[row, at]
                    place += 1
        for i in range(more.shape[1]):
            if more[row, i] != SKIPPED:
                spots[place], amounts[place] = more[row, i], 1
                place += 1
        while (place - starts[first + row]) % GROUP:
            spots[place], amounts[place] = 0, 0
            place += 1
        starts[first + row + 1] = place


@inlined_kernel
def add_four(
    out: Any, a: Any, b: Any, c: Any, d: Any, net: Any, at_a: int, at_b: int, at_c: int, at_d: int
) -> None:
    """Add four rows of weights, which begin at those places, each so many times."""
    width = len(out)
    of_a, of_b = net[at_a : at_a + width], net[at_b : at_b + width]
    of_c, of_d = net[at_c : at_c + width], net[at_d : at_d + width]
    for h in range(width):
        out[h] = out[h] + a * of_a[h] + b * of_b[h] + c * of_c[h] + d * of_d[h]


@inlined_kernel
def put_first(
    spots: Any, amounts: Any, start: int, stop: int, net: Any, bias: int, out: Any
) -> None:
    """The first layer, before its activation; its biases begin at `bias`."""
    width = len(out)
    for h in range(width):
        out[h] = net[bias + h]
    for i in range(start, stop, GROUP):
        a, b = np.float32(amounts[i]), np.float32(amounts[i + 1])
        c, d = np.float32(amounts[i + 2]), np.float32(amounts[i + 3])
        at_a, at_b = np.int64(spots[i]) * width, np.int64(spots[i + 1]) * width
        at_c, at_d = np.int64(spots[i + 2]) * width, np.int64(spots[i + 3]) * width
        add_four(out, a, b, c, d, net, at_a, at_b, at_c, at_d)


@inlined_kernel
def activate(values: Any, relu: bool) -> None:
    """ReLU or tanh, in place."""
    if relu:
        for h in range(len(values)):
            values[h] = max(values[h], np.float32(0))
    else:
        for h in range(len(values)):
            values[h] = np.tanh(values[h])


@inlined_kernel
def put_layer(given: Any, net: Any, at: int, out: Any) -> None:
    """A later layer, whose weights begin at `at`, before its activation."""
    width, inputs = len(out), len(given)
    bias = at + inputs * width
    for h in range(width):
        out[h] = net[bias + h]
    for k in range(0, inputs, GROUP):
        a, b, c, d = given[k], given[k + 1], given[k + 2], given[k + 3]
        first = at + k * width
        add_four(out, a, b, c, d, net, first, first + width, first + 2 * width, first + 3 * width)


@wide_entry
def network_rows(
    starts: Any,
    spots: Any,
    amounts: Any,
    rows: Any,
    params: Any,
    members: Any,
    sizes: Any,
    relu: bool,
    scratch: Any,
    out: Any,
) -> None:
    """What networks give for some rows.

    Args:
        starts, spots, amounts: inputs.
        rows: int64[N], rows of the inputs.
        params: float32[M, P].
        members: int64[N], which network answers.
        sizes: int64[layers + 1].
        relu: between the layers; tanh if not.
        scratch: float32[2, widest layer].
        out: float32[N, sizes[-1]], written.
    """
    layers = len(sizes) - 1
    for place in range(len(rows)):
        start, stop = starts[rows[place]], starts[rows[place] + 1]
        net, at = params[members[place]], sizes[0] * sizes[1]
        put_first(spots, amounts, start, stop, net, at, scratch[0, : sizes[1]])
        at += sizes[1]
        for layer in range(1, layers):
            given = scratch[(layer - 1) % 2, : sizes[layer]]
            activate(given, relu)
            put_layer(given, net, at, scratch[layer % 2, : sizes[layer + 1]])
            at += (sizes[layer] + 1) * sizes[layer + 1]
        for h in range(sizes[layers]):
            out[place, h] = scratch[(layers - 1) % 2, h]


@entry
def pick_rows(logits: Any, mask: Any, lots: Any, actions: Any, log_chances: Any) -> None:
    """Actions by logits float32[N, ≥A] among the legal ones of a mask int8[N, A].

    `lots` float64[N] in 0 … 1 draws them by their chances; below 0 it is the most likely one.
    `log_chances` float32[N] gets the logarithm of the chance of the one taken.
    """
    for row in range(mask.shape[0]):
        best, most = -1, np.float64(0)
        for action in range(mask.shape[1]):
            if mask[row, action] and (best < 0 or logits[row, action] > most):
                best, most = action, np.float64(logits[row, action])
        total = 0.0
        for action in range(mask.shape[1]):
            if mask[row, action]:
                total += exp(np.float64(logits[row, action]) - most)
        taken = best
        if lots[row] >= 0:
            left = lots[row] * total
            for action in range(mask.shape[1]):
                if mask[row, action]:
                    left -= exp(np.float64(logits[row, action]) - most)
                    taken = action
                    if left < 0:
                        break
        actions[row] = taken
        log_chances[row] = np.float64(logits[row, taken]) - most - log(total)
