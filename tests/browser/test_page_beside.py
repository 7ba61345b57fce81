"""Two things side by side: checkpoints that write different things, sentences, before and after a change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from urllib.parse import urlencode

import numpy as np
import pytest
from reading_pages import QUESTION, ROUNDED, ask, choose, expect, open_panel, read_cells

from conftest import serving, toy_transformer
from regard.looking.run_looker import look_at
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.runs.checkpoint_model import steps_kept
from regard.runs.loaded_run import LoadedRun, load

TEXTS = ("aa bb cc dd", "cc dd ee ff gg", "hh gg ff", "ee ee")


@pytest.fixture(scope="module")
def pair(tmp_path_factory) -> tuple[LoadedRun, LoadedRun, str]:
    """Two checkpoints of one run, and a text that they translate differently."""
    toy = toy_transformer(tmp_path_factory.mktemp("pair"))
    runs = [load(f"{toy}@{step}", device="cpu") for step in steps_kept(load(toy).folder)]
    for text in TEXTS:
        found = {run: run.translate([text])[0] for run in runs}
        ended = {run: answer.text for run, answer in found.items() if answer.finished}
        for one, other in combinations(ended, 2):
            if len({ended[one], ended[other]} - {""}) == 2:
                return one, other, text
    raise AssertionError("all checkpoints write the same")


@pytest.fixture(scope="module")
def address(pair) -> Iterator[str]:
    with serving("-m", str(pair[0].path), "-m", str(pair[1].path)) as found:
        yield found


@pytest.fixture
def page(open_page, address, pair):
    state = {"text": pair[2], "panel": "compare", "compare-model": pair[1].path.name}
    page = open_page(f"{address}#{urlencode(state)}")
    expect(difference_of(page)).to_be_visible()
    return page


def panel_of(page):
    return page.get_by_role("tabpanel", name="Compare")


def difference_of(page):
    return panel_of(page).get_by_role("figure").filter(has_text="difference: right − left")


def cross(record: AttentionRecord) -> np.ndarray:
    """Of what the page shows first: the reported layer, the mean over its heads."""
    found = record.map("cross")
    return found.weights[found.shown[0]].mean(0)


def test_each_model_is_given_the_others_output(page, pair, keep):
    one, other, text = pair
    left = look_at(one, Question(text))
    right = look_at(other, Question(text, target=left.output))
    panel = panel_of(page)
    expect(panel.get_by_role("status").filter(has_text="the left’s output")).to_be_visible()
    choose(page, "unit", "tokens")
    expected = cross(right) - cross(left)
    expect(panel.get_by_role("figure").nth(0)).to_contain_text(one.name)
    shown = read_cells(page, difference_of(page), *expected.shape)
    np.testing.assert_allclose(shown, expected, atol=ROUNDED)
    keep(page, "beside-models")


def test_how_probable_each_finds_both_outputs(page, pair):
    one, other, text = pair
    outputs = [run.translate([text])[0].text for run in (one, other)]
    table = panel_of(page).get_by_role("table", name="How probable each side finds each output")
    expect(table.locator("td").filter(has_text=re.compile(r"\d"))).to_have_count(4)
    rows = [table.locator("tbody tr").nth(n).locator("td").all_inner_texts() for n in range(2)]
    for row, output in zip(rows, outputs, strict=True):
        for told, run in zip(row, (one, other), strict=True):
            log_prob = run.score([text], [output])[0].log_prob
            assert float(told.replace("−", "-")) == pytest.approx(log_prob, abs=0.0051)


def test_the_right_output_or_each_its_own(page, pair, open_page):
    one, other, text = pair
    right = look_at(other, Question(text))
    panel = panel_of(page)
    choose(page, "Output on both sides", "the right’s")
    expect(panel.get_by_role("status").filter(has_text="the right’s output")).to_be_visible()
    choose(page, "unit", "tokens")
    left = look_at(one, Question(text, target=right.output))
    expected = cross(right) - cross(left)
    shown = read_cells(page, difference_of(page), *expected.shape)
    np.testing.assert_allclose(shown, expected, atol=ROUNDED)
    again = open_page(page.url)  # the address holds it
    expect(again.get_by_role("radio", name="the right’s")).to_be_checked()
    expect(difference_of(again)).to_be_visible()
    choose(page, "Output on both sides", "each its own")
    expect(page.get_by_role("radio", name="each its own")).to_be_checked()
    assert "compare-output=own" in page.url
    page.go_back()
    expect(page.get_by_role("radio", name="the right’s")).to_be_checked()
    page.go_forward()
    expect(page.get_by_role("radio", name="each its own")).to_be_checked()


def test_sides_are_swapped_by_the_keyboard(page, pair):
    names = [run.name for run in pair[:2]]
    figures = panel_of(page).get_by_role("figure")
    expect(figures.nth(0)).to_contain_text(names[0])
    swap = panel_of(page).get_by_role("button", name="Swap sides")
    swap.focus()
    page.keyboard.press("Enter")
    expect(figures.nth(0)).to_contain_text(names[1])
    expect(figures.nth(1)).to_contain_text(names[0])
    expect(swap).to_be_focused()
    page.go_back()
    expect(figures.nth(0)).to_contain_text(names[0])


def test_models_of_a_link_are_asked_what_is_typed(open_page, address, pair):
    one, other, text = pair
    named = {"panel": "compare", "model": one.path.name}
    also = f'[{{"model":"{other.path.name}"}}]'
    page = open_page(f"{address}#{urlencode(named | {'also': also})}")
    page.get_by_label(QUESTION).fill(text)
    page.get_by_label(QUESTION).press("Enter")
    expect(panel_of(page).get_by_role("figure").nth(1)).to_contain_text(other.name)
    expect(difference_of(page)).to_be_visible()


def test_a_file_of_the_page_compares_without_a_model(page, pair, open_page, tmp_path):
    panel = panel_of(page)
    expect(panel.get_by_role("status").filter(has_text="the left’s output")).to_be_visible()
    page.locator("summary", has_text="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=re.compile("^HTML")).click()
    path = tmp_path / "compared.html"
    download.value.save_as(path)
    alone = open_page(path.as_uri())
    expect(difference_of(alone)).to_be_visible()
    said = panel_of(alone).get_by_role("status").filter(has_text="the left’s output")
    expect(said).to_be_visible()


def test_before_and_after_a_change(open_page, server, keep):
    page = open_page(
        f"{server}#"
        + urlencode(
            {
                "text": "他在这家商店工作，没去图书馆。",
                "prefix": "He is working in this",
                "force": '{"keys":[11,12,13],"step":5}',
                "panel": "compare",
            }
        )
    )
    panel = panel_of(page)
    panel.get_by_role("button", name="Before and after").click()
    figures = panel.get_by_role("figure")
    expect(figures.nth(0)).to_contain_text("as the model does it")
    expect(figures.nth(1)).to_contain_text("forced: library → 图书馆")
    expect(difference_of(page)).to_be_visible()
    expect(panel.get_by_text("They differ most at “library”")).to_have_count(0)
    expect(panel.get_by_text(re.compile("They differ most at “store”"))).to_be_visible()
    keep(page, "beside-what-if")
    again = open_page(page.url)
    expect(panel_of(again).get_by_role("figure").nth(1)).to_contain_text("forced: library")
    page.go_back()
    expect(panel.get_by_role("button", name="Before and after")).to_be_visible()


def test_two_sentences_differ_in_what_both_have(open_page, server, keep):
    page = open_page(server)
    ask(page, "我是一个学生。")
    panel = open_panel(page, "Compare")
    panel.get_by_label("Another sentence").fill("他是一个学生。")
    panel.get_by_role("button", name="Compare").click()
    expect(difference_of(page)).to_be_visible()
    expect(panel.get_by_text("The difference is of what both have")).to_be_visible()
    keep(page, "beside-sentences")
