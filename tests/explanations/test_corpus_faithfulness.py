"""A table over a corpus: means over answers, intervals over items, and methods beside chance."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.explanations.attributions import METHODS
from regard.explanations.corpus_faithfulness import COLUMNS, RANDOM, CorpusFaithfulness
from regard.explanations.model_readings import Weighed


class OneTokenDecides:
    """p(y) is 0.9 where its one token is there, else 0.1; attention knows which, gradients do not."""

    steerable = False
    work = whole = 1.0

    def __init__(self, answers: int, keys: int, seed: int, *, attends: bool = True) -> None:
        draw = torch.Generator().manual_seed(seed)
        self.places = torch.randint(keys - 1, (answers,), generator=draw)
        self.said = torch.zeros(answers, dtype=torch.long)
        self.answers = torch.tensor([0.9, 0.1]).double().expand(answers, -1)
        self.seen = torch.ones(answers, keys, dtype=torch.bool)
        self.erasable = self.seen.clone()
        self.erasable[:, -1] = False
        weights = torch.full((answers, keys), 0.01).double()
        weights[torch.arange(answers), self.places] = 1.0
        self.weighed = Weighed(weights[:, None], self.seen[:, None], weights) if attends else None
        self.noise = torch.rand(answers, keys, generator=draw).double()

    def log_probs(self, kept: Tensor, rows: Tensor, tokens: Tensor) -> Tensor:
        there = kept[torch.arange(len(kept)), self.places[rows]]
        p = torch.where(there, 0.9, 0.1).double()
        return torch.where(tokens == 0, p, 1 - p).log()

    def log_probs_without_each(self, tokens: Tensor) -> Tensor:
        answers, keys = self.seen.shape
        kept = ~torch.eye(keys, dtype=torch.bool)
        rows = torch.arange(answers)[:, None].expand(answers, keys).flatten()
        each = kept.expand(answers, keys, keys).flatten(0, 1)
        return torch.stack(
            [
                self.log_probs(each, rows, one[:, None].expand(answers, keys).flatten()).view(
                    answers, keys
                )
                for one in tokens
            ]
        )

    def gradients(self) -> Tensor:
        return self.noise

    def contrast_gradients(self, against: Tensor) -> Tensor:
        return self.noise

    def norms(self) -> Tensor | None:
        return None if self.weighed is None else self.weighed.reported

    zeroed = norms


def table_of(items: int = 30, **more) -> CorpusFaithfulness:
    table = CorpusFaithfulness(**more)
    for seed in range(items):
        table.add(OneTokenDecides(2 + seed % 3, 9, seed))
    return table


def test_what_decides_is_told_from_what_does_not():
    rows = {row.name: row for row in table_of().rows()}
    assert list(rows) == [*METHODS, RANDOM]
    for name in ("attention", "norm", "value-zeroing", "leave-one-out", "contrast"):
        found = rows[name].columns
        assert found["comprehensiveness"].mean == pytest.approx(0.8)
        assert found["comprehensiveness"][1:3] == pytest.approx((0.8, 0.8))
        assert found["sufficiency"].mean == pytest.approx(0.0)
        assert rows[name].better("comprehensiveness")
        assert rows[name].better("sufficiency")
    assert not rows["gradient"].better("comprehensiveness")
    assert 0 < rows[RANDOM].columns["comprehensiveness"].mean < 0.8


def test_answers_weigh_alike_and_items_are_drawn_whole():
    table = CorpusFaithfulness(["gradient"], seed=4)
    each = [OneTokenDecides(answers, 9, answers) for answers in (1, 5, 2)]
    alone = []
    for reading in each:
        table.add(reading)
        one = CorpusFaithfulness(["gradient"])
        one.add(reading)
        alone.append(one.rows()[0].columns["comprehensiveness"])
    found = table.rows()[0].columns["comprehensiveness"]
    assert table.answers == found.answers == 8
    wanted = np.average([one.mean for one in alone], weights=[1, 5, 2])
    assert found.mean == pytest.approx(wanted)
    assert min(one.mean for one in alone) <= found.low <= found.mean <= found.high


def test_an_interval_has_the_truth_most_of_the_time():
    """Means of noise over many corpora: about 95 of 100 intervals hold the mean over all of them."""
    found = []
    for corpus in range(60):
        table = CorpusFaithfulness(["gradient"], seed=corpus)
        for seed in range(25):
            table.add(OneTokenDecides(3, 9, 1000 * corpus + seed))
        found.append(table.rows()[0].columns["comprehensiveness"])
    truth = np.mean([one.mean for one in found])
    held = sum(one.low <= truth <= one.high for one in found)
    assert 50 <= held <= 60


def test_the_same_seed_has_the_same_table_and_another_has_other_chances():
    one, same, other = (table_of(5, seed=seed).rows() for seed in (1, 1, 2))
    assert [row.columns for row in one] == [row.columns for row in same]
    assert one[-1].columns != other[-1].columns
    assert one[0].columns["comprehensiveness"].mean == other[0].columns["comprehensiveness"].mean


def test_a_method_that_some_items_do_not_have():
    table = CorpusFaithfulness(["attention"])
    table.add(OneTokenDecides(2, 9, 1, attends=False))
    table.add(OneTokenDecides(3, 9, 2))
    row = table.rows()[0]
    assert row.columns["comprehensiveness"].answers == 3
    assert set(row.columns) == {*COLUMNS[:3]}  # it is not compared with itself
    plain = row.columns["comprehensiveness"].to_dict()
    assert plain["answers"] == 3
    assert plain["mean"] == pytest.approx(0.8)
