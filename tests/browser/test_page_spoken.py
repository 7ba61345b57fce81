"""What a screen reader says, in English and in Chinese: names of things, and what is announced by itself.

The sentences are made again here of the numbers of the record; their Chinese is that of the catalogue.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files

import numpy as np
import pytest
from made_records import translation_record
from reading_pages import expect

from regard.records.record import AttentionRecord

RECORD = translation_record()
ONE_HEAD = {"layer": 1, "head": 2, "units": "tokens"}
SOURCE, TARGET = (RECORD.sides[name].tokens for name in ("source", "target"))
READOUT = ".readout:not(.levels-readout)"
CHINESE = json.loads((files("regard.words") / "zh.json").read_text("utf-8"))


@pytest.fixture(params=["en", "zh"])
def said(request):
    """said("head {n}", n=2): the message in the language of the page; said.language."""

    def in_words(message: str, **values: object) -> str:
        text = CHINESE[message] if request.param == "zh" else message
        return re.sub(r"\{(\w+)\}", lambda name: str(values[name[1]]), text)

    in_words.language = request.param
    return in_words


@pytest.fixture
def page(said, open_records):
    return open_records(RECORD, state=ONE_HEAD, locale=said.language)


def digits(weight: float) -> str:
    return f"{weight:.2f}" if weight >= 0.1 else f"{weight:.3f}"


def cell(said, query: str, key: str, weight: float) -> str:
    given = said("less than 0.001") if weight < 0.0005 else digits(weight)
    return said("‘{query}’ attends {weight} to ‘{key}’", query=query, key=key, weight=given)


def is_announced(page, selector: str) -> bool:
    """Whether a change of it is told without being gone to."""
    live = "[aria-live=polite], [role=status], output"
    return page.locator(selector).first.evaluate("(e, live) => e.closest(live) !== null", live)


def test_a_cell_says_who_attends_how_much_to_whom(page, said):
    weights = RECORD.map("cross").weights[1, 2]
    grid = page.get_by_role("gridcell")
    grid.focus()
    page.keyboard.press("Control+Home")
    for column in range(3):
        name = cell(said, TARGET[0], SOURCE[column], weights[0, column])
        expect(grid).to_have_accessible_name(name)
        page.keyboard.press("ArrowRight")


def test_what_may_not_be_attended_to_is_said_and_no_zero(said, open_records):
    page = open_records(RECORD, state=ONE_HEAD | {"map": "decoder"}, locale=said.language)
    grid = page.get_by_role("gridcell")
    grid.focus()
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowRight")
    before = RECORD.sides["prefix"].tokens[1]
    name = said("‘{query}’ may not attend to ‘{key}’", query=TARGET[0], key=before)
    expect(grid).to_have_accessible_name(name)


def test_a_word_that_is_gone_to_tells_its_strongest_keys(page, said):
    words = page.locator(".sentence.queries .chip")
    words.first.focus()
    page.keyboard.press("ArrowRight")
    row = RECORD.map("cross").weights[1, 2, 1]
    best = (-row).argsort(kind="stable")[:3]
    links = [said("{weight} to ‘{key}’", weight=digits(row[k]), key=SOURCE[k]) for k in best]
    links = [link for link, k in zip(links, best, strict=True) if row[k] >= 0.0005]
    told = page.locator(READOUT)
    for link in links:
        expect(told).to_contain_text(link)
    expect(told).to_contain_text(TARGET[1])
    assert is_announced(page, f"{READOUT} *")


def test_a_key_tells_who_reads_it(page, said):
    page.locator(".sentence.keys .chip").first.focus()
    column = RECORD.map("cross").weights[1, 2, :, 0]
    most = said(
        "{weight} from ‘{query}’", weight=digits(column.max()), query=TARGET[column.argmax()]
    )
    expect(page.locator(READOUT)).to_contain_text(most)
    expect(page.locator(READOUT)).to_contain_text(f"{column.sum():.2f}")


def test_small_pictures_of_heads_have_their_place_and_their_entropy(page, said):
    weights = RECORD.map("cross").weights[0, 1].astype(np.float64)
    entropy = -(weights * np.log(np.maximum(weights, 1e-30))).sum(-1).mean()
    name = said(
        "{layer}, head {head}, entropy {entropy}",
        layer=said("decoder {n}", n=1),
        head=2,
        entropy=f"{entropy:.2f}",
    )
    button = page.locator(".head-buttons button").nth(1)
    expect(button).to_have_accessible_name(f"{name}: 1.2")
    expect(button).to_have_attribute("aria-pressed", "false")


def test_several_heads_are_read_one_after_the_other(said, open_records):
    state = {"heads": "1.1,2.3", "units": "tokens"}
    page = open_records(RECORD, state=state, locale=said.language)
    weights = RECORD.map("cross").weights
    each = ", ".join(
        said("head {head} {weight}", head=name, weight=digits(weights[place][0, 0]))
        for name, place in (("1.1", (0, 0)), ("2.3", (1, 2)))
    )
    grid = page.get_by_role("gridcell")
    grid.focus()
    page.keyboard.press("Control+Home")
    sentence = said(
        "‘{query}’ attends to ‘{key}’: {heads}", query=TARGET[0], key=SOURCE[0], heads=each
    )
    expect(grid).to_have_accessible_name(sentence)
    names = page.locator(".head-list li").all_inner_texts()
    layers = [said("decoder {n}", n=n) for n in (1, 2)]
    assert [layer in name for layer, name in zip(layers, names, strict=True)] == [True, True]


def test_the_legend_says_what_the_colours_reach(page, said):
    name = said("colours from 0 to {most}", most="1")
    expect(page.get_by_role("img", name=name, exact=True)).to_be_visible()


def test_a_hypothesis_says_how_likely_it_was_and_what_became_of_it(page, said):
    page.get_by_role("tab", name=said("Beam · what if?")).click()
    node = RECORD.beam.nodes[0]
    minus = f"{node.total:.2f}".replace("-", "−")
    name = said(
        "{token}, probability {p}, log p so far {total}, {fate}",
        token=node.token,
        p=f"{np.exp(node.log_prob):.2f}",
        total=minus,
        fate=said("went on"),
    )
    expect(page.get_by_role("treeitem").first).to_have_accessible_name(name)
    assert is_announced(page, ".beam-hypothesis *")


def test_a_matrix_of_a_panel_is_read_with_the_arrow_keys(page, said):
    page.get_by_role("tab", name=said("Is it an explanation?")).click()
    plane = page.locator(".explain-place, [role=tabpanel]:visible").locator(".panel-plane").first
    name = said("{title}. Arrow keys read the cells.", title="")
    expect(plane).to_have_accessible_name(re.compile(re.escape(name.strip("。. "))))
    plane.focus()
    page.keyboard.press("ArrowRight")
    figure = page.locator("[role=tabpanel]:visible figure").first
    expect(figure.get_by_role("status")).to_contain_text("→")


def test_each_step_is_announced(page, said):
    for title, says in (
        (
            "Scores",
            "Each key is compared with the query{how}: the higher the score, the better they match.",
        ),
        ("Region", "The region{which} says which keys may be read. Here, all {count} of them."),
    ):
        page.get_by_role("button", name=said(title)).click()
        part = said(says, how=" (scaled-dot)", which=" (everywhere)", count=len(SOURCE))
        expect(page.locator(".steps-caption")).to_have_text(part)
        assert is_announced(page, ".steps-caption")


def test_a_model_at_work_and_its_answer_are_announced(open_page, server, said):
    page = open_page(server, locale=said.language)
    assert is_announced(page, ".busy")
    line = page.get_by_label(said("a sentence for the model"))
    line.fill("我是一个学生。")
    line.press("Enter")
    expect(page.locator("p.output")).to_have_text("I am a student.")
    expect(page.locator("p.output")).to_have_attribute("aria-live", "polite")


def test_predictions_say_layer_place_and_chance(open_records, said):
    from regard.records.attention_map import AttentionMap
    from regard.records.lens import Lens
    from regard.records.side import Side

    weights = np.full((1, 1, 2, 2), 0.5, np.float32)
    chances = np.array([[[0.75], [0.5]], [[0.25], [1.0]]], np.float32)
    tokens = ((("dog",), ("ran",)), (("cat",), ("sat",)))
    record = AttentionRecord(
        {"text": Side.of_labels(["the", "cat"])},
        (AttentionMap("decoder", "text", "text", weights),),
        lens=Lens("text", ("layer 1", "output"), tokens, chances),
    )
    page = open_records(record, locale=said.language)
    page.get_by_role("tab", name=said("Predictions")).click()
    told = page.get_by_role("tabpanel").get_by_role("gridcell").first
    layer = said("layer {n}", n=1)
    name = said(
        "{layer}, after {token}: {best}, {chance}",
        layer=layer,
        token="the",
        best="dog",
        chance="0.75",
    )
    expect(told).to_have_accessible_name(name)
