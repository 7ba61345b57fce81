"""What-ifs are named wherever they are shown, and an address brings each of them back."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from reading_pages import QUESTION, ask, choose, expect, open_panel, sentence_of

from regard.records.record import AttentionRecord

STUDENT = "我是一个学生。"


@pytest.fixture
def page(open_page, server):
    return open_page(server)


def address(page) -> dict[str, str]:
    """The parts of the fragment."""
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).fragment).items()}


def asked(page, click) -> AttentionRecord:
    with page.expect_response("**/attention") as answer:
        click()
    return AttentionRecord.from_dict(answer.value.json())


def begin_with(page, prefix: str) -> AttentionRecord:
    panel = open_panel(page, "Beam")
    panel.get_by_label("The output begins with").fill(prefix)
    return asked(page, panel.get_by_role("button", name="Continue", exact=True).click)


def force(page, step: int, key: int) -> AttentionRecord:
    panel = open_panel(page, "Beam")
    panel.get_by_role("listbox", name="Step").get_by_role("option").nth(step).click()
    keys = panel.get_by_role("group", name="Source tokens to attend to").get_by_role("button")
    keys.nth(key).click()
    return asked(page, panel.get_by_role("button", name="Force and translate again").click)


def switch_off(page) -> AttentionRecord:
    panel = open_panel(page, "Beam")
    panel.get_by_role("button", name=re.compile("head 1: switched off")).first.click()
    return asked(page, panel.get_by_role("button", name="Translate without them").click)


def records_of(page):
    return page.get_by_role("combobox", name=re.compile("^record"))


def headline(page) -> str:
    return page.locator(".headline").inner_text()


def test_another_beginning_is_named_in_headline_notes_and_address(page, keep):
    ask(page, STUDENT)
    assert "what if" not in headline(page)
    record = begin_with(page, "You")
    assert record.changes == ("begins with “You”",)
    expect(page.locator(".changes")).to_contain_text("what if: begins with “You”")
    expect(page.get_by_role("listitem").filter(has_text="had to begin with “You”")).to_be_visible()
    assert address(page)["prefix"] == "You"
    keep(page, "what-if-prefix")
    page.get_by_role("button", name="As the model does it").click()
    expect(page.locator(".changes")).to_be_hidden()
    assert "prefix" not in address(page)


def test_forcing_after_a_beginning_keeps_it(page):
    ask(page, STUDENT)
    begin_with(page, "You are a")
    forced = force(page, 1, 0)  # a step inside of what was given
    assert forced.question["prefix"] == "You are a"
    assert forced.output.startswith("You are a")
    assert forced.changes == ("forced: are → 我", "begins with “You are a”")
    later = force(page, 3, 1)  # a step after it: what was written before stays too
    assert later.question["prefix"].startswith("You are a")


def test_every_change_is_named_in_the_menu_of_records_and_in_comparisons(page, keep):
    ask(page, STUDENT)
    forced = force(page, 3, 0)
    expect(records_of(page)).to_have_value("1")
    records_of(page).select_option(index=0)
    without = switch_off(page)
    assert without.changes == ("without cross 1",)
    names = records_of(page).locator("option").all_inner_texts()
    assert forced.changes[0] in names[1]
    assert "without cross 1" in names[2]
    assert not any("forced" in names[n] or "without" in names[n] for n in (0,))
    expect(page.locator(".changes")).to_contain_text("without cross 1")
    assert address(page)["record"] == "2"
    assert [each.get("force", each.get("off")) for each in json.loads(address(page)["also"])] == [
        {"keys": [0], "step": 3},
        [{"layer": 1, "map": "cross"}],
    ]
    keep(page, "what-if-heads")
    panel = open_panel(page, "Compare")
    expect(panel.get_by_role("figure").first).to_contain_text("without cross 1")


def test_what_came_of_a_force_is_shown_and_shared(page, open_page):
    before = ask(page, STUDENT)
    forced = force(page, 1, 5)
    expect(page.locator(".output")).to_have_text(forced.output)
    expect(page.locator(".changes")).to_contain_text("forced: ")
    assert address(page)["record"] == "1"
    again = open_page(page.url)
    expect(again.locator(".output")).to_have_text(forced.output)
    told = again.locator(".beam-result")
    for each in (page.locator(".beam-result"), told):
        expect(each.locator("dd").nth(0)).to_have_text(before.output)
        expect(each.locator("dd").nth(1)).to_have_text(forced.output)
    told.get_by_role("button", name="Compare the two").click()
    figures = again.get_by_role("tabpanel", name="Compare").get_by_role("figure")
    expect(figures.nth(0)).to_contain_text("as the model does it")
    expect(figures.nth(1)).to_contain_text("forced: ")


def test_sliders_give_each_token_its_share(page, keep):
    ask(page, STUDENT)
    panel = open_panel(page, "Beam")
    panel.get_by_role("listbox", name="Step").get_by_role("option").nth(3).click()
    for token, value in (("我", "25"), ("学", "75")):
        panel.get_by_role("slider", name=f"weight of {token}").fill(value)
    shares = panel.locator(".forced-key output").all_inner_texts()
    assert [share for share in shares if share] == ["0.25", "0.75"]
    record = asked(page, panel.get_by_role("button", name="Force and translate again").click)
    row = record.map("cross").weights[0, 0, 3]
    tokens = record.sides["source"].tokens
    np.testing.assert_allclose(
        row[[tokens.index("我"), tokens.index("学")]], [0.25, 0.75], atol=1e-3
    )
    assert any("0.25 to 我, 0.75 to 学" in note for note in record.notes)
    keep(page, "what-if-weights")


def test_a_slider_goes_by_keyboard(page):
    ask(page, STUDENT)
    panel = open_panel(page, "Beam")
    slider = panel.get_by_role("slider").first
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowUp")
        expect(slider).to_be_focused()
    expect(slider).to_have_value("3")


def test_several_heads_are_switched_off_at_once(open_page, server_of_two):
    page = open_page(f"{server_of_two}/#model=toy&text=aa+bb+cc+dd")
    panel = open_panel(page, "Beam")
    for name in (
        "cross-attention, layer 1, head 2",
        "self-attention of the encoder, layer 2, head 1",
    ):
        panel.get_by_role("button", name=name).click()
    record = asked(page, panel.get_by_role("button", name="Translate without them").click)
    assert record.changes == ("without cross 1.2; encoder 2.1",)
    assert (record.map("cross").weights[0, 1] == 0).all()
    assert (record.map("encoder").weights[1, 0] == 0).all()
    assert (record.map("cross").weights[0, 0].sum(-1) > 0.9).all()


def test_a_word_of_the_beam_is_taken_instead_by_a_click(page, keep):
    record = ask(page, STUDENT)
    panel = open_panel(page, "Beam")
    node = panel.get_by_role("tree").get_by_role("treeitem").first
    node.locator("text").first.click()
    others = panel.get_by_role("group", name="other words here").get_by_role("button")
    expect(others.first).to_be_visible()
    word = others.first.locator("bdi").inner_text()
    keep(page, "what-if-take")
    taken = asked(page, others.first.click)
    assert taken.question["prefix"] == word
    assert taken.output.startswith(word)
    assert taken.output != record.output


def state_of(page) -> list[str]:
    """What can be seen of a state."""
    expect(page.locator(".heatmap .grid-cell")).to_be_attached()
    return [
        headline(page),
        page.locator(".tab[aria-selected=true]").inner_text(),
        page.locator(".map-place .readout").inner_text(),
        "|".join(records_of(page).locator("option").all_inner_texts()),
    ]


def typed(page):
    ask(page, STUDENT)


def tokens(page):
    typed(page)
    choose(page, "unit", "tokens")
    choose(page, "colour scale", "each row")


def pinned(page):
    typed(page)
    sentence_of(page, "target").get_by_role("button", name="student").click()
    page.mouse.move(5, 5)


def begun(page):
    typed(page)
    begin_with(page, "You")
    expect(page.locator(".changes")).to_be_visible()


def forced(page):
    typed(page)
    force(page, 3, 0)
    expect(records_of(page)).to_have_value("1")


def begun_and_forced(page):
    begun(page)
    force(page, 2, 0)
    expect(records_of(page)).to_have_value("1")


def blind(page):
    typed(page)
    switch_off(page)
    expect(records_of(page)).to_have_value("1")


def compared(page):
    typed(page)
    panel = open_panel(page, "Compare")
    panel.get_by_label("Another sentence").fill("他是一个学生。")
    asked(page, panel.get_by_role("button", name="Compare").click)
    expect(panel.get_by_role("figure").nth(1)).to_be_visible()


def measured(page):
    typed(page)
    panel = open_panel(page, "Is it an explanation?")
    asked(page, panel.get_by_role("button", name="Measure").click)
    expect(panel.get_by_role("button", name="Measure again")).to_be_visible()


STATES = [typed, tokens, pinned, begun, forced, begun_and_forced, blind, compared, measured]


@pytest.mark.parametrize("make", STATES, ids=lambda make: str(make.__name__))
def test_the_address_holds_the_whole_view(open_page, server, make):
    page = open_page(server)
    make(page)
    seen = state_of(page)
    again = open_page(page.url)  # in another window
    expect(again.locator(".output")).to_have_text(page.locator(".output").inner_text())
    assert state_of(again) == seen
    assert again.url == page.url
    page.reload()
    expect(page.locator(".output")).to_be_visible()
    assert state_of(page) == seen


def test_a_link_is_pasted_into_an_open_page(open_page, server):
    page, other = open_page(server), open_page(server)
    ask(page, STUDENT)
    ask(other, "你好。")
    begin_with(page, "You")
    expect(page.locator(".changes")).to_be_visible()
    other.goto(page.url)
    expect(other.locator(".changes")).to_contain_text("begins with “You”")
    expect(other.locator(".output")).to_have_text(page.locator(".output").inner_text())
    expect(other.get_by_label(QUESTION)).to_have_value(STUDENT)


def test_back_and_forward_walk_through_what_was_asked(page):
    outputs = []
    for text in (STUDENT, "你好。"):
        outputs.append(ask(page, text).output)
        expect(page.locator(".output")).to_have_text(outputs[-1])
    choose(page, "unit", "tokens")
    outputs.append(begin_with(page, "You").output)
    expect(page.locator(".output")).to_have_text(outputs[-1])
    page.go_back()
    expect(page.locator(".output")).to_have_text(outputs[1])
    expect(page.locator(".changes")).to_be_hidden()
    for _ in range(3):
        page.go_back()  # the panel, the tokens, the sentence
    expect(page.locator(".output")).to_have_text(outputs[0])
    expect(page.get_by_label(QUESTION)).to_have_value(STUDENT)
    for _ in range(4):
        page.go_forward()
    expect(page.locator(".output")).to_have_text(outputs[2])
    expect(page.locator(".changes")).to_be_visible()


def test_an_answer_to_something_else_is_dimmed(open_page, server):
    page = open_page(server, refused=True)
    ask(page, STUDENT)
    page.get_by_label(QUESTION).fill("长" * 6000)
    page.get_by_label(QUESTION).press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.locator(".headline")).to_have_css("opacity", "0.72")
    ask(page, "你好。")
    expect(page.get_by_role("alert")).to_be_hidden()
    expect(page.locator(".headline")).to_have_css("opacity", "1")


def test_layers_are_counted_from_1_in_the_address(open_page, server_of_two):
    page = open_page(f"{server_of_two}/#model=toy&text=aa+bb+cc+dd&layer=1&head=2")
    expect(page.locator(".caption")).to_contain_text("layer 1 · head 2")
    expect(page.locator(".mechanism")).to_contain_text("used for alignment: layer 2")
    bar = page.get_by_role("group", name="what is shown")
    bar.get_by_role("combobox", name=re.compile("^layer")).select_option(label="layer 2")
    assert address(page)["layer"] == "2"
