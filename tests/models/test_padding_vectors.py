"""Whatever vector padding has, NaN too, nothing depends on it: neither an answer nor a gradient."""

from __future__ import annotations

import pytest
import torch
from registered_models import LENGTHS, MODELS, built, drawn_of, run
from test_empty_texts import WAYS
from torch import Tensor, nn

from regard.layers.special_tokens import PAD
from regard.models.classifiers.classifier import classifier
from regard.registry import find

TARGETS = torch.tensor([4, 2])  # tokens of the targets
WRITING = [kind for kind in MODELS if find("models", kind).task in ("translate", "language")]


def padded(text: Tensor, lengths: Tensor) -> Tensor:
    return text.masked_fill(torch.arange(text.shape[-1]) >= lengths[..., None], PAD)


def with_padding(model: nn.Module, value: float) -> nn.Module:
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, nn.Embedding):
                module.weight[PAD] = value
    return model


def gradients(model: nn.Module, output: Tensor) -> dict[str, Tensor]:
    """Of all weights, by name."""
    model.zero_grad()
    output[output.isfinite()].sum().backward()
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


def same_with_nan(model: nn.Module, output) -> None:
    expected = output(with_padding(model, 0.0))
    wanted = gradients(model, expected)
    found = output(with_padding(model, float("nan")))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    assert not found.isnan().any()
    for name, gradient in gradients(model, found).items():
        torch.testing.assert_close(gradient, wanted[name], rtol=0, atol=1e-10, msg=name)


SPELT = [(kind, {"characters": 8}) for kind in ("recurrent-tagger", "transformer-tagger")]


@pytest.mark.parametrize(("kind", "way"), [*WAYS, *SPELT])
def test_padding_of_what_is_read(kind, way):
    texts = {name: padded(text, LENGTHS[name]) for name, text in drawn_of(kind).items()}
    same_with_nan(built(kind, **way), lambda model: run(model, kind, texts))


ATTENDING = ("recurrent-language", {"attention": {"score": "additive"}})


@pytest.mark.parametrize(("kind", "way"), [*((kind, {}) for kind in WRITING), ATTENDING])
def test_padding_of_what_is_written(kind, way):
    source, target = torch.randint(3, 5, (2, 6)), torch.randint(3, 5, (2, 4))
    real = torch.arange(4) < TARGETS[:, None]
    target = padded(target, TARGETS)
    same_with_nan(built(kind, **way), lambda model: model(source, None, target).outputs[real])


@pytest.mark.parametrize("encoder", ["bag", "gru", "cnn", "transformer"])
@pytest.mark.parametrize("pool", ["last", "mean", "max", "attention"])
def test_padding_of_sequences_of_vectors(encoder, pool):
    model = classifier(5, 3, encoder=encoder, pool=pool, vectors=True, embedding=8, hidden=8)
    model, lengths = model.double().eval(), torch.tensor([4, 1])
    vectors, mask = torch.randn(2, 4, 5).double(), torch.arange(4) < lengths[:, None]
    made = [
        (out := model(vectors.masked_fill(~mask[..., None], value), mask), gradients(model, out))
        for value in (0.0, float("nan"))
    ]
    torch.testing.assert_close(*(out for out, _ in made), rtol=0, atol=1e-12)
    torch.testing.assert_close(*(found for _, found in made), rtol=0, atol=1e-10)
