"""Every model with one answer is a module of torch: sources and masks in, logits out, and gradients back."""

from __future__ import annotations

import pytest
import torch
from registered_models import LENGTHS, MODELS, built, drawn_of, real, texts_of
from torch import Tensor, nn

from regard.attention.recording import recording
from regard.models.classifiers.apcnn import apcnn
from regard.models.classifiers.classifier import classifier
from regard.models.classifiers.lin import lin
from regard.registry import find

KINDS = [kind for kind in MODELS if find("models", kind).task == "classify"]


def decoded(model: nn.Module, source: Tensor, mask: Tensor) -> Tensor:
    """(B, K) as the task finds them."""
    start = torch.ones(len(source), 1, dtype=torch.long)
    return model.decoder.project(model(source, mask, start).outputs[:, 0])


def gradients(model: nn.Module, logits: Tensor) -> list[Tensor | None]:
    model.zero_grad()
    logits.square().sum().backward()
    return [None if weight.grad is None else weight.grad.clone() for weight in model.parameters()]


@pytest.mark.parametrize("kind", KINDS)
def test_the_logits_are_those_of_the_task_with_their_gradients(kind):
    model, (name,) = built(kind), texts_of(kind)
    source, mask, lengths = drawn_of(kind)[name], real(name), LENGTHS[name]
    wanted = decoded(model, source, mask)
    logits = model(source, mask)
    assert logits.dim() == 2
    torch.testing.assert_close(logits, wanted, rtol=0, atol=1e-12)
    torch.testing.assert_close(model(source, lengths=lengths), logits, rtol=0, atol=0)
    every = torch.ones_like(mask)
    torch.testing.assert_close(model(source), model(source, every), rtol=0, atol=0)
    for one, other in zip(gradients(model, logits), gradients(model, wanted), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-10)


def test_a_number_is_the_only_output_and_vectors_may_be_given():
    model = classifier(5, 1, vectors=True, embedding=6, hidden=4).double().eval()
    x, lengths = torch.randn(3, 4, 5).double(), torch.tensor([4, 0, 2])
    together = model(x, lengths=lengths)
    assert together.shape == (3, 1)
    for row, length in enumerate(lengths.tolist()):
        one = model(x[row : row + 1, :length])
        torch.testing.assert_close(one[0], together[row], rtol=0, atol=1e-12)


def test_what_is_attended_is_recorded():
    model = apcnn(9, 2, embedding=6, hidden=4).double().eval()
    with recording(model) as seen:
        model(torch.tensor([[4, 5, 6]]))
    assert [(each.name, tuple(each.weights.shape)) for each in seen] == [
        ("decoder.summary.attention", (1, 1, 3))
    ]


def test_with_inputs_it_is_what_every_decoder_gives():
    model = lin(9, 2, embedding=4, hidden=3, attention=5, hops=2, inner=6).double().eval()
    words, start = torch.tensor([[4, 5, 6]]), torch.zeros(1, 1, dtype=torch.long)
    found = model(words, None, start, weights=True)
    assert found.attended.weights.shape == (1, 1, 3)
    assert found.penalty.shape == (1,)
    with pytest.raises(ValueError, match="weights are in what a decoder gives: give inputs too"):
        model(words, weights=True)
