"""A mechanism as one writes it: the words that `as_score`, `as_region` and `as_normalizer` read."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from regard.attention.language import spelling
from regard.attention.module import AttentionModule
from regard.attention.normalizers import NORMALIZERS, Normalizer
from regard.attention.region import Region
from regard.attention.regions import REGIONS
from regard.attention.scores import SCORES, Score

SIZES = ("query_size", "key_size", "heads")  # known to the attention, so nobody writes them
STORED_AS = {"max_length": "max_keys"}  # arguments that are kept under another name


def mechanism(attention: AttentionModule) -> str:
    """score: additive · region: window(before=2, after=2) · normalize: softmax, and cap and sinks if any"""
    parts = {
        "score": written_score(attention.score),
        "region": written_region(attention.region),
        "normalize": written_normalizer(attention.normalize),
    }
    if attention.cap is not None:
        parts["cap"] = _text(attention.cap)
    if attention.sinks is not None:
        parts["sinks"] = "learned"
    return " · ".join(f"{name}: {text}" for name, text in parts.items())


def written_score(score: Score) -> str:
    usual = {"size": score.key_size}  # of additive ones
    return _written(score, "score", SCORES, usual)


def written_normalizer(normalizer: Normalizer) -> str:
    return _written(normalizer, "normalizer", NORMALIZERS, {})


def written_region(region: Region) -> str:
    """Its repr in the names of the language: Window(before=2, after=0) & Causal()."""
    if not region.composes:
        return _written(region, "region", REGIONS, {})
    named = re.sub(r"\b([A-Z]\w*)\(", lambda m: f"{_plain(m[1])}(", repr(region))
    return named.replace("()", "")


def _written(made: object, kind: str, table: Mapping[str, type], usual: Mapping[str, Any]) -> str:
    """The name, and the arguments that are not as usual."""
    cls = type(made)
    name = spelling(cls, kind, table) or _plain(cls.__name__)
    given = []
    for parameter in inspect.signature(cls).parameters.values():
        default = parameter.default
        value = getattr(made, STORED_AS.get(parameter.name, parameter.name), default)
        value = _value(value, default)
        if parameter.name not in SIZES and value not in (default, usual.get(parameter.name)):
            given.append(f"{parameter.name}={_text(value)}")
    return f"{name}({', '.join(given)})" if given else name


def _value(kept: Any, default: Any) -> Any:
    """What was given for an argument: a bias that is there was `bias=True`."""
    if isinstance(default, bool):
        return kept is not None and kept is not False
    return kept.item() if isinstance(kept, Tensor) else kept


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).lower()


def _plain(name: str) -> str:
    """ScaledDot -> scaled-dot"""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
