"""The command as a person starts it."""

from __future__ import annotations

import os
import subprocess
import sys

COMMAND = [sys.executable, "-c", "from regard.cli import main; main()"]


def in_a_process(
    *arguments: str, stdin: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `regard` with these arguments, and these settings beside those of the tests."""
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        input=stdin,
        encoding="utf-8",
        timeout=600,
        env=os.environ | environment,
    )
