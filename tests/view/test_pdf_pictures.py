"""A PDF has the shapes and letters of the picture, is one page, and reads as other programs read PDFs."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard.looking.look import look
from regard.records.record import AttentionRecord
from regard.view.pdf.pdf_letters import as_helvetica, helvetica_width
from regard.view.pdf.svg_to_pdf import pdf_of

SHOWS = shutil.which("pdftoppm")
HEAD = '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="40">'


def objects_of(pdf: bytes) -> dict[int, bytes]:
    """By the table at its end, as a reader finds them."""
    assert pdf.startswith(b"%PDF-1.4")
    start = int(re.search(rb"startxref\n(\d+)\n%%EOF\n\Z", pdf)[1])
    places = [int(line[:10]) for line in pdf[start:].split(b"\n")[3:] if line.endswith(b" n ")]
    found = {}
    for number, place in enumerate(places, 1):
        assert pdf[place:].startswith(b"%d 0 obj\n" % number)
        found[number] = pdf[place : pdf.index(b"\nendobj", place)]
    return found


def operators_of(pdf: bytes) -> str:
    (content,) = (
        each for each in objects_of(pdf).values() if b"stream\n" in each and b"/Image" not in each
    )
    return zlib.decompress(content.partition(b"stream\n")[2].removesuffix(b"\nendstream")).decode()


def words_of(pdf: bytes) -> list[str]:
    found = re.findall(r"<([0-9A-F]+)> Tj", operators_of(pdf))
    return [bytes.fromhex(each).decode("cp1252") for each in found]


@pytest.fixture
def view():
    weights = np.array([[0.75, 0.25], [0.0, 1.0]])
    return look(AttentionRecord.of(weights, ["I", "am"], ["我", "ok"], title="我 ok", model="m"))


def test_letters_are_letters_and_other_scripts_are_images(view, tmp_path):
    pdf = view.save(tmp_path / "a.pdf").read_bytes()
    words = words_of(pdf)
    for text in ("I", "am", "ok", "0.75", "0.25", "1.00", "weight", "m"):
        assert text in words
    images = [each for each in objects_of(pdf).values() if b"/Subtype /Image" in each]
    masks = [each for each in images if b"/DeviceGray" in each]
    assert (len(images), len(masks)) == (4, 2)  # 我 over a column, and 我 ok as the title
    assert pdf == view.to_pdf()  # no dates: the same view is the same file
    title = "attention. 我 ok: attention".encode("utf-16-be").hex().upper().encode()
    assert title in pdf


def test_shapes_are_where_they_were():
    svg = (
        f'{HEAD}<g transform="translate(10 5) rotate(90)"><rect x="1" y="2" width="3" height="4" '
        'fill="#ff0000" fill-opacity="0.5"/></g><path d="M1 2L3 4C5 6 7 8 9 10Z" stroke="#000" '
        'fill="none" stroke-dasharray="3 3" stroke-width="2"/></svg>'
    )
    pdf = pdf_of(svg)
    operators = operators_of(pdf)
    for expected in (
        "0.75 0 0 -0.75 0 30 cm",
        "1 0 0 1 10 5 cm\n0 1 -1 0 0 0 cm",
        "1 0 0 rg\n1 2 3 4 re\nf",
        "0 0 0 RG 2 w\n[3 3] 0 d\n1 2 m\n3 4 l\n5 6 7 8 9 10 c\nh\nS",
    ):
        assert expected in operators
    assert b"/ca 0.5 /CA 1" in pdf
    assert b"/MediaBox [0 0 60 30]" in pdf
    assert operators.count("q") == operators.count("Q")


def test_what_is_not_known_is_drawn_as_pixels():
    pdf = pdf_of(f'{HEAD}<ellipse cx="40" cy="20" rx="9" ry="5" fill="#00ff00"/></svg>')
    assert operators_of(pdf).count(" Do") == 1
    assert b"/Width 240 /Height 120" in pdf


@pytest.mark.parametrize(
    ("text", "bold", "width"), [("student", False, 32.8), ("0.75", False, 19.5), ("é", True, 5.6)]
)
def test_widths_are_those_of_helvetica(text, bold, width):
    assert helvetica_width(text, 10, bold) == pytest.approx(width, abs=0.06)


def test_what_helvetica_has():
    assert as_helvetica("a · “é” −1") == b"a \xb7 \x93\xe9\x94 \x961"
    assert as_helvetica("≈0") is None
    assert as_helvetica("学") is None


@pytest.mark.skipif(SHOWS is None, reason="needs pdftoppm: apt install poppler-utils")
def test_it_looks_like_the_png(view, tmp_path):
    path = view.save(tmp_path / "a.pdf")
    subprocess.run([SHOWS, "-r", "96", "-png", path, tmp_path / "a"], check=True, timeout=120)
    (drawn,) = Path(tmp_path).glob("a-*.png")
    ours = np.asarray(Image.open(drawn).convert("RGB"), float)
    png = Image.open(io.BytesIO(view.to_png(zoom=1.0))).convert("RGB")
    theirs = np.asarray(png.resize(ours.shape[1::-1]), float)
    assert np.abs(ours - theirs).mean() < 5  # of 255; an empty page is off by more
    assert np.abs(255 - theirs).mean() > 9
