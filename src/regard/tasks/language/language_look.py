"""Looking at a text as a language model reads it, from left to right."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from regard.attention.recording import recording
from regard.attention.weights.asked_weights import Weights
from regard.data.tokenizer import BOS, EOS, PAD
from regard.records.blocks import block_map, block_note, block_side, block_size, block_title
from regard.records.maps import (
    attention_map,
    attentions_in,
    check_attends,
    within_budget,
)
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.records.side import END
from regard.records.token_sides import label_of, token_side, unknown_note
from regard.tasks.language.language_module import Language


def look_at_language(
    task: Language, question: Question, *, model: str = "", language: str = ""
) -> AttentionRecord:
    """Map "decoder": each token, once it is read, and those before it. The output is the next one."""
    question.check_text_alone("a language model")
    module = cast(nn.Module, task.model)
    attentions = attentions_in(module)
    check_attends(attentions)
    tokens = task.tokenizer.encode(question.text)
    layers = attentions["decoder"]
    size = block_size(layers, len(tokens) + 1)

    def last_logits() -> Tensor:
        decoder = task.model.decoder
        inputs = torch.tensor([[BOS, *tokens.ids]], device=task.device)
        outputs = decoder.forward(inputs, task.model.encode(inputs, inputs != PAD)).outputs
        return decoder.project(outputs[0, -1])

    side = token_side(question.text, tokens, start=True, title="text", language=language)
    if size == 1:
        with task.inference(), recording(module, details=question.details) as recorded:
            logits = last_logits()
        maps, notes = within_budget([attention_map("decoder", "text", "text", layers, recorded)])
    else:
        with task.inference(), recording(module, weights=Weights(blocks=size)) as summed:
            logits = last_logits()
        maps = (block_map("decoder", "text", layers, summed, size),)
        side, notes = block_side(side, size), (block_note(len(side), size),)
    return AttentionRecord(
        {"text": side},
        maps,
        title=block_title(question.text, size),
        model=model,
        output=_next(task, tokens.ids, logits),
        notes=(*unknown_note(question.text, tokens), *notes),
        question=question.to_dict(),
    )


def _next(task: Language, ids: list[int], logits: Tensor) -> str:
    """The likeliest next token and its probability."""
    chances = logits.float().softmax(-1)
    chances[[PAD, BOS]] = 0.0  # which never come
    probability, token = (x.item() for x in chances.max(-1))
    if token == EOS:
        return f"{END} ({probability:.2f})"
    decode = task.tokenizer.decode
    piece = decode([*ids, int(token)])[len(decode(ids)) :]
    return f"{label_of(piece, int(token))} ({probability:.2f})"
