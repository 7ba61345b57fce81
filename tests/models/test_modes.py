"""The modelling modes of a recurrent network, with the invariants of each."""

from __future__ import annotations

import pytest
import torch

from regard.models import modes
from regard.models.presets import recurrent

INPUTS = torch.tensor([[2, 4, 5, 6]])
ONE = torch.ones(1, 1, dtype=torch.bool)


def logits(model: torch.nn.Module, source: torch.Tensor, mask: torch.Tensor = ONE) -> torch.Tensor:
    return model.decoder.project(model(source, mask, INPUTS).outputs)


@pytest.mark.parametrize(("enters", "remembers"), [("first", False), ("every", True)])
def test_without_recurrent_weights_a_vector_is_known_only_where_it_enters(
    enters: str, remembers: bool
) -> None:
    """Way A knows x through h alone: without recurrence it is forgotten. Way B reads it at every step."""
    model = modes.one_to_many(3, 9, enters=enters, hidden=5, cell="elman").double()
    with torch.no_grad():
        model.decoder.network.forwards[0].weight_hh.zero_()
    here, there = (logits(model, torch.randn(1, 3).double()) for _ in range(2))
    assert torch.allclose(here[:, 1:], there[:, 1:]) is not remembers


@pytest.mark.parametrize("enters", ["first", "every"])
def test_a_vector_reaches_the_first_output(enters: str) -> None:
    model = modes.one_to_many(3, 9, enters=enters, hidden=5).double()
    here, there = (logits(model, torch.randn(1, 3).double()) for _ in range(2))
    assert not torch.allclose(here[:, 0], there[:, 0])


def test_fed_through_the_first_state_alone_the_source_needs_the_recurrence() -> None:
    model = recurrent(9, 9, hidden=5, embedding=4, cell="elman", score=None).double()
    with torch.no_grad():
        model.decoder.network.forwards[0].weight_hh.zero_()
    mask = torch.ones(1, 3, dtype=torch.bool)
    here, there = (logits(model, torch.tensor([s]), mask) for s in ([4, 5, 3], [6, 7, 3]))
    torch.testing.assert_close(here, there)


def test_a_language_model_sees_what_came_before_and_nothing_else() -> None:
    model = modes.language_model(9, embedding=4, hidden=5).double()
    texts = torch.tensor([[2, 4, 5, 6], [2, 4, 7, 8]])
    outputs = model(torch.zeros(2, 1), torch.ones(2, 1).bool(), texts).outputs
    torch.testing.assert_close(outputs[0, :2], outputs[1, :2])
    assert not torch.allclose(outputs[0, 2], outputs[1, 2])


@pytest.mark.parametrize(
    "pool", ["last", "transform", "mean", "max", "ends", "linear", "attention"]
)
def test_many_to_one_gives_one_label_whatever_the_padding(pool: str) -> None:
    model = modes.many_to_one(9, 3, pool=pool, embedding=4, hidden=5).double()
    source = torch.tensor([[4, 5, 3, 0, 0], [4, 5, 6, 7, 3]])
    label = model.decoder.project(model.decoder.start(model.encode(source, source != 0)).context)
    alone = model.decoder.step(
        torch.tensor([2]), model.decoder.start(model.encode(source[:1, :3], source[:1, :3] != 0))
    )
    torch.testing.assert_close(label[:1], alone.logits)
    assert label.shape == (2, 3)


def test_where_a_vector_enters_is_checked() -> None:
    with pytest.raises(ValueError, match="not 'last'"):
        modes.one_to_many(3, 9, enters="last")
