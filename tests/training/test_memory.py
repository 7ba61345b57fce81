"""What was freed is kept: another round of the same blocks takes no new pages from the system."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

ROUNDS = """
import resource, sys, torch
if sys.argv[1] == "keep":
    from regard.training.memory import keep_memory
    keep_memory()
def round():
    blocks = [torch.ones(n) for n in (1_000_000, 3_000_000, 4_000_000)]
    del blocks
for _ in range(5):
    round()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    round()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is told")
def test_the_same_blocks_are_used_again():
    def faults(how: str) -> int:
        told = subprocess.run(
            [sys.executable, "-c", ROUNDS, how], capture_output=True, text=True, check=True
        )
        return int(told.stdout)

    assert faults("keep") < 100 < faults("free")
