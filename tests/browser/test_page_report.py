"""The report in a browser: read without the viewer, and opened in it, from one file and offline."""

from __future__ import annotations

import re

import pytest
from reading_pages import expect

from regard.report.report_page import render
from regard.report.run_evaluation import evaluations, write_report
from regard.report.run_report import make_report
from regard.runs.loaded_run import load
from regard.runs.run_folder import RunFolder
from regard.words import speaking

LEAST = 11  # pixels of a letter
SMALL_TEXTS = """() => {
  const small = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement;
    if (!node.textContent.trim() || element.closest("script, style, caption, [hidden]")) continue;
    const range = document.createRange();
    range.selectNode(node);
    if (!range.getBoundingClientRect().width) continue;
    const svg = element.closest("svg");
    const zoom = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
    const size = parseFloat(getComputedStyle(element).fontSize) * zoom;
    if (size < LEAST) small.push(`${node.textContent.trim().slice(0, 30)}: ${size.toFixed(1)} px`);
  }
  return small;
}""".replace("LEAST", str(LEAST))


@pytest.fixture(scope="module")
def translated(trained):
    return trained / "report.html"


@pytest.fixture(scope="module")
def labelled(attending):
    return attending / "dot-1" / "report.html"


@pytest.fixture(params=["translated", "labelled"])
def report(request):
    return request.getfixturevalue(request.param)


def test_every_letter_can_be_read_at_1280_pixels(report, open_page, keep):
    page = open_page(report.as_uri(), width=1280)
    for details in page.locator("details").all():
        details.evaluate("each => each.open = true")
    keep(page, f"report-{report.parent.name}")
    assert page.evaluate(SMALL_TEXTS) == []


CUT = """() => [
  ...[...document.querySelectorAll("svg.chart text")].filter((text) => {
    const [own, chart] = [text, text.closest("svg")].map((each) => each.getBoundingClientRect());
    return own.width && (own.left < chart.left - 0.5 || own.right > chart.right + 0.5);
  }),
  ...[...document.querySelectorAll(".beside .scroll")].filter((each) => each.scrollWidth > each.clientWidth),
].map((each) => each.textContent.slice(0, 40))"""


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_label_and_no_column_is_cut_at_1280_pixels(trained, open_page, tmp_path, keep, language):
    path, run = tmp_path / "report.html", load(trained)
    with speaking(language):
        path.write_text(render(make_report(run, evaluations(run, print))), "utf-8")
    page = open_page(path.as_uri(), width=1280)
    keep(page, f"report-whole-{language}")
    assert page.locator(".beside .scroll").count() == 1
    assert page.evaluate(CUT) == []


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_the_page_is_not_wider_than_the_window(report, open_page, width):
    page = open_page(report.as_uri(), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_ground_is_that_of_the_viewer_by_day_and_by_night(translated, open_page):
    for dark in (False, True):
        page = open_page(translated.as_uri(), dark=dark)
        ground = "getComputedStyle(document.body).backgroundColor"
        report = page.evaluate(ground)
        page.get_by_role("link", name="Open in the viewer").first.click()
        expect(page.locator(".regard .headline")).to_be_visible()
        assert page.evaluate(ground) == report


def test_a_sample_opens_in_the_viewer_and_back_leads_to_where_it_was_read(
    translated, open_page, keep
):
    page = open_page(translated.as_uri())
    article = page.locator("article.sample").nth(2)
    source = article.locator(".source dd").inner_text()
    link = article.get_by_role("link", name="Open in the viewer")
    link.scroll_into_view_if_needed()
    read = page.evaluate("scrollY")
    link.click()
    expect(page.locator(".regard .source-text")).to_have_text(source)
    expect(page.locator("h1")).to_be_hidden()
    keep(page, "report-viewer")
    page.go_back()
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator("#regard")).to_be_hidden()
    assert page.evaluate("scrollY") == pytest.approx(read, abs=2)
    page.go_forward()
    expect(page.locator(".regard .source-text")).to_have_text(source)
    page.get_by_role("link", name="Back to the report").click()
    expect(page.locator("h1")).to_be_visible()


def test_the_address_of_a_sample_opens_the_viewer_at_once(translated, open_page):
    page = open_page(translated.as_uri())
    hrefs = page.locator("a.open").evaluate_all("links => links.map((a) => a.hash)")
    assert len(set(hrefs)) > 1
    assert all(re.fullmatch(r"#record=\d+", href) for href in hrefs)
    last = page.locator("article.sample").filter(has=page.locator(f'a[href="{hrefs[-1]}"]'))
    source = last.last.locator(".source dd").inner_text()
    opened = open_page(f"{translated.as_uri()}{hrefs[-1]}")
    expect(opened.locator(".regard .source-text")).to_have_text(source)
    opened.reload()
    expect(opened.locator(".regard .source-text")).to_have_text(source)


def test_what_the_viewer_shows_stays_in_the_address(translated, open_page):
    page = open_page(f"{translated.as_uri()}#record=0")
    page.locator(".regard .segment", has_text="tokens").click()
    assert "record=0" in page.url
    assert "units=tokens" in page.url


def test_without_a_script_it_is_read_all_the_same(translated, open_page):
    page = open_page(translated.as_uri(), java_script_enabled=False)
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator("table.heat").first).to_be_visible()
    assert page.locator("a.open:visible").count() == 0


def test_a_report_of_a_run_from_before_is_whole(trained, open_page, tmp_path, keep):
    """No rates, no checkpoint that is told, no data in numbers: what is known is there."""
    import json
    import shutil

    old = shutil.copytree(trained, tmp_path / "old")
    config = json.loads((old / "config.json").read_text())
    for key in ("kept", "written", "spent", "sha256"):
        config.pop(key, None)
    (old / "config.json").write_text(json.dumps(config))
    rows = [line.split(",") for line in (old / "metrics.csv").read_text().splitlines()]
    gone = [rows[0].index(name) for name in ("learning_rate", "gradient_norm", "speed")]
    kept = [[cell for place, cell in enumerate(row) if place not in gone] for row in rows]
    (old / "metrics.csv").write_text("".join(",".join(row) + "\n" for row in kept))
    for name in ("data", "checkpoints"):
        shutil.rmtree(old / name)
    (old / "scores.json").unlink()
    write_report(RunFolder(old), lambda line: None)
    page = open_page((old / "report.html").as_uri())
    expect(page.get_by_role("heading", name="Learning")).to_be_visible()
    expect(page.get_by_text("The model is that of step")).to_be_visible()
    assert page.get_by_text("Norm of the gradient").count() == 0
    keep(page, "report-old")
