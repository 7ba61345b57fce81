"""Real sockets: whoever holds a connection without asking loses it, and others are answered meanwhile."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest
from small_server import Shouter, quiet_app, shelf_of

from regard.serve.connections import Connection, sweep
from regard.serve.request_limits import RequestLimits
from regard.serve.server_address import listen
from regard.serve.server_process import make_server

QUICK = RequestLimits(connections=8, patience=0.5, idle=1, body=1000)
BODY = b'{"texts": ["abc"]}'
HEAD = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
ASKED = HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY


@contextmanager
def serving(limits: RequestLimits = QUICK, run: Shouter | None = None):
    """The port of a server on this machine."""
    with shelf_of(run or Shouter(), limits=limits) as shelf, listen("127.0.0.1", 0) as listener:
        server = make_server(quiet_app(shelf), shelf, "")
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive()


def connected(port: int, sent: bytes = b"") -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), 10)
    client.sendall(sent)
    return client


def answer(client: socket.socket) -> tuple[int, dict]:
    """Status and JSON of the next answer; (0, {}): the server hung up."""
    seen = b""
    while b"\r\n\r\n" not in seen:
        try:
            more = client.recv(65_536)
        except ConnectionError:
            more = b""
        if not more:
            return 0, {}
        seen += more
    head, _, body = seen.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += client.recv(65_536)
    return int(head[9:12]), json.loads(body)


def is_answered(port: int) -> bool:
    with connected(port, ASKED) as client:
        status, found = answer(client)
        return status == 200 and found["translations"][0]["text"] == "ABC"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"", 0),
        (b"P", 408),
        (HEAD, 408),
        (HEAD + b"Content-Length: 100\r\n\r\n{", 408),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{", 408),
        (ASKED + b"POST", 200),
    ],
)
def test_what_does_not_come_is_not_waited_for(sent, status):
    with serving() as port, connected(port, sent) as client:
        assert answer(client)[0] == status
        assert answer(client)[0] == (408 if status == 200 else 0)


@pytest.mark.parametrize("drop", [b"X", b"X: y\r\n"])
def test_drop_by_drop_is_too_slow(drop):
    with serving() as port, connected(port, HEAD) as client:
        begin = time.monotonic()
        with pytest.raises(ConnectionError):  # noqa: PT012  (it comes at some drop)
            while time.monotonic() - begin < 5:
                client.sendall(drop)
                time.sleep(0.05)
        assert is_answered(port)


def test_an_idle_connection_is_kept_for_a_while():
    with serving(RequestLimits(patience=5, idle=1)) as port, connected(port, ASKED) as client:
        assert answer(client)[0] == 200
        time.sleep(0.3)
        client.sendall(ASKED)
        assert answer(client)[0] == 200
        begin = time.monotonic()
        assert answer(client) == (0, {})
        assert 0.5 < time.monotonic() - begin < 4


@pytest.mark.parametrize(
    "sent", [b"", HEAD, HEAD + b"Content-Length: 100\r\n\r\n{", ASKED], ids=len
)
def test_a_normal_client_is_answered_when_others_hold_more_connections_than_there_are(sent):
    with serving(RequestLimits(connections=8, patience=30, idle=30)) as port:
        held = []
        for _ in range(40):
            held.append(connected(port, sent))
            if sent == ASKED:  # and then idle
                assert answer(held[-1])[0] == 200
        assert all(is_answered(port) for _ in range(3))
        for client in held:
            client.close()


def test_a_request_that_is_being_answered_keeps_its_place():
    run = Shouter()
    run.go.clear()
    with serving(RequestLimits(connections=4, patience=30), run) as port:
        asking = [connected(port, ASKED) for _ in range(4)]
        assert run.begun.wait(10)
        time.sleep(0.3)  # all have arrived
        with connected(port, ASKED) as late:
            status, found = answer(late)
            assert (status, "in use" in found["error"]) == (503, True)
        run.go.set()
        assert [answer(client)[0] for client in asking] == [200] * 4


@pytest.mark.parametrize(
    "flood",
    [
        HEAD + b"X: " + b"x" * 5_000_000,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1;" + b"x" * 5_000_000,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"X: y\r\n" * 1_000_000,
        b"\r\n" * 3_000_000,
    ],
    ids=["header", "chunk", "trailers", "blank lines"],
)
def test_a_flood_is_cut_off(flood):
    with serving(RequestLimits(body=1000, patience=20)) as port:
        with connected(port) as client, suppress(ConnectionError):
            client.sendall(flood)
            assert answer(client)[0] in (0, 400)
        assert is_answered(port)


def test_one_request_at_a_time():
    run = Shouter()
    run.go.clear()
    with serving(run=run) as port:
        with connected(port, ASKED * 1000) as client:
            status, found = answer(client)
            assert (status, "before the last was answered" in found["error"]) == (400, True)
        run.go.set()
        assert is_answered(port)
    assert len(run.asked) <= 2


OFFERS = {
    "h2c": b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n",
    "websocket": b"Connection: Upgrade\r\nUpgrade: websocket\r\n",
}


@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
@pytest.mark.parametrize("cut", [1, 20, len(ASKED) - 5])
def test_an_offer_of_another_protocol_is_not_taken_and_the_request_answered(offer, cut, capfd):
    asked = ASKED.replace(b"\r\nHost", b"\r\n" + offer + b"Host", 1)
    chunked = HEAD + offer + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n"
    with serving(RequestLimits(patience=5)) as port, connected(port, asked[:cut]) as client:
        time.sleep(0.05)
        client.sendall(asked[cut:])
        for sent in (b"", asked, ASKED, chunked % (len(BODY), BODY)):
            client.sendall(sent)
            status, found = answer(client)
            assert (status, found["translations"][0]["text"]) == (200, "ABC")
        client.sendall(b"GET /models HTTP/1.1\r\nHost: localhost\r\n" + offer + b"\r\n")
        assert answer(client)[0] == 200
        client.sendall(b"CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert answer(client)[0] in (400, 404, 405)
    assert "upgrade" not in capfd.readouterr().err.lower()


class Unread:
    """A transport whose client reads a byte at a time."""

    def __init__(self, size: int) -> None:
        self.size, self.aborted = size, False

    def get_write_buffer_size(self) -> int:
        self.size -= 1
        return self.size

    def abort(self) -> None:
        self.aborted, self.size = True, 1


def test_answers_that_are_hardly_read_do_not_fill_the_memory():
    connections = []
    for size in (1 << 20, 1 << 26, 1 << 24, 1 << 25, 1 << 26):
        connection = Connection.__new__(Connection)
        connection.cycle = connection.flow = None
        connection.in_request, connection.since = True, time.monotonic()
        connection.transport = Unread(size)
        connections.append(connection)
    for _ in range(10):
        sweep(connections)
    aborted = [connection.transport.aborted for connection in connections]
    assert aborted == [False, True, False, False, False]
