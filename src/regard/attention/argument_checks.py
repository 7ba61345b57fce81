"""What may be given to an attention; an error says what was seen and what to write instead."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import torch
from torch import Tensor

from regard.attention.limits import for_every_key
from regard.attention.region import Region
from regard.attention.scores import Score
from regard.attention.select import is_at_hand
from regard.attention.sequences.documents import UNSIGNED
from regard.attention.shapes import broadcast
from regard.words import t


def leading(query: Tensor, key: Tensor, value: Tensor) -> tuple[int, ...]:
    """The axes before (length, size), of all three together."""
    return broadcast(query.shape[:-2], key.shape[:-2], value.shape[:-2])


SINGLE = torch.finfo(torch.float32)
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def check_tensors(query: Tensor, key: Tensor, value: Tensor) -> None:
    for name, x in (("query", query), ("key", key), ("value", value)):
        if not isinstance(x, Tensor):
            raise TypeError(
                t(
                    "query, key and value are tensors; given {name} {kind}: torch.as_tensor(…) "
                    "makes one",
                    name=name,
                    kind=type(x).__name__,
                )
            )
        if x.layout != torch.strided or x.is_nested or x.device.type == "meta":
            kind = "nested" if x.is_nested else x.device.type if x.is_meta else str(x.layout)[6:]
            raise TypeError(
                t(
                    "query, key and value are ordinary tensors, with numbers in them; given {name} "
                    "{kind}",
                    name=name,
                    kind=kind,
                )
            )
    if query.dim() < 2 or key.dim() < 2 or value.dim() < 2:
        given = _shapes(query, key, value)
        raise ValueError(
            t("each tensor needs at least two axes (length, size); given {given}", given=given)
        )
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            t(
                "there must be one value for every key: key (..., Lk, Dk), value (..., Lk, "
                "Dv); given {shapes}",
                shapes=_shapes(query, key, value),
            )
        )
    try:
        leading(query, key, value)
    except RuntimeError:
        raise ValueError(
            t(
                "the leading axes must broadcast: (..., length, size); given {shapes}{hint}",
                shapes=_shapes(query, key, value),
                hint=_shared_heads(query, key, value),
            )
        ) from None
    same = query.dtype == key.dtype == value.dtype
    if query.dtype not in DTYPES or not (same or torch.is_autocast_enabled(query.device.type)):
        given = ", ".join(
            f"{name} {str(x.dtype)[6:]}"
            for name, x in (("query", query), ("key", key), ("value", value))
        )
        narrow = query.is_floating_point() and query.dtype not in DTYPES
        also = t(": of 16 bits or more") if narrow else ""
        raise TypeError(
            t(
                "query, key and value must have one floating-point dtype{also}; given {given}",
                also=also,
                given=given,
            )
        )


def _shapes(query: Tensor, key: Tensor, value: Tensor) -> str:
    return t(
        "query {query_shape}, key {key_shape}, value {value_shape}",
        query_shape=tuple(query.shape),
        key_shape=tuple(key.shape),
        value_shape=tuple(value.shape),
    )


def check_sizes(score: Score, query: Tensor, key: Tensor) -> None:
    name = type(score).__name__
    for what, x, size in (("query", query, score.query_size), ("key", key, score.key_size)):
        if size is not None and x.shape[-1] != size:
            raise ValueError(
                t(
                    "{name} was made for {what} vectors of size {size}, given {what} {x_shape}",
                    name=name,
                    what=what,
                    size=size,
                    x_shape=tuple(x.shape),
                )
            )
    if score.query_size is None and score.key_size is None and query.shape[-1] != key.shape[-1]:
        raise ValueError(
            t(
                "{name} needs queries and keys of one size, given query {query_shape} and key "
                "{key_shape}; Bilinear and Additive take different sizes",
                name=name,
                query_shape=tuple(query.shape),
                key_shape=tuple(key.shape),
            )
        )


def check_mask(mask: Tensor | None, query: Tensor, key: Tensor, value: Tensor) -> Tensor | None:
    """The mask with at least two axes, once it is certain what it means."""
    if mask is None:
        return None
    if not isinstance(mask, Tensor):
        raise TypeError(
            t(
                "the mask is a bool tensor, True where a key may be attended; given {kind}",
                kind=type(mask).__name__,
            )
        )
    if mask.dtype != torch.bool:
        raise TypeError(
            t(
                "the mask must be bool, True where a key may be attended; given {dtype}. For "
                "1/0 write mask.bool(), for 0/-inf write mask == 0",
                dtype=mask.dtype,
            )
        )
    mask = mask if mask.dim() else mask[None]
    expected = (*leading(query, key, value), query.shape[-2], key.shape[-2])
    given = tuple(mask.shape)
    by_row = names_rows(given, expected)
    if by_row or not _fits(given, expected):
        fewer, axes = len(given) < len(expected), "None, " * (len(expected) - 2)
        hint = (
            t(" A mask of padded keys (B, Lk) is written mask[:, {axes}:].", axes=axes)
            if fewer
            else ""
        )
        also = t(" One pattern (Lq, Lk) for all rows is written mask[None].") if by_row else ""
        raise ValueError(
            t(
                "the mask must broadcast to (..., Lq, Lk) = {expected}; given {given}.{hint}{also}",
                expected=expected,
                given=given,
                hint=hint,
                also=also,
            )
        )
    if _is_of_either(given, expected):
        raise ValueError(
            t(
                "the mask {given} can be read in two ways, of the {count} sequences or of the {count} heads "
                "of scores {expected}: write mask[:, None] for sequences, mask[None] for heads",
                given=given,
                count=given[0],
                expected=expected,
            )
        )
    return mask if mask.dim() > 1 else mask[None]


def _shared_heads(query: Tensor, key: Tensor, value: Tensor) -> str:
    """How several heads of queries share one of keys, if that is what the shapes are about."""
    heads, few = (x.shape[-3] if x.dim() > 3 else 1 for x in (query, key))
    if few < 2 or heads % few or value.shape[-3] != few:
        return ""
    return t(
        ". Where {group} heads of queries share one of keys: query.unflatten(-3, ({few}, {group})), "
        "key.unsqueeze(-3), value.unsqueeze(-3), and context.flatten(-4, -3)",
        group=heads // few,
        few=few,
    )


def _is_of_either(given: tuple[int, ...], expected: tuple[int, ...]) -> bool:
    """Whether (B, ..., Lk) is meant or (H, ..., Lk), where there are as many sequences as heads."""
    one_less = len(given) == len(expected) - 1 and len(given) > 2
    return one_less and given[0] != 1 and given[0] == expected[0] == expected[1]


def names_rows(given: tuple[int, ...], expected: tuple[int, ...]) -> bool:
    """Whether what was given is (B, Lk), which would be read as (Lq, Lk) where the sizes happen to agree."""
    rows = given[:-1]
    fewer = len(given) < len(expected)
    return fewer and given == (*expected[: len(rows)], expected[-1]) and any(n != 1 for n in rows)


def _fits(given: Sequence[int], expected: tuple[int, ...]) -> bool:
    try:
        return broadcast(given, expected) == expected
    except RuntimeError:
        return False


def real_mask(
    mask: Tensor | None,
    lengths: Tensor | Sequence[int] | None,
    lead: Sequence[int],
    positions: int,
    device: torch.device | None = None,
) -> Tensor | None:
    """The mask that was given, or that of lengths (...): (..., positions), True before the length.

    lead: the axes that lengths have. The numbers themselves are looked at on a CPU alone: on a GPU, where it
    would stall, what is below 0 is none and what is past the last position is all. device: of the states, for
    lengths that are a list.
    """
    if lengths is None:
        return mask
    if mask is not None:
        raise ValueError(
            t(
                "give mask or lengths, not both: torch.arange(L) < lengths[..., None] is the "
                "mask of lengths"
            )
        )
    if isinstance(lengths, list | tuple):
        lengths = _listed(lengths, positions, device)
    if not isinstance(lengths, Tensor):
        what = t("a tensor or a list of whole numbers")
        raise TypeError(
            t("lengths must be {what}, not {kind}", what=what, kind=type(lengths).__name__)
        )
    if lengths.is_floating_point() or lengths.is_complex() or lengths.dtype == torch.bool:
        raise TypeError(
            t(
                "lengths must be whole numbers, how many are real; given {dtype}. Which are "
                "real is said by mask=",
                dtype=lengths.dtype,
            )
        )
    given, expected = tuple(lengths.shape), tuple(lead)
    fits = len(given) == len(expected) and all(
        n in (1, m) for n, m in zip(given, expected, strict=True)
    )
    if not fits:
        axes = ", None" * (len(expected) - len(given)) if given else ""
        hint = t(" Those of rows (B,) are written lengths[:{axes}].", axes=axes) if axes else ""
        raise ValueError(
            t(
                "lengths must be {expected}, one for every sequence (an axis may be 1); given "
                "{given}.{hint}",
                expected=expected,
                given=given,
                hint=hint,
            )
        )
    if lengths.dtype in UNSIGNED:
        lengths = lengths.long()
    _check_lengths(lengths, positions)
    return torch.arange(positions, device=lengths.device) < lengths[..., None]


def _listed(lengths: Sequence[int], positions: int, device: torch.device | None) -> Tensor:
    """A list of lengths as a tensor; its numbers are at hand, whatever the device."""
    for n in lengths:
        if not _is_whole(n):
            raise TypeError(
                t("lengths must be whole numbers, and one of the list is {n}", n=repr(n))
            )
        if not 0 <= n <= positions:
            raise _not_within(n, positions)
    return torch.tensor([int(n) for n in lengths], dtype=torch.int64, device=device)


def _is_whole(given: Any) -> bool:
    return hasattr(given, "__index__") and not isinstance(given, bool)


def _not_within(length: int, positions: int) -> ValueError:
    return ValueError(
        t(
            "lengths must be from 0 to {positions}, the positions that there are; given {length}",
            positions=positions,
            length=length,
        )
    )


def _check_lengths(lengths: Tensor, positions: int) -> None:
    if type(lengths) is not Tensor or lengths.device.type != "cpu" or not is_at_hand(lengths):
        return
    if not lengths.numel():
        return
    low, high = (int(end) for end in lengths.aminmax())
    if low < 0 or high > positions:
        raise _not_within(low if low < 0 else high, positions)


def check_bias(bias: Tensor, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The bias as (..., Lq or 1, Lk), once it is certain that it can be added to the scores."""
    if not isinstance(bias, Tensor):
        raise TypeError(
            t("the bias must be a tensor (..., Lq, Lk), not {kind}", kind=type(bias).__name__)
        )
    if bias.dtype == torch.bool:
        raise TypeError(
            t(
                "the bias is added to the scores, and the one given is bool: where keys may be "
                "attended is said by mask="
            )
        )
    single = bias.dtype == torch.float32 and query.dtype in (torch.float16, torch.bfloat16)
    same = bias.dtype == query.dtype or single
    cast = torch.is_autocast_enabled(query.device.type) and bias.dtype != torch.float64
    if not bias.is_floating_point() or not (same or cast):
        also = t(", or float32") if query.dtype in (torch.float16, torch.bfloat16) else ""
        raise TypeError(
            t(
                "the bias must have the dtype of the query, {dtype}{also}; given {value}",
                dtype=str(query.dtype)[6:],
                also=also,
                value=str(bias.dtype)[6:],
            )
        )
    expected = (
        *leading(query, key, value),
        query.shape[-2],
        key.shape[-2],
    )
    given = tuple(bias.shape)
    if not _fits(given, expected):
        heads, axes = "" if len(expected) < 4 else "heads, ", "None, " * (len(expected) - 2)
        by_row = f". One of the keys of each row (B, Lk) is written bias[:, {axes}:]"
        hint = by_row if names_rows(given, expected) else ""
        raise ValueError(
            t(
                "the bias must broadcast to (..., {heads}Lq, Lk) = {expected}; given {given}{hint}",
                heads=heads,
                expected=expected,
                given=given,
                hint=hint,
            )
        )
    bias = bias if bias.dim() > 1 else bias[(None,) * (2 - bias.dim())]
    return for_every_key(bias, key.shape[-2])


def check_cap(cap: float | None) -> float:
    """The bound of the scores, 0 where there is none."""
    if cap is None:
        return 0.0
    if isinstance(cap, bool) or not isinstance(cap, Real):
        raise TypeError(
            t("cap bounds the scores, cap · tanh(score / cap): a number, not {cap}", cap=repr(cap))
        )
    if not 0.0 < cap < math.inf:
        raise ValueError(
            t("cap bounds the scores, cap · tanh(score / cap): above 0, not {cap}", cap=cap)
        )
    if not SINGLE.tiny <= cap <= SINGLE.max:
        raise ValueError(t("cap is a number that float32 has, not {cap}", cap=str(cap)[:20]))
    return float(cap)


def check_sinks(sinks: Tensor, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The sinks as (..., 1, 1), beside the scores (..., Lq, Lk)."""
    if not isinstance(sinks, Tensor) or not sinks.is_floating_point():
        seen = sinks.dtype if isinstance(sinks, Tensor) else type(sinks).__name__
        raise TypeError(
            t("sinks are a tensor of numbers, one for every head; given {seen}", seen=seen)
        )
    lead = leading(query, key, value)
    if not _fits(sinks.shape, lead):
        raise ValueError(
            t(
                "sinks must broadcast to the leading axes {lead}, (heads,) as a rule; given "
                "{sinks_shape}",
                lead=lead,
                sinks_shape=tuple(sinks.shape),
            )
        )
    return sinks[..., None, None]


def real_states(
    mask: Tensor | None, lengths: Tensor | Sequence[int] | None, states: Tensor
) -> Tensor | None:
    """The mask that was given, or that of lengths, for states (..., Lk, D)."""
    real = real_mask(mask, lengths, states.shape[:-2], states.shape[-2], states.device)
    return real if lengths is None or real is None else real.expand(states.shape[:-1])


def check_region(region: Region, lead: tuple[int, ...]) -> None:
    """Whether what a region holds of every sequence is for sequences with these leading axes."""
    for given in region.leads:
        by_row = (
            len(given) < len(lead) and given == lead[: len(given)] and any(n != 1 for n in given)
        )
        if by_row or len(given) > len(lead) or not _fits(given, lead):
            axes = ", None" * (len(lead) - len(given))
            hint = t(" Those of rows (B,) are written [:{axes}].", axes=axes) if by_row else ""
            raise ValueError(
                t(
                    "the region {region} is for leading axes {given}, and those of this attention "
                    "are {lead}.{hint}",
                    region=repr(region),
                    given=given,
                    lead=lead,
                    hint=hint,
                )
            )


def check_counts(**counts: int | None) -> None:
    """Whether what counts heads or features is a whole number of at least 1; None: it was left out."""
    for name, count in counts.items():
        if count is None:
            continue
        if not _is_whole(count):
            raise TypeError(
                t("{name} must be a whole number, not {count}", name=name, count=repr(count))
            )
        if count < 1:
            raise ValueError(t("{name} must be at least 1, not {count}", name=name, count=count))


def check_width(what: str, x: Tensor, size: int) -> None:
    """Whether vectors have the size that an attention was made for."""
    if x.dim() < 2 or x.shape[-1] != size:
        raise ValueError(
            t(
                "{what} must be (..., length, {size}), given {x_shape}",
                what=what,
                size=size,
                x_shape=tuple(x.shape),
            )
        )


def check_pairs(pairs: Tensor, query: Tensor, keys: int) -> None:
    """Whether a mask is one of pairs of these queries and so many keys."""
    expected = (*query.shape[:-1], keys)
    fits = pairs.dim() == len(expected) and _fits(pairs.shape, expected)
    if pairs.dtype != torch.bool or not fits:
        raise ValueError(
            t(
                "the mask must be bool, (..., Lq, Lk) = {expected} (an axis may be 1), or "
                "(..., Lk) with states as the source; given {dtype} {pairs_shape}",
                expected=expected,
                dtype=pairs.dtype,
                pairs_shape=tuple(pairs.shape),
            )
        )


def check_score_sizes(score: Score, query_size: int, key_size: int) -> None:
    """Whether a score is for vectors of these sizes."""
    made = (score.query_size or query_size, score.key_size or key_size)
    any_size = takes_any_size(score)
    if made != (query_size, key_size) or (any_size and query_size != key_size):
        expected = t("queries and keys of one size") if any_size else t("sizes {made}", made=made)
        raise ValueError(
            t(
                "{kind} is for {expected}, but the queries have size {query_size} and the keys "
                "{key_size}",
                kind=type(score).__name__,
                expected=expected,
                query_size=query_size,
                key_size=key_size,
            )
        )


def takes_any_size(score: Score) -> bool:
    """Whether a score compares vectors of any one size."""
    return score.query_size is None and score.key_size is None
