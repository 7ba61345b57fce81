"""Run folders of format 1, where every task had a source and a target: read as they are, never written.

A label was a token of the target's vocabulary, number 4 + k: the first four outputs of a classifier were
never used, and are left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from regard.data.fields import Label
from regard.tasks.task import Task
from regard.words import t

FORMAT = 1
SPECIALS = 4  # tokens that were no labels
FILES = {
    "tokenizer.text.json": "tokenizer.source.json",
    "labels.label.json": "tokenizer.target.json",
}
UNUSED = ("decoder.output.weight", "decoder.output.bias")


def sizes_in(config: Mapping[str, Any], task: Task) -> dict[str, int]:
    """What a model must know of each field, from the sizes of the two vocabularies."""
    two = dict(zip(task.fields, config["vocabularies"], strict=False))
    return {
        name: size - SPECIALS if isinstance(task.fields[name], Label) else size
        for name, size in two.items()
    }


def weights_in(weights: dict[str, Tensor], task: Task) -> dict[str, Tensor]:
    """The weights of a model as it is now."""
    if not any(isinstance(field, Label) for field in task.fields.values()):
        return weights
    return {n: value[SPECIALS:] if n in UNUSED else value for n, value in weights.items()}


def labels_in(path: Path) -> str:
    """The labels of a vocabulary, as the asset of a `Label` has them."""
    match json.loads(path.read_text(encoding="utf-8")):
        case {"model": {"vocab": dict(vocabulary)}}:
            labels = sorted(vocabulary, key=lambda label: int(vocabulary[label]))[SPECIALS:]
            return json.dumps({"labels": labels})
    raise ValueError(t("it holds no vocabulary of labels"))
