"""Vectors of numbers, and sequences of them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.fields.field import Cell, Field, Parts, Unusable
from regard.data.fields.nested_numbers import array_of
from regard.data.fields.number_text import array_text
from regard.data.fields.standardisation import LARGEST, Moments, Standardisation
from regard.data.formats.npy import read_array
from regard.words import t

Vectors = NDArray[Any]  # (D,), or (T, D); float32 if they were given in it or in less, else float64
MOST_SIZES = 100  # of vectors, before one that occurs most is looked for


class Numbers(Field):
    """A vector x1 … xD, or a sequence of T of them; standardise: (x - mean) / deviation, by dimension.

    A cell is a number, text with numbers between blanks or commas, a list, an array, or the path of a
    .npy or .npz file (from the folder of the corpus); a sequence is a list of vectors, or of numbers,
    which are vectors of one. size: D; without it, what most vectors of the training part have. Others are
    not trained on. max_length: longer sequences are cut off there if `cut`, else not trained on.

    Tensors: NAME (B, D) float32; of sequences NAME (B, T, D), and NAME_mask (B, T) bool, True where a
    vector is real.
    """

    parts: ClassVar = ("numbers",)
    any_cell: ClassVar = [0.5, 1.0]

    def __init__(
        self,
        name: str,
        size: int | None = None,
        sequence: bool = False,
        *,
        standardise: bool = False,
        max_length: int | None = None,
        cut: bool = False,
    ) -> None:
        super().__init__(name)
        if size is not None and size < 1:
            raise ValueError(t("a vector of {size} numbers holds nothing", size=size))
        self.sequence, self.standardise = sequence, standardise
        self.max_length, self.cut = max_length, cut
        self._given, self._size = size, size
        self.scale: Standardisation | None = None

    def __repr__(self) -> str:
        scaled = ", standardise=True" if self.standardise else ""  # so they are stored
        return f"Numbers({self.name!r}, size={self._given}, sequence={self.sequence}{scaled})"

    def read(self, cell: Cell, folder: Path | None = None) -> Vectors:
        array = array_of(_parsed(cell, folder) if isinstance(cell, str) else cell)
        wanted = 2 if self.sequence else 1
        if array.ndim == wanted - 1:
            array = array[..., None]
        if array.ndim != wanted:
            if self.sequence:
                raise Unusable("{}lines of numbers that are not a sequence of vectors")
            raise Unusable("{}lines of numbers that are not a vector")
        if not array.size:
            raise Unusable("empty {}lines")
        given_in_32_bits = array.dtype.kind == "f" and array.dtype.itemsize <= 4
        with np.errstate(over="ignore"):  # of a long double
            value = np.ascontiguousarray(array, np.float32 if given_in_32_bits else np.float64)
        if not np.isfinite(array).all() and not _is_large(cell):
            raise Unusable("{}lines with numbers that are not finite")
        if np.abs(value).max() > LARGEST:
            raise Unusable(f"{{}}lines with numbers beyond {LARGEST:g}, which 32 bits do not hold")
        if self._size not in (None, value.shape[-1]):  # once it is given, learnt or loaded
            seen = t(
                "{seen} numbers where {wanted} are wanted", seen=value.shape[-1], wanted=self.size
            )
            raise Unusable(self._wrong_size, seen)
        if self.scale is not None and self.scale.is_beyond(value):
            raise Unusable("{}lines with numbers that are too large beside those learnt from")
        return value

    def identity(self, value: Vectors) -> str:
        return hashlib.blake2b(
            repr(value.shape).encode() + value.astype(np.float64).tobytes(), digest_size=16
        ).hexdigest()

    @property
    def file(self) -> str:
        return f"numbers.{self.name}.json"

    def learn(self, values: Iterable[Vectors]) -> None:
        sizes: Counter[int] = Counter()
        moments: dict[int, Moments] = {}
        for value in values:
            size = value.shape[-1]
            sizes[size] += 1
            if len(sizes) > MOST_SIZES:
                raise ValueError(
                    t(
                        "the vectors of {name} have over {most_sizes} sizes: is it a sequence?",
                        name=self.name,
                        most_sizes=MOST_SIZES,
                    )
                )
            moments.setdefault(size, Moments(size)).add(value.reshape(-1, size))
        if not sizes:
            raise ValueError(t("there is nothing to learn the size of {name} from", name=self.name))
        self._size = self._given or max(sizes, key=lambda size: (sizes[size], -size))
        self.scale = moments[self._size].scale() if self.standardise else None

    def to_json(self) -> str:
        scale = {} if self.scale is None else self.scale.to_json()
        return json.dumps({"size": self.size, **scale}) + "\n"

    def load(self, text: str) -> None:
        match json.loads(text):
            case {"size": int(size), **rest} if size > 0 and self._given in (None, size):
                self.scale = Standardisation.from_json(rest, size) if self.standardise else None
                self._size = size
            case _:
                raise ValueError(t("it says no size, or not {given}", given=self._given))

    @property
    def size(self) -> int:
        if self._size is None:
            raise ValueError(
                t("{value} has learnt no size yet: learn or load one", value=repr(self))
            )
        return self._size

    @property
    def types(self) -> tuple[str, ...]:
        return ("<f4",)

    def encode(self, examples: Sequence[Mapping[str, Any]]) -> list[Parts]:
        """Standardised, while they have all their digits; nothing of vectors of another size."""
        end = self.max_length if self.sequence and self.cut else None
        values = (example[self.name] for example in examples)
        return [
            (self._scaled(value[:end]).reshape(-1),)
            if value.shape[-1] == self.size
            else (np.zeros(0, np.float32),)
            for value in values
        ]

    def collate(self, several: Sequence[Parts]) -> dict[str, Tensor]:
        rows = [np.asarray(parts[0]).reshape(-1, self.size) for parts in several]
        if not self.sequence:
            vectors = np.concatenate([np.zeros((0, self.size), np.float32), *rows])
            return {self.name: torch.from_numpy(vectors)}
        lengths = np.array([len(row) for row in rows], np.int64)
        padded = np.zeros((len(rows), int(lengths.max(initial=0)), self.size), np.float32)
        for number, row in enumerate(rows):
            padded[number, : len(row)] = row
        mask = np.arange(padded.shape[1]) < lengths[:, None]
        return {self.name: torch.from_numpy(padded), f"{self.name}_mask": torch.from_numpy(mask)}

    def original(self, numbers: Tensor) -> Tensor:
        """Numbers (..., D) of a batch, or predicted like them, as they were before they were standardised:
        in float64 and on the CPU, since a large mean would leave 32 bits nothing for the rest.
        """
        plain = numbers.detach().cpu().double()
        return plain if self.scale is None else torch.from_numpy(self.scale.undone(plain.numpy()))

    def describe(self, counts: Mapping[str, NDArray[np.int64]]) -> str:
        size = f"{self.size:,}"
        if self.sequence:
            return t("sequences of {field} vectors of {size}", field=self.name, size=size)
        return t("{field} vectors of {size}", field=self.name, size=size)

    def length(self, counts: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64] | None:
        return counts["numbers"] // self.size if self.sequence else None

    def too_long(self, parts: Parts) -> str | None:
        if not len(parts[0]):
            return self._wrong_size
        most = None if self.cut or not self.sequence else self.max_length
        if most is None or len(parts[0]) <= most * self.size:
            return None
        return f"{{}}lines over {most} vectors"

    def lengths(self, value: Vectors) -> dict[str, int]:
        return {"vectors": len(value)} if self.sequence else {"numbers": len(value)}

    def show(self, value: Vectors) -> str:
        return array_text(value)

    @property
    def _wrong_size(self) -> str:
        return f"{{}}lines of vectors that do not have {self.size} numbers"

    def _scaled(self, vectors: NDArray[Any]) -> NDArray[np.float32]:
        if self.scale is None:
            return vectors.astype(np.float32, copy=False)
        return self.scale.applied(vectors.astype(np.float64, copy=False))


def _is_large(cell: Cell) -> bool:
    """Whether what is infinite was written in digits, as 1e400 is: inf and nan have an n."""
    return isinstance(cell, str) and "n" not in cell.lower()


def _parsed(text: str, folder: Path | None) -> Any:
    text = text.strip()
    try:
        if text.endswith((".npy", ".npz")):
            if folder is None:
                raise Unusable("{}lines that name a file, which cannot be read here")
            return read_array(folder / text)
        if text.startswith("["):
            return json.loads(text)
        return [float(number) for number in text.replace(",", " ").split()]
    except Unusable:
        raise
    except (ValueError, RecursionError):
        raise Unusable("{}lines that are not numbers") from None
