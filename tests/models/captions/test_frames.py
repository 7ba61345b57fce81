"""Frames of films: read in their order, whatever their padding."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from regard.models.captions.show_attend_tell import show_attend_tell

INPUTS = torch.tensor([[2, 4, 5, 6], [2, 7, 4, 4]])


def built(frames):
    torch.manual_seed(0)
    model = show_attend_tell(5, 9, size=8, embedding=6, hidden=10, frames=frames).double().eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.6)
    return model


def films():
    draw = torch.Generator().manual_seed(1)
    mask = torch.arange(6) < torch.tensor([[6], [3]])
    frames = torch.randn(2, 6, 5, generator=draw, dtype=torch.double)
    return frames.masked_fill(~mask[..., None], 0.0), mask


def said(model, frames, mask):
    decoded = model.decoder(INPUTS[: len(frames)], model.encode(frames, mask), weights=True)
    return model.decoder.project(decoded.outputs), decoded.attended.weights


@pytest.mark.parametrize("frames", ["apart", "gru", "lstm", "transformer"])
def test_a_film_is_told_alone_as_beside_a_longer_one(frames):
    model, (films_, mask) = built(frames), films()
    together, weights = said(model, films_.flip(0), mask.flip(0))
    alone, own = said(model, films_[1:, :3], None)
    torch.testing.assert_close(alone[0], together[0], atol=1e-10, rtol=0)
    torch.testing.assert_close(own[0], weights[0, :, :3], atol=1e-10, rtol=0)
    assert not weights[0, :, 3:].any()


@pytest.mark.parametrize(
    ("frames", "alike"), [("apart", True), ("gru", False), ("lstm", False), ("transformer", False)]
)
def test_only_frames_that_are_read_in_order_have_one(frames, alike):
    model, (films_, mask) = built(frames), films()
    there, _ = said(model, films_[:1], mask[:1])
    back, _ = said(model, films_[:1].flip(1), mask[:1])
    assert torch.allclose(there, back, atol=1e-8) is alike


def test_a_film_without_frames_is_told_of():
    for frames in ("gru", "transformer"):
        logits, _ = said(built(frames), films()[0][:1], torch.zeros(1, 6, dtype=torch.bool))
        assert logits.isfinite().all()
