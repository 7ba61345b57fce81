"""Token ids of a corpus on disk, memory-mapped: a corpus may be larger than the memory.

A store is a folder: `source.ids` and `target.ids` hold the ids of all sentences, one after the other,
`source.ends` and `target.ends` where each one ends, `lines` the line each pair came from (little-endian
numbers, nothing else), and `store.json` what they were made of, with a SHA-256 of each. BOS and EOS are
not stored.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from regard.data.checksums import check_seal, sealed, sha256_of
from regard.data.lines import STANDARD_INPUT
from regard.data.problems import Problems
from regard.data.spec import Corpus, Spec, parse
from regard.data.syncing import sync
from regard.data.text import SIDES, Pair, read_pairs
from regard.data.tokenizer import Tokenizer

Ids: TypeAlias = NDArray[np.integer[Any]]

CHUNK = 1000  # pairs tokenised or written together
FORMAT = 1
SETTINGS = "store.json"
NUMBERS = (*(f"{side}.{what}" for side in SIDES for what in ("ids", "ends")), "lines")


class Store:
    """Pairs of token ids, read from disk when they are asked for. `Store.open(folder)` opens one."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self.folder = folder
        self.problems = Problems.from_json(settings["problems"])
        self.fingerprint: str = settings["fingerprint"]
        self.damage = ""  # what was wrong with the store that this one took the place of
        self._settings = settings
        self._length: int = settings["pairs"]
        self._ids = {s: self._map(f"{s}.ids", settings["types"][s]) for s in SIDES}
        self._ends = {s: self._map(f"{s}.ends", "<i8") for s in SIDES}
        self._lines = self._map("lines", "<i8")
        for side in SIDES:
            ends = self._ends[side]
            if len(ends) != len(self) or len(self._ids[side]) != (ends[-1] if len(ends) else 0):
                raise ValueError(f"{side}.ids and {side}.ends do not fit together")

    @classmethod
    def open(cls, folder: Path | str) -> Store:
        folder = Path(folder)
        try:
            settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
            return cls(folder, settings)
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise ValueError(f"{folder} is not a token store, or a damaged one: {error}") from error

    def verify(self) -> None:
        """Read every file once: Damaged if one is not as it was written."""
        check_seal(self.folder / SETTINGS, self._settings)

    def __len__(self) -> int:
        return self._length

    @property
    def source_lengths(self) -> NDArray[np.int64]:
        """In tokens, without EOS."""
        return np.diff(self._ends["source"], prepend=0)

    @property
    def target_lengths(self) -> NDArray[np.int64]:
        return np.diff(self._ends["target"], prepend=0)

    def pair(self, row: int) -> tuple[Ids, Ids]:
        """The ids of a source and of its target, without BOS and EOS."""
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} of a store of {len(self)} pairs")
        return self._side("source", row), self._side("target", row)

    def line(self, row: int) -> int:
        """The number, from 1, of the line in its corpus that the pair came from."""
        return int(self._lines[row])

    def _side(self, side: str, row: int) -> Ids:
        ends = self._ends[side]
        return self._ids[side][ends[row - 1] if row else 0 : ends[row]]

    def _map(self, name: str, kind: str) -> Ids:
        path = self.folder / name
        if path.stat().st_size == 0:  # an empty file cannot be mapped
            return np.empty(0, kind)
        return np.memmap(path, dtype=kind, mode="r")


class Row(NamedTuple):
    """One example of any task: the line it came from, its ids, and those that shall be answered."""

    line: int
    source: Sequence[int]
    target: Sequence[int]


class Rows(Protocol):
    """What a store is filled with; what is left out is counted in the problems."""

    def __call__(self, problems: Problems) -> Iterator[Row]: ...


def prepare(
    spec: Spec,
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer,
    folder: Path | str,
    *,
    max_length: int | None = None,
    join: int = 1,
) -> Store:
    """The store of pairs in `folder`: the one that is there if it was made of the same, or a new one.

    Pairs with a side of more than `max_length` tokens are left out and counted in `Store.problems`,
    beside those that `read_pairs` leaves out. The folder appears only when it is complete.
    """
    tokenizers = (source_tokenizer, target_tokenizer)

    def rows(problems: Problems) -> Iterator[Row]:
        pairs = read_pairs(spec, problems, join=join)
        while chunk := list(islice(pairs, CHUNK)):
            yield from _tokenised(chunk, tokenizers, max_length, problems)

    return store_rows(folder, rows, parse(spec), tokenizers, [max_length, join], "pair")


def store_rows(
    folder: Path | str,
    rows: Rows,
    corpora: Sequence[Corpus],
    tokenizers: tuple[Tokenizer, Tokenizer],
    settings: Sequence[int | str | None],
    noun: str,
) -> Store:
    """A store of these rows, which are made of the corpora and the tokenizers by the settings.

    If all of these are as they were when the store in `folder` was written, it is used again, unless
    it is damaged: then it is made anew, and `damage` of the new one says why.
    """
    folder = Path(folder)
    fingerprint = _fingerprint(corpora, tokenizers, settings)
    damage = ""
    try:
        if (store := _reusable(folder, fingerprint)) is not None:
            return store
    except ValueError as error:
        damage = str(error)
        if any(path.name not in (SETTINGS, *NUMBERS) for path in folder.iterdir()):
            raise ValueError(
                f"{folder} holds other things than a token store: name another folder"
            ) from None
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        content = {"fingerprint": fingerprint, **_write(new, rows, tokenizers, noun)}
        whole = sealed(new / SETTINGS, content, {name: sha256_of(new / name) for name in NUMBERS})
        text = json.dumps(whole, ensure_ascii=False, indent=1)
        (new / SETTINGS).write_text(text, encoding="utf-8")
        store = _publish(new, folder, fingerprint)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    store.damage = damage
    return store


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


def _write(
    folder: Path, rows: Rows, tokenizers: tuple[Tokenizer, Tokenizer], noun: str
) -> dict[str, Any]:
    problems = Problems()
    types = ["<u2" if len(tokenizer) <= 1 << 16 else "<i4" for tokenizer in tokenizers]
    ends, count = [0, 0], 0
    with ExitStack() as stack:

        def create(name: str) -> BinaryIO:
            return stack.enter_context(open(folder / name, "wb"))

        ids_files = [create(f"{side}.ids") for side in SIDES]
        ends_files = [create(f"{side}.ends") for side in SIDES]
        lines_file = create("lines")
        every = rows(problems)
        while chunk := list(islice(every, CHUNK)):
            count += len(chunk)
            lines_file.write(np.array([row.line for row in chunk], "<i8").tobytes())
            sides = [row.source for row in chunk], [row.target for row in chunk]
            for side, sentences in enumerate(sides):
                flat = np.array([i for ids in sentences for i in ids], types[side])
                steps = np.cumsum([len(ids) for ids in sentences], dtype="<i8") + ends[side]
                ids_files[side].write(flat.tobytes())
                ends_files[side].write(steps.tobytes())
                ends[side] += len(flat)
    if not count:
        raise ValueError(f"no {noun} can be used. {problems.report() or 'The corpus is empty'}")
    return {
        "pairs": count,
        "types": dict(zip(SIDES, types, strict=True)),
        "problems": problems.to_json(),
    }


def _tokenised(
    pairs: Sequence[Pair],
    tokenizers: tuple[Tokenizer, Tokenizer],
    max_length: int | None,
    problems: Problems,
) -> Iterator[Row]:
    """The pairs with their ids, without those that are too long."""
    sources = tokenizers[0].encode_ids([pair.source for pair in pairs])
    targets = tokenizers[1].encode_ids([pair.target for pair in pairs])
    for pair, *ids in zip(pairs, sources, targets, strict=True):
        long = [s for s, x in zip(SIDES, ids, strict=True) if max_length and len(x) > max_length]
        if long:
            problems.add(pair.corpus, f"{long[0]} lines over {max_length} tokens", pair.line)
        else:
            yield Row(pair.line, *ids)


def _fingerprint(
    corpora: Sequence[Corpus],
    tokenizers: tuple[Tokenizer, Tokenizer],
    settings: Sequence[int | str | None],
) -> str:
    """Of all that a store is made of. Files count by name, size and time of change."""
    named = [(c.columns, [_stamp(file) for file in c.files], c.name) for c in corpora]
    words = [hashlib.blake2b(t.to_json().encode()).hexdigest() for t in tokenizers]
    made_of = json.dumps([FORMAT, named, words, *settings])
    return hashlib.blake2b(made_of.encode(), digest_size=16).hexdigest()


def _stamp(file: Path) -> tuple[str, int, int] | str:
    if str(file) == STANDARD_INPUT:
        return secrets.token_hex()  # what it will hold is not known: never the same
    status = file.stat()
    return str(file.resolve()), status.st_size, status.st_mtime_ns
