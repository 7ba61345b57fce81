"""The smoothed cross entropy against its formula."""

from __future__ import annotations

import pytest
import torch

from regard.data.tokenizer import BOS, PAD
from regard.tasks.loss import smoothed_cross_entropy


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_is_the_cross_entropy_with_a_distribution_that_gives_nothing_to_pad_and_bos(
    smoothing, dtype
):
    logits = (30 * torch.randn(5, 9, dtype=dtype)).requires_grad_()
    wanted = torch.tensor([3, 4, 8, 1, 5])
    truth = torch.full((5, 9), smoothing / 7, dtype=dtype)
    truth[:, [PAD, BOS]] = 0
    truth[torch.arange(5), wanted] += 1 - smoothing
    assert truth.sum(-1).allclose(torch.ones(5, dtype=dtype))
    expected = -(truth * logits.log_softmax(-1)).sum()
    found = smoothed_cross_entropy(logits, wanted, smoothing)
    torch.testing.assert_close(found, expected)
    gradients = (torch.autograd.grad(3 * loss, logits)[0] for loss in (found, expected))
    torch.testing.assert_close(*gradients)


def test_half_precision_is_summed_in_float32():
    logits, wanted = torch.randn(4096, 8).bfloat16(), torch.zeros(4096, dtype=torch.long)
    expected = smoothed_cross_entropy(logits.double(), wanted)
    assert smoothed_cross_entropy(logits, wanted).double().allclose(expected, rtol=1e-5)
