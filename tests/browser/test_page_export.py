"""What is on the screen as a file: pictures, a page that opens offline, the numbers."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from made_records import HOSTILE, hostile_record, translation_record
from reading_pages import ROUNDED, ask, choose, expect, links_of, open_panel, shown_matrix, words_of

from regard.records.record import AttentionRecord

RECORD = translation_record()
SVG = "{http://www.w3.org/2000/svg}"


def saved(page, kind: str, folder: Path) -> Path:
    page.locator("summary", has_text="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=re.compile(f"^{kind}")).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_the_svg_shows_the_weights_on_the_screen(open_records, tmp_path):
    page = open_records(RECORD, state={"layer": 1, "head": 2, "units": "tokens"})
    path = saved(page, "SVG", tmp_path)
    assert path.suffix == ".svg"
    root = ElementTree.parse(path).getroot()
    assert root.tag == f"{SVG}svg"
    written = [text.text for text in root.iter(f"{SVG}text")]
    for token in (*RECORD.sides["source"].tokens, *RECORD.sides["target"].tokens):
        assert token in written
    weights = RECORD.map("cross").weights[1, 2]
    expected = [f"{w:.2f}" for w in weights.ravel() if 0.005 <= w < 0.995]
    cells = [text for text in written if re.fullmatch(r"0\.\d\d", text)]
    assert cells == expected
    assert "decoder 2 · head 3" in root.find(f"{SVG}title").text
    assert not list(root.iter(f"{SVG}script"))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_png_is_a_picture_twice_as_large_as_the_svg(open_records, tmp_path, shots, dark):
    page = open_records(RECORD, dark=dark)
    data = saved(page, "PNG", tmp_path).read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    size = struct.unpack(">II", data[16:24])
    root = ElementTree.parse(saved(page, "SVG", tmp_path)).getroot()
    assert size == (2 * int(root.get("width")), 2 * int(root.get("height")))
    assert len(data) > 10_000
    (shots / f"exported-{'dark' if dark else 'light'}.png").write_bytes(data)


def test_the_json_is_the_record(open_records, tmp_path):
    path = saved(open_records(RECORD), "JSON", tmp_path)
    assert AttentionRecord.from_json(path.read_text("utf-8")).to_dict() == RECORD.to_dict()
    both = saved(open_records(RECORD, translation_record(1, "other")), "JSON", tmp_path)
    given = json.loads(both.read_text("utf-8"))
    assert [each["model"] for each in given] == ["six heads", "other"]


def test_the_html_opens_offline_with_the_same_numbers(open_records, open_page, tmp_path):
    page = open_records(RECORD, state={"layer": 1, "head": 2, "units": "tokens"})
    path = saved(page, "HTML", tmp_path)
    again = open_page(path.as_uri(), offline=True)
    np.testing.assert_allclose(
        shown_matrix(again, "target", "source"), RECORD.map("cross").weights[1, 2], atol=ROUNDED
    )
    copy = saved(again, "HTML", tmp_path / "copy")  # a copy of the copy works as well
    assert links_of(open_page(copy.as_uri(), offline=True)) == links_of(again)


def test_the_html_of_a_served_page_needs_no_server(open_page, server, tmp_path, keep):
    page = open_page(server)
    record = ask(page, "我是一个学生。")
    choose(page, "unit", "tokens")
    path = saved(page, "HTML", tmp_path)
    again = open_page(path.as_uri(), offline=True)
    expect(again.get_by_text(record.output, exact=True).first).to_be_visible()
    assert links_of(again) == links_of(page)
    panel = open_panel(again, "Beam")
    expect(panel.get_by_text("Needs a running model: regard look").first).to_be_visible()
    keep(again, "exported-page")


def test_markup_in_a_record_is_text_in_every_file(open_records, open_page, tmp_path, keep):
    record = hostile_record()
    page = open_records(record)
    assert HOSTILE in words_of(page, "queries")
    for title in ("Step by step", "Compare", "Is it an explanation?", "Table"):
        open_panel(page, title)
    keep(page, "hostile")
    root = ElementTree.parse(saved(page, "SVG", tmp_path)).getroot()
    assert HOSTILE[:20] in "".join(root.itertext())
    assert not list(root.iter(f"{SVG}script"))
    again = open_page(saved(page, "HTML", tmp_path).as_uri(), offline=True)
    assert HOSTILE in words_of(again, "queries")
    again.wait_for_timeout(100)  # time for a script that would run to say so
    assert page.locator("img[src=x]").count() == again.locator("img[src=x]").count() == 0


def test_a_script_put_into_a_file_does_not_run(tmp_path, browser):
    """The content policy of the file: only its own script, by its hash."""
    from regard.view.html import page_html

    html = page_html([RECORD]).replace("</body>", "<script>window.ran = true</script></body>")
    path = tmp_path / "changed.html"
    path.write_text(html, "utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.get_by_role("grid").wait_for()
    assert page.evaluate("window.ran") is None
    page.close()


def test_the_record_of_a_page_is_read_back_by_python(open_page, server, tmp_path):
    page = open_page(server)
    record = ask(page, "你好。")
    again = AttentionRecord.from_json(saved(page, "JSON", tmp_path).read_text("utf-8"))
    assert again.to_dict() == record.to_dict()
