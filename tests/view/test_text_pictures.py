"""Few rows over many keys in a still picture: texts that run on, their words shaded."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from regard.records.attention_map import AttentionMap
from regard.records.record import AttentionRecord
from regard.records.side import END, Side
from regard.view.attention_view import View
from regard.view.colours import contrast
from regard.view.picked_matrix import Pick, picked
from regard.view.stills.drawn_text import FRAME, ROOM
from regard.view.stills.paper import THEMES, Scale, hexadecimal, ink_on
from regard.view.stills.png import rasterise
from regard.view.stills.running_words import running_words

SVG = "{http://www.w3.org/2000/svg}"
ENGLISH = "It wasn't lifeless, he said.\nThen nothing (much) happened at all. " * 6
CHINESE = "我喜欢这部电影，因为它很有意思。" * 6


def text_side(text: str, *, end: bool = True) -> Side:
    """Pieces of at most four letters, signs, and characters of Chinese, each by itself."""
    found = list(re.finditer(r"[一-鿿]|\w{1,4}|[^\w\s]", text))
    tokens, offsets = [each[0] for each in found], [each.span() for each in found]
    if end:
        tokens, offsets = [*tokens, END], [*offsets, (len(text), len(text))]
    special = [False] * len(found) + [True] * end
    return Side.of(text, tokens, offsets, special=special, title="text")


def record(text: str = ENGLISH, hops: int = 1, rows: int = 1, **changes) -> AttentionRecord:
    side = text_side(text)
    drawn = np.random.default_rng(0).dirichlet(np.ones(len(side)) * 0.2, (1, hops, rows))
    label = Side.of_labels([f"row{n}" for n in range(rows)], title="label")
    pooling = AttentionMap("pooling", "label", "text", drawn.astype(np.float32))
    given = {"title": text, "output": "yes (0.9)", **changes}
    return AttentionRecord({"text": side, "label": label}, (pooling,), **given)


def texts(svg: str) -> list[ET.Element]:
    return list(ET.fromstring(svg).iter(f"{SVG}text"))


def said(svg: str) -> list[str]:
    return ["".join(each.itertext()) for each in texts(svg)]


@pytest.mark.parametrize("text", [ENGLISH, CHINESE])
def test_every_word_is_written_in_its_order_and_fits(text):
    given = record(text)
    svg = View((given,)).to_svg()
    words = picked(given, Pick()).keys
    written = said(svg)
    start = written.index(words[0], 5)
    assert tuple(written[start : start + len(words)]) == words
    width = float(ET.fromstring(svg).get("width"))
    assert width <= ROOM + 60
    boxes = [each for each in ET.fromstring(svg).iter(f"{SVG}rect") if each.get("rx")]
    assert len({each.get("y") for each in boxes}) > 2  # lines
    assert all(float(each.get("x")) + float(each.get("width")) <= ROOM for each in boxes)
    assert rasterise(svg).startswith(b"\x89PNG")


def test_a_word_has_the_colour_of_its_weight_and_the_heaviest_are_told():
    given = record()
    matrix = picked(given, Pick())
    svg = View((given,)).to_svg()
    scale = Scale(float(matrix.weights.max()), False, THEMES["light"])
    fills = {each.get("fill") for each in ET.fromstring(svg).iter(f"{SVG}rect")}
    for weight in matrix.weights[matrix.weights > 0.02 * scale.full]:
        assert hexadecimal(scale.colour(float(weight))) in fills
    heaviest = int(matrix.weights[0].argmax())
    told = f"{matrix.keys[heaviest]} {matrix.weights[0, heaviest]:.2f} · "
    assert any(line.startswith(told) for line in said(svg))
    assert said(svg)[0] == "yes (0.9)"  # not the text again
    assert "words: text, shaded by their weights" in said(svg)
    assert f"{scale.full:.3g}" in said(svg)  # the end of the scale


def test_blanks_and_breaks_are_those_of_the_text():
    words = running_words(picked(record(), Pick()))
    joined = "".join(word.before + word.text for word in words)
    assert joined == f"{ENGLISH.strip()} {END}"
    assert [word.before for word in running_words(picked(record(CHINESE), Pick()))][:-1] == [""] * (
        len(CHINESE)
    )
    tokens = running_words(picked(record(), Pick(tokens=True)))
    assert [(word.text, word.before) for word in tokens[4:7]] == [
        ("life", " "),
        ("less", ""),
        (",", ""),
    ]


def test_a_blank_that_is_a_token_stands_before_its_word():
    side = Side.of("ab cd", ["ab", "␣", "cd"], [(0, 2), (2, 3), (3, 5)], words=[0, 1, 1])
    pooling = AttentionMap("pooling", "label", "text", np.full((1, 1, 1, 3), 1 / 3, np.float32))
    sides = {"text": side, "label": Side.of_labels(["yes"])}
    words = running_words(picked(AttentionRecord(sides, (pooling,)), Pick()))
    assert [(word.text, word.before) for word in words] == [("ab", ""), ("cd", " ")]


def test_every_row_and_every_hop_has_a_text_under_its_name():
    few = said(View((record(rows=3),)).to_svg())
    assert [name for name in few if name.startswith("row")] == ["row0", "row1", "row2"]
    assert few.count("happened") == 3 * 6
    view = View((record(hops=5),))
    names = [*(f"hop {n}" for n in range(1, 6)), "mean"]
    assert [name for name in said(view.to_svg()) if name in names] == names
    assert "a text for each row: hops" in " ".join(said(view.to_svg()))
    one = said(view.picking(head=2).to_svg())
    assert not set(names) & set(one)
    assert "pooling attention · head 2 · words" in " ".join(one)
    many = said(View((record(hops=30),)).to_svg())
    assert many.count("happened") == 6
    assert "mean over 30 heads" in " ".join(many)


def test_hops_over_a_few_words_are_rows_of_cells():
    written = said(View((record("a very fine film", hops=3),)).to_svg())
    assert "rows: hops · columns: text" in written
    assert [name for name in written if name.startswith(("hop", "mean"))] == [
        "hop 1",
        "hop 2",
        "hop 3",
        "mean",
    ]


def test_cells_and_lines_and_text_can_be_asked_for():
    view = View((record(),))
    assert "rows: label · columns: text" in said(view.to_svg(style="cells"))
    assert "left: label · right: text" in said(view.to_svg(style="lines"))
    short = View((record("a fine film"),))
    assert "words: text, shaded by their weights" in said(short.to_svg(style="text"))
    assert "rows: label · columns: text" in said(short.to_svg())
    assert "rows: label · columns: text" in said(View((record(rows=40),)).to_svg())
    with pytest.raises(ValueError, match="no style 'txt': cells or lines or text"):
        view.to_svg(style="txt")


def test_numbers_of_steps_stay_cells():
    steps = Side.of_labels(range(1, 61), title="numbers")
    given = AttentionMap("pooling", "label", "numbers", np.full((1, 1, 1, 60), 1 / 60, np.float32))
    sides = {"label": Side.of_labels(["3.2"], title="number"), "numbers": steps}
    assert "rows: number" in View((AttentionRecord(sides, (given,)),)).to_svg()


def test_the_answer_has_one_frame_wherever_it_stands():
    start = ENGLISH.index("nothing")
    places = ((start, start + len("nothing (much)")), (3, 9))
    given = record(answer_places={"text": places})
    again = AttentionRecord.from_json(given.to_json())
    assert again.answer_places == {"text": places}
    svg = View((again,)).to_svg()
    frames = [each for each in ET.fromstring(svg).iter(f"{SVG}rect") if each.get("stroke") == FRAME]
    assert len(frames) == 3  # that of the legend as well
    assert "the answer" in said(svg)
    plain = View((record(),)).to_svg()
    assert FRAME not in plain
    assert "the answer" not in said(plain)


def test_what_is_not_allowed_is_struck_through_and_what_is_unread_is_said():
    given = record()
    allowed = np.ones(given.maps[0].weights.shape, bool)
    allowed[..., 0] = False
    weights = np.where(allowed, given.maps[0].weights, 0)
    closed = replace(given, maps=(replace(given.maps[0], weights=weights, allowed=allowed),))
    struck = [
        "".join(each.itertext())
        for each in ET.fromstring(View((closed,)).to_svg()).iter(f"{SVG}g")
        if each.get("text-decoration")
    ]
    assert struck == ["It", "not allowed"]
    assert not any("unread" in line for line in said(View((given,)).to_svg()))
    side = given.sides["text"]
    longer = replace(given, sides={**given.sides, "text": replace(side, text=f"{side.text} more")})
    assert "… the text goes on, unread" in said(View((longer,)).to_svg())


def test_text_from_right_to_left_begins_at_the_right():
    hebrew = "אחת שתיים שלוש ארבע חמש " * 10
    svg = View((record(hebrew),)).to_svg()
    placed = [(float(each.get("x")), "".join(each.itertext())) for each in texts(svg)[4:]]
    lines = [x for x, text in placed if "אחת" in text and text.strip("⁧⁩") == "אחת"]
    assert lines[0] > 600


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("signed", [False, True])
def test_letters_can_be_read_on_every_shade(theme, signed):
    scale = Scale(1.0, signed, THEMES[theme])
    for weight in np.linspace(-1 if signed else 0, 1, 200):
        ground = scale.colour(float(weight))
        ink = ink_on(ground)
        letters = tuple(int(ink[n : n + 2], 16) for n in (1, 3, 5))
        assert contrast(letters, ground) >= 4.5
