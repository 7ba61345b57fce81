"""Connections that nobody can hold for ever: a client has a few seconds for a request, and places are few.

A connection either works for its client or waits for it: for the rest of a request, for the next one, or
until an answer is read. Who lets it wait too long is hung up on; where all places are taken, whoever has
let it wait longest makes room for who comes. A request that has arrived is never given up for another.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from httptools import HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from regard.serve.request_limits import RequestLimits
from regard.words import t

BESIDE = 1 << 16  # bytes that may come beside a body: headers, what frames its chunks, trailers
ON_THE_WAY = 1 << 19  # bytes that were sent before the guard could say that a body is too large


def connection_class(limits: RequestLimits) -> type[Connection]:
    return type("LimitedConnection", (Connection,), {"limits": limits})


def sweep(connections: Iterable[Any]) -> None:
    """Hang up on clients that kept us waiting too long, and on the largest of too many unread answers."""
    now, ours = time.monotonic(), [c for c in tuple(connections) if isinstance(c, Connection)]
    for connection in ours:
        connection.check_patience(now)
    if sum(connection.unread for connection in ours) > RequestLimits.unread:
        max(ours, key=lambda connection: connection.unread).transport.abort()


class Connection(HttpToolsProtocol):
    """uvicorn's, with an end to what it waits for and to what it takes: one request at a time."""

    limits = RequestLimits()
    since = 0.0  # when it began to wait for its client
    received = 0  # bytes of this request
    unread = 0  # bytes of an answer that have not left
    in_headers = False  # of a request that has begun
    in_request = False  # whose end has not come

    @property
    def answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def waits(self) -> bool:
        """For its client, who alone can change that."""
        return self.in_request or self.flow.write_paused or not self.answering

    def check_patience(self, now: float) -> None:
        unread = self.transport.get_write_buffer_size()
        if unread < self.unread:  # the client reads on
            self.since = now
        self.unread = unread
        if not self.waits or now - self.since < self.limits.patience:
            return
        if self.in_headers:
            self.refuse(408, "the headers did not arrive in time")
            self.since = now  # to read that
            self.in_headers = False
        elif not (self.in_request and self.answering):  # the guard has its own clock for a body
            self.transport.abort()

    def refuse(self, status: int, reason: str) -> None:
        """Where there is no request yet that the application could answer."""
        body = json.dumps({"error": reason}).encode()
        head = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.since = time.monotonic()
        if len(self.connections) <= self.limits.connections:
            return
        others = [c for c in self.connections if isinstance(c, Connection) and c is not self]
        if waiting := [other for other in others if other.waits]:
            longest = min(waiting, key=lambda other: other.since)
            longest.transport.abort()
            self.connections.discard(longest)  # now, not when the loop comes to it
        else:
            self.refuse(503, "all connections are in use: try again in a moment")

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        most = BESIDE if self.in_headers else self.limits.body + BESIDE + ON_THE_WAY
        if self.received - len(data) > most:
            self.transport.abort()
        elif not self.transport.is_closing():
            try:
                super().data_received(data)
            except HttpParserUpgrade as ended:
                if self.offered:
                    self._read_without_offer(data[ended.args[0] :])

    @property
    def offered(self) -> bool:
        """Whether this request offers another protocol (h2c, websocket): it is answered as if it did not."""
        return self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"

    def _read_without_offer(self, rest: bytes) -> None:
        """From the beginning: at an offer the parser ends before the body."""
        method, version = self.parser.get_method(), self.parser.get_http_version().encode()
        headers = [b"%s: %s\r\n" % each for each in self.headers if each[0] != b"upgrade"]
        self.parser = HttpRequestParser(self)
        self.data_received(
            b"%s %s HTTP/%s\r\n%s\r\n%s" % (method, self.url, version, b"".join(headers), rest)
        )

    def _unsupported_upgrade_warning(self) -> None:
        raise  # HttpParserUpgrade, which is being handled: to data_received

    def send_400_response(self, msg: str) -> None:
        self.refuse(400, "this is no HTTP request, or one that came before the last was answered")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.since, self.received = time.monotonic(), 0
        self.in_headers = self.in_request = True

    def on_headers_complete(self) -> None:
        if self.answering:  # it could not be told when the client of the first goes
            raise ValueError(t("one request at a time"))  # to the parser, which gives up: 400
        if not self.offered:
            super().on_headers_complete()
            self.in_headers = False

    def on_message_complete(self) -> None:
        if not self.offered:
            super().on_message_complete()
            self.in_request = False

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.since = time.monotonic()
