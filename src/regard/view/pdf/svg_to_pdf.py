"""An SVG as `regard.view` draws them, as PDF: rectangles, paths, circles, lines, text, images, groups.

What it does not know (none of our drawings of weights has it) is drawn as pixels, the whole picture then.
"""

from __future__ import annotations

import base64
import io
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from regard.records.side import NotARecord
from regard.view.pdf.pdf_file import PdfFile, text_string
from regard.view.pdf.pdf_letters import (
    MARKS,
    LetterPatch,
    LetterStyle,
    as_helvetica,
    drawn_letters,
    helvetica_width,
)
from regard.view.stills.named_boxes import named
from regard.view.stills.png import NoFont, advice, missing_characters, render
from regard.words import t

Node = ElementTree.Element
SVG = "{http://www.w3.org/2000/svg}"
POINT = 0.75  # of an inch's 96 units
KAPPA = 0.5523  # a quarter of a circle as a curve
KNOWN = {"svg", "g", "rect", "path", "circle", "line", "text", "image", "use", "defs", "title"}
STROKES = re.compile(r"([MLCHVZz])([^MLCHVZz]*)")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
MOVES = re.compile(r"(translate|rotate|scale)\(([^)]*)\)")


def drawn_pdf(draw: Callable[[], str]) -> bytes:
    """The PDF of what `draw` draws; a character that no font has is a box with its name, and warned of."""
    svg = draw()
    if missing := missing_characters(svg):
        warnings.warn(advice(missing, t("a box with its name"), "PDF"), NoFont, stacklevel=3)
        with named(missing):
            svg = draw()
    return pdf_of(svg)


def pdf_of(svg: str) -> bytes:
    root = ElementTree.fromstring(svg)
    wide, high = float(root.get("width", 0)), float(root.get("height", 0))
    title = root.findtext(f"{SVG}title") or ""
    known = all(_tag(node) in KNOWN for node in root.iter()) and not _nested(root)
    sheet = _Sheet(PdfFile(), {} if not known else _letters(root))
    if known:
        _hand_down(root)
        sheet.ids = {node.get("id", ""): node for node in root.iter() if node.get("id")}
        for child in root:
            sheet.draw(child)
    else:
        sheet.place(_pixels(render(svg, zoom=3)), 0, 0, wide, high)
    return sheet.finished(wide, high, title)


def _hand_down(node: Node) -> None:
    """What a group says of its colours holds for all in it that does not say otherwise."""
    for child in node:
        for name in ("fill", "stroke") if _tag(node) == "g" else ():
            if (given := node.get(name)) is not None and child.get(name) is None:
                child.set(name, given)
        _hand_down(child)


def _tag(node: Node) -> str:
    return node.tag.removeprefix(SVG)


def _nested(root: Node) -> bool:
    return any(_tag(node) == "svg" for node in root.iter() if node is not root)


def _style(node: Node) -> LetterStyle:
    size = float(node.get("font-size", 12))
    bold = float(node.get("font-weight") or 400) >= 600
    return LetterStyle(size, bold, node.get("fill", "#000000"), node.get("font-family", ""))


def _letters(root: Node) -> dict[tuple[str, LetterStyle], LetterPatch]:
    texts = [node for node in root.iter() if _tag(node) == "text"]
    wanted = dict.fromkeys((node.text or "", _style(node)) for node in texts)
    return drawn_letters(
        [each for each in wanted if as_helvetica(each[0].translate(MARKS)) is None]
    )


def _pixels(data: bytes) -> NDArray[np.uint8]:
    try:
        with Image.open(io.BytesIO(data)) as opened:
            return np.asarray(opened.convert("RGBA"))
    except Exception as error:  # in a damaged file pillow trips over anything
        raise NotARecord(t("a picture of this record is damaged: {error}", error=error)) from None


@dataclass
class _Sheet:
    """One page while it is drawn on: its operators, and what they name."""

    file: PdfFile
    letters: dict[tuple[str, LetterStyle], LetterPatch]
    ids: dict[str, Node] = field(default_factory=dict)
    operators: list[str] = field(default_factory=list)
    images: dict[int, str] = field(default_factory=dict)  # object number -> name
    placed: dict[object, int] = field(default_factory=dict)  # what it is of -> object number
    opacities: dict[tuple[float, float], str] = field(default_factory=dict)

    def draw(self, node: Node, opacity: float = 1.0) -> None:
        tag = _tag(node)
        if tag in ("title", "defs"):
            return
        self.operators.append("q")
        for matrix in _moves(node.get("transform", "")):
            self.operators.append(f"{_numbers(*matrix)} cm")
        opacity *= float(node.get("opacity", 1))
        if tag == "g":
            for child in node:
                self.draw(child, opacity)
        elif tag == "use":
            self._use(node, opacity)
        elif tag == "text":
            self._text(node, opacity)
        elif tag == "image":
            self._image(node)
        else:
            self._shape(tag, node, opacity)
        self.operators.append("Q")

    def _use(self, node: Node, opacity: float) -> None:
        wanted = self.ids.get(node.get("href", "").lstrip("#"))
        if wanted is not None:
            self.draw(wanted, opacity)

    def _shape(self, tag: str, node: Node, opacity: float) -> None:
        fill, stroke = node.get("fill", "#000000"), node.get("stroke", "none")
        filled, stroked = fill != "none" and tag != "line", stroke != "none"
        if not filled and not stroked:
            return
        self._opacity(
            opacity * float(node.get("fill-opacity", 1)),
            opacity * float(node.get("stroke-opacity", 1)),
        )
        if filled:
            self.operators.append(f"{_colour(fill)} rg")
        if stroked:
            self.operators.append(f"{_colour(stroke)} RG {_number(node, 'stroke-width', 1):g} w")
            if dashes := node.get("stroke-dasharray"):
                self.operators.append(f"[{dashes.replace(',', ' ')}] 0 d")
        self.operators += _outline(tag, node)
        self.operators.append("B" if filled and stroked else "f" if filled else "S")

    def _text(self, node: Node, opacity: float) -> None:
        style, text = _style(node), node.text or ""
        if not text:
            return
        self._opacity(opacity, opacity)
        x, y = _number(node, "x"), _number(node, "y")
        anchor = {"middle": 0.5, "end": 1.0}.get(node.get("text-anchor", "start"), 0.0)
        plain = as_helvetica(text.translate(MARKS))
        if plain is None:
            patch = self.letters[text, style]
            high, wide = (size / 4 for size in patch.pixels.shape[:2])
            left = x + patch.left - anchor * patch.advance
            self._put(self._known((text, style), patch.pixels), left, y + patch.top, wide, high)
            return
        x -= anchor * helvetica_width(text.translate(MARKS), style.size, style.bold)
        name = "F2" if style.bold else "F1"
        written = "".join(f"{byte:02X}" for byte in plain)
        self.operators.append(
            f"BT {_colour(style.fill)} rg /{name} {style.size:g} Tf "
            f"1 0 0 -1 {_numbers(x, y)} Tm <{written}> Tj ET"
        )

    def _image(self, node: Node) -> None:
        source = node.get("href", "")
        known = self.placed.get(source)
        if known is None:
            data = base64.b64decode(source.partition(",")[2])
            known = self._known(source, _pixels(data))
        x, y = _number(node, "x"), _number(node, "y")
        self._put(known, x, y, _number(node, "width"), _number(node, "height"))

    def place(self, pixels: NDArray[np.uint8], x: float, y: float, w: float, h: float) -> None:
        self._put(self._known("all", pixels), x, y, w, h)

    def _known(self, what: object, pixels: NDArray[np.uint8]) -> int:
        if what not in self.placed:
            self.placed[what] = self.file.image(pixels)
        return self.placed[what]

    def _put(self, number: int, x: float, y: float, wide: float, high: float) -> None:
        """An image stands on its feet in a PDF, whose y points up."""
        name = self.images.setdefault(number, f"I{len(self.images)}")
        self.operators.append(f"q {_numbers(wide, 0, 0, -high, x, y + high)} cm /{name} Do Q")

    def _opacity(self, fill: float, stroke: float) -> None:
        if (fill, stroke) == (1.0, 1.0):
            return
        wanted = round(fill, 3), round(stroke, 3)
        name = self.opacities.setdefault(wanted, f"G{len(self.opacities)}")
        self.operators.append(f"/{name} gs")

    def finished(self, wide: float, high: float, title: str) -> bytes:
        file, (across, up) = self.file, (wide * POINT, high * POINT)
        begin = f"{_numbers(POINT, 0, 0, -POINT, 0, up)} cm"
        content = file.stream("", "\n".join([begin, *self.operators]).encode("latin-1"))
        fonts = " ".join(
            f"/{name} << /Type /Font /Subtype /Type1 /BaseFont /{family} /Encoding /WinAnsiEncoding >>"
            for name, family in (("F1", "Helvetica"), ("F2", "Helvetica-Bold"))
        )
        images = " ".join(f"/{name} {number} 0 R" for number, name in self.images.items())
        states = " ".join(
            f"/{name} << /ca {fill:g} /CA {stroke:g} >>"
            for (fill, stroke), name in self.opacities.items()
        )
        named_things = f"/Font << {fonts} >> /XObject << {images} >> /ExtGState << {states} >>"
        pages, page = file.reserve(), file.reserve()
        file.put(
            page,
            f"<< /Type /Page /Parent {pages} 0 R /MediaBox [0 0 {_numbers(across, up)}] "
            f"/Contents {content} 0 R /Resources << {named_things} >> >>",
        )
        file.put(pages, f"<< /Type /Pages /Kids [{page} 0 R] /Count 1 >>")
        catalog = file.add(f"<< /Type /Catalog /Pages {pages} 0 R >>")
        info = file.add(f"<< /Title {text_string(title)} /Producer (regard) >>")
        return file.written(catalog, info)


def _moves(transform: str) -> Iterator[tuple[float, ...]]:
    for kind, given in MOVES.findall(transform):
        numbers = [float(each) for each in NUMBER.findall(given)]
        if kind == "translate":
            yield 1, 0, 0, 1, numbers[0], numbers[1] if len(numbers) > 1 else 0.0
        elif kind == "scale":
            yield numbers[0], 0, 0, numbers[-1], 0, 0
        else:
            turn = np.deg2rad(numbers[0])
            yield np.cos(turn), np.sin(turn), -np.sin(turn), np.cos(turn), 0, 0


def _outline(tag: str, node: Node) -> list[str]:
    if tag == "path":
        return _path(node.get("d", ""))
    if tag == "line":
        ends = [_number(node, name) for name in ("x1", "y1", "x2", "y2")]
        return [f"{_numbers(*ends[:2])} m {_numbers(*ends[2:])} l"]
    if tag == "circle":
        x, y, r = (_number(node, name) for name in ("cx", "cy", "r"))
        return _rounded(x - r, y - r, 2 * r, 2 * r, r)
    x, y, wide, high = (_number(node, name) for name in ("x", "y", "width", "height"))
    round_by = min(_number(node, "rx"), wide / 2, high / 2)
    if round_by > 0:
        return _rounded(x, y, wide, high, round_by)
    return [f"{_numbers(x, y, wide, high)} re"]


def _rounded(x: float, y: float, wide: float, high: float, r: float) -> list[str]:
    k, right, low = r * (1 - KAPPA), x + wide, y + high
    return [
        f"{_numbers(x + r, y)} m {_numbers(right - r, y)} l",
        f"{_numbers(right - k, y, right, y + k, right, y + r)} c {_numbers(right, low - r)} l",
        f"{_numbers(right, low - k, right - k, low, right - r, low)} c {_numbers(x + r, low)} l",
        f"{_numbers(x + k, low, x, low - k, x, low - r)} c {_numbers(x, y + r)} l",
        f"{_numbers(x, y + k, x + k, y, x + r, y)} c h",
    ]


def _path(d: str) -> list[str]:
    made, x, y = [], 0.0, 0.0
    for kind, given in STROKES.findall(d):
        numbers = [float(each) for each in NUMBER.findall(given)]
        if kind in "Zz":
            made.append("h")
            continue
        if kind == "H":
            numbers, kind = [numbers[0], y], "L"
        elif kind == "V":
            numbers, kind = [x, numbers[0]], "L"
        each = 6 if kind == "C" else 2
        for at in range(0, len(numbers), each):
            operator = "c" if kind == "C" else "m" if kind == "M" and at == 0 else "l"
            made.append(f"{_numbers(*numbers[at : at + each])} {operator}")
        x, y = numbers[-2:]
    return made


def _number(node: Node, name: str, usual: float = 0.0) -> float:
    return float(node.get(name, usual))


def _numbers(*numbers: float) -> str:
    return " ".join(f"{number:.3f}".rstrip("0").rstrip(".") for number in numbers)


def _colour(colour: str) -> str:
    digits = colour.lstrip("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    return _numbers(*(int(digits[n : n + 2], 16) / 255 for n in (0, 2, 4)))
