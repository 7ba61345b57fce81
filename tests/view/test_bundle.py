"""The page as one module and one stylesheet."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from regard.view import bundle

REGARD = Path(str(files("regard")))
PAGE = REGARD / bundle.PAGE
NAMESPACE = "http://www.w3.org/2000/svg"
NEEDS_NODE = pytest.mark.skipif(
    shutil.which("node") is None, reason="needs node: apt install nodejs"
)


@pytest.fixture
def page_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[dict[str, str]], str]:
    """page_of({"main.js": …}): what node prints where it runs the bundle of these files."""

    def made(texts: dict[str, str]) -> str:
        def text(name: str) -> str:
            return texts[name.removeprefix(f"{bundle.PAGE}/")]

        monkeypatch.setattr(bundle, "_text", text)
        file = tmp_path / "made.mjs"
        file.write_text(bundle.module.__wrapped__(), encoding="utf-8")
        run = subprocess.run(["node", str(file)], capture_output=True, text=True, check=False)
        return run.stdout + run.stderr

    return made


def test_every_file_of_the_page_is_in_the_bundle() -> None:
    there = {file.relative_to(REGARD).as_posix() for file in PAGE.rglob("*.js")}
    assert {name for name in bundle.module_files() if name.endswith(".js")} == there
    for file in PAGE.glob("*.css"):
        assert file.read_text(encoding="utf-8").strip() in bundle.stylesheet()


def test_folders_stay_small_and_file_names_are_unique() -> None:
    modules = list(PAGE.rglob("*.js"))
    assert len({file.name for file in modules}) == len(modules)
    for folder in {file.parent for file in modules}:
        assert sum(1 for _ in folder.iterdir()) <= 25


def test_files_come_after_those_they_import() -> None:
    order = bundle.module_files()
    assert order[-1] == bundle.FIRST
    for place, name in enumerate(order):
        for needed in bundle.imports_of(name):
            assert order.index(needed) < place, f"{name} imports {needed}"


def test_no_import_is_left_and_one_default_export() -> None:
    text = bundle.module()
    assert not re.search(r"^\s*import\b(?!\()", text, re.MULTILINE)
    assert not re.search(r"\bimport\s*\(\s*[\"'`]\.", re.sub(r"/\*.*?\*/", "", text, flags=re.S))
    exports = re.findall(r"^export .*$", text, re.MULTILINE)
    assert exports == ["export { servedModel, staticModel };", "export default { render };"]


@NEEDS_NODE
def test_each_file_has_a_scope_of_its_own(page_of: Callable[[dict[str, str]], str]) -> None:
    printed = page_of(
        {
            "main.js": 'import { a as first } from "./one.js";\n'
            'import { a } from "./deep/two.js";\n'
            "console.log(first, a());\nexport default { a };\n",
            "one.js": "const hidden = 1;\nexport const a = hidden;\n",
            "deep/two.js": "const hidden = 2;\nexport async function b() {}\n"
            "export function a() { return hidden; }\n",
        }
    )
    assert printed == "1 2\n"


@NEEDS_NODE
def test_the_ways_to_import_and_to_export(page_of: Callable[[dict[str, str]], str]) -> None:
    printed = page_of(
        {
            "main.js": 'import {\n  one,\n  two as second,\n} from "./names.js";\n'
            'import * as all from "./passed.js";\n'
            'import data from "./data.json" with { type: "json" };\n'
            'import { Thing, renamed, one as again, star } from "./passed.js";\n'
            "console.log(one, second, all.one, renamed, again, star, new Thing().x, data.list);\n",
            "names.js": "/** A note\n * on types. */\nconst one = 1;\n"
            "const inner = 2;\nexport { one, inner as two };\n",
            "passed.js": 'export { one, two as renamed } from "./names.js";\n'
            'export * from "./star.js";\nexport class Thing { x = 3; }\n',
            "star.js": "export const star = 4;\n",
            "data.json": '{"list": [5, 6]}',
        }
    )
    assert printed == "1 2 1 2 1 4 3 [ 5, 6 ]\n"


@pytest.mark.parametrize(
    "line",
    [
        'import "./a.js";',
        'import a from "./a.js";',
        'import { default as a } from "./a.js";',
        "import { a } from './a.js';",
        "export let a = 1;",
        "export const { a } = {};",
        "export default 1;",
        "export { a, /* b */ c };",
    ],
)
def test_what_it_cannot_join_is_refused_with_the_line(
    line: str, page_of: Callable[[dict[str, str]], str]
) -> None:
    main = 'import * as b from "./b.js";\nexport default { b };\n'
    with pytest.raises(ValueError, match=r"b\.js, line 2: " + re.escape(line)):
        page_of({"main.js": main, "b.js": f"// begins\n{line}\n", "a.js": "export const a = 1;\n"})


@NEEDS_NODE
def test_the_bundle_is_a_module_that_node_can_read(tmp_path: Path) -> None:
    file = tmp_path / "viewer.mjs"
    file.write_text(bundle.module(), encoding="utf-8")
    run = subprocess.run(
        ["node", "--check", str(file)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr


def test_nothing_names_another_place() -> None:
    for text in (bundle.module(), bundle.stylesheet()):
        assert not re.search(r"https?://|@import|url\((?!data:)", text.replace(NAMESPACE, ""))


def test_it_can_lie_inside_an_html_file() -> None:
    assert "</script" not in bundle.module()
    assert "</style" not in bundle.stylesheet()


def test_text_never_becomes_markup() -> None:
    dangerous = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
    assert not re.search(dangerous, bundle.module())


def test_a_circle_of_imports_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "main.js": 'import { a } from "./a.js";\n',
        "a.js": 'import { b } from "./b.js";\n',
        "b.js": 'import { a } from "./a.js";\n',
    }
    monkeypatch.setattr(bundle, "_text", lambda name: texts[name.removeprefix(f"{bundle.PAGE}/")])
    with pytest.raises(ValueError, match=r"main\.js → a\.js → b\.js → a\.js"):
        bundle.module_files()
