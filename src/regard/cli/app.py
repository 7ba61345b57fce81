"""The commands of `regard`. Nothing heavy is imported here: a command imports what it needs."""

from __future__ import annotations

from typing import Annotated

import typer

import regard
from regard.cli.commands.align import align
from regard.cli.commands.classify import classify
from regard.cli.commands.compare import compare
from regard.cli.commands.data import data
from regard.cli.commands.demo import demo
from regard.cli.commands.evaluate import evaluate
from regard.cli.commands.explain import explain
from regard.cli.commands.export import export
from regard.cli.commands.fill import fill
from regard.cli.commands.generate import generate
from regard.cli.commands.look import look
from regard.cli.commands.predict import predict
from regard.cli.commands.recipes import recipes
from regard.cli.commands.report import report
from regard.cli.commands.schema import schema
from regard.cli.commands.score import score
from regard.cli.commands.serve import serve
from regard.cli.commands.tour import tour
from regard.cli.commands.train import train
from regard.cli.commands.translate import translate
from regard.cli.plain_help import PlainCommand, PlainGroup

app = typer.Typer(
    cls=PlainGroup,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help, and no wait for rich
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (
    demo,
    train,
    compare,
    evaluate,
    report,
    predict,
    translate,
    look,
    explain,
    classify,
    generate,
    fill,
    score,
    align,
    export,
    serve,
    recipes,
    schema,
    tour,
)
for command in COMMANDS:
    app.command(cls=PlainCommand)(command)
app.add_typer(data, name="data")


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error happened, as REGARD_DEBUG=1 does.")
    ] = False,
    language: Annotated[
        str,
        typer.Option(
            "--language",
            metavar="en|zh",
            envvar="REGARD_LANGUAGE",
            help="The language of help, messages, pages and reports: English or Chinese; "
            "the terminal's, if not given.",
        ),
    ] = "",
) -> None:
    """Attention you can choose, train, measure and see.

    Try: regard demo
    """
    if version:
        typer.echo(f"regard {regard.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
