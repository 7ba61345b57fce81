"""What the rows and the columns of a model's attentions are: the tokens of which text, or the answer.

The length of an axis does not tell it, since two texts may be equally long. So the model reads further
examples, whose texts have other lengths, no two of them the same: an axis is the side that is as long as it
is in every reading. Each text is the longest once, the shortest once, and so on: what is as long as the
longer of two texts is neither. Rows that are as many in every reading are queries that the model has of its
own. What could still be one side or another is said to be so, and not shown.

Legend: B examples, H heads, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from regard.attention.recording import Recorded, recording
from regard.data.fields import Labels, Text
from regard.records.pooled_maps import PooledStates, recording_poolings
from regard.records.token_words import word_spans
from regard.tasks.answer import Answer
from regard.words import t

if TYPE_CHECKING:
    from regard.tasks.task import Task

PARTS, WHOLE = "parts of the answer", "whole answer"  # sides beside the texts
WORD, MORE = "a", 40  # texts of a further example: a word, some times, at most so many more

Call = Recorded | PooledStates


@dataclass
class SeenAttention:
    """What was attended to and pooled in some calls of a model."""

    attended: list[Recorded] = field(default_factory=list)
    pooled: list[PooledStates] = field(default_factory=list)

    @classmethod
    @contextmanager
    def by(cls, model: nn.Module, *, details: bool = False) -> Iterator[SeenAttention]:
        with ExitStack() as stack:
            attended = stack.enter_context(recording(model, details=details))
            yield cls(attended, stack.enter_context(recording_poolings(model)))

    @property
    def by_module(self) -> dict[str, list[Call]]:
        """The calls of each attention, then those of each pooling, in their order."""
        found: dict[str, list[Call]] = {}
        every: list[Call] = [*self.attended, *self.pooled]
        for each in every:
            found.setdefault(each.name, []).append(each)
        return found


class SidedReading(NamedTuple):
    """What a model attended to while it answered some examples side by side."""

    seen: SeenAttention
    lengths: Mapping[str, int]  # positions of each side, padding counted
    examples: int

    @classmethod
    def of(
        cls, seen: SeenAttention, texts: Mapping[str, int], answers: Sequence[Answer]
    ) -> SidedReading:
        """texts: the positions of each. Answers that are no lists have no parts."""
        parts = [len(one.parts) for one in answers if isinstance(one.answer, list | tuple)]
        lengths = {**texts, WHOLE: 1, **({PARTS: max(parts)} if parts else {})}
        return cls(seen, lengths, len(answers))

    def shape(self, calls: Sequence[Call]) -> tuple[int, int] | None:
        """Queries and keys of some calls together; None: they are not over the same keys of each example."""
        shapes = [batch_weights(call).shape for call in calls]
        if not shapes or len({(len(one), one[0], one[-1]) for one in shapes}) > 1:
            return None
        if len(shapes[0]) != 4 or shapes[0][0] != self.examples:
            return None
        return sum(one[-2] for one in shapes), shapes[0][-1]


class SidedAttention(NamedTuple):
    """An attention, or one call of it: the names of its sides. Those it may be, where it is not sure."""

    calls: Sequence[Call]  # the steps of one look, or one call
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    padded: bool = False  # the columns are as many as the longest text has positions, and no text

    @property
    def sure(self) -> bool:
        return len(self.rows) == len(self.columns) == 1

    @property
    def name(self) -> str:
        """Of the module."""
        return self.calls[0].name

    @property
    def weights(self) -> Tensor:
        """(B, H, Q, K)"""
        return torch.cat([batch_weights(call) for call in self.calls], -2)

    @property
    def doubt(self) -> str:
        """What it may be, in a line; nothing where it is sure, or is over no text."""
        for axis, names in (("rows", self.rows), ("columns", self.columns)):
            if len(names) > 1 and self.columns:
                return t(
                    "the {axis} of {name} may be {names}: it is not shown",
                    axis=axis,
                    name=self.name,
                    names=" or ".join(names),
                )
        if self.columns and not self.rows:
            return t(
                "the rows of {name} are no text and no answer: it is not shown", name=self.name
            )
        if self.padded:
            return t(
                "the columns of {name} may be any text, padded to the longest: it is not shown",
                name=self.name,
            )
        return ""


def text_inputs(task: Task) -> dict[str, Text]:
    """The texts among the inputs."""
    return {n: f for n in task.inputs if isinstance(f := task.fields[n], Text)}


def labelled_texts(task: Task) -> set[str]:
    """The texts whose every word has a label in the answer."""
    return {f.of.name for f in task.fields.values() if isinstance(f, Labels)}


def queries_side(count: int) -> str:
    """What the rows of so many queries are called that a model has of its own."""
    return f"{count} queries"


def query_names(count: int) -> list[str]:
    return [t("query {n}", n=n) for n in range(1, count + 1)]


def position_names(text: Text, values: Sequence[Any]) -> list[list[str]]:
    """What the positions of each value are called: its tokens, with BOS and EOS where it has them."""
    start, end = ["BOS"] * text.bos, ["EOS"] * text.eos
    return [[*start, *tokens.pieces, *end] for tokens in text.tokens(values)]


def position_words(text: Text, value: Any) -> list[tuple[str, int, int]]:
    """The words of a value, and which of its positions each is, from start up to end."""
    (read,) = text.tokens([value])
    words = word_spans(text.joined(value), read.pieces, read.offsets)
    return [(word, start + text.bos, end + text.bos) for word, start, end in words]


def sided_attentions(
    task: Task, module: Any, example: Mapping[str, Any], reading: SidedReading
) -> list[SidedAttention]:
    """Every attention of a reading with what its rows and columns are.

    example: one that was read, for its inputs that are no texts.
    """
    texts = text_inputs(task)
    others = _further_readings(task, module, example, reading.lengths)
    readings = [reading, *others]
    labelled = labelled_texts(task)
    longest, shortest = (
        [of(one.lengths[name] for name in texts) for one in readings] for of in (max, min)
    )

    def fitting(lengths: Sequence[int]) -> tuple[str, ...]:
        """The sides that are as long in every reading."""
        every = [(one.lengths, length) for one, length in zip(readings, lengths, strict=True)]
        found = [side for side in reading.lengths if all(x.get(side) == n for x, n in every)]
        if PARTS in found and (WHOLE in found or labelled.intersection(found)):
            found.remove(PARTS)  # they are the same: one part, or a label for every word of a text
        return tuple(found)

    def sided(every: Sequence[Sequence[Call]]) -> SidedAttention:
        """every: the same calls in each reading."""
        calls = every[0]
        shapes = [one.shape(each) for one, each in zip(readings, every, strict=True)]
        known = [shape for shape in shapes if shape is not None]
        if len(known) < len(shapes):
            return SidedAttention(calls, (), ())
        rows, keys = (fitting(lengths) for lengths in zip(*known, strict=True))
        columns = tuple(side for side in keys if side in texts)
        padded = len(texts) > 1 and longest == [count for _, count in known]
        asked = [count for count, _ in known]
        constant = len(set(asked)) == 1 and asked not in (longest, shortest)
        if not rows and others and constant and len(calls) == 1 and asked[0]:
            rows = (queries_side(asked[0]),)
        if isinstance(calls[0], Recorded) and calls[0].itself:
            return SidedAttention(calls, columns, columns, padded and not columns)
        if rows == columns and len(rows) == 1 < len(texts) and len(others) < len(texts):
            return SidedAttention(calls, (), (), padded)  # it was given what may be another text
        return SidedAttention(calls, rows, columns, padded and not columns)

    modules = [one.seen.by_module for one in readings]
    found: list[SidedAttention] = []
    for name, calls in modules[0].items():
        every = [calls, *(module.get(name, []) for module in modules[1:])]
        ways = [[sided(each) for each in way] for way in _ways(every)]
        apart = [SidedAttention([call], (), ()) for call in calls]
        apart = next((way for way in ways if len(way) == len(calls)), apart)
        found += next((way for way in ways if all(each.rows for each in way)), apart)
    return found


def _ways(every: Sequence[Sequence[Call]]) -> Iterator[list[Sequence[Sequence[Call]]]]:
    """How the calls of a module belong together: as the steps of one look, or each by itself.

    every: the calls in each reading.
    """
    calls = every[0]
    single = (isinstance(call, Recorded) and call.weights.shape[-2] == 1 for call in calls)
    if len(calls) > 1 and all(single):
        yield [every]
    if len({len(each) for each in every}) == 1:
        yield [[[call] for call in same] for same in zip(*every, strict=True)]


def _further_readings(
    task: Task, module: Any, example: Mapping[str, Any], lengths: Mapping[str, int]
) -> list[SidedReading]:
    """As many as there are texts, each text of every rank among their lengths once: none is as long as in
    `lengths`, and where they may be, all are longer than those before, so that what is always as long is
    no text. Without those that the model does not take.
    """
    texts = list(text_inputs(task).items())
    found, above = [], 0  # they are short, whatever was read
    for first in range(len(texts)):
        ranked = dict(texts[first:] + texts[:first])
        tried = (_rising(ranked, lengths, *start) for start in ((5, above), (5, 0), (2, 0)))
        chosen = next(filter(None, tried), None)
        if chosen is None:
            continue
        values = {**example, **{name: value for name, (value, _) in chosen.items()}}
        sizes = {name: size for name, (_, size) in chosen.items()}
        above = max(above, *sizes.values())
        with suppress(Exception), SeenAttention.by(module.model) as seen:  # whatever it may raise
            found.append(SidedReading.of(seen, sizes, task.predict(module, [values], batch=1)))
    return found


def _rising(
    texts: Mapping[str, Text], lengths: Mapping[str, int], fewest: int, above: int
) -> dict[str, tuple[Any, int]] | None:
    """A value of each text with its positions: more than those of the text before; None: there is none.

    fewest: words of the first. above: it has more positions.
    """
    found: dict[str, tuple[Any, int]] = {}
    before = above
    for name, text in texts.items():
        for many in range(max(fewest, above // 2), max(fewest, above) + MORE):
            value = text.accept(" ".join([WORD] * many))
            (size,) = map(len, position_names(text, [value]))
            if size > before and size != lengths[name]:
                found[name], before = (value, size), size
                break
        else:
            return None
    return found


def batch_weights(call: Call) -> Tensor:
    """(B, H, Q, K), with other axes where it was called with others; of a pooling, H hops and 1 query."""
    if isinstance(call, PooledStates):
        several = call.pooling.hops > 1
        return call.weights.unsqueeze(-2) if several else call.weights[..., None, None, :]
    return call.weights if call.weights.dim() != 3 else call.weights.unsqueeze(1)
