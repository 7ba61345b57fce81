"""How much work it is to explain an answer, before any of it is done."""

from __future__ import annotations

import math

from regard.explanations.decoder_steps import has_steps
from regard.explanations.measured import measuring_work
from regard.explanations.model_work import ModelWork
from regard.layers.contracts import Decoder


def explaining_work(decoder: Decoder, model: ModelWork, source: int, target: int) -> float:
    """Of explaining an input of so many tokens, EOS among them, whose answer has so many.

    Without a source, the target is what is read, and no answer of it is made with other weights.
    """
    if source == 1 < target:
        return measuring_work(model, target, target, math.inf)
    each = answer_work(model, source, target, has_steps(decoder))
    stack = source * model.reading(source, target) if model.encoder else 0.0
    return measuring_work(model, source, target, each) + stack


def answer_work(model: ModelWork, source: int, target: int, in_steps: bool) -> float:
    """Of one answer with other weights: a step, or where it matters which one it is, the whole target."""
    steps = 1 if in_steps else target
    return steps * (model.token + (model.cross + model.encoder) * source + model.decoder * target)
