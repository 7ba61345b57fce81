"""The smoothed cross entropy against its formula."""

from __future__ import annotations

import pytest
import torch

from regard.data.tokenizer import BOS, PAD
from regard.tasks.loss import smoothed_cross_entropy


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_is_the_cross_entropy_with_a_distribution_that_gives_nothing_to_pad_and_bos(smoothing):
    logits, wanted = torch.randn(5, 9, dtype=torch.float64), torch.tensor([3, 4, 8, 1, 5])
    truth = torch.full((5, 9), smoothing / 7, dtype=torch.float64)
    truth[:, [PAD, BOS]] = 0
    truth[torch.arange(5), wanted] += 1 - smoothing
    assert truth.sum(-1).allclose(torch.ones(5, dtype=torch.float64))
    expected = -(truth * logits.log_softmax(-1)).sum()
    torch.testing.assert_close(smoothed_cross_entropy(logits, wanted, smoothing), expected)


def test_half_precision_is_summed_in_float32():
    logits, wanted = torch.randn(4096, 8).bfloat16(), torch.zeros(4096, dtype=torch.long)
    expected = smoothed_cross_entropy(logits.double(), wanted)
    assert smoothed_cross_entropy(logits, wanted).double().allclose(expected, rtol=1e-5)
