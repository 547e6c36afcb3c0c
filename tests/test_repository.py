"""The repository keeps its own promises: clean tree, one version, a light import."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

spec = importlib.util.spec_from_file_location("check_tree", ROOT / "tools" / "check_tree.py")
assert spec is not None
assert spec.loader is not None
check_tree = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_tree)


def test_the_tree_holds_nothing_forbidden():
    assert check_tree.problems(ROOT) == []


@pytest.mark.parametrize(
    ("name", "text", "finding"),
    [
        ("a.md", "see /" + "home/me/notes", "a.md:1: names a path of one machine"),
        ("a.py", "import pickle\n", "a.py:1: imports pickle, which runs what it reads"),
        ("a.py", "\nfrom pickle import load\n", "a.py:2: imports pickle, which runs what it reads"),
        ("a.py", "torch.load(f)\n", "a.py:1: calls torch.load without weights_only=True"),
        (
            "a.py",
            "from stable_baselines3.common.callbacks import EvalCallback\n",
            "a.py:1: imports EvalCallback, which ignores action masks",
        ),
        ("a.py", "np.load(f, allow_pickle=True)\n", "a.py:1: reads pickles through NumPy"),
        ("a.txt", "<" * 7 + " HEAD\n", "a.txt:1: has a conflict marker"),
        ("a.txt", "TO" + "DO: later\n", "a.txt:1: announces unfinished work"),
    ],
)
def test_forbidden_things_are_found(tmp_path, name, text, finding):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert check_tree.problems(tmp_path) == [finding]


@pytest.mark.parametrize(
    "text",
    [
        "torch.load(f, weights_only=True)\n",
        "from sb3_contrib.common.maskable.evaluation import evaluate_policy\n",
        "url = 'https://example.org/home/page'\n",
    ],
)
def test_allowed_things_pass(tmp_path, text):
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    assert check_tree.problems(tmp_path) == []


def test_the_version_is_the_same_everywhere():
    import thirtyone_env
    from thirtyone_env._version import __version__

    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert thirtyone_env.__version__ == __version__
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [__version__]
    released = re.findall(r"^## \[(\d[^\]]*)\]", changelog, re.MULTILINE)
    assert released[0] == __version__


def test_every_change_says_whether_results_change():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    entries = re.findall(r"^- (.*(?:\n  .*)*)", changelog, re.MULTILINE)
    assert entries
    for entry in entries:
        assert re.search(r"[Cc]hanges results: (yes|no)\.?$", entry), entry


@pytest.mark.integration
def test_importing_the_environment_stays_light():
    heavy = ["torch", "stable_baselines3", "matplotlib", "PIL", "pygame", "rich", "agents"]
    code = f"import sys, thirtyone_env; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "[]"
    assert run.stderr == ""
