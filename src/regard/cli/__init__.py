"""The `regard` command: `main` runs it, app.py lists the commands, each has a file."""

from __future__ import annotations

import os
import sys

import typer

from regard.cli.app import app
from regard.cli.failures import DEBUG, INTERRUPTED, complain


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit: 0 done, 1 it failed, 2 it was asked wrongly, 130 interrupted."""
    _speak_utf8()
    # numba colours its errors, and for that writes an escape code to the terminal at the end
    os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
    words = sys.argv[1:] if arguments is None else list(arguments)
    debugging = _debugging(words)
    try:
        status = app(words, prog_name="regard", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    except Exception as error:
        if debugging:
            raise
        status = complain(error)
    sys.exit(status if isinstance(status, int) else 0)


def _debugging(words: list[str]) -> bool:
    """Whether tracebacks are wanted; `--debug`, anywhere before `--`, is taken out of the words."""
    end = words.index("--") if "--" in words else len(words)
    asked = "--debug" in words[:end]
    words[:end] = [word for word in words[:end] if word != "--debug"]
    return asked or bool(os.environ.get(DEBUG))


def _speak_utf8() -> None:
    """Pipes and files get UTF-8; a terminal without it shows ? rather than a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            piped = {} if stream.isatty() else {"encoding": "utf-8", "newline": "\n"}
            stream.reconfigure(errors="replace", **piped)
