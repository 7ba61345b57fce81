"""The `regard` command: `main` runs it, app.py lists the commands, each has a file."""

from __future__ import annotations

import os
import sys
import warnings

import typer

from regard.cli.app import app
from regard.cli.error_lines import DEBUG, INTERRUPTED, complain
from regard.cli.standard_streams import abandon_output, flush_output, prepare_streams
from regard.words import LANGUAGES, VARIABLE, language_named, speak, t


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit: 0 done, 1 it failed, 2 it was asked wrongly, 130 interrupted."""
    prepare_streams()
    # numba colours its errors, and for that writes an escape code to the terminal at the end
    os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
    words = _read_utf8(sys.argv[1:]) if arguments is None else list(arguments)
    debugging = _debugging(words)
    speak(_locale())
    if not debugging:  # then where it comes from is wanted too
        warnings.formatwarning = lambda message, *_: f"{t('warning: {message}', message=message)}\n"
    try:
        _set_language(words)
        status = app(words, prog_name="regard", standalone_mode=False)
        flush_output()
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    except Exception as error:
        if debugging:
            raise
        status = complain(error)
        abandon_output()
    sys.exit(status if isinstance(status, int) else 0)


def _debugging(words: list[str]) -> bool:
    """Whether tracebacks are wanted; `--debug`, anywhere before `--`, is taken out of the words."""
    end = words.index("--") if "--" in words else len(words)
    asked = "--debug" in words[:end]
    words[:end] = [word for word in words[:end] if word != "--debug"]
    return asked or bool(os.environ.get(DEBUG))


def _set_language(words: list[str]) -> None:
    """As `--language` says, anywhere before `--`; it is taken out of the words.

    A variable says it, so that the processes that are started speak it too.
    """
    end = words.index("--") if "--" in words else len(words)
    kept: list[str] = []
    given = iter(words[:end])
    for word in given:
        name, equals, said = word.partition("=")
        if name != "--language":
            kept.append(word)
            continue
        said = said if equals else next(given, "")
        if language_named(said) not in LANGUAGES:
            there = ", ".join(f"{short} ({name})" for short, name in LANGUAGES.items())
            raise typer.BadParameter(
                t("--language {said}: there are {languages}", said=repr(said), languages=there)
            )
        os.environ[VARIABLE] = language_named(said)
    words[:end] = kept


def _locale() -> str:
    """What the terminal speaks, as other programs read it."""
    return next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")


def _read_utf8(words: list[str]) -> list[str]:
    """Words that the locale cannot read, as Chinese ones where it is ASCII, are UTF-8."""
    return [
        word if word.isprintable() else os.fsencode(word).decode("utf-8", "surrogateescape")
        for word in words
    ]
