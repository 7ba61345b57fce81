"""What the empty page says of a model: what it reads and writes, and examples to begin with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.words import say, t

if TYPE_CHECKING:
    from regard.data.fields import Field
    from regard.runs.loaded_run import LoadedRun
    from regard.tasks.task import Task

EXAMPLES = 3
LOOKED_AT = 200  # examples of a corpus
ONE_LINE = 60  # characters of one that is shown before longer ones
LEAST = 8  # characters of an example in a corpus that is worth a look
LONGEST = 40_000  # characters of an example, as a page asks it: a picture is one of them
NAMED = 4  # labels that are written out
SENTENCES = {  # where no corpus comes with the package
    "zh": ("我是一个学生。", "今天天气很好。", "你想喝茶还是咖啡？"),
    "en": ("I am a student.", "The weather is fine today.", "Would you like tea or coffee?"),
    "de": ("Ich bin Student.", "Heute ist das Wetter schön.", "Möchtest du Tee oder Kaffee?"),
    "fr": ("Je suis étudiant.", "Il fait beau aujourd’hui.", "Veux-tu du thé ou du café ?"),
    "es": ("Soy estudiante.", "Hoy hace buen tiempo.", "¿Quieres té o café?"),
    "ja": ("私は学生です。", "今日は天気がいいです。", "お茶とコーヒー、どちらがいいですか。"),
    "ru": ("Я студент.", "Сегодня хорошая погода.", "Ты хочешь чай или кофе?"),
}
STORY = {  # of the embedded model, whose weights do not change
    "text": "他在这家商店工作，没去图书馆。",
    "prefix": "He is working in this",
    "force": {"step": 5, "keys": [11, 12, 13]},
    "word": "store",
    "read": "商店",
    "instead": "图书馆",
}


def description(run: LoadedRun) -> dict[str, Any]:
    """reads, writes: in words; verb: what it was trained to do; hint: how several inputs are given."""
    from regard.runs.run_names import EMBEDDED

    task = run.task
    answered = [name for name in task.fields if name not in task.inputs]
    return {
        "verb": say(task.verb),
        "reads": _nouns(task, task.inputs),
        "writes": _nouns(task, answered),
        "hint": task.any_example if len(task.inputs) > 1 else "",
        "examples": list(islice(dict.fromkeys(_examples(run)), EXAMPLES)),
        "story": STORY if run.folder.path == EMBEDDED else None,
    }


def _nouns(task: Task, names: Any) -> str:
    """ "a text (first) and a text (second)": what each field is, by its name where there are several."""
    several = len(names) > 1
    nouns = [_noun(task.fields[name]) + (f" ({name})" if several else "") for name in names]
    return t(" and ").join(nouns)


def _noun(field: Field) -> str:
    from regard.data.fields import Choice, Document, Image, Label, Labels, Numbers, Span, Text

    if isinstance(field, Labels):
        return t("a label for each word ({labels})", labels=_labels(field.labels))
    if isinstance(field, Label):
        return t("a label ({labels})", labels=_labels(field.labels))
    kinds: list[tuple[type[Field], str]] = [
        (Image, t("a picture")),
        (Document, t("a document")),
        (Choice, t("texts to choose from")),
        (Span, t("a passage of the text")),
        (Numbers, t("numbers")),
        (Text, t("a text")),
    ]
    return next((noun for kind, noun in kinds if isinstance(field, kind)), field.name)


def _labels(labels: list[str]) -> str:
    return ", ".join(labels[:NAMED]) + (", …" if len(labels) > NAMED else "")


def _examples(run: LoadedRun) -> Iterator[str]:
    """Of a corpus that comes with the package, else sentences of the language; nobody's own data is shown."""
    with suppress(Exception):  # a corpus that cannot be read here is no reason to say nothing else
        yield from _of_corpus(run)
    sentences = SENTENCES.get(run.recipe.data.source, ())
    if sentences and _reads_texts(run.task):
        yield from _made_up(run.task, sentences)


def _of_corpus(run: LoadedRun) -> Iterator[str]:
    task, data = run.task, run.recipe.data
    home = Path(str(files("regard")))
    for spec in (data.dev, data.test, data.train):
        if spec is None:
            continue
        places = [file for corpus in task.corpora(spec) for file in corpus.files]
        if not places or not all(file.is_relative_to(home) for file in places):
            continue
        found = [_asked(run, example) for example in islice(task.read(spec), LOOKED_AT)]
        usable = (one for one in found if LEAST <= len(one) <= LONGEST)
        yield from sorted(usable, key=lambda one: len(one) > ONE_LINE)  # else in their order
        return


def _asked(run: LoadedRun, example: Mapping[str, Any]) -> str:
    """An example as a page asks it: a text, a picture as a data URI, or JSON of several inputs."""
    from regard.data.fields import Document, Text
    from regard.looking.asked_examples import asked_text

    task = run.task
    field = task.fields[task.inputs[0]]
    if len(task.inputs) == 1 and isinstance(field, Text | Document):
        return field.show(example[field.name])
    text, _ = asked_text(run, {name: example[name] for name in task.inputs})
    return text


def _reads_texts(task: Task) -> bool:
    from regard.data.fields import Document, Text

    kinds = [task.fields[name] for name in task.inputs]
    return bool(kinds) and all(isinstance(field, Text | Document) for field in kinds)


def _made_up(task: Task, sentences: tuple[str, ...]) -> Iterator[str]:
    if len(task.inputs) == 1:
        yield from sentences
        return
    for start in range(len(sentences)):
        values = {
            name: sentences[(start + n) % len(sentences)] for n, name in enumerate(task.inputs)
        }
        yield json.dumps(values, ensure_ascii=False)
