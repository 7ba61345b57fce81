"""Looking at a text as a masked language model reads it, with tokens hidden."""

from __future__ import annotations

from typing import cast

from torch import nn

from regard.attention.recording import recording
from regard.data.padding import pad
from regard.data.tokenizer import MASK
from regard.records.maps import (
    attention_map,
    attentions_in,
    check_attends,
    check_size,
    within_budget,
)
from regard.records.question import BadQuestion, Question
from regard.records.record import AttentionRecord
from regard.records.token_sides import token_side, unknown_note
from regard.tasks.masked.masked_module import Masked


def look_at_masked(
    task: Masked, question: Question, *, model: str = "", language: str = ""
) -> AttentionRecord:
    """Map "encoder": each token and all others. The output is the text with its masks filled."""
    question.check_text_alone("a masked language model")
    module = cast(nn.Module, task.model)
    attentions = attentions_in(module)
    check_attends(attentions)
    tokens = task.tokenizer.encode(question.text)
    if task.max_length is not None and len(tokens) > task.max_length:
        raise BadQuestion(
            f"the text has {len(tokens):,} tokens, and the model reads {task.max_length:,}"
        )
    check_size(attentions["encoder"], len(tokens) + 1)

    source, mask = (x.to(task.device) for x in pad([tokens.ids]))
    with task.inference(), recording(module, details=question.details) as recorded:
        task.model.encode(source, mask)
    hidden = task.mask_token in tokens.ids
    filled = task.fill([question.text], top=1)[0].filled if hidden else question.text

    layers = attentions["encoder"]
    maps, notes = within_budget([attention_map("encoder", "text", "text", layers, recorded)])
    side = token_side(question.text, tokens, end=True, title="text", language=language)
    nothing = () if hidden else (f"nothing was filled in: there is no {MASK} in the text",)
    return AttentionRecord(
        {"text": side},
        maps,
        title=question.text,
        model=model,
        output=filled,
        notes=(*nothing, *unknown_note(question.text, tokens), *notes),
        question=question.to_dict(),
    )
