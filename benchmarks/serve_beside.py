"""What a normal client of `regard serve` notices of others who ask for as much as they may.

    python benchmarks/serve_beside.py                           # 30 s quiet, 30 s beside each kind of load
    python benchmarks/serve_beside.py --seconds 10 --heavy 8

The embedded model. The normal client sends one sentence of the test part of the embedded corpus, waits for
its translation, and sends the next after a moment; its latencies alone, and beside HEAVY clients who keep
asking for the most that is admitted. Peak memory is that of the server's process since its start.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from statistics import quantiles
from typing import Any

import httpx

from regard.data.examples import read_pairs
from serve import COMMAND, TEST

MOMENT = 0.02  # seconds between an answer and the next question
LONG = "我是一个学生他们都是大学猫抓住了老鼠" * 120
LOADS: dict[str, tuple[str, dict[str, Any]]] = {
    "explain, 2,000 characters (refused)": ("/attention", {"text": LONG[:2000], "explain": True}),
    "explain, 180 characters": ("/attention", {"text": LONG[:180], "explain": True}),
    "look, 600 characters, beam 32": ("/attention", {"text": LONG[:600], "beam": 32}),
    "translate, 20 × 600 characters, beam 16": (
        "/translate",
        {"texts": [LONG[:600]] * 20, "beam": 16},
    ),
}


async def normal(address: str, texts: list[str], seconds: float) -> list[float]:
    """Latencies in ms."""
    seen, until = [], time.perf_counter() + seconds
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        while (begin := time.perf_counter()) < until:
            answer = await client.post(
                "/translate", json={"texts": [texts[len(seen) % len(texts)]]}
            )
            assert answer.status_code == 200, answer.text
            seen.append(1000 * (time.perf_counter() - begin))
            await asyncio.sleep(MOMENT)
    return seen


async def heavy(address: str, path: str, body: dict[str, Any], seen: Counter[int]) -> None:
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        while True:
            answer = await client.post(path, json=body)
            seen[answer.status_code] += 1
            await asyncio.sleep(0.0 if answer.is_success else 0.2)


async def beside(
    address: str, texts: list[str], seconds: float, load: tuple[str, dict[str, Any]], many: int
) -> tuple[list[float], Counter[int]]:
    statuses: Counter[int] = Counter()
    others = [asyncio.create_task(heavy(address, *load, statuses)) for _ in range(many)]
    try:
        await asyncio.sleep(0.5)
        return await normal(address, texts, seconds), statuses
    finally:
        for other in others:
            other.cancel()
        await asyncio.gather(*others, return_exceptions=True)


def memory(process: int, which: str) -> int:
    """VmRSS or VmHWM in MB (Linux)."""
    status = Path(f"/proc/{process}/status").read_text()
    found = re.search(rf"{which}:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) // 1024


def row(name: str, latencies: list[float], quiet: float, answers: str, peak: int) -> str:
    cuts = quantiles(latencies, n=100)
    ratio = cuts[98] / (quiet or cuts[98])
    return (
        f"| {name} | {len(latencies)} | {cuts[49]:.0f} | {cuts[98]:.0f} | {ratio:.1f} | "
        f"{max(latencies):.0f} | {answers} | {peak} |"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--seconds", type=float, default=30.0)
    options.add_argument("--heavy", type=int, default=4)
    asked = options.parse_args()
    texts = [pair.source for pair in read_pairs(TEST)]
    server = subprocess.Popen(
        COMMAND, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
    )
    assert server.stdout is not None
    found = re.search(r"http://[\d.]+:\d+/", server.stdout.readline())
    assert found is not None
    address = found[0]
    asyncio.run(normal(address, texts, 5.0))  # not counted
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {asked.heavy} heavy clients\n")
    print(
        "| beside | requests | p50 ms | p99 ms | of the quiet p99 | longest ms | the others got | peak MB |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    alone = asyncio.run(normal(address, texts, asked.seconds))
    print(row("nobody", alone, 0.0, "", memory(server.pid, "VmHWM")))
    for name, load in LOADS.items():
        seen, statuses = asyncio.run(beside(address, texts, asked.seconds, load, asked.heavy))
        answers = ", ".join(f"{count} × {status}" for status, count in sorted(statuses.items()))
        quiet = quantiles(alone, n=100)[98]
        print(row(name, seen, quiet, answers, memory(server.pid, "VmHWM")), flush=True)
    server.send_signal(signal.SIGINT)
    server.wait(timeout=20)


if __name__ == "__main__":
    main()
