"""How every script of this folder measures and reports; the standard library alone.

Time is CPU time of the whole process, helper threads included. Where it can, a script records
episodes of random legal actions first and plays the same episodes again while the clock runs: no
choice of an action is counted for anybody, and no clock is read between two steps.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any, NamedTuple

RUNS = 5


class Measurement(NamedTuple):
    """Something to measure."""

    work: Callable[[], Any]
    """What the clock runs over."""
    decisions: Callable[[Any], int]
    """How many decisions that was, from what `work` returned."""
    prepare: Callable[[], object] = int
    """Done before every run, not counted."""


def rates(measurement: Measurement, runs: int = RUNS) -> list[float]:
    """Decisions a second of CPU time in each run, after one run that is not counted."""
    found = []
    for run in range(runs + 1):
        measurement.prepare()
        before = time.process_time()
        result = measurement.work()
        spent = time.process_time() - before
        if run:
            found.append(measurement.decisions(result) / spent)
    return found


def main(distribution: str, measurements: Mapping[str, Callable[[], Measurement]]) -> None:
    """Measure what the command line names, one JSON line each."""
    for name in sys.argv[1:]:
        line = {
            "name": name,
            "unit": "decisions/s",
            "values": rates(measurements[name]()),
            "version": version(distribution),
        }
        sys.stdout.write(json.dumps(line) + "\n")
