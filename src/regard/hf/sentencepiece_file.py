"""Reading a sentencepiece model (.spm): its pieces, their scores, and how it normalises a text.

The file is one protobuf message, of which few fields matter here:
https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.words import t

VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5  # how a field is written
NORMAL, USER_DEFINED, BYTE = (
    1,
    4,
    6,
)  # types of pieces; control signs and unused ones are never cut to
UNIGRAM = 1


@dataclass(frozen=True)
class SentencePiece:
    """A unigram model."""

    scores: dict[str, float]  # log-probability of every piece
    charsmap: bytes  # which characters become which; empty: all stay as they are
    dummy_prefix: bool  # whether a text begins as if a space stood before it


def read_sentencepiece(path: Path) -> SentencePiece:
    """The model in a file, if the tokenizers library can reproduce it."""
    try:
        message = list(_fields(path.read_bytes()))
        pieces = [_piece(value) for number, value in message if number == 1]
        trainer, normalizer = (_last(message, number) for number in (2, 3))
    except (IndexError, struct.error, TypeError, UnicodeDecodeError, ValueError) as error:
        raise ValueError(
            t("{path} is not a sentencepiece model, or damaged: {error}", path=path, error=error)
        ) from error
    scores = {text: score for text, score, kind in pieces if kind == NORMAL}
    if not scores:
        raise ValueError(
            t("{path} is not a sentencepiece model: there are no pieces in it", path=path)
        )
    refused = {
        t("it is no unigram model"): trainer.get(3, UNIGRAM) != UNIGRAM,
        t("it marks spaces behind words"): trainer.get(24, 0),
        t("it has user-defined symbols"): any(kind == USER_DEFINED for *_, kind in pieces),
        t("it spells unknown characters in bytes"): any(kind == BYTE for *_, kind in pieces),
        t("it keeps repeated spaces"): not normalizer.get(4, 1),
        t("it does not mark spaces"): not normalizer.get(5, 1),
    }
    for reason, holds in refused.items():
        if holds:
            raise ValueError(
                t(
                    "{path} cannot be used: {reason}, which regard cannot reproduce",
                    path=path,
                    reason=reason,
                )
            )
    charsmap = normalizer.get(2, b"")
    assert isinstance(charsmap, bytes)
    return SentencePiece(scores, charsmap, bool(normalizer.get(3, 1)))


def _piece(value: int | bytes) -> tuple[str, float, int]:
    """Text, score, type."""
    fields = dict(_fields(value))
    text, score, kind = fields.get(1, b""), fields.get(2, bytes(4)), fields.get(3, NORMAL)
    if not isinstance(text, bytes) or not isinstance(score, bytes) or not isinstance(kind, int):
        raise ValueError(t("a piece is not as it should be"))
    return text.decode(), struct.unpack("<f", score)[0], kind


def _last(message: list[tuple[int, int | bytes]], wanted: int) -> dict[int, int | bytes]:
    found = [value for number, value in message if number == wanted]
    return dict(_fields(found[-1])) if found else {}


def _fields(message: int | bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of every field."""
    if isinstance(message, int):
        raise ValueError(t("a number stands where a message should"))
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, how = tag >> 3, tag & 7
        if how == VARINT:
            value, at = _varint(message, at)
            yield number, value
            continue
        if how == BYTES:
            size, at = _varint(message, at)
        elif how in (EIGHT_BYTES, FOUR_BYTES):
            size = 8 if how == EIGHT_BYTES else 4
        else:
            raise ValueError(t("field {number} is written in an unknown way", number=number))
        if at + size > len(message):
            raise ValueError(t("the file ends too early"))
        yield number, message[at : at + size]
        at += size


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, the lowest first, and where it ends."""
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
