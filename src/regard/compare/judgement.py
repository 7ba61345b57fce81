"""Runs judged by the same items, one after the other, and what comes of all of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch

from regard.compare.cases import cases, with_records
from regard.compare.comparison import Comparison
from regard.compare.findings import Closer, Findings
from regard.compare.items import describe_items
from regard.compare.judged_run import Cost, JudgedRun, judge, read_items, speed_of
from regard.compare.run_warnings import run_warnings
from regard.compare.slices import slices
from regard.data.problems import Problems
from regard.data.spec import Spec
from regard.measures.measure import Measure
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.runs.loaded_run import LoadedRun, load
from regard.suggestions import meant
from regard.tasks.likelihood_task import LikelihoodTask
from regard.tasks.recipe_task import task_of
from regard.tasks.simplest_answers import one_answer, simplest_answer
from regard.words import t

CLOSER = 6  # variants that the best is compared with in detail
DRAWN = 3  # of them, with pictures of attention


class Set(NamedTuple):
    """What is judged by."""

    spec: Spec
    part: str  # data, test or dev


def check_one_task(recipes: Mapping[Any, Recipe]) -> None:
    """Refuse what does not do the same. recipes: by what each is called."""
    (first, recipe), *others = recipes.items()
    for name, other in others:
        if other.task.kind != recipe.task.kind:
            raise RecipeError(
                t(
                    "different tasks: {first} is for task.kind={kind}, {name} for "
                    "task.kind={task_kind}",
                    first=first,
                    kind=recipe.task.kind,
                    name=name,
                    task_kind=other.task.kind,
                ),
                t("what does the same can be compared"),
            )
        known, found = task_of(recipe).columns, task_of(other).columns
        if known != found:
            raise RecipeError(
                t(
                    "different answers: {first} is measured by {known}, {name} by {found}",
                    first=first,
                    known=", ".join(known),
                    name=name,
                    found=", ".join(found),
                ),
                t("what answers alike can be compared"),
            )


def _plainly(name: str) -> str:
    """macro_f1 of macro-F1 or Macro F1."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


@dataclass
class RunJudge:
    """Everything judged so far."""

    items: Set
    kept: Path
    wanted: str | None  # the name of a measure
    device: torch.device
    judged: dict[str, dict[int, JudgedRun]] = field(default_factory=dict)
    measures: list[Measure] = field(default_factory=list)
    _first: LoadedRun | None = None
    _examples: list[Any] = field(default_factory=list)

    def check(self, recipe: Recipe) -> None:
        """The corpus and the measure, before anything is trained; the measure as tasks spell it."""
        task = task_of(recipe)
        task.corpora(self.items.spec)
        known = [*task.columns, *(["loss"] if isinstance(task, LikelihoodTask) else [])]
        if self.wanted is None:
            return
        spelt = {_plainly(name): name for name in known}.get(_plainly(self.wanted))
        if spelt is None:
            raise RecipeError(
                t(
                    "items are not measured by {wanted}.{meant}",
                    wanted=repr(self.wanted),
                    meant=meant(self.wanted, known),
                ),
                t(
                    "task.kind={kind} has --measure {known}",
                    kind=recipe.task.kind,
                    known=", ".join(known),
                ),
            )
        self.wanted = spelt

    @property
    def measure(self) -> Measure:
        """The one that is asked for, or that checkpoints were chosen by, or the first."""
        named = {measure.name: measure for measure in self.measures}
        assert self._first is not None
        if self.wanted is not None and self.wanted not in named:
            raise RecipeError(
                t(
                    "items are not measured by {wanted}.{meant}",
                    wanted=repr(self.wanted),
                    meant=meant(self.wanted, named),
                ),
                t("--measure takes {named}", named=", ".join(named)),
            )
        return named.get(self.wanted or self.usual, self.measures[0])

    @property
    def usual(self) -> str:
        """The measure, where none is asked for."""
        assert self._first is not None
        chosen_by = self._first.recipe.training.metric
        return next((m.name for m in self.measures if m.name == chosen_by), self.measures[0].name)

    @property
    def values(self) -> dict[tuple[str, str], float]:
        """The scores so far, by variant and seed."""
        return {
            (name, str(seed)): float(self.measure.value(run.counts[self.measure.name].sum(0)))
            for name, runs in self.judged.items()
            for seed, run in runs.items()
        }

    def judge(self, variant: str, path: Path) -> float:
        """The score of one more run."""
        run = self.load(path)
        if self._first is None:
            self._first, self._examples = run, read_items(run, self.items.spec, Problems())
            examples = self._examples
        else:
            examples = read_items(run, self.items.spec, Problems())
        found, measures = judge(run, self.items.spec, examples, self.kept)
        self.measures = self.measures or measures
        self._check_items(found)
        seeds = self.judged.setdefault(variant, {})
        if found.seed in seeds and seeds[found.seed].path != path:
            raise RecipeError(
                t(
                    "{path} and {value} are one variant and have one seed, {seed}: nothing is "
                    "learnt of the same run twice",
                    path=seeds[found.seed].path,
                    value=path,
                    seed=found.seed,
                ),
                t("name one of them"),
            )
        seeds[found.seed] = found
        return float(self.measure.value(found.counts[self.measure.name].sum(0)))

    def load(self, path: Path) -> LoadedRun:
        if self.device.type == "cpu":
            torch.set_num_threads(1)  # as trainings have; many threads would slow small models
        return load(path, device=str(self.device))

    def findings(
        self,
        comparison: Comparison,
        *,
        title: str,
        command: str,
        notes: Sequence[str] = (),
        changes: Mapping[str, Mapping[str, str]],
        roles: Mapping[str, str],
        budget: str = "",
        trained: bool = True,
    ) -> Findings:
        """All that there is to say, with a closer look at the best and the others."""
        assert self._first is not None
        recipe, task = self._first.recipe, self._first.task
        items = describe_items(task, self._examples, recipe.data.train)
        in_use = {variant.name: set(variant.counts) for variant in comparison.variants}
        judged = {
            name: {seed: run for seed, run in self.judged[name].items() if seed in seeds}
            for name, seeds in in_use.items()
        }
        notes = [*notes, *self._notes()]
        found = Findings(
            title=title,
            task=recipe.task.kind,
            noun=task.noun,
            data=str(self.items.spec),
            comparison=comparison,
            measures=self.measures,
            judged=judged,
            items=items,
            changes=changes,
            roles=roles,
            costs=self._costs(judged),
            command=command,
            budget=budget,
            trained=trained,
            usual=self.usual,
            simplest=simplest_answer(task, self._examples),
            always=self._always(judged),
            warnings=run_warnings(judged),
            notes=notes,
        )
        return replace(found, closer=self._closer(found))

    def _always(self, judged: Mapping[str, Mapping[int, JudgedRun]]) -> dict[str, dict[int, str]]:
        """What variants answer to everything, by seed; those alone that do."""
        assert self._first is not None
        if not all(isinstance(example, Mapping) for example in self._examples):
            return {}
        wanted = [self._first.task.wanted(example) for example in self._examples]
        found = {
            name: {
                seed: answer
                for seed, run in sorted(runs.items())
                if (answer := one_answer(run.answers, wanted)) is not None
            }
            for name, runs in judged.items()
        }
        return {name: by_seed for name, by_seed in found.items() if by_seed}

    def _costs(self, judged: Mapping[str, Mapping[int, JudgedRun]]) -> dict[str, Cost]:
        """Means over seeds, and the speed of the first: all of them are of one shape."""
        found = {}
        for name, runs in judged.items():
            run = self.load(runs[min(runs)].path)
            whole = Cost.of_several([one.cost for one in runs.values()])
            speed, spread = speed_of(run, self._examples, self.kept)
            found[name] = replace(whole, speed=speed, speed_spread=spread)
        return found

    def _closer(self, found: Findings) -> list[Closer]:
        """The best beside each of the others."""
        comparison, closer = found.comparison, []
        best, *others = comparison.order
        for place, other in enumerate(others[:CLOSER]):
            parts = slices(comparison, best, other, found.items)
            picked = cases(comparison, best, other, found.items, found.judged)
            if place < DRAWN and picked:
                load_once = cache(self.load)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    picked = [
                        with_records(case, load_once, (best, other), self._examples)
                        for case in picked
                    ]
            closer.append(Closer(best, other, parts, picked))
        return closer

    def _notes(self) -> list[str]:
        if self.items.part != "dev":
            return []
        return [
            t(
                "judged on the dev set, by which the checkpoints were chosen too: scores are a little too "
                "good, for all variants alike"
            )
        ]

    def _check_items(self, found: JudgedRun) -> None:
        for runs in self.judged.values():
            for other in runs.values():
                if other.items != found.items:
                    raise RecipeError(
                        t(
                            "{path} and {found_path} are not judged by the same items of {spec}: they read "
                            "or cut them differently",
                            path=other.path,
                            found_path=found.path,
                            spec=self.items.spec,
                        ),
                        t("the same data.… and tokenizer.… give the same items"),
                    )
                shapes = [
                    {name: counts.shape for name, counts in each.counts.items()}
                    for each in (other, found)
                ]
                if shapes[0] != shapes[1]:
                    raise RecipeError(
                        t(
                            "{path} and {found_path} are not measured alike: they know different labels",
                            path=other.path,
                            found_path=found.path,
                        ),
                        t("train them on the same corpus"),
                    )
                return
