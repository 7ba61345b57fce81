"""What the empty page says of a model of somebody else."""

from __future__ import annotations

from typing import Any

from regard.looking.guests.guest_processors import GuestProcessors, nouns
from regard.looking.run_description import SENTENCES
from regard.words import t

PAIR = '{"first": "The cat sat", "second": "it was tired"}'
BOTH = '{"text": "…", "image": "data:image/png;base64,…"}'
HEARD = 'regard.look(model, processor, "said.wav")'
NAMED = 4  # labels that are written out


def guest_description(model: Any, processors: GuestProcessors) -> dict[str, Any]:
    reads = processors.reads
    texts = reads == ("text",)
    encodes = texts and not model.config.is_encoder_decoder and not model.can_generate()
    return {
        "task": "look",
        "kind": str(model.config.model_type),
        "source": "",
        "target": "",
        "verb": _verb(model),
        "reads": t(" and ").join(nouns()[each] for each in reads),
        "writes": _writes(model),
        "hint": _hint(reads, encodes),
        "examples": [*SENTENCES["en"], *([PAIR] if encodes else [])] if texts else [],
        "story": None,
    }


def _hint(reads: tuple[str, ...], encodes: bool) -> str:
    """How several inputs are typed; of sounds, which no page can send, how Python asks about one."""
    if reads == ("sound",):
        return HEARD
    if encodes:
        return PAIR
    return BOTH if {"text", "picture"} <= {*reads} else ""


def _verb(model: Any) -> str:
    if model.config.is_encoder_decoder:
        return t("write")
    if model.can_generate():
        return t("continue texts")
    name = type(model).__name__
    if "MaskedLM" in name:
        return t("fill in masks")
    return t("classify") if "Classification" in name else t("read")


def _writes(model: Any) -> str:
    if model.config.is_encoder_decoder or model.can_generate():
        return t("a text")
    if "Classification" not in type(model).__name__:
        return ""
    names = [str(each) for each in model.config.id2label.values()]
    listed = ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
    return t("a label ({labels})", labels=listed)
