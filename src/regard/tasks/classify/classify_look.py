"""Looking at a classification: what weighed in the vector that was judged, and how it was read."""

from __future__ import annotations

from typing import cast

from torch import nn

from regard.attention.recording import recording
from regard.data.tokenizer import Tokens
from regard.records.maps import (
    NOTHING,
    attention_map,
    attentions_in,
    check_size,
    within_budget,
)
from regard.records.pooled_maps import pooling_map, recording_poolings
from regard.records.question import BadQuestion, Question
from regard.records.record import AttentionRecord, Explanation
from regard.records.side import Side
from regard.records.token_sides import token_side, unknown_note
from regard.tasks.classify.classify_module import Classification, Classify


def look_at_classification(
    classify: Classify, question: Question, *, model: str = "", language: str = ""
) -> AttentionRecord:
    """Map "pooling", whose one query is the label, and "encoder" where the text attends to itself."""
    question.check_text_alone("a classifier")
    module = cast(nn.Module, classify.model)
    layers = attentions_in(module)["encoder"]
    whole = classify.tokenizer.encode(question.text)
    first = getattr(getattr(module, "encoder", None), "first", None) is not None
    read = min(len(whole), classify.max_length or len(whole))
    check_size(layers, read + 1 + first)

    with (
        recording(module, details=question.details) as recorded,
        recording_poolings(module) as pooled,
    ):
        (found,) = classify.classify([question.text], attention=True)
    maps = [pooling_map(one, "label", "text", details=question.details) for one in pooled[-1:]]
    if layers:
        maps.append(attention_map("encoder", "text", "text", layers, recorded))
    if not maps:
        raise BadQuestion(NOTHING)
    kept, notes = within_budget(maps)
    return AttentionRecord(
        {
            "text": token_side(
                question.text, found.tokens, start=first, end=True, title="text", language=language
            ),
            "label": Side.of_labels([found.label], title="label"),
        },
        kept,
        title=question.text,
        model=model,
        output=f"{found.label} ({found.probability:.2f})",
        notes=(
            *_cut_note(whole, found.tokens),
            *unknown_note(question.text, found.tokens),
            *notes,
        ),
        explanations=_explanations(classify, found) if question.explain else (),
        question=question.to_dict(),
    )


def _cut_note(whole: Tokens, read: Tokens) -> tuple[str, ...]:
    if len(read) == len(whole):
        return ()
    return (f"the first {len(read):,} of {len(whole):,} tokens were read",)


def _explanations(classify: Classify, found: Classification) -> tuple[Explanation, ...]:
    from regard.tasks.classify.classify_explain import explain_classification

    return explain_classification(classify, found.tokens)
