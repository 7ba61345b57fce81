"""The run folder: where each file is, and whether it belongs to this recipe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from regard.data.atomic_files import clear_partial, write_whole
from regard.data.checksums import Damaged
from regard.data.fields import Field, Label, Text
from regard.recipe.mistakes import MissingKind, RecipeError
from regard.recipe.recipe import LIMITS, Recipe
from regard.recipe.recipe_files import dump_recipe, read_recipe
from regard.runs import older_runs
from regard.runs.failures import FolderInUse, OtherRecipe
from regard.runs.needed_packages import missing, read_packages
from regard.tasks.task import Task
from regard.words import t

# may change from one start to the next: they say how far, where and how to search, not what is learnt
FREE = (
    *(f"training.{limit}" for limit in LIMITS),
    "training.patience",
    "training.checkpoint_every",
    "data.test",
    "trainer.",
    "search.",
    "name",
    "description",
)


LEARN_ANEW = (
    "remove it from the run folder and run the same command again: it is learnt anew, the same from "
    "the same data.train"
)
LAY_DOWN = (
    "remove it and train with the recipe that the run was begun with, which takes its place; "
    "config.json holds it too"
)


@dataclass(frozen=True)
class RunFolder:
    """Everything needed to use, resume or publish a run."""

    path: Path

    @property
    def recipe(self) -> Path:
        return self.path / "recipe.yaml"

    @property
    def model(self) -> Path:
        return self.path / "model.safetensors"

    @property
    def config(self) -> Path:
        return self.path / "config.json"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def metrics(self) -> Path:
        return self.path / "metrics.csv"

    @property
    def scores(self) -> Path:
        return self.path / "scores.json"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    @property
    def log(self) -> Path:
        return self.path / "train.log"

    @property
    def store(self) -> Path:
        return self.path / "data" / "train"

    def assets(self, task: Task) -> dict[Path, Field]:
        """The files of what the fields of a task know; fields that share one file are told once."""
        return {
            self.path / field.file: field
            for field in task.fields.values()
            if field.file is not None
        }

    def read_recipe(self) -> Recipe:
        """Damaged if it is not one that was written whole."""
        try:
            recipe = read_recipe(str(self.recipe))
        except MissingKind:
            raise
        except RecipeError as error:
            if error.needs:
                raise missing(self.recipe, read_packages(self.config), error.needs) from None
            raise Damaged(
                t("{recipe} is damaged: {error}", recipe=self.recipe, error=error), LAY_DOWN
            ) from None
        if "search" not in recipe.model_fields_set:  # the last of its sections
            raise Damaged(t("{recipe} is damaged: it is cut off", recipe=self.recipe), LAY_DOWN)
        return recipe

    def load_assets(self, task: Task, *, older: bool = False) -> None:
        """Into the fields of the task."""
        for field in task.fields.values():
            if field.file is None:
                continue
            path = self.path / (
                older_runs.FILES.get(field.file, field.file) if older else field.file
            )
            try:
                labels = older and isinstance(field, Label)
                field.load(older_runs.labels_in(path) if labels else path.read_text("utf-8"))
            except (FileNotFoundError, IsADirectoryError):
                raise Damaged(
                    t("{path} is missing: the run cannot be used without it", path=path), LEARN_ANEW
                ) from None
            except OSError:
                raise
            except Exception as error:  # a field of another package may say it in its own way
                what = "tokenizer" if isinstance(field, Text) else repr(field.name)
                raise Damaged(
                    t("{path} is no {what} file: {error}", path=path, what=what, error=error),
                    LEARN_ANEW,
                ) from error

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else may train here meanwhile; a killed process holds nothing."""
        in_use = FolderInUse(f"another process is training in {self.path}")
        with held_folder(self.path, in_use):
            yield

    @property
    def begun(self) -> bool:
        """Whether something was learnt here."""
        return self.model.is_file() or any(self.checkpoints.glob("*.safetensors"))

    def claim(self, recipe: Recipe) -> None:
        """Make the folder this recipe's, or refuse if it is another's."""
        check_recipe(self, recipe)
        if self.recipe.is_file() and not self.begun:
            for pattern in ("tokenizer*.json", "*.*.json"):  # assets of another recipe, perhaps
                for path in self.path.glob(pattern):
                    path.unlink(missing_ok=True)
        self.checkpoints.mkdir(parents=True, exist_ok=True)
        for folder in (self.path, self.checkpoints):
            clear_partial(folder)
        write_whole(self.recipe, dump_recipe(recipe))


@contextmanager
def held_folder(path: Path, in_use: FolderInUse) -> Iterator[None]:
    """Made if it is not there, and held until the end; `in_use` is raised if another process has it."""
    path.mkdir(parents=True, exist_ok=True)
    with (path / ".lock").open("w") as file:
        if not _lock(file):
            raise in_use
        yield


def check_recipe(folder: RunFolder, recipe: Recipe) -> None:
    """OtherRecipe, naming the keys, if the run in the folder learnt something by another one."""
    if not (folder.recipe.is_file() and folder.begun):
        return
    refuse_other(recipe, folder.read_recipe(), str(folder.path))


def refuse_other(recipe: Recipe, learnt_by: Recipe, what: str) -> None:
    """OtherRecipe, naming the keys, if `what` was learnt by a recipe that differs in more than may change."""
    before, now = (flat(each.model_dump(mode="json")) for each in (learnt_by, recipe))
    changed = [
        f"{key} was {before.get(key)!r}, is {now.get(key)!r}"
        for key in sorted({*before, *now})
        if before.get(key) != now.get(key) and not key.startswith(FREE)
    ]
    if changed:
        raise OtherRecipe(
            t(
                "{what} holds a run of another recipe: {changed}",
                what=what,
                changed="; ".join(changed),
            )
        )


def _lock(file: IO[str]) -> bool:
    """False if another process has it; where there are no locks it is always free."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        pass
    return True


def flat(value: Any, key: str = "") -> dict[str, Any]:
    """{"model.hidden": 256, …}"""
    if not isinstance(value, dict):
        return {key: value}
    return {
        k: v
        for name, part in value.items()
        for k, v in flat(part, f"{key}.{name}".strip(".")).items()
    }
