"""The pictures of docs/viewer: the page as a browser shows it.

    python docs/scripts/viewer_pictures.py RUN        # a Transformer: `regard train zh-en-transformer`

Needs playwright and Chromium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import regard

HERE = Path(__file__).parents[1] / "viewer" / "pictures"
TEXT = "我们明天下午去图书馆吧。"
EMBEDDED = "我是一个学生，今天下午要去图书馆。"
WIDTH, MARGIN = 1280, 24


def main() -> None:
    transformer = regard.look(regard.load(sys.argv[1], device="cpu"), TEXT)
    recurrent = regard.look(regard.load(device="cpu"), EMBEDDED, explain=True)
    with sync_playwright() as running, tempfile.TemporaryDirectory() as folder:
        browser = running.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        pages = [
            view.save(Path(folder) / f"{n}.html") for n, view in enumerate([transformer, recurrent])
        ]
        shoot(browser, f"{pages[0].as_uri()}#query=4", "page", until="[role=tablist]")
        shoot(
            browser, f"{pages[0].as_uri()}#panel=beam", "beam", since="[role=tablist]", height=800
        )
        explained = f"{pages[1].as_uri()}#panel=explain&query=3"
        shoot(browser, explained, "explain", dark=True, since="[role=tablist]", height=1600)
        browser.close()


def shoot(
    browser: Browser,
    address: str,
    name: str,
    *,
    dark: bool = False,
    since: str = "",
    until: str = "",
    height: float = 1400,
) -> None:
    """From the top of the first element `since` to that of `until`, or so high."""
    page = browser.new_page(
        color_scheme="dark" if dark else "light", viewport={"width": WIDTH, "height": 900}
    )
    page.goto(address)
    page.wait_for_timeout(500)
    top = _top(page, since) - MARGIN if since else 0
    whole = page.evaluate("document.documentElement.scrollHeight")
    bottom = _top(page, until) - MARGIN if until else min(top + height, whole)
    clip = {"x": 0, "y": top, "width": WIDTH, "height": bottom - top}
    page.screenshot(path=HERE / f"{name}.png", full_page=True, clip=clip)
    page.close()


def _top(page, selector: str) -> float:
    found = page.locator(selector).locator("visible=true").first
    return found.evaluate("each => each.getBoundingClientRect().top + scrollY")


if __name__ == "__main__":
    main()
