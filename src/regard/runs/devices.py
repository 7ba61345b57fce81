"""The devices there are, and what is said of one that is not."""

from __future__ import annotations

import torch

from regard.recipe.mistakes import RecipeError
from regard.words import t

ELSEWHERE = "a CPU is always there: --device cpu, in a recipe trainer.accelerator: cpu"


def find_device(name: str | None = None) -> torch.device:
    """cpu, cuda, cuda:1, mps; the best there is if not given or "auto"."""
    counts = _counts()
    if name is None or name == "auto":
        return torch.device(next(kind for kind in ("cuda", "mps", "cpu") if counts[kind]))
    try:
        device = torch.device(name)
    except RuntimeError:
        raise _missing(name) from None
    if (device.index or 0) >= counts.get(device.type, 0):
        raise _missing(name)
    return device


def check_accelerator(kind: str) -> None:
    """Refuse what Lightning would not find: auto, cpu, gpu (of any kind), cuda or mps."""
    counts = _counts() | {"auto": 1}
    counts["gpu"] = counts["cuda"] + counts["mps"]
    if not counts[kind]:
        raise _missing(kind)


def _counts() -> dict[str, int]:
    # is_available() would start CUDA, which processes forked later could not use
    cuda = torch.cuda.device_count()
    return {"cpu": 1, "cuda": cuda, "mps": int(torch.backends.mps.is_available())}


def _missing(name: str) -> RecipeError:
    seen = [f"{kind}:{i}" if n > 1 else kind for kind, n in _counts().items() for i in range(n)]
    return RecipeError(
        t(
            "no device {name}: torch {version} sees {seen} here",
            name=repr(name),
            version=torch.__version__,
            seen=", ".join(seen),
        ),
        ELSEWHERE,
    )
