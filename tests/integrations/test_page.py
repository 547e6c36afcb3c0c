"""docs/interfaces.md: its table says what is tested, and the code of every section runs.

Its code blocks are marked ``py`` rather than ``python``: each runs where its library is installed.
"""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "interfaces.md").read_text(encoding="utf-8")

spec = importlib.util.spec_from_file_location("integrations", ROOT / "tools" / "integrations.py")
assert spec is not None
assert spec.loader is not None
integrations = importlib.util.module_from_spec(spec)
spec.loader.exec_module(integrations)
ROWS = {row.name: row for row in integrations.ROWS}
TABLE = dict(re.findall(r"^\| \[.*?\]\(#(\w+)\) \| (.*) \|$", PAGE, re.MULTILINE))
MODULES = {
    "rllib": "tree",  # which RLlib needs and Ray alone does not
    "vector": "gymnasium",
    "sb3": "sb3_contrib",
    "openspiel": "pyspiel",
}


def require(name):
    """Skip where the library is not installed."""
    module = MODULES.get(name, name)
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")


def test_the_table_names_what_is_tested():
    assert list(TABLE) == list(ROWS)
    for name, row in ROWS.items():
        pins = row.constraints.read_text(encoding="utf-8")
        (version,) = re.findall(rf"^{row.distribution}==(\S+)$", pins, re.MULTILINE)
        assert version in TABLE[name]
        assert row.example in TABLE[name]
        assert (ROOT / "examples" / row.example).is_file()
        assert (ROOT / row.tests).is_file()


def test_every_example_is_in_the_table_and_says_how_to_install():
    examples = {path.name: path for path in (ROOT / "examples").glob("*.py")}
    assert set(examples) == {row.example for row in ROWS.values()}
    for name, path in examples.items():
        text = path.read_text(encoding="utf-8")
        assert "pip install" in text.split('"""')[1]
        assert f"python examples/{name}" in text.split('"""')[1]


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore")  # the libraries' own
@pytest.mark.parametrize("name", list(ROWS))
def test_the_page(name, tmp_path, monkeypatch):
    require(name)
    section = re.search(rf"^## .*{{ ?#{name} ?}}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert section is not None
    blocks = re.findall(r"```py\n(.*?)```", section[1], re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        exec(compile(block, name, "exec"), {"__name__": "example"})


@pytest.mark.integration
@pytest.mark.parametrize("name", list(ROWS))
def test_the_example(name, tmp_path):
    require(name)
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / ROWS[name].example],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"[1-9]\d\d+ steps\b.*\bno illegal action", done.stdout), done.stdout
