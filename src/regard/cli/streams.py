"""Standard input in chunks as it arrives, and results line by line."""

from __future__ import annotations

import codecs
import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import TextIO

from regard.data.byte_lines import refuse_utf16
from regard.words import t

AT_ONCE = 1 << 16  # bytes


def arriving(
    stream: BufferedReader | BytesIO, most: int, *, full: bool = False
) -> Iterator[list[bytes]]:
    r"""Lines as they come: what is there is not kept waiting for what is not; `most` at a time.

    full: wait until a chunk is full, so that chunks do not depend on who writes how fast.
    A line ends at \n or \r\n and nowhere else; the last may lack its end.
    """
    waiting: list[bytes] = []
    cut = b""
    start = True
    while data := stream.read1(AT_ONCE):
        if start:
            refuse_utf16("standard input", data)
            data = data.removeprefix(codecs.BOM_UTF8)
        start = False
        *lines, cut = (cut + data).split(b"\n")
        waiting += [line.removesuffix(b"\r") for line in lines]
        while len(waiting) >= most or (waiting and not full):
            yield waiting[:most]
            del waiting[:most]
    waiting += [cut.removesuffix(b"\r")] if cut else []
    for first in range(0, len(waiting), most):
        yield waiting[first : first + most]


def decoded(lines: list[bytes], start: int) -> list[str]:
    """Text of lines numbered from `start`; bytes that are not UTF-8 become U+FFFD, and are told."""
    texts = []
    for number, line in enumerate(lines, start):
        try:
            texts.append(line.decode("utf-8"))
        except UnicodeDecodeError:
            told = t("line {number} is not UTF-8", number=number)
            print(t("warning: {message}", message=told), file=sys.stderr)
            texts.append(line.decode("utf-8", errors="replace"))
    return texts


@contextlib.contextmanager
def written_to(path: Path | None) -> Iterator[TextIO]:
    """The file to write results to, or standard output.

    A file appears when it is complete: a command that fails leaves what was there, and beside it, in
    FILE.partial, what it had written.
    """
    if path is None:
        yield sys.stdout
    elif path.exists() and not (path.is_file() and os.access(path.parent, os.W_OK)):
        # a pipe, a device, or nothing can stand beside it
        with _created(path) as file:
            yield file
    else:
        whole = path.resolve()  # of a link, what it points to
        partial = whole.with_name(f"{whole.name}.partial")
        try:
            with _created(partial, path) as file:
                yield file
        except BaseException:
            _keep(partial)
            raise
        if whole.exists():
            shutil.copymode(whole, partial)
        partial.replace(whole)


def _created(path: Path, named: Path | None = None) -> TextIO:
    """named: what the user calls it, who is told if it cannot be."""
    try:
        return open(path, "w", encoding="utf-8", newline="\n")
    except OSError as error:
        error.filename = str(named or path)
        raise


def _keep(partial: Path) -> None:
    """Say where what was written so far is, unless that is nothing."""
    with contextlib.suppress(OSError):
        if partial.stat().st_size:
            told = t("what was written until then is in {file}", file=partial)
            print(t("note: {message}", message=told), file=sys.stderr)
        else:
            partial.unlink()


def one_line(text: str) -> str:
    """Without line ends of any kind, so that a reader counts as many lines as were written."""
    return " ".join(text.splitlines())
