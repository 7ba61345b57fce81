"""What typer says of a mistake in a command line, in the reader's language; in English as typer says it."""

from __future__ import annotations

import re
from collections.abc import Callable

from regard.words import ENGLISH, language, t

Said = Callable[[re.Match[str]], str]
SAID: list[tuple[re.Pattern[str], Said]] = [
    (
        re.compile(r"No such command '(.*?)'\.(.*)"),
        lambda found: t("No such command '{name}'.{more}", name=found[1], more=in_words(found[2])),
    ),
    (
        re.compile(r"No such option: ([^ ]*?)\.?( .*)?"),
        lambda found: t(
            "No such option: {name}{more}", name=found[1], more=in_words(found[2] or "")
        ),
    ),
    (
        re.compile(r" Did you mean (.*)\?"),
        lambda found: t(" Did you mean {near}?", near=found[1]),
    ),
    (
        re.compile(r"Missing (argument|option) '(.*)'\."),
        lambda found: (
            t("Missing argument '{name}'.", name=found[2])
            if found[1] == "argument"
            else t("Missing option '{name}'.", name=found[2])
        ),
    ),
    (
        re.compile(r"Missing command\."),
        lambda _: t("Missing command."),
    ),
    (
        re.compile(r"Option '(.*)' requires an argument\."),
        lambda found: t("Option '{name}' requires an argument.", name=found[1]),
    ),
    (
        re.compile(r"Got unexpected extra argument(?:s|\(s\))? \((.*)\)"),
        lambda found: t("Got unexpected extra arguments ({given})", given=found[1]),
    ),
    (
        re.compile(r"Invalid value for (.*?): (.*)", re.DOTALL),
        lambda found: t("Invalid value for {name}: {why}", name=found[1], why=in_words(found[2])),
    ),
    (
        re.compile(r"Invalid value: (.*)", re.DOTALL),
        lambda found: t("Invalid value: {why}", why=found[1]),
    ),
    (
        re.compile(r"('.*?') is not one of (.*)\."),
        lambda found: t("{value} is not one of {choices}.", value=found[1], choices=found[2]),
    ),
    (
        re.compile(r"Input should be a valid integer, .*"),
        lambda _: t("Input should be a valid integer"),
    ),
    (
        re.compile(r"Input should be a valid number, .*"),
        lambda _: t("Input should be a valid number"),
    ),
    (
        re.compile(r"Input should be greater than or equal to (.*)"),
        lambda found: t("Input should be {limit} or greater", limit=found[1]),
    ),
    (
        re.compile(r"Input should be greater than (.*)"),
        lambda found: t("Input should be greater than {limit}", limit=found[1]),
    ),
    (
        re.compile(r"Input should be less than or equal to (.*)"),
        lambda found: t("Input should be {limit} or less", limit=found[1]),
    ),
]


def spoken_misuse(message: str) -> str:
    """As typer says it in English, and wherever a mistake is not known here."""
    message = message.replace("Value error, ", "")  # pydantic's, of what is no choice
    return message if language() == ENGLISH else in_words(message)


def in_words(message: str) -> str:
    for pattern, said in SAID:
        if found := pattern.fullmatch(message):
            return said(found)
    return message
