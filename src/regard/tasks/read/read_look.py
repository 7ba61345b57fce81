"""Looking at a reader: where in the story each word of the question looked, and what else was attended to.

Legend: B examples, S words of a story, Q of a question, R rows of a focus: one, or a row for each word asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from regard.attention.module import AttentionModule
from regard.attention.recording import Recorded, recording
from regard.records.attention_map import AttentionMap
from regard.records.maps import attention_map, record_of, used_sides
from regard.records.pooled_maps import pooling_map, recording_poolings
from regard.records.question import Question
from regard.records.record import AttentionRecord, Places
from regard.records.side import Side
from regard.records.token_sides import token_side
from regard.tasks.answer import Answer
from regard.tasks.text_look import asked_example, unknown_notes

if TYPE_CHECKING:
    from regard.tasks.read.read_task import ReadTask

FOCUS = "reader.focus.attention"  # where in the model the story is attended to,
BESIDE = "reader.beside.attention"  # where the question is by every word of the story,
FIRST = "first.attention"  # and where the first word of a span is found
STORY, QUESTION, ANSWER = "story", "question", "answer"  # sides


@dataclass
class SeenReading:
    """What a reader attended to in one call."""

    attended: list[Recorded]
    per_word: bool  # whether every word of the question looked for itself

    @classmethod
    @contextmanager
    def by(cls, model: nn.Module, *, details: bool = False) -> Iterator[SeenReading]:
        with recording(model, details=details) as attended:
            focus = dict(model.named_modules()).get(FOCUS.removesuffix(".attention"))
            yield cls(attended, bool(getattr(focus, "per_word", False)))

    def looks(self, words: int) -> list[list[Recorded]]:
        """At the story: the calls of each time that the focus was asked for, once or for every output.

        words: of the longest question.
        """
        calls, each = self.of(FOCUS), words if self.per_word else 1
        return [calls[start : start + each] for start in range(0, len(calls), each)]

    def of(self, name: str) -> list[Recorded]:
        return [each for each in self.attended if each.name == name]

    def focus(self, row: int, words: int) -> Tensor | None:
        """Of one example of a batch, for the first output: (R, S); None: the story is not attended to."""
        looks = self.looks(words)
        return torch.cat([each.weights[row] for each in looks[0]]).float().cpu() if looks else None


def look_at_reading(
    task: ReadTask, module: Any, question: Question, *, model: str = ""
) -> AttentionRecord:
    """Map "focus", whose rows are the words of the question, or the answer if it looks once; "question",
    where the words of the story attend to it, or the whole story does; "pooling", how it became one vector;
    "first word" of a dynamic span.
    """
    question.check_text_alone("a reader")
    example = asked_example(task, question.text)
    network: nn.Module = module.model
    attentions = {n: m for n, m in network.named_modules() if isinstance(m, AttentionModule)}
    with (
        SeenReading.by(network, details=question.details) as seen,
        recording_poolings(network) as pooled,
    ):
        (answer,) = task.predict(module, [example], batch=1)

    (story,), (asked,) = task.story.marked([example]), task.question.marked([example])
    texts = {name: task.fields[name].joined(example[name]) for name in (STORY, QUESTION)}  # type: ignore[attr-defined]
    language = task.recipe.data.source
    sides = {
        name: token_side(texts[name], tokens, end=True, title=name, language=language)
        for name, tokens in ((STORY, story), (QUESTION, asked))
    } | {ANSWER: Side.of_labels([answer.line or "—"], title=ANSWER)}
    read = [
        (texts[STORY], story, task.story.tokenizer),
        (texts[QUESTION], asked, task.question.tokenizer),
    ]
    maps = _maps(attentions, seen, {name: len(side) for name, side in sides.items()})
    maps += [pooling_map(one, ANSWER, QUESTION, details=question.details) for one in pooled[-1:]]
    shown = used_sides(sides, maps)
    return record_of(
        question,
        shown,
        maps,
        title=texts[QUESTION],
        model=model,
        output="—" if answer.score is None else f"{answer.line} ({answer.score:.2f})",
        notes=unknown_notes(read, language),
        answer_places={STORY: _answer_places(sides[STORY], answer)} if STORY in shown else {},
    )


def _answer_places(story: Side, answer: Answer) -> Places:
    """Where an answer was found in the story; of one that was chosen, wherever its words stand there."""
    if answer.stretch is not None or not answer.line:
        return (answer.stretch,) if answer.stretch else ()
    begins, ends = set(), set()
    for _, members in groupby(range(len(story)), key=story.words.__getitem__):
        places = [story.offsets[one] for one in members]
        begins.add(places[0][0])
        ends.add(places[-1][1])
    found = (each.span() for each in re.finditer(re.escape(answer.line), story.text, re.IGNORECASE))
    return tuple(span for span in found if span[0] in begins and span[1] in ends)


def _maps(
    attentions: Mapping[str, AttentionModule], seen: SeenReading, words: Mapping[str, int]
) -> list[AttentionMap]:
    """words: of each side. A dynamic answer has a focus for each of its outputs."""
    rows = QUESTION if seen.per_word else ANSWER
    maps = [
        attention_map(
            f"focus {n}" if n > 1 else "focus", rows, STORY, {FOCUS: attentions[FOCUS]}, look
        )
        for n, look in enumerate(seen.looks(words[QUESTION]), 1)
    ]
    for name, place, queries, keys in (
        ("question", BESIDE, STORY, QUESTION),
        ("first word", FIRST, ANSWER, STORY),
    ):
        if calls := seen.of(place):
            each = calls[0].weights.shape[-2] == words[queries]
            queries = queries if each else ANSWER  # static: one look for all words of the story
            maps.append(attention_map(name, queries, keys, {place: attentions[place]}, calls))
    return maps
