"""The address is taken before anything is loaded, and a mistake says what would work."""

from __future__ import annotations

import re
import socket

import pytest

from regard.serve.server_address import CannotListen, address_of, check_token, listen

TOKEN = "a-token-of-twenty-letters"


def test_a_port_that_is_in_use_suggests_one_that_is_free():
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotListen, match=f"port {port} of 127.0.0.1 is in use") as refused:
            listen("127.0.0.1", port)
    free = int(re.search(r"--port (\d+)", refused.value.hint)[1])
    assert free != port
    if free:
        listen("127.0.0.1", free).close()


def test_port_0_is_one_that_is_free_and_the_address_names_it():
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        assert port > 0
        assert address_of(listener) == f"http://127.0.0.1:{port}/"
        socket.create_connection(("127.0.0.1", port), 5).close()
    with listen("0.0.0.0", 0) as listener:
        assert address_of(listener).startswith(f"http://{socket.gethostname()}:")


@pytest.mark.parametrize("host", ["no such host", "256.1.1.1", "a" * 70 + ".example"])
def test_an_address_that_there_is_not(host):
    with pytest.raises(CannotListen, match="no address"):
        listen(host, 0)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.7", "a.example", ""])
def test_other_machines_need_a_token_and_are_told_how(host):
    with pytest.raises(CannotListen, match="needs a token") as refused:
        check_token(host, None)
    fresh = re.search(r"REGARD_TOKEN=(\S+) regard serve", refused.value.hint)[1]
    check_token(host, fresh)  # what is suggested works


def test_this_machine_needs_none():
    for host in ("127.0.0.1", "localhost", "::1"):
        check_token(host, None)
        check_token(host, TOKEN)


@pytest.mark.parametrize("token", ["", "short", "twenty letters with blanks", "é" * 20])
def test_a_token_that_can_be_guessed_or_not_be_sent_is_refused(token):
    with pytest.raises(CannotListen, match="at least 16"):
        check_token("127.0.0.1", token)
