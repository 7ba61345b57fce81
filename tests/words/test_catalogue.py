"""The list of all messages is complete, and translations fit it."""

from __future__ import annotations

import ast
import json
import re

import pytest

from regard.words import PLACEHOLDER
from regard.words.collect import (
    LISTED,
    REGARD,
    NoLiteral,
    Said,
    collected,
    everything_said,
    main,
    said_by_tasks,
    said_in_help,
    said_in_javascript,
    said_in_python,
    translation_problems,
    untranslated,
    without_values,
    written,
)


def test_the_list_is_complete_and_has_nothing_stale() -> None:
    listed = LISTED.read_text(encoding="utf-8")
    assert listed == written(collected()), "run: python -m regard.words.collect"
    assert "Export" in json.loads(listed)


SPEAKING = ("print", "typer.echo", "typer.BadParameter", "NotParallel", "say", "warn")


@pytest.mark.parametrize("room", ["cli", "training", "report"])
def test_nothing_is_said_that_is_not_a_message(room: str) -> None:
    """What is printed, asked or refused in these rooms is t(…), or put together from such."""
    forgotten = []
    for file in (REGARD / room).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and node.args:
                name = ast.unparse(node.func)
                speaks = name in SPEAKING or name.rpartition(".")[2] in ("say", "warn")
                if speaks and re.search(r"\b(?!regard\b)[A-Za-z]{3}", written_out(node.args[0])):
                    forgotten.append(f"{file.relative_to(REGARD)}, line {node.lineno}")
    assert forgotten == []


def written_out(node: ast.expr) -> str:
    """The text of a string or an f-string, without its values."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(written_out, node.values))
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def test_every_message_gets_its_values() -> None:
    assert [said for said in everything_said() if without_values(said)] == []


def test_translations_fit_their_messages() -> None:
    listed = json.loads(LISTED.read_text(encoding="utf-8"))
    for file in LISTED.parent.glob("*.json"):
        if file != LISTED:
            translated = json.loads(file.read_text(encoding="utf-8"))
            assert translation_problems(listed, translated) == [], file.name


def test_chinese_is_complete(capsys: pytest.CaptureFixture[str]) -> None:
    """python -m regard.words.collect tells what is missing, docs/translating.md how it is written."""
    assert main(["--check"]) == 0, capsys.readouterr().out


def test_what_is_not_translated_is_told() -> None:
    listed = dict.fromkeys(["Export", "{n} maps of {all}", "where", "BLEU", "{a}: {b}"])
    same = {message: message for message in listed}
    assert untranslated(listed, {}) == list(listed)
    assert untranslated(listed, same) == ["{n} maps of {all}", "where"]


NAMES = {"BLEU", "chrF", "recall@1", "recall@5", "recall@10", "{bound} nats"}
HAN = "[\u4e00-\u9fff]"


def test_chinese_is_written_as_chinese_is() -> None:
    """Words but names are translated; a blank stands between Chinese and Latin, and marks are full-width."""
    chinese = json.loads(LISTED.with_name("zh.json").read_text(encoding="utf-8"))
    texts = {
        (message, text)
        for message, said in chinese.items()
        for text in ([said] if isinstance(said, str) else said.values())
    }
    plain = {(message, PLACEHOLDER.sub("", text)) for message, text in texts}
    assert {m for m, text in plain if text.isascii() and re.search("[A-Za-z]{2}", text)} <= NAMES
    joined = rf"{HAN}[A-Za-z0-9$<-]|[A-Za-z0-9>%°]{HAN}"
    assert [text for _, text in plain if re.search(joined, text)] == []
    marks = rf"{HAN}[,:;?!(]|[,:;?!)]{HAN}|{HAN}\.(\s|$)"
    assert [text for _, text in texts if re.search(marks, text)] == []


def test_what_is_wrong_in_a_translation_is_told() -> None:
    listed = {"{n} tokens": {"where": [], "one": "one token"}, "Export": {"where": []}}
    right = {"{n} tokens": {"one": "一个词元", "other": "{n} 个词元"}, "Export": "导出"}
    assert translation_problems(listed, right) == []
    wrong = {"{n} tokens": "{count} 个词元", "Exprot": "导出", "Export": {"one": "导出"}}
    told = translation_problems(listed, wrong)
    assert len(told) == 3
    assert "count, n" in told[0]
    assert "nobody says 'Exprot'" in told[1]


def test_messages_are_found_in_javascript() -> None:
    code = """
      import { t } from "./messages.js"; // t("not this")
      /** t("nor this") */
      const said = [t("A “quoted” one"), start("no"), object.t("no")];
      const parts = t.parts("{word} here", { word: h("b") });
      const more = t.plural(count(of, "x"), "one", "{n} of {all}", { all: f(1, 2) });
      const deep = t("{a} and {b}", { a, b: `${t("inside")}, ${{}}` });
    """
    assert [(said.message, said.one, said.given) for said in said_in_javascript(code, "x.js")] == [
        ("A “quoted” one", None, frozenset()),
        ("{word} here", None, {"word"}),
        ("{n} of {all}", "one", {"n", "all"}),
        ("{a} and {b}", None, {"a", "b"}),
        ("inside", None, frozenset()),
    ]


def test_messages_are_found_in_python() -> None:
    code = 't("a " "b {x}", x=1)\nt.plural(n, "one", "{n} many")\nformat(t)\nother.t("no")\n'
    assert [(said.message, said.one, said.given) for said in said_in_python(code, "x.py")] == [
        ("a b {x}", None, {"x"}),
        ("{n} many", "one", {"n"}),
    ]


def test_help_is_found_in_docstrings_and_options() -> None:
    code = '''
def train(recipe: Annotated[str, typer.Argument(help="A name.")]) -> None:
    """Train a model,
    score it.

    More of it.

    Example: regard train zh-en
    """

def helper() -> None:
    """Nobody reads this in a terminal."""

@data.command("check")
def check_corpus() -> None:
    """Count."""
'''
    found = {said.message for said in said_in_help(code, "cli/commands/train.py")}
    assert found == {"Train a model, score it.", "More of it.", "A name.", "Count."}
    with pytest.raises(NoLiteral, match=r"train\.py, line 1"):
        list(said_in_help("Option(help=name)", "cli/commands/train.py"))


def test_what_a_task_calls_its_examples_is_found() -> None:
    code = 'class A:\n    noun: ClassVar[str] = "pairs"\n    learns: ClassVar = "labels"\n'
    found = {(said.message, said.one) for said in said_by_tasks(code, "tasks/a.py")}
    assert found == {("pairs", "pair"), ("labels", None)}


@pytest.mark.parametrize("code", ["t(name)", "t(`a ${b}`)", 't("a" + b)', "t.plural(n, one, many)"])
def test_what_is_not_written_out_is_refused(code: str) -> None:
    with pytest.raises(NoLiteral, match=r"x\.js, line 2"):
        list(said_in_javascript(f"\n{code};", "x.js"))


def test_a_missing_value_and_one_too_many_are_told() -> None:
    assert without_values(Said("x", 1, "{a} {b}", None, frozenset("bc"))) == {"a", "c"}
    assert not without_values(Said("x", 1, "{n} links", "one link", frozenset("n")))


def test_no_message_sends_to_a_file_that_an_installed_package_lacks() -> None:
    listed = json.loads(LISTED.read_text(encoding="utf-8"))
    named = {message for message in listed if "docs/" in message}
    assert named <= {"docs/extending.md walks through whole packages"}
