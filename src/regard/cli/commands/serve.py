"""`regard serve`: the page and a JSON API over HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from regard.cli.options import Beam, Device, Guests, Int8, ServedRuns


def serve(
    models: ServedRuns = None,
    guests: Guests = None,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="Where to listen; anything but this machine needs --token."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="Port to listen on; 0: a free one.")
    ] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="REGARD_TOKEN",
            show_default=False,
            metavar="TOKEN",
            help="Answer only to those who know it.",
        ),
    ] = None,
    beam: Beam = None,
    batch: Annotated[
        int, typer.Option(min=1, max=1024, metavar="N", help="Sentences in one call of a model.")
    ] = 64,
    seconds: Annotated[
        float, typer.Option(min=1, max=86_400, metavar="N", help="How long an answer may take.")
    ] = 30,
    device: Device = None,
    int8: Int8 = False,
) -> None:
    """Serve models: the page to look at them, and a JSON API.

    Example: regard serve -m runs/zh-en --port 8080

    Example: regard serve --hf bert-base-uncased
    """
    from regard.time_left import say_loading

    say_loading()
    from regard.serve.server_process import serve as run

    run(
        models or [],
        host=host,
        port=port,
        token=token,
        device=device,
        quantize="int8" if int8 else None,
        beam=beam,
        batch=batch,
        seconds=seconds,
        guests=guests or [],
    )
