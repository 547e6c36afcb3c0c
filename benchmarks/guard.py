"""Guard against slow kernels that a noisy machine does not fool (``make bench-guard``).

Each kernel is timed beside a loop that never changes, in short pieces that take turns, and only the
quickest piece of each counts: what disturbs one piece disturbs the other one's neighbour too, and
a quiet moment of a few milliseconds is enough. A kernel fails where it takes more than
1 / 0.8 of its share written down in ``guard.json``, or in a file that is named. Shares differ from
one kind of processor to another: write them on the same machine first (``--write FILE`` in a
checkout of the commit to compare with), or anew for all when a change of speed is meant
(``--write``).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np

from benchmarks.measure import pinned, random_actions, renew, seconds
from thirtyone_env.arena import Tables, play_matches
from thirtyone_env.rules import Rules

SHARES = Path(__file__).with_name("guard.json")
SLOWEST = 1 / 0.8
"""How much longer than written down a kernel may take."""
PIECES = 150
_POINTS = np.random.default_rng(0).integers(0, 255, 8192).astype(np.uint8)


@numba.njit(nogil=True)  # type: ignore[misc]
def yardstick(rounds: int) -> int:
    """Work like the kernels': hashes, look-ups in small tables, branches that nobody foresees."""
    word, total = np.uint64(1), 0
    for _ in range(rounds):
        word += np.uint64(0x9E3779B97F4A7C15)
        mixed = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(27)
        best = 0
        while mixed:
            points = np.int64(_POINTS[np.int64(mixed & np.uint64(8191))])
            best = points if points > best else best + 1
            mixed >>= np.uint64(13)
        total += best if best & 1 else -best
    return total


def kernels() -> dict[str, Callable[[], object]]:
    """A piece of work of a few milliseconds for each kernel."""
    rules, matches = Rules.preset("danish"), np.arange(150)
    exchange = Rules.preset("schwimmen_a7")
    tables = Tables(rules, 4, seed=1, matches=np.arange(512))
    for step in range(20):
        renew(tables)
        tables.act(random_actions(tables.action_mask(), np.random.default_rng(step)))
    renew(tables)
    seen, mask = tables.observe("full"), tables.action_mask()
    actions = random_actions(mask, np.random.default_rng(0))
    states = tables.states.copy()

    def act() -> None:
        for _ in range(20):
            tables.act(actions)
            tables.states[:] = states

    bots = ["threshold:25"] * 4
    return {
        "draw": lambda: play_matches(rules, bots, seed=1, matches=matches, threads=1),
        "exchange": lambda: play_matches(exchange, bots, seed=1, matches=matches, threads=1),
        "act": act,
        "observe": lambda: [tables.observe("full", out=seen) for _ in range(40)],
        "mask": lambda: [tables.action_mask(out=mask) for _ in range(200)],
    }


def shares() -> dict[str, float]:
    """Time of each kernel's piece of work by the yardstick's, the quickest of many."""
    works = {"yardstick": lambda: yardstick(100_000)} | kernels()
    quickest = dict.fromkeys(works, float("inf"))
    with pinned():
        for _ in range(PIECES):
            for name, work in works.items():
                quickest[name] = min(quickest[name], seconds(work))
    whole = quickest.pop("yardstick")
    return {name: round(took / whole, 3) for name, took in quickest.items()}


def slow(found: dict[str, float], known: dict[str, float]) -> dict[str, float]:
    """The kernels that are too slow, with how much longer they take than written down."""
    longer = {name: share / known[name] for name, share in found.items()}
    return {name: factor for name, factor in longer.items() if factor > SLOWEST}


def main(*options: str) -> int:
    """Measure; print, or write down. A second look before a kernel is called slow."""
    named = [option for option in options if option != "--write"]
    file = Path(named[0]) if named else SHARES
    found = shares()
    if "--write" in options:
        file.write_text(json.dumps(found, indent=1) + "\n")
    known = json.loads(file.read_text())
    if slow(found, known):
        again = shares()
        found = {name: min(share, again[name]) for name, share in found.items()}
    print(json.dumps(found))
    for name, factor in slow(found, known).items():
        print(f"{name} takes {factor:.2f} times as long as written down in {file.name}")
    return int(bool(slow(found, known)))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
