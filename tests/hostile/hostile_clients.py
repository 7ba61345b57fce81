"""Clients of the server: some who mean no good, and one who only wants an answer. All over plain sockets."""

from __future__ import annotations

import json
import random
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

TEXT = "我是一个学生。"
PATHS = ["/translate", "/score", "/attention"]
OTHERS = [
    "/",
    "/models",
    "/health",
    "/openapi.json",
    "/docs",
    "/start.js",
    "/../etc/passwd",
    "/%00",
]
OTHERS += [
    "//",
    "/translate/",
    "/translate?x=1",
    "/" + "a" * 3_000,
    "/%e5%ad%a6",
    "*",
    "/attention#x",
]
METHODS = ["GET", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "post", "X" * 40]
TYPES = ["application/json"] * 6 + [
    "text/plain",
    "application/xml",
    "",
    "application/json; charset=x",
]
PATIENCE = 30.0  # seconds that the normal client waits for an answer before it counts as none

Address = tuple[str, int]


def ask(address: Address, data: bytes, seconds: float = 20.0) -> bytes:
    """Send, and read until the other side hangs up or the time is over."""
    answer = b""
    with socket.create_connection(address, timeout=seconds) as connection:
        with suppress(OSError):  # it may hang up before all is sent, having answered
            connection.sendall(data)
        end = time.monotonic() + seconds
        with suppress(OSError):
            while time.monotonic() < end and (part := connection.recv(1 << 16)):
                answer += part
    return answer


def status_of(answer: bytes) -> int | None:
    found = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
    return int(found[1]) if found else None


def request(method: str, path: str, body: bytes, **headers: str) -> bytes:
    given = {"Host": "127.0.0.1", "Connection": "close", "Content-Length": str(len(body))}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items() if value != "")
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body


def post(path: str, asked: Any) -> bytes:
    return request("POST", path, json.dumps(asked).encode(), Content_Type="application/json")


def draw_json(draw: random.Random, depth: int = 0) -> Any:
    """Any value, of the kinds that are asked for and of others."""
    small = ["", TEXT, "a\u0000b", "\ud800", "🎓" * 40, "x" * 2_001, 0, -1, 33, 10**30, 1e308]
    small += [float("nan"), None, True, False, [], {}]
    if depth > 3 or draw.random() < 0.6:
        return draw.choice(small)
    if draw.random() < 0.5:
        return [draw_json(draw, depth + 1) for _ in range(draw.randrange(4))]
    return {str(draw.choice(small)): draw_json(draw, depth + 1) for _ in range(draw.randrange(4))}


def draw_question(draw: random.Random, path: str) -> dict[str, Any]:
    """One that may be asked, with one or two fields of any kind."""
    asked: dict[str, Any] = {
        "/translate": {"texts": [TEXT], "beam": draw.randint(1, 4), "nbest": 1},
        "/score": {"sources": [TEXT], "targets": ["I'm a student."]},
        "/attention": {"text": TEXT, "details": False, "force": {"step": 0, "keys": [0]}},
    }[path]
    fields = [*asked, "model", "beam", "prefix", "target", "nbest", "explain", "unknown"]
    for _ in range(draw.choice([0, 1, 1, 2])):
        asked[draw.choice(fields)] = draw_json(draw)
    return asked


def draw_request(draw: random.Random) -> bytes:
    """HTTP that can be read, asking for anything."""
    path = draw.choice(PATHS)
    body = json.dumps(draw_question(draw, path)).encode()
    twist = draw.random()
    if twist < 0.1:
        body = body[: draw.randrange(len(body))]
    elif twist < 0.2:
        body = draw.choice([b"", b"\xff\xfe{", b"[" * 100_000, draw.randbytes(300), b"null", b"3"])
    elif twist < 0.3:
        path = draw.choice(OTHERS)
    method = "POST" if draw.random() < 0.8 else draw.choice(METHODS)
    more = {}
    if draw.random() < 0.2:
        named = ["Host", "Origin", "Accept", "Authorization", "Cookie", "Expect", "Range", "X"]
        values = ["evil.example", "http://evil.example", "x" * 5_000, "Bearer x", "100-continue"]
        more[draw.choice(named)] = draw.choice(values)
    return request(method, path, body, Content_Type=draw.choice(TYPES), **more)


def draw_bytes(draw: random.Random) -> bytes:
    """What is no HTTP, or almost."""
    whole = post("/translate", {"texts": [TEXT]})
    at = draw.randrange(len(whole))
    lies = [
        b"Content-Length: 5",
        b"Content-Length: -1",
        b"Transfer-Encoding: chunked",
        b"X" * 9_000,
    ]
    head, _, body = whole.partition(b"\r\n\r\n")
    return draw.choice(
        [
            draw.randbytes(draw.randint(1, 2_000)),
            whole[:at] + draw.randbytes(3) + whole[at + 3 :],
            head + b"\r\n" + draw.choice(lies) + b"\r\n\r\n" + body,
            head + b"\r\n" + b"A: b\r\n" * 5_000 + b"\r\n" + body,
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + draw.randbytes(200),  # TLS
            whole.replace(b"HTTP/1.1", draw.choice([b"HTTP/9.9", b"HTTP/0.9", b"", b"ICY"])),
        ]
    )


class Slow:
    """A connection that says something and then, for a long time, nothing or almost nothing."""

    def __init__(self, address: Address, kind: str) -> None:
        self.kind, self.begin = kind, time.monotonic()
        self.connection = socket.create_connection(address, timeout=5)
        whole = post("/translate", {"texts": [TEXT]})
        head = whole.partition(b"\r\n\r\n")[0]
        start = {"idle": b"", "header": head[:40], "body": head + b"\r\n\r\n{", "half-open": whole}
        self.connection.sendall(start[kind])
        if kind == "half-open":
            self.connection.shutdown(socket.SHUT_WR)

    def trickle(self) -> None:
        """One byte more, of what it is sending."""
        with suppress(OSError):
            self.connection.sendall({"header": b"x", "body": b" "}.get(self.kind, b""))

    def ended(self, seconds: float) -> bool:
        """Whether the server hangs up within so many seconds."""
        self.connection.settimeout(max(seconds, 0.01))
        try:
            while self.connection.recv(1 << 16):
                pass
        except TimeoutError:
            return False
        except OSError:
            return True
        return True


@dataclass
class NormalClient:
    """Asks the same question again and again, one at a time, as a person's program would."""

    address: Address
    seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def ask(self) -> str:
        """The translation; where the server says that it is busy, it is asked again."""
        begin = time.monotonic()
        while (left := PATIENCE - (time.monotonic() - begin)) > 0:
            answer = ask(self.address, post("/translate", {"texts": [TEXT]}), left)
            status = status_of(answer)
            if status == 200:
                self.seconds.append(time.monotonic() - begin)
                return json.loads(answer.partition(b"\r\n\r\n")[2])["translations"][0]["text"]
            if status != 503:
                raise AssertionError(f"status {status}: {answer[-200:]!r}")
            time.sleep(0.5)
        raise AssertionError(f"no answer within {PATIENCE:.0f} s")

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Asking, in a thread, for as long as the others do what they do."""
        expected, stopped = self.ask(), threading.Event()
        self.seconds.clear()

        def go_on() -> None:
            while not stopped.is_set():
                try:
                    found = self.ask()
                    if found != expected:
                        self.wrong.append(f"{found!r}, not {expected!r}")
                except (AssertionError, OSError) as error:
                    self.wrong.append(str(error))
                time.sleep(0.1)

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            yield
        finally:
            stopped.set()
            thread.join()

    def latency(self) -> str:
        if not self.seconds:
            return "no answer"
        ordered = sorted(self.seconds)
        shares = {"half": 0.5, "95 %": 0.95, "all": 1.0}
        within = (
            f"{name} within {ordered[min(int(len(ordered) * share), len(ordered) - 1)]:.2f} s"
            for name, share in shares.items()
        )
        return f"{len(ordered)} answers to the normal client, {', '.join(within)}"
