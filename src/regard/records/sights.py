"""How a picture was looked at, where there are no weights over its cells: what a record has as its `sight`.

    Glimpses    squares around places, one after the other                 (a retina: RAM)
    Canvases    a picture drawn step by step through windows, or read so   (DRAW)
    Warps       a picture read at other places                             (a spatial transformer)

A task fills one of them in and has a record without maps, or with:

    sight = Glimpses(
        PngImage.of(pixels),
        widths=(12, 24, 48),
        steps=tuple(GlimpseStep(x, y, seen=tuple(map(PngImage.of, scales)), beliefs=p) for …),
        labels=("0", "1", …),
    )
    AttentionRecord({}, (), title="digit.png", model=model, output="7 (0.98)", sight=sight)

Words that look at the cells of a grid (captions) need none of them: they have a map whose keys are
`Side.of_grid(PngImage.of(pixels).source, rows, columns)`.

Places are (x, y) from -1, the left and upper edge of the picture, to 1, as in `regard.layers.pictures`;
windows are x, y, δ, σ in pixels, the middle of the first at 1, as `GaussianWindow.box` has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.records.packed_arrays import pack, unpack
from regard.records.png_image import PngImage
from regard.records.side import NotARecord
from regard.words import t

Array = NDArray[np.float32]
MOST_STEPS = 1000
MOST_SCALES = 16
MOST_LABELS = 10_000
MOST_PLACES = 1 << 18  # of the grid of a warp
SUM = 0.01  # that beliefs may be off 1, as rounded ones are
FARTHEST = 1e6  # that a number of a place or a window may be


@dataclass(frozen=True)
class GlimpseStep:
    """One glimpse: where, what was seen there, and what was believed after it."""

    x: float  # from -1 to 1, or somewhat outside of the picture
    y: float
    seen: tuple[PngImage, ...] = ()  # at each of the widths, or nothing
    beliefs: tuple[float, ...] = ()  # the probability of each label, or nothing

    def __post_init__(self) -> None:
        _check_numbers("a place", self.x, self.y)
        _check_beliefs(self.beliefs)

    def to_dict(self) -> dict[str, Any]:
        seen = [each.to_dict() for each in self.seen]
        return {"x": self.x, "y": self.y, "seen": seen, "beliefs": list(self.beliefs)}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> GlimpseStep:
        seen = tuple(map(PngImage.from_dict, given.get("seen", ())))
        return cls(given["x"], given["y"], seen, tuple(given.get("beliefs", ())))


@dataclass(frozen=True)
class Glimpses:
    """Squares of some widths around each place of a path."""

    image: PngImage
    widths: tuple[float, ...]  # of the squares in pixels of the picture, the sharpest first
    steps: tuple[GlimpseStep, ...]
    labels: tuple[str, ...] = ()  # what the beliefs are about

    kind = "glimpses"

    def __post_init__(self) -> None:
        _check_steps(self.steps, self.labels)
        _check_numbers("the width of a glimpse", *self.widths, least=0)
        if not 0 < len(self.widths) <= MOST_SCALES:
            raise NotARecord(
                t(
                    "glimpses have 1 to {most_scales} widths, not {count}",
                    most_scales=MOST_SCALES,
                    count=len(self.widths),
                )
            )
        for step in self.steps:
            if len(step.seen) not in (0, len(self.widths)):
                raise NotARecord(
                    t(
                        "a glimpse at {count} widths sees as many pictures, or none, not {seen}",
                        count=len(self.widths),
                        seen=len(step.seen),
                    )
                )

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "image": self.image.to_dict(),
            "widths": list(self.widths),
            "steps": [step.to_dict() for step in self.steps],
            "labels": list(self.labels),
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Glimpses:
        steps = tuple(map(GlimpseStep.from_dict, given["steps"]))
        image = PngImage.from_dict(given["image"])
        return cls(image, tuple(given["widths"]), steps, tuple(given.get("labels", ())))


@dataclass(frozen=True)
class FilterWindow:
    """count × count Gaussian filters of width σ, δ pixels apart, around (x, y); the first pixel is at 1."""

    x: float
    y: float
    spacing: float  # δ
    blur: float  # σ
    count: int  # N

    def __post_init__(self) -> None:
        _check_numbers("a window", self.x, self.y)
        _check_numbers("the spacing and blur of a window", self.spacing, self.blur, least=0)
        if type(self.count) is not int or not 0 < self.count <= 1000:
            raise NotARecord(
                t("a window has 1 to 1,000 filters each way, not {count}", count=repr(self.count))
            )


@dataclass(frozen=True)
class CanvasStep:
    """One step of a drawing: the canvas after it, and where was read and written for it."""

    canvas: PngImage | None = None  # None: a model that reads, and draws nothing
    read: FilterWindow | None = None  # None: all was read, or nothing
    write: FilterWindow | None = None
    seen: PngImage | None = None  # what came through the read window, N × N
    beliefs: tuple[float, ...] = ()  # the probability of each label, or nothing

    def __post_init__(self) -> None:
        _check_beliefs(self.beliefs)

    def to_dict(self) -> dict[str, Any]:
        return {
            "canvas": None if self.canvas is None else self.canvas.to_dict(),
            "read": None if self.read is None else vars(self.read),
            "write": None if self.write is None else vars(self.write),
            "seen": None if self.seen is None else self.seen.to_dict(),
            "beliefs": list(self.beliefs),
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> CanvasStep:
        def part(name: str, read: Callable[[Any], Any]) -> Any:
            return None if given.get(name) is None else read(given[name])

        def window(told: Mapping[str, Any]) -> FilterWindow:
            return FilterWindow(**told)

        return cls(
            part("canvas", PngImage.from_dict),
            part("read", window),
            part("write", window),
            part("seen", PngImage.from_dict),
            tuple(given.get("beliefs", ())),
        )


@dataclass(frozen=True)
class Canvases:
    """A picture that is drawn, or only read, through windows that move and zoom."""

    image: PngImage | None  # what is read; None: it is drawn of nothing
    steps: tuple[CanvasStep, ...]
    labels: tuple[str, ...] = ()

    kind = "canvases"

    def __post_init__(self) -> None:
        _check_steps(self.steps, self.labels)
        if self.image is None and any(step.canvas is None for step in self.steps):
            raise NotARecord(t("canvases have a picture that is read, or a canvas at every step"))

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "image": None if self.image is None else self.image.to_dict(),
            "steps": [step.to_dict() for step in self.steps],
            "labels": list(self.labels),
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Canvases:
        image = None if given.get("image") is None else PngImage.from_dict(given["image"])
        steps = tuple(map(CanvasStep.from_dict, given["steps"]))
        return cls(image, steps, tuple(given.get("labels", ())))


@dataclass(frozen=True, eq=False)
class WarpedImage:
    """What one warp makes of the picture, and where it reads each pixel of that.

    grid (h, w, 2): row i, column j is where in the picture (x, y) the place ((2j + 1) / w - 1,
    (2i + 1) / h - 1) of the result is read: `Warp.grid(theta, (h, w))` of any size, the result's or a
    smaller one.
    """

    image: PngImage  # after
    grid: Array
    name: str = ""  # "affine", "thin plate"; tells several apart

    def __post_init__(self) -> None:
        shape = self.grid.shape
        if len(shape) != 3 or shape[2] != 2 or not 0 < shape[0] * shape[1] <= MOST_PLACES:
            raise NotARecord(
                t(
                    "the grid of a warp is (rows, columns, 2) with 1 to {most_places} places, not "
                    "{shape}",
                    most_places=f"{MOST_PLACES:,}",
                    shape=shape,
                )
            )
        if not (np.isfinite(self.grid).all() and np.abs(self.grid).max() <= FARTHEST):
            raise NotARecord(
                t(
                    "the places of a warp are finite and within ±{farthest}",
                    farthest=f"{FARTHEST:,.0f}",
                )
            )

    def to_dict(self) -> dict[str, Any]:
        grid = pack(self.grid, weights=False)
        return {"image": self.image.to_dict(), "grid": grid, "name": self.name}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> WarpedImage:
        _check_text("the name of a warp", given.get("name", ""))
        image = PngImage.from_dict(given["image"])
        return cls(image, unpack(given["grid"]), given.get("name", ""))


@dataclass(frozen=True)
class Warps:
    """A picture before and after one warp, or several that look side by side."""

    image: PngImage  # before
    warps: tuple[WarpedImage, ...]

    kind = "warp"

    def __post_init__(self) -> None:
        if not 0 < len(self.warps) <= MOST_SCALES:
            raise NotARecord(
                t(
                    "there are 1 to {most_scales} warps, not {count}",
                    most_scales=MOST_SCALES,
                    count=len(self.warps),
                )
            )

    def to_dict(self) -> dict[str, Any]:
        warps = [each.to_dict() for each in self.warps]
        return {"kind": self.kind, "image": self.image.to_dict(), "warps": warps}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Warps:
        image = PngImage.from_dict(given["image"])
        return cls(image, tuple(map(WarpedImage.from_dict, given["warps"])))


Sight = Glimpses | Canvases | Warps
SIGHTS: dict[str, type[Glimpses] | type[Canvases] | type[Warps]] = {
    each.kind: each for each in (Glimpses, Canvases, Warps)
}


def read_sight(given: Mapping[str, Any]) -> Sight:
    """Of what JSON has; `NotARecord` says what is wrong."""
    if not isinstance(given, Mapping) or given.get("kind") not in SIGHTS:
        raise NotARecord(
            t(
                "a sight is of the kind {sights}, not {given}",
                sights=", ".join(SIGHTS),
                given=str(given)[:40],
            )
        )
    return SIGHTS[given["kind"]].from_dict(given)


def _check_steps(steps: Sequence[GlimpseStep | CanvasStep], labels: Sequence[str]) -> None:
    if not 0 < len(steps) <= MOST_STEPS:
        raise NotARecord(
            t(
                "there are 1 to {most_steps} steps, not {count}",
                most_steps=f"{MOST_STEPS:,}",
                count=len(steps),
            )
        )
    if len(labels) > MOST_LABELS:
        raise NotARecord(
            t(
                "there are at most {most_labels} labels, not {count}",
                most_labels=f"{MOST_LABELS:,}",
                count=len(labels),
            )
        )
    for label in labels:
        _check_text("a label", label)
    for step in steps:
        if len(step.beliefs) not in (0, len(labels)):
            raise NotARecord(
                t(
                    "there are {count} labels, and a step believes in {beliefs}",
                    count=len(labels),
                    beliefs=len(step.beliefs),
                )
            )


def _check_beliefs(beliefs: Sequence[float]) -> None:
    _check_numbers("a belief", *beliefs, least=-1e-6, most=1 + 1e-3)
    if beliefs and abs(sum(beliefs) - 1) > SUM:
        raise NotARecord(
            t(
                "the beliefs of a step are probabilities, which sum to 1, and these to {beliefs}",
                beliefs=f"{sum(beliefs):.4g}",
            )
        )


def _check_numbers(
    name: str, *numbers: object, least: float = -FARTHEST, most: float = FARTHEST
) -> None:
    for number in numbers:
        if (
            isinstance(number, int | float)
            and not isinstance(number, bool)
            and least <= number <= most
        ):
            continue
        raise NotARecord(
            t(
                "{name} is told by finite numbers of a usual size, not {number}",
                name=name,
                number=str(number)[:40],
            )
        )


def _check_text(name: str, text: object) -> None:
    if not isinstance(text, str):
        raise NotARecord(t("{name} is a text, not {text}", name=name, text=repr(text)))
