"""Attention as explanation: how far the weights of a map say why a model answered as it did.

    explanations = explain_translation(translator, prediction.source_tokens, [*ids, EOS])
    record.with_explanations(explanations)

Attention shows where a layer read, not why the model answered. Measured here, for one model and one input:
what agrees with the weights (gradients, leaving tokens out), and what other weights would have done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast

import torch
from torch import nn

from regard.attention.module import MultiHead
from regard.attention.recording import recording
from regard.data.tokenizer import EOS, Tokens
from regard.looking.explaining.classifications import ClassificationReading
from regard.looking.explaining.measuring import measure, measuring_work, stack_rollout
from regard.looking.explaining.steps import has_steps
from regard.looking.explaining.translations import TranslationReading, answer_work
from regard.looking.work import ModelWork
from regard.records.record import Explanation
from regard.tasks.classify import Classify
from regard.tasks.text_task import TextTask
from regard.tasks.text_translator import TextTranslator

__all__ = ["explain_classification", "explain_translation", "explaining_work"]


def explain_translation(
    translator: TextTranslator, source: Tokens, target: Sequence[int]
) -> tuple[Explanation, ...]:
    """Of the maps "cross" (rows: target tokens; columns: source tokens, then EOS) and "encoder".

    target: the ids of the rows, EOS at the end where the model said it. The model is asked as it is:
    not inside a `steering` of its attentions.
    """
    if not target or not len(source):
        return ()
    with translator.answering(), _differentiable():
        found = measure(TranslationReading(translator.model, source.ids, target), "cross")
        return (*found, *_rollout(translator, source))


def explain_classification(task: Classify, tokens: Tokens) -> tuple[Explanation, ...]:
    """Of the maps "pooling" (one row, for the likeliest label; columns: tokens, then EOS) and "encoder"."""
    if not len(tokens):
        return ()
    with task.answering(), _differentiable():
        found = measure(ClassificationReading(task, tokens.ids), "pooling")
        return (*found, *_rollout(task, tokens))


def explaining_work(task: TextTask, model: ModelWork, source: int, target: int) -> float:
    """Of explaining an input of so many tokens, EOS among them, whose answer has so many."""
    each = answer_work(model, source, target, has_steps(task.model.decoder))
    return measuring_work(model, source, target, each)


@contextmanager
def _differentiable() -> Iterator[None]:
    """Gradients of a model that is not being trained: cuDNN's recurrent networks have none."""
    with torch.backends.cudnn.flags(enabled=False):
        yield


def _rollout(task: TextTask, source: Tokens) -> tuple[Explanation, ...]:
    """Of an encoder that has two layers of heads or more, and no other model beside it."""
    ids = torch.tensor([[*source.ids, EOS]], device=task.device)
    with recording(cast(nn.Module, task.model)) as recorded:
        task.model.encode(ids, torch.ones_like(ids, dtype=torch.bool))
    parts = dict(task.model.named_modules())
    layers = [r.weights[0] for r in recorded if isinstance(parts[r.name], MultiHead)]
    alone = len({r.name.partition("encoder")[0] for r in recorded}) == 1
    return (stack_rollout(layers, "encoder"),) if len(layers) > 1 and alone else ()
