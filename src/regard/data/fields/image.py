"""A picture, grey or in colour."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.fields.field import Cell, Field, Parts, Unusable
from regard.data.fields.nested_numbers import array_of
from regard.data.fields.picture_doubts import lost_colours, opposite_ground, several_shapes
from regard.data.fields.read_picture import (
    ReadPicture,
    border_brightness,
    has_colours,
    picture_words,
)
from regard.data.fields.standardisation import Moments, Standardisation
from regard.words import t

Pixels = NDArray[np.uint8]  # (H, W, C)
MOST_PIXELS = 1 << 24  # of a picture that is kept as it is
HEAVIEST = 1 << 27  # bytes of a file
ANY_SHAPE = (28, 28)  # to try a model with
OPPOSITE = 0.5  # of the brightness from 0 to 1, between two grounds


class Image(Field):
    """x = (pixel / 255 - mean) / deviation, by channel, as the training part has them.

    A cell is the path of a PNG or JPEG file (from the folder of the corpus), its bytes, these as a text
    (data:image/png;base64,…), an array or nested lists: (H, W), (H, W, C) or (C, H, W), whole numbers from
    0 to 255 or fractions from 0 to 1. channels: 1 or 3; colours become grey and grey becomes colours.
    Transparent parts are white. size: (H, W) that all are stretched to. Without it they keep theirs: if
    those of the training part are of one size, others are not trained on; if not, a batch is padded with the
    mean, on the right and below. standardise: without it x is pixel / 255, and padding is black,
    as all is outside of a picture.

    Tensors: NAME (B, C, H, W) float32; if sizes differ, NAME_mask (B, H, W) bool too, True where a pixel
    is real.
    """

    parts: ClassVar = ("pixels", "shape")  # H·W·C numbers; H and W
    any_cell: ClassVar = "….png"

    def __init__(
        self,
        name: str,
        *,
        channels: int = 1,
        size: tuple[int, int] | None = None,
        standardise: bool = True,
    ) -> None:
        super().__init__(name)
        if channels not in (1, 3):
            raise ValueError(
                t(
                    "a picture has 1 channel (grey) or 3 (colours), not {channels}",
                    channels=channels,
                )
            )
        if size is not None and not (len(size) == 2 and min(size) > 0):
            raise ValueError(t("the size of a picture is (height, width), not {size}", size=size))
        self.channels, self.stretched_to = channels, size
        self.shape = size  # of all pictures; None: they differ
        self.standardise = standardise
        self.scale: Standardisation | None = None
        self.ground: tuple[float, float] | None = None  # brightness of borders: mean, deviation

    def __repr__(self) -> str:
        said = f"{self.name!r}, channels={self.channels}, size={self.stretched_to}"
        return f"Image({said})" if self.standardise else f"Image({said}, standardise=False)"

    def read(self, cell: Cell, folder: Path | None = None) -> Pixels:
        return self._read(cell, folder, self.stretched_to)

    def accept(self, value: Cell, *, files: bool = True) -> Pixels:
        """Stretched to the one size of all pictures that were learnt from, if they had one."""
        from regard.data.picture_files import MOST_SENT

        size = self.stretched_to or self.shape
        return self._read(value, Path() if files else None, size, None if files else MOST_SENT)

    def _read(
        self, cell: Cell, folder: Path | None, size: tuple[int, int] | None, most: int | None = None
    ) -> Pixels:
        """most: pixels that a file may have."""
        from PIL import Image as Pillow  # loaded by those who have pictures

        from regard.data.picture_files import URI, bytes_in, decoded, is_bare_base64

        file = ""
        if isinstance(cell, str) and cell.lstrip().startswith(URI):
            cell = bytes_in(cell)
        elif isinstance(cell, str) and is_bare_base64(cell):
            raise Unusable(
                "{}lines with a picture in base64 alone: write data:image/png;base64, before it"
            )
        elif isinstance(cell, str | Path):
            file, cell = str(cell).strip(), _file(str(cell), folder)
        if (whole := self._as_it_is(cell, size)) is not None:
            return whole
        picture = (
            decoded(cell, most) if isinstance(cell, bytes) else Pillow.fromarray(_pixels(cell))
        )
        lost = self.channels == 1 and picture.mode == "RGB" and has_colours(np.asarray(picture))
        picture = picture.convert("L" if self.channels == 1 else "RGB")
        stretched_from = None if size in (None, picture.size[::-1]) else picture.size[::-1]
        if size is not None:
            picture = picture.resize((size[1], size[0]), Pillow.Resampling.BILINEAR)
        elif picture.width * picture.height > MOST_PIXELS:
            raise Unusable(
                f"{{}}lines with a picture over {MOST_PIXELS:,} pixels, which no size is given for"
            )
        pixels = np.asarray(picture).reshape(picture.height, picture.width, self.channels)
        return ReadPicture.of(pixels, file=file, lost_colours=lost, stretched_from=stretched_from)

    def _as_it_is(self, cell: Cell, size: tuple[int, int] | None) -> Pixels | None:
        """An array of bytes with nothing to be changed, as most of a large corpus are."""
        if not isinstance(cell, np.ndarray) or cell.dtype != np.uint8 or not cell.size:
            return None
        pixels = cell[..., None] if cell.ndim == 2 else cell
        if (
            pixels.ndim != 3
            or pixels.shape[2] != self.channels
            or size not in (None, pixels.shape[:2])
        ):
            return None
        fits = pixels.shape[0] * pixels.shape[1] <= MOST_PIXELS
        return ReadPicture.of(np.ascontiguousarray(pixels)) if fits else None

    def check_known(self, value: Pixels) -> None:
        if self.shape is not None and value.shape[:2] != self.shape:
            seen, wanted = (f"{wide}x{high}" for high, wide in (value.shape[:2], self.shape))
            raise ValueError(
                t("a picture of {seen}, where all are {wanted}", seen=seen, wanted=wanted)
            )

    def identity(self, value: Pixels) -> str:
        return hashlib.blake2b(
            repr(value.shape).encode() + value.tobytes(), digest_size=16
        ).hexdigest()

    @property
    def file(self) -> str:
        return f"pixels.{self.name}.json"

    def learn(self, values: Iterable[Pixels]) -> None:
        moments, shapes, borders = Moments(self.channels), set(), Moments(1)
        for value in values:
            borders.add(np.array([[border_brightness(value)]]))
            if self.standardise:
                moments.add(value.reshape(-1, self.channels) / 255)
            shapes.add((value.shape[0], value.shape[1]))
        if not shapes:
            raise ValueError(t("there are no pictures to learn from"))
        self.ground = float(borders.mean[0]), float(borders.deviation[0])
        self.scale = moments.scale() if self.standardise else Standardisation.none(self.channels)
        if self.stretched_to is None:
            self.shape = shapes.pop() if len(shapes) == 1 else None

    def to_json(self) -> str:
        size = None if self.shape is None else list(self.shape)
        known = {"channels": self.channels, "size": size, **self._scale.to_json()}
        return json.dumps(known if self.ground is None else {**known, "ground": self.ground}) + "\n"

    def load(self, text: str) -> None:
        match json.loads(text):
            case {"channels": self.channels, "size": [int(height), int(width)], **rest}:
                shape: tuple[int, int] | None = (height, width)
            case {"channels": self.channels, "size": None, **rest}:
                shape = None
            case _:
                raise ValueError(
                    t("it is not about pictures of {channels} channels", channels=self.channels)
                )
        if self.stretched_to not in (None, shape):
            raise ValueError(
                t(
                    "it is about pictures of {shape}, not of {stretched_to}",
                    shape=shape,
                    stretched_to=self.stretched_to,
                )
            )
        scale = Standardisation.from_json(rest, self.channels)
        if not (self.standardise or scale.changes_nothing):
            raise ValueError(t("it is about pictures that are standardised"))
        self.scale, self.shape, self.ground = scale, shape, _ground(rest.get("ground"))

    def doubts(self, values: Sequence[Pixels]) -> list[str]:
        """Colours that are lost, shapes, and grounds that are the opposite of what was learnt."""
        found = []
        if lost := sum(getattr(value, "lost_colours", False) for value in values):
            found.append(lost_colours(lost, len(values)))
        shapes = [getattr(value, "stretched_from", None) or value.shape[:2] for value in values]
        if self.shape is not None and len({round(wide / high, 2) for high, wide in shapes}) > 1:
            found.append(several_shapes(shapes, self.shape))
        if self.ground is None:
            return found
        mean, deviation = self.ground
        apart = max(OPPOSITE, 3 * deviation)
        if other := sum(abs(border_brightness(value) - mean) > apart for value in values):
            found.append(opposite_ground(other, len(values), bright=mean < OPPOSITE))
        return found

    @property
    def any_size(self) -> tuple[int, int, int]:
        return (self.channels, *(self.shape or ANY_SHAPE))

    @property
    def size(self) -> tuple[int, int | None, int | None]:
        """(C, H, W), or (C, None, None) if their sizes differ."""
        return (self.channels, *(self.shape or (None, None)))

    @property
    def types(self) -> tuple[str, ...]:
        return ("|u1", "<i4")

    def encode(self, examples: Sequence[Mapping[str, Any]]) -> list[Parts]:
        values = (example[self.name] for example in examples)
        return [(value.reshape(-1), value.shape[:2]) for value in values]

    def collate(self, several: Sequence[Parts]) -> dict[str, Tensor]:
        shapes = [(int(height), int(width)) for _, (height, width) in several]
        if self.shape is not None and set(shapes) == {self.shape}:
            whole = np.stack([np.asarray(pixels) for pixels, _ in several])
            return {self.name: self._tensor(whole.reshape(-1, *self.shape, self.channels))}
        high, wide = (max((shape[axis] for shape in shapes), default=0) for axis in (0, 1))
        images = np.zeros((len(several), high, wide, self.channels), np.float32)
        mask = np.zeros((len(several), high, wide), bool)
        for number, ((pixels, _), (height, width)) in enumerate(zip(several, shapes, strict=True)):
            whole = np.asarray(pixels).reshape(height, width, self.channels)
            images[number, :height, :width] = self._scale.applied(whole / np.float32(255))
            mask[number, :height, :width] = True
        tensors = {self.name: torch.from_numpy(images.transpose(0, 3, 1, 2).copy())}
        return tensors | ({} if self.shape else {f"{self.name}_mask": torch.from_numpy(mask)})

    def collate_even(self, parts: Sequence[NDArray[Any]]) -> dict[str, Tensor]:
        pixels, shapes = parts
        if self.shape is None or not (shapes == self.shape).all():
            return super().collate_even(parts)
        return {self.name: self._tensor(pixels.reshape(-1, *self.shape, self.channels))}

    def _tensor(self, pixels: Pixels) -> Tensor:
        """(B, H, W, C) -> (B, C, H, W), scaled."""
        scaled: NDArray[np.float32] = np.divide(pixels, 255, dtype=np.float32)
        if self.standardise:
            scaled = self._scale.applied(scaled)
        return torch.from_numpy(np.ascontiguousarray(scaled.transpose(0, 3, 1, 2)))

    def describe(self, counts: Mapping[str, NDArray[np.int64]]) -> str:
        size = t("of several sizes")
        if self.shape is not None:
            size = f"{self.shape[1]}x{self.shape[0]}"
        if self.channels == 1:
            return t("grey pictures, {size}", size=size)
        return t("coloured pictures, {size}", size=size)

    def length(self, counts: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64] | None:
        """Pixels, if sizes differ."""
        return None if self.shape else counts["pixels"] // self.channels

    def extent(self, example: Mapping[str, Any]) -> int:
        """A position for every 8 × 8 pixels."""
        height, width = example[self.name].shape[:2]
        return -(-height // 8) * -(-width // 8)

    def too_long(self, parts: Parts) -> str | None:
        if self.shape is None or tuple(map(int, parts[1])) == self.shape:
            return None
        return f"{{}}lines with a picture that is not {self.shape[1]}x{self.shape[0]}"

    def lengths(self, value: Pixels) -> dict[str, int]:
        return {"width": value.shape[1], "height": value.shape[0]}

    def show(self, value: Pixels) -> str:
        return picture_words(value)

    @property
    def _scale(self) -> Standardisation:
        if self.scale is None:
            raise ValueError(
                t("{value} has learnt no mean yet: learn or load one", value=repr(self))
            )
        return self.scale


def _file(name: str, folder: Path | None) -> bytes:
    if folder is None:
        raise Unusable("{}lines that name a file, which cannot be read here")
    try:
        path = folder / name.strip()
        if path.is_dir():
            raise Unusable("{}lines that name a folder, not a picture")
        if not path.is_file():  # no pipe, which never ends
            raise Unusable("{}lines that name a missing file")
        if path.stat().st_size > HEAVIEST:
            raise Unusable(f"{{}}lines with a picture over {HEAVIEST:,} bytes")
        return path.read_bytes()
    except Unusable:
        raise
    except (OSError, ValueError):  # no leave to read it, a zero in the name
        raise Unusable("{}lines that name a missing file") from None


def _ground(found: object) -> tuple[float, float] | None:
    match found:
        case [int() | float() as mean, int() | float() as deviation] if (
            0 <= mean <= 1 and 0 <= deviation <= 1
        ):
            return float(mean), float(deviation)
        case None:  # runs of earlier versions have none
            return None
    raise ValueError(t("its ground is no brightness and deviation from 0 to 1"))


def _pixels(cell: Cell) -> Pixels:
    """(H, W) or (H, W, 3) from 0 to 255."""
    array = array_of(cell)
    if array.ndim == 3 and array.shape[2] not in (1, 3) and array.shape[0] in (1, 3):
        array = array.transpose(1, 2, 0)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] == 3)) or not array.size:
        raise Unusable(
            "{}lines with numbers that are no picture: height by width, and 1 or 3 channels"
        )
    shares = array.dtype.kind in "bf" and not _whole_beyond_one(array)
    most = 1 if shares else 255
    if not (array.min() >= 0 and array.max() <= most):  # not a number is neither
        raise Unusable(
            "{}lines with pixels that are neither whole numbers from 0 to 255 nor shares from 0 to 1"
        )
    if most == 1:
        array = np.rint(array * np.float64(255))
    return np.ascontiguousarray(array, np.uint8)


def _whole_beyond_one(array: NDArray[Any]) -> bool:
    """Whether they are whole numbers, and some of them no shares: bytes that became floats on their way."""
    return bool(array.max() > 1 and (array == np.rint(array)).all())
