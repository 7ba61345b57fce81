"""Ways of running on a GPU that can be chosen: those that have proved themselves on one are on.

REGARD_ON_TRIAL=no-direct-launch python train.py     # one less
"""

from __future__ import annotations

import os

DIRECT_LAUNCH = "direct-launch"  # past what Triton looks up at every launch
CHECKED_SDPA = "checked-sdpa"  # all keys, or all up to the query: torch's kernel, ours in reserve

PROVED = (DIRECT_LAUNCH, CHECKED_SDPA)


def chosen(said: str) -> set[str]:
    """Those that are on, by what the environment says: names, with no- before what is to be off."""
    words = {word.strip() for word in said.split(",")}
    return {way for way in {*PROVED, *words} if f"no-{way}" not in words}


ON = chosen(os.environ.get("REGARD_ON_TRIAL", ""))
