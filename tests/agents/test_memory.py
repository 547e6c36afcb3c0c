"""Arrays of a few megabytes come from memory that the process has already."""

import sys

import pytest

from tests.engine.processes import run

TEXT = """
import resource
import torch
from agents.training.memory import keep_freed_memory
torch.set_num_threads(1)
assert keep_freed_memory()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def work():
    a = torch.ones(4096, 256)
    return (a * 2).relu() + (a * 3).relu()
for _ in range(5):
    work()
before = faults()
for _ in range(50):
    work()
print(faults() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other C libraries")
def test_freed_memory_is_used_again():
    out, _ = run("-c", TEXT)
    assert int(out) < 2_000  # 300,000 without
