"""No serious fault of accessibility in any state of the page, by axe-core (github.com/dequelabs/axe-core).

Its script is no part of regard: `npm ci --prefix tests/view/page` brings it, else these tests are skipped.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from made_records import (
    document_record,
    image_record,
    lens_record,
    neuron_record,
    scripts_record,
    square_record,
    translation_record,
)
from reading_pages import QUESTION, ask, expect, open_panel

AXE = Path(__file__).parents[1] / "view" / "page" / "node_modules" / "axe-core" / "axe.min.js"
RUN = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .flatMap(({ id, impact, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${impact} ${id}: ${target} ${failureSummary}`));
}"""
PANELS = ["Step by step", "Beam", "Compare", "Is it an explanation?", "Table"]
LOOKS = [(1280, False), (1280, True), (390, False), (390, True)]  # how wide, and whether dark

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not AXE.exists(), reason="needs axe-core: npm ci --prefix tests/view/page"),
]


def faults(page) -> list[str]:
    page.wait_for_timeout(350)  # what fades in is judged when it is there
    page.evaluate(AXE.read_text("utf-8"))
    return page.evaluate(RUN)


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_every_panel(open_records, width, dark):
    record = translation_record()
    page = open_records(
        record,
        translation_record(1, "another"),
        state={"layer": 1, "head": 2, "query": 3, "key": 2},
        width=width,
        dark=dark,
    )
    for title in PANELS:
        open_panel(page, title)
        assert faults(page) == [], title
    page.locator("summary", has_text="Export").click()
    assert faults(page) == [], "Export"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(
    "record",
    [
        document_record(),
        image_record(),
        scripts_record(),
        square_record(120),
        square_record(6, layers=4, heads=8),
    ],
    ids=["document", "picture", "scripts", "long", "many heads"],
)
def test_other_records(open_records, record, dark):
    assert faults(open_records(record, dark=dark)) == []


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
@pytest.mark.parametrize(
    ("record", "state", "panel"),
    [
        (neuron_record(True), {"query": 1}, 0),
        (neuron_record(False), {"step": "1"}, 0),
        (lens_record(), {"lens-line": "1", "query": 2}, -1),
        (translation_record(), {"heads": "1.1,1.3,2.2", "query": 1}, 4),
    ],
    ids=["additive", "products", "predictions", "several heads"],
)
def test_further_states(open_records, record, state, panel, width, dark, language):
    page = open_records(record, state=state, width=width, dark=dark, locale=language)
    page.get_by_role("tab").nth(panel).click()
    assert faults(page) == []


def test_a_mean_that_has_no_steps(open_records):
    page = open_records(translation_record())
    open_panel(page, "Step by step")
    assert faults(page) == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_served_page_from_its_first_moment_to_an_error(open_page, server, keep, dark):
    page = open_page(server, dark=dark, refused=True)
    expect(page.get_by_label(QUESTION)).to_be_visible()
    assert faults(page) == [], "nothing asked"
    ask(page, "他在这家商店工作，没去图书馆。")
    for title in ("Beam", "Compare", "Is it an explanation?"):
        open_panel(page, title)
        assert faults(page) == [], title
    page.route("**/attention", lambda route: route.fulfill(status=400, json={"error": "no"}))
    line = page.get_by_label(QUESTION)
    line.fill("再问")
    line.press("Enter")
    page.locator(".is-old").wait_for()
    keep(page, f"error-{dark}")
    assert faults(page) == [], "an error over the old answer"
