"""The `regard` command. Nothing heavy is imported here: a command imports what it needs."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

import regard
from regard.cli.demo import demo

DEBUG = "REGARD_DEBUG"

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help, and no wait for rich
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Attention you can choose, train, measure and see."""
    if version:
        typer.echo(f"regard {regard.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit: 0 done, 1 it failed, 2 it was asked wrongly, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(
            stream, "reconfigure"
        ):  # a terminal without UTF-8 shows ? rather than a traceback
            stream.reconfigure(errors="replace")
    try:
        status = app(arguments, prog_name="regard", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        status = 130
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        status = _complain(error)
    sys.exit(status if isinstance(status, int) else 0)


def _complain(error: Exception) -> int:
    if hasattr(error, "format_message"):  # a mistake in the command line, found by typer
        message, status = error.format_message(), 2
        context = getattr(error, "ctx", None)
        hint = f"{context.command_path if context else 'regard'} --help lists what there is"
    else:
        message, status = str(error) or type(error).__name__, 1
        hint = f"{DEBUG}=1 regard … shows where it happened"
    message = " ".join(message.split())
    print(f"error: {message[:1].lower()}{message[1:]}\nhint: {hint}", file=sys.stderr)
    return status
