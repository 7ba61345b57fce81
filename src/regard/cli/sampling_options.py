"""Options of commands that write text: it is searched for, or drawn."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from regard.cli.options import LARGEST_SEED
from regard.words import t

Sample = Annotated[bool, typer.Option("--sample", help="Draw instead of searching.")]
Temperature = Annotated[
    float | None, typer.Option(metavar="T", help="Temperature of the draws; above 1: bolder.")
]
TopK = Annotated[
    int | None,
    typer.Option(min=0, max=1_000_000, metavar="K", help="Draw among the K likeliest."),
]
TopP = Annotated[
    float | None, typer.Option(metavar="P", help="Draw among the likeliest of mass P.")
]
Seed = Annotated[
    int | None, typer.Option(min=0, max=LARGEST_SEED, metavar="N", help="Seed of the draws.")
]


def search_options(
    sample: bool,
    beam: int | None,
    draws: dict[str, float | int | None],
    *,
    nbest: int = 1,
) -> dict[str, Any]:
    """The options as `regard.search.Search` has them; those that were not given stay the run's."""
    given = {name: value for name, value in draws.items() if value is not None}
    if given and not sample:
        option = "--" + next(iter(given)).replace("_", "-")
        raise typer.BadParameter(
            t("{option} is for texts that are drawn: add --sample", option=option)
        )
    for name, most in (("temperature", 1000), ("top_p", 1)):
        if not 0 < (value := given.get(name, 1)) <= most:
            option = "--" + name.replace("_", "-")
            raise typer.BadParameter(
                t(
                    "{option} is {value}: it is above 0 and at most {most}",
                    option=option,
                    value=f"{value:g}",
                    most=most,
                )
            )
    if sample and beam is not None:
        raise typer.BadParameter(
            t("--beam is for texts that are searched for: drop it or --sample")
        )
    if beam is not None and nbest > beam:
        raise typer.BadParameter(
            t(
                "--nbest {nbest} needs a beam at least as wide, not --beam {beam}",
                nbest=nbest,
                beam=beam,
            )
        )
    if sample:
        return {"method": "sample", "nbest": nbest, **given}
    return {"beam": beam, "nbest": nbest}
