"""The door to Hugging Face: their models on regard's attention, and the weights of any of them.

    regard.hf.register()                                # every score × region, by name
    model.set_attn_implementation("regard:cosine@window(64)")

    with regard.hf.capture(model) as captured:          # whatever the model attends with
        model(**inputs)
    captured.weights("decoder")                         # (layers, B, heads, Lq, Lk)

    regard.hf.load_marian("opus-mt-en-de", save="runs/opus-en-de")      # a checkpoint as a run

Needs transformers (not load_marian): pip install "regard[hf]". It is imported when a function is
called, not before.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from regard.words import t

if TYPE_CHECKING:
    from regard.hf.attention_capture import Captured, CapturedLayer, capture
    from regard.hf.hf_equipment import equip
    from regard.hf.hf_mechanisms import register
    from regard.hf.marian import load_marian

__all__ = ["Captured", "CapturedLayer", "capture", "equip", "load_marian", "register"]

_HOMES = {
    "Captured": "regard.hf.attention_capture",
    "CapturedLayer": "regard.hf.attention_capture",
    "capture": "regard.hf.attention_capture",
    "equip": "regard.hf.hf_equipment",
    "load_marian": "regard.hf.marian",
    "register": "regard.hf.hf_mechanisms",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(t("module 'regard.hf' has no attribute {name}", name=repr(name)))


def __dir__() -> list[str]:
    return sorted(__all__)
