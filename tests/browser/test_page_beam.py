"""The tree of a beam search, another beginning, and attention by hand."""

from __future__ import annotations

import re

import numpy as np
import pytest
from made_records import label_record, translation_record
from reading_pages import ROUNDED, ask, expect, number, open_panel, read_cells

from regard.records.record import AttentionRecord

RECORD = translation_record()
STUDENT = "我是一个学生。"


def nodes_of(panel):
    return panel.get_by_role("tree").get_by_role("treeitem")


def show_dropped(panel) -> None:
    panel.locator("label", has_text="Show what was dropped").click()


def fact(panel, name: str) -> str:
    return panel.locator("dt", has_text=re.compile(f"^{name}$")).locator("+ dd").inner_text()


def test_every_node_of_the_search_is_in_the_tree(open_records, keep):
    page = open_records(RECORD)
    panel = open_panel(page, "Beam")
    assert nodes_of(panel).count() == len(RECORD.beam.nodes) - 1  # one leads to no hypothesis
    keep(page, "beam-light")
    show_dropped(panel)
    assert nodes_of(panel).count() == len(RECORD.beam.nodes)
    said = [node.get_attribute("aria-label") for node in nodes_of(panel).all()]
    for label, node in zip(said, RECORD.beam.nodes, strict=True):
        token, probability, total = re.match(
            r"(.+), probability ([\d.]+), log p so far (.[\d.]+)", label
        ).groups()
        assert token == node.token
        assert float(probability) == pytest.approx(np.exp(node.log_prob), abs=0.0051)
        assert number(total) == pytest.approx(node.total, abs=0.0051)
    keep(page, "beam-dropped")


def test_a_chosen_node_shows_its_scores_and_its_own_attention(open_records, keep):
    page = open_records(RECORD)
    panel = open_panel(page, "Beam")
    nodes_of(panel).nth(9).locator("text").first.click()
    node = RECORD.beam.nodes[9]
    assert node.token == "glad"
    expect(panel.get_by_text("I am a glad", exact=True)).to_be_visible()
    assert number(fact(panel, "so far").removeprefix("log p ")) == pytest.approx(
        node.total, abs=0.0051
    )
    figure = panel.get_by_role("figure").filter(has_text="What this token looked at")
    shown = read_cells(page, figure, 1, 9)
    np.testing.assert_allclose(shown[0], RECORD.beam.weights[9], atol=ROUNDED)
    keep(page, "beam-one-node")
    nodes_of(panel).nth(10).locator("text").first.click()
    assert number(fact(panel, "score")) == -0.55
    assert fact(panel, "place") == "2."
    whole = panel.get_by_role("figure").filter(has_text="What this hypothesis looked at")
    path = [0, 1, 2, 9, 10]
    shown = read_cells(page, whole, len(path), 9)
    np.testing.assert_allclose(shown, RECORD.beam.weights[path], atol=ROUNDED)


def test_the_tree_is_walked_with_the_arrow_keys(open_records):
    page = open_records(RECORD)
    panel = open_panel(page, "Beam")
    panel.get_by_role("treeitem", selected=True).focus()
    for key, token in (
        ("Left", "."),
        ("Left", "ent"),
        ("Right", "."),
        ("Home", "I"),
        ("Right", "am"),
    ):
        page.keyboard.press("Home" if key == "Home" else f"Arrow{key}")
        chosen = panel.get_by_role("treeitem", selected=True)
        expect(chosen).to_have_attribute("aria-label", re.compile(f"^{re.escape(token)}, "))
        expect(chosen).to_be_focused()


def test_a_judgement_has_no_tab_of_searches(open_records):
    page = open_records(label_record(), state={"panel": "beam"})
    titles = page.get_by_role("tab").all_inner_texts()
    assert "Beam" not in titles
    assert "Picture" not in titles
    first, *_, last = page.get_by_role("tab").all()
    expect(first).to_have_attribute("aria-selected", "true")
    first.focus()
    page.keyboard.press("ArrowRight")  # over the tabs that are not there
    expect(page.get_by_role("tab").nth(1)).to_be_focused()
    page.keyboard.press("End")
    expect(last).to_be_focused()
    expect(last).to_have_attribute("aria-selected", "true")


def test_a_file_says_what_needs_a_model(open_records):
    panel = open_panel(open_records(RECORD), "Beam")
    expect(panel.get_by_role("button", name="Continue", exact=True)).to_be_disabled()
    expect(panel.get_by_text("Needs a running model: regard look").first).to_be_visible()


def test_the_tree_of_a_served_model_is_that_of_its_search(open_page, server, keep):
    page = open_page(server)
    record = ask(page, STUDENT)
    panel = open_panel(page, "Beam")
    assert len(record.beam.nodes) > len(record.sides["target"])
    show_dropped(panel)
    assert nodes_of(panel).count() == len(record.beam.nodes)
    best = next(node for node in record.beam.nodes if node.rank == 0)
    assert number(fact(panel, "score")) == pytest.approx(best.score, abs=0.0051)
    keep(page, "beam-served")


def test_another_beginning_is_continued(open_page, server, keep):
    page = open_page(server)
    before = ask(page, STUDENT).output
    panel = open_panel(page, "Beam")
    panel.get_by_label("The output begins with").fill("You")
    with page.expect_response("**/attention") as answer:
        panel.get_by_role("button", name="Continue", exact=True).click()
    record = AttentionRecord.from_dict(answer.value.json())
    assert record.output.startswith("You")
    assert record.output != before
    expect(page.get_by_text(record.output, exact=True).first).to_be_visible()
    expect(nodes_of(panel).first).to_have_attribute("aria-label", re.compile("^You, "))
    expect(panel.get_by_label("The output begins with")).to_have_value("You")
    keep(page, "beam-continued")


def test_any_node_can_be_continued(open_page, server):
    page = open_page(server)
    record = ask(page, STUDENT)
    panel = open_panel(page, "Beam")
    other = next(
        place
        for place, node in enumerate(record.beam.nodes)
        if node.parent == -1 and node.token != record.sides["target"].tokens[0]
    )
    show_dropped(panel)
    nodes_of(panel).nth(other).locator("text").first.click()
    with page.expect_response("**/attention") as answer:
        panel.get_by_role("button", name="Continue from here").click()
    continued = AttentionRecord.from_dict(answer.value.json())
    assert continued.output.startswith(record.beam.nodes[other].token)
    expect(page.get_by_text(continued.output, exact=True).first).to_be_visible()


def test_forced_attention_changes_what_comes_out(open_page, server, keep):
    page = open_page(server)
    before = ask(page, STUDENT)
    panel = open_panel(page, "Beam")
    step = before.sides["target"].tokens.index("student")
    panel.get_by_role("option", name="student").click()
    keys = panel.get_by_role("group", name="Source tokens to attend to").get_by_role("button")
    keys.first.click()
    with page.expect_response("**/attention") as answer:
        panel.get_by_role("button", name="Force and translate again").click()
    record = AttentionRecord.from_dict(answer.value.json())
    forced = record.map("cross").weights[0, 0, step]
    np.testing.assert_allclose(forced, [1, *[0] * (len(forced) - 1)], atol=1e-6)
    assert record.output != before.output
    result = panel.get_by_role("status").filter(has_text="forced")
    expect(result).to_contain_text(record.output)
    expect(result).to_contain_text(before.output)
    keep(page, "beam-forced")
    panel.get_by_role("button", name="Compare the two").click()
    compared = page.get_by_role("tabpanel", name="Compare")
    for output in (record.output, before.output):
        expect(compared.get_by_role("paragraph").filter(has_text=output).first).to_be_visible()
    page.get_by_role("combobox", name=re.compile("^record")).select_option(index=1)
    expect(
        page.get_by_role("listitem").filter(has_text=re.compile("forced|evenly"))
    ).to_be_visible()
