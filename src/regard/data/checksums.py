"""A JSON file that holds the SHA-256 of itself and of files beside it: it finds damaged and exchanged ones.

    path.write_text(json.dumps(sealed(path, content, {"b.bin": sha256_of(path.with_name("b.bin"))})))
    check_seal(path, json.loads(path.read_text()))

What has no seal, because it was written before there were any, is taken as it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.words import t

SEAL = "sha256"  # the key of {name of a file: its SHA-256}


class Damaged(ValueError):
    """A file that is not what was written; the hint says what to do."""

    hint = "restore it from a copy, or make it anew"

    def __init__(self, message: str, hint: str = hint) -> None:
        super().__init__(message)
        self.hint = hint


def sealed(path: Path, content: Mapping[str, Any], files: Mapping[str, str]) -> dict[str, Any]:
    """The content of `path`, with its own SHA-256 and those of files beside it, by their names."""
    return {**content, SEAL: {path.name: _of_content(content), **files}}


def check_seal(path: Path, content: Mapping[str, Any], hint: str = Damaged.hint) -> None:
    """Damaged if the content of `path`, or a file that its seal names, is not as it was sealed."""
    seal = content.get(SEAL, {})
    if not isinstance(seal, dict):
        raise Damaged(
            t(
                "{path} is damaged: its {seal} is {given}",
                path=path,
                seal=SEAL,
                given=f"{seal!r:.60}",
            ),
            hint,
        )
    for name, written in seal.items():
        file = path.parent / name
        try:
            found = _of_content(content) if file == path else sha256_of(file)
        except (FileNotFoundError, IsADirectoryError):
            raise Damaged(
                t("there is no file {file}, which {path} names", file=file, path=path), hint
            ) from None
        if found != written:
            raise Damaged(
                t(
                    "{file} is damaged or was changed: its SHA-256 is not the one in {path}",
                    file=file,
                    path=path,
                ),
                hint,
            )


def sha256_of(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _of_content(content: Mapping[str, Any]) -> str:
    """However the JSON is laid out."""
    plain = json.dumps({k: v for k, v in content.items() if k != SEAL}, sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()
