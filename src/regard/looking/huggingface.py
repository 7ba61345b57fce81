"""Records of what was captured of a Hugging Face model, or of what it returned.

    regard.look(captured, tokenizer=tokenizer, inputs=inputs)

Legend: L layers, B rows of a batch, H heads, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.hf.attention_capture import Captured, CapturedLayer
from regard.hf.modules import Kind
from regard.looking.captured_maps import captured_maps
from regard.looking.token_text import side_of_ids
from regard.records.attention_map import AttentionMap
from regard.records.maps import within_budget
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord, Side
from regard.words import t

FIELDS = ("attentions", "encoder_attentions", "decoder_attentions", "cross_attentions")
FIX = (
    "with regard.hf.capture(model) as captured: model(**inputs)   # whatever it attends with\n"
    "regard.look(captured, tokenizer=tokenizer, inputs=inputs)"
)


def numbered_record(
    captured: Captured, *, row: int = 0, title: str = "", model: str = ""
) -> AttentionRecord:
    """Of weights alone: nobody said which tokens they belong to, so that these are counted."""
    if not captured.layers:
        raise NotARecord(t("nothing was captured: call the model inside the with block"))
    if captured.steps > 1:
        raise NotARecord(
            t(
                "the model was called {count} times, as generate does: give tokenizer= and "
                "inputs=, so that the steps can be put together",
                count=captured.steps,
            )
        )
    found, notes = captured_maps(captured, [row], row, None)
    lengths = {each.name: each.weights.shape[2:] for each in found}
    if "cross" in lengths:
        counts = dict(zip(("prefix", "source"), lengths["cross"], strict=True))
    else:
        counts = {"text": found[0].weights.shape[3]}
    sides = {
        name: Side.of_labels(range(1, count + 1), title=name) for name, count in counts.items()
    }
    maps = [_named(each, sides) for each in found]
    kept, more = within_budget(maps)
    return AttentionRecord(sides, kept, title=title, model=model, notes=(*notes, *more))


def captured_record(
    captured: Captured,
    tokenizer: Any,
    inputs: Any,
    *,
    outputs: Any = None,
    text: str | None = None,
    target: str | None = None,
    written: Sequence[int] | None = None,
    row: int = 0,
    title: str = "",
    model: str = "",
) -> AttentionRecord:
    """inputs: what the model was given. outputs: what `generate` returned, if it was generate.

    text, target: what was tokenised, so that labels are slices of it. written: the ids that the
    decoder wrote, its start first. row: of the batch.
    """
    if not captured.layers:
        raise NotARecord(t("nothing was captured: call the model inside the with block"))
    given = _of_row(inputs, row)
    if captured.steps > 1:
        written, rows = _generated(captured, outputs, row)
    else:
        rows = [row]
    kinds = {layer.kind for layer in captured.layers}
    kept = given.get("attention_mask")
    found, notes = captured_maps(captured, rows, row, kept)
    sides = _sides(tokenizer, given, kinds, written, text, target)
    maps, more = within_budget([_named(each, sides) for each in found])
    _check_lengths(maps, sides)
    output = sides["target"].text if "target" in sides else ""
    return AttentionRecord(
        sides,
        maps,
        title=title or _first(sides).text,
        model=model,
        output=output,
        notes=(*notes, *more),
    )


def outputs_as_captured(outputs: Any) -> Captured:
    """The attentions that a model or `generate` returned, as if they had been captured."""
    given = {name: getattr(outputs, name, None) for name in FIELDS}
    named = [name for name, attentions in given.items() if attentions is not None]
    if not named:
        raise NotARecord(
            t(
                "{name} holds no attentions. Ask for them, or let regard keep them:\n{fix}",
                name=type(outputs).__name__,
                fix=FIX,
            )
        )
    # a model without cross-attention gives an empty tuple for it, and is not to blame
    found = [name for name in named if any(map(len, _steps(given[name])))]
    if not found:
        raise NotARecord(
            t(
                "the {field} of this {name} are empty: its attention (sdpa, by "
                "default) keeps no weights, and transformers says nothing about it. "
                "model.set_attn_implementation('eager') before the call helps, or:\n{fix}",
                field=named[0],
                name=type(outputs).__name__,
                fix=FIX,
            )
        )
    captured = Captured()
    for name in found:
        for step, layers in enumerate(_steps(given[name])):
            for layer, weights in enumerate(layers):
                kind = _kind(name, weights, step)
                captured.layers.append(CapturedLayer(f"{name}.{layer}", kind, layer, step, weights))
                captured._calls[f"{name}.{layer}"] += 1
    return captured


def _steps(given: Any) -> Iterator[Sequence[Tensor]]:
    """The layers of each step: a model returns layers, `generate` a tuple of them for each step."""
    if len(given) and isinstance(given[0], (tuple, list)):
        yield from given
    else:
        yield given


def _kind(field: str, weights: Tensor, step: int) -> Kind:
    if field != "attentions":
        return field.removesuffix("_attentions")  # type: ignore[return-value]
    square = weights.shape[-1] == weights.shape[-2]
    causal = step > 0 or (square and not weights.triu(1).any())
    return "decoder" if causal else "encoder"


def _of_row(inputs: Any, row: int) -> dict[str, list[int]]:
    """The ids and the mask of one row, as numbers."""
    if isinstance(inputs, (Tensor, np.ndarray, list)):
        inputs = {"input_ids": inputs}
    found: dict[str, list[int]] = {}
    for name in ("input_ids", "attention_mask", "decoder_input_ids"):
        if (ids := inputs.get(name) if hasattr(inputs, "get") else None) is not None:
            table = torch.as_tensor(ids)
            table = table[None] if table.dim() == 1 else table
            if not -len(table) <= row < len(table):
                raise NotARecord(
                    t("no row {row}: the batch has {count}", row=row, count=len(table))
                )
            found[name] = table[row].tolist()
    if "input_ids" not in found:
        raise NotARecord(t("inputs need input_ids: give what the tokenizer gave, inputs=inputs"))
    return found


def _generated(captured: Captured, outputs: Any, row: int) -> tuple[list[int], list[int]]:
    """The ids that were written, and the row of the batch that they went through at each step."""
    sequences = getattr(outputs, "sequences", None)
    if sequences is None:
        raise NotARecord(
            t(
                "the model was called {count} times, as generate does: give what it returned, "
                "outputs=model.generate(**inputs, return_dict_in_generate=True)",
                count=captured.steps,
            )
        )
    beams = getattr(outputs, "beam_indices", None)
    if beams is None:
        return sequences[row].tolist(), [row] * captured.steps
    rows = [place for place in beams[row].tolist() if place >= 0][: captured.steps]
    return sequences[row].tolist(), rows


def _sides(
    tokenizer: Any,
    given: Mapping[str, list[int]],
    kinds: set[Kind],
    written: Sequence[int] | None,
    text: str | None,
    target: str | None,
) -> dict[str, Side]:
    ids = given["input_ids"]
    if (mask := given.get("attention_mask")) is not None:
        ids = [i for i, real in zip(ids, mask, strict=True) if real]
    if "cross" not in kinds:
        if written is not None:  # of a decoder that wrote on: the last was predicted, never read
            padding = len(given["input_ids"]) - len(ids)
            ids, text = list(written[padding:-1]), None
        return {"text": side_of_ids(tokenizer, ids, text=text, title="text")}
    sides = {"source": side_of_ids(tokenizer, ids, text=text, title="source")}
    if written is not None:
        after = list(written[1:])
        sides["target"] = side_of_ids(tokenizer, after, text=target, target=True, title="target")
        title = "what was written before"
        sides["prefix"] = side_of_ids(tokenizer, list(written[:-1]), title=title)
    else:
        before = given.get("decoder_input_ids")
        if before is None:
            raise NotARecord(t("inputs need decoder_input_ids: what the decoder was given"))
        sides["prefix"] = side_of_ids(tokenizer, before, title="what the decoder was given")
    return sides


def _named(each: AttentionMap, sides: Mapping[str, Side]) -> AttentionMap:
    """A map with the names of its sides: queries of the decoder are what they predict, if known."""
    if "text" in sides:
        return replace(each, queries="text", keys="text")
    asking = "target" if "target" in sides else "prefix"
    pair = {
        "encoder": ("source", "source"),
        "decoder": (asking, "prefix"),
        "cross": (asking, "source"),
    }[each.name]
    return replace(each, queries=pair[0], keys=pair[1])


def _check_lengths(maps: Sequence[AttentionMap], sides: Mapping[str, Side]) -> None:
    for each in maps:
        seen = each.weights.shape[2:]
        wanted = (len(sides[each.queries]), len(sides[each.keys]))
        if seen != wanted:
            raise NotARecord(
                t(
                    "the {kind} attention is over {seen} tokens, the inputs have {wanted}: "
                    "give the inputs that the model was called with",
                    kind=each.name,
                    seen=f"{seen[0]} × {seen[1]}",
                    wanted=f"{wanted[0]} × {wanted[1]}",
                )
            )


def _first(sides: Mapping[str, Side]) -> Side:
    return next(iter(sides.values()))
