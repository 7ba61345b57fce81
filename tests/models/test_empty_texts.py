"""Texts without words, beside others and alone: every model gives numbers for them, and finite gradients."""

from __future__ import annotations

import pytest
import torch
from registered_models import LENGTHS, MODELS, built, drawn_of, run, texts_of
from torch import Tensor, nn

from regard.layers.recurrent import Recurrent

READING = [kind for kind in MODELS if texts_of(kind)]
VARIANTS = {
    "classifier": [
        {"encoder": encoder, "pool": pool}
        for encoder in ("gru", "cnn", "transformer", "bag")
        for pool in ("last", "mean", "max", "attention")
    ],
    "recurrent-classifier": [
        {"pool": pool} for pool in ("last", "ends", "linear", "max", "transform", "attention")
    ],
    "transformer-classifier": [{"pool": pool} for pool in ("first", "max", "attention")],
    "abs": [{"encoder": encoder} for encoder in ("attention", "tdnn", "bow", "none")],
    "pointer-generator": [{}, {"coverage": None}],
    "han": [{}, {"pool": "max"}],
    "abcnn": [{"variant": 1}, {"variant": 2}, {"variant": 3, "rest": True, "overlap": True}],
    "reader": [
        {},
        {"focus": "uniform"},
        {"focus": "impatient", "question": "general"},
        {"focus": "impatient", "question": "general", "attention": {"dynamic": False}},
        {"focus": "last", "question": "self"},
    ],
}
WAYS = [
    pytest.param(kind, way, id=f"{kind}-{number}")
    for kind in READING
    for number, way in enumerate(VARIANTS.get(kind, [{}]))
]


def first_alone(lengths: Tensor) -> Tensor:
    return torch.cat([lengths[:1], torch.zeros_like(lengths[1:])])


def answers(model: nn.Module, kind: str) -> Tensor:
    """What is given for texts of these lengths, once it is certain that its gradients are numbers."""
    made = run(model.train(), kind, drawn_of(kind))
    assert not made.isnan().any()
    model.zero_grad()
    made[made.isfinite()].sum().backward()
    for name, weight in model.named_parameters():
        assert weight.grad is None or weight.grad.isfinite().all(), name
    return made.detach()


@pytest.mark.parametrize(("kind", "way"), WAYS)
def test_texts_without_words_beside_others_and_alone(kind, way, monkeypatch):
    model = built(kind, dropout=0.0, **way)
    whole = dict(LENGTHS)
    for name in (*texts_of(kind), None):  # each text by itself, then all of them
        for emptied in (first_alone, torch.zeros_like):
            for each in texts_of(kind):
                lengths = emptied(whole[each]) if name in (each, None) else whole[each]
                monkeypatch.setitem(LENGTHS, each, lengths)
            answers(model, kind)


@pytest.mark.parametrize("cell", ["gru", "lstm", "gru-reset-before"])
@pytest.mark.parametrize("shape", [(0, 3, 5), (2, 0, 5), (0, 0, 5)])
def test_no_step_leaves_the_first_state(cell, shape):
    network = Recurrent(5, 4, cell=cell, layers=2, bidirectional=True, initial="learned")
    nn.init.normal_(network.first)
    inputs = torch.zeros(shape)
    for mask in (None, torch.ones(shape[:2], dtype=torch.bool)):
        outputs, final = network(inputs, mask)
        assert outputs.shape == (*shape[:2], 8)
        for layer, first in zip(final, network.start(shape[0]), strict=True):
            torch.testing.assert_close(layer, first)
