"""The lines of a text to translate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

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


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
