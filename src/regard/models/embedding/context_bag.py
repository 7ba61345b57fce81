"""Bags of context words with a weight for each place, and negative samples: forward and backward by hand.

N bags, P places of a window, D features, V words, S words that are scored for a bag, U different words.

A gradient of a table has the rows of the words that were there and no others: it is sparse, its rows sorted
and each there once. Nothing of size N · P · D is kept: the sum over the occurrences of a word is a bag too,
of the rows of the other side. On a CPU the same input gives the same bits.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

CHUNK = 1 << 22  # numbers that are gathered at a time
torch.sparse.check_sparse_tensor_invariants.disable()  # as is usual: torch warns where nobody says so


def context_bag(
    table: Tensor, words: Tensor, mask: Tensor, scores: Tensor | None, places: Tensor | None
) -> Tensor:
    """c_n = Σ_p a_np E[w_np],  a_n = softmax over the real places of  K[w_np, p] + s_p

    — Ling et al. 2015, https://aclanthology.org/D15-1161. Without scores K and places s it is the mean, as in
    CBOW. table E (V, D), words (N, P), mask (N, P) True where there is a word, K (V, P), s (P,) -> (N, D);
    0 for a bag without a word.
    """
    return _ContextBag.apply(table, words, mask, scores, places)


def place_weights(
    words: Tensor,
    mask: Tensor,
    scores: Tensor | None,
    places: Tensor | None,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """a (N, P): the weights of `context_bag`; 0 where there is no word. dtype: that of a mean."""
    if scores is None and places is None:
        real = mask.to(dtype)
        return real / real.sum(-1, keepdim=True).clamp(min=1.0)
    logits = torch.zeros((), device=words.device)
    if scores is not None:
        logits = logits.to(scores.dtype) + scores.gather(0, words)
    if places is not None:
        logits = logits.to(places.dtype) + places
    logits = logits.expand(words.shape)
    least = torch.finfo(logits.dtype).min
    return logits.masked_fill(~mask, least).softmax(-1).masked_fill(~mask, 0.0)


class _ContextBag(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        table: Tensor,
        words: Tensor,
        mask: Tensor,
        scores: Tensor | None,
        places: Tensor | None,
    ) -> Tensor:
        weights = place_weights(words, mask, scores, places, table.dtype).to(table.dtype)
        ctx.save_for_backward(table, words, mask, weights)
        ctx.scored, ctx.placed = scores is not None, places is not None
        return _bags(table, words, weights)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        table, words, mask, weights = ctx.saved_tensors
        grad = grad.contiguous()
        of_table = rows_summed(grad, words, weights, len(table), mask)
        if not (ctx.scored or ctx.placed):
            return of_table, None, None, None, None
        each = _dots(table, words, grad)  # (N, P): how a weight changes the loss
        of_logits = weights * (each - (weights * each).sum(-1, keepdim=True))
        of_scores = _cells_summed(of_logits, words, len(table), mask) if ctx.scored else None
        return of_table, None, None, of_scores, of_logits.sum(0) if ctx.placed else None


def sampled_loss(contexts: Tensor, table: Tensor, words: Tensor) -> Tensor:
    """Σ_n [ -log σ(c_n · O[w_n0]) - Σ_(s > 0) log σ(-c_n · O[w_ns]) ]

    — Mikolov et al. 2013, https://arxiv.org/abs/1310.4546. contexts c (N, D), table O (V, D), words (N, S):
    the word that was there, and others that were drawn.
    """
    total: Tensor = _SampledLoss.apply(contexts, table, words)
    return total


class _SampledLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, contexts: Tensor, table: Tensor, words: Tensor) -> Tensor:
        logits = _dots(table, words, contexts)  # (N, S)
        signed = torch.cat([-logits[:, :1], logits[:, 1:]], 1)
        slopes = signed.sigmoid()  # of softplus
        ctx.save_for_backward(contexts, table, words, torch.cat([-slopes[:, :1], slopes[:, 1:]], 1))
        return F.softplus(signed).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        contexts, table, words, slopes = ctx.saved_tensors
        slopes = slopes * grad
        of_table = rows_summed(contexts, words, slopes, len(table))
        return _bags(table, words, slopes), of_table, None


def rows_summed(
    rows: Tensor, words: Tensor, weights: Tensor, size: int, mask: Tensor | None = None
) -> Tensor:
    """(size, D), sparse: row v is Σ weights_ns rows_n over all (n, s) with words_ns = v

    rows (N, D), words and weights (N, S); mask (N, S): False where there is nothing.
    """
    at = torch.arange(len(words), device=words.device)[:, None].expand(words.shape)
    if mask is not None:
        words, weights, at = words[mask], weights[mask], at[mask]
    ordered, order = words.reshape(-1).sort(stable=True)
    known, counts = ordered.unique_consecutive(return_counts=True)
    values = F.embedding_bag(
        at.reshape(-1)[order],
        rows,
        counts.cumsum(0) - counts,
        per_sample_weights=weights.reshape(-1)[order],
        mode="sum",
    )
    return _sparse(known, values, size)


def _cells_summed(numbers: Tensor, words: Tensor, size: int, mask: Tensor) -> Tensor:
    """(size, P), sparse: cell (v, p) is the sum of numbers (N, P) where the word at place p is v."""
    known, row = words[mask].unique(return_inverse=True)
    width = words.shape[1]
    place = torch.arange(width, device=words.device).expand(words.shape)[mask]
    sums = torch.zeros(len(known) * width, dtype=numbers.dtype, device=numbers.device)
    sums.index_add_(0, row * width + place, numbers[mask])
    return _sparse(known, sums.view(-1, width), size)


def _sparse(rows: Tensor, values: Tensor, size: int) -> Tensor:
    return torch.sparse_coo_tensor(
        rows[None],
        values,
        (size, values.shape[-1]),
        is_coalesced=True,
        check_invariants=False,
    )


def _bags(table: Tensor, words: Tensor, weights: Tensor) -> Tensor:
    """Σ_s weights_ns table[words_ns]: (N, S) twice -> (N, D)"""
    if not words.numel():
        return table.new_zeros(len(words), table.shape[1])
    return F.embedding_bag(words, table, per_sample_weights=weights, mode="sum")


def _dots(table: Tensor, words: Tensor, rows: Tensor) -> Tensor:
    """table[words_ns] · rows_n: (N, S)"""
    many = max(CHUNK // max(words.shape[1] * table.shape[1], 1), 1)
    parts = zip(words.split(many), rows.split(many), strict=True)
    found = [torch.einsum("nsd,nd->ns", F.embedding(each, table), row) for each, row in parts]
    return torch.cat(found) if found else rows.new_zeros(words.shape)
