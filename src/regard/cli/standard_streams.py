"""Standard input, output and error: made fit for text, also where the shell has closed them."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress

from regard.words import t


class ClosedStream(ValueError):
    """A command needs a stream that is closed, as after `<&-` or `>&-`."""

    status = 2

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class _Closed(io.TextIOBase):
    """Stands for a closed stream: whoever needs it is told, whoever does not goes on."""

    def __init__(self, message: str, hint: str) -> None:
        self.what = message, hint

    @property
    def buffer(self) -> _Closed:
        return self

    def read(self, size: int | None = -1) -> str:
        raise ClosedStream(*self.what)

    def read1(self, size: int = -1) -> bytes:
        raise ClosedStream(*self.what)

    def readline(self, size: int = -1) -> str:  # type: ignore[override]
        raise ClosedStream(*self.what)

    def write(self, text: str) -> int:
        raise ClosedStream(*self.what)


def prepare_streams() -> None:
    """Pipes and files get UTF-8; a terminal without it shows ? rather than a traceback."""
    _occupy_descriptors()
    if sys.stdin is None:
        sys.stdin = _Closed(
            t("standard input is closed"), t("give the text as an argument, or < FILE")
        )
    if sys.stdout is None:
        sys.stdout = _Closed(
            t("standard output is closed"), t("drop >&-, or name a file with > FILE")
        )
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, for as long as we live
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            if not stream.isatty():
                stream.reconfigure(encoding="utf-8", newline="\n")
            stream.reconfigure(errors="replace")


def flush_output() -> None:
    """What waits in the buffer is written now, while a failure can still be told."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # what cannot be written must not be tried again when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if error.errno != errno.EPIPE:  # a reader may stop early
            raise OSError(error.errno, error.strerror, t("standard output")) from error


def abandon_output() -> None:
    """After a failure that was told: what is left is written if it can be, and forgotten if not."""
    with suppress(OSError, ClosedStream):
        flush_output()


def _occupy_descriptors() -> None:
    """So that no file that is opened later gets the number of a closed stream."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
