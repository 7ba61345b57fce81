"""The colours and fonts of the viewer for pages that are not the viewer: a report, a comparison.

They are read from the viewer's own stylesheet, so that there is one palette.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

LIGHT, DARK = ".regard", '.regard[data-theme="dark"]'
VARIABLE = re.compile(r"^\s*(?:--[\w-]+|color-scheme):[^;]+;", re.M)


@cache
def palette() -> str:
    """:root with the viewer's variables, by day and by night."""
    viewer = (files("regard.view") / "page" / "viewer.css").read_text(encoding="utf-8")
    day, night = (_variables(viewer, selector) for selector in (LIGHT, DARK))
    return f":root {{ {day} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {night} }} }}\n"


def _variables(stylesheet: str, selector: str) -> str:
    """Those that the rule of exactly this selector sets."""
    rule = re.search(rf"^{re.escape(selector)} \{{(.*?)^\}}", stylesheet, re.M | re.S)
    assert rule, f"no rule for {selector} in viewer.css"
    return " ".join(found.strip() for found in VARIABLE.findall(rule[1]))
