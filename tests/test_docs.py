"""The documentation cannot rot: its code runs, prints what it says, and its links lead somewhere.

Every page is one program: its ```python blocks run in order in one namespace. A ```text block right
after one is what it prints (`...` stands for anything). ```python no-run is not run.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import runpy
from pathlib import Path

import pytest

from regard.attention.normalizers import NORMALIZERS
from regard.attention.regions import REGIONS
from regard.attention.scores import SCORES
from regard.registry import BUILT_IN
from regard.terms import TERMS

ROOT = Path(__file__).parent.parent
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("README*.md"))]
STRUCTURES = ("attention", "multi-head", "pooling", "hierarchical")
BLOCK = re.compile(
    r"^```python[ \t]*(?P<mark>[\w-]*)\n(?P<code>.*?)^```\n(?:\n*^```text\n(?P<output>.*?)^```)?",
    re.MULTILINE | re.DOTALL,
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def prose(page: Path) -> str:
    """The page without its code, in which ](...) need not be a link."""
    return re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub links to them."""
    titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_code_of_a_page_runs_and_prints_what_the_page_says(page: Path) -> None:
    text = page.read_text("utf-8")
    scope = {"__name__": "documentation"}
    for block in BLOCK.finditer(text):
        if block["mark"] == "no-run":
            continue
        # blank lines in front, so that a traceback shows the line of the page
        before = "\n" * (text.count("\n", 0, block.start()) + 1)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(before + block["code"], str(page), "exec"), scope)
        if block["output"] is not None:
            same = doctest.OutputChecker().check_output(block["output"], printed.getvalue(), FLAGS)
            assert same, f"{name(page)} prints\n{printed.getvalue()}\nnot\n{block['output']}"


def test_every_line_of_the_classification_runs() -> None:
    text = (ROOT / "docs" / "README.md").read_text("utf-8")
    scope: dict[str, object] = {}
    for block in BLOCK.finditer(text):
        exec(block["code"], scope)
    lines = re.findall(r"^\|.*\| `(\w+\..*\))` \|$", text, re.MULTILINE)
    assert len(lines) > 20
    for line in lines:
        eval(line, scope)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_and_picture_of_a_page_is_there(page: Path) -> None:
    for link in LINK.findall(prose(page)):
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path) if path else page
        assert target.exists(), f"{name(page)} links to {link}, which is not there"
        if anchor:
            assert anchor in anchors(target), f"{name(page)} links to {link}: no such heading"


def test_files_that_are_shown_are_shown_as_they_are() -> None:
    text = (ROOT / "docs" / "extending.md").read_text("utf-8")
    shown = dict(re.findall(r"^<!-- file: (\S+) -->\n\n```[^\n]*\n(.*?)^```$", text, re.M | re.S))
    assert len(shown) == text.count("<!-- file: ") == 7
    for path, code in shown.items():
        assert code == (ROOT / path).read_text("utf-8"), f"docs/extending.md has another {path}"


@pytest.mark.parametrize("mechanism", [*SCORES, *REGIONS, *NORMALIZERS, *STRUCTURES])
def test_every_mechanism_has_a_page_with_its_picture_and_is_in_the_index(mechanism: str) -> None:
    page = ROOT / "docs" / "mechanisms" / f"{mechanism}.md"
    assert page.exists()
    assert f"(pictures/{mechanism}.svg)" in page.read_text("utf-8")
    assert f"(mechanisms/{mechanism}.md)" in (ROOT / "docs" / "README.md").read_text("utf-8")


def test_the_tables_of_options_are_as_the_options_are_declared() -> None:
    tables = runpy.run_path(str(ROOT / "docs" / "scripts" / "option_tables.py"))
    page = (ROOT / "docs" / "toolkit" / "models.md").read_text("utf-8")
    assert tables["with_tables"](page) == page, "make tables writes them again"
    assert all(f"model.kind={kind}`" in page for kind in BUILT_IN["models"])


def test_the_index_of_results_is_as_their_pages_say() -> None:
    index = runpy.run_path(str(ROOT / "docs" / "scripts" / "results_index.py"))
    page = (ROOT / "docs" / "results.md").read_text("utf-8")
    assert index["with_claims"](page) == page, "make tables writes it again"
    found = {one.file for one in index["result_pages"]()}
    assert {f"results/{path.name}" for path in ROOT.glob("docs/results/*.md")} <= found


@pytest.mark.parametrize("page", ["names.md", "names.zh-CN.md"])
def test_the_tables_of_names_are_as_the_names_are(page: str) -> None:
    tables = runpy.run_path(str(ROOT / "docs" / "scripts" / "name_tables.py"))
    text = (ROOT / "docs" / page).read_text("utf-8")
    assert tables["with_tables"](text, page) == text, "make tables writes them again"
    assert all(f"`{name}`" in text for term in TERMS for name in term.names)


@pytest.mark.parametrize("picture", sorted(ROOT.glob("docs/**/*.svg")), ids=lambda p: p.stem)
def test_every_picture_is_shown_somewhere(picture: Path) -> None:
    shown = re.compile(rf"[/(]{re.escape(picture.name)}\)")
    assert any(shown.search(page.read_text("utf-8")) for page in PAGES)
