"""What is read as a set: no order changes the answer, where no positions are told."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from regard.models.classifiers.classifier import classifier

WORDS = torch.tensor([[4, 5, 6, 7, 8], [9, 4, 4, 0, 0]])
MASK = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])


def built(**options):
    torch.manual_seed(0)
    sizes = {"embedding": 8, "hidden": 8, "layers": 2, "heads": 2, "dropout": 0.0}
    model = classifier(12, 3, **{**sizes, **options}).double().eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.7)
    return model


@pytest.mark.parametrize("pool", ["mean", "max", "attention"])
@pytest.mark.parametrize("encoder", ["transformer", "bag"])
def test_a_set_has_the_same_answer_in_every_order(encoder, pool):
    model = built(encoder=encoder, pool=pool, positions="none")
    other = WORDS.clone()
    other[0], other[1, :3] = WORDS[0, [3, 0, 4, 2, 1]], WORDS[1, [2, 0, 1]]
    found = model(WORDS, MASK)
    torch.testing.assert_close(model(other, MASK), found, atol=1e-10, rtol=0)
    torch.testing.assert_close(model(WORDS[1:, :3]), found[1:], atol=1e-10, rtol=0)


@pytest.mark.parametrize(
    "options",
    [
        {"encoder": "transformer"},
        {"encoder": "transformer", "positions": "sinusoidal"},
        {"encoder": "gru"},
    ],
)
def test_what_knows_places_has_another(options):
    model = built(**options)
    assert not torch.allclose(model(WORDS[:, [1, 0, 2, 3, 4]], MASK), model(WORDS, MASK), atol=1e-4)


def test_a_set_of_nothing_is_answered():
    model = built(encoder="transformer", positions="none")
    assert model(WORDS[:1], torch.zeros(1, 5, dtype=torch.bool)).isfinite().all()
