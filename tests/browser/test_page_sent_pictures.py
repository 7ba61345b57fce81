"""A picture is chosen, dropped or pasted, and the model behind the page says where it looked."""

from __future__ import annotations

import base64
import io
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from reading_pages import expect

from conftest import CHROMIUM, NO_BROWSER, serving

sys.path.insert(0, str(Path(__file__).parent.parent / "tasks" / "see"))

from scribbles import scribbles, see_recipe, write_scribbles

HAND_OVER = """([data, name, event, type]) => {
  const bytes = Uint8Array.from(atob(data), (each) => each.charCodeAt(0));
  const files = new DataTransfer();
  files.items.add(new File([bytes], name, { type }));
  const given = event === "paste" ? { clipboardData: files } : { dataTransfer: files };
  const Kind = event === "paste" ? ClipboardEvent : DragEvent;
  const target = document.querySelector(event === "paste" ? "body" : ".regard");
  target.dispatchEvent(new Kind(event, { ...given, bubbles: true, cancelable: true }));
}"""


@pytest.fixture(scope="module")
def server_of_pictures(tmp_path_factory) -> Iterator[str]:
    """One that serves a run that glimpses, and one that warps."""
    if CHROMIUM is None:
        pytest.skip(NO_BROWSER)
    from regard.training.run import train

    folder = tmp_path_factory.mktemp("pictures")
    write_scribbles(folder)
    runs = [train(see_recipe(folder, name), folder / name, quiet=True) for name in ("ram", "stn")]
    with serving("-m", str(runs[0]), "-m", str(runs[1])) as address:
        yield address


def png(size: int = 12, seed: int = 0) -> bytes:
    file = io.BytesIO()
    Image.fromarray(scribbles(1, seed)[0][0]).resize((size, size)).save(file, "PNG")
    return file.getvalue()


def given(name: str, data: bytes, kind: str = "image/png") -> dict:
    return {"name": name, "mimeType": kind, "buffer": data}


def title(page):
    return page.locator(".picture-said")


@pytest.mark.parametrize("width", [1280, 390])
def test_a_picture_is_chosen(open_page, server_of_pictures, keep, width):
    page = open_page(server_of_pictures, width=width)
    expect(page.get_by_text("Choose a picture above")).to_be_visible()
    expect(page.get_by_label("a sentence for the model")).to_be_hidden()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a picture").click()
    chooser.value.set_files([given("cross.png", png())])
    expect(page.locator(".sight-said")).to_contain_text("Glimpse 3 of 3")
    expect(title(page)).to_have_text("cross.png")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    keep(page, f"picture-asked-{width}")
    page.get_by_role("combobox", name="model").select_option("stn")
    expect(page.get_by_role("slider", name="from the picture as it is")).to_be_visible()


def test_the_address_holds_a_small_picture(open_page, server_of_pictures):
    page = open_page(server_of_pictures)
    page.locator("input[type=file]").set_input_files([given("cross.png", png())])
    expect(page.locator(".sight-said")).to_contain_text("Glimpse 3 of 3")
    said = page.locator(".sight-said").inner_text()
    again = open_page(f"{server_of_pictures}/{page.evaluate('location.hash')}")
    expect(again.locator(".sight-said")).to_have_text(said)


@pytest.mark.parametrize("event", ["drop", "paste"])
def test_a_picture_is_dropped_or_pasted(open_page, server_of_pictures, event):
    page = open_page(server_of_pictures)
    expect(page.get_by_text("Choose a picture above")).to_be_visible()
    page.wait_for_timeout(100)
    data = base64.b64encode(png(seed=4)).decode()
    page.evaluate(HAND_OVER, [data, "moved.png", event, "image/png"])
    expect(page.locator(".sight-said")).to_contain_text("Glimpse 3 of 3")
    expect(title(page)).to_have_text("moved.png")


def test_what_is_no_picture_is_told_and_the_next_one_is_shown(open_page, server_of_pictures):
    page = open_page(server_of_pictures, refused=True)
    file = page.locator("input[type=file]")
    trouble = page.get_by_role("alert")
    for name, data, kind in (
        ("renamed.png", b"this is a text", "image/png"),
        ("cut.png", png(60)[:60], "image/png"),
    ):
        file.set_input_files([given(name, data, kind)])
        expect(trouble).to_contain_text("neither PNG nor JPEG")
    file.set_input_files([given("words.txt", b"this is a text", "text/plain")])
    expect(trouble).to_contain_text("words.txt is neither a PNG nor a JPEG file.")
    file.set_input_files([given("good.png", png())])
    expect(page.locator(".sight-said")).to_contain_text("Glimpse 3 of 3")
    expect(trouble).to_be_hidden()


def test_one_that_is_too_heavy_is_made_smaller(open_page, server_of_pictures):
    noise = np.random.default_rng(0).integers(0, 256, (1100, 1300, 3)).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(noise).save(file, "PNG")
    assert len(file.getvalue()) > 1 << 20
    page = open_page(server_of_pictures)
    page.locator("input[type=file]").set_input_files([given("noise.png", file.getvalue())])
    expect(page.locator(".sight-said")).to_contain_text("Glimpse 3 of 3")
