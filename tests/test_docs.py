"""The pages say what the code does: generated tables, examples that run, listed presets."""

import importlib.util
import re
from pathlib import Path

import pytest

from tests.agents.small import small_policy
from thirtyone_env import PRESETS

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted((ROOT / "docs").rglob("*.md"))

spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
assert spec is not None
assert spec.loader is not None
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tables_equal_the_code(page):
    text = page.read_text(encoding="utf-8")
    assert generate.rendered(text) == text, "`make docs` writes the tables"


def test_every_table_has_its_place():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert sorted(m["name"] for m in generate.BLOCK.finditer(text)) == sorted(generate.TABLES)


@pytest.mark.parametrize("preset", list(PRESETS))
def test_every_preset_has_a_place_in_the_rules_page(preset):
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert re.search(rf"^\| .*\b{preset}\b", text, re.MULTILINE)


def examples():
    """Python blocks of the pages, one parameter each."""
    for page in PAGES:
        blocks = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
        for number, block in enumerate(blocks, 1):
            yield pytest.param(page.name, block, id=f"{page.stem}-{number}")


@pytest.mark.integration
@pytest.mark.parametrize(("name", "block"), list(examples()))
def test_the_examples_run(name, block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "quickstart-1").mkdir(parents=True)
    small_policy().save(tmp_path / "runs" / "quickstart-1")
    exec(compile(block, name, "exec"), {"__name__": "example"})
