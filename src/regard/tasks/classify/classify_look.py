"""Looking at a judgement: what weighed in the vector that was judged, and how it was read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from torch import nn

from regard.attention.recording import recording
from regard.data.fields import Document, Field, Numbers, Text
from regard.data.problems import said_of_value
from regard.data.tokenizer import Tokens
from regard.records.attention_map import AttentionMap
from regard.records.explanation import Explanation
from regard.records.gate_maps import gate_maps, recording_recurrent
from regard.records.maps import attention_map, attentions_in, check_size, record_of
from regard.records.pooled_maps import PooledStates, pooling_map, recording_poolings
from regard.records.question import LONGEST, LONGEST_DOCUMENT, BadQuestion, Question
from regard.records.reading_notes import reading_notes
from regard.records.record import AttentionRecord
from regard.records.side import Side
from regard.records.token_sides import cut_off_note
from regard.tasks.classify.classify_explain import explain_classification
from regard.tasks.classify.classify_module import Classify
from regard.tasks.classify.document_look import (
    UNATTENDED,
    cut_note,
    document_levels,
    level_maps,
    recording_shares,
    sentence_side,
    share_maps,
)
from regard.tasks.classify.judge import Judge
from regard.tasks.classify.judged_input import input_side, positions_read, shown_text


def look_at_judgement(
    module: Judge,
    question: Question,
    *,
    model: str = "",
    language: str = "",
    read: Callable[[str], Any] | None = None,
) -> AttentionRecord:
    """Map "pooling", whose one query is the answer, and "encoder" where the text attends to itself; "mean" or
    "max" of a model that has neither: what each position is of the vector that was judged; of a recurrent
    network without any of them what its gates do: "memory", "gates" and "states".

    Of a document, its levels, and as maps "sentences", what each weighs in the answer, "words", what each
    word weighs in its sentence, and "pooling", the product of both.

    read: what is asked about in a text, as the field of the module has it; by that field if not given.
    """
    field, network = module.given, cast(nn.Module, module.model)
    longest = LONGEST_DOCUMENT if isinstance(field, Document) else LONGEST
    question.check_text_alone("a classifier", longest)
    value = _accepted(field, question.text) if read is None else read(question.text)
    (tokens,) = positions_read(field, [value])
    layers = attentions_in(network)
    first = getattr(getattr(network, "encoder", None), "first", None) is not None
    side = input_side(field, value, tokens, start=first, language=language)
    check_size(layers["encoder"], len(side))

    with (
        recording(network, details=question.details) as recorded,
        recording_poolings(network) as pooled,
        recording_shares(network) as shares,
        recording_recurrent(network) as read_by_cells,
    ):
        (found,) = module.judge([value], attention=True)
    label, output = module.said(found)
    sides = {field.name: side, "label": Side.of_labels([label], title=module.answered)}
    levels, cut = None, _cut_note(module, value, tokens)
    if isinstance(field, Document):
        (sentences,) = field.tokens([value])
        sides["sentences"] = sentence_side(value.text, sentences, language)
        levels = document_levels(shares, sentences, field.name)
        maps, left_out = level_maps(levels) if levels else ([], ())
        cut = (*cut_note(field, value, sentences), *left_out)
    else:
        maps = _poolings(pooled, len(side), field.name, details=question.details)
        for name, queries in (("cross", "label"), ("encoder", field.name)):
            if layers[name]:
                maps.append(attention_map(name, queries, field.name, layers[name], recorded))
        if not maps:
            maps = share_maps(shares, len(side), field.name)
        if not maps:
            of_gates, maps = gate_maps(read_by_cells, len(side), field.name)
            sides |= of_gates
    text, tokenizer = shown_text(field, value), getattr(field, "tokenizer", None)
    return record_of(
        question,
        sides,
        maps,
        title=question.text if isinstance(field, Numbers) else text,
        model=model,
        output=output,
        notes=(*cut, *reading_notes(text, tokens, tokenizer, language=language)),
        explanations=_explanations(module, tokens, maps, question) if question.explain else (),
        levels=levels,
    )


def _poolings(
    pooled: Sequence[PooledStates], positions: int, keys: str, *, details: bool
) -> list[AttentionMap]:
    """What was judged first, then the poolings of the layers below it."""
    over_text = [one for one in reversed(pooled) if one.weights.shape[-1] == positions]
    return [
        pooling_map(
            one,
            "label",
            keys,
            details=details,
            name=f"pooling {number}" if number > 1 else "pooling",
        )
        for number, one in enumerate(over_text, 1)
    ]


def _cut_note(module: Judge, value: Any, read: Tokens) -> tuple[str, ...]:
    field = module.given
    if not isinstance(field, Text):
        return ()
    return cut_off_note(len(read), len(field.tokenizer.encode(field.joined(value))))


def _explanations(
    module: Judge, tokens: Tokens, maps: Sequence[AttentionMap], question: Question
) -> tuple[Explanation, ...]:
    if not isinstance(module, Classify) or not isinstance(module.given, Text):
        return ()
    if any(each.name == "states" for each in maps):
        return ()  # what gates do is over other axes than an answer
    summed = [each.name for each in maps if each.name in UNATTENDED.values()]
    of = summed[0] if summed else "pooling"
    return explain_classification(module, tokens, of, question.foil)


def _accepted(field: Field, text: str) -> Any:
    """What is asked about; files that it names are not opened, since anybody may ask a server."""
    try:
        return field.accept(field.of_line(text), files=False)
    except ValueError as error:
        raise BadQuestion(said_of_value(error, field.name)) from None
