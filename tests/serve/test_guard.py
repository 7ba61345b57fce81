"""Every request is measured before it is read, every answer leaves with safe headers."""

from __future__ import annotations

import asyncio

import pytest
from small_server import HERE, Shouter, client_of, quiet_app, shelf_of

from regard.serve.guard import HEADERS
from regard.serve.request_limits import RequestLimits

SMALL = RequestLimits(body=100, patience=0.3)


@pytest.fixture
def served():
    with shelf_of(Shouter(), limits=SMALL) as shelf:
        log: list[str] = []
        yield client_of(quiet_app(shelf, log=log)), log


def test_a_body_that_says_it_is_too_large_is_refused(served):
    client, _ = served
    answer = client.post("/translate", json={"texts": ["x" * 200]})
    assert answer.status_code == 413
    assert answer.json() == {"error": "a body may have 100 bytes: send fewer texts"}


def test_a_body_that_does_not_say_how_large_it_is_is_counted(served):
    client, _ = served

    def chunks(number):
        yield b'{"texts": ["'
        for _ in range(number):
            yield b"x" * 10
        yield b'"]}'

    kind = {"content-type": "application/json"}
    assert client.post("/translate", content=chunks(2), headers=kind).status_code == 200
    assert client.post("/translate", content=chunks(50), headers=kind).status_code == 413


def test_a_body_that_never_ends_is_not_waited_for():
    async def scene(app):
        sent = []
        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "path": "/translate", "headers": headers}

        async def send(message):
            sent.append(message)

        async def receive():
            if not sent:
                await asyncio.sleep(30)
            return {"type": "http.disconnect"}

        await asyncio.wait_for(app(scope, receive, send), 10)
        return sent[0]["status"]

    with shelf_of(Shouter(), limits=SMALL) as shelf:
        assert asyncio.run(scene(quiet_app(shelf))) == 408


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_form_of_another_site_is_not_taken_for_json(served, kind):
    client, _ = served
    answer = client.post("/translate", content=b'{"texts": ["a"]}', headers={"content-type": kind})
    assert answer.status_code == 415
    assert "Content-Type: application/json" in answer.json()["error"]


def test_json_may_name_its_encoding(served):
    client, _ = served
    kind = {"content-type": "Application/JSON; charset=utf-8"}
    assert client.post("/translate", content=b'{"texts": ["a"]}', headers=kind).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/", None, 200),
        ("GET", "/models", None, 200),
        ("GET", "/nowhere", None, 404),
        ("GET", "/translate", None, 405),
        ("POST", "/translate", {"texts": ["a"]}, 200),
        ("POST", "/translate", {"texts": ["x" * 200]}, 413),
        ("POST", "/translate", {"texts": ["broken"]}, 500),
    ],
)
def test_every_answer_has_the_safe_headers(served, method, path, body, status):
    client, _ = served
    answer = client.request(method, path, json=body)
    assert answer.status_code == status
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert "access-control-allow-origin" not in answer.headers


def test_the_log_has_a_short_line_for_each_request_and_no_text(served):
    client, log = served
    client.post("/translate", json={"texts": ["a secret"]})
    client.get("/?token=secret")
    client.get("/%1b[31m/x?secret=1", headers={"host": "evil.example"})
    words = [line.split()[1:4] for line in log]
    assert words == [
        ["POST", "/translate", "200"],
        ["GET", "/", "200"],
        ["GET", "/%1b[31m/x", "421"],
    ]


def test_a_websocket_is_closed(served):
    client, _ = served
    with pytest.raises(Exception) as closed:  # noqa: PT011, SIM117  (starlette's own kind)
        with client.websocket_connect(HERE.replace("http", "ws") + "/translate"):
            pass
    assert type(closed.value).__name__ == "WebSocketDisconnect"
