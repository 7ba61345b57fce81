"""Looking at a run on a GPU: what a CPU shows."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import regard
from regard.looking.run_looker import look_at
from regard.records.question import Force, Question

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
TEXT = "我是一个学生，今天下午要去图书馆。"


@pytest.fixture(scope="module")
def runs():
    return [regard.load(device=device) for device in ("cpu", "cuda")]


@pytest.mark.parametrize(
    "question",
    [Question(TEXT), Question(TEXT, prefix="Today"), Question(TEXT, force=Force(4, (13, 14, 15)))],
)
def test_a_record_does_not_depend_on_the_device(runs, question):
    here, there = (look_at(run, question) for run in runs)
    assert there.output == here.output
    for one, other in zip(here.maps, there.maps, strict=True):
        np.testing.assert_allclose(other.weights, one.weights, atol=1e-3)
        np.testing.assert_allclose(other.scores, one.scores, atol=1e-2)
    assert [node.token for node in there.beam.nodes[:10]] == [n.token for n in here.beam.nodes[:10]]


def test_measures_do_not_depend_on_the_device(runs):
    here, there = (look_at(run, Question(TEXT, explain=True)).explanations for run in runs)
    assert [each.name for each in there] == [each.name for each in here]
    for one, other in zip(here, there, strict=True):
        if one.name in ("gradient", "leave-one-out"):
            np.testing.assert_allclose(other.matrix, one.matrix, atol=5e-3)
        if one.name == "uniform":
            np.testing.assert_allclose(other.rows["TVD"], one.rows["TVD"], atol=5e-3)
