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
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next((found for name in NAMES if (found := shutil.which(name))), None)
SHOTS = Path(os.environ.get("REGARD_SCREENSHOTS", "build/screenshots"))
HARMLESS = ("file:", "data:", "blob:", "about:", "http://127.0.0.1:")
STARTS = 60.0  # seconds that a server may take to start


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """One for a module: while it runs, the thread has an event loop that other tests must not see."""
    if CHROMIUM is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with playwright.sync_playwright() as running:
        made = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture
def open_page(browser) -> Iterator[Callable]:
    """open_page(url, dark=True, width=400): a page; what it complains of fails the test at its end."""
    complaints: list[str] = []
    contexts = []

    def opened(url: str, *, dark: bool = False, width: int = 1280, height: int = 900, **options):
        context = browser.new_context(
            color_scheme="dark" if dark else "light",
            viewport={"width": width, "height": height},
            accept_downloads=True,
            **options,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda m: m.type == "error" and complaints.append(f"console: {m.text}"))
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


@pytest.fixture(scope="session")
def keep() -> Callable:
    """keep(page, "name"): a screenshot of the whole page, for a person to look at."""
    SHOTS.mkdir(parents=True, exist_ok=True)

    def kept(page, name: str) -> Path:
        path = SHOTS / f"{name}.png"
        page.screenshot(path=path, full_page=True)
        return path

    return kept


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a `regard serve` that serves the embedded model."""
    if CHROMIUM is None:
        pytest.skip("no browser to look at it with")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "regard", "serve", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{address}/health", process)
        yield address
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(20)


def wait_for(url: str, process: subprocess.Popen) -> None:
    end = time.monotonic() + STARTS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended at once: {process.stdout.read()}")
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"no answer from {url} within {STARTS:.0f} s")
