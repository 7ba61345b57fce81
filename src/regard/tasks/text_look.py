"""Looking at any model that answers about a text: every attention over the tokens of that text.

Legend: B inputs, H heads, Q queries, S positions of the text: its tokens, with BOS and EOS where it has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from torch import Tensor, nn

from regard.attention.module import AttentionModule
from regard.attention.recording import Recorded, recording
from regard.attention.weights.asked_weights import Weights
from regard.data.fields import Text
from regard.data.tokenizer import Tokens
from regard.records.blocks import block_map, block_note, block_side, block_size, block_title
from regard.records.maps import (
    attention_map,
    attentions_in,
    check_attends,
    check_size,
    record_of,
    used_sides,
)
from regard.records.pooled_maps import PooledStates, pooling_map, recording_poolings
from regard.records.question import LONGEST_DOCUMENT, BadQuestion, Question
from regard.records.record import AttentionMap, AttentionRecord
from regard.records.side import Side
from regard.records.token_sides import token_side, unknown_note
from regard.tasks.answer import Answer

if TYPE_CHECKING:
    from regard.tasks.task import Task

TEXT, ANSWER, WHOLE = "text", "answer", "whole answer"  # sides: what is read, its parts, all in one


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

    def over(self, row: int, positions: int, longest: int) -> Tensor | None:
        """What the answer to one input of a batch came from: (Q, S), a mean over heads; None: nothing fits.

        That is the last pooling, or else the last attention. longest: S of the longest input, to which all
        are padded.
        """
        for pooled in reversed(self.pooled):
            if pooled.weights.shape[-1] == longest:
                return pooled.of(row).mean(0, keepdim=True)[:, :positions].float().cpu()
        for each in reversed(self.attended):
            weights = each.weights
            if weights.dim() in (3, 4) and weights.shape[-1] == longest:
                mean = weights[row].mean(0) if weights.dim() == 4 else weights[row]
                queries = positions if len(mean) == longest else len(mean)
                return mean[:queries, :positions].float().cpu()
        return None


def with_attention(answer: Answer, weights: Tensor | None, tokens: Tokens, text: Text) -> Answer:
    """The answer with what it came from, where its rows are known: all of it, parts of it, or tokens."""
    columns = [*(["BOS"] if text.bos else []), *tokens.pieces, *(["EOS"] if text.eos else [])]
    names = {len(columns): columns, len(answer.parts): answer.parts, 1: [answer.line]}
    if weights is None or len(weights) not in names:
        return answer
    return replace(answer, attention=weights, rows=names[len(weights)], columns=columns)


def asked_text(task: Task) -> Text | None:
    """The first text among the inputs."""
    return next((f for n in task.inputs if isinstance(f := task.fields[n], Text)), None)


def asked_example(task: Task, line: str) -> dict[str, Any]:
    """What a line asks about, as `predict` reads it; no file is read that it names.

    An object that is no example is a text that looks like one, where a text is all that is asked about.
    """
    given = task.of_line(line)
    alone = (
        isinstance(given, Mapping)
        and len(task.inputs) == 1
        and task.inputs[0] not in task.by_field(given)
    )
    return task.taken(line if alone else given, files=False)


def look_at_text(
    task: Task, module: Any, question: Question, *, model: str = ""
) -> AttentionRecord:
    """Maps "encoder", where the text attends to itself, "cross", where parts of the answer attend to it, and
    "pooling"; a number behind the name where layers are of several kinds.
    """
    who, text = f"a model for task.kind={task.recipe.task.kind}", asked_text(task)
    if text is None:
        named = ", ".join(task.inputs)
        raise BadQuestion(f"{who} answers about {named}: what it attends to is not shown")
    question.check_text_alone(who)
    example = asked_example(task, question.text)
    shown = text.joined(example[text.name])
    (tokens,) = text.tokens([shown])
    language = task.recipe.data.source
    side = token_side(
        shown, tokens, start=text.bos, end=text.eos, title=text.name, language=language
    )
    attentions = {n: m for n, m in module.model.named_modules() if isinstance(m, AttentionModule)}
    check_size(attentions, len(side))

    with SeenAttention.by(module.model, details=question.details) as seen:
        (answer,) = task.predict(module, [example], batch=1)
    sides = {
        TEXT: side,
        ANSWER: Side.of_labels(answer.parts, title="answer"),
        WHOLE: Side.of_labels([answer.line], title="answer"),
    }
    lengths = {name: len(each) for name, each in sides.items()}
    maps = _maps(seen, attentions, lengths, details=question.details)
    return record_of(
        question,
        used_sides(sides, maps),
        maps,
        title=shown,
        model=model,
        output=answer.line,
        notes=(*_left_out(seen, maps), *unknown_note(shown, tokens)),
        after=unmeasured_note(question),
    )


def look_at_itself(
    module: Any,
    question: Question,
    kind: Literal["encoder", "decoder"],
    read: Callable[[Tokens], tuple[str, Sequence[str]]],
    *,
    who: str,
    longest: int | None = None,
    model: str = "",
    language: str = "",
) -> AttentionRecord:
    """Map `kind`: a text whose tokens attend to each other, by a module with one tokenizer.

    read: the model reads the tokens, once; what it says then, and notes. longest: tokens that it can read.
    """
    question.check_text_alone(who, LONGEST_DOCUMENT)
    attentions = attentions_in(module.model)
    check_attends(attentions)
    tokens, layers = module.tokenizer.encode(question.text), attentions[kind]
    if longest is not None and len(tokens) > longest:
        raise BadQuestion(f"the text has {len(tokens):,} tokens, and the model reads {longest:,}")
    ends = {"start" if kind == "decoder" else "end": True}
    side = token_side(question.text, tokens, **ends, title=TEXT, language=language)
    size, in_blocks = block_size(layers, len(side)), ""
    if size == 1:
        with module.inference(), recording(module.model, details=question.details) as recorded:
            output, said = read(tokens)
        shown = attention_map(kind, TEXT, TEXT, layers, recorded)
    else:
        with module.inference(), recording(module.model, weights=Weights(blocks=size)) as summed:
            output, said = read(tokens)
        shown = block_map(kind, TEXT, layers, summed, size)
        in_blocks, side = block_note(len(side), size), block_side(side, size)
    notes = (*said, *unknown_note(question.text, tokens), in_blocks)
    return record_of(
        question,
        {TEXT: side},
        [shown],
        model=model,
        output=output,
        title=block_title(question.text, size),
        notes=tuple(filter(None, notes)),
    )


def _maps(
    seen: SeenAttention,
    attentions: Mapping[str, AttentionModule],
    lengths: Mapping[str, int],
    *,
    details: bool,
) -> list[AttentionMap]:
    """Attentions of one shape are layers of one map. lengths: of the sides, by name."""
    kinds: dict[tuple[Any, ...], dict[str, AttentionModule]] = {}
    for name, attention in attentions.items():
        calls = [each for each in seen.attended if each.name == name]
        order = (TEXT, ANSWER, WHOLE) if attention.key_size is None else (ANSWER, WHOLE, TEXT)
        if (rows := _rows(calls, lengths, order)) is not None:
            values = calls[-1].values
            shape = (*calls[-1].weights.shape[1:-2], None if values is None else values.shape[-1])
            kinds.setdefault((rows, *shape), {})[name] = attention
    maps: list[AttentionMap] = []
    for (rows, *_), layers in kinds.items():
        name = _numbered("encoder" if rows == TEXT else "cross", maps)
        maps.append(attention_map(name, rows, TEXT, layers, seen.attended))
    for pooled in seen.pooled:
        if pooled.weights.shape[-1] == lengths[TEXT] and pooled.states.dim() == 3:
            name = _numbered("pooling", maps)
            maps.append(pooling_map(pooled, WHOLE, TEXT, details=details, name=name))
    return maps


def _rows(
    calls: Sequence[Recorded], lengths: Mapping[str, int], order: Sequence[str]
) -> str | None:
    """The side that the queries of these calls together are, the first that is as long; None: none is, or
    the keys are not the text.
    """
    if not calls or any(call.weights.dim() not in (3, 4) for call in calls):
        return None
    if any(len(call.weights) > 1 or call.weights.shape[-1] != lengths[TEXT] for call in calls):
        return None
    queries = sum(call.weights.shape[-2] for call in calls)
    return next((name for name in order if lengths[name] == queries), None)


def _numbered(name: str, maps: Sequence[AttentionMap]) -> str:
    before = sum(each.name.split()[0] == name for each in maps)
    return f"{name} {before + 1}" if before else name


def _left_out(seen: SeenAttention, maps: Sequence[AttentionMap]) -> tuple[str, ...]:
    every = len({each.name for each in seen.attended}) + len(seen.pooled)
    missing = every - sum(len(each.weights) for each in maps)
    many = "attentions are" if missing > 1 else "attention is"
    return (f"{missing} {many} not over the tokens of the text, and not shown",) if missing else ()


def unmeasured_note(question: Question) -> tuple[str, ...]:
    """There are measures of explanation for some tasks only."""
    return (
        "how far the weights explain the answer is not measured for this task",
    ) * question.explain
