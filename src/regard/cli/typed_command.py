"""The command that was typed, to be typed again with something added: a hint that works as it stands."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from typing import Any

import typer


def typed_again(context: typer.Context, *added: str, without: Collection[str] = ()) -> str:
    """added: options that are added. without: names of parameters that are left out."""
    options: list[str] = []
    texts: list[str] = []
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if name in without or source is None or source.name != "COMMANDLINE":
            continue
        value = context.params[name]
        if parameter.param_type_name == "argument":
            texts += map(str, _every(value))
        elif value is True:
            options.append(min(parameter.opts, key=len))
        else:
            options += [
                part for one in _every(value) for part in (min(parameter.opts, key=len), str(one))
            ]
    words = [*options, *added]
    guarded = any(text.startswith("-") for text in texts)
    words = [*words, "--", *texts] if guarded else [*texts, *words]
    return shlex.join(["regard", str(context.info_name), *words])


def _every(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
