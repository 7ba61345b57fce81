"""How many sentences `regard serve` translates for many clients at once, against one by one.

    python benchmarks/serve.py                                  # 64 clients for 60 s
    python benchmarks/serve.py --clients 16 --seconds 20

The embedded model, beam 5, sentences of the test part of the embedded corpus. Each client has a
connection of its own, sends one sentence, waits for its translation and sends the next; all clients
are one process, the server is another, over real HTTP on loopback. One by one is a loop over
`run.translate([text])` in this process, before and after, without HTTP. Every answer is compared with
the one that the sentence got alone: the batch it was in must not matter.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import quantiles
from typing import Any

import regard
from regard.data.examples import read_pairs

TEST = "tatoeba-zh-en:test"
COMMAND = [sys.executable, "-c", "from regard.cli import main; main()", "serve", "--port", "0"]
WARMING = 2.0  # seconds that are not counted


# ── the clients, in a process of their own ───────────────────────────────────────────────────────


async def ask(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, text: str
) -> tuple[int, dict[str, Any]]:
    body = json.dumps({"texts": [text]}).encode()
    head = f"POST /translate HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", answer, re.IGNORECASE)
    assert length is not None
    return int(answer[9:12]), json.loads(await reader.readexactly(int(length[1])))


async def client(number: int, host: str, port: int, texts: list[str], until: float) -> list[Any]:
    """(when it was sent, seconds, status, which sentence, translation) of every request."""
    reader, writer = await asyncio.open_connection(host, port)
    asked, seen = number * 13, []
    while (begin := time.perf_counter()) < until:
        which = asked % len(texts)
        status, answer = await ask(reader, writer, f"{host}:{port}", texts[which])
        text = answer["translations"][0]["text"] if status == 200 else answer
        seen.append((begin, time.perf_counter() - begin, status, which, text))
        asked += 1
    writer.close()
    return seen


async def all_clients(given: dict[str, Any]) -> dict[str, Any]:
    """Of the requests after the warm-up: latencies, errors, answers that are not `expected`."""
    begin = time.perf_counter()
    cpu, until = time.process_time(), begin + WARMING + given["seconds"]
    where = (given["host"], given["port"], given["texts"], until)
    every = await asyncio.gather(*(client(n, *where) for n in range(given["clients"])))
    seen = [one for its in every for one in its if one[0] > begin + WARMING]
    wrong = [one for one in seen if one[2] != 200]
    other = [one for one in seen if one[2] == 200 and one[4] != given["expected"][one[3]]]
    return {
        "latencies": [one[1] for one in seen],
        "errors": len(wrong),
        "first error": wrong[:1],
        "different": len(other),
        "seconds": time.perf_counter() - begin - WARMING,
        "cpu": (time.process_time() - cpu) / (time.perf_counter() - begin),
    }


# ── this process ─────────────────────────────────────────────────────────────────────────────────


def one_by_one(run: Any, texts: list[str], seconds: float) -> float:
    """Sentences a second."""
    begin, done = time.perf_counter(), 0
    while (spent := time.perf_counter() - begin) < seconds:
        run.translate([texts[done % len(texts)]])
        done += 1
    return done / spent


def cpu_seconds(process: int) -> float:
    """Of a process and its threads so far (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def with_a_server(given: dict[str, Any]) -> tuple[dict[str, Any], float, int]:
    """What the clients saw, the cores that the server used, its exit status."""
    server = subprocess.Popen(
        COMMAND, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
    )
    assert server.stdout is not None
    address = re.search(r"http://([\d.]+):(\d+)/", server.stdout.readline())
    assert address is not None
    where = {"host": address[1], "port": int(address[2])}
    begin, cpu = time.perf_counter(), cpu_seconds(server.pid)
    clients = subprocess.run(
        [sys.executable, __file__, "--be-clients"],
        input=json.dumps(given | where),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    used = (cpu_seconds(server.pid) - cpu) / (time.perf_counter() - begin)
    server.send_signal(signal.SIGINT)
    return json.loads(clients.stdout), used, server.wait(timeout=10)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--clients", type=int, default=64)
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--be-clients", action="store_true", help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.be_clients:
        print(json.dumps(asyncio.run(all_clients(json.load(sys.stdin)))))
        return

    texts = [pair.source for pair in read_pairs(TEST)]
    run = regard.load(device="cpu")
    expected = [run.translate([text])[0].text for text in texts]
    given = {"texts": texts, "expected": expected, **vars(asked)}
    before = one_by_one(run, texts, asked.seconds / 4)
    seen, used, status = with_a_server(given)
    after = one_by_one(run, texts, asked.seconds / 4)

    alone, latencies = (before + after) / 2, sorted(seen["latencies"])
    speed = len(latencies) / seen["seconds"]
    cuts = [1000 * x for x in quantiles(latencies, n=100)]
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    print(f"{asked.clients} clients, {seen['seconds']:.0f} s, {load}, server exit {status}\n")
    print("| | sentences/s | ratio | p50 ms | p99 ms | errors | other answers | cores |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    print(f"| one by one, no HTTP | {alone:.0f} | 1.0 | {1000 / alone:.1f} | | | | |")
    print(
        f"| `regard serve` | {speed:.0f} | {speed / alone:.1f} | {cuts[49]:.0f} | {cuts[98]:.0f} | "
        f"{seen['errors']} | {seen['different']} of {len(latencies):,} | "
        f"{used:.2f}, clients {seen['cpu']:.2f} |"
    )
    if seen["errors"]:
        print(f"\nthe first error: {seen['first error']}")


if __name__ == "__main__":
    main()
