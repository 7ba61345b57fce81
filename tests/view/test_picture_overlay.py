"""Weights over a picture are seen whatever the picture is: in stills, on the page and in a terminal."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from test_shared_data import NEEDS_NODE, on_the_page

from regard.looking.pictures import picture_record
from regard.records.side import Side
from regard.view.attention_view import View
from regard.view.colours import contrast
from regard.view.picked_matrix import Pick
from regard.view.stills.picture_overlay import LIFT, outline_of, overlaid, overlay

GRAPHICS = 3.0  # the contrast that WCAG 2 wants of what is not text
SHADES = [(0, 0, 0), (40, 40, 40), (128, 128, 128), (255, 255, 255), (200, 30, 30), (20, 60, 160)]
WEIGHTS = np.array([[0.1, 0.7, 0.1, 0.1], [0.25, 0.05, 0.1, 0.6]])
DARK = np.zeros((8, 8, 3), np.uint8)


def seen(ground: tuple[int, int, int], share: float) -> tuple[int, ...]:
    """A pixel of this colour, under the overlay."""
    found = overlaid(np.full((1, 1, 3), ground, np.uint8), np.array([[share]]))
    return tuple(int(part) for part in found[0, 0])


@pytest.mark.parametrize("ground", SHADES, ids=str)
def test_where_a_word_looked_stands_out_of_where_it_did_not(ground):
    assert contrast(seen(ground, 1), seen(ground, 0)) >= GRAPHICS


@pytest.mark.parametrize("ground", SHADES, ids=str)
def test_more_weight_is_never_darker(ground):
    steps = [contrast(seen(ground, share), (0, 0, 0)) for share in np.linspace(0, 1, 21)]
    assert all(after >= before * 0.995 for before, after in pairwise(steps))


@pytest.mark.parametrize("share", [0, 1])
def test_the_picture_is_seen_under_it(share):
    assert contrast(seen((255, 255, 255), share), seen((0, 0, 0), share)) >= 2


def test_each_cell_lies_over_its_part():
    shares = np.array([[0.0, 1.0], [0.5, 0.25]])
    found = overlaid(np.full((4, 6, 3), 90, np.uint8), shares)
    for row in range(4):
        for column in range(6):
            share = shares[row // 2, column // 3]
            wanted = 90 * (1 - overlay(share)) + share * LIFT * (1 - 90 / 255)
            np.testing.assert_allclose(found[row, column], wanted, atol=0.5)


def test_the_picture_keeps_its_colours():
    """What is attended to is as it is, also red; what is not is dim and never black."""
    assert overlay(1) == 0
    assert overlay(0) == pytest.approx(0.65)
    red = np.array([255, 0, 0], np.uint8)
    assert seen(tuple(red), 1) == (255, 0, 0)
    assert seen(tuple(red), 0) == (89, 0, 0)


def sides(lines: list) -> set:
    return {tuple(line) for line in lines}


def test_a_line_goes_around_the_strongest_cells():
    two = np.array([[0.1, 0.5, 1.0], [0.0, 0.2, np.nan]])
    around = {(1, 0, 2, 0), (2, 0, 3, 0), (1, 1, 2, 1), (2, 1, 3, 1), (1, 0, 1, 1), (3, 0, 3, 1)}
    assert sides(outline_of(two)) == around
    assert outline_of(np.ones((2, 2))) == []
    assert outline_of(np.zeros((2, 2))) == []


@NEEDS_NODE
def test_the_page_draws_the_same_line():
    shares = np.random.default_rng(0).random((4, 5)).round(3)
    given = f"{shares.ravel().tolist()}, 4, 5"
    theirs = on_the_page("drawing/picture_outline.js", f"page.outlineOf({given})")
    assert [tuple(line) for line in theirs] == outline_of(shares)


@NEEDS_NODE
def test_the_page_has_the_same_colours():
    shares = [-1, 0, 0.1, 0.5, 0.77, 1, 2]
    theirs = on_the_page("drawing/colours.js", f"{shares}.map((share) => page.overPicture(share))")
    for share, (red, green, blue, opacity) in zip(shares, theirs, strict=True):
        assert (red, green, blue) == (0, 0, 0)
        assert abs(opacity - 255 * overlay(share)) <= 1


def view(**options) -> View:
    record = picture_record(WEIGHTS, ["three", "nine"], DARK, grid=(2, 2), title="scene.png")
    return View((record,), Pick(**options))


def test_a_terminal_shows_the_picture_once_for_each_word(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    title, names, *drawn = view().to_text(colour=True).splitlines()
    assert title.startswith("scene.png")
    assert names.split() == ["three", "nine"]
    assert all(line.count("▀") == 2 * 8 for line in drawn[:4])
    first = re.findall(r"\x1b\[38;2;(\d+);(\d+);(\d+)", drawn[0])
    bright, dim = (tuple(map(int, first[at])) for at in (7, 0))  # the upper right, the upper left
    assert contrast(bright, dim) > 2.5
    assert drawn[-1] == "2  nine looked most at row 2, column 2: 0.60"


def test_without_colours_the_words_stand_where_they_looked(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, *drawn, first, second = view().to_text(colour=False).splitlines()
    assert [(line.find("1"), line.find("2")) for line in drawn] == [
        (-1, -1),
        (6, -1),
        (-1, -1),
        (-1, 6),
    ]
    assert first == "1  three looked most at row 1, column 2: 0.70"
    assert "\x1b" not in first + second


def test_words_that_are_many_are_counted():
    words = [f"w{n}" for n in range(20)]
    record = picture_record(np.full((20, 4), 0.25), words, DARK, grid=(2, 2))
    assert View((record,), Pick()).to_text().splitlines()[-1] == "… 4 words after these"


def test_keys_that_are_not_all_cells_keep_their_heat_map():
    record = picture_record(WEIGHTS, ["three", "nine"], DARK, grid=(2, 2))
    image = record.sides["image"]
    more = Side.of("", ["a", "b", "c"], [(0, 0)] * 3, words=range(3), picture=image.picture)
    cut = type(record)(
        {**record.sides, "image": more},
        (type(record.maps[0])("image", "words", "image", np.full((1, 1, 2, 3), 0.3, np.float32)),),
    )
    assert "looked most" not in View((cut,), Pick()).to_text()
