"""Stacks of self-attention: each layer against its definition, and what all of them say together."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from regard.attention.recording import recording
from regard.data.tokenizer import EOS
from regard.explanations.self_stacks import read_stack, zeroed_in_context
from regard.explanations.stack_measures import stack_measures
from regard.models import transformer_models as family

V, TEXT = 12, [4, 7, 5, 9, 6]
SHAPE = {"size": 16, "heads": 4, "inner": 24, "dropout": 0.0}


def filled(model: nn.Module) -> nn.Module:
    with torch.no_grad():
        for p in model.parameters():
            p.normal_(std=0.4)
    return model.double().eval()


def encoder_of(norm: str, **more) -> tuple[nn.Module, Tensor]:
    model = family.transformer(V, V, **SHAPE, norm=norm, encoder_layers=3, decoder_layers=1, **more)
    return filled(model).encoder, torch.tensor([[*TEXT, EOS]])


def decoder_of(norm: str) -> tuple[nn.Module, Tensor]:
    model = filled(family.language_model(V, **SHAPE, norm=norm, layers=3))
    return model, torch.tensor([[2, *TEXT]])


def run(model: nn.Module, ids: Tensor):
    mask = torch.ones_like(ids, dtype=torch.bool)
    if not hasattr(model, "decoder"):
        return model(ids, mask)
    return model.decoder.forward(ids, model.encode(ids, mask))


CASES = {
    "pre": lambda: encoder_of("pre"),
    "post": lambda: encoder_of("post"),
    "window": lambda: encoder_of("pre", encoder_attention={"region": "window(1)"}),
    "language": lambda: decoder_of("pre"),
}


@torch.no_grad()
@pytest.mark.parametrize("case", CASES)
def test_each_layer_is_its_definition(case):
    """The whole model once for each key and layer, up to that layer, with one value less."""
    model, ids = CASES[case]()
    layers = read_stack(model, lambda: run(model, ids), 1.0)
    blocks = [m for m in model.modules() if hasattr(m, "around_attention")]
    assert len(layers) == len(blocks) == 3
    for layer, block in zip(layers, blocks, strict=True):
        outputs: list[Tensor] = []
        handle = block.register_forward_hook(
            lambda _, args, made, outputs=outputs: outputs.append(
                (made if isinstance(made, Tensor) else made.output)[0]
            )
        )
        attention = block.attention
        with recording(attention, details=True) as recorded:
            run(model, ids)
        whole, values = outputs[-1], recorded[0].values.double()
        for j in range(ids.shape[1]):
            less = recorded[0].weights.clone()
            less[..., j] = 0
            context = attention.merge(less @ values)
            changing = attention.register_forward_hook(
                lambda _, args, made, context=context: made._replace(context=context)
            )
            run(model, ids)
            changing.remove()
            wanted = 1 - torch.cosine_similarity(whole, outputs[-1], dim=-1)
            torch.testing.assert_close(layer.zeroed[:, j], wanted, atol=1e-6, rtol=1e-5)
            part = attention.merge(recorded[0].weights @ values) - context
            torch.testing.assert_close(
                layer.norms[:, j], part[0].norm(dim=-1), atol=1e-6, rtol=1e-5
            )
        handle.remove()


@torch.no_grad()
def test_what_is_not_seen_takes_no_part():
    model, ids = decoder_of("pre")
    for layer in read_stack(model, lambda: run(model, ids), 1.0):
        assert float(layer.zeroed.triu(1).max()) < 1e-25
        assert float(layer.norms.triu(1).max()) == 0


@torch.no_grad()
def test_small_pieces_are_those_of_the_whole(monkeypatch):
    model, ids = encoder_of("pre")
    whole = read_stack(model, lambda: run(model, ids), 1.0)
    monkeypatch.setattr("regard.explanations.model_work.PIECE", 0.0)
    for one, other in zip(read_stack(model, lambda: run(model, ids), 1.0), whole, strict=True):
        torch.testing.assert_close(one.zeroed, other.zeroed)


@torch.no_grad()
def test_a_context_alone_turns_as_its_formula_says():
    model, _ = encoder_of("pre")
    attention = next(m for m in model.modules() if hasattr(m, "merge"))
    weights, values = torch.rand(4, 3, 5).double().softmax(-1), torch.randn(4, 5, 4).double()
    found = zeroed_in_context(attention, weights, values)
    whole = attention.merge(weights @ values)
    for j in range(5):
        less = weights.clone()
        less[..., j] = 0
        wanted = 1 - torch.cosine_similarity(whole, attention.merge(less @ values), dim=-1)
        torch.testing.assert_close(found[:, j], wanted)


@torch.no_grad()
def test_rows_of_all_measures_are_shares():
    model, ids = encoder_of("post")
    found = stack_measures(read_stack(model, lambda: run(model, ids), 1.0), "encoder")
    assert [each.name for each in found] == ["rollout", "flow", "value-zeroing", "norm"]
    for each in found:
        assert each.matrix.sum(-1) == pytest.approx([1.0] * (len(TEXT) + 1), abs=1e-5)
        assert each.reading.endswith(".")


def test_a_flow_that_takes_too_long_is_left_out(monkeypatch):
    monkeypatch.setattr("regard.explanations.stack_measures.MOST_FLOW", 10.0)
    model, ids = encoder_of("pre")
    with torch.no_grad():
        layers = read_stack(model, lambda: run(model, ids), 1.0)
    flow = stack_measures(layers, "encoder")[1]
    assert flow.reading.startswith("Left out")
    assert flow.matrix is None
