"""A text as a language model reads it: after each token the likeliest next one, from all tokens before it.

Legend: as in `model_readings`; Q = K, BOS and the tokens of the text. Row q is the answer after token q.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from regard.attention.module import AttentionModule
from regard.attention.recording import Recorded, recording
from regard.attention.shapes import at_least_single
from regard.data.tokenizer import BOS, PAD
from regard.explanations.context_parts import output_matrix, part_norms, rolled, shares
from regard.explanations.decoder_readings import differentiable
from regard.explanations.embedded_inputs import embedding, times_input
from regard.explanations.explaining_work import explaining_work
from regard.explanations.measured import measure
from regard.explanations.model_readings import Reading, Weighed
from regard.explanations.model_work import GRADIENT, ModelWork, pieces
from regard.explanations.self_stacks import StackLayer, read_stack, zeroed_in_context
from regard.explanations.stack_measures import stack_flow, stack_rollout
from regard.explanations.token_subsets import of_each_choice, packed
from regard.explanations.work_done import expect, worked
from regard.records.explanation import Explanation
from regard.tasks.language.language_module import Language


def explain_language(task: Language, ids: Sequence[int]) -> tuple[Explanation, ...]:
    """Of the map "decoder": what each token before it gives to the likeliest next one."""
    if not ids:
        return ()
    with task.inference(), differentiable():
        reading = LanguageReading(task, ids)
        costs, count = ModelWork.of(reading.module), len(ids) + 1
        expect(explaining_work(task.model.decoder, costs, 1, count))
        found = measure(reading, "decoder")
        layers = [layer.weights for layer in reading.stack]
        if len(layers) > 1:
            found += stack_rollout(layers, "decoder"), stack_flow(layers, "decoder")
        return found


class LanguageReading(Reading):
    """ids: a text without BOS."""

    weighed: Weighed | None = None
    steerable = False  # an answer with other weights alone would be one run of the text each

    def __init__(self, task: Language, ids: Sequence[int]) -> None:
        self.model, self.module = task.model, cast(nn.Module, task.model)
        self.text = torch.tensor([[BOS, *ids]], device=task.device)
        self.whole = self.work = ModelWork.of(self.module).reading(1, len(ids) + 1)
        with recording(self.module, details=True) as recorded:
            outputs = self._outputs(self.text)[0]
        self.answers = at_least_single(self.model.decoder.project(outputs)).softmax(-1)
        possible = self.answers.clone()
        possible[:, [PAD, BOS]] = 0.0  # which never come
        self.said = possible.argmax(-1)
        square = torch.ones(len(ids) + 1, len(ids) + 1, dtype=torch.bool, device=task.device)
        self.seen, self.erasable = square.tril(), square.tril()
        self.erasable[:, 0] = False  # BOS
        self.attentions = [each for each in recorded if each.weights.shape[-1] == len(square)]
        if self.attentions:
            self.weighed = _weighed(self.attentions, self.seen)
        self._stack: list[StackLayer] | None = None

    @property
    def stack(self) -> list[StackLayer]:
        """Its layers, where they are heads."""
        if self._stack is None:
            self._stack = read_stack(self.module, lambda: self._outputs(self.text), self.whole)
        return self._stack

    def gradients(self) -> Tensor:
        return self._all_gradients(None)

    def contrast_gradients(self, against: Tensor) -> Tensor:
        return self._all_gradients(against)

    def _all_gradients(self, against: Tensor | None) -> Tensor:
        parts = pieces(len(self.said), GRADIENT * self.whole)
        return torch.cat([self._gradients(rows, against) for rows in parts])

    def log_probs_without_each(self, tokens: Tensor) -> Tensor:
        own = at_least_single(self.answers).clamp(min=torch.finfo(self.answers.dtype).tiny).log()
        had = own.gather(-1, tokens.T).T  # (A, Q)
        found = had[..., None].repeat(1, 1, len(self.said))
        for part in pieces(len(self.said) - 1, self.whole):
            for place, row in zip(range(part.start, part.stop), self._without(part), strict=True):
                key = place + 1  # what is read after it is read one place earlier
                found[:, key:, key] = row[key - 1 :].gather(-1, tokens[:, key:].T).T
        return found

    def log_probs(self, kept: Tensor, rows: Tensor, tokens: Tensor) -> Tensor:
        found = self.answers.new_empty(len(kept))
        for here, place, log_probs in of_each_choice(kept, self.whole, self._after):
            found[here] = log_probs[place, tokens[here]]
        return found

    def norms(self) -> Tensor | None:
        """Of the last layer, whose weights are shown first."""
        if not self.attentions:
            return None
        attention, weights, values = self._last()
        return part_norms(weights, values, output_matrix(attention))

    def zeroed(self) -> Tensor | None:
        """Of blocks, layer by layer and rolled out; else of the context alone."""
        if self.stack:
            return rolled([shares(layer.zeroed) for layer in self.stack])
        return zeroed_in_context(*self._last()) if self.attentions else None

    def _last(self) -> tuple[AttentionModule, Tensor, Tensor]:
        """The last attention, its weights (H, Q, K) and its values (H, K, D)."""
        last = self.attentions[-1]
        assert last.values is not None
        attention = cast(AttentionModule, self.module.get_submodule(last.name))
        weights, values = last.weights, last.values.to(last.weights)
        return attention, weights.flatten(0, -3), values.flatten(0, -3)

    def _outputs(self, text: Tensor) -> Tensor:
        return self.model.decoder.forward(text, self.model.encode(text, text != PAD)).outputs

    def _log_probs(self, outputs: Tensor) -> Tensor:
        return at_least_single(self.model.decoder.project(outputs)).log_softmax(-1)

    def _after(self, kept: Tensor) -> Tensor:
        """log p (N, V) of what follows these tokens alone: bool (N, K)"""
        text, mask = packed(self.text[0], kept)
        last = mask.sum(-1) - 1
        outputs = self._outputs(text)[torch.arange(len(text), device=text.device), last]
        worked(self.whole * len(kept))
        return self._log_probs(outputs)

    def _without(self, part: slice) -> Tensor:
        """log p (N, T, V) at each place of the text without one of these N tokens, BOS not counted"""
        ids = self.text[0]
        others = ~torch.eye(len(ids), dtype=torch.bool, device=ids.device)[1:][part]
        text, _ = packed(ids, others)
        worked(self.whole * len(text))
        return self._log_probs(self._outputs(text))

    def _gradients(self, rows: slice, against: Tensor | None) -> Tensor:
        said, count = self.said[rows], rows.stop - rows.start
        copies = self.text.expand(count, -1)
        own = torch.arange(count, device=said.device)
        with torch.enable_grad(), embedding(self.module) as kept:
            outputs = self._outputs(copies)[own, own + rows.start]
            log_probs = self._log_probs(outputs)
            total = log_probs.gather(-1, said[:, None]).sum()
            if against is not None:
                total = total - log_probs.gather(-1, against[rows, None]).sum()
            found = times_input(total, kept, copies)
        worked(GRADIENT * self.whole * count)
        return found


def _weighed(recorded: Sequence[Recorded], seen: Tensor) -> Weighed:
    """The rows of all heads of all layers; what is reported is the last layer, a mean over heads."""
    heads = [at_least_single(each.weights).flatten(0, -3) for each in recorded]  # (H, Q, K)
    weights = torch.cat(heads).transpose(0, 1)
    return Weighed(weights, seen[:, None].expand(weights.shape), heads[-1].mean(0))
