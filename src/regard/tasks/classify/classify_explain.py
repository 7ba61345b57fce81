"""A classification as its model reads it: one answer, the label, made of one row of weights, if of any.

Legend: as in `model_readings`; Q = 1 and M = 1, the keys are the tokens and EOS.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from regard.data.tokenizer import BOS, EOS, Tokens
from regard.explanations.embedded_inputs import embedding, times_input
from regard.explanations.explained_model import differentiable, encoder_rollout
from regard.explanations.measured import measure
from regard.explanations.model_readings import Weighed
from regard.explanations.model_work import ModelWork, pieces
from regard.layers.contracts import Encoded
from regard.records.record import Explanation
from regard.tasks.classify.classify_module import Classify


def explain_classification(task: Classify, tokens: Tokens) -> tuple[Explanation, ...]:
    """Of the maps "pooling" (one row, for the likeliest label; columns: tokens, then EOS) and "encoder"."""
    if not len(tokens):
        return ()
    with task.inference(), differentiable():
        found = measure(ClassificationReading(task, tokens.ids), "pooling")
        return (*found, *encoder_rollout(task.model, tokens.ids, task.device))


class ClassificationReading:
    """tokens: ids without EOS, as many as the task reads. The answer is its likeliest label."""

    weighed: Weighed | None = None

    def __init__(self, task: Classify, tokens: Sequence[int]) -> None:
        self.task, self.decoder = task, task.model.decoder
        self.source = torch.tensor([[*tokens, EOS]], device=task.device)
        self.encoded = self._encode(self.source)
        decoded = self.decoder.forward(self._start(1), self.encoded, weights=True)
        self.answers = self._distributions(decoded.outputs[:, 0])
        self.said = self.answers.argmax(-1)
        self.work: float = decoded.outputs.shape[-1] * len(task.labels)
        summed = decoded.outputs.shape[-1] == self.encoded.states.shape[-1]  # of the states, once
        if summed and decoded.attended is not None and decoded.attended.weights is not None:
            weights = decoded.attended.weights[0].float()  # (1, K)
            self.weighed = Weighed(
                weights[:, None], torch.ones_like(weights[:, None]).bool(), weights
            )

    def steered(self, weights: Tensor, rows: slice) -> Tensor:
        contexts = weights.squeeze(2).to(self.encoded.states) @ self.encoded.states[0]
        return self._distributions(contexts)

    def reported(self, weights: Tensor, rows: slice) -> Tensor:
        return weights.squeeze(1)

    def gradients(self) -> Tensor:
        with torch.enable_grad():
            with embedding(self.task) as kept:
                encoded = self._encode(self.source)
            answer = self._distributions(self._outputs(encoded))
            return times_input(answer[0, self.said].log().sum(), kept, self.source)

    def without_each(self) -> Tensor:
        keys = self.source.shape[1]
        each = ModelWork.of(cast(nn.Module, self.task.model)).reading(keys, 1)
        return torch.cat([self._without(part) for part in pieces(keys, each)], 1)

    def _without(self, left_out: slice) -> Tensor:
        """p(y) (1, N) if one of these N tokens were not there."""
        ids = self.source[0]
        others = ~torch.eye(len(ids), dtype=torch.bool, device=ids.device)[left_out]
        encoded = self._encode(ids.expand(len(others), -1)[others].view(len(others), -1))
        return self._distributions(self._outputs(encoded))[:, self.said].T

    def _encode(self, source: Tensor) -> Encoded:
        return self.task.model.encode(source, torch.ones_like(source, dtype=torch.bool))

    def _outputs(self, encoded: Encoded) -> Tensor:
        return self.decoder.forward(self._start(len(encoded.mask)), encoded).outputs[:, 0]

    def _start(self, rows: int) -> Tensor:
        return torch.full((rows, 1), BOS, device=self.task.device)

    def _distributions(self, outputs: Tensor) -> Tensor:
        return self.decoder.project(outputs).float().softmax(-1)
