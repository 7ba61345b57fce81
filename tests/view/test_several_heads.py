"""Several heads at once: in pictures, in the terminal, as numbers, and as the page is told of them."""

from __future__ import annotations

import csv
import io
import json
import re
from importlib.resources import files

import numpy as np
import pytest

from regard.looking.look import look
from regard.records.attention_map import AttentionMap
from regard.records.record import AttentionRecord
from regard.records.side import Side
from regard.view.attention_view import View, counted, page_state
from regard.view.picked_matrix import NoSuchPart, Pick
from regard.view.stills.drawn_heads import DrawnHead, stripes, strongest_colours
from regard.view.stills.paper import Scale, theme_named
from regard.view.stills.several_heads import MOST_HEADS


@pytest.fixture
def record() -> AttentionRecord:
    weights = np.random.default_rng(0).random((2, 4, 2, 3), np.float32)
    sides = {"a": Side.of_labels(["x", "y"]), "b": Side.of_labels(["u", "v", "w"])}
    return AttentionRecord(sides, (AttentionMap("cross", "a", "b", weights),), "t")


def test_each_cell_has_a_stripe_of_each_head_in_its_colour(record):
    svg = look(record, heads="1.2,2.4,1.1").to_svg()
    assert re.findall(r">(\d\.\d)</text>", svg) == ["1.2", "2.4", "1.1"]
    cells = re.search(r'<g shape-rendering="crispEdges">(.*?)</g>', svg)[1]
    assert cells.count("<rect") == 3 * 2 * 3
    assert "heads 1.2, 2.4, 1.1, each in its colour" in svg
    one = look(record, layer=1, head=2).to_svg()
    assert ">1.2</text>" not in one


def test_the_strongest_weight_of_all_heads_has_its_full_colour(record):
    chosen = record.maps[0].weights[[0, 1], [1, 3]]
    colours = [look(record).to_svg(), look(record, heads="1.2,2.4").to_svg()]
    legend = re.findall(r'fill="(#\w+)" rx="3"', colours[1])
    assert len(set(legend)) == 2
    head = int(chosen.max((1, 2)).argmax())
    cells = re.search(r'<g shape-rendering="crispEdges">(.*?)</g>', colours[1])[1]
    assert legend[head] in cells
    assert legend[1 - head] not in cells


def test_of_many_cells_each_has_the_colour_of_its_strongest_head():
    weights = np.zeros((1, 2, 200, 3), np.float32)
    weights[0, 0, :100], weights[0, 1, 100:] = 0.5, 0.25
    heads = [weights[0, 0], weights[0, 1]]
    scale = Scale(0.5, False, theme_named("light"))
    drawn = [
        DrawnHead(str(n), colour, each)
        for n, (each, colour) in enumerate(zip(heads, scale.theme.heads[:2], strict=True))
    ]
    colours = strongest_colours(drawn, scale)
    assert colours.shape == (200, 3, 3)
    for place in ((0, 0), (150, 2)):
        assert tuple(colours[place].tolist()) == stripes(drawn, place, 1.0, scale)[0][2]
    sides = {"a": Side.of_labels(range(200)), "b": Side.of_labels("uvw")}
    record = AttentionRecord(sides, (AttentionMap("cross", "a", "b", weights),))
    assert look(record, heads="1.1,1.2").to_svg().count("<image") == 1


def test_a_terminal_has_one_map_after_the_other(record):
    both = look(record, heads="1.2,2.4").to_text()
    maps = [look(record, layer=1, head=2), look(record, layer=2, head=4)]
    assert both == "\n\n".join(each.to_text() for each in maps)


def test_the_csv_names_each_head(record):
    lines = list(csv.reader(io.StringIO(look(record, heads="1.2,2.4").to_csv())))
    assert [line[0] for line in lines if line] == ["1.2", "x", "y", "2.4", "x", "y"]
    read = np.array([line[1:] for line in lines if line and line[0] in "xy"], np.float32)
    np.testing.assert_array_equal(read[2:], record.maps[0].weights[1, 3])


def test_the_page_opens_with_them(record):
    assert counted(page_state(Pick(heads="1.2,2.4")))["heads"] == "1.2,2.4"
    assert "heads" not in page_state(Pick())
    assert '"heads":"1.2,2.4"' in View((record,), Pick(heads="1.2,2.4")).to_html().replace(" ", "")


@pytest.mark.parametrize(
    ("heads", "said"),
    [
        ("3.1", "no layer 3"),
        ("1.5", "no head 5"),
        ("0.1", "no layer 0"),
        ("1", "written as layer.head"),
        ("1.2;2.1", "written as layer.head"),
        ("１.１", "written as layer.head"),
        ("1.1,1.2,1.3,1.4,2.1,2.2,2.3", "7 heads are too many"),
    ],
)
def test_what_are_no_heads_is_told(record, heads, said):
    with pytest.raises(NoSuchPart, match=said):
        look(record, heads=heads)


def test_one_that_is_named_twice_is_drawn_once(record):
    assert look(record, heads="1.1,1.1").to_svg().count(">1.1</text>") == 1


def test_there_is_a_colour_for_each():
    shared = json.loads((files("regard.view") / "palettes.json").read_text("utf-8"))
    assert {len(shared["heads"][name]) for name in ("light", "dark")} == {MOST_HEADS}
