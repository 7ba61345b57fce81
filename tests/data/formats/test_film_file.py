"""Films of moving digits: always alike, told right, and refused where their settings are wrong."""

from __future__ import annotations

import json

import numpy as np
import pytest

from regard.data.problems import CorpusError
from regard.data.rows import read_rows
from regard.data.scenes.moving_digits import FEATURES, WHERE, FilmSettings, moving_digits
from regard.data.spec import parse

NAMES = ["frames", "label", "digit", "caption", "caption_zh"]
MOVES = {"right": (0, 1), "left": (0, -1), "down": (1, 0), "up": (-1, 0)}


def films(count=60, **settings):
    square = np.full((28, 28), 255, np.uint8)
    return list(moving_digits(FilmSettings(count, **settings), [square], [7]))


def middle(frame):
    """Where the light is, in squares down and to the right."""
    light = frame[: WHERE**2].reshape(WHERE, WHERE)
    at = np.arange(WHERE)
    return np.array([light.sum(1) @ at, light.sum(0) @ at]) / light.sum()


def test_the_light_goes_the_way_that_is_told():
    turned = 0
    for film in films(dark=0.0):
        places = np.stack([middle(frame) for frame in film.frames])
        first, last = places[1] - places[0], places[-1] - places[-2]
        for moved, way in ((first, film.ways[0]), (last, film.ways[-1])):
            assert np.sign(moved @ MOVES[way]) > 0
            assert abs(moved @ MOVES[way]) > 2 * abs(moved @ np.abs(MOVES[way])[::-1])
        assert film.frames.shape[1] == FEATURES
        turned += len(film.ways) - 1
    assert 15 < turned < 45


def test_films_are_drawn_one_by_one():
    """A film is the same however many there are; another seed has others."""
    few, many, other = films(3), films(9), films(3, seed=2)
    for one, same in zip(few, many[:3], strict=True):
        np.testing.assert_array_equal(one.frames, same.frames)
    assert any(len(a.frames) != len(b.frames) for a, b in zip(few, other, strict=True))


def test_dark_frames_hold_nothing_but_noise():
    for film in films(20, dark=0.5):
        light = film.frames.max(1) > 0.1
        assert tuple(light) == film.lit
        assert light[0]
        assert light[-1]


def test_a_film_file_has_columns_for_both_tasks():
    (corpus,) = parse("moving-digits:dev", NAMES)
    rows = [cells for _, cells in read_rows(corpus, NAMES)]
    assert len(rows) == 300
    words = {"right": "右", "left": "左", "up": "上", "down": "下"}
    for frames, label, digit, caption, chinese in rows[:50]:
        assert 8 <= len(frames) <= 12
        assert 0 <= digit <= 9
        assert caption.endswith(f"goes {label.replace(' then ', ', then ')}")
        assert all(words[way] in chinese for way in label.split(" then "))
    for fields in (["numbers", "label"], ["image", "caption"]):
        (corpus,) = parse("moving-digits:dev", fields)
        (_, cells), *_ = read_rows(corpus, fields)
        np.testing.assert_array_equal(cells[0], rows[0][0])


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"count": 3}, "is no \\.films file"),
        ({"digits": "digits:dev", "count": 3, "turn": 1}, "Did you mean 'turns'"),
        ({"digits": "digits:dev", "count": 3, "least": 2}, "4 to 24 frames"),
        ({"digits": "digits:dev", "count": 3, "dark": 1.5}, "shares"),
    ],
)
def test_settings_that_are_none_are_refused(said, told, tmp_path):
    path = tmp_path / "mine.films"
    path.write_text(json.dumps(said))
    (corpus,) = parse(str(path), ["numbers", "label"])
    with pytest.raises(CorpusError, match=told):
        list(read_rows(corpus, ["numbers", "label"]))


def test_a_column_that_there_is_not_is_told():
    with pytest.raises(CorpusError, match=r"no column 'captoin'\. Did you mean 'caption'"):
        parse("moving-digits:dev#frames,captoin", ["image", "caption"])
