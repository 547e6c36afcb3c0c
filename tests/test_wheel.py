"""The wheel holds the environment alone and works where there is no checkout."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from thirtyone_env._version import __version__

ROOT = Path(__file__).resolve().parent.parent

PLAY = """
import sys
import thirtyone_env
from thirtyone_env import make_bot

assert thirtyone_env.__file__.startswith(sys.argv[1]), thirtyone_env.__file__
env = thirtyone_env.env(rules="danish", num_players=3)
env.reset(seed=7)
bot = make_bot("threshold:25")
total = dict.fromkeys(env.possible_agents, 0.0)
for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()
    total[agent] += reward
    env.step(None if termination or truncation else bot.act(env))
print(sorted(total.values()))
"""


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel of the checkout, built from a copy so that no stale build folder gets into it."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(
        ROOT / "thirtyone_env",
        source / "thirtyone_env",
        ignore=shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc"),
    )
    # Packages that must stay outside, as they lie in a checkout.
    for name in ("agents", "tests"):
        (source / name).mkdir()
        (source / name / "__init__.py").touch()
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation")
    run(*pip, "--wheel-dir", str(source / "dist"), str(source))
    [path] = (source / "dist").glob("*.whl")
    return path


@pytest.mark.integration
def test_the_wheel_holds_the_environment_alone(wheel):
    assert wheel.name == f"thirtyone_env-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    roots = {name.split("/")[0] for name in names}
    assert roots == {"thirtyone_env", f"thirtyone_env-{__version__}.dist-info"}
    shipped = {name for name in names if name.startswith("thirtyone_env/")}
    ours = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "thirtyone_env").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "thirtyone_env/py.typed" in shipped
    assert shipped == ours


@pytest.mark.integration
def test_the_wheel_plays_a_match_outside_the_checkout(wheel, tmp_path):
    site = tmp_path / "site"
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site))
    run(*pip, str(wheel))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environment = os.environ | {"PYTHONPATH": str(site)}
    out = run(sys.executable, "-c", PLAY, str(site), cwd=elsewhere, env=environment)
    assert out == "[-0.5, -0.5, 1.0]\n"
