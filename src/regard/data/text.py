"""Parallel text as a stream of pairs, and the lines of a text to translate.

`read_pairs` and `read_labelled` are for training: what cannot be used is counted in `Problems` and
left out.
`read_lines` is for translation: every line comes out, so the output has as many.
Neither holds more than a line of each file in memory. spec.py says how a corpus is named.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from regard.data.lines import byte_lines
from regard.data.problems import Problems
from regard.data.spec import Corpus, Spec, parse
from regard.scripts import stands_close

LONGEST = 100_000  # bytes of a line
ONE_IN = 50  # pairs is held out for @dev, and one for @test
HELD_OUT = 1_000  # such pairs are used, at most
SIDES = ("source", "target")
ENDED = b"\n"  # after the last line of the shorter file: no line has a \n


class Pair(NamedTuple):
    """A sentence and its translation, with the number (from 1) of the line they stand on."""

    line: int
    source: str
    target: str
    corpus: str = ""  # its name in the spec


class UnusableError(ValueError):
    """A line cannot be used: the kind of problem it is."""


def read_pairs(spec: Spec, problems: Problems | None = None, *, join: int = 1) -> Iterator[Pair]:
    """The pairs of a corpus, in order. join=n makes longer ones of 1 to n consecutive pairs.

    Empty, over-long and malformed lines are left out and counted in `problems`.
    """
    problems = Problems() if problems is None else problems
    for number, corpus in enumerate(parse(spec)):
        pairs = _part(corpus, problems)
        yield from pairs if join == 1 else join_pairs(pairs, join, seed=number)


def read_labelled(spec: Spec, problems: Problems | None = None) -> Iterator[Pair]:
    """The same for texts and their labels: a label is on both sides of a split, a text is not."""
    problems = Problems() if problems is None else problems
    for corpus in parse(spec):
        yield from _own(corpus, problems)


def read_lines(path: Path | str, problems: Problems | None = None) -> Iterator[str]:
    """Every line of a text, also empty and over-long ones; `-` is standard input.

    Bytes that are not UTF-8 become U+FFFD, and are counted.
    """
    for number, raw in enumerate(byte_lines(path), start=1):
        assert raw is not None
        text = raw.decode("utf-8", errors="replace")
        if problems is not None and "\ufffd" in text and not _is_utf8(raw):
            problems.add(str(path), "lines not in UTF-8", number)
        yield text


def join_pairs(pairs: Iterator[Pair], most: int, *, seed: int = 0) -> Iterator[Pair]:
    """Longer pairs, each of 1 to `most` consecutive ones; every pair is used once.

    How many are joined is drawn evenly from a generator of this seed: the same for the same corpus.
    """
    if most < 1:
        raise ValueError(f"join must be 1 or more, given {most}")
    draw = np.random.default_rng(seed)
    while (joined := next(pairs, None)) is not None:
        for _ in range(int(draw.integers(most))):
            if (more := next(pairs, None)) is None:
                break
            source, target = _glue(joined.source, more.source), _glue(joined.target, more.target)
            joined = joined._replace(source=source, target=target)
        yield joined


def _part(corpus: Corpus, problems: Problems) -> Iterator[Pair]:
    """What belongs to this part of a split corpus, so that nothing in @dev or @test is seen in @train.

    Equal sources (but for case and signs) stay together, and a target that is held out is not in @train.
    """
    mine = _own(corpus, problems)
    if corpus.part != "train":
        return mine
    held = {
        _letters(pair.target)
        for part in ("dev", "test")
        for pair in _own(replace(corpus, part=part), Problems())
    }
    return (pair for pair in mine if _letters(pair.target) not in held)


def _own(corpus: Corpus, problems: Problems) -> Iterator[Pair]:
    """The pairs whose sources belong to this part; of what is held out, not too many."""
    pairs = _usable(corpus, problems)
    if corpus.part is None:
        return pairs
    mine = (pair for pair in pairs if home(pair.source) == corpus.part)
    return mine if corpus.part == "train" else islice(mine, HELD_OUT)


def home(source: str) -> str:
    """The part of a split corpus that a text belongs to, wherever it stands."""
    digest = hashlib.blake2b(_letters(source).encode(), digest_size=8).digest()
    return {0: "dev", 1: "test"}.get(int.from_bytes(digest, "big") % ONE_IN, "train")


def _letters(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())


def _glue(left: str, right: str) -> str:
    left, right = left.rstrip(), right.lstrip()
    return left + ("" if stands_close(left[-1]) else " ") + right


def _usable(corpus: Corpus, problems: Problems) -> Iterator[Pair]:
    files = (byte_lines(file, longest=LONGEST) for file in corpus.files)
    for number, lines in enumerate(zip_longest(*files, fillvalue=ENDED), start=1):
        try:
            source, target = _sides(corpus, lines)
            for side, text in zip(SIDES, (source, target), strict=True):
                if not text.strip():
                    raise UnusableError(f"empty {side} lines")
        except UnusableError as trouble:
            problems.add(corpus.name, str(trouble), number)
        else:
            yield Pair(number, source, target, corpus.name)


def _sides(corpus: Corpus, lines: tuple[bytes | None, ...]) -> tuple[str, str]:
    if len(lines) == 1:
        source, target = cells(corpus, decoded(lines[0], ""))
        return source, target
    for side, other, line in zip(SIDES, reversed(SIDES), lines, strict=True):
        if line is ENDED:
            raise UnusableError(f"{other} lines without a {side}")
    return decoded(lines[0], "source "), decoded(lines[1], "target ")


def cells(corpus: Corpus, line: str) -> list[str]:
    """What stands in the columns of a corpus, in a line of it."""
    if not line.strip():
        raise UnusableError("empty lines")
    return (_fields if corpus.jsonl else _cells)(line, corpus.columns)


def decoded(line: bytes | None, side: str) -> str:
    if line is None:
        raise UnusableError(f"{side}lines over {LONGEST:,} bytes")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        raise UnusableError(f"{side}lines not in UTF-8") from None


def _cells(line: str, columns: tuple[str, ...]) -> list[str]:
    found, wanted = line.split("\t"), [int(column) for column in columns]
    if max(wanted) >= len(found):
        raise UnusableError(f"lines without a column {max(wanted)}")
    return [found[column] for column in wanted]


def _fields(line: str, fields: tuple[str, ...]) -> list[str]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise UnusableError("lines not in JSON") from None
    return [_field(record, name) for name in fields]


def _field(record: object, name: str) -> str:
    text = record.get(name) if isinstance(record, dict) else None
    if not isinstance(text, str):
        raise UnusableError(f"lines without a text '{name}'")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can hold
        raise UnusableError("lines not in UTF-8") from None
    return text


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
