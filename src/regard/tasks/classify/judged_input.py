"""What is judged: a text, a document or a sequence of vectors, by its field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from regard.data.fields import Document, Field, Numbers, Text
from regard.data.tokenizer import Tokens
from regard.recipe.recipe import Recipe
from regard.records.side import Side
from regard.records.token_sides import token_side

InputField: TypeAlias = Text | Document | Numbers


def input_field(recipe: Recipe) -> InputField:
    """The field that `task.input` names, as the recipe wants it."""
    given, longest = recipe.tokenizer.source, recipe.data.max_length
    options: Any = recipe.task
    match getattr(options, "input", "text"):
        case "document":
            return Document(
                "document",
                sentences=options.sentences,
                words=options.words,
                kind=given.kind,
                vocabulary=given.size,
                lowercase=given.lowercase,
            )
        case "numbers":
            return Numbers("numbers", sequence=True, standardise=True, max_length=longest, cut=True)
        case _:
            return Text("text", **given.model_dump(), marks=False, max_length=longest, cut=True)


def positions_read(field: Field, values: Sequence[Any]) -> list[Tokens]:
    """The tokens of each value, with their places in it, one for each position that is read, EOS aside.

    Those of a document are the words of all its sentences; steps of a sequence have numbers, and no place.
    """
    if isinstance(field, Text):
        return field.tokens(values)
    if isinstance(field, Document):
        return [_joined(sentences) for sentences in field.tokens(values)]
    assert isinstance(field, Numbers)
    lengths = [len(value[: field.max_length]) for value in values]
    return [Tokens([0] * n, [str(i + 1) for i in range(n)], [(0, 0)] * n) for n in lengths]


def given_value(field: Field, value: Any) -> Any:
    """What was given, for an answer: a text, or numbers; vectors of one are a list of numbers."""
    if not isinstance(field, Numbers):
        return shown_text(field, value)
    return value[:, 0] if value.shape[-1] == 1 else value


def shown_text(field: Field, value: Any) -> str:
    """The text that the places of its tokens are in."""
    if isinstance(field, Text):
        return field.joined(value)
    return value.text if isinstance(field, Document) else field.show(value)


def input_side(
    field: Field, value: Any, tokens: Tokens, *, start: bool = False, language: str = ""
) -> Side:
    """The input as a side of a record. start: whether the model puts a token before a text."""
    if isinstance(field, Numbers):
        return Side.of_labels(tokens.pieces, title=field.name)
    end = isinstance(field, Text) and field.eos
    text = shown_text(field, value)
    return token_side(text, tokens, start=start, end=end, title=field.name, language=language)


def _joined(sentences: Sequence[Tokens]) -> Tokens:
    return Tokens(
        [one for each in sentences for one in each.ids],
        [one for each in sentences for one in each.pieces],
        [one for each in sentences for one in each.offsets],
    )
