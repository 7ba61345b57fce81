"""Scenes of digits: the same again, digits where they are said to be, captions that are true."""

from __future__ import annotations

import hashlib
import json
import re

import numpy as np
import pytest

from regard.data.formats import format_of
from regard.data.problems import CorpusError
from regard.data.rows import read_rows
from regard.data.scenes.digit_scenes import SceneSettings, digit_scenes
from regard.data.scenes.scene_captions import CHINESE, ENGLISH, STYLES, scene_caption
from regard.data.spec import parse

FLAT = [np.full((4, 4), 20 * (n + 1), np.uint8) for n in range(10)]  # a digit is a shade of grey


def scenes(count: int = 60, **settings: object) -> tuple[SceneSettings, list]:
    made = SceneSettings(count, canvas=(16, 20), digit=4, **settings)
    return made, list(digit_scenes(made, FLAT, range(10)))


@pytest.mark.parametrize("grid", [(2, 2), (1, 3), (3, 3), None])
def test_digits_are_where_they_are_said_to_be(grid: tuple[int, int] | None) -> None:
    _, found = scenes(grid=grid, most=3)
    assert {len(scene.digits) for scene in found} <= {1, 2, 3}
    for scene in found:
        canvas = np.zeros((16, 20), np.uint8)
        for one in scene.digits:
            assert not canvas[one.top : one.top + 4, one.left : one.left + 4].any()  # none overlap
            canvas[one.top : one.top + 4, one.left : one.left + 4] = 20 * (one.label + 1)
        assert np.array_equal(canvas, scene.picture)
    assert len({one.label for scene in found for one in scene.digits}) == 10
    assert len({scene.picture.tobytes() for scene in found}) > 0.9 * len(found)  # by chance, a few


def test_the_same_seed_is_the_same_scenes_and_more_of_them_change_none() -> None:
    (_, first), (_, again), (_, more), (_, other) = (
        scenes(20), scenes(20), scenes(50), scenes(20, seed=2)
    )  # fmt: skip
    pictures = [[scene.picture.tobytes() for scene in each] for each in (first, again, more, other)]
    assert pictures[0] == pictures[1] == pictures[2][:20]
    assert not set(pictures[0]) & set(pictures[3])


@pytest.mark.parametrize(
    ("settings", "digest"),
    [
        ({"grid": (2, 2), "least": 1}, "49e5911347e930b6"),
        ({"grid": None, "most": 3}, "b6da9244d1c70891"),
    ],
    ids=["grid", "free"],
)
def test_scenes_are_those_of_all_versions(settings: dict, digest: str) -> None:
    """Whatever is drawn at once: published numbers are about these pictures."""
    _, found = scenes(1100, **settings)
    whole = hashlib.blake2b(digest_size=8)
    for scene in found:
        places = [(one.label, one.top, one.left) for one in scene.digits]
        whole.update(scene.picture.tobytes() + repr((places, scene.draw)).encode())
    assert whole.hexdigest() == digest


def test_many_scenes_say_that_they_are_composed(tmp_path) -> None:
    file = tmp_path / "a.scenes"
    for count, said in ((60_000, "composing 60,000 scenes of digits:train"), (900, "")):
        file.write_text(json.dumps({"digits": "digits:train", "count": count}))
        assert format_of(file).beforehand(file) == said


@pytest.mark.parametrize("style", STYLES)
def test_every_box_is_that_of_the_digit_its_word_names(style: str) -> None:
    settings, found = scenes(least=1)
    prompts = set()
    for scene in found:
        caption = scene_caption(scene, style, settings)
        prompts.add(caption.prompt)
        words = CHINESE if "zh" in style else ENGLISH
        for start, end, left, top, width, height in caption.boxes:
            label = words.index(caption.text[int(start) : int(end)])
            (one,) = [
                digit for digit in scene.digits if (digit.left / 20, digit.top / 16) == (left, top)
            ]
            assert (one.label, width, height) == (label, 4 / 20, 4 / 16)
        named = len(re.findall("|".join(words), caption.text))
        assert len(caption.boxes) == named  # none is left out
        if "side" not in style:
            assert named == len(scene.digits)
    assert prompts == set(STYLES[style])


def test_captions_say_what_is_there() -> None:
    settings, found = scenes(least=2)
    long = [scene_caption(scene, "long", settings).text for scene in found]
    assert any(
        re.fullmatch(r"an? \w+ on the upper left, an? \w+ on the lower right", x) for x in long
    )
    assert not any(re.search(r"\ba eight|\ban [^e]", x) for x in long)
    zh = scene_caption(found[0], "long_zh", settings).text
    assert re.fullmatch("([左右][上下]是[零一二三四五六七八九]，?)+", zh)


def test_embedded_scenes_have_columns_by_what_is_said() -> None:
    names = ["image", "prompt", "caption", "boxes"]
    (corpus,) = parse("digit-scenes:dev#image,prompt,side,boxes", names)
    _, (picture, prompt, caption, boxes) = next(read_rows(corpus, names))
    assert picture.shape == (36, 36)
    assert prompt in ("left", "right")
    assert caption.split(" over ") == [caption[int(a) : int(b)] for a, b, *_ in boxes]
    (usual,) = parse("digit-scenes:dev", ["image", "caption"])
    assert next(read_rows(usual, ["image", "caption"]))[1][1].startswith("a")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("[1]", "is no .scenes file"),
        ("{", "is no .scenes file"),
        ('{"digits": "digits:dev", "count": 2, "size": 3}', "no setting 'size'"),
        ('{"digits": "digits:dev", "count": 2, "digit": 40}', "do not fit"),
        ('{"digits": "digits:dev", "count": 2, "digit": 10}', "averaged down"),
        ('{"digits": "digits:dev", "count": 2, "most": 5}', "2 to 5 digits"),
        ('{"digits": "digits:dev", "count": "2"}', 'count cannot be "2"'),
    ],
)
def test_a_wrong_scene_file_says_what_is_wrong(tmp_path, written: str, said: str) -> None:
    path = tmp_path / "mine.scenes"
    path.write_text(written)
    (corpus,) = parse(str(path), ["image", "caption"])
    with pytest.raises(CorpusError, match=re.escape(said)):
        list(read_rows(corpus, ["image", "caption"]))


def test_a_column_that_is_none_is_told_with_what_is_near(tmp_path) -> None:
    path = tmp_path / "mine.scenes"
    path.write_text(json.dumps({"digits": "digits:dev", "count": 1}))
    with pytest.raises(CorpusError, match="Did you mean 'short'"):
        parse(f"{path}#image,shrt", ["image", "caption"])
