"""What all commands have in common: plain help, and no option that is given without a value."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperOption


class PlainCommand(TyperCommand):
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
                    "it is empty: give a value, or leave it out", ctx=ctx, param=parameter
                )
        return super().parse_args(ctx, args)
