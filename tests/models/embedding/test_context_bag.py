"""The operator is its formula, in value and gradients, and its gradients are sparse."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from regard.models.embedding.context_bag import (
    context_bag,
    place_weights,
    rows_summed,
    sampled_loss,
)

V, D, N, P, S = 7, 5, 9, 4, 3


def drawn(seed=0, dtype=torch.float64):
    torch.manual_seed(seed)
    tables = [torch.randn(V, D), torch.randn(V, P), torch.randn(P)]
    words = torch.randint(1, V, (N, P))  # word 0 is never there
    mask = torch.rand(N, P) > 0.3
    mask[2] = False  # nothing around it
    return [each.to(dtype).requires_grad_() for each in tables], words, mask


def plain_bag(table, words, mask, scores, places):
    """The definition, a loop over bags."""
    found = []
    for row, real in zip(words, mask, strict=True):
        at = real.nonzero().flatten().tolist()
        if not at:
            found.append(torch.zeros(D, dtype=table.dtype))
            continue
        logits = torch.stack(
            [
                (scores[row[p], p] if scores is not None else torch.zeros((), dtype=table.dtype))
                + (places[p] if places is not None else 0.0)
                for p in at
            ]
        )
        weights = logits.softmax(0)
        found.append(sum(w * table[row[p]] for w, p in zip(weights, at, strict=True)))
    return torch.stack(found)


def dense(tensor):
    return tensor.to_dense() if tensor.is_sparse else tensor


@pytest.mark.parametrize("given", ["both", "scores", "places", "neither"])
@pytest.mark.parametrize("seed", range(3))
def test_bags_and_their_gradients_are_the_definition(given, seed):
    (table, scores, places), words, mask = drawn(seed)
    scores = scores if given in ("both", "scores") else None
    places = places if given in ("both", "places") else None
    leaves = [each for each in (table, scores, places) if each is not None]
    upstream = torch.randn(N, D, dtype=torch.float64)
    ours = context_bag(table, words, mask, scores, places)
    plain = plain_bag(table, words, mask, scores, places)
    torch.testing.assert_close(ours, plain, rtol=1e-12, atol=1e-12)
    wanted = torch.autograd.grad((plain * upstream).sum(), leaves)
    found = torch.autograd.grad((ours * upstream).sum(), leaves)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(dense(one), other, rtol=1e-10, atol=1e-12)
    assert not ours[2].any()  # nothing around it, no NaN


def test_negative_samples_and_their_gradients_are_the_definition():
    torch.manual_seed(1)
    contexts = torch.randn(N, D, dtype=torch.float64, requires_grad=True)
    table = torch.randn(V, D, dtype=torch.float64, requires_grad=True)
    words = torch.randint(V, (N, S))
    words[0] = words[0, 0]  # a word that was drawn against itself
    logits = torch.einsum("nsd,nd->ns", table[words], contexts)
    plain = -F.logsigmoid(logits[:, 0]).sum() - F.logsigmoid(-logits[:, 1:]).sum()
    ours = sampled_loss(contexts, table, words)
    torch.testing.assert_close(ours, plain, rtol=1e-12, atol=0)
    wanted = torch.autograd.grad(plain, (contexts, table))
    found = torch.autograd.grad(ours, (contexts, table))
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(dense(one), other, rtol=1e-10, atol=1e-12)


def test_gradients_of_tables_hold_the_words_that_were_there_each_once():
    (table, scores, places), words, mask = drawn()
    context_bag(table, words, mask, scores, places).sum().backward()
    for leaf in (table, scores):
        assert leaf.grad.is_sparse
        assert leaf.grad.coalesce().indices()[0].tolist() == words[mask].unique().tolist()
        assert leaf.grad._nnz() == len(words[mask].unique())


def test_the_same_input_gives_the_same_bits():
    torch.manual_seed(3)
    table = torch.randn(50, 16, requires_grad=True)
    words, mask = torch.randint(50, (2000, 10)), torch.rand(2000, 10) > 0.1
    several = []
    for _ in range(3):
        bag = context_bag(table, words, mask, None, None)
        (grad,) = torch.autograd.grad(sampled_loss(bag, table.detach(), words[:, :3]), table)
        several.append(dense(grad))
    assert torch.equal(several[0], several[1])
    assert torch.equal(several[0], several[2])


def test_a_bag_does_not_depend_on_its_neighbours_or_on_padding():
    (table, scores, places), words, mask = drawn(4)
    together = context_bag(table, words, mask, scores, places)
    other = torch.where(mask, words, (words + 1) % V)  # what is masked may be anything
    torch.testing.assert_close(context_bag(table, other, mask, scores, places), together)
    for n in range(N):
        alone = context_bag(table, words[n : n + 1], mask[n : n + 1], scores, places)
        torch.testing.assert_close(alone[0], together[n], rtol=1e-12, atol=1e-12)


def test_no_bags_at_all():
    (table, scores, places), _, _ = drawn()
    words, mask = torch.zeros(0, P, dtype=torch.long), torch.zeros(0, P, dtype=torch.bool)
    bag = context_bag(table, words, mask, scores, places)
    assert bag.shape == (0, D)
    loss = sampled_loss(bag, table, torch.zeros(0, S, dtype=torch.long))
    loss.backward()
    assert loss == 0
    assert not dense(table.grad).any()


def test_weights_sum_to_one_and_zero_scores_are_the_mean():
    (_, scores, places), words, mask = drawn()
    weights = place_weights(words, mask, scores, places)
    torch.testing.assert_close(weights.sum(-1), mask.any(-1).double())
    zero = place_weights(words, mask, torch.zeros_like(scores), torch.zeros_like(places))
    torch.testing.assert_close(zero, mask / mask.sum(-1, keepdim=True).clamp(min=1).double())


def test_rows_are_summed_by_word():
    rows = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    words, weights = torch.tensor([[3, 1], [3, 3]]), torch.tensor([[2.0, 5.0], [1.0, 1.0]])
    wanted = torch.zeros(4, 2)
    wanted[3], wanted[1] = torch.tensor([2.0, 2.0]), torch.tensor([5.0, 0.0])
    assert torch.equal(rows_summed(rows, words, weights, 4).to_dense(), wanted)
