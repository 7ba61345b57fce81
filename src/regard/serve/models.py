"""The models that are served, by name, and the worker that asks them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from regard.recipe.mistakes import RecipeError
from regard.serve.estimates import Estimates, LookEstimates
from regard.serve.http_errors import Refused
from regard.serve.request_limits import RequestLimits
from regard.serve.worker import Worker
from regard.suggestions import meant

if TYPE_CHECKING:
    from regard.looking.guests.guest_model import GuestModel
    from regard.looking.looker import Looker
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
    """Who is asked, and by which name: a run, or a model of somebody else."""

    name: str
    estimates: LookEstimates
    counts: Counts = field(default_factory=Counts)

    @property
    def looker(self) -> Looker:
        return self.estimates.looker

    @property
    def run(self) -> LoadedRun:
        return self.run_estimates.run

    @property
    def run_estimates(self) -> Estimates:
        """Of what only a run can be asked for."""
        if not isinstance(self.estimates, Estimates):
            raise Refused(
                422,
                f"model {self.name!r} is of Hugging Face, and can be looked at here: ask /attention",
            )
        return self.estimates

    @cached_property
    def about(self) -> dict[str, Any]:
        """What the empty page says of it; found once, when somebody asks."""
        return self.looker.about()

    def must_translate(self) -> None:
        if not self.run.task.searches:
            does = self.run.task.verb
            raise Refused(422, f"model {self.name!r} was trained to {does}, not to translate")


def run_in(model: LoadedRun | GuestModel) -> LoadedRun | None:
    """None: it is a guest, who answers for itself; a run needs somebody to ask it."""
    return None if hasattr(model, "look") else cast("LoadedRun", model)


def _place(model: LoadedRun | GuestModel) -> Path:
    run = run_in(model)
    return cast("GuestModel", model).place if run is None else run.folder.path


def _estimates(model: LoadedRun | GuestModel, limits: RequestLimits) -> LookEstimates:
    run = run_in(model)
    return (
        LookEstimates(cast("GuestModel", model), limits) if run is None else Estimates(run, limits)
    )


class Shelf:
    """Models by name; the first is asked where no name is given.

    beam: of those who do not say; the recipe's if not given.
    """

    def __init__(
        self,
        load: Callable[[], Sequence[LoadedRun | GuestModel]],
        limits: RequestLimits | None = None,
        *,
        beam: int | None = None,
        warm: Callable[[Sequence[LoadedRun | GuestModel]], None] = lambda models: None,
        daemon: bool = False,
    ) -> None:
        self.limits, self.beam = limits or RequestLimits(), beam
        self.worker = Worker(load, self.limits, warm, daemon=daemon)
        loaded = self.worker.loaded
        places = [_place(each) for each in loaded]
        self._served = {
            name: Served(name, _estimates(each, self.limits))
            for name, each in zip(distinct_names(places), loaded, strict=True)
        }

    def __iter__(self) -> Iterator[Served]:
        return iter(self._served.values())

    def find(self, name: str | None) -> Served:
        if name is None:
            return next(iter(self))
        if name not in self._served:
            asked, known = name[:80], ", ".join(self._served)
            raise Refused(
                404, f"no model {asked!r} is served.{meant(asked, self._served)} There is {known}"
            )
        return self._served[name]


def distinct_names(folders: Sequence[Path]) -> list[str]:
    """The last part of each path, with those before it where two would be called the same."""
    paths = [Path(os.path.realpath(folder)) for folder in folders]  # also of a link to itself
    if len(set(paths)) < len(paths):
        twice = next(path for path in paths if paths.count(path) > 1)
        raise RecipeError(f"{twice} is named twice", "name each run once")
    depth = 1
    while len(names := {"/".join(path.parts[-depth:]): None for path in paths}) < len(paths):
        depth += 1
    return list(names)
