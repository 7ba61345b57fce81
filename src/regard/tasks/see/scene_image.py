"""A picture that scenes are made of: some of the training part are kept, to be cut into clutter."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.fields import Image
from regard.data.fields.field import Cell, Unusable
from regard.data.fields.image import Pixels
from regard.words import t


class SceneImage(Image):
    """An `Image` of pixels from 0 to 1, all of one size.

    kept: about how many pictures of the training part, from all over it, are a part of what is learnt (up to
    twice as many), so that a run can make its scenes again wherever it is. beside: how many pictures stand
    side by side in what is asked about.
    """

    def __init__(
        self,
        name: str,
        *,
        channels: int = 1,
        size: tuple[int, int] | None = None,
        kept: int = 0,
        beside: int = 1,
    ) -> None:
        super().__init__(name, channels=channels, size=size, standardise=False)
        self.kept, self.beside = kept, beside
        self.scene: tuple[int, int] | None = None  # the size of scenes, if it is another
        self.bank: NDArray[np.uint8] = np.zeros((0, 1, 1, channels), np.uint8)  # (N, H, W, C)

    def __repr__(self) -> str:
        return f"{super().__repr__()} of {self.kept} kept"

    def accept(self, value: Cell, *, files: bool = True) -> Pixels:
        """As it is, if it is as large as a scene; else stretched to the size of those to learn from."""
        from regard.data.picture_files import MOST_SENT

        folder, most = (Path(), None) if files else (None, MOST_SENT)
        if self.scene is not None:
            with suppress(Unusable):  # which is told below
                whole = self._read(value, folder, None, most)
                if whole.shape[:2] == self.scene:
                    return whole
        wanted = self.stretched_to or self.shape
        size = None if wanted is None else (wanted[0], wanted[1] * self.beside)
        return self._read(value, folder, size, most)

    def learn(self, values: Iterable[Pixels]) -> None:
        bank: list[Pixels] = []
        super().learn(_spread(values, self.kept, bank))
        if self.shape is None:
            raise ValueError(
                t("the pictures differ in size: task.size=[28,28] stretches all of them to one")
            )
        self.bank = np.stack(bank) if bank else self.bank

    def to_json(self) -> str:
        known = json.loads(super().to_json())
        packed = base64.b64encode(zlib.compress(self.bank.tobytes(), 9)).decode()
        return json.dumps({**known, "kept": len(self.bank), "bank": packed}) + "\n"

    def load(self, text: str) -> None:
        super().load(text)
        match json.loads(text):
            case {"kept": int(count), "bank": str(packed)} if self.shape and 0 <= count <= 1 << 16:
                shape = (count, *self.shape, self.channels)
                data = _unpacked(packed, int(np.prod(shape)))
                self.bank = np.frombuffer(data, np.uint8).reshape(shape)
            case _:
                raise ValueError(t("it does not say which pictures are kept"))

    def check_known(self, value: Any) -> None:
        if self.shape is not None and value.shape[:2] != self.shape:
            here, there = (f"{shape[1]}x{shape[0]}" for shape in (value.shape, self.shape))
            raise ValueError(
                t(
                    "a picture of {here} pixels, where those to learn from have {there}",
                    here=here,
                    there=there,
                )
            )


def _spread(values: Iterable[Pixels], kept: int, bank: list[Pixels]) -> Iterator[Pixels]:
    """The same; every so many of them, about `kept` in all, are put into the bank."""
    step = 1
    for number, value in enumerate(values):
        if kept and number % step == 0:
            bank.append(value)
            if len(bank) == 2 * kept:
                del bank[1::2]
                step *= 2
        yield value


def _unpacked(packed: str, length: int) -> bytes:
    """No more than so many bytes, whatever is in it."""
    try:
        data = zlib.decompressobj().decompress(base64.b64decode(packed, validate=True), length + 1)
    except (ValueError, zlib.error):
        raise ValueError(t("the pictures in it are damaged")) from None
    if len(data) != length:
        raise ValueError(t("it holds more or fewer pictures than it says"))
    return data
