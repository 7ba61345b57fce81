"""The address: checked and taken before a model is loaded."""

from __future__ import annotations

import errno
import secrets
import socket
from ipaddress import ip_address

from regard.serve.access import is_loopback
from regard.words import t

TRIED = 50  # ports after a taken one, to find a free one to suggest
SHORTEST = 16  # characters of a token: enough that it cannot be guessed
WAITING = 2048  # connections that the system holds for us


class CannotListen(ValueError):
    """The address cannot be used, or not like this."""

    status = 2

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def check_token(host: str, token: str | None) -> None:
    """Other machines need a token, and one that cannot be guessed."""
    fresh = f"REGARD_TOKEN={secrets.token_urlsafe(24)} regard serve --host {host}"
    if token is None and not is_loopback(host):
        raise CannotListen(
            t("--host {host} is open to other machines: it needs a token", host=host), fresh
        )
    if token is not None and (len(token) < SHORTEST or not token.isascii() or " " in token):
        raise CannotListen(
            t(
                "a token needs at least {shortest} ASCII letters, digits or signs, and no blank",
                shortest=SHORTEST,
            ),
            fresh,
        )


def listen(host: str, port: int) -> socket.socket:
    """A socket that takes connections; port 0: one that is free."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError):
        raise CannotListen(
            t("no address {host}", host=repr(host)),
            t("--host 127.0.0.1 is this machine, 0.0.0.0 all networks"),
        ) from None
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(WAITING)
    except OSError as error:
        listener.close()
        raise _refused(host, port, error) from error
    return listener


def address_of(listener: socket.socket) -> str:
    """What to open in a browser: http://127.0.0.1:8000/; of all networks, the machine's name."""
    host, port = listener.getsockname()[:2]
    if ip_address(host).is_unspecified:
        host = socket.gethostname()
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _refused(host: str, port: int, error: OSError) -> CannotListen:
    if error.errno == errno.EADDRINUSE:
        free = _next_free(host, port)
        advice = (
            t("--port {free} is free", free=free) if free else t("--port 0 takes one that is free")
        )
        return CannotListen(t("port {port} of {host} is in use", port=port, host=host), advice)
    if error.errno == errno.EACCES:
        return CannotListen(
            t("port {port} needs more rights than you have", port=port), t("take one above 1023")
        )
    return CannotListen(
        t(
            "cannot listen on {host}:{port}: {strerror}",
            host=host,
            port=port,
            strerror=error.strerror,
        ),
        t("--host 127.0.0.1 works"),
    )


def _next_free(host: str, port: int) -> int | None:
    for other in range(port + 1, min(port + TRIED, 65_535) + 1):
        try:
            listen_socket = socket.create_server((host, other))
        except OSError:
            continue
        listen_socket.close()
        return other
    return None
