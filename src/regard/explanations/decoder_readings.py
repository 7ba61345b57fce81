"""An input as an encoder and a decoder read it: what all readings of such models have in common.

Legend: as in `model_readings`; S source tokens with EOS, R what a decoder puts out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast

import torch
from torch import Tensor, nn

from regard.attention.shapes import at_least_single
from regard.explanations.attribution_cards import Contrast
from regard.explanations.attributions import value_zeroing
from regard.explanations.embedded_inputs import embedding, times_input
from regard.explanations.measured import measure, measuring_work
from regard.explanations.model_readings import Reading, Weighed
from regard.explanations.model_work import GRADIENT, ModelWork, pieces
from regard.explanations.self_stacks import read_stack
from regard.explanations.stack_measures import stack_measures, stack_work
from regard.explanations.token_subsets import of_each_choice, packed
from regard.explanations.work_done import expect, worked
from regard.layers.contracts import Encoded, Translator
from regard.layers.special_tokens import EOS
from regard.records.explanation import Explanation
from regard.records.maps import attentions_in


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
        self.seen = torch.ones(len(inputs), self.source.shape[1], dtype=torch.bool, device=device)
        self.erasable = self.seen.clone()
        self.erasable[:, -1] = False  # EOS

    def explained(self, of: str, contrast: Contrast | None = None) -> tuple[Explanation, ...]:
        """All that can be said of the map named `of`, and of "encoder"."""
        keys, layers = self.seen.shape[1], len(attentions_in(self.module)["encoder"])
        expect(measuring_work(self.costs, keys, len(self.said), self.work))
        expect(stack_work(layers, keys, self.whole))
        return (*measure(self, of, contrast), *self._stack())

    def gradients(self) -> Tensor:
        return self._all_gradients(None)

    def contrast_gradients(self, against: Tensor) -> Tensor:
        return self._all_gradients(against)

    def _all_gradients(self, against: Tensor | None) -> Tensor:
        parts = pieces(len(self.said), GRADIENT * self.whole)
        return torch.cat([self._gradients(rows, against) for rows in parts])

    def log_probs_without_each(self, tokens: Tensor) -> Tensor:
        parts = pieces(self.source.shape[1], self.whole)
        return torch.cat([self._without(keys, tokens) for keys in parts], -1)

    def log_probs(self, kept: Tensor, rows: Tensor, tokens: Tensor) -> Tensor:
        found = self.answers.new_empty(len(kept))
        for here, place, log_probs in of_each_choice(kept, self.whole, self._with_only):
            found[here] = log_probs[place, rows[here], tokens[here]]
        return found

    def zeroed(self) -> Tensor | None:
        return value_zeroing(self, self.states)

    def states(self, weights: Tensor, rows: slice) -> Tensor | None:
        """What N answers are read from, (R, N, D), with weights (R, N, M, K); None: it is no one vector."""
        return None

    def _decode(self) -> tuple[Tensor, Tensor | None]:
        """The outputs (Q, R), and the weights (Q, K) that the model itself reports of them."""
        decoded = self.model.decoder.forward(self.inputs, self.encoded, weights=True)
        weights = None if decoded.attended is None else decoded.attended.weights
        return decoded.outputs[0], None if weights is None else at_least_single(weights[0])

    def _gradients(self, rows: slice, against: Tensor | None) -> Tensor:
        said = self.said[rows]
        copies = self.source.expand(len(said), -1)
        with torch.enable_grad():
            with embedding(self.module) as kept:
                encoded = self._encode(copies)
            inputs = self.inputs[:, : rows.stop].expand(len(said), -1)
            outputs = self.model.decoder.forward(inputs, encoded).outputs
            own = outputs[torch.arange(len(said)), torch.arange(rows.start, rows.stop)]
            log_probs = at_least_single(self.model.decoder.project(own)).log_softmax(-1)
            total = log_probs.gather(-1, said[:, None]).sum()
            if against is not None:
                total = total - log_probs.gather(-1, against[rows, None]).sum()
            found = times_input(total, kept, copies)
        worked(GRADIENT * self.whole * len(said))
        return found

    def _without(self, left_out: slice, tokens: Tensor) -> Tensor:
        """log p (A, Q, N) of tokens (A, Q) if one of these N keys were not there."""
        ids = self.source[0]
        others = ~torch.eye(len(ids), dtype=torch.bool, device=ids.device)[left_out]
        log_probs = self._with_only(others)  # (N, Q, V)
        asked = tokens.T.expand(len(others), -1, -1)  # (N, Q, A)
        return log_probs.gather(-1, asked).permute(2, 1, 0)

    def _with_only(self, kept: Tensor) -> Tensor:
        """log p (N, Q, V) if these tokens alone were there: bool (N, S)"""
        ids, mask = packed(self.source[0], kept)
        encoded = self.model.encode(ids, mask)
        outputs = self.model.decoder.forward(self.inputs.expand(len(kept), -1), encoded).outputs
        worked(self.whole * len(kept))
        return at_least_single(self.model.decoder.project(outputs)).log_softmax(-1)

    def _stack(self) -> tuple[Explanation, ...]:
        """Of an encoder that has two layers of heads or more, and no other model beside it."""
        layers = read_stack(self.module, lambda: self._encode(self.source), self.whole)
        return stack_measures(layers, "encoder")

    def _encode(self, source: Tensor) -> Encoded:
        return self.model.encode(source, torch.ones_like(source, dtype=torch.bool))

    def _distributions(self, outputs: Tensor) -> Tensor:
        return at_least_single(self.model.decoder.project(outputs)).softmax(-1)
