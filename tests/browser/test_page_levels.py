"""A document at two levels: sentences with their weights, opened by a click or a key to the words of each."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from made_records import document_record
from reading_pages import choose, expect, number
from test_page_access import has_sideways_scroll

RECORD = document_record()
LEVELS = RECORD.levels
ROUNDED = 0.0051  # two decimals, three of a weight below 0.1


def heads(page):
    """The button of each sentence."""
    return page.get_by_role("list", name="sentences of the document").locator("[aria-expanded]")


def words_in(page, sentence: int):
    return page.get_by_role("group", name=f"words of sentence {sentence}", exact=True).get_by_role(
        "button"
    )


def weights_in(page, sentence: int) -> list[float]:
    """As they are read aloud."""
    names = [each.get_attribute("aria-label") for each in words_in(page, sentence).all()]
    return [number(name.split()[-1]) for name in names]


def colour_of(element) -> tuple[float, ...]:
    said = element.evaluate("(element) => getComputedStyle(element).backgroundColor")
    return tuple(float(part) for part in re.findall(r"[\d.]+", said))


def grey(colour: tuple[float, ...]) -> float:
    """How dark it is on white; what is clear is not."""
    share = colour[3] if len(colour) == 4 else 1.0
    return share * (255 - sum(colour[:3]) / 3)


def test_sentences_have_their_weights_and_a_click_opens_one(open_records, keep):
    page = open_records(RECORD)
    expect(heads(page)).to_have_count(4)
    shown = [number(each.locator(".level-weight").inner_text()) for each in heads(page).all()]
    np.testing.assert_allclose(shown, LEVELS.sentence_weights, atol=ROUNDED)
    margins = [grey(colour_of(each.locator(".level-margin"))) for each in heads(page).all()]
    assert np.argsort(margins).tolist() == np.argsort(LEVELS.sentence_weights).tolist()
    expect(words_in(page, 2)).to_have_count(0)
    heads(page).nth(1).click()
    expect(heads(page).nth(1)).to_have_attribute("aria-expanded", "true")
    place = LEVELS.places[1]
    choose(page, "unit", "tokens")
    texts = words_in(page, 2).all_inner_texts()
    assert texts == list(RECORD.sides["document"].tokens[place])
    np.testing.assert_allclose(weights_in(page, 2), LEVELS.word_weights[place], atol=ROUNDED)
    shades = [grey(colour_of(each)) for each in words_in(page, 2).all()]
    heaviest = int(np.argmax(LEVELS.word_weights[place]))
    assert np.argmax(shades) == heaviest
    keep(page, "levels")
    heads(page).nth(1).click()
    expect(heads(page).nth(1)).to_have_attribute("aria-expanded", "false")
    expect(words_in(page, 2)).to_have_count(0)


def test_tokens_of_a_word_are_put_together(open_records):
    page = open_records(RECORD, state={"levels-open": "2"})
    words, place = np.array(RECORD.sides["document"].words), LEVELS.places[1]
    own = words[place] - words[place][0]
    summed = np.bincount(own, LEVELS.word_weights[place])
    assert len(summed) < place.stop - place.start
    np.testing.assert_allclose(weights_in(page, 2), summed, atol=ROUNDED)
    line = page.get_by_role("group", name="words of sentence 2").inner_text()
    begin, end = RECORD.sides["sentences"].offsets[1]
    assert line == RECORD.sides["document"].text[begin:end]


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_keys_open_a_sentence_and_lead_into_its_words(open_records, key):
    page = open_records(RECORD)
    page.get_by_role("button", name="Open all").focus()
    page.keyboard.press(
        "Tab"
    )  # what cannot be used is passed over, and of the sentences one is reached
    expect(heads(page).first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(heads(page).nth(1)).to_be_focused()
    page.keyboard.press(key)
    expect(heads(page).nth(1)).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowRight")
    expect(words_in(page, 2).first).to_be_focused()
    page.keyboard.press("End")
    expect(words_in(page, 2).last).to_be_focused()
    page.keyboard.press(key)
    expect(words_in(page, 2).last).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".levels-readout")).to_contain_text("in sentence 2")
    page.keyboard.press("Escape")
    expect(heads(page).nth(1)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(heads(page).nth(1)).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("End")
    expect(heads(page).last).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(heads(page).last).to_have_attribute("aria-expanded", "true")


def test_pointing_says_the_numbers(open_records):
    page = open_records(RECORD, state={"levels-open": "all", "units": "tokens"})
    readout = page.locator(".levels-readout")
    heads(page).nth(1).hover()
    weight = LEVELS.sentence_weights[1]
    expect(readout).to_contain_text(re.compile(r"sentence 2 weighs [\d.]+ in the answer"))
    said = re.search(r"weighs ([\d.]+)", readout.inner_text())
    assert float(said[1]) == pytest.approx(weight, abs=ROUNDED)
    words_in(page, 2).nth(3).hover()
    expect(readout).to_contain_text("‘w1x3’ weighs")
    found = [float(x) for x in re.findall(r"\b0\.\d+", readout.inner_text())]
    word = LEVELS.word_weights[LEVELS.places[1]][3]
    assert found == pytest.approx([word, weight, word * weight], abs=ROUNDED)


def test_words_are_shaded_by_both_weights_or_by_their_own(open_records):
    page = open_records(RECORD, state={"levels-open": "all", "units": "tokens"})
    expect(page.get_by_text("√p(s) · p(w)", exact=False)).to_be_visible()
    order = np.argsort(LEVELS.display)[::-1]
    every = page.locator(".level-word")
    both = [grey(colour_of(each)) for each in every.all()]
    assert int(np.argmax(both)) == order[0]
    choose(page, "shade words by", "word alone")
    alone = [grey(colour_of(each)) for each in every.all()]
    assert int(np.argmax(alone)) == int(np.argmax(LEVELS.word_weights))
    assert alone != both
    expect(page.get_by_text("its weight in its own sentence", exact=False)).to_be_visible()
    choose(page, "colour scale", "each sentence")
    for place in (each for each in LEVELS.places if each.start < each.stop):
        shades = [grey(colour_of(each)) for each in every.all()[place]]
        assert max(shades) == pytest.approx(max(alone), abs=1)  # the strongest colour there is


def test_all_can_be_opened_and_closed_and_a_link_brings_it_back(open_records, open_page):
    page = open_records(RECORD)
    page.get_by_role("button", name="Open all").click()
    for head in heads(page).all():
        expect(head).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_text("4 of 4 sentences are open")).to_be_visible()
    expect(page.get_by_role("group", name="words of sentence 3")).to_have_text("no words")
    heads(page).nth(1).click()
    choose(page, "shade words by", "word alone")
    words_in(page, 1).first.click()
    again = open_page(page.url)
    opened = [each.get_attribute("aria-expanded") for each in heads(again).all()]
    assert opened == ["true", "false", "true", "true"]
    expect(again.get_by_role("radio", name="word alone")).to_be_checked()
    expect(words_in(again, 1).first).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Close all").click()
    for head in heads(page).all():
        expect(head).to_have_attribute("aria-expanded", "false")
    expect(page.get_by_role("button", name="Close all")).to_be_disabled()


def test_its_maps_can_still_be_looked_at(open_records):
    page = open_records(RECORD)
    expect(page.get_by_role("grid")).to_have_count(0)
    choose(page, "attention", "sentences")
    expect(page.get_by_role("grid").first).to_be_visible()
    expect(heads(page)).to_have_count(0)
    choose(page, "attention", "both levels")
    expect(heads(page)).to_have_count(4)


@pytest.mark.parametrize(("width", "dark"), [(360, True), (400, False), (1280, True)])
def test_it_fits_the_screen(open_records, keep, width, dark):
    long = document_record((30, 1, 0, 12, 3))
    page = open_records(long, state={"levels-open": "all"}, width=width, dark=dark)
    assert not has_sideways_scroll(page)
    for each in page.locator(".level-word").all()[:40]:
        ratio = each.evaluate(CONTRAST)
        assert ratio >= 4.2, each.inner_text()
    keep(page, f"levels-{'dark' if dark else 'light'}-{width}")


CONTRAST = """(element) => {
  const read = (text) => text.match(/[\\d.]+/g).map(Number);
  let [ground, at] = [read(getComputedStyle(element).backgroundColor), element];
  while (ground.length === 4 && ground[3] === 0) {
    at = at.parentElement;
    ground = read(getComputedStyle(at).backgroundColor);
  }
  const light = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const [ink, paper] = [light(read(getComputedStyle(element).color)), light(ground)];
  return Math.max(ink, paper) / Math.min(ink, paper);
}"""


@pytest.mark.parametrize("lengths", [(1,), (0,), (3,), (20,) * 1000], ids=["1", "0", "3", "20k"])
def test_documents_of_any_size(open_records, lengths):
    record = document_record(lengths)
    page = open_records(record)
    expect(heads(page)).to_have_count(len(lengths))
    heads(page).last.click()
    expect(heads(page).last).to_have_attribute("aria-expanded", "true")
    page.get_by_role("button", name="Open all").click(force=len(lengths) == 1)
    choose(page, "unit", "tokens")
    assert page.locator(".level-word").count() == sum(lengths)
    if sum(lengths):
        place = record.levels.places[-1]
        shown = weights_in(page, len(lengths))
        np.testing.assert_allclose(shown, record.levels.word_weights[place], atol=ROUNDED)


def test_the_picture_of_it_has_what_is_open(open_records, tmp_path):
    page = open_records(RECORD, state={"levels-open": "2", "units": "tokens"})
    page.get_by_text("Export").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="SVG").click()
    assert waiting.value.suggested_filename == "regard-two-levels-levels.svg"
    file = tmp_path / "levels.svg"
    waiting.value.save_as(file)
    texts = [
        "".join(each.itertext()) for each in ET.parse(file).iter() if each.tag.endswith("text")
    ]
    assert set(RECORD.sides["document"].tokens[LEVELS.places[1]]) <= set(texts)
    shown = [float(text) for text in texts if re.fullmatch(r"0\.\d+", text)]
    np.testing.assert_allclose(shown, LEVELS.sentence_weights, atol=ROUNDED)
