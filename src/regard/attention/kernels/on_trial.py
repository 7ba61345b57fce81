"""Ways of running on a GPU that have yet to prove themselves on one: each is off until it is asked for.

REGARD_ON_TRIAL=direct-launch,checked-sdpa python train.py
"""

from __future__ import annotations

import os

DIRECT_LAUNCH = "direct-launch"  # past what Triton looks up at every launch
CHECKED_SDPA = "checked-sdpa"  # all keys, or all up to the query: torch's kernel, ours in reserve

ON = set(os.environ.get("REGARD_ON_TRIAL", "").split(","))
