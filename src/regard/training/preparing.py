"""What must be there before the first update: tokenisers, token ids, the model."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

from regard.attention.normalizers import Reinforce
from regard.data.problems import Problems
from regard.data.spec import Spec, keep_standard_input, parse
from regard.data.store import Store, prepare
from regard.data.text import Pair, read_pairs
from regard.data.tokenizer import Tokenizer
from regard.layers.contracts import Translator
from regard.tasks.translate import Translate
from regard.training.building import build
from regard.training.folder import RunFolder
from regard.training.mistakes import RecipeError
from regard.training.model_sections import Attends
from regard.training.recipe import Recipe, Vocabulary
from regard.training.writing import write_whole

Say = Callable[[str], None]
CHECK = "regard data check counts what can be used of a corpus"


def prepare_data(recipe: Recipe, folder: RunFolder, say: Say) -> Store:
    """Tokenisers and token ids of the training pairs, in the run folder; what is there is used again."""
    data = recipe.data
    spec = keep_standard_input(data.train, folder.store.parent)
    source, target = folder.tokenizers(recipe.tokenizer.shared)
    try:
        if not (source.is_file() and target.is_file()):
            say("learning the tokenizers")
            for path, tokenizer in _learn(recipe, folder, spec):
                write_whole(path, tokenizer.to_json())
        tokenizers = folder.load_tokenizers(recipe)
        store = prepare(spec, *tokenizers, folder.store, max_length=data.max_length, join=data.join)
    except ValueError as error:
        raise RecipeError(f"data.train is {data.train}: {error}", CHECK) from error
    say(
        f"{len(store):,} pairs to learn from, {len(tokenizers[0]):,} source and "
        f"{len(tokenizers[1]):,} target tokens"
    )
    if store.problems:
        say(f"left out of training: {store.problems.report()}")
    for name, held_out in (("dev", data.dev), ("test", data.test)):
        if problems := left_out(held_out):
            say(f"left out of {name}: {problems.report()}")
    return store


def left_out(spec: Spec | None) -> Problems:
    """What of a dev or test set cannot be used. The lines of a corpus that is split count in training."""
    problems = Problems()
    whole = {corpus.name for corpus in parse(spec or []) if corpus.part is None}
    if spec is not None and whole:
        deque(read_pairs(spec, problems), maxlen=0)
    problems.found = {name: found for name, found in problems.found.items() if name in whole}
    return problems


def read_dev(recipe: Recipe) -> list[Pair]:
    data = recipe.data
    return list(read_pairs(data.dev, join=data.join)) if data.dev else []


def make_task(recipe: Recipe, folder: RunFolder) -> Translate:
    """A new model for the tokenisers of the folder, with the losses of the recipe."""
    training = recipe.training
    tokenizers = folder.load_tokenizers(recipe)
    model = cast(Translator, build(recipe.model, *map(len, tokenizers)))
    reinforce = None
    if is_hard(recipe):
        baseline = None if training.reinforce.baseline == "none" else training.reinforce.baseline
        reinforce = Reinforce(baseline, entropy=training.reinforce.entropy)
    return Translate(
        model,
        *tokenizers,
        label_smoothing=training.label_smoothing,
        teacher_forcing=training.teacher_forcing.ratio,
        forcing_draw=training.teacher_forcing.draw,
        reinforce=reinforce,
        reinforce_weight=training.reinforce.weight,
    )


def is_hard(recipe: Recipe) -> bool:
    """Whether attention is a choice that no gradient passes through."""
    attention = getattr(recipe.model, "attention", None)
    return isinstance(attention, Attends) and attention.normalize.startswith("hard")


def _learn(recipe: Recipe, folder: RunFolder, spec: Spec) -> Iterator[tuple[Path, Tokenizer]]:
    source, target = folder.tokenizers(recipe.tokenizer.shared)
    sources = (pair.source for pair in read_pairs(spec))
    targets = (pair.target for pair in read_pairs(spec))
    if recipe.tokenizer.shared:
        both = (text for pair in read_pairs(spec) for text in (pair.source, pair.target))
        yield target, _train(recipe.tokenizer.target, both)
    else:
        yield source, _train(recipe.tokenizer.source, sources)
        yield target, _train(recipe.tokenizer.target, targets)


def _train(vocabulary: Vocabulary, texts: Iterator[str]) -> Tokenizer:
    return Tokenizer.train(
        texts, kind=vocabulary.kind, size=vocabulary.size, lowercase=vocabulary.lowercase
    )
