"""`regard.look`, and with live=True a page behind which the model answers.

    view = regard.look(model, tokenizer, "The cat sat.", live=True)
    view.address            # http://127.0.0.1:…
    view.close()

The page is served to this machine alone, until `close`, until the end of a session at a prompt, or until
Ctrl-C where a program has nothing else to do.
"""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from regard.looking.look import look as view_of
from regard.records.side import NotARecord
from regard.view.attention_view import View, counted, page_state
from regard.words import t

if TYPE_CHECKING:
    from types import TracebackType

    from regard.serve.models import Shelf
    from regard.serve.server_process import Server

HOST = "127.0.0.1"


def look(*what: Any, live: bool = False, **options: Any) -> View:
    """A view of what attends to what; `regard.looking.look` says of what.

    live: a run or a model of Hugging Face also answers what its page asks, at an address of this machine.
    """
    view = view_of(*what, **options)
    if not live:
        return view
    if view.live is None or not view.live.lookers:
        raise NotARecord(
            "only a run or a model can answer: regard.look(model, tokenizer, 'text', live=True)"
        )
    return served_view(view)


@dataclass(frozen=True, repr=False)
class LiveView(View):
    """A view that is also served; everything else is as it was."""

    address: str = ""
    page: LivePage | None = None

    def show(self) -> Path:
        """Open the page in a browser; it asks the model."""
        import webbrowser

        if not webbrowser.open(self.address):
            print(t("no browser could be opened: open {address} yourself", address=self.address))
        return Path(self.address)

    def close(self) -> None:
        """End the server."""
        if self.page is not None:
            self.page.close()


def served_view(view: View) -> LiveView:
    assert view.live is not None
    page = LivePage(view.live.lookers)
    state = {**view.records[0].question, **page_state(view.pick)}
    kept: dict[str, Any] = {
        name: state[name] for name in ("text", "map", "layer", "head", "units") if name in state
    }
    shown = {name: value for name, value in counted(kept).items() if value not in ("", "words")}
    address = page.address + (f"/#{urlencode(shown)}" if shown else "/")
    parts = {each.name: getattr(view, each.name) for each in fields(view)}
    live = LiveView(**parts, address=address, page=page)
    print(t("{address}: open it in a browser; Ctrl-C ends", address=address), flush=True)
    return live


class LivePage:
    """A server in a thread of this program."""

    def __init__(self, lookers: Sequence[Any]) -> None:
        from regard.serve.access import Access
        from regard.serve.http_app import make_app
        from regard.serve.models import Shelf
        from regard.serve.request_limits import ALONE, RequestLimits
        from regard.serve.server_address import address_of, listen
        from regard.serve.server_process import make_server

        models = [getattr(each, "run", each) for each in lookers]
        self._listener = listen(HOST, 0)
        self.address = address_of(self._listener).rstrip("/")
        self._shelf: Shelf = Shelf(lambda: models, RequestLimits(seconds=ALONE), daemon=True)
        app = make_app(self._shelf, Access(), log=lambda line: None)
        self._server: Server = make_server(app, self._shelf, "")
        self._thread = threading.Thread(target=self._run, name="regard live page", daemon=True)
        self._thread.start()
        if not _is_interactive():
            self._end_with_the_program()
        while not self._server.started and self._thread.is_alive():
            self._thread.join(0.01)

    def _run(self) -> None:
        with self._listener:
            try:
                self._server.run(sockets=[self._listener])
            finally:
                self._shelf.worker.stop()

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join()

    def _end_with_the_program(self) -> None:
        """Not before Ctrl-C, whether that comes while the program runs or at its end."""
        atexit.register(self._wait)
        others = sys.excepthook

        def hook(
            kind: type[BaseException], value: BaseException, trace: TracebackType | None
        ) -> None:
            if issubclass(kind, KeyboardInterrupt):
                self._stop()
                if others is sys.__excepthook__:  # else another page, say, that ends too
                    return
            others(kind, value, trace)

        sys.excepthook = hook

    def _wait(self) -> None:
        try:
            while self._thread.is_alive():
                self._thread.join(0.2)
        except KeyboardInterrupt:
            self._stop()

    def _stop(self) -> None:
        self.close()
        print(t("stopped"), flush=True)


def _is_interactive() -> bool:
    """Whether somebody types: a page then lives as long as their session."""
    return hasattr(sys, "ps1") or "ipykernel" in sys.modules
