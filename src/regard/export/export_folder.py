"""The folder that an export is: the engine's files, and what regard needs to run them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from regard import __version__
from regard.data.checksums import Damaged
from regard.recipe.recipe_files import dump_recipe
from regard.runs.run_folder import RunFolder
from regard.tasks.task import Task
from regard.words import t

Engine = Literal["ctranslate2", "onnx"]
RECORD = "export.json"
FORMAT = 1


class FolderTaken(FileExistsError):
    """Something else would be lost."""

    hint = "name another folder with -o"


@dataclass(frozen=True)
class ExportRecord:
    """What was exported, beside the recipe and the tokenizers: export.json."""

    engine: Engine
    model: str  # the fingerprint of model.safetensors
    quantization: str  # of the weights
    longest: tuple[int | None, int | None]  # tokens of a source and a target at most, EOS included
    exact: bool = True  # whether the scores that the engine finds are the model's
    format: int = FORMAT
    regard: str = __version__

    def write(self, folder: Path) -> None:
        (folder / RECORD).write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")


def read_record(folder: Path) -> ExportRecord | None:
    """None: there is no export in this folder, or one of another format."""
    path = folder / RECORD
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        if fields.get("format") != FORMAT:
            return None
        return ExportRecord(**fields | {"longest": tuple(fields["longest"])})
    except FileNotFoundError:
        return None
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise Damaged(
            t("{path} is damaged: {error}", path=path, error=error),
            t("remove that folder, and regard export writes it anew"),
        ) from None


def default_folder(run: Path, engine: Engine) -> Path:
    return run / "export" / engine


def copy_run_files(run: RunFolder, task: Task, folder: Path) -> None:
    """The recipe and the tokenizers, under the names that they have in a run."""
    (folder / run.recipe.name).write_text(dump_recipe(task.recipe), encoding="utf-8")
    for path in run.assets(task):
        shutil.copy(path, folder / path.name)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder to write to, which becomes `path` when all is written; else nothing is left of it."""
    _check_replaceable(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial, old = (path.with_name(f".{path.name}.{os.getpid()}.{end}") for end in ("new", "old"))
    try:
        partial.mkdir()
        yield partial
        if path.exists():
            path.rename(old)
        partial.rename(path)
    finally:
        for leftover in (partial, old):
            shutil.rmtree(leftover, ignore_errors=True)


def _check_replaceable(path: Path) -> None:
    if not path.exists() or (path / RECORD).is_file():
        return
    if not path.is_dir() or any(path.iterdir()):
        raise FolderTaken(t("{path} is there already and is no export", path=path))
