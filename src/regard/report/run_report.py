"""What a run's report says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from regard.clock import clock
from regard.data.problems import Problems
from regard.data.store import Store
from regard.recipe.recipe_files import dump_recipe
from regard.report.beside_runs import ScoredRun, beside_section, with_answers
from regard.report.data_summary import data_facts, data_section
from regard.report.kept_checkpoint import kept_checkpoint, validated_by
from regard.report.learning_curves import Curves
from regard.report.report_page import Report
from regard.report.sample_looks import SampleLooks
from regard.report.score_tables import scores_section
from regard.runs.loaded_run import LoadedRun
from regard.runs.metrics_file import Row, read_rows
from regard.runs.model_file import read_config
from regard.runs.run_names import shown_name
from regard.runs.training_machine import machine_words
from regard.tasks.evaluation import Evaluation, Measured
from regard.tasks.report_part import NextStep
from regard.tasks.task import Task
from regard.view.markup import Markup
from regard.words import say, t

NOBODY: Mapping[str, Any] = MappingProxyType({})


def make_report(
    run: LoadedRun,
    found: Mapping[str, Evaluation],
    beside: Mapping[str, tuple[LoadedRun, Mapping[str, Evaluation]]] = NOBODY,
    name: str = "",
) -> Report:
    """The page of a run, from its folder and from what was found on its dev and test sets.

    beside: other runs by name, and what was found on the same sets; name: what the run is called then.
    """
    recipe, folder = run.recipe, run.folder
    metrics, part = read_rows(folder.metrics), run.task.report(run.module, found, folder.path)
    alone = shown_name(folder.path)
    name = name or alone
    first = _scored(name, run, found)
    others = [_scored(each, *given) for each, given in beside.items()]
    looks = SampleLooks({name: run, **{each: other for each, (other, _) in beside.items()}})
    samples, worst = (
        looks.linked(with_answers(each, others) if others else each)
        for each in (part.samples, part.worst)
    )
    return Report(
        title=" · ".join([name, *beside]) if others else _headed(alone, recipe.name),
        verdict=part.verdict or t("There were no {noun} to score it on.", noun=run.task.called(0)),
        scores=part.scores,
        facts=_facts(run, metrics) | dict(part.facts),
        command=f"regard train {folder.recipe} --run {folder.path}",
        recipe=dump_recipe(recipe),
        metrics=metrics,
        name=name if others else "",
        curves=[Curves(read_rows(other.run.folder.metrics), name=other.name) for other in others],
        beside=beside_section(first, others, looks) if others else "",
        curve_names=curve_names(run.task),
        kept=kept_checkpoint(run.task, _config(run), metrics),
        scored=_scores(found),
        drawings=part.drawings,
        samples=samples,
        sample_names=part.sample_names,
        worst=worst,
        worst_names=part.worst_names,
        records=looks.records,
        data=data_section(data_facts(run, first.found), run.task.called(2)),
        problems=_problems(run),
        next_steps=[*part.next_steps, _train_longer(run)],
        source_language=recipe.data.source,
        target_language=recipe.data.target,
    )


def _headed(name: str, recipe: str) -> str:
    """A run goes by its folder; the recipe stands beside it where that is called otherwise."""
    return name if recipe in ("", name) else t("{name} (recipe {recipe})", name=name, recipe=recipe)


def _scored(name: str, run: LoadedRun, found: Mapping[str, Evaluation]) -> ScoredRun:
    measured = {each: one for each, one in found.items() if isinstance(one, Measured)}
    metrics, config = read_rows(run.folder.metrics), _config(run)
    facts = _facts(run, metrics) | {
        t("checkpoint"): kept_checkpoint(run.task, config, metrics) or "–"
    }
    return ScoredRun(name, run, measured, facts)


def _config(run: LoadedRun) -> dict[str, Any]:
    return read_config(run.folder) if run.folder.config.is_file() else {}


def curve_names(task: Task) -> dict[str, str]:
    """What the numbers of the validations are called: BLEU of another beam is another number."""
    unit = t("{unit} per second", unit=say(task.scored).capitalize())
    searched = [one.name for one in task.measured_by()] if task.searches else []
    return {"speed": unit} | {name: validated_by(task, name) for name in searched}


def _scores(found: Mapping[str, Evaluation]) -> Markup:
    return scores_section({name: one for name, one in found.items() if isinstance(one, Measured)})


def _facts(run: LoadedRun, metrics: Sequence[Row]) -> dict[str, str]:
    last = metrics[-1] if metrics else {}
    sizes = (f"{size:,} {name}" for name, size in run.task.sizes.items() if isinstance(size, int))
    return {
        t("model"): run.recipe.model.kind,
        t("parameters"): f"{sum(p.numel() for p in run.model.parameters()):,}",
        t("vocabularies"): ", ".join(sizes),
        t("steps"): f"{last.get('step', 0):,.0f}",
        t("training time"): clock(last.get("seconds", 0.0)),
        t("seed"): str(run.recipe.seed),
        **_written(run),
    }


def _written(run: LoadedRun) -> dict[str, str]:
    """When the model was written, by what and where."""
    config = _config(run)
    said = {
        t("trained on"): config.get("written"),
        t("trained with"): f"regard {config['regard']}" if config.get("regard") else None,
        t("machine"): machine_words(config.get("spent")),
    }
    return {name: str(value) for name, value in said.items() if value}


def _problems(run: LoadedRun) -> Problems:
    folder, data = run.folder.store, run.recipe.data
    problems = Store.open(folder).problems if folder.is_dir() else Problems()
    for spec in (data.dev, data.test):
        problems.found |= run.task.left_out(spec).found
    return problems


def _train_longer(run: LoadedRun) -> NextStep:
    folder, training = run.folder.path, run.recipe.training
    further = " ".join(f"training.{name}=…" for name in training.limits or ("patience",))
    return NextStep(
        f"regard train {run.folder.recipe} --run {folder} {further}",
        t("Train it for longer: it goes on from its last checkpoint."),
    )
