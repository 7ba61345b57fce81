"""The most memory that training took."""

from __future__ import annotations

import sys

import torch


def peak_memory(device: torch.device) -> int:
    """Bytes: of tensors on a GPU, of the whole process elsewhere; 0 where nobody counts."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
