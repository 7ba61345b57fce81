"""Several heads at once, each in a colour: chosen by mouse and keyboard, read out, kept in the address."""

from __future__ import annotations

import re

import pytest
from made_records import translation_record
from reading_pages import choose, expect, pick

RECORD = translation_record()
WEIGHTS = RECORD.map("cross").weights
TARGET, SOURCE = (RECORD.sides[name].tokens for name in ("target", "source"))


@pytest.fixture
def page(open_records):
    page = open_records(RECORD, state={"layer": 0, "head": 1, "units": "tokens"})
    page.set_default_timeout(20_000)
    page.get_by_text("several in colours").click()
    expect(page.get_by_role("switch", name="several in colours")).to_be_checked()
    return page


def heads_of(page):
    return page.get_by_role("group", name="layers and heads").get_by_role("button")


def legend_of(page):
    return page.get_by_role("list", name="heads, in the order of the stripes").get_by_role(
        "listitem"
    )


def chosen(page) -> list[str]:
    return [re.match(r"\d+\.\d+", text)[0] for text in legend_of(page).all_inner_texts()]


def test_heads_are_added_and_taken_away(page, keep):
    assert chosen(page) == ["1.2"]  # the one that was looked at
    heads_of(page).nth(0).click()
    heads_of(page).nth(WEIGHTS.shape[1] + 2).click()
    expect(legend_of(page)).to_have_count(3)
    assert chosen(page) == ["1.2", "1.1", "2.3"]
    pressed = heads_of(page).evaluate_all("all => all.map((e) => e.ariaPressed === 'true')")
    assert [n for n, on in enumerate(pressed) if on] == [0, 1, WEIGHTS.shape[1] + 2]
    expect(page.get_by_text("heads 1.2, 1.1, 2.3, each in its colour")).to_be_visible()
    strokes = page.locator(".links path").evaluate_all("all => all.map((e) => e.style.stroke)")
    assert len(set(strokes)) == 3
    keep(page, "coloured-heads-light")
    heads_of(page).nth(0).click()
    expect(legend_of(page)).to_have_count(2)
    assert chosen(page) == ["1.2", "2.3"]


def test_each_head_is_read_out(page):
    heads_of(page).nth(0).click()
    expect(legend_of(page)).to_have_count(2)
    cell = page.get_by_role("gridcell")
    cell.focus()
    page.keyboard.press("ArrowRight")
    said = page.get_by_role("gridcell").get_attribute("aria-label")
    found = dict(re.findall(r"head (\d\.\d) (less than 0\.001|[\d.]+\d)", said))
    assert said.startswith(f"‘{TARGET[0]}’ attends to ‘{SOURCE[1]}’: ")
    for name, head in (("1.2", 1), ("1.1", 0)):
        told = 0.0 if found[name].startswith("less") else float(found[name])
        assert told == pytest.approx(WEIGHTS[0, head, 0, 1], abs=0.0051)


def test_the_keyboard_chooses_heads(page):
    heads_of(page).nth(0).focus()
    page.keyboard.press("Enter")
    expect(legend_of(page)).to_have_count(2)
    expect(heads_of(page).nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(legend_of(page)).to_have_count(3)
    assert chosen(page) == ["1.2", "1.1", "2.1"]


def test_the_address_holds_them(page, open_page):
    heads_of(page).nth(0).click()
    expect(legend_of(page)).to_have_count(2)
    again = open_page(page.url)
    expect(legend_of(again)).to_have_count(2)
    assert chosen(again) == chosen(page)
    page.go_back()
    expect(legend_of(page)).to_have_count(1)
    page.go_forward()
    expect(legend_of(page)).to_have_count(2)


def test_one_head_or_none_ends_it(page):
    pick(page, "layer", "decoder 2")
    expect(legend_of(page)).to_have_count(0)
    expect(page.get_by_role("switch", name="several in colours")).not_to_be_checked()
    heads_of(page).nth(0).click()
    expect(page.get_by_text("decoder 1 · head 1")).to_be_visible()


def test_the_dark_page_and_the_picture_have_them_too(open_records, keep, tmp_path):
    state = {"heads": "1.1,1.3,2.2", "units": "tokens"}
    page = open_records(RECORD, state=state, dark=True)
    expect(legend_of(page)).to_have_count(3)
    page.get_by_role("group", name="target: ").get_by_role("button").nth(2).click()
    keep(page, "coloured-heads-dark")
    choose(page, "colour scale", "each row")
    page.locator("summary", has_text="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=re.compile("^SVG")).click()
    download.value.save_as(tmp_path / "heads.svg")
    picture = (tmp_path / "heads.svg").read_text("utf-8")
    assert "heads 1.1, 1.3, 2.2, each in its colour" in picture
    for name in ("1.1", "1.3", "2.2"):
        assert f">{name}</text>" in picture
    assert picture.count("<rect") > 3 * len(TARGET) * len(SOURCE)


def test_the_lists_do_not_claim_a_mean_where_several_are_shown(open_records):
    page = open_records(RECORD, state={"heads": "1.1,2.3"})
    bar = page.get_by_role("group", name="what is shown")
    for name in ("layer", "head"):
        choice = bar.get_by_role("combobox", name=re.compile(f"^{name}"))
        expect(choice.locator("option:checked")).to_have_text("several in colours")
    pick(page, "head", "mean of all")
    expect(choice.locator("option:checked")).to_have_text("mean of all")
    expect(choice.locator("option")).not_to_contain_text(["several in colours"])
