"""A classification as its model reads it: one answer, the label, made of one row of weights, if of any.

Legend: as in `model_readings`; Q = 1 and M = 1, the keys are the tokens and EOS.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.data.tokenizer import BOS, Tokens
from regard.explanations.attribution_cards import Contrast
from regard.explanations.context_parts import part_norms
from regard.explanations.decoder_readings import DecodedReading, differentiable
from regard.explanations.model_readings import Weighed
from regard.explanations.model_work import GRADIENT
from regard.explanations.work_done import worked
from regard.records.explanation import Explanation
from regard.records.question import BadQuestion, Foil
from regard.suggestions import meant
from regard.tasks.classify.classify_module import Classify
from regard.words import t


def explain_classification(
    task: Classify, tokens: Tokens, of: str = "pooling", foil: Foil | None = None
) -> tuple[Explanation, ...]:
    """Of the maps `of` (one row, for the likeliest label; columns: tokens, then EOS) and "encoder".

    foil: a label that it is not.
    """
    if not len(tokens):
        return ()
    with task.inference(), differentiable():
        reading = ClassificationReading(task, tokens.ids)
        contrast = None if foil is None else _contrast(task, reading, tokens, foil)
        return reading.explained(of, contrast)


def _contrast(
    task: Classify, reading: ClassificationReading, tokens: Tokens, foil: Foil
) -> Contrast:
    labels, other = list(task.labels), foil.text.strip()
    if other not in labels:
        raise BadQuestion(
            t(
                "there is no label {other}.{meant} There is {labels}",
                other=repr(other),
                meant=meant(other, labels),
                labels=", ".join(labels[:20]),
            )
        )
    against = torch.full_like(reading.said, labels.index(other))
    if bool((against == reading.said).all()):
        raise BadQuestion(
            t("{other} is the answer: name a label that it is not", other=repr(other))
        )
    return Contrast(against, 0, lambda number: labels[number], [*tokens.pieces, "EOS"])


class ClassificationReading(DecodedReading):
    """tokens: ids without EOS, as many as the task reads. The answer is its likeliest label."""

    def __init__(self, task: Classify, tokens: Sequence[int]) -> None:
        super().__init__(task.model, tokens, [BOS])
        outputs, weights = self._decode()
        self.answers = self._distributions(outputs)
        self.said = self.answers.argmax(-1)
        self.work = outputs.shape[-1] * len(task.labels)
        summed = outputs.shape[-1] == self.encoded.states.shape[-1]  # of the states, once
        if summed and weights is not None:
            anywhere = torch.ones_like(weights[:, None], dtype=torch.bool)
            self.weighed = Weighed(weights[:, None], anywhere, weights)

    def steered(self, weights: Tensor, rows: slice) -> Tensor:
        runs = GRADIENT if weights.requires_grad else 1
        worked(runs * len(weights) * weights.shape[1] * self.work)
        return self._distributions(self.states(weights, rows))

    def states(self, weights: Tensor, rows: slice) -> Tensor:
        """The vector that is judged."""
        return weights.squeeze(2).to(self.encoded.states) @ self.encoded.states[0]

    def norms(self) -> Tensor | None:
        return (
            None if self.weighed is None else part_norms(self.weighed.weights, self.encoded.states)
        )

    def reported(self, weights: Tensor, rows: slice) -> Tensor:
        return weights.squeeze(1)
