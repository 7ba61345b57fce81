"""What can be asked of a search, and what is answered to a mistake."""

from __future__ import annotations

import re

import pytest
import torch

from regard.search import Search
from regard.search.settings import coverage


@pytest.mark.parametrize(
    ("wrong", "answer"),
    [
        ({"method": "greedy"}, "not 'greedy'; greedy search is beam=1"),
        ({"method": "sampling"}, "not 'sampling'. Did you mean 'sample'?"),
        ({"method": "x"}, "method is 'beam' or 'sample', not 'x'"),
        ({"beam": 0}, "beam must be at least 1, not 0"),
        ({"nbest": 6}, "nbest=6 hypotheses need a beam at least as wide, not beam=5"),
        ({"coverage_penalty": -0.1}, "coverage_penalty must be at least 0, not -0.1"),
        ({"length_penalty": float("nan")}, "length_penalty must be a finite number, not nan"),
        ({"max_length": 3, "min_length": 3}, "must be above min_length, not 3 with min_length=3"),
        ({"temperature": 0.7}, "they need method='sample'"),
        ({"method": "sample", "temperature": 0}, "above 0, not 0; greedy search is beam=1"),
        ({"method": "sample", "top_p": 1.5}, "top_p must be above 0 and at most 1, not 1.5"),
        ({"method": "sample", "seed": -1}, "seed must be at least 0, not -1"),
    ],
)
def test_mistakes_are_answered(wrong, answer):
    with pytest.raises(ValueError, match=re.escape(answer)):
        Search(**wrong)


def test_the_score_is_the_formula_of_wu_et_al():
    log_prob = torch.tensor([-3.0])
    assert Search(length_penalty=0.0).score(log_prob, 7).item() == -3.0
    assert Search(length_penalty=1.0).score(log_prob, 7).item() == pytest.approx(-1.5)
    assert Search(length_penalty=0.5).score(log_prob, 19).item() == pytest.approx(-1.5)
    covered = coverage(torch.tensor([[0.5, 3.0, 0.0, 9.0]]), torch.tensor([[True] * 3 + [False]]))
    assert covered.item() == pytest.approx(torch.tensor([0.5, 1e-6]).log().sum().item())
    both = Search(length_penalty=1.0, coverage_penalty=0.2).score(log_prob, 7, covered)
    assert both.item() == pytest.approx(-1.5 + 0.2 * covered.item())


def test_the_limit_grows_with_the_source():
    lengths = torch.tensor([0, 3, 50])
    assert Search(max_length=30, max_ratio=1.5).limits(lengths).tolist() == [10, 14, 30]
    assert Search(max_length=30, max_ratio=0, min_length=20).limits(lengths).tolist() == [21] * 3
