"""Which weights a run kept, and why: in a sentence or two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from regard.recipe.recipe import Recipe
from regard.runs.metrics_file import Row
from regard.tasks.evaluation import measure_name, with_beam
from regard.tasks.task import Task, Validation
from regard.words import t

FEW = 6  # steps that are named


def kept_checkpoint(task: Task, config: Mapping[str, Any], metrics: Sequence[Row]) -> str:
    """config: what config.json holds; of a run of an earlier version the validations tell. Empty: nobody
    knows.
    """
    recipe = task.recipe
    kept = config.get("kept") or _by_metrics(recipe, metrics)
    if not kept:
        return ""
    steps = [int(step) for step in kept["steps"]]
    said = [_chosen(task, steps, kept, metrics)]
    last = int(metrics[-1]["step"]) if metrics else max(steps)
    if kept.get("end"):
        said.append(
            t("Training ended at step {step}, by {limit}.", step=f"{last:,}", limit=kept["end"])
        )
    elif config.get("stopped"):
        said.append(t("Training was stopped at step {step}.", step=f"{last:,}"))
    else:
        said.append(t("Training ended at step {step}.", step=f"{last:,}"))
    return " ".join(said)


def _chosen(
    task: Task, steps: Sequence[int], kept: Mapping[str, Any], metrics: Sequence[Row]
) -> str:
    recipe, first = task.recipe, f"{steps[0]:,}"
    if not kept.get("best"):
        return t("The model is the last one, of step {step}: no dev set chose another.", step=first)
    named = ", ".join(f"{step:,}" for step in sorted(steps)[:FEW])
    known = {
        "count": kept["validations"],
        "measure": validated_by(task, recipe.training.metric),
        "value": _value(task, steps[0], metrics),
    }
    if len(steps) > 1:
        more = " …" if len(steps) > FEW else ""
        return t(
            "The model is the mean of the weights of steps {steps}, the best of {count} validations by dev "
            "{measure}{value}.",
            steps=f"{named}{more}",
            **known,
        )
    if recipe.training.ema:
        return t(
            "The model is the moving average of the weights at step {step}, the best of {count} validations "
            "by dev {measure}{value}.",
            step=first,
            **known,
        )
    return t(
        "The model is that of step {step}, the best of {count} validations by dev {measure}{value}.",
        step=first,
        **known,
    )


def validated_by(task: Task, metric: str) -> str:
    """A measure of the validations, with the beam that they search with."""
    searched = task.searches and metric in {one.name for one in task.measured_by()}
    return with_beam(measure_name(metric), task.recipe.search.validation_beam if searched else None)


def _value(task: Task, step: int, metrics: Sequence[Row]) -> str:
    """` (15.32)`, if it is known."""
    metric = task.recipe.training.metric
    found = [
        row[f"dev_{metric}"] for row in metrics if row["step"] == step and f"dev_{metric}" in row
    ]
    if not found:
        return ""
    return f" ({100 * found[-1]:.2f} %)" if metric in task.shares else f" ({found[-1]:.4g})"


def _by_metrics(recipe: Recipe, metrics: Sequence[Row]) -> dict[str, Any]:
    """The same by the rows of metrics.csv: the best first, of equals the earlier."""
    metric, training = recipe.training.metric, recipe.training
    rows = [row for row in metrics if "dev_loss" in row and f"dev_{metric}" in row]
    if not rows:
        steps = [metrics[-1]["step"]] if metrics else []
        return {"steps": steps, "best": False, "validations": 0} if steps else {}

    def merit(row: Row) -> tuple[float, float]:
        found = Validation(row["dev_loss"], {metric: row[f"dev_{metric}"]})
        return found.merit(metric, recipe.task.errors)

    ranked = sorted(rows, key=merit, reverse=True)
    count = training.keep if training.average else 1
    return {
        "steps": [row["step"] for row in ranked[:count]],
        "best": True,
        "validations": len(rows),
    }
