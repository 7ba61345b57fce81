"""What the page exports is what the commands draw: the same elements, texts, colours and places."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from made_records import (
    image_record,
    lens_record,
    neuron_record,
    nothing_record,
    scripts_record,
    square_record,
    translation_record,
)
from reading_pages import choose, open_panel
from test_page_export import saved

from regard.records.record import AttentionRecord
from regard.view.attention_view import View
from regard.view.picked_matrix import Pick
from regard.view.sheets.tab_sheets import Focus

RECORD, OTHER = translation_record(), translation_record(1, "other")
SVG = "{http://www.w3.org/2000/svg}"
OFF = 0.11  # places are written with one or two decimals
SHADE = 2  # of 255
ONE_HEAD = {"layer": 1, "head": 2, "units": "tokens"}


def drawn(page, folder: Path, what: str, kind: str = "SVG") -> Path:
    page.locator("summary", has_text="Export").click()
    page.get_by_label("picture of").select_option(value=what)
    page.locator("summary", has_text="Export").click()
    return saved(page, kind, folder)


def same_drawing(ours: str, theirs: str) -> None:
    """Element by element; how fonts are named is each one's own affair."""
    one, other = (list(ElementTree.fromstring(svg).iter()) for svg in (ours, theirs))
    assert [node.tag for node in one] == [node.tag for node in other]
    for a, b in zip(one, other, strict=True):
        assert (a.text or "") == (b.text or "")
        skipped = {"font-family", "id", "href"}
        names = {*a.keys(), *b.keys()} - skipped
        for name in names:
            assert_alike(a.get(name), b.get(name), f"{a.tag} {a.text} {name}")


def assert_alike(one: str | None, other: str | None, where: str) -> None:
    assert one is not None, where
    assert other is not None, where
    if re.fullmatch("#[0-9a-f]{6}", one):
        shades = [[int(colour[n : n + 2], 16) for n in (1, 3, 5)] for colour in (one, other)]
        assert np.abs(np.subtract(*shades)).max() <= SHADE, f"{where}: {one} {other}"
        return
    number = r"-?\d+(?:\.\d+)?"
    assert re.sub(number, "#", one) == re.sub(number, "#", other), where
    pairs = zip(re.findall(number, one), re.findall(number, other), strict=True)
    assert all(abs(float(a) - float(b)) <= OFF for a, b in pairs), f"{where}: {one} {other}"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("lines", [False, True], ids=["cells", "lines"])
def test_a_map_is_drawn_as_the_command_draws_it(open_records, tmp_path, lines, dark):
    page = open_records(RECORD, state=ONE_HEAD | {"map": "decoder"}, dark=dark)
    exported = drawn(page, tmp_path, "lines" if lines else "map").read_text("utf-8")
    view = View((RECORD,), Pick("decoder", 2, 3, tokens=True))
    style, theme = ("lines" if lines else "cells"), ("dark" if dark else "light")
    same_drawing(view.to_svg(style=style, theme=theme), exported)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("lines", [False, True], ids=["cells", "lines"])
def test_several_heads_are_drawn_as_the_command_draws_them(open_records, tmp_path, lines, dark):
    heads = {"heads": "1.1,1.3,2.2", "units": "tokens", "map": "decoder"}
    page = open_records(RECORD, state=heads, dark=dark)
    exported = drawn(page, tmp_path, "lines" if lines else "map").read_text("utf-8")
    view = View((RECORD,), Pick("decoder", tokens=True, heads="1.1,1.3,2.2"))
    style, theme = ("lines" if lines else "cells"), ("dark" if dark else "light")
    same_drawing(view.to_svg(style=style, theme=theme), exported)
    choose(page, "attention", "cross")
    theirs = saved(page, "CSV", tmp_path).read_bytes().decode("utf-8")
    ours = replace(view, pick=Pick("cross", tokens=True, heads="1.1,1.3,2.2")).to_csv()
    tables = [text.split("\r\n\r\n") for text in (theirs, ours)]
    assert [table.split(",")[0] for table in tables[0]] == ["1.1", "1.3", "2.2"]
    assert list(map(numbers_in, tables[0])) == list(map(numbers_in, tables[1]))


@pytest.mark.parametrize("record", [scripts_record(), square_record(60)], ids=["scripts", "60"])
def test_other_scripts_and_sizes(open_records, tmp_path, record):
    page = open_records(record, state={"units": "tokens"})
    exported = drawn(page, tmp_path, "map").read_text("utf-8")
    same_drawing(View((record,), Pick(tokens=True)).to_svg(style="cells"), exported)


TOKENS, WHY = Pick(tokens=True), "Is it an explanation?"
TABS = [  # its name and title, records, the state of the page, and the same for the command
    ("steps", "Step by step", (RECORD,), ONE_HEAD | {"query": 3}, Pick(None, 2, 3), Focus(3)),
    (
        "steps",
        "Step by step",
        (RECORD,),
        ONE_HEAD | {"map": "decoder", "query": 2, "step": "2"},
        Pick("decoder", 2, 3),
        Focus(2, step=2),
    ),
    *(
        ("steps", "Step by step", (neuron_record(added),), {"query": 1}, Pick(), Focus(1))
        for added in (False, True)
    ),
    ("steps", "Step by step", (nothing_record(),), {"units": "tokens"}, TOKENS, Focus()),
    ("lens", "Predictions", (nothing_record(),), {"units": "tokens"}, TOKENS, Focus()),
    ("beam", "Beam", (RECORD,), {}, Pick(), Focus()),
    (
        "beam",
        "Beam",
        (RECORD,),
        {"beam-dropped": "1", "beam-node": "11"},
        Pick(),
        Focus(node=11, dropped=True),
    ),
    ("compare", "Compare", (RECORD, OTHER), {"units": "tokens"}, TOKENS, Focus()),
    ("compare", "Compare", (RECORD,), ONE_HEAD, Pick(None, 2, 3, tokens=True), Focus()),
    ("compare", "Compare", (square_record(5), square_record(4)), {}, TOKENS, Focus()),
    ("explain", WHY, (RECORD,), {"units": "tokens"}, TOKENS, Focus()),
    (
        "explain",
        WHY,
        (RECORD,),
        {"units": "tokens", "map": "encoder"},
        Pick("encoder", tokens=True),
        Focus(),
    ),
    ("table", "Table", (RECORD,), {"units": "tokens"}, TOKENS, Focus()),
    ("lens", "Predictions", (lens_record(),), {}, TOKENS, Focus()),
    (
        "lens",
        "Predictions",
        (lens_record(),),
        {"lens-line": "0", "query": 1},
        TOKENS,
        Focus(1, line=0),
    ),
    ("picture", "Picture", (image_record(),), {"units": "tokens"}, TOKENS, Focus()),
]


@pytest.mark.parametrize(("tab", "title", "records", "state", "pick", "focus"), TABS)
def test_a_tab_is_drawn_as_the_command_draws_it(
    open_records, tmp_path, tab, title, records, state, pick, focus
):
    page = open_records(*records, state=state)
    open_panel(page, title)
    path = drawn(page, tmp_path, "tab")
    assert path.name.endswith(f"-{tab}.svg")
    same_drawing(View(records, pick).to_svg(tab=tab, focus=focus), path.read_text("utf-8"))


def test_words_of_measures_are_put_together_alike(open_records, tmp_path):
    """Target words are put together by both; the Chinese source has words in the browser alone."""
    record = AttentionRecord.from_dict(
        RECORD.to_dict() | {"sides": {**RECORD.to_dict()["sides"], "source": english_side()}}
    )
    page = open_records(record)
    open_panel(page, "Is it an explanation?")
    exported = drawn(page, tmp_path, "tab").read_text("utf-8")
    same_drawing(View((record,)).to_svg(tab="explain"), exported)


def english_side() -> dict:
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    return AttentionRecord.of(np.eye(9), words).to_dict()["sides"]["queries"] | {"title": "source"}


@pytest.mark.parametrize("what", ["map", "lines", "tab"])
def test_the_pdf_is_one_page_of_the_same_size(open_records, tmp_path, shots, what):
    page = open_records(RECORD, state=ONE_HEAD)
    open_panel(page, "Step by step")
    pdf = drawn(page, tmp_path, what, "PDF").read_bytes()
    svg = ElementTree.parse(drawn(page, tmp_path, what)).getroot()
    assert pdf.startswith(b"%PDF-1.4")
    size = [float(x) for x in re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf).groups()]
    assert size == [0.75 * float(svg.get(name)) for name in ("width", "height")]
    start = int(re.search(rb"startxref\n(\d+)", pdf)[1])
    places = [int(line[:10]) for line in pdf[start:].split(b"\n")[3:] if line.endswith(b" n ")]
    assert all(pdf[place:].startswith(b"%d 0 obj" % n) for n, place in enumerate(places, 1))
    (shots / f"exported-{what}.pdf").write_bytes(pdf)


def test_a_tab_of_words_and_pictures_is_a_png(open_records, tmp_path, shots):
    page = open_records(image_record())
    open_panel(page, "Picture")
    data = drawn(page, tmp_path, "tab", "PNG").read_bytes()
    assert data.startswith(b"\x89PNG")
    (shots / "exported-picture-tab.png").write_bytes(data)


def test_the_table_is_drawn_as_it_is_sorted(open_records, tmp_path):
    page = open_records(RECORD, state={"units": "tokens"})
    panel = open_panel(page, "Table")
    panel.get_by_label("Strongest keys of each query").fill("1")
    panel.get_by_role("button", name="weight").click()
    root = ElementTree.parse(drawn(page, tmp_path, "tab")).getroot()
    weights = [
        text.text for text in root.iter(f"{SVG}text") if re.fullmatch(r"0\.\d{3}", text.text)
    ]
    expected = sorted(RECORD.map("cross").weights.mean((0, 1)).max(1), reverse=True)
    assert weights == [f"{weight:.3f}" for weight in expected]


def numbers_in(text: str) -> list[list[str | np.float32]]:
    head, *lines = csv.reader(io.StringIO(text, newline=""))
    return [head, *([name, *map(np.float32, cells)] for name, *cells in lines)]


def test_the_csv_and_the_npz_have_the_numbers_of_the_record(open_records, tmp_path):
    page = open_records(RECORD, state=ONE_HEAD)
    text = saved(page, "CSV", tmp_path).read_bytes().decode("utf-8")
    expected = View((RECORD,), Pick(None, 2, 3, tokens=True)).to_csv()
    assert numbers_in(text) == numbers_in(expected)
    choose(page, "attention", "decoder")
    lines = list(csv.reader(io.StringIO(saved(page, "CSV", tmp_path).read_text("utf-8"))))
    assert lines[1][2:] == [""] * 8  # what is not allowed
    ours = np.load(io.BytesIO(View((RECORD,)).to_npz()))
    theirs = np.load(saved(page, "NPZ", tmp_path), allow_pickle=False)
    assert sorted(theirs) == sorted(ours)
    for name in ours:
        assert theirs[name].dtype == ours[name].dtype
        if ours[name].dtype == np.float64:  # a record has them with six decimals
            np.testing.assert_allclose(theirs[name], ours[name], atol=1e-6)
        else:
            np.testing.assert_array_equal(theirs[name], ours[name], name)


def test_the_json_is_the_one_that_people_read(open_records, tmp_path):
    text = saved(open_records(RECORD), "JSON", tmp_path).read_text("utf-8")
    assert json.loads(text) == json.loads(RECORD.to_json())
    assert text.count("\n") == RECORD.to_json().count("\n")
    assert AttentionRecord.from_json(text).to_dict() == RECORD.to_dict()


@pytest.mark.parametrize("units", ["tokens", "words"])
def test_a_comparison_of_two_models_says_what_it_shows(open_page, tmp_path, units):
    asked = {"text": RECORD.sides["source"].text, "force": None, "off": []}
    left, right = replace(RECORD, question=asked), replace(OTHER, question=asked, output="I am.")
    given = replace(OTHER, question=asked | {"target": left.output})
    view = View((left, right), Pick(tokens=units == "tokens"), scored=(given,))
    path = view.save(tmp_path / "two.html")
    page = open_page(path.as_uri())
    exported = drawn(page, tmp_path, "tab").read_text("utf-8")
    assert f"both as they write “{left.output}”" in exported
    assert "other: I am." in exported
    if units == "tokens":  # words are put together by Python where the browser knows them better
        same_drawing(view.to_svg(tab="compare"), exported)
