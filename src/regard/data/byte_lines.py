r"""Lines of plain, .gz and .xz files and of standard input, as bytes.

A line ends at \n (or \r\n) and nowhere else: `str.splitlines` also cuts at U+2028, U+0085, \x0b and
others, which occur inside sentences, and then two parallel files no longer match.
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import lzma
import sys
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, cast

from regard.data.problems import CorpusError
from regard.words import t

STANDARD_INPUT = "-"
AT_ONCE = 1 << 16  # bytes
DAMAGE = (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error)


def open_bytes(path: Path | str) -> AbstractContextManager[BinaryIO]:
    """The bytes of a file, decompressed by its suffix; `-` is standard input."""
    if str(path) == STANDARD_INPUT:
        return contextlib.nullcontext(sys.stdin.buffer)
    suffix = Path(path).suffix
    if suffix == ".gz":
        return cast(BinaryIO, gzip.open(path, "rb"))
    if suffix == ".xz":
        return cast(BinaryIO, lzma.open(path, "rb"))
    return open(path, "rb")


def byte_lines(path: Path | str, *, longest: int | None = None) -> Iterator[bytes | None]:
    """Each line without its end, None for one of more than `longest` bytes (it is not kept).

    A byte order mark at the start is dropped.
    """
    number = 0
    limit = -1 if longest is None else longest + 2
    with open_bytes(path) as stream:
        try:
            while raw := stream.readline(limit):
                number += 1
                if number == 1:
                    refuse_utf16(path, raw)
                    raw = raw.removeprefix(codecs.BOM_UTF8)
                cut = len(raw) == limit and not raw.endswith(b"\n")
                while cut and (rest := stream.readline(limit)) and not rest.endswith(b"\n"):
                    pass
                line = raw.removesuffix(b"\n").removesuffix(b"\r")
                yield None if longest is not None and len(line) > longest else line
        except DAMAGE as error:
            raise _damaged(path, number, error) from error


def has_old_ends(path: Path | str) -> bool:
    r"""Whether lines end at \r alone, as on old Macs: the beginning of the file has no other end."""
    if str(path) == STANDARD_INPUT or not Path(path).is_file():  # a pipe can be read only once
        return False
    with open_bytes(path) as stream, contextlib.suppress(*DAMAGE):
        start = stream.read(AT_ONCE)
        return b"\r" in start and b"\n" not in start
    return False


def old_byte_lines(path: Path | str, *, longest: int) -> Iterator[bytes | None]:
    """`byte_lines` of a file with old ends."""
    number, cut = 0, b""
    with open_bytes(path) as stream:
        try:
            while data := stream.read(AT_ONCE):
                *lines, cut = (cut + data).split(b"\r")
                for line in lines:
                    number += 1
                    line = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                    yield None if len(line) > longest else line
                cut = cut[: longest + 1]  # no more than tells that it is too long
        except DAMAGE as error:
            raise _damaged(path, number, error) from error
    if cut:
        yield None if len(cut) > longest else cut


def _damaged(path: Path | str, number: int, error: Exception) -> CorpusError:
    return CorpusError(
        t(
            "{path} is damaged or cut off after line {number}: {error}",
            path=path,
            number=f"{number:,}",
            error=error,
        )
    )


def refuse_utf16(name: Path | str, start: bytes) -> None:
    """Of a text that begins like this: with its mark, or with a zero in every other byte, as of ASCII."""
    marked = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    even, odd = (part.count(0) > 0.9 * len(part) for part in (start[:99:2], start[1:99:2]))
    if marked or (len(start) > 3 and even != odd):
        kind = "UTF-16" if marked else "UTF-16BE" if even else "UTF-16LE"
        raise CorpusError(
            t(
                "{name} is UTF-16, not UTF-8: convert it with `iconv -f {kind} -t UTF-8`",
                name=name,
                kind=kind,
            ),
            t("iconv -f {kind} -t UTF-8 OLD > NEW, then name NEW", kind=kind),
        )
