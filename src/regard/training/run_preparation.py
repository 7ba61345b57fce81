"""What must be there before the first update: what the fields know, the corpus in numbers, the model."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from regard.data.atomic_files import write_whole
from regard.data.check.header_check import header_doubts
from regard.data.check.label_check import label_doubts
from regard.data.checksums import Damaged
from regard.data.examples import read_corpus
from regard.data.formats import format_of
from regard.data.formats.jsonl import JsonLines, first_keys
from regard.data.problems import Problems
from regard.data.spec import Corpus, Spec, keep_standard_input
from regard.data.store import Store
from regard.data.unspaced import LOOKED_AT
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.runs.run_folder import RunFolder
from regard.tasks.recipe_task import task_of
from regard.tasks.task import Task
from regard.tasks.task_module import TaskModule
from regard.tasks.text_doubts import (
    HIGH,
    idle_tokenizers,
    unknown_answers,
    unknown_tokens,
    unspaced_texts,
)
from regard.training.progress_display import Reporter
from regard.training.run_doubts import few_to_choose_by
from regard.words import say, t

CHECK = "regard data check counts what can be used of a corpus"


def prepare_data(recipe: Recipe, folder: RunFolder, reporter: Reporter) -> Store:
    """The training corpus in numbers, and what is learnt of it; what is in the run folder is used again."""
    data, task = recipe.data, task_of(recipe)
    spec = keep_standard_input(data.train, folder.store.parent, task.kept_input)
    assets = folder.assets(task)
    try:
        if not all(path.is_file() for path in assets):
            reporter.say(t("learning the {what}", what=say(task.learns)))
            for corpus in task.corpora(spec):
                for said in filter(
                    None, (format_of(file).beforehand(file) for file in corpus.files)
                ):
                    reporter.say(said)
            task.learn(spec)
            for path, field in assets.items():
                write_whole(path, field.to_json())
        folder.load_assets(task)
        store = task.store(spec, folder.store)
    except Damaged:
        raise
    except ValueError as error:
        problems = Problems()
        deque(task.read(spec, problems), maxlen=0)
        found = f". {problems.report()}" if problems.report() not in str(error) else ""
        raise RecipeError(
            t("data.train is {train}: {error}{found}", train=data.train, error=error, found=found),
            columns_hint(task, task.corpora(spec)),
        ) from error
    if store.damage:
        reporter.warn(t("{damage}; it was made anew", damage=store.damage))
    reporter.say(task.describe(store))
    if store.problems:
        reporter.say(t("left out of training: {problems}", problems=store.problems.report()))
    corpora = task.corpora(spec)
    doubts = [*header_doubts(corpora, task.fields), *label_doubts(corpora, task.fields)]
    first = list(islice(task.read(spec), LOOKED_AT))
    doubts += [*idle_tokenizers(task), *unspaced_texts(task, first), *task.input_doubts(first)]
    for doubt in doubts:
        reporter.warn(doubt)
    for name, held_out in (("dev", data.dev), ("test", data.test)):
        if problems := task.left_out(held_out):
            reporter.say(t("left out of {set}: {problems}", set=name, problems=problems.report()))
        # now is refused what could not be judged after hours of training
        if held_out is None:
            continue
        examples = task.examples(held_out)
        if not examples:
            raise _nothing_in(task, name, held_out)
        few = few_to_choose_by(task, held_out, examples) if name == "dev" else None
        doubts = [*header_doubts(task.corpora(held_out), task.fields), *([few] if few else [])]
        doubts += unknown_tokens(task, examples, name)
        for doubt in (*doubts, *unknown_answers(task, examples, name, above=HIGH)):
            reporter.warn(doubt)
    return store


def _nothing_in(task: Task, name: str, held_out: Spec) -> RecipeError:
    """A dev or test set without examples: they cannot be used, or there were too few to keep some back."""
    corpora = task.corpora(held_out)
    whole = [replace(corpus, part=None) for corpus in corpora]
    fields = list(task.fields.values())
    count = sum(1 for corpus in whole for _ in read_corpus(corpus, fields, Problems()))
    if not count or any(corpus.part is None for corpus in corpora):
        what = t(
            "data.{name} is {held_out}: nothing of it can be used", name=name, held_out=held_out
        )
        return RecipeError(what, columns_hint(task, corpora))
    return RecipeError(
        t(
            "data.{name} is {held_out}: of {count} {called} none is left for {name}",
            name=name,
            held_out=held_out,
            count=f"{count:,}",
            called=task.called(count),
        ),
        t("data.{name}=FILES names others; data.{name}=null does without them", name=name),
    )


def columns_hint(task: Task, corpora: Sequence[Corpus]) -> str:
    """How to find out what is wrong with a corpus: of lines in JSON, what they have."""
    names = task.row_names
    for corpus in corpora:
        for number, file in enumerate(corpus.files):
            keys = first_keys(file) if isinstance(format_of(file), JsonLines) else []
            wanted = (
                corpus.columns if len(corpus.files) == 1 else corpus.columns[number : number + 1]
            )
            if keys and not {*wanted} <= {*keys}:
                return t(
                    "the lines of {file} have {keys}: name those for {names}, as {file}#{example}",
                    file=file,
                    keys=", ".join(keys),
                    names=", ".join(names),
                    example=",".join(keys[: len(wanted)]),
                )
    if names == ["source", "target"]:
        return CHECK
    numbers, said = ",".join(map(str, range(len(names)))), ",".join(names)
    return task.otherwise + (
        t(
            "it holds {names}: x.tsv#{numbers} names their columns, x.csv#{said} those of "
            "a header, x.jsonl#{said} the keys they have in JSON; regard data check FILES "
            "--task {kind} counts them",
            names=", ".join(names),
            numbers=numbers,
            said=said,
            kind=task.recipe.task.kind,
        )
    )


def read_dev(task: Task) -> list[Any]:
    """What checkpoints are judged by."""
    dev = task.recipe.data.dev
    return task.examples(dev) if dev else []


def load_task(recipe: Recipe, folder: RunFolder) -> Task:
    """The task of a recipe, with what its fields have learnt."""
    task = task_of(recipe)
    folder.load_assets(task)
    return task


def make_module(task: Task) -> TaskModule:
    """A new model for the fields of the task, with the losses of the recipe."""
    return task.for_training(task.recipe.model.build(task.sizes))
