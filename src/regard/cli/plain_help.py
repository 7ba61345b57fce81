"""Help that names an argument alone: RECIPE, not RECIPE <str>."""

from __future__ import annotations

from typing import Any

from typer.core import TyperArgument, TyperCommand


class PlainCommand(TyperCommand):
    """A command whose help leaves out the Python types of its arguments, as older typers do."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        for parameter in self.params:
            if isinstance(parameter, TyperArgument):
                vars(parameter)["display_type_rich"] = lambda **_: None
