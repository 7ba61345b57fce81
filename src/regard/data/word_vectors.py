"""Word vectors learnt elsewhere: text files of word2vec, which begin with `count size`, and of GloVe.

    the 0.418 0.24968 -0.41242 …

Only lines of words that are wanted are parsed, one at a time. Words with blanks in them, which some files
have, belong to no vocabulary here and are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.byte_lines import byte_lines
from regard.data.problems import CorpusError
from regard.data.tokenizer import Tokenizer
from regard.data.vocabulary import SPACE, SPECIALS


class FoundVectors(NamedTuple):
    """Tokens of a vocabulary, each once, and their vectors."""

    tokens: list[int]  # in order
    vectors: NDArray[np.float32]  # (tokens, size)


def vector_size(path: Path) -> int:
    """How many numbers a vector of the file has, by its first line."""
    first = next(byte_lines(path), None)
    if first is None:
        raise CorpusError(f"{path} is empty: it should hold a word and its vector in every line")
    head = _fields(first)
    if len(head) == 2 and head[0].isdigit() and head[1].isdigit():
        return int(head[1])
    try:
        [float(number) for number in head[1:]]
    except ValueError:
        head = []
    if len(head) < 2:
        shown = first[:40].decode("utf-8", errors="replace")
        raise CorpusError(
            f"{path} begins with {shown!r}: a line should be a word and its numbers, as word2vec and GloVe "
            "write them in text"
        )
    return len(head) - 1


def read_vectors(path: Path, tokenizer: Tokenizer) -> FoundVectors:
    """The vectors of all tokens that are words of the file, as they are spelt or else in lower case.

    Of a word that stands there twice it is the first.
    """
    size, spelt = vector_size(path), _words(tokenizer)
    lowered: dict[str, list[int]] = {}
    for word, tokens in spelt.items():
        lowered.setdefault(word.lower(), []).extend(tokens)
    exact: dict[int, NDArray[np.float32]] = {}
    nearly: dict[int, NDArray[np.float32]] = {}
    for word, vector in _lines(path, size, {**lowered, **spelt}):
        for found, known in ((exact, spelt), (nearly, lowered)):
            for token in known.get(word, ()):
                found.setdefault(token, vector)
    vectors = {**nearly, **exact}
    tokens = sorted(vectors)
    none = np.empty((0, size), np.float32)
    return FoundVectors(tokens, np.stack([vectors[i] for i in tokens]) if tokens else none)


def _lines(
    path: Path, size: int, wanted: Mapping[str, object]
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    for number, line in enumerate(byte_lines(path), 1):
        assert line is not None
        word = line.split(b" ", 1)[0].decode("utf-8", errors="replace")
        if word not in wanted:
            continue
        numbers = _fields(line)[1:]
        if len(numbers) != size:  # a word with a blank in it, or the first line of word2vec
            continue
        try:
            vector = np.array(numbers, np.float32)
        except ValueError:
            vector = np.array([np.nan], np.float32)
        if not np.isfinite(vector).all():
            raise CorpusError(f"{path}, line {number}: the vector of {word!r} is not all numbers")
        yield word, vector


def _fields(line: bytes) -> list[str]:
    return line.decode("utf-8", errors="replace").rstrip().split(" ")


def _words(tokenizer: Tokenizer) -> dict[str, list[int]]:
    """The tokens that stand for a whole word, by that word; of pieces those that begin one."""
    pieces = tokenizer.kind in ("bpe", "unigram")
    words: dict[str, list[int]] = {}
    for token, text in enumerate(tokenizer.labels, len(SPECIALS)):
        if not pieces or text.startswith(SPACE):
            words.setdefault(text.removeprefix(SPACE), []).append(token)
    words.pop("", None)
    return words
