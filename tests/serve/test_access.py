"""Who may ask: this machine's own pages, or those who know the token."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from regard.serve.access import Access, is_loopback
from regard.serve.http_errors import Refused

TOKEN = "a-token-of-twenty-letters"


def status(access: Access, path: str = "/translate", **headers: str) -> int:
    try:
        access.check(path, Headers(headers))
    except Refused as refused:
        return refused.status_code
    return 200


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8000", "LOCALHOST:1", "127.0.0.1:8000", "[::1]:8000", "127.0.0.2"],
)
def test_this_machine_by_its_own_names(host):
    assert status(Access(), host=host) == 200


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:8000",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "0.0.0.0:8000",
        "192.168.0.7:8000",
    ],
)
def test_a_name_that_was_pointed_here_is_refused(host):
    assert status(Access(), host=host) == 421
    assert status(Access(), "/", host=host) == 421


@pytest.mark.parametrize(
    "host",
    [
        "evil.example@localhost",
        "127.0.0.1@evil.example",
        "localhost/evil",
        "localhost?evil",
        "localhost#evil",
        "localhost\\evil",
        "localhost:8000:1",
        "localhost:http",
        "localhost, evil.example",
        "[::1",
        "::1",
        " ",
    ],
)
@pytest.mark.parametrize("token", [None, TOKEN])
def test_what_is_no_host_is_refused(host, token):
    assert status(Access(token), "/", host=host) == 400


@pytest.mark.parametrize("hosts", [("localhost", "evil.example"), ("localhost", "localhost")])
def test_two_hosts_are_refused(hosts):
    with pytest.raises(Refused, match="one Host header") as refused:
        Access().check("/", Headers(raw=[(b"host", host.encode()) for host in hosts]))
    assert refused.value.status_code == 400


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://localhost:3000", "http://localhost", "", "http://["],
)
@pytest.mark.parametrize("token", [None, TOKEN])
def test_pages_of_other_sites_may_not_ask(origin, token):
    shown = {"authorization": f"Bearer {TOKEN}"} if token else {}
    assert status(Access(token), host="localhost:8000", origin=origin, **shown) == 403


def test_the_page_may_ask_its_own_server():
    assert status(Access(), host="localhost:8000", origin="http://localhost:8000") == 200
    shown = {"authorization": f"Bearer {TOKEN}"}
    assert status(Access(TOKEN), host="a.example", origin="https://a.example", **shown) == 200


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ({}, 401),
        ({"authorization": f"Bearer {TOKEN}"}, 200),
        ({"authorization": f"bearer  {TOKEN}"}, 200),
        ({"authorization": f"Bearer {TOKEN}x"}, 401),
        ({"authorization": f"Bearer {TOKEN[:-1]}"}, 401),
        ({"authorization": "Bearer "}, 401),
        ({"authorization": "Bearer é"}, 401),
        ({"authorization": f"Basic {TOKEN}"}, 401),
        ({"cookie": "x=1; {}={}".format(*Access(TOKEN).cookie)}, 200),
        ({"cookie": f"{Access(TOKEN).cookie[0]}=wrong"}, 401),
        ({"cookie": f"{Access(TOKEN).cookie[0]}={TOKEN}"}, 401),
        ({"cookie": "; =;;"}, 401),
    ],
)
def test_a_token_is_needed_where_there_is_one(shown, expected):
    assert status(Access(TOKEN), host="any.example", **shown) == expected


def test_with_a_token_the_page_itself_can_be_fetched_but_no_answer():
    for path in ("/", "/viewer.js", "/viewer.css", "/start.js"):
        assert status(Access(TOKEN), path, host="any.example") == 200
    for path in ("/models", "/health", "/openapi.json", "/translate", "//", "/viewer.js/"):
        assert status(Access(TOKEN), path, host="any.example") == 401


def test_the_cookie_does_not_tell_the_token_and_is_of_one_token():
    name, value = Access(TOKEN).cookie
    assert TOKEN not in name + value
    assert Access(TOKEN + "x").cookie[0] != name
    assert not Access(TOKEN + "x").knows(Headers({"cookie": f"{name}={value}"}))


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)],
)
def test_loopback(host, loopback):
    assert is_loopback(host) is loopback
