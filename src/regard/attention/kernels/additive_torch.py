"""Additive attention in torch operators: the definition, and the walk over blocks for any scores.

    s_ij = Σ_d w_d tanh(q_id + k_jd)          context_i = Σ_j softmax_j(scale · s_ij) value_j

Shapes: query (N, Lq, D), key (N, Lk, D), value (N, Lk, Dv), weight (G, D), row n has weight[n % G];
mask (M, 1 or Lq, Lk), row n has mask[n // (N / M)].
"""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

Scores = Callable[[Tensor, Tensor, Tensor], Tensor]
ScoresBackward = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]


def dense_additive_scores(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """s[n, i, j] = Σ_d weight[n % G, d] · tanh(query[n, i, d] + key[n, j, d])

    query (N, Lq, D), key (N, Lk, D), weight (G, D) -> (N, Lq, Lk). Materialises (N, Lq, Lk, D).
    """
    tanh = (query[:, :, None] + key[:, None]).tanh_()  # in place: the sum is not needed again
    if len(weight) == 1:
        return torch.nn.functional.linear(tanh, weight).squeeze(-1)
    groups = tanh.unflatten(0, (len(query) // len(weight), len(weight)))
    return torch.einsum("bgijd,gd->bgij", groups, weight).flatten(0, 1)


def compute_dtype(tensor: Tensor) -> torch.dtype:
    """float64 for float64, float32 for everything else."""
    return torch.float64 if tensor.dtype == torch.float64 else torch.float32


def scores(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    dtype = compute_dtype(query)
    if dtype == query.dtype:
        return dense_additive_scores(query, key, weight)
    result = dense_additive_scores(query.to(dtype), key.to(dtype), weight.to(dtype))
    return result.to(query.dtype)


def scores_backward(
    grad: Tensor, query: Tensor, key: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """dq = Σ_j g w (1 - t²), dk = Σ_i g w (1 - t²), dw = Σ_ij g t, for t = tanh(q + k), row by row.

    Written out, since inside an operator there is no autograd.
    """
    dtype = compute_dtype(query)
    dq, dk = torch.empty_like(query), torch.empty_like(key)
    dw = torch.zeros_like(weight, dtype=dtype)
    for n in range(len(query)):
        q, k, w, g = (
            query[n].to(dtype),
            key[n].to(dtype),
            weight[n % len(weight)].to(dtype),
            grad[n].to(dtype),
        )
        t = (q[:, None] + k).tanh_()
        dw[n % len(weight)] += torch.einsum("ij,ijd->d", g, t)
        slope = t.square_().neg_().add_(1).mul_(g[..., None])
        dq[n], dk[n] = slope.sum(1) * w, slope.sum(0) * w
    return dq, dk, dw.to(weight.dtype)


class Blocks:
    """The blocks (rows, queries, keys) that cover every allowed pair, and what is allowed in each.

    Key j is allowed for query i if mask says so and i + offset - before <= j <= i + offset + after;
    -1 is unbounded. A block has about `pairs` pairs at most, and 64 queries.
    """

    def __init__(
        self, query: Tensor, key: Tensor, mask: Tensor | None,
        before: int, after: int, offset: int, pairs: int,
    ) -> None:  # fmt: skip
        self.rows, self.queries, self.keys = query.shape[0], query.shape[1], key.shape[1]
        self.mask, self.before, self.after, self.offset = mask, before, after, offset
        self.device = query.device
        self.query_step = max(1, min(64, self.queries, pairs // max(1, self.keys)))
        self.row_step = max(1, pairs // max(1, self.query_step * self.keys))

    def __iter__(self) -> Iterator[tuple[slice, slice, slice]]:
        for row in range(0, self.rows, self.row_step):
            rows = slice(row, min(row + self.row_step, self.rows))
            for start in range(0, self.queries, self.query_step):
                queries = slice(start, min(start + self.query_step, self.queries))
                keys = self._reach(queries)
                if keys.start < keys.stop:
                    yield rows, queries, keys

    def _reach(self, queries: slice) -> slice:
        first = queries.start + self.offset - self.before if self.before >= 0 else 0
        last = queries.stop + self.offset + self.after if self.after >= 0 else self.keys
        return slice(max(0, first), min(self.keys, last))

    def allowed(self, rows: slice, queries: slice, keys: slice) -> Tensor | None:
        """bool, to be broadcast to (rows, queries, keys); None: all of them."""
        allowed = None
        if self.mask is not None:
            row = torch.arange(rows.start, rows.stop, device=self.device)
            of_queries = queries if self.mask.shape[1] > 1 else slice(None)
            allowed = self.mask[:, of_queries, keys][row // (self.rows // len(self.mask))]
        if self.before >= 0 or self.after >= 0:
            i = torch.arange(queries.start, queries.stop, device=self.device) + self.offset
            ahead = torch.arange(keys.start, keys.stop, device=self.device) - i[:, None]
            band = ahead >= -self.before if self.before >= 0 else ahead <= self.after
            if self.before >= 0 and self.after >= 0:
                band = band & (ahead <= self.after)
            allowed = band[None] if allowed is None else allowed & band
        return allowed


def hide(keyed: Tensor, mask: Tensor) -> Tensor:
    """keyed (N, Lk, …) with 0 at the keys that the mask hides from every query, whatever is there."""
    hidden = ~mask.any(1).repeat_interleave(len(keyed) // len(mask), 0)
    return keyed.masked_fill(hidden[..., None], 0.0)


def dense_additive_attention(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor, mask: Tensor | None,
    scale: float, before: int, after: int, offset: int,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """context = softmax(scale · s) @ value over the allowed keys, and the log-sum-exp, all at once."""
    dtype = compute_dtype(query)
    q, k, v, w = (x.to(dtype) for x in (query, key, value, weight))
    if mask is not None:
        k, v = hide(k, mask), hide(v, mask)
    s = dense_additive_scores(q, k, w)
    s = s if scale == 1.0 else scale * s
    everything = (slice(0, size) for size in s.shape)
    allowed = Blocks(query, key, mask, before, after, offset, 1).allowed(*everything)
    if allowed is not None:
        s = s.masked_fill(~allowed, -torch.inf)
    lse = s.detach().logsumexp(-1)
    weights = torch.softmax(s, -1)
    if allowed is not None:
        weights = weights.masked_fill(~allowed.any(-1, keepdim=True), 0.0)
    return (weights @ v).to(query.dtype), lse


def attend(
    scores: Scores, pairs: int,
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor, mask: Tensor | None,
    scale: float, before: int, after: int, offset: int,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """context (N, Lq, Dv) and lse (N, Lq) from the scores of one block at a time."""
    blocks = Blocks(query, key, mask, before, after, offset, pairs)
    dtype = compute_dtype(query)
    q, k, v, w = (x.to(dtype) for x in (query, key, value, weight))
    if mask is not None:
        k, v = hide(k, mask), hide(v, mask)
    w = w.repeat(len(q) // len(w), 1)
    context = q.new_zeros(*q.shape[:2], v.shape[2])
    lse = q.new_full(q.shape[:2], -torch.inf)
    for block in blocks:
        rows, queries, keys = block
        s = _allowed_scores(scores, blocks, block, q, k, w, scale)
        lse[rows, queries] = s.logsumexp(-1)
        context[rows, queries] = _softmax(s, lse[rows, queries]) @ v[rows, keys]
    return context.to(query.dtype), lse


def attend_backward(
    scores: Scores, scores_backward: ScoresBackward, pairs: int, grad: Tensor,
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor, mask: Tensor | None,
    context: Tensor, lse: Tensor, scale: float, before: int, after: int, offset: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """dp = grad vᵀ, ds = p (dp - grad · context), with p = exp(s - lse) recomputed block by block."""
    blocks = Blocks(query, key, mask, before, after, offset, pairs)
    dtype = compute_dtype(query)
    q, k, v, w = (x.to(dtype) for x in (query, key, value, weight))
    if mask is not None:
        k, v = hide(k, mask), hide(v, mask)
    w = w.repeat(len(q) // len(w), 1)
    grad = grad.to(dtype)
    mean = (grad * context.to(dtype)).sum(-1, keepdim=True)
    dq, dk, dv, dw = (torch.zeros_like(x) for x in (q, k, v, w))
    for block in blocks:
        rows, queries, keys = block
        p = _allowed_scores(scores, blocks, block, q, k, w, scale)
        p = _softmax(p, lse[rows, queries])
        dv[rows, keys] += p.mT @ grad[rows, queries]
        ds = (grad[rows, queries] @ v[rows, keys].mT).sub_(mean[rows, queries]).mul_(p).mul_(scale)
        dq[rows, queries], dk_part, dw_part = scores_backward(
            ds, q[rows, queries], k[rows, keys], w[rows]
        )
        dk[rows, keys] += dk_part
        dw[rows] += dw_part
    dw = dw.view(len(q) // len(weight), *weight.shape).sum(0)
    return dq.to(query.dtype), dk.to(key.dtype), dv.to(value.dtype), dw.to(weight.dtype)


def _allowed_scores(
    scores: Scores, blocks: Blocks, block: tuple[slice, slice, slice],
    q: Tensor, k: Tensor, w: Tensor, scale: float,
) -> Tensor:  # fmt: skip
    """The scaled scores of a block, -inf where a key is not allowed."""
    rows, queries, keys = block
    s = scores(q[rows, queries], k[rows, keys], w[rows]).mul_(scale)
    allowed = blocks.allowed(*block)
    return s if allowed is None else s.masked_fill_(~allowed, -torch.inf)


def _softmax(scores: Tensor, lse: Tensor) -> Tensor:
    """exp(scores - lse), in place; 0 in a row without any key, where both are -inf."""
    lowest = torch.finfo(lse.dtype).min
    return scores.sub_(lse.clamp_min(lowest)[..., None]).exp_()


def attention(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor, mask: Tensor | None,
    scale: float, before: int, after: int, offset: int,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    band = (before, after, offset)
    return attend(scores, _dense_pairs(query), query, key, value, weight, mask, scale, *band)


def attention_backward(
    grad: Tensor, query: Tensor, key: Tensor, value: Tensor, weight: Tensor, mask: Tensor | None,
    context: Tensor, lse: Tensor, scale: float, before: int, after: int, offset: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    return attend_backward(
        scores, scores_backward, _dense_pairs(query), grad, query, key, value, weight, mask,
        context, lse, scale, before, after, offset,
    )  # fmt: skip


def _dense_pairs(query: Tensor) -> int:
    """Dense scores hold D numbers for each pair of a block."""
    return (1 << 22) // max(1, query.shape[2])
