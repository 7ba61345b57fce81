"""Layers × heads: one of them, their mean, their maximum; sorted by entropy; the three maps."""

from __future__ import annotations

import re

import numpy as np
import pytest
from made_records import HEADS, LAYERS, translation_record
from reading_pages import ROUNDED, choose, expect, links_of, pick, shown_matrix

from regard.records.record import AttentionRecord

RECORD = translation_record()
CROSS = RECORD.map("cross").weights


def entropies() -> np.ndarray:
    return -(CROSS * np.log(CROSS)).sum(-1).mean(-1)


@pytest.fixture
def page(open_records):
    page = open_records(RECORD)
    choose(page, "unit", "tokens")
    return page


def heads_of(page):
    return page.get_by_role("group", name="layers and heads").get_by_role("button")


def test_every_head_is_there_and_one_can_be_entered(page, keep):
    assert heads_of(page).count() == LAYERS * HEADS
    chosen = page.get_by_role("button", name="decoder 2, head 3, entropy")
    chosen.click()
    expect(page.get_by_text("cross-attention · decoder 2 · head 3").first).to_be_visible()
    expect(chosen).to_have_attribute("aria-pressed", "true")
    keep(page, "overview-one-head")
    np.testing.assert_allclose(shown_matrix(page, "target", "source"), CROSS[1, 2], atol=ROUNDED)


@pytest.mark.parametrize(
    ("layer", "head", "expected"),
    [
        ("mean of all", "mean of all", CROSS.mean((0, 1))),
        ("maximum of all", "maximum of all", CROSS.max((0, 1))),
        ("decoder 1", "maximum of all", CROSS[0].max(0)),
        ("mean of all", "head 2", CROSS[:, 1].mean(0)),
        ("decoder 2", "mean of all", CROSS[1].mean(0)),
    ],
)
def test_mean_and_maximum_are_those_of_the_record(page, layer, head, expected):
    pick(page, "layer", layer)
    pick(page, "head", head)
    np.testing.assert_allclose(shown_matrix(page, "target", "source"), expected, atol=ROUNDED)


def test_sorting_by_entropy_puts_the_most_focused_head_first(page, keep):
    choose(page, "sort by", "entropy")
    said = [button.get_attribute("aria-label") for button in heads_of(page).all()]
    found = [
        re.fullmatch(r"decoder (\d), head (\d), entropy ([\d.]+): \1\.\2", each).groups()
        for each in said
    ]
    expected = entropies()
    order = np.argsort(expected.ravel())
    assert [(int(a) - 1) * HEADS + int(b) - 1 for a, b, _ in found] == order.tolist()
    shown = [float(entropy) for *_, entropy in found]
    np.testing.assert_allclose(shown, expected.ravel()[order], atol=0.0051)
    heads_of(page).first.click()
    layer, head = divmod(int(order[0]), HEADS)
    expect(page.get_by_text(f"decoder {layer + 1} · head {head + 1}").first).to_be_visible()
    keep(page, "overview-by-entropy")
    choose(page, "sort by", "place")
    expect(heads_of(page).first).to_have_attribute("aria-label", re.compile("^decoder 1, head 1,"))


def test_heads_are_reached_with_the_arrow_keys(page):
    heads_of(page).first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(heads_of(page).nth(HEADS + 1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("decoder 2 · head 2").first).to_be_visible()


def test_self_attention_of_the_encoder(page, keep):
    choose(page, "attention", "encoder")
    expect(page.get_by_text("self-attention of the encoder").first).to_be_visible()
    keep(page, "overview-encoder")
    weights = RECORD.map("encoder").weights.mean((0, 1))
    tokens = RECORD.sides["source"].tokens
    for query, key, weight in links_of(page):
        assert weight == pytest.approx(weights[tokens.index(query), tokens.index(key)], abs=ROUNDED)


def test_what_the_decoder_may_not_see_is_marked(page, keep):
    choose(page, "attention", "decoder")
    expect(page.get_by_text("self-attention of the decoder").first).to_be_visible()
    expect(page.get_by_text("not allowed")).to_be_visible()
    keep(page, "overview-decoder")
    page.get_by_role("gridcell").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("gridcell")).to_have_attribute(
        "aria-label", "‘I’ may not attend to ‘I’"
    )
    page.keyboard.press("ArrowDown")
    weight = RECORD.map("decoder").weights.mean((0, 1))[1, 1]
    expect(page.get_by_role("gridcell")).to_have_attribute(
        "aria-label", f"‘am’ attends {weight:.2f} to ‘I’"
    )


def test_raw_weights_are_no_shares_and_have_no_rest(open_records):
    weights = np.array([[1.0, 0.4, 0.4], [0.4, 0.3, 0.4]], np.float32)
    for normalizer, count in (("raw", 0), ("softmax", 1)):
        record = AttentionRecord.of(weights / 2, ["a", "b"], ["c", "d", "e"])
        given = record.to_dict()
        given["maps"][0]["normalizer"] = normalizer
        page = open_records(AttentionRecord.from_dict(given))
        expect(page.get_by_text("rest: not among these columns")).to_have_count(count)
