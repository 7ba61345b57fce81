"""What every task's module can do with a batch, whatever its model."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from regard.data.tokenizer import BOS, EOS, PAD
from regard.measures.likelihood import Likelihood
from regard.tasks.task_module import LikelihoodModule, TaskModule


def test_answers_come_in_the_order_of_the_inputs_whatever_the_batches():
    module, lengths, batches = TaskModule(nn.Linear(2, 2)), [3, 9, 1, 9, 4], []

    def answer(rows):
        assert not module.training
        assert not torch.is_grad_enabled()
        batches.append(rows)
        return (f"{row}: {lengths[row]}" for row in rows)

    expected = ["0: 3", "1: 9", "2: 1", "3: 9", "4: 4"]
    for size, tokens in ((1, None), (2, None), (8, None), (8, 9)):
        assert module.in_batches(iter(lengths), size, answer, tokens) == expected
    assert module.training
    assert [1, 3] in batches  # those of one length side by side
    assert module.in_batches([], 4, answer) == []


def test_an_answer_too_few_is_an_error():
    with pytest.raises(ValueError, match="zip"):
        TaskModule(nn.Linear(2, 2)).in_batches([1, 1], 2, lambda rows: rows[:1])


def test_tokens_are_padded_where_the_model_is():
    tokens, real = TaskModule(nn.Linear(2, 2)).padded([[7], [8, 9]], bos=True)
    assert tokens.tolist() == [[BOS, 7, EOS, PAD], [BOS, 8, 9, EOS]]
    assert real.tolist() == [[True, True, True, False], [True] * 4]


class Counted(LikelihoodModule):
    def likelihoods(self, texts, *, batch=2):
        return [Likelihood(batch * len(text), len(text), 1) for text in texts]


def test_likelihoods_add_up():
    module = Counted(nn.Linear(2, 2))
    assert module.likelihood(["ab", "c"]) == Likelihood(6, 3, 2)
    assert module.likelihood(["ab", "c"], batch=1) == Likelihood(3, 3, 2)
    assert module.likelihood([]) == Likelihood()
