"""The runs that are served, by name, and the worker that asks them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.recipe.mistakes import RecipeError
from regard.runs.run_names import EMBEDDED, NAME, checkpoint_of, path_of, shown_name
from regard.serve.estimates import Estimates
from regard.serve.http_errors import Refused
from regard.serve.jobs import Job
from regard.serve.model_description import description
from regard.serve.request_limits import RequestLimits
from regard.serve.worker import Worker
from regard.suggestions import meant
from regard.words import language, say, t

if TYPE_CHECKING:
    from regard.runs.loaded_run import LoadedRun


@dataclass
class Counts:
    """What a model has done since the start."""

    sentences: int = 0
    batches: int = 0
    looks: int = 0

    def add(self, sentences: int) -> None:
        self.sentences += sentences
        self.batches += 1


@dataclass(frozen=True, eq=False)
class Served:
    """A run and its name."""

    name: str
    run: LoadedRun
    estimates: Estimates
    counts: Counts = field(default_factory=Counts)
    described: dict[str, dict[str, Any]] = field(default_factory=dict)  # by language

    @property
    def shown(self) -> str:
        """What its records are called: by its own name, where nobody else has that here."""
        path = path_of(self.run)
        return shown_name(path) if self.name == path.name else self.name

    @property
    def task(self) -> str:
        return self.run.recipe.task.kind

    @property
    def description(self) -> dict[str, Any]:
        """What the empty page says of it; found once in each language, when somebody asks."""
        if (spoken := language()) not in self.described:
            self.described[spoken] = description(self.run)
        return self.described[spoken]

    def must_translate(self) -> None:
        if not self.run.task.searches:
            raise Refused(
                422,
                t(
                    "model {name} was trained to {verb}, not to translate",
                    name=repr(self.name),
                    verb=say(self.run.task.verb),
                ),
            )


class Shelf:
    """Runs by name; the first is asked where no name is given.

    beam: of those who do not say; the recipe's if not given.
    """

    def __init__(
        self,
        load: Callable[[], Sequence[LoadedRun]],
        limits: RequestLimits | None = None,
        *,
        beam: int | None = None,
        warm: Callable[[Sequence[LoadedRun]], None] = lambda runs: None,
    ) -> None:
        self.limits, self.beam = limits or RequestLimits(), beam
        self.worker = Worker(load, self.limits, warm)
        self.asked: dict[str, Job] = {}  # those that wait for an answer, by their tickets
        runs = self.worker.loaded
        names = distinct_names([path_of(run) for run in runs])
        self._served = {
            name: Served(name, run, Estimates(run, self.limits))
            for name, run in zip(names, runs, strict=True)
        }

    def __iter__(self) -> Iterator[Served]:
        return iter(self._served.values())

    def find(self, name: str | None) -> Served:
        if name is None:
            return next(iter(self))
        if name == NAME and name not in self._served:  # which it is called everywhere
            for served in self:
                if path_of(served.run) == EMBEDDED:
                    return served
        if name not in self._served:
            asked, known = name[:80], ", ".join(self._served)
            raise Refused(
                404,
                t(
                    "no model {asked} is served.{meant} There is {known}",
                    asked=repr(asked),
                    meant=meant(asked, self._served),
                    known=known,
                ),
            )
        return self._served[name]


def distinct_names(folders: Sequence[Path]) -> list[str]:
    """The last part of each path, with those before it where two would be called the same.

    A checkpoint is RUN@STEP; the embedded model is called embedded where another run has its name.
    """
    paths = [
        Path(os.path.realpath(_as_named(folder))) for folder in folders
    ]  # also of a link to itself
    if len(set(paths)) < len(paths):
        twice = next(path for path in paths if paths.count(path) > 1)
        raise RecipeError(t("{twice} is named twice", twice=twice), t("name each run once"))
    depth = 1
    while len(names := {"/".join(path.parts[-depth:]): None for path in paths}) < len(paths):
        depth += 1
    found = dict(zip(paths, names, strict=True))
    home = Path(os.path.realpath(EMBEDDED))
    if depth > 1 and home in found and NAME not in names:
        others = [path for path in paths if path != home]
        found = dict(zip(others, distinct_names(others), strict=True)) | {home: NAME}
    return [found[path] for path in paths]


def _as_named(path: Path) -> Path:
    """A file of a checkpoint by its other name, RUN@STEP."""
    found = checkpoint_of(path)
    return found[0].with_name(f"{found[0].name}@{found[1]}") if found else path
