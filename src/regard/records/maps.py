"""From what a `recording` kept of one input to the maps of a record.

Legend: H heads, Q queries, K keys, D features of a value; the batch is one input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.attention.mechanism_text import mechanism, written_normalizer
from regard.attention.module import AttentionModule
from regard.attention.multi_head import MultiHead
from regard.attention.recording import Recorded
from regard.attention.scores import Summands
from regard.records.attention_map import AttentionMap
from regard.records.question import BadQuestion, Question
from regard.records.record import AttentionRecord
from regard.records.side import Side
from regard.records.what_ifs import changes_of
from regard.words import t

MOST_DETAILS = (
    2**18
)  # numbers of scores and values in a record: a page of 12 × 12 heads stays below 4 MB
MOST_WEIGHTS = 2**26  # that are computed for a record
NOTHING = (
    "there is nothing to look at: this model has no Attention, no MultiHead, and does not pool by "
    "attention"
)

Attentions = Mapping[str, AttentionModule]


class NothingToSee(BadQuestion):
    """A model that attends to nothing was asked what it attends to."""

    hint = (
        "what attends shows something: rnnsearch, abcnn, reader, or a classifier or patches with "
        "model.pool=attention"
    )


class Layer(NamedTuple):
    """All calls of one attention for one input, as one."""

    weights: Tensor  # (H, Q, K)
    scores: Tensor | None  # (H, Q, K)
    allowed: Tensor  # (H, Q, K)
    factor: Tensor  # (H, Q, K)
    values: Tensor | None  # (H, K, D)
    summands: Summands | None  # (H, Q, E), (H, K, E), (H, E)


def attentions_in(model: nn.Module) -> dict[str, dict[str, AttentionModule]]:
    """The attentions of a model by kind, in the order of the layers: cross, encoder, decoder.

    In a model without a decoder, what attends to itself is what was read.
    """
    kinds: dict[str, dict[str, AttentionModule]] = {"cross": {}, "encoder": {}, "decoder": {}}
    itself = "decoder" if hasattr(model, "decoder") else "encoder"
    for name, part in model.named_modules():
        if isinstance(part, AttentionModule):
            outside = "cross" if part.key_size is not None else itself
            kinds["encoder" if name.startswith("encoder.") else outside][name] = part
    return kinds


def heads_of(attention: AttentionModule) -> int:
    return attention.heads if isinstance(attention, MultiHead) else 1


def check_attends(attentions: Mapping[str, Attentions]) -> None:
    if not any(attentions.values()):
        raise NothingToSee(NOTHING)


def check_size(attentions: Attentions, tokens: int) -> None:
    """Whether the weights of self-attention to this many tokens can be shown at all."""
    heads = sum(map(heads_of, attentions.values()))
    if heads * tokens**2 > MOST_WEIGHTS:
        raise BadQuestion(
            t(
                "the text has {tokens} tokens, and {heads} heads would attend from each to "
                "each: at most {most_weights} can be looked at",
                tokens=f"{tokens:,}",
                heads=heads,
                most_weights=f"{int((MOST_WEIGHTS / heads) ** 0.5):,}",
            )
        )


def attention_map(
    name: str,
    queries: str,
    keys: str,
    attentions: Attentions,
    recorded: Sequence[Recorded],
) -> AttentionMap:
    """The map of these attentions, a layer each; queries, keys: the names of sides."""
    layers = [_layer([each for each in recorded if each.name == one]) for one in attentions]
    allowed = torch.stack([layer.allowed for layer in layers]).cpu()
    factor = torch.stack([layer.factor for layer in layers])
    queries_of, keys_of, vectors_of = _vectors([layer.summands for layer in layers])
    return AttentionMap(
        name,
        queries,
        keys,
        _array(torch.stack([layer.weights for layer in layers])),
        mechanism=_mechanisms([f"{mechanism(a)} · kind: {a.kind}" for a in attentions.values()]),
        normalizer=written_normalizer(next(iter(attentions.values())).normalize),
        scores=_stacked([layer.scores for layer in layers]),
        allowed=None if allowed.all() else allowed.numpy(),
        factor=None if (factor == 1).all() else _array(factor),
        values=_stacked([layer.values for layer in layers]),
        query_vectors=queries_of,
        key_vectors=keys_of,
        score_vector=vectors_of,
    )


def record_of(
    question: Question,
    sides: Mapping[str, Side],
    maps: Sequence[AttentionMap],
    *,
    notes: Sequence[str] = (),
    after: Sequence[str] = (),
    **parts: Any,
) -> AttentionRecord:
    """The answer to a question: its maps, as far as they fit, with a note between `notes` and `after` if not.

    parts: other fields of the record.
    """
    if not maps:
        raise NothingToSee(NOTHING)
    kept, cut = within_budget(maps)
    changes = changes_of(question, sides)
    parts = {
        "title": question.title,
        "question": question.to_dict(),
        "changes": changes,
        **parts,
    }
    return AttentionRecord(dict(sides), kept, notes=(*notes, *cut, *after), **parts)


def used_sides(sides: Mapping[str, Side], maps: Sequence[AttentionMap]) -> dict[str, Side]:
    """Those that a map is over."""
    used = {name for each in maps for name in (each.queries, each.keys)}
    return {name: side for name, side in sides.items() if name in used}


def within_budget(
    maps: Sequence[AttentionMap], most: int = MOST_DETAILS
) -> tuple[tuple[AttentionMap, ...], tuple[str, ...]]:
    """The maps without vectors, then values, then scores, if there are too many numbers; and a note of it."""
    vectors = _count(
        x for each in maps for x in (each.query_vectors, each.key_vectors, each.score_vector)
    )
    numbers = _count(x for each in maps for x in (each.scores, each.values)) + vectors
    if numbers <= most:
        return tuple(maps), ()
    left_out = t("queries and keys")
    maps = [replace(each, query_vectors=None, key_vectors=None, score_vector=None) for each in maps]
    if numbers - vectors > most:
        left_out = t("queries, keys and values") if vectors else t("values")
        maps = [replace(each, values=None) for each in maps]
    if _count(each.scores for each in maps) > most:
        left_out = t("queries, keys, scores and values") if vectors else t("scores and values")
        maps = [replace(each, scores=None, factor=None) for each in maps]
    note = t(
        "{left_out} are left out: there are {numbers} numbers, and at most {most} are kept",
        left_out=left_out,
        numbers=f"{numbers:,}",
        most=f"{most:,}",
    )
    return tuple(maps), (note,)


def _layer(calls: Sequence[Recorded]) -> Layer:
    """Calls for one step each, or one for all: side by side along the queries."""
    scores = [_heads(call.scores) for call in calls if call.scores is not None]
    return Layer(
        torch.cat([_heads(call.weights) for call in calls], -2),
        torch.cat(scores, -2) if scores else None,
        torch.cat([_spread(call.allowed, call) for call in calls], -2).bool(),
        torch.cat([_spread(call.factor, call) for call in calls], -2).float(),
        None if calls[-1].values is None else _heads(calls[-1].values),
        _summands(calls),
    )


def _summands(calls: Sequence[Recorded]) -> Summands | None:
    """The queries of all calls, and the keys of the last, which knows all."""
    made = [call.summands for call in calls if call.summands is not None]
    if len(made) < len(calls):
        return None
    queries = torch.cat([_heads(each.query) for each in made], -2)
    vector = made[-1].vector
    return Summands(
        queries,
        _heads(made[-1].key),
        None if vector is None else vector.expand(len(queries), -1),
    )


def _vectors(layers: Sequence[Summands | None]) -> list[NDArray[np.float32] | None]:
    """Queries, keys and the vectors of additive scores, where all layers have them of one size."""
    there = [each for each in layers if each is not None]
    shapes = {(each.query.shape, each.vector is None) for each in there}
    if len(there) < len(layers) or len(shapes) != 1:
        return [None, None, None]
    return [_stacked(part) for part in zip(*there, strict=True)]


def _heads(x: Tensor) -> Tensor:
    """(1, [H,] Q, K) -> (H, Q, K)"""
    return x[0] if x.dim() == 4 else x


def _spread(part: Tensor | None, call: Recorded) -> Tensor:
    """What is broadcast to the weights (1, [H,] Q, K), as (H, Q, K); 1 where there is nothing."""
    whole = call.weights.new_ones(()) if part is None else part
    return _heads(whole.expand(call.weights.shape))


def _stacked(layers: Sequence[Tensor | None]) -> NDArray[np.float32] | None:
    there = [layer for layer in layers if layer is not None]
    return _array(torch.stack(there)) if there else None


def _array(x: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = x.float().cpu().numpy()
    return array


def _mechanisms(texts: Sequence[str]) -> str:
    """What all layers have, or each kind with the layers that have it."""
    places: dict[str, list[str]] = {}
    for number, text in enumerate(texts, 1):
        places.setdefault(text, []).append(str(number))
    if len(places) == 1:
        return texts[0]
    return "; ".join(f"layers {', '.join(numbers)}: {text}" for text, numbers in places.items())


def _count(arrays: Iterable[NDArray[np.float32] | None]) -> int:
    return sum(array.size for array in arrays if array is not None)
