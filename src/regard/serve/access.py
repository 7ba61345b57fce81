"""Who may ask.

With a token: who knows it, by `Authorization: Bearer …`, or by a cookie that the page is given once.
Without one the server is bound to this machine, and a browser on it runs pages of strangers: one whose
name was pointed here (DNS rebinding) shows a foreign Host, one that asks across sites a foreign Origin.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from regard.serve.http_errors import Refused
from regard.words import t

PUBLIC = frozenset({"/", "/viewer.js", "/viewer.css", "/start.js"})  # the page itself; no answers
NEEDED = "this server needs its token: send the header 'Authorization: Bearer TOKEN'"
HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[\w.-]+)(:\d*)?", re.ASCII)  # [::1]:8000, localhost


@dataclass(frozen=True)
class Access:
    token: str | None = None

    def check(self, path: str, headers: Headers) -> None:
        """Refuse, or let pass."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if len(headers.getlist("host")) > 1 or (host and not HOST.fullmatch(host)):
            raise Refused(400, t("send one Host header: a name and, if need be, a port"))
        if self.token is None and not is_loopback(_hostname(host)):
            raise Refused(
                421,
                t(
                    "this server is for its own machine, by the name localhost, not {host}",
                    host=repr(host[:80]),
                ),
            )
        if origin is not None and _netloc(origin) != host.lower():
            raise Refused(
                403, t("pages of {origin} may not ask this server", origin=repr(origin[:80]))
            )
        if path not in PUBLIC and not self.knows(headers):
            raise Refused(401, NEEDED, www_authenticate="Bearer")

    def knows(self, headers: Headers) -> bool:
        """Whether the request shows the token, or what was given for it."""
        if self.token is None:
            return True
        scheme, _, shown = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self.accepts(shown.strip())
        name, value = self.cookie
        cookies = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
        return any(key == name and _same(given, value) for key, _, given in cookies)

    def accepts(self, token: str) -> bool:
        return self.token is not None and _same(token, self.token)

    @property
    def cookie(self) -> tuple[str, str]:
        """Name and value of the page's cookie: they follow from the token, but do not tell it.

        Cookies do not know ports: servers with other tokens on one machine have other names.
        """
        return f"regard-{self._derived('name')[:8]}", self._derived("value")

    def _derived(self, label: str) -> str:
        secret = (self.token or "").encode()
        return hmac.new(secret, f"regard serve {label}".encode(), hashlib.sha256).hexdigest()


def is_loopback(host: str) -> bool:
    """Whether it names this machine and no other can be meant: localhost, 127.0.0.1, ::1.

    Any port will do: behind an ssh tunnel it is another, and a page on another port has that as Origin.
    """
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _same(a: str, b: str) -> bool:
    """In a time that does not depend on where they differ."""
    return hmac.compare_digest(a.encode("utf-8", "replace"), b.encode("utf-8", "replace"))
