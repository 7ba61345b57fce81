"""Compose documents of the embedded movie-review sentences (MR): for models that read sentence by sentence.

    python -m regard.data.corpora.build_mr_composed

Nobody wrote these documents. Each is drawn for one polarity: 3 to 9 sentences of one part of MR, each of
that polarity with probability 0.8. A part is gone through three times, each time in another order, so that
a sentence stands in three documents at most. A document's `label` is that of most of its sentences (their
number is odd), its `share` that of positive ones among them.
"""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterator
from pathlib import Path

from regard.data.corpora.build_mr import HELD_OUT

NAME = "mr-composed"
FOLDER = Path(__file__).parent
SIZES = (3, 5, 7, 9)
PURITY = 0.8
ROUNDS = 3
OTHER = {"positive": "negative", "negative": "positive"}


def compose(rows: list[tuple[str, str]], seed: int) -> Iterator[dict[str, object]]:
    """Documents of sentences and their labels, until one polarity does not suffice."""
    draw = random.Random(seed)
    left = {label: [text for text, each in rows if each == label] for label in sorted(OTHER)}
    for texts in left.values():
        draw.shuffle(texts)
    while True:
        main, size = draw.choice(sorted(OTHER)), draw.choice(SIZES)
        labels = [main if draw.random() < PURITY else OTHER[main] for _ in range(size)]
        if any(len(left[label]) < labels.count(label) for label in OTHER):
            return
        positive = labels.count("positive")
        yield {
            "document": [left[label].pop() for label in labels],
            "label": "positive" if 2 * positive > size else "negative",
            "share": round(positive / size, 3),
        }


def write() -> None:
    for seed, part in enumerate(("train", *HELD_OUT.values())):
        lines = lzma.decompress((FOLDER / f"mr.{part}.tsv.xz").read_bytes()).decode().splitlines()
        rows = [(text, label) for text, _, label in (line.partition("\t") for line in lines)]
        rounds = (compose(rows, ROUNDS * seed + n) for n in range(ROUNDS))
        made = [one for each in rounds for one in each]
        data = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in made).encode()
        path = FOLDER / f"{NAME}.{part}.jsonl.xz"
        path.write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))
        positive = sum(one["label"] == "positive" for one in made)
        print(
            f"{path.name}: {len(made):,} documents, {positive:,} positive, {path.stat().st_size:,}"
        )


if __name__ == "__main__":
    write()
