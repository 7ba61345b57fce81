"""How a command ends when it cannot go on: two lines and a status."""

from __future__ import annotations

import errno
import sys

from regard.cli.misuse_words import spoken_misuse
from regard.recipe.mistakes import RecipeError, shortened
from regard.runs.failures import OtherRecipe
from regard.words import say, t

DEBUG = "REGARD_DEBUG"
FAILED, MISUSED, INTERRUPTED = 1, 2, 130
WRONG_PATH = (FileNotFoundError, NotADirectoryError, IsADirectoryError, FileExistsError)
NO_PATH = (errno.ENAMETOOLONG, errno.ELOOP)


def complain(error: Exception) -> int:
    """Say what was wrong and what helps, on standard error; the status to exit with."""
    hint = getattr(
        error, "hint", t("{variable}=1 regard … shows where it happened", variable=DEBUG)
    )
    message = str(error) or type(error).__name__
    wrong_path = isinstance(error, WRONG_PATH) or getattr(error, "errno", None) in NO_PATH
    read_only = getattr(error, "errno", None) == errno.EROFS
    misused = (
        wrong_path or read_only or isinstance(error, (RecipeError, OtherRecipe, PermissionError))
    )
    status = getattr(error, "status", MISUSED if misused else FAILED)
    if hasattr(error, "format_message"):  # a mistake in the command line, found by typer
        context = getattr(error, "ctx", None)
        message, status = spoken_misuse(error.format_message()), MISUSED
        command = context.command_path if context else "regard"
        hint = t("{command} --help lists what there is", command=command)
    elif isinstance(error, OSError) and error.strerror:
        path = shortened(repr(str(error.filename)))
        message = error.strerror + (f": {path}" if error.filename else "")
    if wrong_path and not hasattr(error, "hint"):
        hint = t("paths are looked up from this folder; data also under $REGARD_DATA")
    elif isinstance(error, PermissionError):
        hint = t("ls -l says who may read and write it")
    elif read_only or (isinstance(error, OSError) and error.errno == errno.ENOSPC):
        hint = t("free some space, or write elsewhere")
    print(t("error: {message}", message=_sentence(say(message))), file=sys.stderr)
    print(t("hint: {hint}", hint=say(hint)), file=sys.stderr)
    return status


def _sentence(text: str) -> str:
    first, *rest = text.split()
    return " ".join([first.lower() if first[1:].islower() else first, *rest])
