"""Write the tables of names into docs/names.md and its Chinese page, from `regard.terms`.

python docs/scripts/name_tables.py
"""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

from regard.terms import SEVERAL, TERMS

DOCS = Path(__file__).parents[1]
PAGES = (DOCS / "names.md", DOCS / "names.zh-CN.md")
PLACE = re.compile(r"(<!-- (terms|several) -->\n).*?(?=<!-- end of \2 -->)", re.DOTALL)
HEADS = {
    "names.md": {
        "terms": ("here", "English", "Chinese"),
        "several": ("name", "where", "write"),
        "kinds": {
            "score": "Scores",
            "region": "Regions",
            "normalizer": "Normalisers",
            "pooling": "Poolings",
        },
    },
    "names.zh-CN.md": {
        "terms": ("这里的名字", "英文", "中文"),
        "several": ("名字", "写在哪里", "应写"),
        "kinds": {
            "score": "打分函数",
            "region": "区域",
            "normalizer": "归一化",
            "pooling": "池化",
        },
    },
}


def with_tables(text: str, page: str) -> str:
    """The page with its tables as the names are now."""
    heads = HEADS[page]
    makers = {"terms": _terms, "several": _several}
    return PLACE.sub(lambda place: f"{place[1]}\n{makers[place[2]](heads)}\n\n", text)


def _terms(heads: dict) -> str:
    parts = []
    for kind, terms in groupby(TERMS, key=lambda term: term.kind):
        rows = [
            f"| {_linked(kind, term.ours)} | {_code(term.english)} | {_code(term.chinese)} |"
            for term in terms
        ]
        parts.append("\n".join([f"**{heads['kinds'][kind]}**", "", *_head(heads["terms"]), *rows]))
    return "\n\n".join(parts)


def _several(heads: dict) -> str:
    rows = []
    for each in SEVERAL:
        meanings = "; ".join(f"`{ours}`: {what}" for what, ours in each.meanings)
        kinds = ", ".join(heads["kinds"][kind].lower() for kind in each.kinds)
        rows.append(f"| {_code(each.names)} | {kinds} | {meanings} |")
    return "\n".join([*_head(heads["several"]), *rows])


def _head(names: tuple[str, ...]) -> list[str]:
    return [f"| {' | '.join(names)} |", f"| {' | '.join('---' for _ in names)} |"]


def _linked(kind: str, name: str) -> str:
    return f"[`{name}`](mechanisms/{'pooling' if kind == 'pooling' else name}.md)"


def _code(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(with_tables(page.read_text("utf-8"), page.name), "utf-8")
