"""Looking at a text as a language model reads it, from left to right."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.data.tokenizer import BOS, PAD, Tokens
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.tasks.decoded_tokens import last_label
from regard.tasks.language.language_module import Language
from regard.tasks.text_look import look_at_itself


def look_at_language(
    task: Language, question: Question, *, model: str = "", language: str = ""
) -> AttentionRecord:
    """Map "decoder": each token, once it is read, and those before it. The output is the next one."""

    def read(tokens: Tokens) -> tuple[str, tuple[str, ...]]:
        inputs = torch.tensor([[BOS, *tokens.ids]], device=task.device)
        encoded = task.model.encode(inputs, inputs != PAD)
        outputs = task.model.decoder.forward(inputs, encoded).outputs
        return _next(task, tokens.ids, task.model.decoder.project(outputs[0, -1])), ()

    who = "a language model"
    return look_at_itself(task, question, "decoder", read, who=who, model=model, language=language)


def _next(task: Language, ids: list[int], logits: Tensor) -> str:
    """The likeliest next token and its probability."""
    chances = logits.float().softmax(-1)
    chances[[PAD, BOS]] = 0.0  # which never come
    probability, token = (x.item() for x in chances.max(-1))
    return f"{last_label(task.tokenizer, [*ids, int(token)])} ({probability:.2f})"
