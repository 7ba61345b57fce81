"""YAML as people write it: the scalars of YAML 1.2, no key twice, and the line of every value.

PyYAML reads YAML 1.1, where `1e-3` is text and `no` (Norwegian) is false. Here only true and false
are truth values, 1e-3 is a number, and yes, no, on and off are words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from regard.recipe.mistakes import RecipeError, shortened
from regard.words import t

Path = tuple[str | int, ...]

# The core schema of https://yaml.org/spec/1.2.2/#103-core-schema: tag, pattern, first characters.
SCALARS = [
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
        r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
]


@dataclass(frozen=True)
class Written:
    """How a value was written, and where: `a.yaml, line 3`, or nowhere for a word of a command."""

    text: str | None  # None: a list or a mapping
    place: str = ""


class YamlLoader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str, list[Any]] = {}  # noqa: RUF012, as PyYAML has it

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()
            raise yaml.MarkedYAMLError(
                problem=f"write out what *{event.anchor} stands for", problem_mark=event.start_mark
            )
        return super().compose_node(parent, index)


class YamlDumper(yaml.SafeDumper):
    yaml_implicit_resolvers: dict[str, list[Any]] = {}  # noqa: RUF012

    def ignore_aliases(self, data: Any) -> bool:
        return True


for _tag, _pattern, _first in SCALARS:
    for _class in (YamlLoader, YamlDumper):
        _class.add_implicit_resolver(
            f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), _first
        )


def _integer(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    return int(node.value, {"0o": 8, "0x": 16}.get(node.value[:2], 10))


YamlLoader.add_constructor("tag:yaml.org,2002:int", _integer)


def load(text: str, place: str = "") -> tuple[Any, dict[Path, Written]]:
    """The value that `text` holds, and how and where each part of it was written."""
    written: dict[Path, Written] = {}
    try:
        loader = YamlLoader(text)
        node = loader.get_single_node()
        return (None if node is None else _value(loader, node, (), place, written)), written
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = (
            t(" at line {line}, column {column}", line=mark.line + 1, column=mark.column + 1)
            if mark
            else ""
        )
        what = error.problem or error.context
    except yaml.reader.ReaderError as error:
        what, where = f"character {error.position + 1} cannot be part of a text", ""
    except RecursionError:
        what, where = "lists or mappings are nested too deeply", ""
    raise RecipeError(
        t(
            "{value} cannot be read: {what}{where}",
            value=place or shortened(repr(text)),
            what=what,
            where=where,
        )
    )


def dump(value: Any) -> str:
    """YAML that `load` reads back as the same value, keys in their order."""
    return yaml.dump(value, Dumper=YamlDumper, sort_keys=False, allow_unicode=True, width=100)


def _value(
    loader: YamlLoader,
    node: yaml.Node,
    path: Path,
    place: str,
    written: dict[Path, Written],
    key: yaml.Node | None = None,
) -> Any:
    """key: what it is the value of. A section begins where its key stands, not at the first key in it."""
    where = f"{place}, line {(key or node).start_mark.line + 1}" if place else ""
    written[path] = Written(node.value if isinstance(node, yaml.ScalarNode) else None, where)
    if isinstance(node, yaml.SequenceNode):
        return [
            _value(loader, item, (*path, index), place, written)
            for index, item in enumerate(node.value)
        ]
    if isinstance(node, yaml.MappingNode):
        return {
            key.value: _value(loader, item, (*path, key.value), place, written, key)
            for key, item in _items(node, path)
        }
    return loader.construct_object(node)


def _items(node: yaml.MappingNode, path: Path) -> Iterator[tuple[yaml.ScalarNode, yaml.Node]]:
    seen: set[str] = set()
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            problem = t("a key is one word")
        elif key.value in seen:
            problem = t(
                "the key {map} is there twice, again",
                map=repr(".".join(map(str, (*path, key.value)))),
            )
        else:
            seen.add(key.value)
            yield key, value
            continue
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
