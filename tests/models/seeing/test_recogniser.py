"""Spatial transformers: at first nothing is warped, and then what helps is learnt."""

from __future__ import annotations

import pytest
import torch

from regard.layers.pictures.draws import keys_of
from regard.layers.pictures.scenes import moved
from regard.models.seeing.recogniser import WARPS, Recogniser


@pytest.mark.parametrize("warp", WARPS)
@pytest.mark.parametrize("body", ["fcn", "cnn"])
def test_at_first_a_picture_is_seen_as_it_is(warp: str, body: str) -> None:
    torch.manual_seed(0)
    model = Recogniser((2, 12, 10), 5, body=body, width=8, warp=warp)  # type: ignore[arg-type]
    shown = torch.rand(3, 2, 12, 10)
    found = model(shown)
    torch.testing.assert_close(found.seen, shown, atol=1e-5, rtol=1e-5)
    assert found.logits.shape == (3, 5)
    assert found.thetas is not None
    found.logits.sum().backward()
    assert model.transformer is not None
    last = model.transformer.locators[0][-1]  # type: ignore[index]
    assert last.weight.grad is not None
    assert last.weight.grad.any()


def test_several_begin_at_places_of_their_own() -> None:
    for warp in WARPS:
        found = Recogniser((1, 12, 12), 19, body="fcn", warp=warp, transformers=2)(
            torch.rand(1, 1, 12, 12)
        )
        assert found.seen.shape == (1, 2, 12, 12)
        assert not torch.allclose(found.seen[:, 0], found.seen[:, 1])


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 3, 5), (3, 28, 28), (1, 60, 60)])
@pytest.mark.parametrize("halved", [False, True])
def test_pictures_of_any_size(shape: tuple[int, int, int], halved: bool) -> None:
    if halved and min(shape[1:]) < 2:
        return
    for body in ("fcn", "cnn"):
        model = Recogniser(shape, 3, body=body, width=4, warp="affine", halved=halved)  # type: ignore[arg-type]
        assert model(torch.rand(2, *shape)).logits.shape == (2, 3)


def test_an_answer_does_not_depend_on_others() -> None:
    torch.manual_seed(0)
    model, shown = (
        Recogniser((1, 16, 16), 4, width=8, warp="thin-plate").eval(),
        torch.rand(5, 1, 16, 16),
    )
    together = model(shown).logits
    torch.testing.assert_close(model(shown[3:4]).logits[0], together[3], atol=1e-5, rtol=1e-5)


def test_a_warp_finds_what_was_moved() -> None:
    """Two shapes anywhere on a ground: behind a warp a small network tells them apart, and looks at them."""
    torch.manual_seed(0)
    shapes = torch.zeros(2, 1, 6, 6)
    shapes[0, 0, 2:4], shapes[1, 0, :, 2:4] = 1, 1  # a bar across, a bar down
    label = torch.randint(0, 2, (256,))
    made = shapes[label] * (0.5 + torch.randint(0, 128, (256, 1, 1, 1)) / 255)
    shown, _ = moved(made, keys_of(made + torch.arange(256).view(-1, 1, 1, 1) / 255, 1), (16, 16))
    model = Recogniser((1, 16, 16), 2, body="fcn", width=16, warp="affine")
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    for _ in range(150):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(shown).logits, label).backward()
        optimizer.step()
    found = model(shown)
    assert (found.logits.argmax(-1) == label).float().mean().item() > 0.95
    assert found.thetas is not None
    assert found.thetas.std(0).max().item() > 0.05


def test_a_warp_that_there_is_not() -> None:
    with pytest.raises(ValueError, match="no warp 'bent': scaled, affine"):
        Recogniser((1, 8, 8), 2, warp="bent")
