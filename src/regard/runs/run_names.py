"""What a run is called by: its folder, the embedded model, a checkpoint of a run. No torch is needed to know.

run_path("embedded")                              # the model that comes with the package
run_path("embedded:couplets")                     # another one that does
run_path("runs/zh-en")                            # a folder
checkpoint_of(Path("runs/zh-en@500"))             # (runs/zh-en, 500)
checkpoint_of(Path("runs/zh-en/checkpoints/best-00000500.safetensors"))     # the same
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

NAME = "embedded"
ZOO = Path(__file__).parent.parent / "models" / "zoo"
EMBEDDED = ZOO / "zh-en"
AT = re.compile(r"(.+)@(\d{1,12})")
FILE = re.compile(r"(?:best|step)-(\d+)\.safetensors")


def run_path(name: str | Path) -> Path:
    """A text may be the name of the embedded model, or embedded:NAME that of another; a Path, and ./embedded,
    is always a folder.
    """
    if name == NAME:
        return EMBEDDED
    if isinstance(name, str) and name.startswith(f"{NAME}:"):
        return ZOO / name.removeprefix(f"{NAME}:")
    return Path(name)


def embedded_names() -> list[str]:
    """What the models that come with the package are called."""
    return sorted(f"{NAME}:{path.parent.name}" for path in ZOO.glob("*/model.safetensors"))


def checkpoint_of(path: Path) -> tuple[Path, int] | None:
    """The folder and the step of RUN@STEP, or of a file of its checkpoints; None: it is a folder."""
    if (file := FILE.fullmatch(path.name)) and path.parent.name == "checkpoints":
        return path.parent.parent, int(file[1])
    at = AT.fullmatch(path.name)
    if at is None or path.is_dir():
        return None
    return path.with_name(at[1]), int(at[2])


def path_of(run: Any) -> Path:
    """What `load` loads a run by: its folder, of a checkpoint FOLDER@STEP."""
    folder: Path = run.folder.path
    step = getattr(run, "step", None)  # what is no LoadedRun, but answers like one, has none
    return folder if step is None else folder.with_name(f"{folder.name}@{step}")


def shown_name(path: Path) -> str:
    """The name of a run on a page: of a checkpoint with its step, of the embedded model both its names."""
    if path.parent == ZOO:
        return f"{path.name} ({NAME})"
    if found := checkpoint_of(path):
        return f"{found[0].resolve().name}@{found[1]}"
    return path.resolve().name
