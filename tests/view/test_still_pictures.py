"""Still pictures: they show the record's numbers, in well-formed SVG, and become PNG."""

from __future__ import annotations

import base64
import re
import struct
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from regard.records.attention_map import AttentionMap
from regard.records.image_size import image_size
from regard.records.png_image import data_uri, encode_png
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord, Picture, Side
from regard.view.attention_view import View
from regard.view.picked_matrix import NoSuchPart, Pick, by_hop, picked
from regard.view.stills.paper import THEMES, fonts, hexadecimal, runs_right_to_left, wrapped
from regard.view.stills.png import rasterise
from regard.view.stills.still_picture import common_scale, draw

SVG = "{http://www.w3.org/2000/svg}"
TARGET = Side.of("unread it", ["un", "read", "it"], [(0, 2), (2, 6), (7, 9)], title="target")
SOURCE = Side.of("我是。", ["我", "是", "。"], [(0, 1), (1, 2), (2, 3)], title="source")


def weights(*shape: int, seed: int = 0) -> np.ndarray:
    drawn = np.random.default_rng(seed).dirichlet(np.ones(shape[-1]), size=shape[:-1])
    return drawn.astype(np.float32)


def record(**changes) -> AttentionRecord:
    cross = AttentionMap("cross", "target", "source", weights(3, 4, 3, 3), mechanism="score: dot")
    causal = np.tril(np.ones((3, 3), bool))[None, None]
    own = AttentionMap("decoder", "target", "target", weights(3, 4, 3, 3) * causal, allowed=causal)
    given = {"title": "我是。", "model": "a model", "output": "unread it", **changes}
    return AttentionRecord({"source": SOURCE, "target": TARGET}, (cross, own), **given)


def texts(svg: str) -> list[str]:
    return ["".join(each.itertext()) for each in ET.fromstring(svg).iter(f"{SVG}text")]


def fills(svg: str) -> list[str]:
    return [each.get("fill", "") for each in ET.fromstring(svg).iter(f"{SVG}rect")]


def test_one_layer_and_head_are_what_is_asked_for():
    matrix = picked(record(), Pick("cross", 2, 3, tokens=True))
    np.testing.assert_array_equal(matrix.weights, record().maps[0].weights[1, 2])
    assert matrix.aggregation == "cross-attention · layer 2 · head 3"
    assert (matrix.queries, matrix.keys) == (("un", "read", "it"), ("我", "是", "。"))


def test_mean_and_max_are_over_heads_then_layers_and_said():
    given = record().maps[0].weights
    mean = picked(record(), Pick(tokens=True))
    np.testing.assert_allclose(mean.weights, given.mean((0, 1)), atol=1e-6)
    assert mean.aggregation == "cross-attention · mean over 3 layers · mean over 4 heads"
    both = picked(record(), Pick(layer=1, head="max", tokens=True))
    np.testing.assert_array_equal(both.weights, given[0].max(0))
    assert both.aggregation.endswith("layer 1 · max over 4 heads")


def test_hops_are_rows_in_the_terminal_unless_one_is_asked_for():
    side, given = Side.of_labels(["good"], title="label"), weights(1, 2, 1, 3)
    pooling = AttentionMap("pooling", "label", "source", given)
    view = View((AttentionRecord({"label": side, "source": SOURCE}, (pooling,)),))
    rows = by_hop(view.records[0], view.pick)
    assert rows.queries == ("hop 1", "hop 2", "mean")
    np.testing.assert_allclose(rows.weights, [*given[0, :, 0], given[0].mean(0)[0]], atol=1e-6)
    title, _, *lines = view.to_text().splitlines()
    assert title.strip() == "pooling attention"
    assert [line[:5].strip() for line in lines] == ["hop 1", "hop 2", "mean"]
    title, _, line = view.picking(head=2).to_text().splitlines()
    assert title.strip() == "pooling attention · head 2"
    assert line.startswith("good")


def test_words_are_put_together_and_it_is_said():
    matrix = picked(record(), Pick(layer=1, head=1))
    given = record().maps[0].weights[0, 0]
    assert matrix.queries == ("unread", "it")
    np.testing.assert_allclose(matrix.weights[0], given[:2].mean(0), atol=1e-6)
    assert matrix.aggregation.endswith("words: sum over keys, mean over queries")
    alone = AttentionRecord.of(weights(2, 2), ["a", "b"], ["x", "y"])
    assert picked(alone, Pick()).aggregation == "attention"  # nothing was put together


@pytest.mark.parametrize(
    ("pick", "said"),
    [
        (Pick("crss"), "no map 'crss': this record has cross, decoder"),
        (Pick(layer=4), "no layer 4: there are layers 1 to 3, or mean, or max"),
        (Pick(layer=0), "no layer 0"),
        (Pick(head="avg"), "no head 'avg': there are heads 1 to 4"),
    ],
)
def test_what_the_record_does_not_have_is_refused(pick, said):
    with pytest.raises(NoSuchPart, match=said):
        picked(record(), pick)


def test_a_heat_map_names_everything_and_shows_every_number():
    svg = draw([record()], Pick("cross", 1, 2, tokens=True))
    seen = texts(svg)
    shown = {"我是。", "unread it", "a model", "score: dot", "我", "是", "。", "un", "read", "it"}
    assert shown <= set(seen)
    assert "cross-attention · layer 1 · head 2" in seen
    assert "rows: target · columns: source" in seen
    for weight in record().maps[0].weights[0, 1].ravel():
        assert f"{weight:.2f}" in seen or weight < 0.005 or weight > 0.995
    assert f"{record().maps[0].weights[0, 1].max():.3g}" in seen  # the end of the scale


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_largest_weight_has_the_strongest_colour(theme):
    svg = draw([record()], Pick("cross", 1, 2, tokens=True), theme=theme)
    strongest = "#" + THEMES[theme].weights.full.split()[-1]
    assert fills(svg).count(strongest) == 2  # the cell, and the end of the scale
    assert fills(svg)[0] == THEMES[theme].ground


def test_records_side_by_side_share_one_scale():
    one = AttentionRecord.of([[0.25, 0.125]], ["a"], ["x", "y"])
    other = AttentionRecord.of([[0.75, 0.125]], ["a"], ["x", "y"])
    both = draw([one, other])
    scale = common_scale([picked(each, Pick()) for each in (one, other)], THEMES["light"])
    assert scale.full == pytest.approx(0.75)
    assert hexadecimal(scale.colour(0.25)) in fills(both)
    assert hexadecimal(scale.colour(0.125)) in fills(both)
    assert texts(both).count("0.75") == 3  # a cell, and the ends of two scales


def test_what_is_not_allowed_is_hatched_and_has_no_number():
    svg = draw([record()], Pick("decoder", 1, 1, tokens=True))
    assert "not allowed" in texts(svg)
    assert "·" not in texts(svg)  # as a weight of 0 would be written
    assert "not allowed" not in texts(draw([record()], Pick("cross")))


def test_negative_weights_are_orange():
    signed = AttentionRecord.of([[-1.0, 1.0]], ["a"], ["x", "y"])
    theme = THEMES["light"]
    shown = fills(draw([signed]))
    assert f"#{theme.below_zero.full.split()[-1]}" in shown
    assert f"#{theme.above_zero.full.split()[-1]}" in shown


def test_numbers_that_are_none_are_shown_as_such():
    svg = draw([AttentionRecord.of([[np.nan, 0.5], [np.inf, 0.5]], "ab", "xy")])
    assert {"NaN", "inf"} <= set(texts(svg))


def test_lines_go_to_the_strongest_keys_only():
    svg = draw(
        [AttentionRecord.of([[0.9, 0.05, 0.05], [0.0, 1.0, 0.0]], "ab", "xyz")], style="lines"
    )
    curves = [each for each in ET.fromstring(svg).iter(f"{SVG}path") if "C" in each.get("d", "")]
    assert len(curves) == 2
    widths = [float(each.get("stroke-width")) for each in curves]
    assert widths == sorted(widths)  # the strongest is drawn last, over the others
    assert "left: queries · right: keys" in texts(svg)


def test_markup_in_a_label_is_text():
    hostile = ["<img src=x onerror=alert(1)>", "]]></text><script>", "a\x00b\ufffe", "  "]
    svg = draw([AttentionRecord.of(weights(4, 4), hostile, title="<b>&</b>")])
    tree = ET.fromstring(svg)
    assert {each.tag for each in tree.iter()} <= {
        f"{SVG}{tag}" for tag in ("svg", "title", "rect", "g", "text", "path")
    }
    assert "<b>&</b>" in texts(svg)
    assert "a\\x00b\\ufffe" in texts(svg)
    assert "␣␣" in texts(svg)


def test_many_tokens_are_one_embedded_picture():
    svg = draw([AttentionRecord.of(weights(130, 130), [f"w{n}" for n in range(130)])])
    (image,) = ET.fromstring(svg).iter(f"{SVG}image")
    assert image_size(image.get("href")) == (130, 130)
    assert len(fills(svg)) < 100
    assert len(svg) < 150_000


def test_right_to_left_keys_run_from_the_right():
    keys = ["السلام", "عليكم", "عالم"]
    svg = draw([AttentionRecord.of([[0.2, 0.3, 0.5]], ["a"], keys)])
    places = {text.strip("\u2067\u2069"): place for text, place in _places(svg)}
    assert places["السلام"] > places["عليكم"]
    assert places["0.20"] > places["0.30"]
    latin = dict(_places(draw([AttentionRecord.of([[0.2, 0.3, 0.5]], "a", "xyz")])))
    assert latin["0.20"] < latin["0.30"]


def _places(svg: str) -> list[tuple[str, float]]:
    found = []
    for each in ET.fromstring(svg).iter(f"{SVG}text"):
        moved = re.match(r"translate\(([\d.]+)", each.get("transform", ""))
        x = float(moved[1]) if moved else float(each.get("x"))
        found.append(("".join(each.itertext()), x))
    return found


def test_fonts_follow_the_script_and_the_language():
    assert "CJK SC" in fonts("学生")
    assert "CJK JP" in fonts("学生", "ja")
    assert "CJK JP" in fonts("とても", "zh")
    assert "CJK KR" in fonts("한국어")
    assert "Arabic" in fonts("عالم")
    assert "CJK" not in fonts("student")
    assert [runs_right_to_left(text) for text in ("שלום", "1 عالم", "abc", "")] == [
        True,
        True,
        False,
        False,
    ]


def test_long_titles_are_broken_between_words_and_cut():
    assert wrapped("one two three", 8) == ["one two", "three"]
    assert wrapped("one two three four five", 8) == ["one two", "three f…"]
    assert all(len(line) <= 4 for line in wrapped("学生学生学生学生", 8))


def test_styles_and_themes_that_there_are_not():
    with pytest.raises(ValueError, match="no style 'bars': cells or lines"):
        draw([record()], style="bars")
    with pytest.raises(ValueError, match="no theme 'blue'"):
        draw([record()], theme="blue")
    with pytest.raises(NotARecord, match="no map of weights"):
        draw([AttentionRecord({}, ())])


def pixels(high: int, wide: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (high, wide, 3)).astype(np.uint8)


def test_a_picture_is_shown_once_for_each_word_and_stored_once():
    source = data_uri(encode_png(pixels(30, 60)), "png")
    image = Side.of("", ["1", "2"], [(0, 0)] * 2, words=range(2), picture=Picture(source, 1, 2))
    shown = AttentionRecord(
        {"words": Side.of_labels(["a", "dog"]), "image": image},
        (
            AttentionMap(
                "image", "words", "image", np.array([[[[1.0, 0.0], [0.25, 0.75]]]], np.float32)
            ),
        ),
        glimpses=(((0.1, 0.2, 0.5, 0.5),), ((0.0, 0.0, 1.0, 1.0),)),
    )
    svg = draw([shown])
    assert svg.count(source) == 1
    tree = ET.fromstring(svg)
    assert len(list(tree.iter(f"{SVG}use"))) == 2
    (stored,) = tree.iter(f"{SVG}image")
    assert float(stored.get("width")) == pytest.approx(2 * float(stored.get("height")))
    over = [
        (each.get("fill"), float(each.get("fill-opacity")))
        for each in tree.iter(f"{SVG}rect")
        if each.get("fill-opacity")
    ]
    lit, dark = ("#000000", 0.0), ("#000000", 0.65)
    assert (over[0], over[1], over[3]) == (lit, dark, lit)  # as it is where the word looked
    assert over[2] not in (lit, dark)
    assert sum(each.get("stroke") == "#ffffff" for each in tree.iter(f"{SVG}path")) == 2
    assert sum(each.get("stroke") == "#ff9d2e" for each in tree.iter(f"{SVG}rect")) == 2
    assert rasterise(svg, zoom=1)[:4] == b"\x89PNG"


def test_a_png_has_the_pixels_of_the_array():
    pytest.importorskip("resvg_py")
    given = pixels(3, 5)
    uri = data_uri(encode_png(given), "png")
    assert image_size(uri) == (5, 3)
    assert base64.b64decode(uri.partition(",")[2])[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (b"GIF89a" + struct.pack("<HH", 7, 9), (7, 9)),
        (b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08" + struct.pack(">HH", 9, 7), (7, 9)),
        (b"RIFF1234WEBPVP8X" + bytes(8) + b"\x06\0\0\x08\0\0", (7, 9)),
        (b"RIFF1234WEBPVP8 " + bytes(10) + struct.pack("<HH", 7, 9), (7, 9)),
        (b"RIFF1234WEBPVP8L" + bytes(5) + struct.pack("<I", 6 | 8 << 14), (7, 9)),
        (b"\xff\xd8\xff", None),
        (b"no picture", None),
    ],
)
def test_the_size_of_a_picture_is_read_from_its_first_bytes(data, size):
    assert image_size(data_uri(data, "any")) == size


def test_the_png_of_a_drawing_has_its_size():
    svg = draw([record()])
    wide = int(ET.fromstring(svg).get("width"))
    assert image_size(data_uri(rasterise(svg, zoom=2), "png"))[0] == 2 * wide


def test_a_picture_from_elsewhere_is_not_fetched():
    with pytest.raises(NotARecord, match=r"a data:image/ URI of a PNG.* not .https://example\.org"):
        Picture("https://example.org/a.png", 1, 1)
