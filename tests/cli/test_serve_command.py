"""`regard serve` as a person starts it, asks it and ends it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time

import httpx
import pytest
from processes import COMMAND

TOKEN = "a-token-of-twenty-letters"


@pytest.fixture
def started():
    """started("--port", "0") -> the process, and the address that it says"""
    processes = []

    def start(*arguments: str, **environment: str) -> tuple[subprocess.Popen[str], str]:
        clean = {k: v for k, v in os.environ.items() if k not in ("REGARD_DEBUG", "REGARD_TOKEN")}
        process = subprocess.Popen(
            [*COMMAND, "serve", "--device", "cpu", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=clean | {"OMP_NUM_THREADS": "1"} | environment,
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
    with httpx.Client(base_url=address, timeout=60) as client:
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
        except httpx.WriteError:  # it hung up before all was sent
            status = 413
        assert status == 413
        assert client.get("/health").json()["status"] == "ok"
        taken = address.rstrip("/").rpartition(":")[2]
        second = subprocess.run(
            [*COMMAND, "serve", "--port", taken], capture_output=True, encoding="utf-8", timeout=60
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
    with httpx.Client(base_url=address, timeout=60) as client:
        assert client.get("/models").status_code == 401
        shown = {"authorization": f"Bearer {TOKEN}"}
        assert client.get("/models", headers=shown).json()["models"][0]["name"] == "zh-en"
        assert client.get("/", params={"token": TOKEN}).status_code == 303
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert TOKEN not in out + err


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
def test_what_cannot_be_served_is_told_before_anything_starts(
    run, monkeypatch, arguments, said, hint
):
    monkeypatch.delenv("REGARD_TOKEN", raising=False)
    done = run("serve", *arguments)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert hint in done.err
    assert len(done.err.splitlines()) == 2
