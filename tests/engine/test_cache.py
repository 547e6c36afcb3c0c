"""The cache of compiled kernels: quiet when warm, one notice when cold, and hard to break."""

import ast
import os
import re
import shutil
import time
from pathlib import Path

import pytest

from tests.engine.processes import ROOT, finished, run, start
from thirtyone_env import _jit

resource = pytest.importorskip("resource", reason="processor time and users are told as on Unix")

COMPILING, DAMAGED = "compiling kernels", "is not usable here"

SMALL = """
import logging
logging.basicConfig(format="%(name)s %(levelname)s %(message)s")
import numpy as np
from thirtyone_env import PRESETS, _jit, game, hand_points
from thirtyone_env.state import new_states
game.legal_sets(new_states(PRESETS["danish"], 2, 1), np.zeros(2, np.int64))
print(hand_points("Kh 9h 4c", "danish"), _jit.CACHE_FOLDER)
"""
"""Needs two small kernels; prints 19.0 and the folder that it used."""

FIRST_STEP = """
import logging
logging.basicConfig(format="%(name)s %(levelname)s %(message)s")
import thirtyone_env
env = thirtyone_env.env(rules="danish", num_players=4)
env.reset(seed=1)
observation, *_ = env.last()
env.step(int(observation["action_mask"].nonzero()[0][0]))
print("done")
"""

GYMNASIUM_STEP = """
import logging
logging.basicConfig(format="%(name)s %(levelname)s %(message)s")
import gymnasium
import thirtyone_env
env = gymnasium.make("ThirtyOne-v0", disable_env_checker=True)
_, info = env.reset(seed=1)
env.step(int(info["action_mask"].nonzero()[0][0]))
print("done")
"""

pytestmark = pytest.mark.integration


def play(script: str, cache: Path | None, **changes: str | None) -> tuple[str, list[str]]:
    """Output and log lines of a script with this cache folder."""
    folder = None if cache is None else str(cache)
    out, err = run("-c", script, **({"THIRTYONE_CACHE_DIR": folder} | changes))
    return out.strip(), [line for line in err.splitlines() if line]


def used_folder(out: str) -> Path | None:
    value, _, folder = out.partition(" ")
    assert value == "19.0"
    return None if folder == "None" else Path(folder)


@pytest.fixture(scope="module")
def warm(tmp_path_factory) -> Path:
    """A cache in which the small script has left its kernels."""
    folder = tmp_path_factory.mktemp("cache")
    out, log = play(SMALL, folder)
    assert used_folder(out).parent == folder
    assert len(log) == 1
    assert log[0].startswith(f"thirtyone_env WARNING {COMPILING}")
    return folder


@pytest.fixture
def cache(warm, tmp_path) -> Path:
    """A copy of that cache, to be spoilt."""
    return Path(shutil.copytree(warm, tmp_path / "cache", copy_function=shutil.copy))


def kernel_files(cache: Path) -> list[Path]:
    files = sorted(path for path in cache.rglob("*") if path.suffix in (".nbi", ".nbc"))
    assert len(files) == 4
    return files


# --- cold and warm -----------------------------------------------------------------------------


def test_a_warm_cache_is_silent(warm):
    assert play(SMALL, warm)[1] == []


def cpu_seconds(script: str, cache: Path | None) -> tuple[float, list[str]]:
    """Processor time of a process: other work on the machine does not count."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _, log = play(script, cache)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, log


def test_the_first_step_with_a_warm_cache_takes_less_than_two_seconds():
    """With the cache of the user, which this may fill."""
    common = os.environ.get("THIRTYONE_CACHE_DIR")
    folder = None if common is None else Path(common)
    play(FIRST_STEP, folder)
    seconds, logs = zip(*(cpu_seconds(FIRST_STEP, folder) for _ in range(3)), strict=True)
    assert logs == ([], [], [])
    assert min(seconds) < 2


@pytest.mark.slow
def test_the_first_step_with_a_cold_cache_takes_less_than_thirty_seconds(tmp_path):
    seconds, log = cpu_seconds(FIRST_STEP, tmp_path)
    assert [line for line in log if COMPILING in line] == log
    assert len(log) == 1
    assert seconds < 30
    kept = {path.name.split(".")[0] for path in tmp_path.rglob("*.nbc")}
    assert kept == {"game"}, "kernels of bots or batches were compiled for one PettingZoo match"


@pytest.mark.slow
def test_the_gymnasium_environment_compiles_the_engine_once(tmp_path):
    seconds, log = cpu_seconds(GYMNASIUM_STEP, tmp_path)
    assert len(log) == 1
    kept = sorted(path.name.split("-")[0] for path in tmp_path.rglob("*.nbc"))
    assert kept == ["game.prepare_states", "kernels.play_rows", "kernels.resolve_rows"]
    assert seconds < 30


# --- damage ------------------------------------------------------------------------------------

SLOW = pytest.mark.slow
DAMAGE = {
    "cut off": lambda raw: raw[: len(raw) // 2],
    "garbage": lambda raw: b"\x80\x05garbage" + raw[100:300],
    "emptied": lambda raw: b"",
}


def assert_recovers(cache: Path) -> None:
    """One warning about the damage, one notice of compiling, and silence afterwards."""
    out, log = play(SMALL, cache)
    assert used_folder(out).parent == cache
    assert [sum(text in line for line in log) for text in (DAMAGED, COMPILING)] == [1, 1]
    assert len(log) == 2
    assert play(SMALL, cache)[1] == []


@pytest.mark.parametrize("damage", ["cut off", "garbage", pytest.param("emptied", marks=SLOW)])
def test_damaged_files_are_compiled_anew_with_one_warning(cache, damage):
    for path in kernel_files(cache):
        path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert_recovers(cache)


@SLOW
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_one_damaged_file_is_compiled_anew(cache, suffix):
    path = next(path for path in kernel_files(cache) if path.suffix == suffix)
    path.write_bytes(DAMAGE["cut off"](path.read_bytes()))
    assert_recovers(cache)


@SLOW
def test_missing_files_are_compiled_anew(cache):
    for path in kernel_files(cache):
        if path.suffix == ".nbc":
            path.unlink()
    _, log = play(SMALL, cache)
    assert [COMPILING in line for line in log] == [True]
    assert play(SMALL, cache)[1] == []


# --- folders -----------------------------------------------------------------------------------


def test_the_folder_of_the_system_is_used_where_none_is_named(tmp_path):
    out, _ = play(SMALL, None, XDG_CACHE_HOME=str(tmp_path))
    assert used_folder(out).parent == tmp_path / "thirtyone_env"


def test_a_home_that_cannot_be_written_is_passed_over(tmp_path):
    (tmp_path / "file").write_text("no folder")
    home, temporary = str(tmp_path / "file" / "home"), tmp_path / "temporary"
    temporary.mkdir()
    out, log = play(SMALL, None, XDG_CACHE_HOME=None, HOME=home, TMPDIR=str(temporary))
    assert used_folder(out).parent.parent == temporary
    assert len(log) == 1


def test_no_home_at_all(tmp_path):
    out, _ = play(SMALL, tmp_path, XDG_CACHE_HOME=None, HOME=None)
    assert used_folder(out).parent == tmp_path


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_read_only_home_is_passed_over(tmp_path):
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    temporary.mkdir()
    home.mkdir(mode=0o500)
    out, _ = play(SMALL, None, XDG_CACHE_HOME=None, HOME=str(home), TMPDIR=str(temporary))
    assert used_folder(out).parent.parent == temporary


def test_a_folder_that_others_may_write_is_not_trusted(tmp_path):
    (tmp_path / "file").write_text("no folder")
    temporary = tmp_path / "temporary"
    shared = temporary / f"thirtyone_env-{os.getuid()}"
    shared.mkdir(parents=True)
    shared.chmod(0o777)
    home = str(tmp_path / "file" / "home")
    out, log = play(SMALL, None, XDG_CACHE_HOME=None, HOME=home, TMPDIR=str(temporary))
    assert used_folder(out) is None
    assert [COMPILING in line for line in log] == [True]
    assert not list(shared.rglob("*.nb?"))


@pytest.mark.slow
def test_sixteen_cold_processes_at_once_leave_a_good_cache(tmp_path):
    processes = [start("-c", SMALL, THIRTYONE_CACHE_DIR=str(tmp_path)) for _ in range(16)]
    for out, err in [finished(process) for process in processes]:
        assert used_folder(out.strip()).parent == tmp_path
        assert DAMAGED not in err
    assert play(SMALL, tmp_path)[1] == []


ONE_ENTRY = """
import logging
import sys
import time
from pathlib import Path
from thirtyone_env import _jit

logging.basicConfig()


@_jit.entry
def answer(given):
    return given + 5


ready, begin = Path(sys.argv[1]), Path(sys.argv[2])
ready.touch()
while not begin.exists():
    time.sleep(0.001)
print(answer(2))
"""
"""One entry that takes next to no time to compile, once everybody is ready."""


def test_cold_processes_that_compile_at_the_same_moment_leave_a_good_cache(tmp_path):
    script, begin = tmp_path / "script.py", tmp_path / "begin"
    script.write_text(ONE_ENTRY)
    ready = [tmp_path / f"ready {number}" for number in range(5)]
    caches = {"THIRTYONE_CACHE_DIR": str(tmp_path / "cache")}
    processes = [start(str(script), str(path), str(begin), **caches) for path in ready[:4]]
    while not all(path.exists() for path in ready[:4]):
        assert all(process.poll() is None for process in processes)
        time.sleep(0.01)
    begin.touch()
    for out, err in [finished(process) for process in processes]:
        assert out == "7\n"
        assert DAMAGED not in err
    out, err = run(str(script), str(ready[4]), str(begin), **caches)
    assert (out, err) == ("7\n", "")


# --- sources -----------------------------------------------------------------------------------


def imported_modules(text: str) -> set[str]:
    """Modules of the package that a source imports from."""
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module.startswith("thirtyone_env."):
                names.add(node.module)
    return names


def test_every_source_that_kernels_import_from_is_in_the_digest(tmp_path, monkeypatch):
    package = Path(shutil.copytree(ROOT / "thirtyone_env", tmp_path / "thirtyone_env"))
    texts = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    holders = [
        path
        for path, text in texts.items()
        if re.search(r"^@(inlined_kernel|kernel|entry|wrap)", text, re.M)
    ]
    needed = set(holders)
    for path in holders:
        for module in imported_modules(texts[path]):
            inside = tmp_path.joinpath(*module.split("."))
            needed |= {inside.with_suffix(".py"), inside / "__init__.py"} & set(texts)
    assert len(needed) > 12
    monkeypatch.setattr(_jit, "__file__", str(package / "_jit.py"))
    before = _jit._sources_digest()
    unnoticed = []
    for path in sorted(needed):
        path.write_text(texts[path] + "\n# edited\n", encoding="utf-8")
        if _jit._sources_digest() == before:
            unnoticed.append(path.name)
        path.write_text(texts[path], encoding="utf-8")
    assert unnoticed == []
    (package / "py.typed").write_text("edited")
    assert _jit._sources_digest() == before


def test_an_edited_kernel_is_compiled_anew(warm, tmp_path):
    shutil.copytree(ROOT / "thirtyone_env", tmp_path / "thirtyone_env")
    source = tmp_path / "thirtyone_env" / "cards.py"
    text = source.read_text(encoding="utf-8")
    marker = '"""Value of a hand of 3 or 4 cards in half points."""\n'
    assert text.count(marker) == 1
    source.write_text(text.replace(marker, marker + "    return 7\n"), encoding="utf-8")
    out, err = run("-c", SMALL, root=tmp_path, THIRTYONE_CACHE_DIR=str(warm))
    assert out.startswith("3.5 ")
    assert COMPILING in err
    assert used_folder(play(SMALL, warm)[0]) != Path(out.split()[1])


def test_an_entry_of_another_file_is_compiled_anew_after_an_edit(tmp_path):
    script = tmp_path / "script.py"
    for number in (1, 2, 2):
        script.write_text(
            "from thirtyone_env._jit import entry\n\n\n@entry\ndef answer(given):\n"
            f"    return given + {number}\n\n\nprint(answer(5))\n"
        )
        out, _ = run(str(script), THIRTYONE_CACHE_DIR=str(tmp_path / "cache"))
        assert out.strip() == str(5 + number)
