"""The most important tokens, and what is lost without them or with them alone."""

from __future__ import annotations

import math

import pytest
import torch

from regard.explanations.erasure import PERCENT, comprehensiveness, rationales, sufficiency


def definition(importance: list[float], erasable: list[bool], percent: int) -> set[int]:
    there = [place for place, may in enumerate(erasable) if may]
    known = {p: -math.inf if math.isnan(importance[p]) else importance[p] for p in there}
    ranked = sorted(there, key=lambda place: (-known[place], place))
    return set(ranked[: math.ceil(percent * len(there) / 100)])


@pytest.mark.parametrize("tokens", [1, 2, 7, 30, 101])
def test_rationales_are_their_definition(tokens):
    importance = torch.randn(6, tokens).round(decimals=1)  # with ties
    importance[1, tokens // 2] = torch.nan
    importance[2] = 0.0
    importance[3, 0] = -torch.inf
    erasable = torch.rand(6, tokens) > 0.3
    erasable[4] = False
    found = rationales(importance, erasable)
    assert found.shape == (len(PERCENT), 6, tokens)
    for percent, chosen in zip(PERCENT, found, strict=True):
        for row in range(6):
            wanted = definition(importance[row].tolist(), erasable[row].tolist(), percent)
            assert set(chosen[row].nonzero().flatten().tolist()) == wanted


def test_a_short_text_loses_at_least_one_token_at_a_time():
    found = rationales(torch.tensor([[0.1, 0.5, 0.2]]), torch.tensor([[True, True, False]]))
    assert found.sum(-1).flatten().tolist() == [1] * 5
    assert found[0, 0].tolist() == [False, True, False]


def test_both_are_means_over_the_shares():
    whole, tried = torch.tensor([0.9, 0.5]), torch.tensor([[0.1, 0.5], [0.3, 0.7]])
    assert comprehensiveness(whole, tried).tolist() == pytest.approx([0.7, -0.1])
    assert sufficiency(whole, tried).tolist() == pytest.approx([0.7, -0.1])
