"""The page as one module and one stylesheet."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from regard.view import bundle

PAGE = Path(str(files("regard.view") / "page"))
NAMESPACE = "http://www.w3.org/2000/svg"
TOP = re.compile(
    r"^(?:export )?(?:async )?(?:function|const|let|class) ([\w$]+)"
    r"|^(?:export )?(?:const|let) \{([^}]*)\}",
    re.MULTILINE,
)


def top_names(text: str) -> list[str]:
    found = []
    for single, several in TOP.findall(text):
        found += (
            [single] if single else [name.split(":")[-1].strip() for name in several.split(",")]
        )
    return found


def test_every_file_of_the_page_is_in_the_bundle() -> None:
    assert sorted(bundle.module_files()) == sorted(file.name for file in PAGE.glob("*.js"))
    for file in PAGE.glob("*.css"):
        assert file.read_text(encoding="utf-8").strip() in bundle.stylesheet()


def test_files_come_after_those_they_import() -> None:
    order = bundle.module_files()
    assert order[-1] == "main.js"
    for place, name in enumerate(order):
        for found in bundle.IMPORT.finditer((PAGE / name).read_text(encoding="utf-8")):
            assert order.index(found["file"]) < place, f"{name} imports {found['file']}"


def test_no_import_is_left_and_one_default_export() -> None:
    text = bundle.module()
    assert not re.search(r"^\s*import\b(?!\()", text, re.MULTILINE)
    assert not re.search(r"\bimport\s*\(\s*[\"'`]\.", re.sub(r"/\*.*?\*/", "", text, flags=re.S))
    exports = re.findall(r"^export .*$", text, re.MULTILINE)
    assert exports == ["export { servedModel, staticModel };", "export default { render };"]


def test_names_are_unique_across_files() -> None:
    owner: dict[str, str] = {}
    for name in bundle.module_files():
        for each in top_names((PAGE / name).read_text(encoding="utf-8")):
            assert each not in owner, f"{each} is in {owner[each]} and in {name}"
            owner[each] = name
    assert {"render", "h", "readRecord", "createStore"} <= owner.keys()


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node: apt install nodejs")
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
    monkeypatch.setattr(bundle, "_text", texts.__getitem__)
    with pytest.raises(ValueError, match=r"main\.js → a\.js → b\.js → a\.js"):
        bundle.module_files()
