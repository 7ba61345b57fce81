"""Records of what is there already: answers, weights, files, what a model returned."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from regard.hf.attention_capture import Captured
from regard.looking.huggingface import (
    captured_record,
    numbered_record,
    outputs_as_captured,
)
from regard.looking.pictures import picture_record
from regard.looking.predictions import classification_record, prediction_record
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord, Side
from regard.tasks.classify.classify_module import Classification
from regard.tasks.prediction import Prediction
from regard.view.attention_view import View
from regard.view.saved_records import Saved, read_saved
from regard.words import t

Given = tuple[tuple[AttentionRecord, ...], None]


class Kept(NamedTuple):
    """Records that were made before, without a model, and the readings beside them, as a View has them."""

    records: tuple[AttentionRecord, ...]
    live: None = None
    scored: tuple[AttentionRecord, ...] = ()


def of_answers(*what: Any, title: str = "", model: str = "") -> Kept:
    records: list[AttentionRecord] = []
    scored: list[AttentionRecord] = []
    for each in what:
        if isinstance(each, AttentionRecord):
            records.append(each)
        elif isinstance(each, View):
            records += each.records
            scored += each.scored
        elif isinstance(each, Prediction):
            records.append(prediction_record(each, title=title, model=model))
        elif isinstance(each, Classification):
            records.append(classification_record(each, title=title, model=model))
        elif isinstance(each, (str, Path)):
            saved = _saved(each)
            records += saved.records
            scored += saved.scored
        else:
            raise NotARecord(
                t("a {type} cannot be compared with a record", type=type(each).__name__)
            )
    return Kept(tuple(records), scored=tuple(scored))


def _saved(path: str | Path) -> Saved:
    if isinstance(path, str) and not path.endswith(".json"):
        raise NotARecord(
            t(
                "a text alone shows nothing: say who reads it, regard.look(regard.load(), {text})",
                text=repr(path),
            )
        )
    try:
        return read_saved(Path(path).read_text("utf-8"))
    except UnicodeDecodeError:
        raise NotARecord(t("{path} is no record: it is not UTF-8", path=path)) from None


def of_weights(
    weights: Any,
    queries: Sequence[object] | Side | None = None,
    keys: Sequence[object] | Side | None = None,
    *,
    title: str = "",
    model: str = "",
    mechanism: str = "",
) -> Given:
    numbers = _numbers(weights)
    if queries is None:
        queries = [str(n + 1) for n in range(numbers.shape[-2] if numbers.ndim > 1 else 0)]
        keys = [str(n + 1) for n in range(numbers.shape[-1])]
    record = AttentionRecord.of(
        numbers, queries, keys, title=title, model=model, mechanism=mechanism
    )
    return (record,), None


def of_picture(
    weights: Any,
    words: Sequence[object] | Side,
    *,
    image: Any,
    grid: tuple[int, int] | None = None,
    glimpses: Sequence[Any] = (),
    title: str = "",
    model: str = "",
    mechanism: str = "",
) -> Given:
    record = picture_record(
        _numbers(weights),
        words,
        image,
        grid=grid,
        glimpses=glimpses,
        title=title,
        model=model,
        mechanism=mechanism,
    )
    return (record,), None


def of_outputs(
    given: Any,
    *,
    tokenizer: Any = None,
    inputs: Any = None,
    outputs: Any = None,
    text: str | None = None,
    target: str | None = None,
    row: int = 0,
    title: str = "",
    model: str = "",
) -> Given:
    """What was captured, or what a model or `generate` returned."""
    captured = given if isinstance(given, Captured) else outputs_as_captured(given)
    if tokenizer is None and inputs is None:
        return (numbered_record(captured, row=row, title=title, model=model),), None
    if tokenizer is None or inputs is None:
        missing = "tokenizer" if tokenizer is None else "inputs"
        raise NotARecord(
            t("{missing} is missing: regard.look(…, tokenizer=…, inputs=…)", missing=missing)
        )
    record = captured_record(
        captured,
        tokenizer,
        inputs,
        outputs=given if outputs is None else outputs,
        text=text,
        target=target,
        row=row,
        title=title,
        model=model,
    )
    return (record,), None


def _numbers(weights: Any) -> Any:
    """An array of what torch, numpy or lists hold."""
    try:
        if hasattr(weights, "detach"):
            weights = weights.detach().to_dense().float().cpu().numpy()
        return np.asarray(weights, np.float32)
    except NotImplementedError:
        raise NotARecord(t("these weights are of the device meta, which has no numbers")) from None
    except (ValueError, TypeError, OverflowError) as error:
        raise NotARecord(t("weights are rows of equally many numbers; these are not")) from error
