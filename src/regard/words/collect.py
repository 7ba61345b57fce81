"""Every message that is said in Python or on the page, written to en.json.

    python -m regard.words.collect            # after a change of what is said
    python -m regard.words.collect --check    # are en.json and the translations up to date?

en.json: message -> {"where": files that say it, "one": its form for one thing, where it counts any}.
Messages are what t() is given, the help of commands and of their options, what a task calls its examples, the
hints of errors, the kinds of problems that data have, and what the field's names mean.
A translation, zh.json: message -> text, or {"one": text, "other": text}.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from regard.words import ENGLISH, PLACEHOLDER, Translations
from regard.words.one_value import of_value

REGARD = Path(__file__).parents[1]
LISTED = Path(__file__).with_name(f"{ENGLISH}.json")
PAGE = "view/page/"
CAPTIONS = "view/captions.json"  # what pictures and the page both say
COMMANDS = "cli/"  # whose help is said when it is shown
TERMS = "terms.py"  # whose meanings are said when a name has several
TASKS = "tasks/"  # whose classes name what they are about
COUNTED, NAMED = ("noun",), ("scored", "learns", "verb")  # attributes of a task, in words
EXAMPLE = re.compile(r"(?:Example|Try): ")  # the rest is a command
SAID_IN_JS = re.compile(r"(?<![\w.$])t(?:(?P<plural>\.plural)|\.parts)?\(")
SENTENCE = re.compile(
    r"[A-Za-z]{2,}[ ,:]+[A-Za-z]{2,}|^[a-z]{3,}$"
)  # what has to be said in another language
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')


class Said(NamedTuple):
    """A message where it stands in the source; given: the names of its values, None if unknown."""

    where: str
    line: int
    message: str
    one: str | None
    given: frozenset[str] | None


class NoLiteral(ValueError):
    """A message that is not written out where it is said, so that nobody could translate it."""


def collected(root: Path = REGARD) -> dict[str, dict[str, Any]]:
    """All messages, in alphabetical order."""
    found: dict[str, dict[str, Any]] = {}
    for said in everything_said(root):
        entry = found.setdefault(said.message, {"where": set()})
        entry["where"].add(said.where)
        if said.one is not None and entry.setdefault("one", said.one) != said.one:
            raise ValueError(f"{said.where}: {said.message!r} has another form for one elsewhere")
    return {
        message: {**entry, "where": sorted(entry["where"])}
        for message, entry in sorted(found.items())
    }


def everything_said(root: Path = REGARD) -> Iterator[Said]:
    sources = {file: file.read_text(encoding="utf-8") for file in sorted(root.rglob("*.py"))}
    raised = frozenset().union(*map(names_of_errors, sources.values()))
    for file, text in sources.items():
        where = file.relative_to(root).as_posix()
        if file.parent != LISTED.parent:
            yield from said_of_errors(text, where, raised)
        if "regard.words import" in text and file.parent != LISTED.parent:
            yield from said_in_python(text, where)
        if where.startswith(COMMANDS):
            yield from said_in_help(text, where)
        if where.startswith(TASKS):
            yield from said_by_tasks(text, where)
        if where == TERMS:
            yield from said_of_terms(text, where)
    for file in sorted((root / PAGE).rglob("*.js")):
        text = file.read_text(encoding="utf-8")
        yield from said_in_javascript(text, file.relative_to(root).as_posix())
    captions = root / CAPTIONS
    if captions.is_file():
        for message in _texts(json.loads(captions.read_text(encoding="utf-8"))):
            yield Said(CAPTIONS, 1, message, None, None)


def said_in_python(text: str, where: str) -> Iterator[Said]:
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        if name not in ("t", "t.plural"):
            continue
        plural = name == "t.plural"
        texts = node.args[1:3] if plural else node.args[:1]
        literal = [each.value for each in texts if isinstance(each, ast.Constant)]
        if len(literal) != 1 + plural or not all(isinstance(each, str) for each in literal):
            raise NoLiteral(f"{where}, line {node.lineno}: t() of what is not written out there")
        names = {keyword.arg for keyword in node.keywords}
        given = None if None in names else frozenset(filter(None, names)) | {"n"} & {"n" * plural}
        one = str(literal[0]) if plural else None
        yield Said(where, node.lineno, str(literal[-1]), one, given)


def said_in_help(text: str, where: str) -> Iterator[Said]:
    """The docstrings of commands, a message a paragraph, and the help of their options."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and _is_command(node, where):
            for paragraph in paragraphs(ast.get_docstring(node) or ""):
                if not EXAMPLE.match(paragraph):
                    yield Said(where, node.lineno, paragraph, None, frozenset())
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg == "help":
                    yield Said(where, node.lineno, _literal(keyword.value, where), None, None)


def said_by_tasks(text: str, where: str) -> Iterator[Said]:
    """`noun: ClassVar = "pairs"`, which is "pair" where there is one, and other names of theirs."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            name = node.target.id
            if name in (*COUNTED, *NAMED) and "ClassVar" in ast.unparse(node.annotation):
                said = _literal(node.value, where)
                one = said[:-1] if name in COUNTED else None
                yield Said(where, node.lineno, said, one, None)


def said_of_terms(text: str, where: str) -> Iterator[Said]:
    """The pairs ("what is meant", "what to write"), where they are words and not a formula."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Tuple) and len(node.elts) == 2:
            for each in filter(_is_sentence, node.elts):
                yield Said(where, each.lineno, _literal(each, where), None, None)


def names_of_errors(text: str) -> frozenset[str]:
    """The constants that errors are made with: ANEW of `raise Damaged(t("…"), ANEW)`."""
    return frozenset(
        word.id
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and re.search(r"(?:^|\.)_?[A-Z]\w+$", ast.unparse(node.func))
        for word in node.args
        if isinstance(word, ast.Name) and word.id.isupper()
    )


def said_of_errors(text: str, where: str, raised: frozenset[str]) -> Iterator[Said]:
    """What is said when an error is shown: such constants, and the `hint` of a class of errors.

    And the kinds of problems in data, Unusable("{}lines without a number"), which are kept in English:
    say_kept says them.
    """
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            named = node.targets[0].id in raised | {"hint"}
            if named and _is_sentence(node.value):
                kept = _literal(node.value, where)
                yield from _of_lines_and_values(kept, where, node.lineno)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "Unusable" and node.args:
            yield from _of_lines_and_values(_template(node.args[0]), where, node.lineno)
        elif isinstance(node, ast.Return) and node.value and "{}lines" in _template(node.value):
            yield from _of_lines_and_values(_template(node.value), where, node.lineno)
        elif isinstance(node, ast.arguments):
            given = zip(reversed(node.args), reversed(node.defaults), strict=False)
            hints = [value for name, value in given if name.arg == "hint"]
            for value in filter(_is_sentence, hints):
                yield Said(where, value.lineno, _literal(value, where), None, None)


def _of_lines_and_values(kept: str, where: str, line: int) -> Iterator[Said]:
    """A kind of problem, of lines; and of a value, where it is of values."""
    for each in filter(None, [kept, of_value(kept) if "{}" in kept else ""]):
        yield Said(where, line, each, None, None)


def _is_sentence(node: ast.expr) -> bool:
    text = node.value if isinstance(node, ast.Constant) else None
    plain = isinstance(text, str) and not text.startswith(("<", "pip "))
    return plain and re.search(r"[a-z]{2,} [a-z]", str(text)) is not None


def _template(node: ast.expr) -> str:
    """A text with {1}, {2} for the values of an f-string; empty of what is none."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if not isinstance(node, ast.JoinedStr):
        return ""
    numbers = count(1)
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else f"{{{next(numbers)}}}"
        for part in node.values
    )


def paragraphs(text: str) -> list[str]:
    """Of a docstring, each in one line."""
    return [" ".join(part.split()) for part in text.strip().split("\n\n")]


def _is_command(node: ast.FunctionDef, where: str) -> bool:
    """A command is called like its file, or registered by a decorator."""
    registered = [ast.unparse(each) for each in node.decorator_list]
    return node.name == Path(where).stem or any(
        ".callback(" in each or ".command(" in each for each in registered
    )


def _literal(node: ast.expr, where: str) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise NoLiteral(f"{where}, line {node.lineno}: what people read is not written out there")


def said_in_javascript(text: str, where: str) -> Iterator[Said]:
    code = re.sub(
        r"(?:^|(?<=\s))//[^\n]*|/\*.*?\*/", _blanked, text, flags=re.MULTILINE | re.DOTALL
    )
    for found in SAID_IN_JS.finditer(code):
        line = code.count("\n", 0, found.start()) + 1
        if code[: found.start()].endswith("function "):
            continue
        plural = bool(found["plural"])
        parts = [part.strip() for part in _arguments(code, found.end())]
        texts = parts[1:3] if plural else parts[:1]
        if len(texts) != 1 + plural or not all(STRING.fullmatch(each) for each in texts):
            raise NoLiteral(f"{where}, line {line}: t() of what is not written out there")
        literal = [json.loads(each) for each in texts]
        values = parts[3:4] if plural else parts[1:2]
        given = _keys(values[0]) if values else frozenset()
        if given is not None and plural:
            given |= {"n"}
        yield Said(where, line, literal[-1], literal[0] if plural else None, given)


def without_values(said: Said) -> frozenset[str]:
    """Names in a message that get no value where it is said, or values that it does not have."""
    if said.given is None:
        return frozenset()
    wanted = placeholders(said.message) | placeholders(said.one or "")
    return (wanted ^ said.given) - ({"n"} if said.one is not None else set())


def placeholders(text: str) -> frozenset[str]:
    return frozenset(PLACEHOLDER.findall(text))


def untranslated(listed: Mapping[str, Any], translated: Translations) -> list[str]:
    """Messages without a translation, or with one that says the same English words."""
    return [
        message
        for message in listed
        if message not in translated
        or (translated[message] == message and SENTENCE.search(PLACEHOLDER.sub("", message)))
    ]


def translation_problems(listed: Mapping[str, Any], translated: Translations) -> list[str]:
    """What is wrong in a translation, beside what it lacks."""
    problems = []
    for message, translation in translated.items():
        if message not in listed:
            problems.append(f"nobody says {message!r} any more")
            continue
        forms = {"other": translation} if isinstance(translation, str) else translation
        if (
            not isinstance(forms, dict)
            or not set(forms) <= {"one", "other"}
            or "other" not in forms
        ):
            problems.append(f'{message!r} needs a text, or {{"one": text, "other": text}}')
            continue
        for form, text in forms.items():
            if text.count("{}") != message.count("{}"):
                problems.append(f"{message!r}: {text!r} has another number of {{}}")
            may_lack = {"n"} if form == "one" else set()
            odd = (placeholders(message) ^ placeholders(text)) - may_lack
            if odd:
                problems.append(f"{message!r}: {text!r} differs in {', '.join(sorted(odd))}")
    return problems


def written(messages: Mapping[str, Any]) -> str:
    return json.dumps(messages, ensure_ascii=False, indent=1) + "\n"


def main(arguments: list[str]) -> int:
    messages = collected()
    problems = []
    if arguments != ["--check"]:
        LISTED.write_text(written(messages), encoding="utf-8")
        print(f"{len(messages)} messages in {LISTED}")
    elif not LISTED.is_file() or LISTED.read_text(encoding="utf-8") != written(messages):
        problems.append(f"{LISTED.name} is stale: python -m regard.words.collect")
    for file in catalogues():
        translated = json.loads(file.read_text(encoding="utf-8"))
        problems += [f"{file.name}: {p}" for p in translation_problems(messages, translated)]
        missing = untranslated(messages, translated)
        problems += [f"{file.name} does not translate {each!r}" for each in missing]
    print("\n".join(problems) or f"{len(messages)} messages, all listed and translated")
    return 1 if problems and arguments == ["--check"] else 0


def catalogues() -> list[Path]:
    """The translations."""
    return [file for file in sorted(LISTED.parent.glob("*.json")) if file != LISTED]


def _arguments(code: str, start: int) -> list[str]:
    """The arguments of a call, from after its bracket; strings and brackets inside are kept whole."""
    parts, depth, begin, at = [], 0, start, start
    while at < len(code):
        if code[at] in "\"'`":
            at = _end_of_string(code, at)
            continue
        if code[at] in "([{":
            depth += 1
        elif code[at] in ")]}":
            depth -= 1
            if depth < 0:
                break
        elif code[at] == "," and depth == 0:
            parts.append(code[begin:at])
            begin = at + 1
        at += 1
    last = code[begin:at]
    return [*parts, last] if last.strip() else parts


def _end_of_string(code: str, at: int) -> int:
    quote = code[at]
    at += 1
    while at < len(code) and code[at] != quote:
        if quote == "`" and code.startswith("${", at):
            at += 2 + len(",".join(_arguments(code, at + 2)))
        at += 2 if code[at] == "\\" else 1
    return at + 1


def _keys(given: str) -> frozenset[str] | None:
    """The keys of an object that is written out; None of anything else."""
    if not given.startswith("{"):
        return None
    parts = [part.strip() for part in _arguments(given, 1)]
    names = [re.match(r"[\w$]+", part) for part in parts]
    return None if not all(names) else frozenset(name[0] for name in names if name)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)


def _blanked(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
