"""Files that are there whole or not at all, however a run ends."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from regard.words import t

PARTIAL = ".partial"  # ends the name of a file that is still being written


class DiskFull(OSError):
    """There was no room for a file; what stood in its place is untouched."""

    hint = "free some space and run the same command again"


def sync(path: Path) -> None:
    """Wait until a file, or the list of names in a folder, is on the disk."""
    if path.is_dir() and os.name != "posix":
        return  # there a folder cannot be opened
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, content: bytes | str) -> None:
    """Write beside `path`, flush to the disk, then rename: readers see the old file or the new one."""
    data = content.encode() if isinstance(content, str) else content
    partial = path.with_name(f"{path.name}.{os.getpid()}{PARTIAL}")
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
        sync(path.parent)  # the rename must reach the disk too
    except OSError as error:
        partial.unlink(missing_ok=True)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(
                t(
                    "no space left on the disk: {path} ({count} MB) was not written, what was "
                    "there before is untouched",
                    path=path,
                    count=f"{len(data) / 1000000.0:.1f}",
                )
            ) from error
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            error.filename = str(path)  # who asked knows no other name
        raise


def clear_partial(folder: Path) -> None:
    """Remove what a killed process left half written."""
    for path in folder.glob(f"*{PARTIAL}"):
        path.unlink(missing_ok=True)
