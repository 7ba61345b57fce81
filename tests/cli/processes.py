"""The command as a person starts it."""

from __future__ import annotations

import os
import subprocess
import sys

COMMAND = [sys.executable, "-c", "from regard.cli import main; main()"]


def in_a_process(
    *arguments: str, stdin: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `regard` with these arguments, without colours and 80 columns wide."""
    plain = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "REGARD_DEBUG")}
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        input=stdin,
        encoding="utf-8",
        timeout=300,
        env=plain | {"NO_COLOR": "1", "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"} | environment,
    )
