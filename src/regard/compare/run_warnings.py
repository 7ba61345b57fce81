"""What trainings warned of, told once for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from regard.compare.judged_run import JudgedRun
from regard.runs.run_folder import RunFolder
from regard.words import t


def run_warnings(judged: Mapping[str, Mapping[int, JudgedRun]]) -> list[str]:
    """Each once, in their order, with the variants that it is of if these are not all.

    judged: by variant and seed.
    """
    by: dict[str, dict[str, None]] = {}
    for name, runs in judged.items():
        for run in runs.values():
            for warning in logged_warnings(run.path):
                by.setdefault(warning, {})[name] = None
    return [
        warning if len(names) == len(judged) else f"{', '.join(names)}: {warning}"
        for warning, names in by.items()
    ]


def logged_warnings(path: Path) -> list[str]:
    """Of the run in this folder, as its log has them: `date time warning: message`."""
    sign = t("warning: {message}", message="")
    try:
        lines = RunFolder(path).log.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return []
    said = (line.split(" ", 2)[-1] for line in lines)
    return [each.removeprefix(sign) for each in said if each.startswith(sign)]
