"""A text, cut into tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from regard.data.fields.field import Cell, Field, Parts, Unusable
from regard.data.padding import pad
from regard.data.problems import NO_TEXT
from regard.data.tokenizer import BLANK, UNK, Tokenizer, Tokens
from regard.data.unspaced import is_unspaced
from regard.words import t


class Text(Field):
    """A text, or words that are cut already: ids x1 … xn EOS, with BOS before them if told.

    kind, size, lowercase, verbatim, mask, marks: as in `Tokenizer.train`; kind "split" takes what stands
    between blanks, or the items of a list, as one token each. blank: empty texts can be used too.
    max_length: longer ones are cut off there if `cut`, else not trained on. file: of the asset. like: a text
    whose tokenizer is used instead of one of its own.

    Tensors: NAME (B, L) int64, NAME_mask (B, L) bool, True where a token is real.
    """

    parts: ClassVar[tuple[str, ...]] = ("ids",)

    def __init__(
        self,
        name: str,
        *,
        kind: str = "bpe",
        size: int = 8000,
        lowercase: bool = False,
        verbatim: bool = False,
        mask: bool = False,
        marks: bool = True,
        bos: bool = False,
        eos: bool = True,
        blank: bool = False,
        max_length: int | None = None,
        cut: bool = False,
        file: str | None = None,
        like: Text | None = None,
    ) -> None:
        super().__init__(name)
        self._like = like
        self.settings: dict[str, Any] = {
            "kind": kind,
            "size": size,
            "lowercase": lowercase,
            "verbatim": verbatim,
            "mask": mask,
            "marks": marks,
        }
        if like is not None:
            self.settings = like.settings
        self.bos, self.eos, self.blank, self.max_length, self.cut = bos, eos, blank, max_length, cut
        self._file = file or f"tokenizer.{name}.json"
        self._tokenizer: Tokenizer | None = None

    @property
    def tokenizer(self) -> Tokenizer:
        if self._like is not None:
            return self._like.tokenizer
        if self._tokenizer is None:
            raise ValueError(
                t("{value} has learnt no tokenizer yet: learn or load one", value=repr(self))
            )
        return self._tokenizer

    @tokenizer.setter
    def tokenizer(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    @property
    def in_words(self) -> bool:
        """Whether a value is a list of words, each of them one token."""
        return self.settings["kind"] == "split"

    def read(self, cell: Cell, folder: Path | None = None) -> str | list[str]:
        if self.in_words:
            words = cell if isinstance(cell, list | tuple) else _pieces(_text(cell))
            words = ["_".join(_pieces(_text(word))) for word in words]
            if not words or not all(words):
                raise Unusable("empty {}lines")
            return words
        text = _text(cell)
        if not text.strip() and not self.blank:
            raise Unusable("empty {}lines")
        return text

    def accept(self, value: Cell, *, files: bool = True) -> str | list[str]:
        return self.read(value) if self.in_words else _text(value)

    def of_line(self, line: str) -> Cell:
        """A text is the line, whatever it looks like; words may be a list."""
        return super().of_line(line) if self.in_words and line.lstrip().startswith("[") else line

    @property
    def takes_any_line(self) -> bool:
        return not self.in_words

    def identity(self, value: str | list[str]) -> str:
        text = value if isinstance(value, str) else "".join(value)
        return "".join(c for c in text.lower() if c.isalnum())

    @property
    def file(self) -> str | None:
        return None if self._like else self._file

    def learn(self, values: Iterable[str | list[str]]) -> None:
        texts = (self.show(value) if self.in_words else value for value in values)
        self._tokenizer = Tokenizer.train(texts, **self.settings)  # type: ignore[arg-type]

    def to_json(self) -> str:
        return self.tokenizer.to_json()

    def load(self, text: str) -> None:
        self._tokenizer = Tokenizer.from_json(text)

    @property
    def size(self) -> int:
        return len(self.tokenizer)

    def unspaced(self, values: Iterable[str | list[str]]) -> bool:
        """Words that were given as such are words."""
        return not self.in_words and is_unspaced(self.joined(value) for value in values)

    def unknown(self, examples: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
        """Of words that were given as such, nothing is counted."""
        if self.in_words:
            return 0, 0
        rows = [parts[0] for parts in self.encode(examples)]
        return sum(int((np.asarray(ids) == UNK).sum()) for ids in rows), sum(map(len, rows))

    @property
    def types(self) -> tuple[str, ...]:
        return ("<u2" if self.size <= 1 << 16 else "<i4",)

    def encode(self, examples: Sequence[Mapping[str, Any]]) -> list[Parts]:
        texts = [self.joined(example[self.name]) for example in examples]
        most = self.max_length if self.cut else None
        return [(ids,) for ids in self.tokenizer.encode_ids(texts, most)]

    def tokens(self, values: Sequence[str | list[str]]) -> list[Tokens]:
        """The values in tokens, with the place of each; cut off as they are read."""
        most = self.max_length if self.cut else None
        return self.tokenizer.encode_many([self.joined(value) for value in values], most)

    def collate(self, several: Sequence[Parts]) -> dict[str, Tensor]:
        ids, mask = pad([parts[0] for parts in several], bos=self.bos, eos=self.eos)
        return {self.name: ids, f"{self.name}_mask": mask}

    def length(self, counts: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        return counts["ids"] + int(self.eos)

    def too_long(self, parts: Parts) -> str | None:
        if self.cut or self.max_length is None or len(parts[0]) <= self.max_length:
            return None
        return f"{{}}lines over {self.max_length} tokens"

    def show(self, value: str | list[str]) -> str:
        return super().show(self.joined(value))

    def describe(self, counts: Mapping[str, NDArray[np.int64]]) -> str:
        known = t("{count} {field} tokens", count=f"{self.size:,}", field=self.name)
        full = int((counts["ids"] >= self.max_length).sum()) if self.cut and self.max_length else 0
        if not full:
            return known
        return t(
            "{known} ({full} texts are read up to token {longest} only)",
            known=known,
            full=f"{full:,}",
            longest=self.max_length,
        )

    def lengths(self, value: str | list[str]) -> dict[str, int]:
        """In tokens too once a tokenizer is learnt: of the whole text, also where it is cut off."""
        if self.in_words:
            return {"words": len(value), "characters": sum(map(len, value))}
        text = self.joined(value)
        found = {"words": len(text.split()), "characters": len(text.strip())}
        if self._tokenizer is not None:
            (ids,) = self._tokenizer.encode_ids([text])
            found["tokens"] = len(ids)
        return found

    def joined(self, value: str | list[str]) -> str:
        """The text that tokens have their places in: words with blanks between them."""
        return value if isinstance(value, str) else " ".join(value)


def _pieces(text: str) -> list[str]:
    """What stands between blanks, as a tokenizer knows them."""
    return [piece for piece in BLANK.split(text) if piece]


def _text(cell: Cell) -> str:
    if not isinstance(cell, str):
        raise Unusable(NO_TEXT)
    return cell
