"""`regard serve` as a person starts it, asks it and ends it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import httpx
import pytest
from processes import COMMAND

TOKEN = "a-token-of-twenty-letters"


@pytest.fixture
def started():
    """started("--port", "0") -> the process, and the address that it says"""
    processes = []

    def start(
        *arguments: str, before: Callable[[], object] | None = None, **environment: str
    ) -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(
            [*COMMAND, "serve", "--device", "cpu", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=os.environ | {"OMP_NUM_THREADS": "1"} | environment,
            preexec_fn=before,
        )
        processes.append(process)
        said = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/", said)
        assert address, said + process.stderr.read()
        return process, address[0]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def test_start_ask_look_and_ctrl_c(started):
    process, address = started("--port", "0")
    with httpx.Client(base_url=address, timeout=600) as client:
        assert "start.js" in client.get("/").text
        answer = client.post("/translate", json={"texts": ["我是一个学生。"]})
        assert "student" in answer.json()["translations"][0]["text"]
        record = client.post("/attention", json={"text": "我是一个学生。"})
        assert "student" in record.json()["output"]
        assert client.post("/translate", content=b"x" * (1 << 21)).status_code in (413, 415)
        kind = {"content-type": "application/json"}
        chunks = (b" " * 65_536 for _ in range(40))
        try:
            status = client.post("/translate", content=chunks, headers=kind).status_code
        except (httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
            status = 413  # it hung up before all was sent
        assert status == 413
        assert client.get("/health").json()["status"] == "ok"
        taken = address.rstrip("/").rpartition(":")[2]
        second = subprocess.run(
            [*COMMAND, "serve", "--port", taken], capture_output=True, encoding="utf-8", timeout=600
        )
        assert (second.returncode, second.stdout) == (2, "")
        assert f"port {taken} of 127.0.0.1 is in use" in second.stderr
        assert "--port" in second.stderr.splitlines()[1]
        process.send_signal(signal.SIGINT)  # a connection is still open
        begin = time.monotonic()
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert time.monotonic() - begin < 10
    assert out == "stopped\n"
    assert "Traceback" not in err
    assert "学生" not in err


def test_a_token_from_the_environment(started):
    process, address = started("--port", "0", REGARD_TOKEN=TOKEN)
    with httpx.Client(base_url=address, timeout=600) as client:
        assert client.get("/models").status_code == 401
        shown = {"authorization": f"Bearer {TOKEN}"}
        assert client.get("/models", headers=shown).json()["models"][0]["name"] == "zh-en"
        assert client.get("/", params={"token": TOKEN}).status_code == 303
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert TOKEN not in out + err


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux's /proc")
def test_who_asks_for_the_most_neither_stops_the_others_nor_takes_the_memory(started):
    process, address = started("--port", "0")
    text = "我是一个学生他们都是大学生" * 160
    host, port = re.search(r"//(.+):(\d+)/", address).groups()
    with httpx.Client(base_url=address, timeout=600) as client:
        refused = client.post("/attention", json={"text": text[:2000], "explain": True})
        assert refused.status_code == 413
        fits = int(re.search(r"(\d+) tokens fit", refused.json()["error"])[1])
        body = json.dumps({"text": text[:fits], "explain": True}).encode()
        head = f"POST /attention HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        with closing(socket.create_connection((host, int(port)))) as heavy:
            heavy.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            while client.get("/health").json()["load"] == 0:
                time.sleep(0.02)
            for _ in range(20):
                assert client.post("/translate", json={"texts": ["你好。"]}).status_code == 200
            assert client.get("/health").json()["status"] == "busy"  # with the heavy one
        begin = time.monotonic()  # it has hung up
        while (health := client.get("/health").json())["status"] != "ok":
            assert time.monotonic() - begin < 5, health
            time.sleep(0.02)
        assert health["load"] == health["models"][0]["looks"] == 0
    status = Path(f"/proc/{process.pid}/status").read_text()
    assert int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) < 1 << 20  # 1 GiB, torch and all


def test_started_where_ctrl_c_is_ignored_it_stays_until_it_is_terminated(started):
    ignoring = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)  # as nohup does
    process, address = started("--port", "0", before=ignoring)
    process.send_signal(signal.SIGINT)
    time.sleep(1)  # one that heeds it hangs up within a tenth
    assert httpx.get(f"{address}health", timeout=600).status_code == 200
    process.terminate()
    process.communicate(timeout=20)
    assert process.returncode == -signal.SIGTERM


@pytest.mark.parametrize(
    ("arguments", "said", "hint"),
    [
        (["--host", "0.0.0.0"], "it needs a token", "REGARD_TOKEN="),
        (["--token", "short"], "at least 16", "REGARD_TOKEN="),
        (["--host", "no.such.host.invalid", "--token", TOKEN], "no address", "127.0.0.1"),
        (["--port", "70000"], "65535", "regard serve --help"),
        (["--port", "0", "-m", "no-such-run"], "no-such-run", "regard train"),
        (["--port", "0", "-m", "a", "-m", "./a"], "named twice", "once"),
    ],
)
def test_what_cannot_be_served_is_told_before_anything_starts(run, arguments, said, hint):
    done = run("serve", *arguments)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert hint in done.err
    assert len(done.err.splitlines()) == 2
