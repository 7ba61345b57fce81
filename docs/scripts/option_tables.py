"""Write the tables of options into docs/toolkit/models.md, from where the options are declared.

python docs/scripts/option_tables.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from regard import registry
from regard.models.attention_options import AttentionOptions, HeadOptions
from regard.models.transformer_options import BlockOptions
from regard.options import Options

PAGE = Path(__file__).parents[1] / "toolkit" / "models.md"
PLACE = re.compile(r"(?<=<!-- options -->\n).*?(?=<!-- end of options -->)", re.DOTALL)


def with_tables(page: str) -> str:
    """The page with its tables as the options are declared now."""
    return PLACE.sub(lambda _: tables(), page)


def tables() -> str:
    parts = []
    for kind in registry.BUILT_IN["models"]:
        options = registry.find("models", kind)
        common = " All of *every Transformer*, and:" if issubclass(options, BlockOptions) else ""
        title = f"**`model.kind={kind}`** (task {options.task}). {options.__doc__}{common}"
        known = BlockOptions.model_fields if common else {"kind": None}
        parts.append(_table(title, options, leave_out=known))
    parts += [
        _table("**Every Transformer.**", BlockOptions, leave_out={"kind": None}),
        _table("**`AttentionOptions`.** How a recurrent decoder attends.", AttentionOptions),
        _table("**`HeadOptions`.** How the heads of a Transformer attend.", HeadOptions),
    ]
    return "\n" + "\n\n".join(parts) + "\n\n"


def _table(title: str, options: type[Options], leave_out: Any = ()) -> str:
    fields = {name: f for name, f in options.model_fields.items() if name not in leave_out}
    rows = [f"| `{name}` | {_default(f)} | {_help(f)} |" for name, f in fields.items()]
    return "\n".join([title, "", "| option | default | |", "| --- | --- | --- |", *rows])


def _default(field: FieldInfo) -> str:
    value = field.default
    if isinstance(value, Options):
        return f"see `{type(value).__name__}`"
    words = {None: "not given", True: "`true`", False: "`false`"}
    if value is None or isinstance(value, bool):
        return words[value]
    return f"`[{', '.join(map(str, value))}]`" if isinstance(value, list) else f"`{value}`"


def _help(field: FieldInfo) -> str:
    choices = ", ".join(f"`{choice}`" for choice in _choices(field.annotation))
    said = (field.description or "").replace("|", r"\|")
    return f"{said} ({choices})" if choices else said


def _choices(annotation: Any) -> Iterator[str]:
    """The words that a type allows, also within a list of them."""
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    else:
        for part in get_args(annotation):
            yield from _choices(part)


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")
