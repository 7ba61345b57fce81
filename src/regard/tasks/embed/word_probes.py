"""What word vectors know, without training them further: likeness, analogies, parts of speech.

Words that have no vector are left out, and how many were judged is told with every number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.examples import read_examples
from regard.data.fields import Labels
from regard.data.fields.words import Words
from regard.data.problems import CorpusError
from regard.data.spec import locate
from regard.data.text_lines import read_lines
from regard.measures.correlation import Spearman
from regard.words import t

Vectors = NDArray[np.float64]
RIDGE = 1.0  # keeps the linear tagger's weights small
CHUNK = 1024  # analogies at a time


class Probed(NamedTuple):
    """A number, of so many items; the others have words without a vector."""

    value: float
    judged: int
    items: int


class UnitVectors:
    """Words and their vectors, which are made of length 1."""

    def __init__(self, words: Sequence[str], vectors: Vectors) -> None:
        self.rows = {word: row for row, word in enumerate(words)}
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        self.unit: Vectors = vectors / np.maximum(lengths, 1e-12)

    def row(self, word: str) -> int | None:
        """As it is spelt, or else in lower case."""
        return self.rows.get(word, self.rows.get(word.lower()))


def probe_likeness(found: UnitVectors, path: str) -> Probed:
    """Spearman's correlation of cosines with how alike people find two words."""
    items = [line.split("\t") for line in _lines(path)]
    wanted, answers = [], []
    for number, cells in enumerate(items, 1):
        if len(cells) < 3 or not _is_number(cells[2]):
            raise CorpusError(
                t(
                    "{path}, pair {number}: write word TAB word TAB how alike they are",
                    path=path,
                    number=number,
                )
            )
        left, right = found.row(cells[0]), found.row(cells[1])
        if left is not None and right is not None:
            wanted.append(float(cells[2]))
            answers.append(float(found.unit[left] @ found.unit[right]))
    value = Spearman().of(wanted, answers) if wanted else 0.0
    return Probed(value, len(wanted), len(items))


def probe_analogies(found: UnitVectors, path: str) -> Probed:
    """How often the nearest word to b - a + c, none of the three, is d."""
    items = [line.split() for line in _lines(path, ":")]
    rows = [[found.row(word) for word in words] for words in items if len(words) == 4]
    known = np.array([row for row in rows if None not in row], np.int64).reshape(-1, 4)
    right = 0
    for start in range(0, len(known), CHUNK):
        a, b, c, d = known[start : start + CHUNK].T
        asked = found.unit[b] - found.unit[a] + found.unit[c]
        near = asked @ found.unit.T  # (items, words)
        for given in (a, b, c):
            near[np.arange(len(near)), given] = -np.inf
        right += int((near.argmax(1) == d).sum())
    return Probed(right / max(len(known), 1), len(known), len(items))


def probe_tags(found: UnitVectors, train: str, test: str) -> Probed:
    """Accuracy of a linear tagger that sees the vector of a word alone, by least squares.

    A word without a vector is the vector 0: it counts, and gets the likeliest tag of all.
    """
    words, tags = _tagged(train)
    known = {tag: number for number, tag in enumerate(sorted(set(tags)))}
    features = _features(found, words)
    wanted = np.zeros((len(tags), len(known)))
    wanted[np.arange(len(tags)), [known[tag] for tag in tags]] = 1.0
    gram = features.T @ features + RIDGE * np.eye(features.shape[1])
    weights = np.linalg.solve(gram, features.T @ wanted)
    words, tags = _tagged(test)
    answers = (_features(found, words) @ weights).argmax(1)
    right = answers == np.array([known.get(tag, -1) for tag in tags])
    judged = sum(found.row(word) is not None for word in words)
    return Probed(float(right.mean()), judged, len(words))


def probed(
    found: UnitVectors,
    similarity: Iterable[str] = (),
    analogies: Iterable[str] = (),
    tags: Sequence[str] = (),
) -> Mapping[str, Probed]:
    """All probes by name: that of the file for likeness and analogies."""
    every = {probe_name(path): probe_likeness(found, path) for path in similarity}
    every |= {probe_name(path): probe_analogies(found, path) for path in analogies}
    if len(tags) == 2:
        every["tag_accuracy"] = probe_tags(found, *tags)
    return every


def _features(found: UnitVectors, words: Sequence[str]) -> Vectors:
    """(words, D + 1): the last is 1"""
    rows = np.array([-1 if (row := found.row(word)) is None else row for word in words], np.int64)
    padded = np.concatenate([found.unit, np.zeros((1, found.unit.shape[1]))])
    return np.concatenate([padded[rows], np.ones((len(words), 1))], 1)


def _tagged(spec: str) -> tuple[list[str], list[str]]:
    words = Words("words")
    examples = list(read_examples(spec, [words, Labels("tags", of=words)]))
    if not examples:
        raise CorpusError(t("{spec} holds no words and tags", spec=spec))
    every = [word for example in examples for word in example["words"]]
    return every, [tag for example in examples for tag in example["tags"]]


def _lines(path: str, *comments: str) -> list[str]:
    lines = (line.rstrip() for line in read_lines(locate(path)))
    return [line for line in lines if line and not line.startswith(("#", *comments))]


def probe_name(path: str) -> str:
    return Path(path).name.split(".")[0].replace("-", "_")


def _is_number(text: str) -> bool:
    try:
        return np.isfinite(float(text))
    except ValueError:
        return False
