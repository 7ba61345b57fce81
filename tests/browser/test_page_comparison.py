"""compare.html in a browser: from disk, offline, without a word of complaint, in light and dark."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "compare"))  # made_scores.py

from made_scores import HOSTILE, findings
from reading_pages import expect

from regard.compare.compare_page import page as page_of
from regard.records.record import AttentionRecord


def made_page(tmp_path: Path) -> str:
    from dataclasses import replace

    from regard.compare.cases import Case
    from regard.compare.findings import Closer

    found = findings({"dot": 1.0, HOSTILE: 0.9, "additive": 0.2, "uniform": 0.1})
    records = tuple(
        AttentionRecord.of([[0.7, 0.3], [0.1, 0.9]], ["I", HOSTILE], ["我", "是"], model=name)
        for name in ("dot", HOSTILE)
    )
    (closer,) = found.closer
    both = found.judged[closer.a][1], found.judged[closer.b][1]
    case = Case(3, 0.5, both, ("yes", HOSTILE), records)
    found = replace(found, closer=[Closer(closer.a, closer.b, closer.slices, [case])])
    path = tmp_path / "compare.html"
    path.write_text(page_of(found), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_tables_and_pictures_are_there(open_page, tmp_path, shots, dark):
    page = open_page(made_page(tmp_path), dark=dark)
    expect(page.locator("table.ranking tbody tr")).to_have_count(4)
    expect(page.locator("table.pairs tbody td")).to_have_count(16)
    expect(page.locator(".charts svg.chart")).to_have_count(4)
    heats = page.locator(".sides table.heat")
    expect(heats).to_have_count(2)
    boxes = [heats.nth(n).bounding_box() for n in range(2)]
    assert boxes[0]["y"] == boxes[1]["y"]  # side by side
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
    for chart in page.locator("svg.chart").all():
        box = chart.bounding_box()
        assert box is None or box["width"] > 200
    assert "alert" in page.locator("h1").inner_text()  # as text
    page.screenshot(path=shots / f"compare-{'dark' if dark else 'light'}.png", full_page=True)


def test_it_fits_a_narrow_window(open_page, tmp_path):
    page = open_page(made_page(tmp_path), width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_page_of_real_runs(open_page, runs, tmp_path):
    from regard.compare.existing_runs import compare_runs

    compare_runs(runs, tmp_path, device="cpu")
    page = open_page((tmp_path / "compare.html").as_uri())
    expect(page.locator("table.ranking tbody tr")).to_have_count(2)
    expect(page.locator(".sides table.heat").first).to_be_visible()


def test_numbers_of_every_pair_can_be_read_without_a_pointer(open_page, tmp_path):
    page = open_page(made_page(tmp_path), width=390)
    rows = page.locator("details", has_text="Every pair in numbers").locator("tbody tr")
    expect(rows).to_have_count(6)
    expect(rows.first).to_be_hidden()
    page.get_by_text("Every pair in numbers").first.click()
    expect(rows.first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_names_of_variants_stay_in_sight_on_a_phone(open_page, tmp_path, shots):
    page = open_page(made_page(tmp_path), width=390)
    name = page.locator("table.ranking tbody th").last
    before = name.bounding_box()
    assert before["width"] >= 90  # letters are not one below the other
    page.locator(".scroll", has=page.locator("table.ranking")).evaluate("(e) => e.scrollLeft = 200")
    assert name.bounding_box()["x"] == before["x"]
    chart = page.locator("figure.intervals svg").first
    size = chart.locator("text").last.evaluate("(e) => e.getBoundingClientRect().height")
    assert size >= 8  # pixels
    page.screenshot(path=shots / "compare-phone.png", full_page=True)
