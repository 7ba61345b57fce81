"""Every model with one answer is a module of torch: sources and masks in, logits out, and gradients back."""

from __future__ import annotations

import pytest
import torch
from registered_models import LENGTHS, MODELS, built, drawn_of, real, texts_of
from torch import Tensor, nn

from regard.attention.recording import recording
from regard.models.classifiers.apcnn import apcnn
from regard.models.classifiers.classifier import classifier
from regard.models.classifiers.han import han
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


WORDS, VECTORS = torch.full((2, 5), 4), torch.zeros(2, 5, 3)
DOCUMENT, REAL = torch.full((2, 3, 4), 4), torch.ones(2, 5, dtype=torch.bool)
SMALL = {"embedding": 4, "hidden": 4}
READING = {
    "words": lambda: classifier(9, 2, **SMALL),
    "vectors": lambda: classifier(3, 2, vectors=True, **SMALL),
    "document": lambda: han(9, 2, **SMALL),
}


@pytest.mark.parametrize(
    ("reads", "source", "mask", "error", "said"),
    [
        ("words", WORDS, REAL.float(), TypeError, "mask must be bool.*given torch.float32.*bool()"),
        (
            "words",
            WORDS,
            REAL[0],
            ValueError,
            r"mask of a source \(2, 5\) must be \(2, 5\).*\(5,\)",
        ),
        ("words", WORDS, REAL[:, :4], ValueError, r"must be \(2, 5\),.* given \(2, 4\)"),
        (
            "words",
            WORDS[0],
            None,
            ValueError,
            r"words must be \(B, S\); given \(5,\).*source\[None",
        ),
        ("words", WORDS[0], REAL[0], ValueError, r"words must be \(B, S\); given \(5,\)"),
        ("words", DOCUMENT, None, ValueError, r"words must be \(B, S\).*document is read by han"),
        ("words", VECTORS, None, TypeError, r"whole numbers \(B, S\).*made with vectors=True"),
        ("words", WORDS[0, 0], None, ValueError, r"a source is \(B, S\).*given \(\)"),
        ("vectors", VECTORS, REAL.int(), TypeError, "mask must be bool.*given torch.int32"),
        ("vectors", VECTORS[0], None, ValueError, r"vectors must be \(B, S, 3\); given \(5, 3\)"),
        ("vectors", VECTORS[0], REAL, ValueError, r"vectors must be \(B, S, 3\); given \(5, 3\)"),
        ("vectors", VECTORS[..., :2], REAL, ValueError, r"\(B, S, 3\); given \(2, 5, 2\)"),
        (
            "vectors",
            WORDS,
            None,
            TypeError,
            r"floating-point numbers \(B, S, 3\); given torch.int64",
        ),
        ("vectors", VECTORS[0, 0], None, ValueError, r"a source is .*given \(3,\)"),
        ("document", WORDS, None, ValueError, r"words must be \(B, S, W\); given \(2, 5\)"),
        ("document", DOCUMENT.float(), None, TypeError, r"words must be whole numbers \(B, S, W\)"),
        ("document", DOCUMENT, REAL, ValueError, r"must be \(2, 3, 4\),.* given \(2, 5\)"),
        ("document", DOCUMENT, DOCUMENT.float(), TypeError, "mask must be bool"),
    ],
)
def test_what_cannot_be_read_is_told(reads, source, mask, error, said):
    with pytest.raises(error, match=said):
        READING[reads]()(source, mask)


@pytest.mark.parametrize(("reads", "source"), [("words", WORDS[0]), ("vectors", VECTORS[0, 0])])
def test_lengths_of_what_cannot_be_read_are_refused_too(reads, source):
    with pytest.raises(ValueError, match="given"):
        READING[reads]()(source, lengths=torch.tensor([2]))
