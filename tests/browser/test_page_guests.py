"""Pages of Hugging Face models: pairs, predictions, neurons, pictures, and a model behind the page."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("transformers")
sys.path.insert(0, str(Path(__file__).parent.parent / "looking"))

from guest_models import guest, picture
from reading_pages import choose, expect, links_of, number, open_panel

import regard

PAIR = ("the cat sat", "it was tired")
ONE_HEAD = {"layer": 1, "head": 0, "units": "tokens"}


@pytest.fixture(scope="module")
def pair_record():
    return regard.look(*guest("bert"), PAIR).records[0]


def test_a_pair_is_filtered_from_one_text_to_the_other(open_records, keep, pair_record):
    page = open_records(pair_record)
    bar = page.get_by_role("radiogroup", name="texts")
    assert bar.locator("label").all_inner_texts() == ["all", "A → A", "A → B", "B → A", "B → B"]
    choose(page, "texts", "A → B")
    keep(page, "guest-pair")
    expect(page.locator("body")).to_contain_text("from text A to text B, weights as they were")
    links = links_of(page)
    assert [query for query, _, _ in links[::3]] == PAIR[0].split()
    assert {key for _, key, _ in links} == set(PAIR[1].split())
    mean = pair_record.map("encoder").weights.mean((0, 1))
    assert links[0][2] == pytest.approx(max(mean[1, 5:8]), abs=6e-4)
    assert "between=AB" in page.url


def test_one_text_has_no_such_filter(open_records):
    record = regard.look(*guest("bert"), PAIR[0]).records[0]
    page = open_records(record)
    expect(page.locator(".toolbar").get_by_role("radiogroup", name="texts")).to_be_hidden()


def test_the_neuron_view_adds_up_to_the_scores(open_records, keep, pair_record):
    page = open_records(pair_record, state=ONE_HEAD)
    panel = open_panel(page, "Step by step")
    panel.get_by_role("option", name="cat").click()
    panel.get_by_role("button", name="Scores").click()
    keep(page, "guest-neurons")
    rows = panel.locator(".neuron-view tbody tr").all()
    shown = [number(row.locator("td").last.inner_text()) for row in rows]
    scores = pair_record.map("encoder").scores[1, 0, 2]
    np.testing.assert_allclose(shown, scores, atol=6e-4)


def test_predictions_are_shown_layer_by_layer(open_records, keep):
    record = regard.look(*guest("gpt2"), "the cat sat on the").records[0]
    page = open_records(record)
    panel = open_panel(page, "Predictions")
    cells = panel.get_by_role("gridcell").all_inner_texts()
    assert cells == [place[0] for line in record.lens.tokens for place in line]
    best = panel.locator(".lens-details tbody th").all_inner_texts()
    assert best == list(record.lens.tokens[-1][-1])
    panel.get_by_role("gridcell").first.click()
    keep(page, "guest-lens")
    assert panel.locator(".lens-details tbody th").all_inner_texts() == list(
        record.lens.tokens[0][0]
    )
    panel.get_by_role("gridcell").first.press("ArrowDown")
    assert panel.locator(".lens-details tbody th").all_inner_texts() == list(
        record.lens.tokens[1][0]
    )


def test_the_picture_lies_under_the_weights_of_a_vit(open_records, keep):
    record = regard.look(*guest("vit"), picture()).records[0]
    page = open_records(record)
    panel = open_panel(page, "Picture")
    weights = record.map("label").weights[-1].mean(0)[0, 1:]
    row, column = divmod(int(weights.argmax()), 3)
    expect(panel).to_contain_text(f"row {row + 1}, column {column + 1}")
    keep(page, "guest-vit")


def test_a_file_says_what_puts_this_model_behind_it(open_records, pair_record):
    page = open_records(pair_record)
    panel = open_panel(page, "Is it an explanation?")
    expect(panel).to_contain_text("regard.look(model, tokenizer, …, live=True)")


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_a_model_answers_behind_its_page(open_page, keep, family):
    view = regard.look(*guest(family), "the cat sat on", live=True)
    try:
        page = open_page(view.address)
        panel = open_panel(page, "What if?")
        keys = panel.get_by_role("group", name="Source tokens to attend to").get_by_role("button")
        expect(keys.first).to_be_enabled()
        keys.first.click()
        panel.get_by_role("button", name="Force and read again").click()
        expect(page.locator("body")).to_contain_text("forced: ")
        keep(page, f"guest-live-{family}")
        assert "%22force%22" in page.url
    finally:
        view.close()
