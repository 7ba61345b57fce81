"""An input as an encoder and a decoder read it: what all readings of such models have in common.

Legend: as in `model_readings`; S source tokens with EOS, R what a decoder puts out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast

import torch
from torch import Tensor, nn

from regard.attention.multi_head import MultiHead
from regard.attention.recording import recording
from regard.explanations.embedded_inputs import embedding, times_input
from regard.explanations.measured import measure, stack_rollout
from regard.explanations.model_readings import Reading, Weighed
from regard.explanations.model_work import GRADIENT, ModelWork, pieces
from regard.layers.contracts import Encoded, Translator
from regard.layers.special_tokens import EOS
from regard.records.record import Explanation


@contextmanager
def differentiable() -> Iterator[None]:
    """Gradients of a model that is not being trained: cuDNN's recurrent networks have none."""
    with torch.backends.cudnn.flags(enabled=False):
        yield


class DecodedReading(Reading):
    """source: ids without EOS; inputs: what the decoder reads, a token for each answer."""

    weighed: Weighed | None = None

    def __init__(self, model: Translator, source: Sequence[int], inputs: Sequence[int]) -> None:
        self.model, self.module = model, cast(nn.Module, model)
        device = next(self.module.parameters()).device
        self.source = torch.tensor([[*source, EOS]], device=device)
        self.inputs = torch.tensor([inputs], device=device)
        self.encoded = self._encode(self.source)
        self.costs = ModelWork.of(self.module)
        self.whole = self.costs.reading(self.source.shape[1], len(inputs))

    def explained(self, of: str) -> tuple[Explanation, ...]:
        """All that can be said of the map named `of`, and of "encoder"."""
        return (*measure(self, of), *self._rollout())

    def gradients(self) -> Tensor:
        parts = pieces(len(self.said), GRADIENT * self.whole)
        return torch.cat([self._gradients(rows) for rows in parts])

    def without_each(self) -> Tensor:
        parts = pieces(self.source.shape[1], self.whole)
        return torch.cat([self._without(keys) for keys in parts], 1)

    def _decode(self) -> tuple[Tensor, Tensor | None]:
        """The outputs (Q, R), and the weights (Q, K) that the model itself reports of them."""
        decoded = self.model.decoder.forward(self.inputs, self.encoded, weights=True)
        weights = None if decoded.attended is None else decoded.attended.weights
        return decoded.outputs[0], None if weights is None else weights[0].float()

    def _gradients(self, rows: slice) -> Tensor:
        said = self.said[rows]
        copies = self.source.expand(len(said), -1)
        with torch.enable_grad():
            with embedding(self.module) as kept:
                encoded = self._encode(copies)
            inputs = self.inputs[:, : rows.stop].expand(len(said), -1)
            outputs = self.model.decoder.forward(inputs, encoded).outputs
            own = outputs[torch.arange(len(said)), torch.arange(rows.start, rows.stop)]
            log_probs = self.model.decoder.project(own).float().log_softmax(-1)
            return times_input(log_probs.gather(-1, said[:, None]).sum(), kept, copies)

    def _without(self, left_out: slice) -> Tensor:
        """p(y) (Q, N) if one of these N tokens were not there."""
        ids = self.source[0]
        others = ~torch.eye(len(ids), dtype=torch.bool, device=ids.device)[left_out]
        encoded = self._encode(ids.expand(len(others), -1)[others].view(len(others), -1))
        outputs = self.model.decoder.forward(self.inputs.expand(len(others), -1), encoded).outputs
        said = self.said[None, :, None].expand(len(others), -1, 1)
        return self._distributions(outputs).gather(-1, said).squeeze(-1).T

    def _rollout(self) -> tuple[Explanation, ...]:
        """Of an encoder that has two layers of heads or more, and no other model beside it."""
        with recording(self.module) as recorded:
            self._encode(self.source)
        parts = dict(self.module.named_modules())
        layers = [r.weights[0] for r in recorded if isinstance(parts[r.name], MultiHead)]
        alone = len({r.name.partition("encoder")[0] for r in recorded}) == 1
        return (stack_rollout(layers, "encoder"),) if len(layers) > 1 and alone else ()

    def _encode(self, source: Tensor) -> Encoded:
        return self.model.encode(source, torch.ones_like(source, dtype=torch.bool))

    def _distributions(self, outputs: Tensor) -> Tensor:
        return self.model.decoder.project(outputs).float().softmax(-1)
