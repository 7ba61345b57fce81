"""What was freed is kept: a block of megabytes comes from the heap, and goes back to it."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

# arena, ordblks, smblks, hblks (blocks got from the system one by one) and six more
COUNT = """
import ctypes, sys
if sys.argv[1] == "keep":
    from regard.training.allocator import keep_memory
    keep_memory()
libc = ctypes.CDLL("libc.so.6")
Info = type("Info", (ctypes.Structure,), {"_fields_": [(str(n), ctypes.c_size_t) for n in range(10)]})
libc.mallinfo2.restype = Info
libc.malloc.restype = ctypes.c_void_p
before = getattr(libc.mallinfo2(), "3")
libc.malloc(ctypes.c_size_t(30 << 20))
print(getattr(libc.mallinfo2(), "3") - before)
"""


@pytest.mark.skipif(
    platform.libc_ver() < ("glibc", "2.33"), reason="only glibc is told, and can be asked"
)
@pytest.mark.parametrize(("how", "blocks"), [("keep", 0), ("free", 1)])
def test_a_block_of_megabytes_comes_from_the_heap(how: str, blocks: int) -> None:
    told = subprocess.run(
        [sys.executable, "-c", COUNT, how], capture_output=True, text=True, check=True
    )
    assert int(told.stdout) == blocks
