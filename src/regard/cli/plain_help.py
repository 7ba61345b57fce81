"""What all commands have in common: plain help in the reader's language, and no empty values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from regard.words import say, t

COMMAND = re.compile(r"(Example|Try): (.*)")
ADDED = re.compile(r"  \[([^][]*)\]$")  # by typer to what an option is for: [default: 64; required]
OF_HELP = "Show this message and exit."  # what typer says of --help


class SpokenHelp(typer.Context.formatter_class):  # type: ignore[misc,valid-type]
    """Help stands in the source in English and is translated when it is shown."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, args, t("Usage: ") if prefix is None else prefix)

    def write_text(self, text: str) -> None:
        super().write_text(_spoken(text))

    def write_dl(self, rows: Sequence[tuple[str, str]], *sizes: Any, **named: Any) -> None:
        super().write_dl([(name, _of_option(said)) for name, said in rows], *sizes, **named)

    @contextmanager
    def section(self, name: str) -> Iterator[None]:
        names = {
            "Arguments": t("Arguments"),
            "Options": t("Options"),
            "Commands": t("Commands"),
        }
        with super().section(names.get(name, name)):
            yield


class _Spoken:
    """A command or a group of them whose help is a `SpokenHelp`."""

    help: str | None

    def get_help(self, ctx: Any) -> str:
        formatter = SpokenHelp(width=ctx.terminal_width, max_width=ctx.max_content_width)
        self.format_help(ctx, formatter)  # type: ignore[attr-defined]
        return str(formatter.getvalue()).rstrip("\n")

    def get_short_help_str(self, limit: int = 45) -> str:
        english, self.help = self.help, _spoken(self.help or "")
        try:
            shortened: str = super().get_short_help_str(limit)  # type: ignore[misc]
            return shortened
        finally:
            self.help = english


class PlainGroup(_Spoken, TyperGroup):
    """A command that has commands."""


class PlainCommand(_Spoken, TyperCommand):
    """Its help names an argument alone, RECIPE, not RECIPE <str>; `--run ''` is no folder."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        for parameter in self.params:
            if isinstance(parameter, TyperArgument):
                vars(parameter)["display_type_rich"] = lambda **_: None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse an empty value before it is read as this folder, or as no number."""
        given, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for parameter in order:
            value = given.get(parameter.name or "")
            empty = "" in value if isinstance(value, list) else value == ""
            if isinstance(parameter, TyperOption) and empty:
                raise typer.BadParameter(
                    t("it is empty: give a value, or leave it out"), ctx=ctx, param=parameter
                )
        return super().parse_args(ctx, args)


def _spoken(text: str) -> str:
    """A docstring in the reader's language; commands in it stay as they are."""
    paragraphs = (" ".join(part.split()) for part in text.strip().split("\n\n"))
    return "\n\n".join(map(_paragraph, paragraphs))


def _paragraph(text: str) -> str:
    found = COMMAND.fullmatch(text)
    if not found:
        return say(text)
    example = found[1] == "Example"
    return (
        t("Example: {command}", command=found[2])
        if example
        else t("Try: {command}", command=found[2])
    )


def _of_option(text: str) -> str:
    """What an option is for, and what typer adds to that."""
    added = ADDED.search(text)
    said = text[: added.start()] if added else text
    said = t("Show this message and exit.") if said == OF_HELP else say(said)
    return f"{said}  [{'; '.join(map(_condition, added[1].split('; ')))}]" if added else said


def _condition(text: str) -> str:
    name, _, value = text.partition(": ")
    if name == "default":
        return t("default: {value}", value=value)
    if name == "env var":
        return t("env var: {name}", name=value)
    return t("required") if text == "required" else text
