"""Look through the tree for what must not be in it; print every finding and fail if there is one.

Each check stands for an accident that is silent otherwise: a path of somebody's machine, a file
format that runs code when it is read, an evaluation that ignores action masks.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_BYTES = 2 * 1024 * 1024
SKIPPED_FOLDERS = {".git", ".venv", "build", "dist", "runs", "site", "__pycache__"}

MACHINE_PATH = re.compile(r"(?<![\w.~$})/-])/(?:home|root|Users|work|mnt|tmp)/\w")
CONFLICT = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
LEFT_OVER = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME)\b")

# Readers that run what they read.
UNSAFE_MODULES = {"pickle", "cloudpickle", "dill", "joblib", "shelve"}
# Both play illegal actions or sample without masks, and say nothing.
MASKLESS = {"evaluate_policy", "EvalCallback"}


def skipped(path: Path) -> bool:
    """Whether a path lies in a folder that tools make."""
    return any(
        part in SKIPPED_FOLDERS or part.startswith(".venv-") or part.endswith("_cache")
        for part in path.parts
    )


def files(root: Path) -> list[Path]:
    """Every file that is, or would be, under version control; all files outside a checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0 and (root / ".git").exists():
        paths = [root / name for name in listed.stdout.decode().split("\0") if name]
    else:
        paths = [path for path in root.rglob("*") if not skipped(path.relative_to(root))]
    return sorted({path for path in paths if path.is_file()})


def text_problems(text: str) -> Iterator[tuple[int, str]]:
    """Line numbers and findings in any text file."""
    for pattern, finding in (
        (MACHINE_PATH, "names a path of one machine"),
        (CONFLICT, "has a conflict marker"),
        (LEFT_OVER, "announces unfinished work"),
    ):
        for match in pattern.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, finding


def python_problems(text: str) -> Iterator[tuple[int, str]]:
    """Line numbers and findings in Python source."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in UNSAFE_MODULES:
                    yield node.lineno, f"imports {alias.name}, which runs what it reads"
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if module.split(".")[0] in UNSAFE_MODULES:
                yield node.lineno, f"imports {module}, which runs what it reads"
            if module.startswith("stable_baselines3"):
                for alias in node.names:
                    if alias.name in MASKLESS:
                        yield node.lineno, f"imports {alias.name}, which ignores action masks"
        elif isinstance(node, ast.Call):
            if ast.unparse(node.func) == "torch.load":
                safe = any(
                    keyword.arg == "weights_only"
                    and isinstance(keyword.value, ast.Constant)
                    and keyword.value.value is True
                    for keyword in node.keywords
                )
                if not safe:
                    yield node.lineno, "calls torch.load without weights_only=True"
            for keyword in node.keywords:
                if (
                    keyword.arg == "allow_pickle"
                    and isinstance(keyword.value, ast.Constant)
                    and keyword.value.value is True
                ):
                    yield node.lineno, "reads pickles through NumPy"


def problems(root: Path) -> list[str]:
    """All findings under `root`, one line each, as `path:line: finding`."""
    found = []
    for path in files(root):
        name = path.relative_to(root).as_posix()
        raw = path.read_bytes()
        if len(raw) > MAX_BYTES:
            found.append(f"{name}:1: is larger than {MAX_BYTES} bytes")
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{name}:{line}: {finding}" for line, finding in text_problems(text)]
        if path.suffix == ".py":
            found += [f"{name}:{line}: {finding}" for line, finding in python_problems(text)]
    return found


def main() -> int:
    """Print the findings; 1 if there are any."""
    found = problems(ROOT)
    print("\n".join(found) if found else "the tree is clean", file=sys.stderr if found else None)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
