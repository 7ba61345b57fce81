"""How soon the page shows its first picture, and how long one sentence is measured, in headless Chromium.

    python benchmarks/page_pictures.py                 # the embedded model behind the page, and files
    python benchmarks/page_pictures.py --times 20

Times are from the address, or from Enter, to the first frame with a heat map on it. Needs playwright and
chromium.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from playwright.sync_api import sync_playwright

from regard.data.tokenizer import Tokenizer
from regard.models.transformer_models import language_model
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.tasks.language.language_look import look_at_language
from regard.tasks.language.language_module import Language
from regard.view.html import page_html

SENTENCES = (
    "我是一个学生。",
    "他在这家商店工作，没去图书馆。",
    "今天下午我们去公园。",
    "你吃了吗？",
)
DRAWN = """() => new Promise((told) => {
  const look = () => {
    const canvas = document.querySelector("[role=grid] canvas");
    if (canvas && canvas.width > 1 && document.querySelector("[role=gridcell]")) {
      requestAnimationFrame(() => told(performance.now()));
    } else requestAnimationFrame(look);
  };
  look();
})"""  # milliseconds since the address was opened


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=9)
    asked = parser.parse_args()
    torch.manual_seed(0)
    with sync_playwright() as running, tempfile.TemporaryDirectory() as folder:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        with served() as address:
            timed(
                "a sentence in the address, served",
                asked.times,
                lambda n: first(browser, f"{address}#text={SENTENCES[n % 4]}"),
            )
            timed("another sentence, from Enter", asked.times, lambda n: typed(browser, address, n))
            timed(
                "measures of one sentence, served",
                max(asked.times // 3, 1),
                lambda _: measured(browser, address),
            )
        for name, record in (
            ("a file of a sentence, 8 × 8", square(8)),
            ("a file of 512 × 512 weights", square(512)),
            ("a file of 8,192 tokens in blocks", long_text()),
        ):
            file = Path(folder, "page.html")
            file.write_text(page_html([record]), encoding="utf-8")
            size = f"{name}, {file.stat().st_size / 1e6:.1f} MB"
            timed(size, asked.times, partial(opened, browser, file.as_uri()))
        browser.close()
        print(f"load after: {os.getloadavg()[0]:.1f}")


def timed(what: str, times: int, run: Callable[[int], float]) -> None:
    seconds = [run(n) for n in range(times + 1)][1:]  # the first warms
    print(
        f"{what}: {statistics.median(seconds):.0f} ms in the median, {min(seconds):.0f} to {max(seconds):.0f}"
    )


def first(browser: Any, address: str) -> float:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address)
    drawn = float(page.evaluate(DRAWN))
    page.close()
    return drawn


def opened(browser: Any, address: str, _: int) -> float:
    return first(browser, address)


def typed(browser: Any, address: str, number: int) -> float:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address)
    line = page.get_by_label("a sentence for the model")
    line.fill(SENTENCES[number % 4])
    begun = float(page.evaluate("performance.now()"))
    line.press("Enter")
    drawn = float(page.evaluate(DRAWN)) - begun
    page.close()
    return drawn


def measured(browser: Any, address: str) -> float:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{address}#text={SENTENCES[0]}&panel=explain")
    page.evaluate(DRAWN)
    begun = time.perf_counter()
    page.get_by_role("button", name="Measure").click()
    page.get_by_text("Other attention, same answer").first.wait_for()
    took = time.perf_counter() - begun
    page.close()
    return 1000 * took


def square(tokens: int) -> AttentionRecord:
    """Weights of one head over so many tokens."""
    weights = np.random.default_rng(0).dirichlet(np.full(tokens, 0.05), tokens)
    names = [f"w{n}" for n in range(tokens)]
    return AttentionRecord.of(weights.astype(np.float32), names, names)


def long_text() -> AttentionRecord:
    tokenizer = Tokenizer.train(["abcdefg h"], kind="character", verbatim=True)
    model = language_model(len(tokenizer), size=16, heads=2, inner=16, layers=1)
    text = ("abc defg " * 911)[:8191]
    return look_at_language(Language(model.eval(), tokenizer), Question(text))


@contextmanager
def served() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "regard", "serve", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}/"
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{address}health", timeout=1)
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(20)


if __name__ == "__main__":
    main()
