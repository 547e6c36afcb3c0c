"""Progress where the output is no terminal: plain lines, from where a run goes on."""

import io

from rich.console import Console

from agents.evaluation import progress as module
from agents.evaluation.progress import progress


def test_lines_say_how_far_it_is_and_what_is_noted(monkeypatch):
    monkeypatch.setattr(module, "SECONDS_BETWEEN_LINES", 0.0)
    out = io.StringIO()
    with progress(Console(file=out, width=200), "training", 1_000, "steps", 400) as meter:
        meter(100)
        meter.note("panel 55.0 % ± 1.0")
        meter(100)
        meter(400)
    lines = out.getvalue().splitlines()
    assert lines[0] == "training: 500 of 1,000 steps"  # one piece of work says nothing of the speed
    assert lines[1].startswith("training: 600 of 1,000 steps, ")
    assert "steps/s" in lines[1]
    assert lines[1].endswith(" left, panel 55.0 % ± 1.0")
    assert lines[2].startswith("training: 1,000 of 1,000 steps")
    assert len(lines) == 3
