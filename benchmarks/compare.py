"""Ours beside the others: one table, printed and written to docs/performance.md.

``make bench-peers`` gives every library an environment of its own, ``.venv-bench-NAME``. For every
row a script of `benchmarks.peers` is started anew in it, right after ours, on the same core: this
process is pinned, and what it starts inherits that. Words as arguments choose the rows that hold
one of them; the page is written only when all rows were measured.
"""

from __future__ import annotations

import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import pinned

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
BLOCK = re.compile(r"(?<=<!-- peers -->\n).*?(?=<!-- end peers -->)", re.DOTALL)
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


class Peer(NamedTuple):
    """A library: its name, its environment and its script."""

    title: str
    venv: str
    script: str


class Row(NamedTuple):
    """What of ours is measured against what of whom."""

    ours: str
    peer: str = ""
    theirs: str = ""
    wanted: float | None = None
    """The ratio that is wanted; in a row of ours alone, the rate."""


class Result(NamedTuple):
    """Both medians in decisions a second, or why there is none of the peer's."""

    row: Row
    ours: float
    theirs: float | None
    version: str
    reason: str
    load: float


PEERS = {
    "openspiel": Peer("OpenSpiel", "openspiel", "openspiel"),
    "rlcard": Peer("RLCard", "rlcard", "rlcard"),
    "pettingzoo": Peer("PettingZoo", "pettingzoo", "pettingzoo"),
    "pettingzoo125": Peer("PettingZoo", "pettingzoo125", "pettingzoo"),
    "pgx": Peer("Pgx", "pgx", "pgx"),
    "envpool": Peer("EnvPool", "envpool", "envpool"),
    "gymnasium": Peer("Gymnasium", "gymnasium", "gymnasium"),
    "pufferlib": Peer("PufferLib", "pufferlib", "pufferlib"),
}

OURS = {
    "bots": "tournament of `threshold:25` in the kernel",
    "random bots": "tournament of `random` in the kernel",
    "batch": "batch of 4,096, all seats outside, into own arrays",
    "batch, copies": "batch of 4,096, all seats outside, new arrays",
    "batch, unseen": "batch of 4,096, all seats outside, masks alone",
    "vector": "Gymnasium vector environment of 4,096",
    "aec": "PettingZoo loop, one match",
    "match": "`game.step`, `observe`, `legal_mask`, one match",
    "match, unseen": "`game.step`, `legal_actions`, one match",
    "single": "Gymnasium environment, one match",
}

ROWS = (
    Row("bots", wanted=30e6),
    Row("batch", wanted=10e6),
    Row("batch, copies", wanted=3e6),
    Row("aec", wanted=55e3),
    Row("single", wanted=100e3),
    Row("bots", "openspiel", "crazy_eights, bots", 15),
    Row("random bots", "openspiel", "crazy_eights, bots"),
    Row("random bots", "openspiel", "gin_rummy, bots"),
    Row("random bots", "openspiel", "leduc_poker, bots"),
    Row("batch", "pufferlib", "tripletriad", 1),
    Row("batch", "pgx", "leduc_holdem, 1024", 3),
    Row("batch", "pgx", "leduc_holdem, 8192", 3),
    Row("batch", "pgx", "sparrow_mahjong, 1024"),
    Row("batch", "pgx", "sparrow_mahjong, 8192"),
    Row("batch", "openspiel", "crazy_eights, seen", 15),
    Row("batch", "openspiel", "crazy_eights, seen as lists", 15),
    Row("batch", "openspiel", "gin_rummy, seen"),
    Row("batch", "openspiel", "leduc_poker, seen"),
    Row("batch, unseen", "openspiel", "crazy_eights, unseen"),
    Row("batch, unseen", "openspiel", "gin_rummy, unseen"),
    Row("batch, unseen", "openspiel", "leduc_poker, unseen"),
    Row("vector", "envpool", "Blackjack, 1024"),
    Row("vector", "envpool", "Blackjack, 4096"),
    Row("aec", "pettingzoo", "tictactoe", 3),
    Row("aec", "pettingzoo", "connect four"),
    Row("aec", "pettingzoo", "leduc holdem"),
    Row("aec", "pettingzoo125", "gin rummy", 10),
    Row("aec", "rlcard", "gin-rummy"),
    Row("aec", "rlcard", "leduc-holdem"),
    Row("match", "openspiel", "crazy_eights, seen"),
    Row("match, unseen", "openspiel", "crazy_eights, unseen"),
    Row("single", "gymnasium", "Blackjack"),
    Row("single", "gymnasium", "CartPole"),
)


# --- measuring -----------------------------------------------------------------------------------


class Unavailable(Exception):
    """There is no measurement, and why."""


def measured(python: Path | str, script: str, name: str) -> dict[str, Any]:
    """What a script says of one measurement."""
    done = subprocess.run(
        [python, "-m", f"benchmarks.peers.{script}", name],
        cwd=ROOT,
        env=os.environ | ONE_THREAD,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Unavailable(f"failed: {last_error(done.stderr)}")
    return json.loads(done.stdout.splitlines()[-1])


def last_error(log: str) -> str:
    """The line of a log that says what went wrong, without the module of its exception."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)]
    return re.sub(r"^(\w+\.)+(?=\w*(Error|Exception))", "", (named or lines or ["no word"])[-1])


def interpreter(peer: Peer) -> Path:
    """The interpreter of a peer's environment."""
    venv = ROOT / f".venv-bench-{peer.venv}"
    if (venv / ".ready").exists():
        return venv / "bin" / "python"
    log = venv / "install.log"
    if log.exists():
        raise Unavailable(f"not installed: {last_error(log.read_text(encoding='utf-8'))}")
    raise Unavailable("not installed: `make bench-peers` has not been here")


def result(row: Row) -> Result:
    """Ours, then theirs."""
    load = os.getloadavg()[0]
    ours = statistics.median(measured(sys.executable, "ours", row.ours)["values"])
    theirs, version, reason = None, "", ""
    if row.peer:
        peer = PEERS[row.peer]
        try:
            said = measured(interpreter(peer), peer.script, row.theirs)
            theirs, version = statistics.median(said["values"]), said["version"]
        except Unavailable as unavailable:
            reason = str(unavailable)
    return Result(row, ours, theirs, version, reason, load)


# --- the table -----------------------------------------------------------------------------------


def rate(value: float) -> str:
    """Three figures: 31.9 M, 205 k, 4.66 k."""
    scale, unit = (1e6, " M") if value >= 1e6 else (1e3, " k")
    scaled = value / scale
    return f"{scaled:.{max(0, 3 - len(str(int(scaled))))}f}{unit}"


def cells(found: Result) -> list[str]:
    """A row of the table as text."""
    row = found.row
    wanted = "" if row.wanted is None else f"≥ {row.wanted:g}"
    if not row.peer:
        met = "yes" if found.ours >= (row.wanted or 0) else "no"
        return [OURS[row.ours], rate(found.ours), "", "", "", f"≥ {rate(row.wanted or 0)}", met]
    peer = f"{PEERS[row.peer].title} {found.version} {row.theirs}".replace("  ", " ")
    if found.theirs is None:
        reason = found.reason.replace("|", "/").replace("<", "").replace(">", "")
        return [OURS[row.ours], rate(found.ours), f"{peer}, {reason}", "", "", wanted, ""]
    ratio = found.ours / found.theirs
    met = "" if row.wanted is None else "yes" if ratio >= row.wanted else "no"
    shown = f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:#.3g}"
    return [OURS[row.ours], rate(found.ours), peer, rate(found.theirs), shown, wanted, met]


HEAD = ("ours", "decisions/s", "theirs", "decisions/s", "ratio", "wanted", "met")


def markdown(results: Iterable[Result]) -> str:
    """The table for the page."""
    lines = [HEAD, ("---", "--:", "---", "--:", "--:", "--:", "---"), *map(cells, results)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def processor() -> str:
    """The processor's name, as the system tells it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    names = re.findall(r"^model name\s*: (.*)$", text, re.MULTILINE)
    family = [
        re.search(rf"^{key}\s*: (.*)$", text, re.MULTILINE) for key in ("cpu family", "model")
    ]
    numbers = " ".join(found[1] for found in family if found)
    return f"{names[0] if names else platform.machine()} (family and model {numbers})"


def circumstances(results: Iterable[Result]) -> str:
    """When and on what all this was measured."""
    loads = [found.load for found in results]
    return (
        f"Measured on {time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC with Python "
        f"{platform.python_version()} on one of {os.cpu_count()} cores: {processor()}. Load "
        f"average of the machine meanwhile: {min(loads):.1f} to {max(loads):.1f}.\n"
    )


def written(page: str, results: list[Result]) -> str:
    """The page with the block between its marks replaced."""
    if not BLOCK.search(page):
        raise ValueError("the page has no place for the table: <!-- peers --> … <!-- end peers -->")
    block = f"\n{circumstances(results)}\n{markdown(results)}\n"
    return BLOCK.sub(lambda _: block, page)


def chosen(words: list[str]) -> list[Row]:
    """The rows that hold one of the words in what they measure; all without words."""
    return [
        row
        for row in ROWS
        if not words or any(word in f"{row.ours} {row.peer} {row.theirs}" for word in words)
    ]


def show(line: list[str]) -> None:
    """Print a row."""
    ours, mine, theirs, other, ratio, wanted, met = line
    print(f"{ours:54}{mine:>8}  {theirs:44}{other:>8}{ratio:>8}{wanted:>9}  {met}", flush=True)


def main(*words: str) -> None:
    """Measure, print, write."""
    results = []
    with pinned():
        for row in chosen(list(words)):
            results.append(result(row))
            ours, mine, theirs, other, ratio, wanted, met = cells(results[-1])
            print(
                f"{ours:52} {mine:>7}  {theirs:48} {other:>7} {ratio:>7} {wanted:>8} {met}",
                flush=True,
            )
    print(circumstances(results))
    if not words:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
