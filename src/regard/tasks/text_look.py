"""Looking at any model that answers about texts: every attention over the tokens of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from regard.attention.module import AttentionModule
from regard.attention.recording import Recorded, recording
from regard.attention.weights.asked_weights import Weights
from regard.data.tokenizer import Tokenizer, Tokens
from regard.records.attention_map import AttentionMap
from regard.records.blocks import block_map, block_note, block_side, block_size, block_title
from regard.records.explanation import Explanation
from regard.records.gate_maps import gate_maps, recording_recurrent
from regard.records.maps import (
    attention_map,
    attentions_in,
    check_size,
    record_of,
    used_sides,
)
from regard.records.pooled_maps import PooledStates, pooling_map
from regard.records.question import LONGEST_DOCUMENT, BadQuestion, Question
from regard.records.reading_notes import reading_notes
from regard.records.record import AttentionRecord
from regard.records.side import Side
from regard.records.token_sides import cut_off_note, token_side
from regard.tasks.answer import Answer, Examples
from regard.tasks.attended_sides import (
    PARTS,
    WHOLE,
    SeenAttention,
    SidedAttention,
    SidedReading,
    labelled_texts,
    position_names,
    position_words,
    queries_side,
    query_names,
    sided_attentions,
    text_inputs,
)
from regard.words import t

if TYPE_CHECKING:
    from regard.tasks.task import Task

TEXT = "text"  # the side of a text that attends to itself


def with_attention(
    task: Task, module: Any, examples: Examples, answers: Sequence[Answer], seen: SeenAttention
) -> list[Answer]:
    """The answers to examples that were read side by side, each with what it came from: a pooling, or else
    the last attention over a text, a mean over heads.
    """
    names = {
        name: position_names(text, [example[name] for example in examples])
        for name, text in text_inputs(task).items()
    }
    if not names or not seen.by_module:
        return list(answers)
    widths = {name: max(map(len, every)) for name, every in names.items()}
    reading = SidedReading.of(seen, widths, answers)
    sure = [one for one in sided_attentions(task, module, examples[0], reading) if one.sure]
    if not sure:
        return list(answers)
    last = sure[-1]  # poolings are behind attentions
    weights, (rows,), (columns,) = last.weights.mean(1).float().cpu(), last.rows, last.columns
    count = weights.shape[-2]
    found = []
    for place, answer in enumerate(answers):
        own = {queries_side(count): query_names(count)}
        asking = {PARTS: answer.parts, WHOLE: [answer.line], **own}.get(rows) or names[rows][place]
        if rows in labelled_texts(task) and len(answer.parts) == len(asking):
            asking = answer.parts  # the label of each position
        keys = names[columns][place]
        shown = weights[place, : len(asking), : len(keys)]
        words = position_words(text_inputs(task)[columns], examples[place][columns])
        found.append(replace(answer, attention=shown, rows=asking, columns=keys, words=words))
    return found


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
    """Maps "cross", where another text, the answer or queries of the model's own attend to a text, "encoder",
    where a text attends to itself, and "pooling"; behind the name the text, where there are several, and a
    number, where layers are of several kinds.
    """
    who, texts = f"a model for task.kind={task.recipe.task.kind}", text_inputs(task)
    if not texts:
        named = ", ".join(task.inputs)
        raise BadQuestion(
            t("{who} answers about {named}: what it attends to is not shown", who=who, named=named)
        )
    question.check_text_alone(who)
    example = asked_example(task, question.text)
    read = {name: text.joined(example[name]) for name, text in texts.items()}
    tokens = {name: text.tokens([example[name]])[0] for name, text in texts.items()}
    sides = {
        name: token_side(
            read[name],
            tokens[name],
            start=text.bos,
            end=text.eos,
            title=name,
            language=task.recipe.data.source,
        )
        for name, text in texts.items()
    }
    attentions = {n: m for n, m in module.model.named_modules() if isinstance(m, AttentionModule)}
    check_size(attentions, max(map(len, sides.values())))

    with (
        SeenAttention.by(module.model, details=question.details) as seen,
        recording_recurrent(module.model) as read_by_cells,
    ):
        (answer,) = task.predict(module, [example], batch=1)
    reading = SidedReading.of(seen, {name: len(side) for name, side in sides.items()}, [answer])
    found = sided_attentions(task, module, example, reading)
    sides[PARTS] = Side.of_labels(answer.parts, title="answer")
    sides[WHOLE] = Side.of_labels([answer.line], title="answer")
    for one in found:  # the model may have queries of its own
        count = one.weights.shape[-2]
        sides[queries_side(count)] = Side.of_labels(query_names(count), title="own queries")
    cut = [
        note
        for name, text in texts.items()
        for note in cut_off_note(
            len(tokens[name]),
            len(text.tokenizer.encode(read[name])),
            name if len(texts) > 1 else "",
        )
    ]
    pairs = [(read[name], tokens[name], text.tokenizer) for name, text in texts.items()]
    maps = _maps([one for one in found if one.sure], attentions, question, several=len(texts) > 1)
    notes = _left_out(found, " or ".join(texts))
    if not found and len(sides_of := list(texts)) == 1:
        of_gates, maps = gate_maps(read_by_cells, len(sides[sides_of[0]]), sides_of[0])
        sides |= of_gates
    if found and not maps:
        raise BadQuestion(t("there is nothing to look at: {notes}", notes=t("; ").join(notes)))
    return record_of(
        question,
        used_sides(sides, maps),
        maps,
        title=" ⟷ ".join(read.values()),
        model=model,
        output=answer.line,
        notes=(*cut, *notes, *unknown_notes(pairs, task.recipe.data.source)),
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
    explain: Callable[[Tokens], tuple[Explanation, ...]] | None = None,
) -> AttentionRecord:
    """Map `kind`: a text whose tokens attend to each other, by a module with one tokenizer.

    read: the model reads the tokens, once; what it says then, and notes. longest: tokens that it can read.
    explain: the measures of explanation, if there are any.
    """
    question.check_text_alone(who, LONGEST_DOCUMENT)
    if question.foil is not None:
        raise BadQuestion(
            t("{who} has no foil: its answers are beside the second likeliest ones", who=who)
        )
    attentions = attentions_in(module.model)
    tokens, layers = module.tokenizer.encode(question.text), attentions[kind]
    if longest is not None and len(tokens) > longest:
        raise BadQuestion(
            t(
                "the text has {count} tokens, and the model reads {longest}",
                count=f"{len(tokens):,}",
                longest=f"{longest:,}",
            )
        )
    ends = {"start" if kind == "decoder" else "end": True}
    side = token_side(question.text, tokens, **ends, title=TEXT, language=language)
    sides, shown = {TEXT: side}, list[AttentionMap]()
    size, in_blocks = block_size(layers, len(side)) if layers else 1, ""
    if not any(attentions.values()):
        with module.inference(), recording_recurrent(module.model) as read_by_cells:
            output, said = read(tokens)
        of_gates, shown = gate_maps(read_by_cells, len(side), TEXT)
        sides |= of_gates
    elif size == 1:
        with module.inference(), recording(module.model, details=question.details) as recorded:
            output, said = read(tokens)
        shown = [attention_map(kind, TEXT, TEXT, layers, recorded)]
    else:
        with module.inference(), recording(module.model, weights=Weights(blocks=size)) as summed:
            output, said = read(tokens)
        shown = [block_map(kind, TEXT, layers, summed, size)]
        in_blocks, sides = block_note(len(side), size), {TEXT: block_side(side, size)}
    notes = (
        *said,
        *reading_notes(question.text, tokens, module.tokenizer, language=language),
        in_blocks,
    )
    measured: tuple[Explanation, ...] = ()
    if question.explain and explain is not None and size == 1 and layers:
        measured = explain(tokens)
    return record_of(
        question,
        sides,
        shown,
        model=model,
        output=output,
        title=block_title(question.text, size),
        notes=tuple(filter(None, notes)),
        after=() if measured else unmeasured_note(question),
        explanations=measured,
    )


def _maps(
    found: Sequence[SidedAttention],
    attentions: Mapping[str, AttentionModule],
    question: Question,
    *,
    several: bool,
) -> list[AttentionMap]:
    """Attentions of one shape over the same sides are layers of one map. several: there are several texts."""
    kinds: dict[tuple[Any, ...], dict[str, list[Recorded]]] = {}
    maps: list[AttentionMap] = []

    def named(kind: str, columns: str) -> str:
        whole = f"{kind} {columns}" if several and kind != "cross" else kind
        before = sum(f"{each.name} ".startswith(f"{whole} ") for each in maps)
        return f"{whole} {before + 1}" if before else whole

    for number, one in enumerate(found):
        if calls := [call for call in one.calls if isinstance(call, Recorded)]:
            size = None if calls[-1].values is None else calls[-1].values.shape[-1]
            shape = (*one.rows, *one.columns, one.weights.shape[1], size)
            kinds.setdefault(shape, {})[f"{number} {one.name}"] = (
                calls  # a module may be there twice
            )
    for (rows, columns, *_), layers in kinds.items():
        name = named("encoder" if rows == columns else "cross", columns)
        every = [call._replace(name=layer) for layer, calls in layers.items() for call in calls]
        modules = {layer: attentions[calls[0].name] for layer, calls in layers.items()}
        maps.append(attention_map(name, rows, columns, modules, every))
    for one in found:
        for call in one.calls:
            if isinstance(call, PooledStates):
                (rows,), (columns,) = one.rows, one.columns
                name = named("pooling", columns)
                maps.append(pooling_map(call, rows, columns, details=question.details, name=name))
    return sorted(maps, key=lambda each: not each.name.startswith("cross"))


def _left_out(found: Sequence[SidedAttention], texts: str) -> tuple[str, ...]:
    """texts: their names."""
    doubts = [one.doubt for one in found if not one.sure]
    missing = sum(not doubt for doubt in doubts)
    many = "attentions are" if missing > 1 else "attention is"
    over = f"{missing} {many} not over the tokens of the {texts}, and not shown"
    return (*dict.fromkeys(filter(None, doubts)), *([over] if missing else []))


def unknown_notes(
    texts: Iterable[tuple[str, Tokens, Tokenizer]], language: str = ""
) -> tuple[str, ...]:
    """What of these texts the model hardly knows; language: that it reads."""
    notes = (note for one in texts for note in reading_notes(*one, language=language))
    return tuple(dict.fromkeys(notes))


def unmeasured_picture_note(question: Question) -> tuple[str, ...]:
    """The measures of a look are those of texts."""
    return (
        t(
            "how far the weights explain the answer is not measured of pictures, but of texts: "
            "regard.explanations.picture_saliency puts attention to patches beside gradients and occlusion"
        ),
    ) * question.explain


def unmeasured_note(question: Question) -> tuple[str, ...]:
    """There are measures of explanation for some tasks only."""
    return (
        t("how far the weights explain the answer is not measured for this task"),
    ) * question.explain
