"""What every request passes before the application sees it, and every answer before it leaves."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from regard.serve.access import Access
from regard.serve.http_errors import Refused, refusal
from regard.serve.request_limits import RequestLimits
from regard.words import language_asked_for, preferred, speaking, t

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
JSON = "application/json"
DESCRIBED = "/models"  # what is said of them is read on the page


def write_line(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


class Guard:
    """Access, the size of the body, safe headers, and one short line in the log, without texts."""

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        limits: RequestLimits,
        asked: Collection[str],
        log: Callable[[str], None] = write_line,
    ) -> None:
        """asked: the paths that take a body; of all others it is not read."""
        self.app, self.access, self.limits, self.asked, self.log = app, access, limits, asked, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close"})
        else:
            await self.app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        begin, status = time.monotonic(), 500

        async def send_safely(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            with speaking(self._language(scope)):
                await self._pass(scope, receive, send_safely)
        except Refused as refused:
            answer = refusal(refused.status_code, refused.detail, refused.headers)
            await answer(scope, receive, send_safely)
        finally:
            self.log(_line(scope, status, time.monotonic() - begin))

    def _language(self, scope: Scope) -> str:
        """Of answers what the request accepts; of pages what the server was given, if anything."""
        accepted = preferred(Headers(scope=scope).get("accept-language", ""))
        asked = scope["path"] in self.asked or scope["path"] == DESCRIBED
        return accepted if asked else language_asked_for() or accepted

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        self.access.check(scope["path"], headers)
        if scope["method"] != "POST" or scope["path"] not in self.asked:
            await self.app(scope, receive, send)
            return
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != JSON:
            seen = f"{kind[:80]!r}" if kind else "none"
            raise Refused(
                415,
                t(
                    "the body must be JSON, declared by 'Content-Type: {json}', not {seen}",
                    json=JSON,
                    seen=seen,
                ),
            )
        body = await self._body(headers, receive)
        given = False

        async def receive_again() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, receive_again, send)

    async def _body(self, headers: Headers, receive: Receive) -> bytes:
        """The whole body, unless it is too large or too slow, whatever length it declares."""
        said = headers.get("content-length", "")
        if said.isdecimal() and (len(said) > 18 or int(said) > self.limits.body):
            raise self._too_large()
        body = bytearray()
        try:
            async with asyncio.timeout(self.limits.patience):
                while (message := await receive())["type"] == "http.request":
                    body += message.get("body", b"")
                    if len(body) > self.limits.body:
                        raise self._too_large()
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            raise Refused(408, t("the body did not arrive in time"), connection="close") from None
        return bytes(body)

    def _too_large(self) -> Refused:
        limit = t("{body} bytes", body=f"{self.limits.body:,}")
        # what was not read would be taken for the next request
        return Refused(
            413, t("a body may have {limit}: send fewer texts", limit=limit), connection="close"
        )


def _line(scope: Scope, status: int, seconds: float) -> str:
    """127.0.0.1 POST /translate 200 14 ms: the path as it was sent, which ends before the `?`"""
    client = (scope.get("client") or ("-",))[0]
    path = scope.get("raw_path", b"")[:80].decode("ascii", "replace")
    return f"{client} {scope['method']} {path} {status} {1000 * seconds:.0f} ms"
