"""The picture of docs/toolkit/compare.md: the upper part of a page that `regard compare` wrote.

    python docs/scripts/compare_picture.py runs/compare-mr/compare.html

Needs playwright and Chromium.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).parents[1] / "toolkit" / "compare.png"
WIDTH, SECTIONS, MARGIN = 1200, 2, 30


def main() -> None:
    with sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.goto(Path(sys.argv[1]).resolve().as_uri())
        box = page.locator("section").nth(SECTIONS).bounding_box()
        assert box is not None
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": box["y"] - MARGIN}
        page.screenshot(path=PICTURE, full_page=True, clip=clip)
        browser.close()


if __name__ == "__main__":
    main()
