"""Saliency over patches: sums over the right pixels, signs, ranks, and what is left out."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from regard.explanations.picture_saliency import (
    mean_agreement,
    picture_saliency,
    rank_agreement,
)
from regard.models.seeing.patch_options import PatchOptions
from regard.models.seeing.patches import PatchSeer


def seer(encoder: str = "cnn") -> PatchSeer:
    torch.manual_seed(0)
    given = {"encoder": encoder, "filters": 4, "stages": 2, "size": 8, "patch": 4, "heads": 2}
    network = PatchOptions.model_validate(given).build({"image": (1, 10, 7), "label": 3})
    assert isinstance(network, PatchSeer)
    return network.double().eval()


def pictures() -> Tensor:
    return torch.rand(2, 1, 10, 7, generator=torch.Generator().manual_seed(1)).double()


@pytest.mark.parametrize("encoder", ["cnn", "transformer"])
def test_each_patch_has_its_pixels(encoder: str) -> None:
    model, shown = seer(encoder), pictures()
    found = picture_saliency(model, shown)
    assert all(each.shape == (2, 6) for each in found)  # 3 rows, 2 columns: the last reach beyond
    for b in range(2):
        answer = model(shown).logits[b].argmax()
        for patch in range(6):
            top, left = 4 * (patch // 2), 4 * (patch % 2)
            at = slice(top, top + 4), slice(left, left + 4)

            def told(
                pixels: Tensor,
                b: int = b,
                at: tuple[slice, slice] = at,
                answer: Tensor = answer,
            ) -> Tensor:
                with_pixels = shown[b : b + 1].clone()
                with_pixels[0, 0, at[0], at[1]] = pixels
                return model(with_pixels).logits.log_softmax(-1)[0, answer]

            pixels = shown[b, 0, at[0], at[1]]
            slopes = torch.autograd.functional.jacobian(told, pixels)
            assert found.gradient[b, patch].item() == pytest.approx(slopes.abs().sum().item())
            product = (slopes * pixels).sum().abs().item()
            assert found.gradient_input[b, patch].item() == pytest.approx(product)
            lost = (told(pixels).exp() - told(torch.zeros_like(pixels)).exp()).item()
            assert found.occlusion[b, patch].item() == pytest.approx(lost)
    torch.testing.assert_close(found.attention, model(shown).patches.flatten(1).detach())


def test_nothing_is_left_behind() -> None:
    model, shown = seer(), pictures()
    with torch.no_grad():
        picture_saliency(model, shown)
    assert all(weight.grad is None for weight in model.parameters())
    assert not shown.requires_grad
    assert isinstance(model, nn.Module)


def test_ranks_agree_as_spearman_says() -> None:
    first = torch.tensor([[1.0, 2, 3, 4], [1, 2, 3, 4], [4, 3, 2, 1], [1, 1, 2, 2], [1, 1, 1, 1]])
    second = torch.tensor(
        [[0.1, 0.2, 9, 10], [4, 3, 2, 1], [9, 4, 1, 0], [1, 2, 3, 4], [1, 2, 3, 4]]
    )
    found = rank_agreement(first, second)
    assert found[:3].tolist() == pytest.approx([1, -1, 1])
    assert found[3] == pytest.approx(2 / math.sqrt(5))  # ranks 1.5, 1.5, 3.5, 3.5
    assert math.isnan(found[4])


def test_the_mean_has_an_interval_over_pictures() -> None:
    values = np.array([0.1, 0.5, 0.9, np.nan, 0.3, 0.7])
    found = mean_agreement(values)
    assert found.mean == pytest.approx(0.5)
    assert found.low < 0.5 < found.high
    assert found.pictures == 5
    assert found == mean_agreement(values)
    error = np.std(values[~np.isnan(values)]) / math.sqrt(5)
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.1)
    alone = mean_agreement(np.array([0.2]))
    assert alone[:3] == pytest.approx((0.2, 0.2, 0.2))
    nothing = mean_agreement(np.array([np.nan]))
    assert nothing.pictures == 0
    assert math.isnan(nothing.mean)
