"""The page in Firefox: it draws, every tab opens, the keyboard walks, files are made."""

from __future__ import annotations

from pathlib import Path

import pytest
from firefox import FIREFOX, Firefox
from made_records import image_record, translation_record
from test_page_drawings import same_drawing

from regard.view.attention_view import View
from regard.view.html import page_html
from regard.view.picked_matrix import Pick
from regard.view.sheets.tab_sheets import Focus

RECORD = translation_record()
TABS = ["Step by step", "Beam · what if?", "Compare", "Is it an explanation?", "Table"]
TAB = (
    "[...document.querySelectorAll('[role=tab]')].find((tab) => tab.textContent === arguments_[0])"
)
SAVE = """
  const menu = document.querySelector("details.export");
  menu.querySelector("summary").click();
  await new Promise((done) => setTimeout(done, 200));
  const select = menu.querySelector("select");
  select.value = arguments_[1];
  select.dispatchEvent(new Event("change"));
  menu.querySelector(`[data-kind=${arguments_[0]}]`).click();
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(FIREFOX is None, reason="needs Firefox. Debian: apt install firefox-esr"),
]


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    with Firefox(tmp_path_factory.mktemp("firefox")) as running:
        yield running


@pytest.fixture
def opened(firefox, tmp_path):
    """opened(record, state): a file of it in Firefox; what its scripts complain of is kept."""

    def open_(*records, state=None) -> Firefox:
        path = tmp_path / "page.html"
        path.write_text(page_html(records, state=state), "utf-8")
        firefox.open(path.as_uri())
        firefox.run("addEventListener('error', (e) => (document.title = `error: ${e.message}`))")
        return firefox

    return open_


def test_a_map_is_drawn_and_read(opened):
    page = opened(RECORD, state={"units": "tokens"})
    assert page.run("return document.querySelectorAll('[role=grid]').length") == 1
    said = page.run("return document.querySelector('[role=gridcell]').getAttribute('aria-label')")
    weight = RECORD.map("cross").weights.mean((0, 1))[0, 0]
    assert f"attends {weight:.3f} to" in said
    painted = page.run(
        """const canvas = document.querySelector(".plane canvas");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return new Set(Array.from({ length: data.length / 4 }, (_, n) => data[4 * n])).size"""
    )
    assert painted > 20


@pytest.mark.parametrize("state", [{"theme": "light"}, {"theme": "dark", "layer": 1, "head": 2}])
def test_every_tab_opens(opened, state):
    page = opened(RECORD, translation_record(1, "another"), state=state)
    for title in TABS:
        page.run(f"{TAB}.click()", title)
        shown = page.run("return document.querySelector('[role=tabpanel]:not([hidden])').innerText")
        assert len(shown) > 40, title
        assert page.run("return document.title").startswith("error") is False, title
    assert page.run("return document.documentElement.scrollWidth <= innerWidth + 1")


def test_the_keyboard_walks(opened):
    page = opened(RECORD)
    walked = page.run(
        """const said = [];
        document.querySelector("[role=gridcell]").focus();
        for (const key of ["ArrowRight", "ArrowDown", "End"]) {
          document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
          said.push(document.activeElement.getAttribute("aria-label"));
        }
        return said"""
    )
    assert len(set(walked)) == 3
    assert all("attends" in each for each in walked)


def exported(page: Firefox, kind: str, what: str) -> tuple[str, bytes]:
    page.run(SAVE, kind, what)
    path = page.downloaded()
    data = path.read_bytes()
    path.unlink()
    return path.name, data


@pytest.mark.parametrize("what", ["map", "tab"])
def test_pictures_are_those_of_the_command(opened, what):
    page = opened(RECORD, state={"layer": 1, "head": 2, "units": "tokens", "panel": "steps"})
    _, svg = exported(page, "svg", what)
    view = View((RECORD,), Pick(None, 2, 3, tokens=True))
    ours = view.to_svg(style="cells") if what == "map" else view.to_svg(tab="steps", focus=Focus())
    same_drawing(ours, svg.decode("utf-8"))


def test_pdf_and_png_are_made(opened, shots: Path):
    page = opened(image_record(), state={"panel": "picture"})
    name, pdf = exported(page, "pdf", "tab")
    assert name.endswith("-picture.pdf")
    assert pdf.startswith(b"%PDF-1.4")
    assert pdf.endswith(b"%%EOF\n")
    page = opened(RECORD)
    _, png = exported(page, "png", "map")
    assert png.startswith(b"\x89PNG")
    (shots / "firefox-map.png").write_bytes(png)
