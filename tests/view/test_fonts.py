"""A PNG shows its words on a machine without fonts, and says which it cannot show."""

from __future__ import annotations

import io
import lzma
from functools import partial
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
import resvg_py
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont
from PIL import Image

from regard.records.record import AttentionRecord
from regard.view.attention_view import View
from regard.view.fonts import FONT
from regard.view.stills.png import BOX, NoFont, rasterise
from regard.view.stills.still_picture import draw

EMOJI, HANGUL = "\U0001f600", "한"
SQUARE = (0, 1000), (1000, 1000), (1000, 0)


@pytest.fixture
def no_fonts(monkeypatch) -> None:
    """A machine on which no font is installed."""
    bare = partial(resvg_py.svg_to_bytes, skip_system_fonts=True)
    monkeypatch.setattr(resvg_py, "svg_to_bytes", bare)


def picture(*keys: str, title: str = "") -> str:
    weights = np.full((1, len(keys)), 1 / len(keys))
    return draw([AttentionRecord.of(weights, ["x"], list(keys), title=title)])


def pixels(svg: str) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(rasterise(svg))).convert("RGB"))


def written(text: str, family: str = "sans-serif") -> np.ndarray:
    """The pixels of one text alone."""
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40"'
        f' fill="#fff"/><text x="4" y="30" font-size="24" font-family="{family}">{text}</text></svg>'
    )
    return pixels(svg)


@pytest.mark.usefixtures("no_fonts")
def test_without_a_font_on_the_machine_words_are_drawn():
    letters = [written(c) for c in "学生student。é—…→"]
    assert all((letter < 128).any() for letter in letters)
    assert len({letter.tobytes() for letter in letters}) == len(set("学生student。é—…→"))
    assert (pixels(picture("我", "是")) != pixels(picture("是", "我"))).any()


@pytest.mark.usefixtures("no_fonts")
def test_every_character_of_the_embedded_corpora_has_a_shape():
    has = set(map(chr, TTFont(FONT).getBestCmap()))
    corpora = resources.files("regard.data.corpora")
    for path in (path for path in corpora.iterdir() if path.name.endswith(".tsv.xz")):
        text = lzma.decompress(path.read_bytes()).decode("utf-8")
        words = (cell for line in text.splitlines() for cell in line.split("\t")[:2])
        assert {c for c in "".join(words) if c.isprintable()} <= has, path.name


@pytest.mark.usefixtures("no_fonts")
def test_a_character_that_no_font_has_is_a_box_and_told():
    with pytest.warns(
        NoFont, match=r"no font has '한' \(hangul.*and 1 more.*fonts-noto fonts-noto-cjk.*\.svg"
    ):
        drawn = pixels(picture("学", HANGUL, EMOJI))
    np.testing.assert_array_equal(drawn, pixels(picture("学", BOX, BOX)))


@pytest.mark.usefixtures("no_fonts")
def test_an_uncovered_emoji_is_a_box_with_its_name(tmp_path):
    def saved(*keys: str) -> np.ndarray:
        weights = np.full((1, len(keys)), 1 / len(keys))
        view = View((AttentionRecord.of(weights, ["x"], list(keys)),))
        return np.asarray(Image.open(view.save(tmp_path / "out.png")).convert("RGB"))

    with pytest.warns(NoFont, match=r"'\U0001f600' \(grinning face\), so the PNG shows a box"):
        framed = saved("学", EMOJI)
    lettered = saved("学", "[grinning face]")
    assert framed.shape == lettered.shape  # room is made for the name
    assert (framed < 128).any(2).sum() > (lettered < 128).any(2).sum()  # a frame, not brackets
    with pytest.warns(NoFont):
        mixed = saved("学", f"so {EMOJI}")
    np.testing.assert_array_equal(mixed, saved("学", "so [grinning face]"))
    svg = picture(EMOJI)
    assert EMOJI in svg  # what comes after is as before
    assert "grinning" not in svg


def test_the_fonts_of_the_system_come_first(monkeypatch, tmp_path):
    """The embedded one is asked only for what they do not have."""
    installed = black_square("学", "Noto Sans CJK SC", tmp_path / "installed.ttf")
    real = resvg_py.svg_to_bytes
    monkeypatch.setattr(
        resvg_py,
        "svg_to_bytes",
        lambda font_files, **options: real(
            font_files=[installed, *font_files], skip_system_fonts=True, **options
        ),
    )
    square, letter = (written(c, "'Noto Sans CJK SC', sans-serif") for c in "学生")
    assert (square < 128).all(axis=2).sum() == 48 * 48  # twice the font size
    np.testing.assert_array_equal(letter, written("生", "sans-serif"))


def black_square(character: str, family: str, path: Path) -> str:
    """A font with one character, as high and as wide as the text is large."""
    font = FontBuilder(1000)
    pen = TTGlyphPen(None)
    for move, place in [(pen.moveTo, (0, 0)), *((pen.lineTo, p) for p in SQUARE)]:
        move(place)
    pen.closePath()
    font.setupGlyphOrder([".notdef", "square"])
    font.setupCharacterMap({ord(character): "square"})
    font.setupGlyf({".notdef": TTGlyphPen(None).glyph(), "square": pen.glyph()})
    font.setupHorizontalMetrics({".notdef": (1000, 0), "square": (1000, 0)})
    font.setupHorizontalHeader(ascent=1000, descent=0)
    font.setupNameTable({"familyName": family, "styleName": "Regular", "psName": "Square"})
    font.setupOS2()
    font.setupPost()
    font.save(path)
    return str(path)


def test_text_stays_text_in_an_svg():
    drawn = picture("学", EMOJI)
    assert EMOJI in drawn
    assert "@font-face" not in drawn
    assert len(drawn) < 10_000
