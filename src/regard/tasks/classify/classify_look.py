"""Looking at a classification: what weighed in the vector that was judged, and how it was read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from regard.attention.normalizers import as_normalizer
from regard.attention.pooling import AttentionPooling, Pooled
from regard.attention.recording import recording
from regard.attention.wording import written_normalizer
from regard.data.tokenizer import Tokens
from regard.records.maps import (
    NOTHING,
    attention_map,
    attentions_in,
    check_size,
    within_budget,
)
from regard.records.question import BadQuestion, Question
from regard.records.record import AttentionMap, AttentionRecord, Explanation
from regard.records.side import Side
from regard.records.token_sides import token_side, unknown_note
from regard.tasks.classify.classify_module import Classification, Classify


class PooledText(NamedTuple):
    """One text as a pooling saw it."""

    pooling: AttentionPooling
    states: Tensor  # (S, D)
    weights: Tensor  # (S,)


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
        _pooling(module) as seen,
    ):
        (found,) = classify.classify([question.text], attention=True)
    maps = [_pooling_map(text, details=question.details) for text in seen[-1:]]
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


@contextmanager
def _pooling(module: nn.Module) -> Iterator[list[PooledText]]:
    """Inside the block, keep what is pooled by attention: a recording sees an `AttentionModule` only."""
    kept: list[PooledText] = []

    def keep(pooling: AttentionPooling, args: tuple[Any, ...], pooled: Pooled) -> None:
        kept.append(PooledText(pooling, args[0][0], pooled.weights[0]))

    poolings = [part for part in module.modules() if isinstance(part, AttentionPooling)]
    handles = [pooling.register_forward_hook(keep) for pooling in poolings]
    try:
        yield kept
    finally:
        for handle in handles:
            handle.remove()


@torch.no_grad()
def _pooling_map(text: PooledText, *, details: bool) -> AttentionMap:
    pooling, states = text.pooling, text.states
    hidden: nn.Module | None = pooling.hidden
    keys = states if hidden is None else torch.tanh(hidden(states))
    scores, values = pooling.query @ keys.mT, states  # (1, S), (S, D)
    normalizer = written_normalizer(as_normalizer(pooling.normalize))
    return AttentionMap(
        "pooling",
        "label",
        "text",
        text.weights[None, None, None].float().cpu().numpy(),
        mechanism=f"score: {'dot' if hidden is None else 'u · tanh(W h)'} · normalize: {normalizer}",
        normalizer=normalizer,
        reported="layer 1",
        scores=scores[None, None].float().cpu().numpy() if details else None,
        values=values[None, None].float().cpu().numpy() if details else None,
    )


def _cut_note(whole: Tokens, read: Tokens) -> tuple[str, ...]:
    if len(read) == len(whole):
        return ()
    return (f"the first {len(read):,} of {len(whole):,} tokens were read",)


def _explanations(classify: Classify, found: Classification) -> tuple[Explanation, ...]:
    from regard.tasks.classify.classify_explain import explain_classification

    return explain_classification(classify, found.tokens)
