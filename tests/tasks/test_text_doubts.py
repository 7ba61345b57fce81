"""Chinese that is cut at blanks, and tokens that nobody learnt, are told with what mends them."""

from __future__ import annotations

import pytest

from regard.cli.commands.evaluate import evaluate
from regard.cli.commands.predict import predict
from regard.data.fields import Document, Text
from regard.data.unspaced import is_unspaced
from regard.recipe.named_recipes import shipped_recipes
from regard.recipe.recipe import Recipe
from regard.recipe.recipe_files import read_recipe, recipe_for
from regard.runs.run_folder import RunFolder
from regard.tasks.recipe_task import task_of
from regard.tasks.text_doubts import (
    idle_tokenizers,
    unknown_answers,
    unknown_tokens,
    unspaced_texts,
)
from regard.training.progress_display import ProgressLines
from regard.training.run import train
from regard.training.run_preparation import prepare_data

CLAUSES = ["物流很快，包装也好。", "屏幕坏了不推荐购买"]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (CLAUSES, True),
        (["这本书写得真好 really good"], True),
        (["สวัสดีครับผมชอบหนังเรื่องนี้มาก"], True),
        (["物流 很 快 ， 包装 也 好 。"], False),
        (["ผม ชอบ หนังสือ เรื่อง นี้ มาก"], False),
        (["a word for 你好吗朋友, in a long English sentence of many other words"], False),
        (["오늘 날씨가 참 좋습니다"], False),
        (["12 ... !"], False),
        ([], False),
    ],
    ids=str,
)
def test_rows_of_letters_longer_than_words_are_clauses(texts, expected):
    assert is_unspaced(texts) is expected


def test_words_that_are_given_are_words():
    assert not Text("words", kind="split").unspaced([["物流很快", "包装也好"]])
    document = Document("document")
    assert document.unspaced([document.read("".join(CLAUSES))])


@pytest.mark.parametrize(
    ("recipe", "name"), [("lstm-mr", "text"), ("han-composed", "document")], ids=str
)
def test_the_option_is_named_where_words_are_cut(recipe, name):
    task = task_of(recipe_for(recipe))
    examples = [{name: task.fields[name].read(text), "label": "x"} for text in CLAUSES]
    (said,) = unspaced_texts(task, examples)
    assert "clauses" in said
    assert "tokenizer.source.kind=character" in said
    assert not unspaced_texts(task, [{name: task.fields[name].read("a film"), "label": "x"}])


def test_pieces_are_no_trouble_but_another_recipe_may_be(tmp_path):
    (tmp_path / "a.tsv").write_text("".join(f"{text}\tx\n" for text in CLAUSES), encoding="utf-8")
    task = task_of(recipe_for("classify"))
    assert not unspaced_texts(task, task.read(f"{tmp_path}/a.tsv"))
    assert "needs tokenizer.source.kind=character" in str(task.check(f"{tmp_path}/a.tsv"))
    assert "note:" not in str(task.check("mr:dev"))


@pytest.mark.parametrize(
    ("recipe", "name"), [("lstm-mr", "text"), ("han-composed", "document")], ids=str
)
def test_unknown_tokens_are_counted_by_hand(recipe, name):
    task = task_of(recipe_for(recipe))
    field = task.fields[name]
    field.learn([field.read("a b c d e a b c d e")])

    def examples(*texts):
        return [{name: field.read(text)} for text in texts]

    assert field.unknown(examples("a b zz", "yy c")) == (2, 5)
    assert not unknown_tokens(task, examples("a b c d e a b c d zz"))  # 10 % are not more than that
    (said,) = unknown_tokens(task, examples("a b zz", "yy c"), "dev")
    assert f"40 % of the dev {name} tokens (2 of 5) are unknown" in said
    assert "tokenizer.source.kind=bpe" in said
    assert not unknown_tokens(task, [])


@pytest.mark.parametrize(
    ("recipe", "written", "option"),
    [("pointer", "target", "target"), ("abs", "target", "target"), ("digit-names", "caption", "")],
)
def test_unknown_tokens_of_what_is_written_name_the_tokenizer_that_cuts_it(recipe, written, option):
    given = recipe_for(recipe)
    task = task_of(given)
    field = task.fields[written]
    field.learn(["a b c d e a b c d e"])
    if recipe != "digit-names":
        task.fields["source"].tokenizer = field.tokenizer
    examples = [{name: "a zz" if name == written else "a b" for name in task.fields}]
    (said,) = unknown_answers(task, examples, "dev")
    assert f"of the dev {written} tokens" in said
    assert "they cannot be written, and none of them counts as right" in said
    assert (f"tokenizer.{option}.kind=bpe" in said) == bool(option)  # one is cut by characters
    assert not unknown_answers(task, [dict.fromkeys(task.fields, "a b")])


def test_the_tokenizer_that_is_named_is_the_one_that_cuts():
    task = task_of(read_recipe("pointer"))
    (source, target) = unspaced_texts(task, [{"source": CLAUSES[0], "target": CLAUSES[1]}])
    assert "tokenizer.target.kind=character" in source
    assert "tokenizer.target.kind=character" in target


@pytest.mark.parametrize(
    ("recipe", "word", "idle"),
    [
        ("pointer", "tokenizer.source.kind=character", "source"),
        ("couplets", "tokenizer.source.size=99", "source"),
        ("lstm-mr", "tokenizer.target.kind=character", "target"),
        ("pointer", "tokenizer.target.kind=character", ""),
        ("zh-en", "tokenizer.source.kind=character", ""),
    ],
)
def test_a_tokenizer_that_nothing_is_cut_by_is_told(recipe, word, idle):
    said = idle_tokenizers(task_of(read_recipe(recipe, [word])))
    assert [f"tokenizer.{idle} has no effect" in one for one in said] == [True] * bool(idle)


@pytest.mark.parametrize("name", shipped_recipes())
def test_no_recipe_of_ours_has_such_a_tokenizer(name):
    assert not idle_tokenizers(task_of(read_recipe(name)))


@pytest.mark.parametrize(("kind", "told"), [("word", True), ("character", False)], ids=str)
def test_training_warns_before_it_begins(tmp_path, capsys, kind, told):
    lines = [f"物流很快{mark}包装也好{mark}\tgood\n" for mark in "一二三四五六"]
    lines += [f"屏幕坏了{mark}不推荐购买\tbad\n" for mark in "一二三四五六"]
    (tmp_path / "train.tsv").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "dev.tsv").write_text("包装很好\tgood\n推荐\tbad\n", encoding="utf-8")
    recipe = recipe_for("lstm-mr")
    data = {"train": f"{tmp_path}/train.tsv", "dev": f"{tmp_path}/dev.tsv", "test": None}
    cut = {"source": {"kind": kind}}
    recipe = Recipe.model_validate(recipe.model_dump() | {"data": data, "tokenizer": cut})
    (tmp_path / "run").mkdir()
    prepare_data(recipe, RunFolder(tmp_path / "run"), ProgressLines(quiet=True))
    said = capsys.readouterr().err
    assert ("tokenizer.source.kind=character cuts them" in said) is told
    assert ("100 % of the dev text tokens (2 of 2) are unknown" in said) is told


def test_training_tells_a_header_that_it_learns_as_an_example(tmp_path, capsys):
    lines = ["review\tsense\n", *["good film\tpos\n", "bad film\tneg\n"] * 3]
    (tmp_path / "a.tsv").write_text("".join(lines))
    base, file = recipe_for("lstm-mr").model_dump(), f"{tmp_path}/a.tsv"

    def said(spec: str, name: str) -> str:
        recipe = Recipe.model_validate(base | {"data": {"train": spec, "dev": spec, "test": None}})
        (tmp_path / name).mkdir()
        prepare_data(recipe, RunFolder(tmp_path / name), ProgressLines(quiet=True))
        return capsys.readouterr().err

    told = f"line 1 looks like a header: name its columns, {file}#review,sense"
    assert said(file, "run").count(told) == 2  # of the training and of the dev set
    assert "looks like a header" not in said(f"{file}#review,sense", "named")


def test_training_tells_labels_that_it_takes_for_one(tmp_path, capsys):
    (tmp_path / "a.jsonl").write_text(
        "".join(f'{{"text": "a film", "label": "{label}"}}\n' for label in ("pos", "neg", "neg "))
    )
    base, file = recipe_for("lstm-mr").model_dump(), f"{tmp_path}/a.jsonl#text,label"
    recipe = Recipe.model_validate(base | {"data": {"train": file, "dev": None, "test": None}})
    (tmp_path / "run").mkdir()
    prepare_data(recipe, RunFolder(tmp_path / "run"), ProgressLines(quiet=True))
    assert "label: 'neg' and 'neg ' are read as one label, 'neg'" in capsys.readouterr().err


def test_evaluate_and_predict_tell_what_is_unknown(tmp_path, capsys):
    lines = [f"good film {i % 5}\tpos\nbad film {i % 5}\tneg\n" for i in range(20)]
    (tmp_path / "train.tsv").write_text("".join(lines))
    (tmp_path / "new.tsv").write_text("superb acting\tpos\n")
    base = recipe_for("lstm-mr").model_dump()
    data = {"train": f"{tmp_path}/train.tsv", "dev": None, "test": None}
    ends = base["training"] | {"epochs": None, "steps": 1}
    trainer = {"accelerator": "cpu", "devices": 1}
    recipe = Recipe.model_validate(base | {"data": data, "training": ends, "trainer": trainer})
    run = train(recipe, tmp_path / "run", quiet=True)
    capsys.readouterr()
    evaluate(models=[run], data=f"{tmp_path}/new.tsv")
    assert "note: 100 % of the text tokens (2 of 2) are unknown" in capsys.readouterr().err
    predict(["good superb film"], model=run, as_json=True)
    assert "note: 33 % of the text tokens (1 of 3) are unknown" in capsys.readouterr().err
    predict(["good film"], model=run, as_json=True)
    assert not capsys.readouterr().err
