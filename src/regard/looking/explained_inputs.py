"""Hugging Face models: what each answer owes to each token of the input, and where a stack of layers leads.

Legend: Q rows of the map (positions of the text, or of the target), K tokens of the input, L layers, H heads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from regard.explanations.attribution_cards import gradient_beside
from regard.explanations.model_readings import Weighed
from regard.explanations.stack_measures import stack_rollout
from regard.hf.attention_capture import Captured, capture
from regard.records.record import Explanation
from regard.records.side import NotARecord


def explain_inputs(model: Any, inputs: Mapping[str, Tensor]) -> tuple[Explanation, ...]:
    """Gradient × input of the likeliest token at each row of a map, and the rollout of stacks of layers.

    inputs: of one text, what the model is called with. The map is the "cross" of a model that has one,
    else its "encoder" or "decoder", and its last layer, heads averaged, is what the gradients are compared
    with. A model with one answer for all of a text, a classifier, has no such rows: it has the rollout.
    """
    if len(inputs["input_ids"]) != 1:
        raise NotARecord(f"one text is explained at a time, given {len(inputs['input_ids'])}")
    training = model.training
    model.eval()
    try:
        with torch.no_grad(), capture(model) as captured:
            logits = getattr(model(**inputs), "logits", None)
        found = [] if logits is None or logits.dim() != 3 else [_gradient(model, inputs, captured)]
    finally:
        model.train(training)
    return (*found, *_rollouts(captured))


def _gradient(model: Any, inputs: Mapping[str, Tensor], captured: Captured) -> Explanation:
    kinds = {layer.kind for layer in captured.layers}
    of = next(kind for kind in ("cross", "decoder", "encoder") if kind in kinds)
    last = captured.weights(of)[-1, 0].float()  # (H, Q, K)
    weighed = Weighed(last.transpose(0, 1), (last > 0).transpose(0, 1), last.mean(0))
    return gradient_beside(_times_input(model, inputs, last.shape[-2]), weighed, of)


def _times_input(model: Any, inputs: Mapping[str, Tensor], rows: int) -> Tensor:
    """Σ_d x_d · ∂ log p(y_q) / ∂ x_d, y_q the likeliest token of row q: (Q, K), one copy for each row"""
    others = {
        name: x.expand(rows, *x.shape[1:]) for name, x in inputs.items() if name != "input_ids"
    }
    vectors = model.get_input_embeddings()(inputs["input_ids"]).detach()
    copies = vectors.expand(rows, -1, -1).clone().requires_grad_()
    with torch.enable_grad():
        logits = model(inputs_embeds=copies, **others).logits
        row = torch.arange(rows, device=logits.device)
        likeliest = logits[row, row].float().log_softmax(-1).amax(-1)
        (gradients,) = torch.autograd.grad(likeliest.sum(), copies)
    return (gradients * copies.detach()).sum(-1).float()


def _rollouts(captured: Captured) -> list[Explanation]:
    """Of an encoder, or of a decoder that has no other source than its own past."""
    kinds = {layer.kind for layer in captured.layers}
    stacks = {"encoder"} if "cross" in kinds else {"encoder", "decoder"}
    found = []
    for kind in sorted(kinds & stacks):
        layers = captured.weights(kind)[:, 0].float()
        if len(layers) > 1:
            found.append(stack_rollout(list(layers), kind))
    return found
