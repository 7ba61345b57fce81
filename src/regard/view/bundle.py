"""The page as one ES module and one stylesheet: `page/*.js` joined in the order of their imports.

Files are joined, not compiled: the import lines and the word `export` go, the default export of
`main.js` stays. All files share one scope then, so a name at the top of one is in no other.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

FIRST = "main.js"
IMPORT = re.compile(r'^import\s[^"]*?from\s+"\./(?P<file>[\w-]+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class)\b)", re.MULTILINE)


@cache
def module() -> str:
    """One module with `export default { render }`, in the shape that anywidget loads."""
    joined = [IMPORT.sub("", EXPORT.sub("", _text(name))).strip() for name in module_files()]
    return "\n\n".join(joined) + "\n"


@cache
def stylesheet() -> str:
    page = files("regard.view") / "page"
    names = sorted(entry.name for entry in page.iterdir() if entry.name.endswith(".css"))
    names.sort(key=lambda name: name != "viewer.css")  # the panels build on the variables of it
    return "\n".join(_text(name).strip() for name in names) + "\n"


def module_files() -> list[str]:
    """The files that `main.js` needs, each after those that it imports."""
    order: list[str] = []
    _visit(FIRST, order, ())
    return order


def _visit(name: str, order: list[str], above: tuple[str, ...]) -> None:
    if name in above:
        raise ValueError(
            f"the page's files import each other in a circle: {' → '.join(above)} → {name}"
        )
    if name in order:
        return
    for found in IMPORT.finditer(_text(name)):
        _visit(found["file"], order, (*above, name))
    order.append(name)


def _text(name: str) -> str:
    return (files("regard.view") / "page" / name).read_text(encoding="utf-8")
