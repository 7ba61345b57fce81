"""The lines of a text to translate, and texts that were given otherwise: whole characters, whatever came."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regard.data.byte_lines import byte_lines
from regard.data.problems import Problems


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


def whole_text(value: Any) -> Any:
    """U+FFFD for every half of a surrogate pair, which no UTF-8 can hold: in a text, or in any JSON value.

    A shell makes one of a byte that is not UTF-8, and JSON can hold one as an escape.
    """
    match value:
        case str():
            try:
                value.encode("utf-8")
            except UnicodeEncodeError:
                return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list() | tuple():
            return type(value)(map(whole_text, value)) if type(value) in (list, tuple) else value
        case dict():
            return {whole_text(name): whole_text(each) for name, each in value.items()}
    return value


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
