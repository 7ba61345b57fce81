"""What Python and the page read from one file, they also take for the same."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from regard import scripts
from regard.data import tokenizer
from regard.view.colours import shade
from regard.view.stills.paper import THEMES

PAGE = Path(str(files("regard.view"))) / "page"
NODE = shutil.which("node")
NEEDS_NODE = pytest.mark.skipif(NODE is None, reason="needs node: apt install nodejs")


def on_the_page(file: str, code: str):
    """What the code gives, in which `page` stands for what a file of the page exports."""
    assert NODE is not None
    program = (
        f'import * as page from "{(PAGE / file).as_uri()}";\nconsole.log(JSON.stringify({code}));'
    )
    command = [NODE, "--input-type=module", "--eval", program]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@NEEDS_NODE
def test_both_know_the_same_scripts_without_spaces() -> None:
    points = [*range(0xD800), *range(0xE000, 0x40010)]
    every = "[...Array(0x40010).keys()].filter((n) => n < 0xd800 || n > 0xdfff)"
    theirs = on_the_page(
        "record/scripts.js", f"{every}.filter((n) => page.isSpaceless(String.fromCodePoint(n)))"
    )
    assert theirs == [point for point in points if scripts.is_spaceless(chr(point))]


def test_letters_of_scripts_without_spaces() -> None:
    assert all(map(scripts.is_spaceless, "学生あカกລខမ𠮷"))
    assert not any(map(scripts.is_spaceless, "aß한אक1。 "))
    assert all(map(scripts.stands_close, "学あカ。，！"))
    assert not any(map(scripts.stands_close, "a한ก. "))
    assert {"zh", "ja", "th", "lo", "km", "my"} == scripts.LANGUAGES


def test_trained_tokenizers_are_cut_as_they_were() -> None:
    """These stand in the files of tokenizers: another spelling would be another tokenizer."""
    assert tokenizer._IDEOGRAPHS == r"\p{Han}\p{Hiragana}\p{Katakana}ー"
    assert tokenizer._SPACELESS == (
        r"\p{Han}\p{Hiragana}\p{Katakana}ー\x{3000}-\x{303F}\x{FF00}-\x{FFEF}"
        r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
    )


@NEEDS_NODE
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_still_pictures_have_the_colours_of_the_page(theme: str) -> None:
    """Both have the same 256."""
    table = f'page.rampTable("{theme}", name)'
    names = '["sequential", "negative", "positive"]'
    ramps = on_the_page("drawing/colours.js", f"{names}.map((name) => [...{table}])")
    paper = THEMES[theme]
    ours_too = (paper.weights, paper.below_zero, paper.above_zero)
    for ramp, theirs in zip(ours_too, ramps, strict=True):
        for place in range(256):
            ours = shade(ramp, place / 255, 24)
            off = max(
                abs(a - b) for a, b in zip(ours, theirs[3 * place : 3 * place + 3], strict=True)
            )
            assert off <= 1, (theme, place, ours)


@NEEDS_NODE
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_several_heads_have_the_colours_of_the_page(theme: str) -> None:
    found = on_the_page(
        "drawing/colours.js",
        f'Array.from({{ length: page.MOST_HEADS }}, (_, n) => page.headColour(n, "{theme}"))',
    )
    assert len(found) == len(THEMES[theme].heads)
    for ours, theirs in zip(THEMES[theme].heads, found, strict=True):
        assert max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) <= 1
