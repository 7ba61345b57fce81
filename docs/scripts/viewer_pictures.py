"""The pictures of docs/viewer: the page as a browser shows it.

    python docs/scripts/viewer_pictures.py RUN        # a Transformer: `regard train zh-en-transformer`
    python docs/scripts/viewer_pictures.py runs/han-composed        # the two levels of a document alone

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
DOCUMENT = (  # as sentences stand in the corpus: in small letters, with blanks around signs
    '["the first hour is slow .", "then comes a warm , funny and touching story , beautifully shot .", '
    '"a masterpiece ."]'
)
WIDTH, MARGIN = 1280, 24


def main() -> None:
    run = regard.load(sys.argv[1], device="cpu")
    with sync_playwright() as running, tempfile.TemporaryDirectory() as folder:
        browser = running.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = Path(folder) / "page.html"
        if run.recipe.model.kind == "han":
            address = regard.look(run, DOCUMENT).save(page).as_uri()
            shoot(browser, f"{address}#levels-open=2-3", "levels", until="[role=tablist]")
        else:
            shoot_translations(browser, run, page)
        browser.close()


def shoot_translations(browser: Browser, run: regard.LoadedRun, page: Path) -> None:
    address = regard.look(run, TEXT).save(page).as_uri()
    shoot(browser, f"{address}#query=4", "page", until="[role=tablist]")
    shoot(browser, f"{address}#panel=beam", "beam", since="[role=tablist]", height=800)
    recurrent = regard.look(regard.load(device="cpu"), EMBEDDED, explain=True)
    explained = f"{recurrent.save(page).as_uri()}#panel=explain&query=3"
    shoot(browser, explained, "explain", dark=True, since="[role=tablist]", height=1600)


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
