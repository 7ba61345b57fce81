"""An example for people, and as the line that asks about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from regard.data.fields import Field, Text
from regard.records.png_image import PngImage
from regard.tasks.answer import plain_value

if TYPE_CHECKING:
    from regard.tasks.task_corpus import TaskCorpus


def asked_line(task: TaskCorpus, example: Any) -> str:
    """The line that asks about an example: its text, its picture, or all its inputs as JSON."""
    if not isinstance(example, Mapping):
        return text_of(task, example)
    given = _sendable(task.bare(example))  # type: ignore[attr-defined]
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=list)


def text_of(task: TaskCorpus, example: Any) -> str:
    """What is given, for people: one value, or a line for each."""
    given = given_words(task, example)
    if len(given) == 1:
        return next(iter(given.values()))
    return "\n".join(f"{name}: {value}" for name, value in given.items())


def given_words(task: TaskCorpus, example: Any) -> dict[str, str]:
    """By input, in words."""
    if isinstance(example, Mapping):
        return {name: _read(task.fields[name], example[name]) for name in task.inputs}
    texts = [field for field in task.fields.values() if isinstance(field, Text)]
    return {"text": texts[0].tokenizer.decode(example.ids) if texts else str(example)}


def is_picture(value: Any) -> bool:
    """Whether it is bytes of (H, W, C)."""
    return getattr(value, "ndim", 0) == 3 and str(getattr(value, "dtype", "")) == "uint8"


def _sendable(value: Any) -> Any:
    """For JSON; a picture as data:image/png;base64,…"""
    if isinstance(value, Mapping):
        return {name: _sendable(one) for name, one in value.items()}
    return PngImage.of(value).source if is_picture(value) else plain_value(value)


def _read(field: Field, value: Any) -> str:
    words = isinstance(value, list) and all(isinstance(word, str) for word in value)
    return " ".join(value) if words else field.show(value)
