"""The page as one ES module, in which every file keeps a scope of its own, and as one stylesheet.

A file becomes a function that runs once and returns what the file exports; an import takes names
from what it returned. JSON becomes a constant:

    const $elements_dom = (() => { …; return { fill, h, s }; })();
    const $drawing_view = (() => { const { h } = $elements_dom; …; return { viewOf }; })();

`main.js` comes last and stays outside a function: its exports are those of the module. This is no
parser: imports and exports begin a line, and one in a form that is not known here is refused.
"""

from __future__ import annotations

import json
import posixpath
import re
from functools import cache
from importlib.resources import files
from typing import NoReturn

from regard.words import t

PAGE = "view/page"
FIRST = f"{PAGE}/main.js"
NAME = r"[A-Za-z_$][\w$]*"
FROM = r'\s*from\s*"(?P<file>\.{1,2}/[^"\n]+)"(?P<json>\s*with\s*\{\s*type:\s*"json"\s*\})?;'
IMPORT = re.compile(rf"^import\b\s*(?P<what>\{{[^}}]*\}}|\*\s*as\s+{NAME}|{NAME}){FROM}", re.M)
PASSED_ON = re.compile(rf"^export\b\s*(?P<what>\{{[^}}]*\}}|\*){FROM}", re.M)
LISTED = re.compile(r"^export\s*\{(?P<names>[^}]*)\};", re.M)
DECLARED = re.compile(rf"^export (?=(?:(?:async )?function\*?|const|class) (?P<name>{NAME}))", re.M)
LEFT = re.compile(r"^(?:import\b(?!\s*[(.])|export\b).*", re.M)
LEFT_IN_FIRST = re.compile(r"^(?:import\b(?!\s*[(.])|export\b[^;]*?\bfrom\s*\").*", re.M)
RENAMED = re.compile(rf"({NAME})(?:\s+as\s+({NAME}))?")
DOCUMENTED = re.compile(r"^[ \t]*/\*\*(?:(?!\*/).)*\*/[ \t]*\n", re.M | re.S)


@cache
def module() -> str:
    """One module with `export default { render }`, in the shape that anywidget loads."""
    return "\n\n".join(_bundled(name) for name in module_files()) + "\n"


@cache
def stylesheet() -> str:
    page = files("regard") / PAGE
    names = sorted(entry.name for entry in page.iterdir() if entry.name.endswith(".css"))
    names.sort(key=lambda name: name != "viewer.css")  # the panels build on the variables of it
    return "\n".join(_text(f"{PAGE}/{name}").strip() for name in names) + "\n"


def module_files() -> list[str]:
    """The files that `main.js` needs, from src/regard, each after those that it imports."""
    order: list[str] = []
    _visit(FIRST, order, ())
    return order


def imports_of(name: str) -> list[str]:
    """The files that a file takes names from."""
    if name.endswith(".json"):
        return []
    text = _text(name)
    found = [*IMPORT.finditer(text), *PASSED_ON.finditer(text)]
    return [_path(name, each["file"]) for each in found]


def _visit(name: str, order: list[str], above: tuple[str, ...]) -> None:
    if name in above:
        circle = " → ".join(map(_short, (*above, name)))
        raise ValueError(
            t("the page's files import each other in a circle: {circle}", circle=circle)
        )
    if name in order:
        return
    for needed in imports_of(name):
        _visit(needed, order, (*above, name))
    order.append(name)


def _bundled(name: str) -> str:
    text = _text(name)
    if name.endswith(".json"):
        compact = json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
        return f"const {_constant(name)} = {compact};"
    exported: list[str] = []  # as they stand in the object that the function returns

    def imported(found: re.Match[str]) -> str:
        what, source = found["what"], _constant(_path(name, found["file"]))
        if what.startswith("{"):
            pairs = _pairs(name, text, found, what[1:-1])
            return f"const {{ {_listed(pairs)} }} = {source};"
        if what.startswith("*"):
            return f"const {what.split()[-1]} = {source};"
        if not found["json"]:
            _refuse(name, text, found.start(), "only JSON has a default export to import")
        return f"const {what} = {source};"

    def passed_on(found: re.Match[str]) -> str:
        source = _constant(_path(name, found["file"]))
        if found["what"] == "*":
            exported.append(f"...{source}")
        else:
            pairs = _pairs(name, text, found, found["what"][1:-1])
            exported.extend(f"{theirs}: {source}.{ours}" for ours, theirs in pairs)
        return ""

    def listed(found: re.Match[str]) -> str:
        pairs = _pairs(name, text, found, found["names"])
        exported.append(_listed([(theirs, ours) for ours, theirs in pairs]))
        return ""

    def declared(found: re.Match[str]) -> str:
        exported.append(found["name"])
        return ""

    code = IMPORT.sub(imported, DOCUMENTED.sub("", text))
    is_first = name == FIRST
    if not is_first:
        code = DECLARED.sub(declared, LISTED.sub(listed, PASSED_ON.sub(passed_on, code)))
    if left := (LEFT_IN_FIRST if is_first else LEFT).search(code):
        _refuse(name, text, text.find(left[0]), "the page's modules are joined without a parser")
    if is_first:
        return code.strip()
    returned = f"return {{ {', '.join(exported)} }};"
    return f"const {_constant(name)} = (() => {{\n{code.strip()}\n{returned}\n}})();"


def _pairs(name: str, text: str, found: re.Match[str], names: str) -> list[tuple[str, str]]:
    """[("a", "a"), ("b", "c")] of "a, b as c"."""
    pairs = []
    for each in filter(None, (part.strip() for part in names.split(","))):
        parts = RENAMED.fullmatch(each)
        if parts is None or "default" in parts.groups():
            _refuse(name, text, text.find(found[0]), f"{each!r} is no name, or name as other")
        pairs.append((parts[1], parts[2] or parts[1]))
    return pairs


def _listed(pairs: list[tuple[str, str]]) -> str:
    return ", ".join(one if one == other else f"{one}: {other}" for one, other in pairs)


def _refuse(name: str, text: str, at: int, why: str) -> NoReturn:
    line = text[at:].partition("\n")[0]
    raise ValueError(
        t(
            "{short}, line {count}: {line}\n{why}; write import { a, b as c } or * as d "
            "from a file, and export before a function, class or const, or as a list of "
            "names",
            short=_short(name),
            count=text.count(chr(10), 0, at) + 1,
            line=line,
            why=why,
        )
    )


def _path(importing: str, file: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(importing), file))


def _short(name: str) -> str:
    return name.removeprefix(f"{PAGE}/")


def _constant(name: str) -> str:
    return "$" + re.sub(r"\W", "_", posixpath.splitext(_short(name))[0])


def _text(name: str) -> str:
    return (files("regard") / name).read_text(encoding="utf-8")
