"""The numbers of a corpus on disk, memory-mapped: a corpus may be larger than the memory.

A store is a folder. For every part of every field, `source.ids` holds the numbers of all examples, one after
the other, and `source.ids.ends` where each one ends; `lines` holds the line each example came from (little-
endian numbers, nothing else), and `store.json` what they were made of, with a SHA-256 of each.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from regard.data.atomic_files import sync
from regard.data.checksums import SEAL, check_seal, sealed, sha256_of
from regard.data.fields import Field, Parts
from regard.data.problems import Problems
from regard.data.spec import Corpus, stamp_of
from regard.words import t

Numbers: TypeAlias = NDArray[Any]

CHUNK = 1000  # examples encoded or written together
FORMAT = 2
SETTINGS, LINES, ENDS = "store.json", "lines", ".ends"


class Stored(NamedTuple):
    """One example: the line it came from, and the numbers of each field."""

    line: int
    fields: Mapping[str, Parts]


# What a store is filled with; what is left out is counted in the problems.
Rows: TypeAlias = Callable[[Problems], Iterator[Stored]]


class Store:
    """Encoded examples, read from disk when they are asked for. `Store.open(folder)` opens one."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self.folder = folder
        self.problems = Problems.from_json(settings["problems"])
        self.fingerprint: str = settings["fingerprint"]
        self.damage = ""  # what was wrong with the store that this one took the place of
        self._settings = settings
        self._length: int = settings["examples"]
        self._lines = self._map(LINES, "<i8")
        self._columns: dict[str, list[tuple[str, Numbers, Numbers]]] = {}
        self._even: dict[str, list[Numbers] | None] = {}
        for name, kind in settings["types"].items():
            field, part = name.rsplit(".", 1)
            numbers, ends = self._map(name, kind), self._map(f"{name}{ENDS}", "<i8")
            if len(ends) != len(self) or len(numbers) != (ends[-1] if len(ends) else 0):
                raise ValueError(
                    t("{name} and {name}{ends} do not fit together", name=name, ends=ENDS)
                )
            self._columns.setdefault(field, []).append((part, numbers, ends))

    @classmethod
    def open(cls, folder: Path | str) -> Store:
        folder = Path(folder)
        try:
            settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
            return cls(folder, settings)
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise ValueError(
                t(
                    "{folder} is not a token store, or a damaged one: {error}",
                    folder=folder,
                    error=error,
                )
            ) from error

    def verify(self) -> None:
        """Read every file once: Damaged if one is not as it was written."""
        check_seal(self.folder / SETTINGS, self._settings)

    @property
    def content(self) -> str:
        """The same for the same examples in the same numbers, wherever they came from."""
        sums = {n: sha for n, sha in self._settings.get(SEAL, {}).items() if n != SETTINGS}
        return hashlib.blake2b(
            json.dumps(sums, sort_keys=True).encode(), digest_size=16
        ).hexdigest()

    def __len__(self) -> int:
        return self._length

    def counts(self, field: str) -> dict[str, NDArray[np.int64]]:
        """How many numbers each part of a field has, for every example."""
        return {part: np.diff(ends, prepend=0) for part, _, ends in self._columns[field]}

    def lengths(self, field: Field) -> NDArray[np.int64] | None:
        """Positions that the field takes in a padded batch, for every example; None: it has no length."""
        return field.length(self.counts(field.name))

    def occurrences(self, field: str, number: int) -> tuple[int, int]:
        """How often a number is in the first part of a field, and how many numbers are there."""
        _, numbers, _ = self._columns[field][0]
        return int(np.count_nonzero(numbers == number)), len(numbers)

    def example(self, row: int) -> dict[str, tuple[Numbers, ...]]:
        """The numbers of each field."""
        if not 0 <= row < len(self):
            raise IndexError(
                t("row {row} of a store of {count} examples", row=row, count=len(self))
            )
        return {field: self.parts(field, row) for field in self._columns}

    def parts(self, field: str, row: int) -> tuple[Numbers, ...]:
        """The numbers of one field of an example."""
        return tuple(
            numbers[ends[row - 1] if row else 0 : ends[row]]
            for _, numbers, ends in self._columns[field]
        )

    def even_parts(self, field: str, rows: NDArray[np.int64]) -> list[Numbers] | None:
        """The numbers of several examples at once, each part (B, length); None: their lengths differ."""
        if field not in self._even:
            columns = [(numbers, ends) for _, numbers, ends in self._columns[field]]
            even = len(self) and all(np.ptp(np.diff(e, prepend=0)) == 0 for _, e in columns)
            self._even[field] = [n.reshape(len(self), -1) for n, _ in columns] if even else None
        parts = self._even[field]
        return None if parts is None else [part[rows] for part in parts]

    def line(self, row: int) -> int:
        """The number, from 1, of the line in its corpus that the example came from."""
        return int(self._lines[row])

    def _map(self, name: str, kind: str) -> Numbers:
        path = self.folder / name
        if path.stat().st_size == 0:  # an empty file cannot be mapped
            return np.empty(0, kind)
        return np.asarray(np.memmap(path, dtype=kind, mode="r"))  # slices of a memmap are slow


def make_store(
    folder: Path | str,
    rows: Rows,
    corpora: Sequence[Corpus],
    fields: Sequence[Field],
    settings: Sequence[int | str | None],
    noun: str,
) -> Store:
    """A store of these rows, which are made of the corpora and the fields by the settings.

    If all of these are as they were when the store in `folder` was written, it is used again, unless
    it is damaged: then it is made anew, and `damage` of the new one says why. The folder appears only
    when it is complete.
    """
    folder = Path(folder)
    fingerprint = _fingerprint(corpora, fields, settings)
    damage = ""
    try:
        if (store := _reusable(folder, fingerprint)) is not None:
            return store
    except ValueError as error:
        damage = str(error)
        if not _holds_a_store(folder):
            raise ValueError(
                t(
                    "{folder} holds other things than a token store: name another folder",
                    folder=folder,
                )
            ) from None
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        content = {"fingerprint": fingerprint, **_write(new, rows, fields, noun)}
        sums = {path.name: sha256_of(path) for path in sorted(new.iterdir())}
        whole = sealed(new / SETTINGS, content, sums)
        text = json.dumps(whole, ensure_ascii=False, indent=1)
        (new / SETTINGS).write_text(text, encoding="utf-8")
        store = _publish(new, folder, fingerprint)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    store.damage = damage
    return store


def _holds_a_store(folder: Path) -> bool:
    """Whether nothing but files of a store lies there, damaged or of an older format."""
    names = {path.name for path in folder.iterdir()} - {LINES}
    if SETTINGS in names:
        return all("." in name for name in names)
    return all(name.endswith(ENDS) or f"{name}{ENDS}" in names for name in names)


def _reusable(folder: Path, fingerprint: str) -> Store | None:
    """The store in the folder if it is of the same; a ValueError if it is damaged."""
    if not folder.is_dir() or not any(folder.iterdir()):
        return None
    store = Store.open(folder)
    if store.fingerprint != fingerprint:
        return None
    store.verify()
    return store


def _publish(new: Path, folder: Path, fingerprint: str) -> Store:
    """Put a complete store where it belongs, unless another process has just done so."""
    with suppress(ValueError):
        if (store := _reusable(folder, fingerprint)) is not None:
            return store
    new.chmod(0o755)  # a temporary folder is for its owner alone
    for path in (*new.iterdir(), new):
        sync(path)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        os.replace(new, folder)
    except OSError:
        if (store := _reusable(folder, fingerprint)) is None:
            raise
        return store
    sync(folder.parent)
    return Store.open(folder)


def _write(folder: Path, rows: Rows, fields: Sequence[Field], noun: str) -> dict[str, Any]:
    problems = Problems()
    types = {
        f"{field.name}.{part}": kind
        for field in fields
        for part, kind in zip(field.parts, field.types, strict=True)
    }
    ends, count = dict.fromkeys(types, 0), 0
    with ExitStack() as stack:

        def create(name: str) -> BinaryIO:
            return stack.enter_context(open(folder / name, "wb"))

        numbers_files = {name: create(name) for name in types}
        ends_files = {name: create(f"{name}{ENDS}") for name in types}
        lines_file = create(LINES)
        every = rows(problems)
        while chunk := list(islice(every, CHUNK)):
            count += len(chunk)
            lines_file.write(np.array([row.line for row in chunk], "<i8").tobytes())
            for field in fields:
                columns = zip(*(row.fields[field.name] for row in chunk), strict=True)
                for part, column in zip(field.parts, columns, strict=True):
                    name = f"{field.name}.{part}"
                    flat = np.concatenate([np.asarray(x, types[name]) for x in column])
                    steps = np.cumsum([len(x) for x in column], dtype="<i8") + ends[name]
                    numbers_files[name].write(flat.tobytes())
                    ends_files[name].write(steps.tobytes())
                    ends[name] += len(flat)
    if not count:
        raise ValueError(
            t(
                "no {noun} can be used. {value}",
                noun=noun,
                value=problems.report() or "The corpus is empty",
            )
        )
    return {"examples": count, "types": types, "problems": problems.to_json()}


def _fingerprint(
    corpora: Sequence[Corpus], fields: Sequence[Field], settings: Sequence[int | str | None]
) -> str:
    """Of all that a store is made of. Files count by name, size and time of change."""
    named = [(c.columns, [stamp_of(file) for file in c.files], c.name) for c in corpora]
    assets = [
        (repr(field), hashlib.blake2b(field.to_json().encode()).hexdigest() if field.file else None)
        for field in fields
    ]
    made_of = json.dumps([FORMAT, named, assets, *settings])
    return hashlib.blake2b(made_of.encode(), digest_size=16).hexdigest()
