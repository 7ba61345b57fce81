"""The page that `regard look` opens: served on this machine alone, with the model behind it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.words import t

HOST = "127.0.0.1"
TRIES = 100  # a tenth of a second apart, until the port is taken


def serve_page(
    models: list[Path],
    guests: list[Path],
    texts: Sequence[str],
    picks: dict[str, Any],
    port: int,
    beam: int | None,
    device: str | None,
    *,
    open_it: bool,
) -> None:
    """The page with a model behind it, until Ctrl-C; its address holds what is looked at."""
    import socket
    from urllib.parse import urlencode

    from regard.time_left import say_loading

    say_loading()
    from regard.serve.models import distinct_names
    from regard.serve.request_limits import ALONE
    from regard.serve.server_process import serve
    from regard.view.attention_view import counted, page_state
    from regard.view.picked_matrix import Pick

    if not port:
        with socket.create_server((HOST, 0)) as free:
            port = free.getsockname()[1]
    state = {"text": texts[0] if texts else "", **page_state(Pick(**picks))}
    both = [*models, *guests]
    names = distinct_names(both) if both else []
    if len(texts) > 1 or len(names) > 1:
        state |= {"panel": "compare", **_beside(texts, names)}
    shown = {name: value for name, value in counted(state).items() if value not in ("", "words")}
    address = f"http://{HOST}:{port}/" + (f"#{urlencode(shown)}" if shown else "")
    if open_it:
        _open_when_it_answers(address, port)
    else:
        print(address)
    serve(models, host=HOST, port=port, device=device, beam=beam, guests=guests, seconds=ALONE)


def _beside(texts: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """What stands beside the first: every model with every text, as the page's address has it."""
    if len(texts) == 2 and len(names) < 2:
        return {"compare-text": texts[1]}
    if len(texts) == 1 and len(names) == 2:
        return {"compare-model": names[1]}

    every = [
        ({"text": text} if place else {}) | ({"model": name} if number else {})
        for place, text in enumerate(texts or [""])
        for number, name in enumerate(names or [""])
    ]
    others = json.dumps(every[1:], ensure_ascii=False, separators=(",", ":"))
    return {"model": names[0] if names else "", "also": others}


def _open_when_it_answers(address: str, port: int) -> None:
    """In a thread: the port is not even taken yet, and a model may take seconds to load."""
    import threading
    import time
    import webbrowser
    from http.client import HTTPConnection  # not urllib, which would ask a proxy

    def wait_and_open() -> None:
        for _ in range(TRIES):
            try:
                asked = HTTPConnection(HOST, port, timeout=120)
                asked.request("GET", "/health")
                asked.getresponse()
                break
            except OSError:
                time.sleep(0.1)
        if not webbrowser.open(address):
            told = t("no browser could be opened: open {address} yourself", address=address)
            print(told, file=sys.stderr)

    threading.Thread(target=wait_and_open, daemon=True).start()
