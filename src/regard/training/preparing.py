"""What must be there before the first update: tokenisers, token ids, the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from regard.data.checksums import Damaged
from regard.data.spec import keep_standard_input
from regard.data.store import Store
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.runs.atomic_files import write_whole
from regard.runs.building import build
from regard.runs.folder import RunFolder
from regard.tasks.choosing import task_of
from regard.tasks.text_task import TextTask

Say = Callable[[str], None]
CHECK = "regard data check counts what can be used of a corpus"


def prepare_data(recipe: Recipe, folder: RunFolder, say: Say) -> Store:
    """Tokenisers and token ids of the training corpus, in the run folder; what is there is used again."""
    data, task = recipe.data, task_of(recipe)
    spec = keep_standard_input(data.train, folder.store.parent, task.kept_input)
    paths = folder.tokenizers(recipe)
    try:
        if not all(path.is_file() for path in paths):
            say("learning the tokenizers")
            for path, tokenizer in zip(paths, task.learn_tokenizers(spec), strict=True):
                write_whole(path, tokenizer.to_json())
        tokenizers = folder.load_tokenizers(recipe)
        store = task.store(spec, tokenizers, folder.store)
    except Damaged:
        raise
    except ValueError as error:
        raise RecipeError(f"data.train is {data.train}: {error}", CHECK) from error
    if store.damage:
        say(f"warning: {store.damage}; it was made anew")
    say(task.describe(store, tokenizers))
    if store.problems:
        say(f"left out of training: {store.problems.report()}")
    for name, held_out in (("dev", data.dev), ("test", data.test)):
        if problems := task.left_out(held_out):
            say(f"left out of {name}: {problems.report()}")
        if held_out is not None:
            task.check_held_out(held_out, tokenizers)
            if not task.examples(held_out, tokenizers):
                raise RecipeError(f"data.{name} is {held_out}: nothing of it can be used", CHECK)
    return store


def read_dev(recipe: Recipe, folder: RunFolder) -> list[Any]:
    """What checkpoints are judged by."""
    if not recipe.data.dev:
        return []
    return task_of(recipe).examples(recipe.data.dev, folder.load_tokenizers(recipe))


def make_task(recipe: Recipe, folder: RunFolder) -> TextTask:
    """A new model for the tokenisers of the folder, with the losses of the recipe."""
    tokenizers = folder.load_tokenizers(recipe)
    model = build(recipe.model, *map(len, tokenizers))
    return task_of(recipe).trained(model, tokenizers)
