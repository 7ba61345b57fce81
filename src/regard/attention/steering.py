"""Attention that goes where it is told to: other weights at some queries, and nothing else changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention.call import Attended
from regard.attention.memory import Memory
from regard.attention.module import AttentionModule
from regard.attention.recording import ask_for_weights
from regard.suggestions import meant
from regard.words import t


@dataclass(frozen=True)
class Steer:
    """What one attention uses instead of its own weights, and at which of its queries.

    Query 0 is the first of the run: the first position of a source, the first token of a target.
    Queries beyond the Q are left alone.
    """

    weights: Tensor  # (B or 1, [H or 1,] Q, K); heads where the attention has them
    rows: Tensor  # bool (B or 1, [H,] Q): True where they are used; in all heads, or in these

    def __post_init__(self) -> None:
        weights, rows = self.weights, self.rows
        if rows.dtype != torch.bool or rows.dim() not in (2, 3):
            raise ValueError(
                t(
                    "the rows to steer must be bool (B or 1, Q), or (B or 1, heads, Q), given "
                    "{dtype} {rows_shape}",
                    dtype=rows.dtype,
                    rows_shape=tuple(rows.shape),
                )
            )
        if weights.dim() not in (rows.dim() + 1, 4) or weights.shape[-2] != rows.shape[-1]:
            raise ValueError(
                t(
                    "the weights to steer by must be (B or 1, [heads,] Q, K) with the Q of the "
                    "rows, given weights {weights_shape} and rows {rows_shape}",
                    weights_shape=tuple(weights.shape),
                    rows_shape=tuple(rows.shape),
                )
            )

    @property
    def by_head(self) -> bool:
        return self.rows.dim() == 3


@contextmanager
def steering(module: nn.Module, plan: Mapping[str, Steer]) -> Iterator[None]:
    """Inside the block, context_i = Σ_j w_ij v_j with the given w at the given queries i.

    plan: by the names of attentions, as in `module.named_modules()`. It holds for whole targets, for
    targets decoded step by step, and for a search with k hypotheses of a sentence, which are all steered
    alike. Gradients reach the given weights, a `recording` keeps them, and there is no dropout on them.
    A search lets sentences go that are finished: steer it with weights for one sentence.

    >>> with steering(model, {"decoder.attention": Steer(weights, rows)}):
    ...     model(source, mask, inputs)
    """
    attentions = {name: m for name, m in module.named_modules() if isinstance(m, AttentionModule)}
    with ExitStack() as undo:
        for name, steer in plan.items():
            if name not in attentions:
                raise ValueError(
                    t(
                        "no attention {name} in this model.{meant} There are {value}",
                        name=repr(name),
                        meant=meant(name, attentions),
                        value=", ".join(map(repr, attentions)) or t("none"),
                    )
                )
            hook = _Steered(name, steer)
            if steer.by_head:
                asking = attentions[name].register_forward_pre_hook(
                    ask_for_weights, with_kwargs=True
                )
                undo.callback(asking.remove)
            # before those of a recording, whichever of the two began first
            handle = attentions[name].register_forward_hook(hook, with_kwargs=True, prepend=True)
            undo.callback(handle.remove)
        yield


class _Steered:
    """The hook of one attention, which knows how far its run has come."""

    def __init__(self, name: str, steer: Steer) -> None:
        self.name, self.steer = name, steer
        self.next = 0  # the position that comes after those seen
        self.placed = False  # whether a call has said where its queries stand

    def __call__(
        self,
        attention: AttentionModule,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        output: Attended,
    ) -> Attended:
        at = self._positions(*_placed(*args, **kwargs))
        steered = at[at < self.steer.rows.shape[-1]]
        if not self.steer.rows[..., steered].any():
            return output
        memory = attention.prepare(*args, **kwargs).memory
        assert memory is not None
        _, values = attention.recall(memory)
        weights, rows = self._given(at, attention, memory, output.context)
        weights = weights.to(values)
        if self.steer.by_head:  # the others have their own
            assert output.weights is not None
            weights = torch.where(rows[..., None], weights, output.weights.to(values))
            rows = rows.any(1)
        context = attention.merge((weights @ values).to(output.context.dtype))
        if memory.spoilt is not None:
            context = context.masked_fill(_reaches(weights, memory.spoilt)[..., None], torch.nan)
        kept = output.weights
        if kept is not None:
            here = rows[:, None, :, None] if attention.heads_axis else rows[..., None]
            kept = torch.where(here, weights.to(kept), kept)
        return Attended(torch.where(rows[..., None], context, output.context), kept, output.choice)

    def _positions(
        self, queries: int, source: Tensor | Memory | None, offset: int | None
    ) -> Tensor:
        """Positions of the queries; after its first call a search gives no offset, and all its hypotheses
        stand at the next position.
        """
        if offset is None and not isinstance(source, Memory):  # all that there is, at once
            return torch.arange(queries)
        together = offset is None and self.placed
        self.placed = self.placed or offset is not None
        first = self.next if offset is None else offset
        self.next = first + (1 if together else queries)
        return torch.arange(queries) * (0 if together else 1) + first

    def _given(
        self, at: Tensor, attention: AttentionModule, memory: Memory, context: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The weights (N, [H,] Lq, Lk) of the queries at these positions, and the rows (N, [H,] Lq)."""
        weights, rows, batch = self.steer.weights, self.steer.rows, len(context)
        if weights.dim() != 3 + len(attention.heads_axis):
            axes = "(B or 1, heads, Q, K)" if attention.heads_axis else "(B or 1, Q, K)"
            raise ValueError(
                t(
                    "the attention {name} is steered by weights {axes}, given {weights_shape}",
                    name=repr(self.name),
                    axes=axes,
                    weights_shape=tuple(weights.shape),
                )
            )
        if attention.key_size is None:  # a past that grows
            weights = weights[..., memory.start : memory.start + memory.length]
        if weights.shape[-1] != memory.length:
            raise ValueError(
                t(
                    "the attention {name} has {length} keys, but the weights to steer it by are "
                    "for {weights_shape}",
                    name=repr(self.name),
                    length=memory.length,
                    weights_shape=weights.shape[-1],
                )
            )
        inside = at < rows.shape[-1]
        at = at.clamp(max=rows.shape[-1] - 1).to(weights.device)
        weights = self._for_each(weights.index_select(-2, at), batch)
        rows = self._for_each(rows.index_select(-1, at.to(rows.device)), batch)
        return weights, (rows & inside.to(rows.device)).to(context.device)

    def _for_each(self, given: Tensor, batch: int) -> Tensor:
        """(B or 1, ...) -> (N, ...), N = B · k, those of a sentence side by side."""
        if batch % len(given):
            raise ValueError(
                t(
                    "the attention {name} is steered for {count} sentences, but {batch} came: give "
                    "weights for all of them, or for one",
                    name=repr(self.name),
                    count=len(given),
                    batch=batch,
                )
            )
        return given.repeat_interleave(batch // len(given), 0)


def _reaches(weights: Tensor, spoilt: Tensor) -> Tensor:
    """Which queries are sent to a state that was not finite: (N, [H,] Lq, Lk), (N, Lk) -> (N, Lq)."""
    sent = weights != 0
    return ((sent.any(1) if sent.dim() == 4 else sent) & spoilt[:, None, :]).any(-1)


def _placed(
    query: Tensor,
    source: Tensor | Memory | None = None,
    *,
    offset: int | None = None,
    **_: Any,
) -> tuple[int, Tensor | Memory | None, int | None]:
    """How many queries there are, and what says where they stand: of the arguments of `prepare`."""
    return query.shape[-2], source, offset
