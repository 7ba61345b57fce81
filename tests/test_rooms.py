"""Rooms know their place: imports go down the table of docs/architecture.md; some are never needed."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "regard"
TABLE = re.compile(r"```rooms\n(.*?)```", re.DOTALL)
MOST_FILES = 25  # in a folder
# A file is called by a noun. These end in "ing" and are nouns:
NOUNS_IN_ING = {
    "embedding": "the vectors of tokens",
    "padding": "what fills a batch up",
    "pooling": "the literature's word for many states made one vector; also a public address",
    "recording": "called like its one function, `with recording(model)`",
    "steering": "called like its one function, `with steering(model, plan)`",
    "teacher_forcing": "the literature's word",
}


def rooms() -> dict[str, int]:
    """Each room and its level, 0 at the ground; rooms of one level do not know each other."""
    (table,) = TABLE.findall((ROOT / "docs" / "architecture.md").read_text("utf-8"))
    lines = [line.split("—")[0].split() for line in table.splitlines() if line.strip()]
    return {room: level for level, names in enumerate(reversed(lines)) for room in names}


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "regard"


def imports(path: Path) -> set[str]:
    """The modules of regard that a file imports, in functions too, but not for types alone."""
    found: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        if isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = node.module == "regard"
            found.update(f"regard.{n.name}" if whole else node.module for n in node.names)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text("utf-8")))
    return {name for name in found if name.split(".")[0] == "regard"}


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = [path for path in SOURCE.rglob("*.py") if path.parent != SOURCE]


def test_every_room_is_in_the_table():
    there = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").is_file()}
    there |= {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__"}
    assert there == set(rooms())


FILE = re.compile(r"`([\w/]+\.py)`")


def test_every_file_that_the_page_names_is_there():
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    named = [name for name in FILE.findall(page) if not name.startswith("tests/")]
    assert len(named) > 20
    assert [name for name in named if not (SOURCE / name).is_file()] == []


def test_a_journey_passes_a_dozen_files_at_most():
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    for journey in re.findall(r"^### .*?(?=^##)", page, flags=re.DOTALL | re.MULTILINE):
        assert 6 <= len(set(FILE.findall(journey))) <= 12, journey.splitlines()[0]


def test_imports_go_down():
    level = rooms()
    wrong = []
    for path in SOURCE.rglob("*.py"):
        mine = room_of(module_of(path))
        if mine not in level:  # the package itself, which shows what is inside
            continue
        for name in imports(path):
            other = room_of(name)
            if other in level and other != mine and level[other] >= level[mine]:
                wrong.append(f"{path.relative_to(SOURCE)} imports {name}")
    assert not wrong, "\n".join(sorted(wrong))


@pytest.mark.parametrize(
    ("statement", "never"),
    [
        ("import regard; regard.load()", ("regard.training", "regard.report", "lightning")),
        ("import regard.view", ("regard.training", "regard.runs", "regard.tasks", "regard.recipe")),
        (
            "from regard.recipe.recipe_files import read_recipe; read_recipe('zh-en')",
            ("torch", "regard.tasks.task", "regard.runs"),
        ),
        ("import regard.cli.app", ("torch", "pydantic", "numpy", "yaml")),
    ],
)
def test_what_is_never_needed(statement, never):
    program = f"import sys; {statement}; print(*sys.modules, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    for name in never:
        assert not [m for m in loaded if m == name or m.startswith(f"{name}.")], name


def test_no_class_name_is_there_twice():
    seen: dict[str, list[str]] = {}
    for path in FILES:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                seen.setdefault(node.name, []).append(module_of(path))
    twice = {name: modules for name, modules in seen.items() if len(modules) > 1}
    assert not twice


def test_no_file_name_is_there_twice():
    names: dict[str, list[str]] = {}
    for path in FILES:
        # a command is called what its file is called
        if path.stem != "__init__" and path.parent.name != "commands":
            names.setdefault(path.stem, []).append(str(path.relative_to(SOURCE)))
    twice = {name: paths for name, paths in names.items() if len(paths) > 1}
    assert not twice


def test_a_file_is_called_by_a_noun():
    """`fitting` and `picking` do not say of what; a folder may, as `training` does."""
    paths = [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.js"), *(ROOT / "benchmarks").rglob("*.py")]
    found = {path.stem for path in paths if path.stem.endswith("ing")}
    assert found == NOUNS_IN_ING.keys()


def test_no_folder_is_crowded():
    folders = [SOURCE, *(path for path in SOURCE.rglob("*") if path.is_dir())]
    for folder in folders:
        files = [p for p in folder.iterdir() if p.suffix in (".py", ".js", ".css")]
        assert len(files) <= MOST_FILES, folder


SCRIPTS = [*(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "docs" / "scripts").glob("*.py")]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_what_a_script_imports_of_regard_is_there(script):
    for node in ast.walk(ast.parse(script.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "regard":
            room = (ROOT / "src").joinpath(*str(node.module).split("."))
            names = {name.name for name in node.names} - {path.stem for path in room.glob("*.py")}
            if "triton" not in str(node.module):  # which needs triton
                module = importlib.import_module(str(node.module))
                assert not [name for name in names if not hasattr(module, name)]


def test_no_reference_points_outside_the_repository():
    """A letter and a number in brackets are of a document that readers do not have."""
    number = re.compile(r"\((?:[BCD]\d+(?:, )?)+\)")
    places = [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.js"), *(ROOT / "tests").rglob("*.py")]
    places += [*(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "examples").rglob("*.py")]
    assert not [
        str(p) for p in places if p.name != "test_rooms.py" and number.search(p.read_text("utf-8"))
    ]
