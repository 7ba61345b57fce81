"""The loss of a batch: padding costs nothing, batches add up, hard attention learns."""

from __future__ import annotations

import pytest
import torch
from pair_batches import pair_batch

import regard
from regard.data.batch import Batch

PAIRS = [([4, 5, 6], [6, 5, 4]), ([7, 8], [8, 7, 9, 10, 11]), ([9], [9]), ([5, 5], [4])]


def loss_of(task, batch: Batch):
    return task(**batch)


def gradients(task, *batches: Batch) -> list[torch.Tensor]:
    task.zero_grad()
    for batch in batches:
        loss_of(task, batch).total.backward()
    return [p.grad.clone() for p in task.parameters()]


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_loss_and_gradient_of_a_joined_batch_are_the_sums_of_its_parts(make_task, smoothing):
    task = make_task(label_smoothing=smoothing).double()
    whole, parts = pair_batch(PAIRS), [pair_batch(PAIRS[:1]), pair_batch(PAIRS[1:])]
    found = loss_of(task, whole)
    torch.testing.assert_close(found.total, sum(loss_of(task, part).total for part in parts))
    assert found.tokens == 4 + 6 + 2 + 2  # EOS counts, BOS and padding do not
    for joined, added in zip(gradients(task, whole), gradients(task, *parts), strict=True):
        torch.testing.assert_close(joined, added)


def test_what_stands_in_the_padding_changes_nothing(make_task):
    task = make_task()
    batch = pair_batch(PAIRS)
    noise = torch.randint(4, 12, batch["target"].shape)
    padded = {
        "source": batch["source"].where(batch["source_mask"], noise[:, :1]),
        "target": batch["target"].where(batch["target_mask"], noise),
    }
    other = Batch({**batch, **padded}, batch.rows)
    assert loss_of(task, batch).total == loss_of(task, other).total


def test_free_running_is_divided_by_the_tokens_that_were_scored(make_task):
    """A row that says EOS too early is scored up to there, not to its reference's end."""
    task = make_task(teacher_forcing=0.0)
    with torch.no_grad():
        task.model.decoder.output.bias[3] = 1000.0  # it says EOS at once
    assert loss_of(task, pair_batch(PAIRS)).tokens == len(PAIRS)


def test_forcing_by_chance_is_repeated_by_the_seed(make_task):
    task = make_task(teacher_forcing=0.5, forcing_draw="step")

    def draw(seed: int) -> float:
        torch.manual_seed(seed)
        return loss_of(task, pair_batch(PAIRS)).total.item()

    assert draw(1) == draw(1)
    assert len({draw(seed) for seed in range(6)}) > 1


def test_hard_attention_is_taught_by_its_reward(make_task):
    """Without Reinforce no gradient reaches the scores; with it, every weight gets one."""

    def taught(**options) -> bool:
        task = make_task(attention={"normalize": "hard"}, **options)
        torch.manual_seed(1)
        loss_of(task, pair_batch(PAIRS)).total.backward()
        scores = task.model.decoder.attention.score.parameters()
        return any(p.grad is not None and bool(p.grad.abs().sum() > 0) for p in scores)

    assert taught(reinforce=regard.Reinforce())
    assert not taught()


def test_the_policy_loss_counts_only_choices_at_real_tokens(make_task):
    """One row alone, and beside a longer one: the same loss for its choices."""
    task = make_task(attention={"normalize": "hard"}, reinforce=regard.Reinforce(None)).eval()
    parts = [loss_of(task, pair_batch([pair])).total for pair in PAIRS[:2]]
    torch.testing.assert_close(loss_of(task, pair_batch(PAIRS[:2])).total, sum(parts))
