"""Looking at a text as a language model reads it, from left to right."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from torch import Tensor, nn

from regard.attention.recording import recording
from regard.chances import with_chance
from regard.data.tokenizer import BOS, PAD, Tokens
from regard.records.blocks import block_size
from regard.records.maps import attentions_in
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.tasks.answer import Answer
from regard.tasks.attended_sides import batch_weights
from regard.tasks.decoded_tokens import last_label
from regard.tasks.language.language_explain import explain_language
from regard.tasks.language.language_module import Language
from regard.tasks.text_look import look_at_itself


def look_at_language(
    task: Language, question: Question, *, model: str = "", language: str = ""
) -> AttentionRecord:
    """Map "decoder": each token, once it is read, and those before it. The output is the next one."""

    def read(tokens: Tokens) -> tuple[str, tuple[str, ...]]:
        return _next(task, tokens.ids, task.model.decoder.project(task.read(tokens.ids)[-1])), ()

    return look_at_itself(
        task,
        question,
        "decoder",
        read,
        who="a language model",
        model=model,
        language=language,
        explain=lambda tokens: explain_language(task, tokens.ids),
    )


def with_prompt_attention(task: Language, answer: Answer) -> Answer:
    """The answer with what each token of its prompt looked at: the last layer of what a look shows, a mean
    over heads. Without it where there is none, or more than is drawn token by token.
    """
    network = cast(nn.Module, task.model)
    tokens, layers = task.tokenizer.encode(answer.input), attentions_in(network)["decoder"]
    if not layers or block_size(layers, len(tokens) + 1) > 1:
        return answer
    with task.inference(), recording(network) as recorded:
        task.read(tokens.ids)
    weights, names = batch_weights(recorded[-1])[0].mean(0).float().cpu(), ["BOS", *tokens.pieces]
    return replace(answer, attention=weights, rows=names, columns=names)


def _next(task: Language, ids: list[int], logits: Tensor) -> str:
    """The likeliest next token and its probability."""
    chances = logits.float().softmax(-1)
    chances[[PAD, BOS]] = 0.0  # which never come
    probability, token = (x.item() for x in chances.max(-1))
    return with_chance(last_label(task.tokenizer, [*ids, int(token)]), probability)
