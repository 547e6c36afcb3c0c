"""Test every library of docs/interfaces.md in its own environment; one line each at the end.

Names of libraries as arguments choose rows: ``python tools/integrations.py rllib torchrl``.
"""

import subprocess
import sys
import time
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Row(NamedTuple):
    """A row of the table: the library, where it is installed, its tests and its example."""

    name: str
    distribution: str
    venv: str
    tests: str
    example: str

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        return ROOT / self.venv / "bin" / "python"

    @property
    def constraints(self) -> Path:
        """The file that pins its environment."""
        library = self.venv.removeprefix(".venv").removeprefix("-")
        return ROOT / (f"constraints/{library}.txt" if library else "constraints.txt")

    @property
    def version(self) -> str:
        """The version that is installed."""
        packages = next((ROOT / self.venv / "lib").glob("python*/site-packages"))
        (found,) = PathDistribution.discover(name=self.distribution, path=[str(packages)])
        return found.version


ROWS = [
    Row("pettingzoo", "pettingzoo", ".venv", "tests/env/test_aec.py", "pettingzoo_bots.py"),
    Row("gymnasium", "gymnasium", ".venv", "tests/env/test_single.py", "gymnasium_bot.py"),
    Row("vector", "gymnasium", ".venv", "tests/env/test_vector.py", "gymnasium_vector.py"),
    Row(
        "sb3",
        "stable_baselines3",
        ".venv",
        "tests/adapters/test_sb3_learner.py",
        "sb3_maskable_ppo.py",
    ),
    Row(
        "openspiel",
        "open_spiel",
        ".venv",
        "tests/adapters/test_openspiel.py",
        "openspiel_cfr.py",
    ),
    Row("rllib", "ray", ".venv-rllib", "tests/integrations/test_rllib.py", "rllib_ppo.py"),
    Row(
        "torchrl",
        "torchrl",
        ".venv",
        "tests/integrations/test_torchrl.py",
        "torchrl_reinforce.py",
    ),
    Row(
        "tianshou",
        "tianshou",
        ".venv-tianshou",
        "tests/integrations/test_tianshou.py",
        "tianshou_dqn.py",
    ),
    Row(
        "supersuit",
        "SuperSuit",
        ".venv",
        "tests/integrations/test_supersuit.py",
        "supersuit_flat.py",
    ),
    Row(
        "agilerl",
        "agilerl",
        ".venv-agilerl",
        "tests/integrations/test_agilerl.py",
        "agilerl_dqn.py",
    ),
]


def run(row: Row, tests: str) -> bool:
    """Run tests in the row's environment; show the output only where they fail."""
    done = subprocess.run(
        [row.python, "-m", "pytest", "-q", tests],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        print(done.stdout)
    return done.returncode == 0


def main(names: list[str]) -> int:
    """Run the rows of these names, or all; 1 if one failed."""
    known = [row.name for row in ROWS]
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"unknown libraries {unknown}; known: {', '.join(known)}", file=sys.stderr)
        return 2
    lines, failed = [], False
    for row in ROWS:
        if names and row.name not in names:
            continue
        start = time.perf_counter()
        page = "tests/integrations/test_page.py"
        steps = {
            "tests": row.tests,
            "page": f"{page}::test_the_page[{row.name}]",
            "example": f"{page}::test_the_example[{row.name}]",
        }
        bad = [step for step, tests in steps.items() if not run(row, tests)]
        failed = failed or bool(bad)
        result = f"FAIL ({', '.join(bad)})" if bad else "pass"
        seconds = time.perf_counter() - start
        lines.append(f"{row.name:<14} {row.version:<10} {result:<24} {seconds:4.0f} s")
        print(lines[-1], flush=True)
    if len(lines) > 1:
        print("\n" + "\n".join(lines))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
