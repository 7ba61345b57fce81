"""A run that is made ready to answer many times over."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regard.runs.loaded_run import LoadedRun


def ready_run(
    run: Path | Sequence[Path] | None, *, device: str | None, int8: bool = False
) -> LoadedRun:
    """The run, or several as an ensemble; what a batch frees is kept for the next one."""
    from regard.runs.loaded_run import load
    from regard.training.allocator import keep_memory

    keep_memory()
    return load(run, device=device, quantize="int8" if int8 else None)
