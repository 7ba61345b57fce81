"""A text whose tokens are counted: how often each is met in what was learnt from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.fields.text import Text
from regard.words import t

CHUNK = 10_000  # texts


class CountedText(Text):
    """A `Text` without EOS that also knows `counts` (V,), of every token."""

    def __init__(self, name: str, **settings: Any) -> None:
        super().__init__(name, **{"eos": False, "file": f"words.{name}.json", **settings})
        self.counts: NDArray[np.int64] = np.zeros(0, np.int64)

    def learn(self, values: Iterable[str | list[str]]) -> None:
        every = list(values)
        super().learn(every)
        self.counts = np.zeros(self.size, np.int64)
        for start in range(0, len(every), CHUNK):
            some = [{self.name: value} for value in every[start : start + CHUNK]]
            for (ids,) in self.encode(some):
                self.counts += np.bincount(np.asarray(ids, np.int64), minlength=self.size)

    def to_json(self) -> str:
        kept = {"tokenizer": json.loads(super().to_json()), "counts": self.counts.tolist()}
        return json.dumps(kept, ensure_ascii=False) + "\n"

    def load(self, text: str) -> None:
        match json.loads(text):
            case {"tokenizer": dict(tokenizer), "counts": list(counts)}:
                super().load(json.dumps(tokenizer))
                self.counts = np.array(counts, np.int64)
            case _:
                raise ValueError(t("it holds no words with their counts"))
