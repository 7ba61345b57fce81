"""A real browser, and pages that must neither complain nor ask the world for anything.

Without Chromium these tests are skipped: on Debian, `apt-get install chromium fonts-noto-cjk`. Their
screenshots are kept in build/screenshots, or where REGARD_SCREENSHOTS says.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from regard.records.record import AttentionRecord
from regard.view.html import page_html

sys.path.insert(0, str(Path(__file__).parent.parent / "system"))  # toy.py

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next((found for name in NAMES if (found := shutil.which(name))), None)
NO_BROWSER = "needs a browser. Debian: apt install chromium fonts-noto-cjk"
SHOTS = Path(os.environ.get("REGARD_SCREENSHOTS", "build/screenshots"))
HARMLESS = ("file:", "data:", "blob:", "about:", "http://127.0.0.1:")
PATIENCE = 60_000  # milliseconds that a page may take on a busy machine
STARTS = 60.0  # seconds that a server may take to start


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """One for a module: while it runs, the thread has an event loop that other tests must not see."""
    if CHROMIUM is None:
        pytest.skip(NO_BROWSER)
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    playwright.expect.set_options(timeout=PATIENCE)
    with playwright.sync_playwright() as running:
        made = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture
def open_page(browser) -> Iterator[Callable]:
    """open_page(url, dark=True, width=400): a page; what it complains of fails the test at its end.

    refused: the server may refuse what the test asks, of which Chromium complains by itself.
    """
    complaints: list[str] = []
    contexts = []

    def opened(
        url: str,
        *,
        dark: bool = False,
        width: int = 1280,
        height: int = 900,
        refused: bool = False,
        **options,
    ):
        context = browser.new_context(
            color_scheme="dark" if dark else "light",
            viewport={"width": width, "height": height},
            accept_downloads=True,
            **options,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on(
            "console",
            lambda m: (
                m.type == "error"
                and not (refused and "responded with a status of 4" in m.text)
                and complaints.append(f"console: {m.text}")
            ),
        )
        page.on("dialog", lambda d: (complaints.append(f"dialog: {d.message}"), d.dismiss()))
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        context.on(
            "request",
            lambda r: r.url.startswith(HARMLESS) or complaints.append(f"asked for {r.url}"),
        )
        page.goto(url)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def open_records(open_page, tmp_path) -> Callable:
    """open_records(record, state={"layer": 1}): the exported file of these records, opened from disk."""

    def opened(*records: AttentionRecord, state: dict | None = None, fragment: str = "", **options):
        path = tmp_path / f"page{len(list(tmp_path.iterdir()))}.html"
        path.write_text(page_html(records, state=state), encoding="utf-8")
        return open_page(path.as_uri() + fragment, **options)

    return opened


@pytest.fixture(scope="session")
def shots() -> Path:
    """Where pictures are kept for a person to look at."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    return SHOTS


@pytest.fixture(scope="session")
def keep(shots) -> Callable:
    """keep(page, "name"): a screenshot of the whole page."""

    def kept(page, name: str) -> Path:
        path = shots / f"{name}.png"
        page.evaluate("scrollTo(0, 0)")  # or what sticks to the top would stick over other things
        page.screenshot(path=path, full_page=True)
        return path

    return kept


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a `regard serve` that serves the embedded model."""
    with serving() as address:
        yield address


@pytest.fixture(scope="session")
def server_of_two(tmp_path_factory) -> Iterator[str]:
    """One that serves the embedded model and, as `toy`, a Transformer of 2 layers × 2 heads."""
    if CHROMIUM is None:
        pytest.skip(NO_BROWSER)
    from regard.runs.loaded_run import EMBEDDED

    toy = toy_transformer(tmp_path_factory.mktemp("toy"))
    with serving("-m", str(EMBEDDED), "-m", str(toy)) as address:
        yield address


def toy_transformer(folder: Path) -> Path:
    """A run that has learned little, but not to say nothing."""
    from toy import toy_recipe, write_corpus

    from regard.recipe.recipe import Recipe
    from regard.training.run import train

    write_corpus(folder)
    sizes = {"size": 16, "heads": 2, "inner": 32, "encoder_layers": 2, "decoder_layers": 2}
    recipe = toy_recipe(folder, training={"epochs": 4}).model_dump(exclude_unset=True)
    recipe["model"] = {"kind": "transformer", "dropout": 0.0, **sizes}
    return train(Recipe.model_validate(recipe), folder / "toy", quiet=True)


@contextmanager
def serving(*arguments: str) -> Iterator[str]:
    if CHROMIUM is None:
        pytest.skip(NO_BROWSER)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "regard", "serve", "--port", str(port), *arguments]
    with tempfile.TemporaryFile("w+") as said:  # a pipe that nobody reads would fill up
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, text=True)
        address = f"http://127.0.0.1:{port}"
        try:
            wait_for(f"{address}/health", process, said)
            yield address
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)


def wait_for(url: str, process: subprocess.Popen, said: IO[str]) -> None:
    end = time.monotonic() + STARTS
    while time.monotonic() < end:
        if process.poll() is not None:
            said.seek(0)
            raise RuntimeError(f"the server ended at once: {said.read()}")
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"no answer from {url} within {STARTS:.0f} s")
