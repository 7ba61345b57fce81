"""What may make a run worth little, in a sentence with what mends it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regard.data.examples import count_rows
from regard.data.parts import held_out_of
from regard.data.spec import Spec
from regard.recipe.recipe import Training
from regard.tasks.task import Task
from regard.words import t

ENOUGH = 100  # examples to choose a checkpoint by
WARM_UPS = 4  # as many updates as a warm-up has, at least, are the run


def planned_updates(training: Training, batches: int) -> int | None:
    """Updates up to the end of the recipe, of so many batches an epoch; None: time or patience says."""
    limits = training.limits
    counts = [int(limits["steps"])] if "steps" in limits else []
    if "epochs" in limits:
        counts.append(int(limits["epochs"]) * -(-batches // training.accumulate))
    return min(counts, default=None)


def short_for_warmup(training: Training, batches: int) -> str | None:
    """Of a run that ends before its learning rate was of use; None: it is long enough."""
    planned, warmup = planned_updates(training, batches), training.schedule.warmup
    if planned is None or planned >= WARM_UPS * warmup:
        return None
    return t(
        "the run has {updates} updates, and the learning rate rises over the first {warmup}: it will have "
        "learnt little. training.schedule.warmup={less} is in proportion; more training.epochs, or fewer "
        "training.batch_sentences, are more updates",
        updates=f"{planned:,}",
        warmup=f"{warmup:,}",
        less=planned // 10,
    )


def ended_in_warmup(training: Training, updates: int, end: str) -> str | None:
    """Of a run that has ended, at this limit, before its learning rate was up; None: it was up."""
    warmup = training.schedule.warmup
    if updates >= warmup:
        return None
    limit = end.partition("=")[0]
    return t(
        "{end} was reached at update {updates}, and the learning rate rises over the first {warmup}: the "
        "model has learnt little. training.schedule.warmup={less} is in proportion, with --run and a new "
        "folder; the same command with more {limit} goes on from here",
        end=end,
        updates=f"{updates:,}",
        warmup=f"{warmup:,}",
        less=updates // 10,
        limit=limit,
    )


def few_to_choose_by(task: Task, dev: Spec, examples: Sequence[Any]) -> str | None:
    """Of a dev set whose scores are mostly chance, for it has few answers; None: it will do."""
    count = len(examples)
    if count >= ENOUGH or task.count_scored(examples) >= ENOUGH:
        return None
    said = t(
        "dev is {count} {noun}: the best checkpoint is chosen by them, and they are too few to tell one from "
        "another. data.dev=… names {enough} or more",
        count=count,
        noun=task.called(count),
        enough=ENOUGH,
    )
    if task.row_names != list(task.fields):  # it makes its examples itself, and cuts them itself
        return said
    split_up = [corpus for corpus in task.corpora(dev) if corpus.part is not None]
    if not split_up:
        return said
    one_in = held_out_of(min(count_rows(one, list(task.fields.values())) for one in split_up))
    split = t("of a corpus that is split, dev is one in {one_in}", one_in=one_in)
    return f"{said}; {split}"
