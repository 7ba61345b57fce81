"""The small language that names mechanisms: ``additive``, ``window(5, 5) & causal``, ``softmax(0.5)``.

A name is written as in the documentation or as the class (``predicted-window``, ``PredictedWindow``),
arguments as in Python, regions are joined by ``&``, ``|`` and ``~``. Sizes that the caller knows
(``query_size``, ``key_size``, ``heads``) need not be written: ``additive(128)`` has hidden size 128.
A name of the field that means one thing is understood (``global``, ``全局``): `regard.terms`. A name that
regard does not have is looked for among what other packages bring: `regard.plugins`;
``package.module:Class(3)`` is a class where it stands.
"""

from __future__ import annotations

import ast
import inspect
import math
import re
import reprlib
from collections.abc import Mapping
from keyword import kwlist
from typing import Any, cast

from regard import plugins
from regard.registry import KindError, UnknownKind, class_at
from regard.suggestions import meant, nearest
from regard.terms import Kind, in_our_words, meanings_of, names_of, plain, shorter
from regard.words import t

PLACE = re.compile(r"""(?<![\w.'"])([A-Za-z_][\w.]*):([A-Za-z_]\w*)""")
RESERVED = re.compile(
    rf"\b(?:{'|'.join(set(kwlist) - {'None', 'True', 'False'})})\b"
)  # as `global`
AT = ".__at__."  # in its place, so that Python can read it
EXAMPLES = {"max_length": 50}  # of an argument that is missing; of others 5
# Regions that are made of tensors, so that no text can name them: how each is written.
OF_TENSORS = {"prefix": "regions.Prefix(lengths)", "documents": "regions.Documents(ids)"}


def build(text: str, kind: str, table: Mapping[str, type], **sizes: Any) -> Any:
    """The mechanism that `text` names. `table` holds the names, `sizes` what the caller knows.

    >>> from regard.attention.regions import REGIONS
    >>> build("window(2, 0) | ~causal", "region", REGIONS)
    Window(before=2, after=0) | ~Causal()
    """
    written = in_our_words(text.strip(), cast(Kind, kind), lambda: _names(kind, table))
    try:
        # 'predicted-window' is one name, not a subtraction; 'module:Class' is one too
        readable = re.sub(r"(?<=[^\W\d])-(?=[^\W\d])", "_", written)
        readable = RESERVED.sub(r"\g<0>_", readable)
        tree = ast.parse(PLACE.sub(rf"\1{AT}\2", readable), mode="eval").body
        return _evaluate(tree, text, kind, table, sizes)
    except SyntaxError as error:
        place = " " * max(min(error.offset or 1, len(written) + 1) - 1, 0) + "^"
        raise ValueError(
            t(
                "cannot read the {kind} {text}:\n  {written}\n  {place}\nwrite a name, or a name "
                "with arguments: {examples}",
                kind=kind,
                text=repr(text),
                written=written,
                place=place,
                examples=_examples(kind),
            )
        ) from None
    except (RecursionError, MemoryError):
        raise ValueError(
            t("the {kind} {text} … is joined of too many parts", kind=kind, text=repr(text[:60]))
        ) from None


def _evaluate(
    node: ast.expr, text: str, kind: str, table: Mapping[str, type], sizes: dict[str, Any]
) -> Any:
    def inside(child: ast.expr) -> Any:
        return _evaluate(child, text, kind, table, sizes)

    match node:
        case ast.BinOp(left, ast.BitAnd(), right) if kind == "region":
            return inside(left) & inside(right)
        case ast.BinOp(left, ast.BitOr(), right) if kind == "region":
            return inside(left) | inside(right)
        case ast.UnaryOp(ast.Invert(), operand) if kind == "region":
            return ~inside(operand)
        case ast.Call(called, args, keywords) if name := _name(called):
            named = {k.arg: _constant(k.value, text, kind) for k in keywords if k.arg}
            return _make(name, [_constant(a, text, kind) for a in args], named, kind, table, sizes)
        case _ if name := _name(node):
            return _make(name, [], {}, kind, table, sizes)
    raise ValueError(
        t(
            "cannot read {unparse} in the {kind} {text}: write a name, or a name with "
            "arguments: {examples}",
            unparse=repr(ast.unparse(node)),
            kind=kind,
            text=repr(text),
            examples=_examples(kind),
        )
    )


def _name(node: ast.expr) -> str:
    """`dot` or `package.module:Class`; empty: it is no name."""
    if isinstance(node, ast.Name):
        return node.id
    return ast.unparse(node).replace(AT, ":") if AT in ast.unparse(node) else ""


def _constant(node: ast.expr, text: str, kind: str) -> Any:
    if isinstance(node, ast.Name):  # a bare word is a string: causal(end)
        words = {"true": True, "false": False, "none": None, "inf": math.inf, "nan": math.nan}
        return words.get(node.id.lower(), node.id)
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise ValueError(
            t(
                "cannot read the argument {unparse} in the {kind} {text}: write a number, a "
                "word, true, false or none",
                unparse=repr(ast.unparse(node)),
                kind=kind,
                text=repr(text),
            )
        ) from None


def _make(
    name: str,
    args: list[Any],
    named: dict[str, Any],
    kind: str,
    table: Mapping[str, type],
    sizes: dict[str, Any],
) -> Any:
    cls = _look_up(name, kind, table)
    parameters = inspect.signature(cls).parameters
    # sizes known to the caller leave the positional places to what is left
    known = {k: v for k, v in sizes.items() if k in parameters and k not in named}
    free = [p for p in parameters.values() if p.name not in known]
    written = [p.name for p in free if p.kind is not p.KEYWORD_ONLY]
    usage = f"{spelling(cls, kind, table) or name}({', '.join(str(p) for p in _untyped(free))})"
    if len(args) > len(written):
        raise ValueError(
            t(
                "{usage} was given {count} arguments: {map}",
                usage=usage,
                count=len(args),
                map=", ".join(map(repr, args)),
            )
        )
    named = dict(zip(written, args, strict=False)) | named
    for key in named:
        if key not in parameters:
            raise ValueError(
                t(
                    "{usage} has no argument {key}.{meant}",
                    usage=usage,
                    key=repr(key),
                    meant=meant(key, parameters),
                )
            )
    missing = [p.name for p in free if p.default is p.empty and p.name not in named]
    if missing:
        numbers = ", ".join(str(EXAMPLES.get(p, 5)) for p in missing)
        raise ValueError(
            t(
                "{usage} needs {missing}, as in {example}",
                usage=usage,
                missing=", ".join(missing),
                example=f"{usage.partition('(')[0]}({numbers})",
            )
        )
    for key, value in named.items():
        if isinstance(parameters[key].default, bool) and not isinstance(value, bool):
            raise ValueError(
                t(
                    "{key} of {usage} must be true or false, not {value}",
                    key=key,
                    usage=usage,
                    value=repr(value),
                )
            )
    try:
        return cls(**named, **known)
    except TypeError as error:
        raise ValueError(
            t("{usage} cannot be made of {named}: {error}", usage=usage, named=named, error=error)
        ) from None
    except ValueError:
        raise
    except Exception as error:
        if cls in table.values():
            raise
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise plugins.BrokenPlugin(
            t(
                "{usage} of {module} cannot be made: {said}",
                usage=usage,
                module=cls.__module__,
                said=said,
            )
        ) from error


def _look_up(name: str, kind: str, table: Mapping[str, type]) -> type:
    spelt = {plain(key): cls for key, cls in table.items()}
    if (found := spelt.get(plain(name))) is not None:
        return found
    if ":" in name:
        return _standing_at(name, kind, table)
    known = _names(kind, table)
    for theirs in known[len(table) :]:
        if plain(theirs) == plain(name):
            return _brought(theirs, kind, table)
    written = name.removesuffix("_").replace("_", "-")
    bare = min([written, *shorter(written)], key=len)
    hint = meanings_of(name, cast(Kind, kind)) or meant(bare, known)
    hint = hint or _near_term(bare, cast(Kind, kind)) or meant(bare, known, cutoff=0.5)
    if kind == "region" and (made := OF_TENSORS.get(plain(name))):
        hint = t(" It takes a tensor, which no text holds: give {made}.", made=made)
    raise UnknownKind(
        t(
            "no {kind} {written}.{hint} The {kind}s: {known}.",
            kind=kind,
            written=repr(written),
            hint=hint,
            known=", ".join(sorted(known)),
        ),
        needs=(kind, written),
    )


def _near_term(name: str, kind: Kind) -> str:
    """` Did you mean 'global', which is 'everywhere' here?`, of a name of the field spelt so; or ""."""
    names = names_of(kind)
    near = nearest(name, names, cutoff=0.7)
    if near is None or near == names[near]:
        return ""
    return t(
        " Did you mean {near}, which is {names} here?", near=repr(near), names=repr(names[near])
    )


def _names(kind: str, table: Mapping[str, type]) -> tuple[str, ...]:
    """All names of a kind: regard's own, and those that other packages bring."""
    return (*table, *plugins.names(_group(kind), table))


def _brought(name: str, kind: str, table: Mapping[str, type]) -> type:
    """The class that another package brings, which must be of the same kind as regard's own."""
    found = plugins.load(_group(kind), name)
    if isinstance(found, type) and issubclass(found, _base(kind, table)):
        return found
    raise plugins.BrokenPlugin(
        t(
            "{origin} cannot be used: it is no {capitalize} but ",
            origin=plugins.origin(_group(kind), name),
            capitalize=kind.capitalize(),
        )
        + reprlib.repr(found)
    )


def _standing_at(place: str, kind: str, table: Mapping[str, type]) -> type:
    """The class at `package.module:Class`."""
    try:
        found = class_at(place)
    except KindError as error:
        raise plugins.BrokenPlugin(str(error), error.hint, needs=error.needs) from error
    if isinstance(found, type) and issubclass(found, _base(kind, table)):
        return found
    raise plugins.BrokenPlugin(
        t(
            "{place} is no {capitalize} but {repr}",
            place=place,
            capitalize=kind.capitalize(),
            repr=reprlib.repr(found),
        ),
        plugins.UnusableName.hint,
    )


def _base(kind: str, table: Mapping[str, type]) -> type:
    """Score, Region or Normalizer: what all of regard's own descend from."""
    ancestors = next(iter(table.values())).__mro__
    return next(cls for cls in ancestors if cls.__name__ == kind.capitalize())


def _group(kind: str) -> str:
    return f"regard.{kind}s"


def _untyped(parameters: list[inspect.Parameter]) -> list[inspect.Parameter]:
    return [p.replace(annotation=p.empty) for p in parameters]


def spelling(cls: type, kind: str, table: Mapping[str, type]) -> str | None:
    """The name that a class is written by; None: it has none."""
    own = (name for name, known in table.items() if known is cls)
    return next(own, None) or plugins.name_of(_group(kind), cls)


def _examples(kind: str) -> str:
    return {
        "score": "'additive', 'cosine(temperature=0.1)'",
        "region": "'causal', 'window(5, 5) & causal(end)'",
    }.get(kind, "'softmax', 'softmax(0.5)'")
