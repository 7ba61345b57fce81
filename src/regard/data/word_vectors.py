"""Word vectors learnt elsewhere: text files of word2vec, which begin with `count size`, and of GloVe.

    the 0.418 0.24968 -0.41242 …

Only lines of words that are wanted are parsed, one at a time. Words with blanks in them, which some files
have, belong to no vocabulary here and are passed over. What is no word and its numbers is passed over too,
but counted; a file with more of it than one line in a hundred is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.byte_lines import byte_lines
from regard.data.problems import CorpusError
from regard.data.tokenizer import Tokenizer
from regard.data.vocabulary import SPACE, SPECIALS
from regard.words import t

MOST_MALFORMED = 100  # one line in so many, and one in any file: a download may be cut off


class FoundVectors(NamedTuple):
    """Tokens of a vocabulary, each once, and their vectors."""

    tokens: list[int]  # in order
    vectors: NDArray[np.float32]  # (tokens, size)
    malformed: Sequence[int] = ()  # the numbers of lines that are no word and its numbers


def vector_size(path: Path) -> int:
    """How many numbers a vector of the file has, by its first line."""
    first = next(byte_lines(path), None)
    if first is None:
        raise CorpusError(
            t("{path} is empty: it should hold a word and its vector in every line", path=path)
        )
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
            t(
                "{path} begins with {shown}: a line should be a word and its numbers, as "
                "word2vec and GloVe write them in text",
                path=path,
                shown=repr(shown),
            )
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
    malformed: list[int] = []
    for word, vector in _lines(path, size, {**lowered, **spelt}, malformed):
        for found, known in ((exact, spelt), (nearly, lowered)):
            for token in known.get(word, ()):
                found.setdefault(token, vector)
    vectors = {**nearly, **exact}
    tokens = sorted(vectors)
    none = np.empty((0, size), np.float32)
    rows = np.stack([vectors[i] for i in tokens]) if tokens else none
    return FoundVectors(tokens, rows, malformed)


def _lines(
    path: Path, size: int, wanted: Mapping[str, object], malformed: list[int]
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """malformed: the numbers of lines that cannot be used are added to it."""
    number = 0
    for number, line in enumerate(byte_lines(path), 1):
        assert line is not None
        line = line.rstrip()
        if line.count(b" ") != size:
            if line and not _is_head(number, line) and not _has_blanks(line, size):
                malformed.append(number)
            continue
        word = line.split(b" ", 1)[0].decode("utf-8", errors="replace")
        if word not in wanted:
            continue
        vector = _vector(_fields(line)[1:])
        if vector is None:
            raise CorpusError(
                t(
                    "{path}, line {number}: the vector of {word} is not all numbers",
                    path=path,
                    number=number,
                    word=repr(word),
                )
            )
        yield word, vector
    if len(malformed) > max(1, number // MOST_MALFORMED):
        raise CorpusError(
            t(
                "{path}, line {malformed}: it is not a word and {size} numbers, as the file "
                "begins; nor are {count} of the other {number} lines",
                path=path,
                malformed=malformed[0],
                size=size,
                count=f"{len(malformed) - 1:,}",
                number=f"{number - 1:,}",
            )
        )


def _is_head(number: int, line: bytes) -> bool:
    """`count size`, how word2vec begins"""
    return number == 1 and line.count(b" ") == 1 and line.replace(b" ", b"").isdigit()


def _has_blanks(line: bytes, size: int) -> bool:
    """Whether it is a word with blanks in it, and its numbers."""
    return line.count(b" ") > size and _vector(_fields(line)[-size:]) is not None


def _vector(numbers: Sequence[str]) -> NDArray[np.float32] | None:
    """None: they are not all numbers."""
    try:
        vector = np.array(numbers, np.float32)
    except ValueError:
        return None
    return vector if np.isfinite(vector).all() else None


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


def write_vectors(path: Path, words: Sequence[str], vectors: NDArray[np.float32]) -> None:
    """A text file as word2vec writes it, the words in their order; whole or not at all."""
    partial = path.with_name(f"{path.name}.partial")
    with partial.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{len(words)} {vectors.shape[1]}\n")
        for word, vector in zip(words, vectors, strict=True):
            file.write(f"{word} {' '.join(f'{number:.6g}' for number in vector.tolist())}\n")
    partial.replace(path)
