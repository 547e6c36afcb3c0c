"""How fast the kernels and the interfaces are, each beside its target (``make bench``).

Times are CPU time of one thread, pinned to one core, the median of five runs. Two cores are timed
by the wall clock, which means something on an idle machine only, and by the CPU time that both
threads take, which is what two free cores would show. A decision is one action of one seat.
Options: the parts to measure, of bots, seats, batches, interfaces, start, memory, cores.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import gymnasium
import numpy as np

import thirtyone_env
from benchmarks.measure import RUNS, median, pinned, random_actions, seconds
from thirtyone_env.arena import Tables, play_matches
from thirtyone_env.learner import TERMINATED, Learners
from thirtyone_env.observation import observation_size
from thirtyone_env.policy import make_bot
from thirtyone_env.rules import PRESETS, Rules
from thirtyone_env.state import STATE
from thirtyone_env.threads import usable_cores

GREEDY = "threshold:25"
SEATS, BATCH, STEPS = 4, 4096, 24
DANISH = Rules.preset("danish")


class Row(NamedTuple):
    """One line of the table."""

    name: str
    unit: str
    value: float
    target: float | None
    more_is_better: bool = True

    @property
    def ratio(self) -> float | None:
        """How far the target is met: 1 and more is good."""
        if self.target is None:
            return None
        return self.value / self.target if self.more_is_better else self.target / self.value


# --- bots inside the kernel ----------------------------------------------------------------------


def decisions_a_match(rules: Rules, seats: int, matches: int) -> float:
    """Mean number of decisions of the same matches that `play_matches` plays."""
    tables = Tables(rules, seats, seed=1, matches=np.arange(matches))
    for seat in range(seats):
        tables.set_controllers(None, seat, GREEDY)
    tables.play()
    return float(tables.states["decisions"].mean())


def kernel_rate(rules: Rules, matches: int, runs: int = RUNS, seats: int = SEATS) -> float:
    """Millions of decisions a second of greedy bots in one thread."""
    seats, numbers = min(seats, rules.max_players), np.arange(matches)
    bots = [GREEDY] * seats
    took = median(lambda: play_matches(rules, bots, seed=1, matches=numbers, threads=1), runs)
    return decisions_a_match(rules, seats, matches) * matches / took / 1e6


def bots() -> Iterator[Row]:
    """A tournament, and the slowest preset beside the danish one."""
    danish = kernel_rate(DANISH, 20_000)
    yield Row("bots in the kernel, danish, whole matches", "M decisions/s", danish, 30)
    rates = {name: kernel_rate(rules, 2_000, 3) for name, rules in PRESETS.items()}
    slowest = min(rates, key=lambda name: rates[name])
    share = rates[slowest] / rates["danish"]
    yield Row(f"slowest preset ({slowest}) by danish", "", share, 0.5)


def seats() -> Iterator[Row]:
    """A decision at tables of two to nine, timed in turns; the dearest by the cheapest."""
    sizes = range(2, DANISH.max_players + 1)
    rounds = [[1e3 / kernel_rate(DANISH, 8_000 // size, 1, size) for size in sizes] for _ in sizes]
    times = [min(column) for column in zip(*rounds, strict=True)]
    for size, took in zip(sizes, times, strict=True):
        name = f"bots in the kernel, danish, {size} seats, quickest of {len(rounds)}"
        yield Row(name, "ns/decision", took, None)
    yield Row("dearest by cheapest number of seats", "", max(times) / min(times), 1.2, False)


def cores() -> Iterator[Row]:
    """Two threads against one: by the wall clock, and by the CPU time that both take."""
    numbers = np.arange(200_000)

    def play(threads: int, clock: Callable[[], float]) -> float:
        def work() -> None:
            play_matches(DANISH, [GREEDY] * SEATS, seed=1, matches=numbers, threads=threads)

        return seconds(work, clock)

    if usable_cores() > 1:
        wall = [play(1, time.perf_counter) / play(2, time.perf_counter) for _ in range(3)]
        cpu = [2 * play(1, time.process_time) / play(2, time.process_time) for _ in range(3)]
        name = "two cores by one, 200,000 matches"
        yield Row(f"{name}, by the wall clock", "x", statistics.median(wall), 1.85)
        yield Row(f"{name}, by CPU time", "x", statistics.median(cpu), 1.85)


# --- batches -------------------------------------------------------------------------------------


def step_time(size: int, seats: int = SEATS, form: str = "full") -> float:
    """Nanoseconds a decision for `Tables.step`, all seats outside, actions chosen untimed."""
    tables, rng = Tables(DANISH, seats, seed=1, matches=np.arange(size)), np.random.default_rng(0)
    seen, mask = tables.new_outputs("compact" if form == "compact" else "full")
    tables.action_mask(out=mask)
    steps = max(STEPS * BATCH // size, 4)

    def run() -> float:
        took = 0.0
        for _ in range(steps):
            actions = random_actions(mask, rng)
            took += seconds(lambda act=actions: tables.step(act, seen, mask, renew=True))  # type: ignore[misc]
        return took / steps / size * 1e9

    for _ in range(40):  # spread the matches over all their moments
        tables.step(random_actions(mask, rng), seen, mask, renew=True)
    return statistics.median(run() for _ in range(RUNS))


def learner_rate() -> float:
    """Millions of a learner's decisions a second; it plays as the bots do, chosen untimed."""
    core, bot, rows = Learners(BATCH, opponents=GREEDY), make_bot(GREEDY), np.arange(BATCH)
    seen, mask = core.new_outputs()
    matches = rows.copy()
    core.deal(rows, np.uint64(1), matches, seen, mask)

    def step(actions: np.ndarray) -> None:
        core.step(rows, actions, seen, mask)
        over = np.flatnonzero(core.learners["status"] >= TERMINATED)
        matches[over] += BATCH
        core.deal(over, np.uint64(1), matches[over], seen, mask)

    runs = []
    for _ in range(RUNS + 1):
        chosen = (core.bot_actions(bot, rows) for _ in range(STEPS))
        runs.append(sum(seconds(lambda act=actions: step(act)) for actions in chosen))  # type: ignore[misc]
    return BATCH * STEPS / statistics.median(runs[1:]) / 1e6


def batches() -> Iterator[Row]:
    """Everybody outside, and one learner among three bots."""
    size, name = observation_size(SEATS), "all seats outside, Tables.step"
    base = step_time(BATCH)
    yield Row(f"{name}, B = {BATCH} ({size} bytes)", "ns/decision", base, 100, False)
    yield Row(f"{name}, compact", "ns/decision", step_time(BATCH, form="compact"), None)
    small, large = step_time(256), step_time(1 << 16)
    yield Row(f"{name}, B = 65536 by B = 256", "x", large / small, 1.1, False)
    for seats in (2, 9):
        bytes_seen = observation_size(seats)
        took = step_time(BATCH, seats)
        yield Row(f"{name}, {seats} seats ({bytes_seen} bytes)", "ns/decision", took, None)
        share = took / bytes_seen / base * size
        yield Row(f"{name}, {seats} seats by {SEATS}, a byte seen", "x", share, 1.1, False)
    name = f"one learner, three bots, B = {BATCH}, with resets"
    yield Row(name, "M decisions/s", learner_rate(), 4)


# --- interfaces ----------------------------------------------------------------------------------


def aec_steps() -> int:
    """Steps of one match through PettingZoo, every decision a bot's."""
    env, bot, steps = thirtyone_env.env(rules="danish", num_players=SEATS), make_bot(GREEDY), 0
    env.reset(seed=1)
    for _ in env.agent_iter():
        *_, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else bot.act(env))
        steps += 1
    return steps


def gymnasium_steps(steps: int) -> None:
    """So many steps of one learner, random legal actions."""
    env, rng = gymnasium.make("ThirtyOne-v0", disable_env_checker=True), np.random.default_rng(0)
    _, info = env.reset(seed=1)
    for _ in range(steps):
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        *_, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            _, info = env.reset()


def vector_step(copy: bool) -> Callable[[], object]:
    """One step of a Gymnasium vector environment, the choice of actions with it."""
    env = gymnasium.make_vec("ThirtyOne-v0", num_envs=BATCH, copy=copy)
    rng = np.random.default_rng(0)
    masks = env.reset(seed=1)[1]["action_mask"]

    def step() -> None:
        nonlocal masks
        masks = env.step(random_actions(masks, rng))[-1]["action_mask"]

    return step


def interfaces() -> Iterator[Row]:
    """PettingZoo's loop, Gymnasium's single and vector environments."""
    steps = aec_steps()
    yield Row("PettingZoo loop", "steps/s", steps / median(aec_steps), None)
    if "ThirtyOne-v0" not in gymnasium.registry:
        return
    rate = 2_000 / median(lambda: gymnasium_steps(2_000))
    yield Row("Gymnasium, one environment, random actions", "steps/s", rate, None)
    for copy in (True, False):
        step = vector_step(copy)
        rate = BATCH * STEPS / median(lambda act=step: [act() for _ in range(STEPS)])  # type: ignore[misc]
        name = f"Gymnasium vector, B = {BATCH}, copy={copy}, choosing with it"
        yield Row(name, "M decisions/s", rate / 1e6, None)


# --- start and memory ----------------------------------------------------------------------------

_FIRST_STEP = """
import time
import thirtyone_env
env = thirtyone_env.env(rules="danish", num_players=4)
env.reset(seed=1)
env.last()
env.step(0)
print(time.process_time())
"""


def first_step(cache: str) -> float:
    """CPU time of a fresh process up to the first step of the PettingZoo environment."""
    environment = dict(os.environ) | {"THIRTYONE_CACHE_DIR": cache}
    command = [sys.executable, "-c", _FIRST_STEP]
    done = subprocess.run(command, env=environment, check=True, text=True, capture_output=True)
    return float(done.stdout)


def start() -> Iterator[Row]:
    """From nothing to the first step, with and without compiled kernels on disk."""
    with tempfile.TemporaryDirectory() as cache:
        cold = first_step(cache)
        yield Row("cold start, PettingZoo, first step", "s", cold, 25, False)
        kept = [path.name for path in Path(cache).rglob("*.nbc")]
        foreign = sum(not name.startswith("game.") for name in kept)
        yield Row("kernels of bots and batches compiled for it", "", foreign, None)
        warm = statistics.median(first_step(cache) for _ in range(3))
        yield Row("warm import and first step", "s", warm, 1.0, False)


def growth(steps: int) -> float:
    """Memory of the process after so many steps of a batch with two bots a match, by before."""
    tables = Tables(DANISH, SEATS, seed=1, matches=np.arange(BATCH))
    for seat in (2, 3):
        tables.set_controllers(None, seat, GREEDY)
    tables.play()
    seen, mask = tables.new_outputs()
    tables.action_mask(out=mask)
    before = 0
    for number in range(64 + steps):
        if number == 64:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        tables.step(mask.argmax(axis=1), seen, mask, renew=True)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / before


def memory() -> Iterator[Row]:
    """Bytes a match in flight, and whether play leaves anything behind."""
    yield Row("memory a match in flight", "bytes", STATE.itemsize, 1024, False)
    grown = growth(1000 * STEPS)
    yield Row("memory after more than 100 million decisions by before", "x", grown, 1.01, False)


# --- the table -----------------------------------------------------------------------------------

PARTS = (bots, seats, batches, interfaces, start, memory)


def show(row: Row) -> None:
    """Print a row."""
    target = "" if row.target is None else f"{row.target:g}"
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}{'' if row.ratio >= 1 else '  below'}"
    value = f"{row.value:,.0f}" if abs(row.value) >= 1000 else f"{row.value:.3g}"
    print(f"{row.name:62} {value:>10} {row.unit:14} {target:>6} {ratio}", flush=True)


def main(*wanted: str) -> None:
    """Measure and print everything, or the parts that are named."""
    print(f"{'':62} {'measured':>10} {'':14} {'target':>6} met")
    for part in PARTS:
        if not wanted or part.__name__ in wanted:
            with pinned():
                for row in part():
                    show(row)
    if not wanted or "cores" in wanted:
        for row in cores():
            show(row)


if __name__ == "__main__":
    main(*sys.argv[1:])
