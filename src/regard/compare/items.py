"""The items that variants are judged on: what they say, and what kinds of them there are."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from regard.data.fields import Label, Labels
from regard.data.spec import Spec
from regard.tasks.answer import answer_parts
from regard.tasks.asked_line import given_words, text_of
from regard.tasks.task import Task

# a word of letters, or one character of a script that has no spaces
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u9fff]+")
MOST = 500_000  # training examples that words are counted in


@dataclass(frozen=True)
class Item:
    line: int  # in its corpus
    text: str  # what is given, for people
    wanted: str = ""  # what is to be answered, if it can be told in words
    words: int = 0
    rarest: int | None = (
        None  # how often its rarest word is in the training corpus; None: not known
    )
    labels: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "labels": list(self.labels)}


def describe_items(task: Task, examples: Sequence[Any], train: Spec | None) -> list[Item]:
    """One for each example, in their order."""
    seen = _trained_words(task, train) if train is not None else None
    return [_item(task, example, seen) for example in examples]


def digest_of(task: Task, examples: Sequence[Any]) -> str:
    """The same if and only if these are the same items to be judged on."""
    said = [[text_of(task, example), in_words(_wanted(task, example))] for example in examples]
    return hashlib.sha256(json.dumps(said, ensure_ascii=False).encode()).hexdigest()


def in_words(value: Any) -> str:
    """An answer in one line."""
    return " ".join(answer_parts(value))


def words_in(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]


def _item(task: Task, example: Any, seen: Counter[str] | None) -> Item:
    words = words_in(" ".join(given_words(task, example).values()))
    return Item(
        line=int(getattr(example, "line", 0)),
        text=text_of(task, example),
        wanted=in_words(_wanted(task, example)),
        words=len(words),
        rarest=min((seen[word] for word in words), default=None) if seen else None,
        labels=tuple(_labels(task, example)),
    )


def _wanted(task: Task, example: Any) -> Any:
    known = isinstance(example, Mapping) and len(task.fields) > len(task.inputs)
    return task.wanted(example) if known else None


def _labels(task: Task, example: Any) -> Iterator[str]:
    """Of an example, each once."""
    for name, field in task.fields.items():
        if name not in task.inputs and isinstance(example, Mapping):
            if isinstance(field, Label):
                yield str(example[name])
            elif isinstance(field, Labels):
                yield from sorted({str(each) for each in example[name]})


def _trained_words(task: Task, spec: Spec) -> Counter[str] | None:
    """How often each word was trained on; None if the corpus is not there any more."""
    found: Counter[str] = Counter()
    try:
        for example in islice(task.read(spec), MOST):
            found.update(words_in(" ".join(given_words(task, example).values())))
    except (OSError, ValueError):
        return None
    return found
