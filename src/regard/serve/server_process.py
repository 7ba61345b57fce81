"""The server as a process: from the address to Ctrl-C."""

from __future__ import annotations

import gc
import math
import signal
import socket
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn
from starlette.types import ASGIApp

from regard.serve.access import Access
from regard.serve.connections import connection_class, sweep
from regard.serve.http_app import make_app
from regard.serve.models import Shelf, distinct_names, run_in
from regard.serve.request_limits import RequestLimits
from regard.serve.server_address import address_of, check_token, listen
from regard.words import t

if TYPE_CHECKING:
    from regard.looking.guests.guest_model import GuestModel
    from regard.runs.loaded_run import LoadedRun


GRACE = 2  # seconds that answers may take to leave when the server is stopped


class Server(uvicorn.Server):
    """Prints its address once it can answer; when it is stopped, it refuses at once what is waiting.

    Ctrl-C that is ignored when the server starts, as under nohup, stays ignored.
    """

    def __init__(self, config: uvicorn.Config, shelf: Shelf, greeting: str) -> None:
        super().__init__(config)
        self.shelf, self.greeting = shelf, greeting
        self.deaf = signal.getsignal(signal.SIGINT) is signal.SIG_IGN

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if sig != signal.SIGINT or not self.deaf:
            super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.greeting:
            print(self.greeting, flush=True)

    async def on_tick(self, counter: int) -> bool:
        sweep(self.server_state.connections)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.shelf.worker.stop()
        await super().shutdown(sockets)


def serve(
    runs: Sequence[Path],
    *,
    host: str,
    port: int,
    token: str | None = None,
    device: str | None = None,
    quantize: str | None = None,
    beam: int | None = None,
    batch: int = RequestLimits.batch,
    seconds: float = RequestLimits.seconds,
    guests: Sequence[Path] = (),
) -> None:
    """Serve until Ctrl-C. guests: folders of Hugging Face models. No run and no guest: the embedded model.

    seconds: that an answer may take.
    """
    check_token(host, token)
    for guest in guests:
        _check_guest(guest)
    listener = listen(host, port)
    with listener:
        if runs or guests:
            distinct_names([*runs, *guests])  # one named twice is told before any is loaded
        shelf = Shelf(
            lambda: _load(runs, guests, device, quantize),
            RequestLimits(batch=batch, seconds=seconds),
            beam=beam,
            warm=_warm,
        )
        gc.collect()
        gc.freeze()  # what is loaded stays: the collector need not scan it while clients wait
        try:
            _serve(shelf, Access(token), listener)
        finally:
            shelf.worker.stop()
            shelf.worker.join()


def _check_guest(folder: Path) -> None:
    """What cannot be served is told before anything is loaded."""
    from regard.looking.guests.folder_checks import check_folder

    check_folder(folder)


def _load(
    runs: Sequence[Path], guests: Sequence[Path], device: str | None, quantize: str | None
) -> list[LoadedRun | GuestModel]:
    from regard.runs.loaded_run import load
    from regard.training.allocator import keep_memory

    keep_memory()
    names: list[Path | None] = [*runs] or ([] if guests else [None])
    loaded: list[LoadedRun | GuestModel] = []
    loaded += [load(run, device=device, quantize=quantize) for run in names]
    if guests:
        from regard.looking.guests.model_folder import load_guest

        loaded += [load_guest(guest, device=device) for guest in guests]
    return loaded


def _warm(models: Sequence[LoadedRun | GuestModel]) -> None:
    """Compile now what long texts need, not while the first client to send one waits."""
    for run in filter(None, map(run_in, models)):
        run.task.warm(run.module)


def make_server(app: ASGIApp, shelf: Shelf, greeting: str) -> Server:
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # it shows what follows the ?: the guard writes its own
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=math.ceil(shelf.limits.idle),
        http=connection_class(shelf.limits),
    )
    return Server(config, shelf, greeting)


def _serve(shelf: Shelf, access: Access, listener: socket.socket) -> None:
    names = ", ".join(served.name for served in shelf)
    where = {"names": names, "address": address_of(listener)}
    if access.token:
        greeting = t(
            "{names} at {address}: open it in a browser and give the token; Ctrl-C ends", **where
        )
    else:
        greeting = t("{names} at {address}: open it in a browser; Ctrl-C ends", **where)
    try:
        make_server(make_app(shelf, access), shelf, greeting).run(sockets=[listener])
    except KeyboardInterrupt:  # uvicorn hands it on after a clean end
        print(t("stopped"), flush=True)
