"""Looking at a text as a masked language model reads it, with tokens hidden."""

from __future__ import annotations

from typing import cast

from torch import nn

from regard.attention.recording import recording
from regard.attention.weights.asked_weights import Weights
from regard.data.padding import pad
from regard.data.tokenizer import MASK
from regard.records.blocks import block_map, block_note, block_side, block_size, block_title
from regard.records.maps import (
    attention_map,
    attentions_in,
    check_attends,
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
    layers = attentions["encoder"]
    size = block_size(layers, len(tokens) + 1)
    side = token_side(question.text, tokens, end=True, title="text", language=language)

    source, mask = (x.to(task.device) for x in pad([tokens.ids]))
    if size == 1:
        with task.inference(), recording(module, details=question.details) as recorded:
            task.model.encode(source, mask)
        maps, notes = within_budget([attention_map("encoder", "text", "text", layers, recorded)])
    else:
        with task.inference(), recording(module, weights=Weights(blocks=size)) as summed:
            task.model.encode(source, mask)
        maps = (block_map("encoder", "text", layers, summed, size),)
        side, notes = block_side(side, size), (block_note(len(side), size),)
    hidden = task.mask_token in tokens.ids
    filled = task.fill([question.text], top=1)[0].filled if hidden else question.text

    nothing = () if hidden else (f"nothing was filled in: there is no {MASK} in the text",)
    return AttentionRecord(
        {"text": side},
        maps,
        title=block_title(question.text, size),
        model=model,
        output=filled,
        notes=(*nothing, *unknown_note(question.text, tokens), *notes),
        question=question.to_dict(),
    )
