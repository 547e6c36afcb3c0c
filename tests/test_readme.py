"""The README's Python runs as it stands."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)


def test_there_is_python_in_the_readme():
    assert BLOCKS


@pytest.mark.parametrize("block", BLOCKS)
def test_the_readme_runs(block, capsys):
    exec(compile(block, "README.md", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out
