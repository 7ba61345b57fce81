"""Runs that exist, compared: those whose recipes differ in their seed alone are one variant."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regard.compare.compare_files import comparison_folder, write_outputs
from regard.compare.comparison import Comparison, ScoredVariant
from regard.compare.experiment import budget_of
from regard.compare.findings import Findings
from regard.compare.judgement import RunJudge, Set, check_one_task
from regard.compare.variants import variant_name
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.runs.devices import find_device
from regard.runs.loaded_run import check_is_run
from regard.runs.model_file import read_config, recipe_of
from regard.runs.run_folder import RunFolder, flat
from regard.words import t

# what a variant is not told by: the seed, names, and where and how it ran
APART = ("seed", "name", "description", "trainer.", "training.checkpoint_every", "data.test")
FEW = 3  # keys in the name of a variant


def compare_runs(
    paths: Sequence[Path],
    out: Path,
    *,
    data: str | None = None,
    measure: str | None = None,
    device: str | None = None,
    command: str = "",
) -> Findings:
    """What differs between these runs, by the items of one corpus; written to the folder `out`."""
    recipes = {path: _recipe(path) for path in paths}
    if len(recipes) < len(paths):
        raise RecipeError(t("a run is named twice"), t("name each once"))
    check_one_task(recipes)
    variants = _variants(recipes)
    if len(variants) < 2:
        raise RecipeError(
            t("all these runs are of one variant: their recipes differ in the seed alone"),
            t("name runs of two variants or more"),
        )
    judge = RunJudge(_judged_on(recipes, data), out / "judged", measure, find_device(device))
    judge.check(next(iter(recipes.values())))
    budgets = {budget_of(recipe) for recipe in recipes.values()}
    notes = [] if len(budgets) == 1 else [t("the runs were not trained with equal budgets")]
    if not all(recipe.training.paired for recipe in recipes.values()):
        notes.append(
            t(
                "first weights were not paired (training.paired), so that seeds differ by more chance than "
                "they need to"
            )
        )
    with comparison_folder(out):
        for name, (runs, _) in variants.items():
            for path in runs:
                judge.judge(name, path)
        found = judge.findings(
            Comparison(judge.measure, _scored(judge, list(variants))),
            title=t.plural(len(paths), "one run", "{n} runs"),
            command=command,
            notes=notes,
            changes={name: changes for name, (_, changes) in variants.items()},
            roles={},
            budget=budgets.pop() if len(budgets) == 1 else "",
            trained=False,
        )
        write_outputs(found, out)
    return found


def _scored(judge: RunJudge, names: Sequence[str]) -> list[ScoredVariant]:
    counted = judge.measure.name
    return [
        ScoredVariant(name, {seed: run.counts[counted] for seed, run in judge.judged[name].items()})
        for name in names
    ]


def _recipe(path: Path) -> Recipe:
    folder = RunFolder(path)
    check_is_run(folder)
    return recipe_of(folder, read_config(folder))


def _judged_on(recipes: Mapping[Path, Recipe], data: str | None) -> Set:
    if data is not None:
        return Set(data, "data")
    for part in ("test", "dev"):
        found = {str(getattr(r.data, part)): (path, r) for path, r in recipes.items()}
        if len(found) > 1:
            (one, (first, _)), (other, (second, _)) = list(found.items())[:2]
            raise RecipeError(
                t(
                    "{first} and {second} have different {part} sets: {one} and {other}",
                    first=first,
                    second=second,
                    part=part,
                    one=one,
                    other=other,
                ),
                t("--data SPEC names one to judge all of them by"),
            )
        spec = getattr(next(iter(recipes.values())).data, part)
        if spec is not None:
            return Set(spec, part)
    raise RecipeError(
        t("the runs have neither data.test nor data.dev"),
        t("--data SPEC names a corpus to judge by"),
    )


def _variants(
    recipes: Mapping[Path, Recipe],
) -> dict[str, tuple[list[Path], dict[str, str]]]:
    """By name: the runs of each, and what is its own."""
    told = {path: _told(recipe) for path, recipe in recipes.items()}
    groups: dict[str, list[Path]] = {}
    for path, values in told.items():
        groups.setdefault(repr(sorted(values.items())), []).append(path)
    firsts = [told[paths[0]] for paths in groups.values()]
    keys = sorted({key for values in firsts for key in values})
    differing = [key for key in keys if len({str(values.get(key)) for values in firsts}) > 1]
    found: dict[str, tuple[list[Path], dict[str, str]]] = {}
    for paths in groups.values():
        values = told[paths[0]]
        changes = {key: _said(values[key]) for key in differing if key in values}
        name = variant_name(changes) if len(differing) <= FEW else _common(paths)
        found[_new(name, found)] = (paths, changes)
    return found


def _told(recipe: Recipe) -> dict[str, Any]:
    values = flat(recipe.model_dump(mode="json"))
    return {key: value for key, value in values.items() if not key.startswith(APART)}


def _said(value: Any) -> str:
    return json.dumps(value).lower() if value is None or isinstance(value, bool) else str(value)


def _common(paths: Sequence[Path]) -> str:
    """The folder of a run, or what those of several begin with."""
    first, *others = (path.resolve().name for path in paths)
    shared = first
    while shared and not all(name.startswith(shared) for name in others):
        shared = shared[:-1]
    return shared.rstrip("-_. ") or first


def _new(name: str, taken: Mapping[str, Any]) -> str:
    number = 2
    while name in taken:
        name, number = f"{name.removesuffix(f' ({number - 1})')} ({number})", number + 1
    return name
