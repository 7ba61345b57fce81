"""A comparison from its plan to what was found: trainings, judgements, seeds until it is decided."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Protocol

import torch

from regard.compare.compare_files import comparison_folder, write_outputs
from regard.compare.comparison import Comparison, Names, ScoredVariant
from regard.compare.findings import Findings
from regard.compare.judgement import RunJudge, Set, check_one_task
from regard.compare.trainings import PlannedRun, train_all, trained_before
from regard.compare.variants import JUDGED, Variant, VariantPlan, replaced
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe, Trainer
from regard.runs.devices import find_device
from regard.runs.run_folder import RunFolder
from regard.statistics import Looks, Verdict
from regard.words import t

HOUR = 3600.0


@dataclass(frozen=True)
class UntilDecided:
    """Seeds are added where the decision is open, up to so many, and no later than after so long."""

    most_seeds: int = 10
    hours: float | None = None


class Progress(Protocol):
    def say(self, text: str) -> None: ...
    def show(self, trainings: Sequence[PlannedRun], scores: Mapping[Names, float]) -> None: ...
    def ended(self, one: PlannedRun, score: float, measure: Any) -> None: ...
    def close(self) -> None: ...


def compare(
    given: VariantPlan,
    out: Path,
    progress: Progress,
    *,
    seeds: int = 3,
    data: str | None = None,
    measure: str | None = None,
    jobs: int | None = None,
    until: UntilDecided | None = None,
    command: str = "",
) -> Findings:
    """Train every variant with every seed, judge all of them by the same items, and tell what differs.

    What is done already in the folder `out` is not done again; the files of the comparison are written there.
    """
    from regard.training.preflight import check  # not needed to compare runs that exist

    variants = {variant.name: variant for variant in given.variants}
    check_one_task({name: variant.recipe for name, variant in variants.items()})
    for variant in given.variants:
        try:
            check(variant.recipe)
        except RecipeError as error:
            raise RecipeError(f"{variant.name}: {error}", error.hint) from None
    judge = RunJudge(judged_on(given, data), out / JUDGED, measure, device_of(given.recipe))
    judge.check(given.recipe)
    work = _Work(
        variants, given.recipe.seed, out, judge, progress, jobs or usual_jobs(given.recipe)
    )
    with comparison_folder(out):
        if until is None:
            work.train(dict.fromkeys(variants, seeds), None)
            comparison = Comparison(judge.measure, work.scored(dict.fromkeys(variants, seeds)))
        else:
            comparison = work.until_decided(seeds, until)
        progress.close()
        found = judge.findings(
            comparison,
            title=given.recipe.name,
            command=command,
            notes=given.notes,
            changes={name: variant.changes for name, variant in variants.items()},
            roles={name: variant.role for name, variant in variants.items() if variant.role},
            budget=budget_of(given.recipe),
        )
        write_outputs(found, out)
    return found


def judged_on(given: VariantPlan, data: str | None) -> Set:
    """The corpus of the comparison: the one that was named, or the test set, or the dev set."""
    if data is not None:
        return Set(data, "data")
    named = {str(variant.recipe.data.test) for variant in given.variants}
    if len(named) > 1:
        raise RecipeError(
            t(
                "the variants have different test sets: {named}",
                named=" and ".join(sorted(named)[:2]),
            ),
            t("--data SPEC names one to judge all of them by"),
        )
    recipe = given.recipe.data
    if recipe.test is not None:
        return Set(recipe.test, "test")
    if recipe.dev is not None:
        return Set(recipe.dev, "dev")
    raise RecipeError(
        t("the recipe has neither data.test nor data.dev"),
        t("--data SPEC names a corpus to judge by"),
    )


def usual_jobs(recipe: Recipe) -> int:
    """A process for every core; one for every GPU."""
    if (device := device_of(recipe)).type != "cpu":
        return torch.cuda.device_count() if device.type == "cuda" else 1
    return cores()


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def one_place(recipe: Recipe, number: int, jobs: int = 1) -> Trainer:
    """Where a run is trained that is one of many: on one thread, or on one GPU, each in its turn, with its
    share of the cores.
    """
    given, device = recipe.trainer, device_of(recipe)
    chosen: dict[str, Any] = {}
    if given.threads is None:
        chosen["threads"] = 1 if device.type == "cpu" else max(1, cores() // jobs)
    if device.type == "cuda" and given.devices == "auto":
        chosen["devices"] = [number % torch.cuda.device_count()]
    return given.model_copy(update=chosen)


def device_of(recipe: Recipe) -> torch.device:
    kind = recipe.trainer.accelerator
    return find_device(None if kind in ("auto", "gpu") else kind)


def budget_of(recipe: Recipe) -> str:
    return ", ".join(f"training.{name}={value:g}" for name, value in recipe.training.limits.items())


@dataclass
class _Work:
    """What is trained and judged so far."""

    variants: Mapping[str, Variant]
    first_seed: int
    out: Path
    judge: RunJudge
    progress: Progress
    jobs: int

    def train(self, wanted: Mapping[str, int], late: float | None) -> bool:
        """So many seeds of each variant; False if there was no time for all of them."""
        trainings = [
            self._planned(self.variants[name], self.first_seed + number)
            for number in range(max(wanted.values()))
            for name, count in wanted.items()
            if number < count
        ]

        def seen() -> None:
            self.progress.show(trainings, self.judge.values)

        for one in train_all(trainings, jobs=self.jobs, seen=seen, until=late):
            if one.recipe.seed in self.judge.judged.get(one.variant, {}):
                continue  # by an earlier look
            score = self.judge.judge(one.variant, one.folder.path)
            self.progress.ended(one, score, self.judge.measure)
            seen()
        return all(one.done for one in trainings)

    def scored(self, wanted: Mapping[str, int]) -> list[ScoredVariant]:
        name_of = self.judge.measure.name
        return [
            ScoredVariant(
                name,
                {
                    seed: run.counts[name_of]
                    for seed, run in self.judge.judged[name].items()
                    if seed < self.first_seed + count
                },
            )
            for name, count in wanted.items()
        ]

    def until_decided(self, first: int, until: UntilDecided) -> Comparison:
        """Looks are planned before the first, and what they say depends on them alone: run again after it
        was killed, it decides as it would have.
        """
        late = None if until.hours is None else time.monotonic() + until.hours * HOUR
        pairs = list(combinations(self.variants, 2))
        looks = Looks.planned(first, max(first, until.most_seeds), comparisons=len(pairs))
        wanted = dict.fromkeys(self.variants, first)
        in_time = self.train(wanted, late)
        verdicts: dict[Names, Verdict] = {}
        while True:
            found = Comparison(self.judge.measure, self.scored(wanted), looks=looks)
            differences = {pair: found.between(*pair)[1] for pair in pairs}
            verdicts = looks.verdicts(differences, verdicts, spent=not in_time)
            following = looks.next(differences, verdicts) if in_time else None
            if following is None:
                return Comparison(found.measure, found.variants, looks=looks, verdicts=verdicts)
            pair, goal = following
            before = dict(wanted)
            wanted |= {name: max(wanted[name], goal) for name in pair}
            in_time = self.train(wanted, late)
            if not in_time:  # seeds that only one of the two has would say nothing
                wanted = before

    def _planned(self, variant: Variant, seed: int) -> PlannedRun:
        place = list(self.variants).index(variant.name) + seed * len(self.variants)
        trainer = one_place(variant.recipe, place, self.jobs)
        recipe = replaced(variant.recipe, seed=seed, name=variant.name, trainer=trainer)
        own = RunFolder(self.out / variant.folder / f"seed-{seed}")
        found = None if own.begun else trained_before(self.out, recipe)
        return PlannedRun(variant.name, recipe, found or own)
