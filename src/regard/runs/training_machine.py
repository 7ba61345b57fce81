"""What a run was trained on: kept in its folder, because reports are written again elsewhere."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

import torch

from regard.words import t


def this_machine() -> dict[str, Any]:
    return {
        "machine": platform.machine(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def machine_words(spent: object) -> str | None:
    """Of what config.json says was spent; None of a run that does not know its machine."""
    found = spent.get("machine") if isinstance(spent, Mapping) else None
    if not isinstance(found, Mapping) or type(found.get("threads")) is not int:
        return None
    known = {name: str(found.get(name, "?")) for name in ("machine", "python", "torch")}
    threads = t.plural(found["threads"], "one thread", "{n} threads")
    return t("{machine}, {threads}, Python {python}, torch {torch}", threads=threads, **known)
