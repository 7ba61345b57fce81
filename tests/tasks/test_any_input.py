"""Whatever is given to be answered is answered, or told in one line: never NaN, never a traceback."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
import torch
from small_runs import document_run, pair_run, series_run, small_run
from typer.testing import CliRunner

from regard.cli.app import app
from regard.data.examples import read_values
from regard.data.problems import Problems
from regard.data.spec import named_columns
from regard.looking.look import look
from regard.recipe.recipe import Recipe
from regard.runs.failures import WrongTask
from regard.runs.loaded_run import LoadedRun
from regard.runs.run_folder import RunFolder
from regard.tasks.recipe_task import task_of
from regard.tasks.task_module import Unanswerable

TEXT, OTHER = "Mary is in the park.", "a cat sat on the mat"
PLACES = ["park", "attic"]
CHOICE = {"candidates": PLACES, "answer": "park"}
SMALL = {"embedding": 6, "hidden": 4, "size": 8, "heads": 2, "inner": 8, "filters": 4, "hops": 2}
RUNS: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {  # task, model, an example
    **{
        kind: ({"kind": "classify"}, kind, {"text": TEXT, "label": "good"})
        for kind in (
            "transformer-classifier",
            "bare-classifier",
            "recurrent-classifier",
            "classifier",
            "lin",
            "apcnn",
            "self-attentive",
        )
    },
    "han": ({"kind": "classify", "input": "document"}, "han", {"document": TEXT, "label": "good"}),
    "vectors": (
        {"kind": "classify", "input": "numbers", "output": "number"},
        "lin",
        {"numbers": [[0.0, 1.0], [1.0, 3.0]], "number": 2.0},
    ),
    **{
        kind: ({"kind": "match"}, kind, {"first": TEXT, "second": OTHER, "label": "yes"})
        for kind in ("abcnn", "bcnn", "self-attentive-pair", "bag-of-words-pair")
    },
    "rank": (
        {"kind": "match", "answer": "rank", "right": "good"},
        "abcnn",
        {"first": TEXT, "second": OTHER, "label": "good"},
    ),
    **{
        f"{kind}-{answers}": (
            {"kind": "read", "answers": answers, "markers": 3 if kind == "reader" else 0},
            kind,
            {"story": TEXT, "question": "Where is Mary?", "candidates": CHOICE, "answer": "park"},
        )
        for kind in ("reader", "deep-lstm-reader")
        for answers in ("choice", "span")
    },
    **{
        kind: ({"kind": "tag"}, kind, {"words": TEXT.split(), "tags": list("ababa")})
        for kind in ("recurrent-tagger", "transformer-tagger")
    },
    "cloze": (
        {"kind": "cloze", "distances": [2], "names": 2},
        "recurrent-language",
        {"text": OTHER},
    ),
}
LONG = " ".join(["cat", "park", "zebra"] * 334)  # 1,002 words
TEXTS = {
    "nothing": "",
    "blanks": " \t\n ",
    "one word": "cat",
    "words never seen": "ζέβρα 🦓",
    "a long text": LONG,
    "one long word": "x" * 20_000,
    "a zero byte": "a\0b",
    "a byte order mark": "\ufeffcat",
    "line ends": "a cat.\r\nA dog.\u2028A bird.",
    "half a character": "cat \ud800 dog",
    "marks on marks": "e\u0301" * 50,
    "right to left": "\u202ecat",
}
NO_TEXTS = {
    "none": None,
    "a number": 1.5,
    "not a number": math.nan,
    "a huge number": 10**400,
    "a truth value": True,
    "an object": {"a": 1},
    "bytes": b"cat",
}
OF_FIELD: dict[str, dict[str, Any]] = {
    "numbers": {
        "nan": [[math.nan, 0.0]],
        "inf": [[math.inf, 0.0]],
        "over 32 bits": [[1e300, 0.0]],
        "huge": [[3e38, -3e38]],
        "large": [[1e12, -1e12]],
        "of another size": [[1.0]],
        "ragged": [[1.0, 2.0], [1.0]],
        "empty": [],
        "of nothing": [[]],
        "many": [[0.1, 0.2]] * 2_000,
        "complex": np.zeros((3, 2), complex),
        "objects": np.array([[None, 1]], object),
        "a file": "/nowhere/vectors.npy",
    },
    "candidates": {
        "one": ["park"],
        "none": [],
        "twice": ["park", " park"],
        "an empty one": ["park", ""],
        "many": [f"c{n}" for n in range(300)],
        "never seen": ["ζ", "🦓"],
        "of no width": ["\u200b", "\u200c"],
        "long": [LONG, "park"],
        "nested": [["a"], ["b"]],
        "half a character": ["\ud800", "park"],
        "no such answer": {"candidates": PLACES, "answer": "garden"},
        "a huge answer": {"candidates": PLACES, "answer": 10**30},
    },
    "document": {
        "no sentence": [],
        "empty sentences": ["", " "],
        "words": [["a", "cat"], []],
        "a thousand sentences": ["the cat sat."] * 1_000,
        "deep": [[["a"]]],
        "mixed": ["a", 3],
    },
    "words": {
        "none": [],
        "an empty one": ["a", ""],
        "a number": ["a", 3],
        "blanks inside": ["a b", "c"],
        "many": ["cat"] * 1_002,
        "long": ["x" * 20_000, "y"],
    },
}


@pytest.fixture(scope="module", params=RUNS)
def run(request, tmp_path_factory) -> tuple[LoadedRun, dict[str, Any]]:
    """A run that has learnt its words, and nothing else."""
    task, kind, example = RUNS[request.param]
    folder = tmp_path_factory.mktemp("run")
    other = {"label": "bad", "number": 3.0} | ({"tags": list("babab")} if "tags" in example else {})
    rows = [example, {**example, **{k: v for k, v in other.items() if k in example}}]
    corpus = folder / ("corpus.txt" if task["kind"] == "cloze" else "corpus.jsonl")
    lines = [json.dumps(row) for row in rows]
    if task["kind"] == "cloze":
        lines = [f"{OTHER} and then it {verb} away" for verb in ("ran", "went", "flew")] * 20
    corpus.write_text("\n".join(lines) + "\n")
    words = {"source": {"kind": "word"}} if task["kind"] != "tag" else {}
    recipe = Recipe.model_validate({"task": task, "model": {"kind": kind}, "tokenizer": words})
    fields = type(recipe.model).model_fields
    small = {name: value for name, value in SMALL.items() if name in fields}
    recipe = recipe.model_copy(update={"model": recipe.model.of(recipe.model, small)})
    made = task_of(recipe)
    made.learn(str(corpus))
    torch.manual_seed(0)
    model = made.for_inference(recipe.model.build(made.sizes)).eval()
    return LoadedRun(made, model, RunFolder(folder)), example


def values_of(name: str) -> dict[str, Any]:
    return (
        TEXTS | NO_TEXTS | {f"{name} {what}": each for what, each in OF_FIELD.get(name, {}).items()}
    )


@pytest.mark.filterwarnings("error")
def test_any_value_of_any_input_is_answered_or_told_to_be_none(run):
    run, example = run
    for name in run.task.inputs:
        for what, value in values_of(name).items():
            asked = {each: example[each] for each in run.task.inputs} | {name: value}
            try:
                answered = [
                    *run.predict([asked]),
                    *(run.predict([asked], attention=True) if "many" not in what else ()),
                ]
            except ValueError as error:
                told = str(error)
                assert told.startswith("example 1: "), (what, told)
                assert "{" not in told, (what, told)
                assert "\n" not in told, (what, told)
                assert len(told) < 200, (what, told)
                continue
            assert name in OF_FIELD or what not in NO_TEXTS, what
            for answer in answered:
                json.dumps(answer.to_dict(), allow_nan=False, ensure_ascii=False).encode("utf-8")
                assert run.task.drawn(answer) is not None
                if answer.attention is not None:
                    assert answer.attention.isfinite().all(), what
                    assert answer.attention.shape == (len(answer.rows), len(answer.columns)), what


def test_an_example_of_a_corpus_is_answered_as_what_it_was_read_from(run):
    run, example = run
    fields = [run.task.fields[name] for name in run.task.inputs]
    read = read_values(fields, [example[name] for name in run.task.inputs])
    given = {name: example[name] for name in run.task.inputs}
    of_corpus, alone = run.predict([read]), run.predict([given])
    assert of_corpus[0].answer == alone[0].answer


def test_what_is_answered_beside_it_is_what_is_answered_alone(run):
    """A batch of everything that can be answered, none of which spoils another."""
    run, example = run
    plain = {each: example[each] for each in run.task.inputs}
    (alone,) = run.predict([plain])
    beside = []
    for name in run.task.inputs:
        for value in values_of(name).values():
            try:
                beside += run.task.given([plain | {name: value}])
            except ValueError:
                continue
    together = run.predict([*beside, plain])[-1]
    if isinstance(alone.answer, float):
        assert together.answer == pytest.approx(alone.answer, abs=1e-4)
    else:
        assert together.answer == alone.answer
    assert (together.score is None) == (alone.score is None)
    if alone.score is not None:
        assert together.score == pytest.approx(alone.score, abs=1e-4)


def damaged_lines(example: dict[str, Any]) -> list[bytes]:
    """Lines of JSON that hold no example, each in a way of its own."""
    good, names = json.dumps(example).encode(), list(example)
    values = (None, True, [], {}, "", " ", [[[]]], 1e999, math.nan, "\ud800")
    return [
        *(b"{broken", b"[]", b"3", b"null", b"{}", b"", b"  ", b"\xff\xfe", good[:-1], good + b"x"),
        *(good + b"\0", b'{"a":' * 3_000, b'{"%s": ' % names[0].encode() + b"9" * 6_000 + b"}"),
        *(json.dumps(dict.fromkeys(names, value)).encode() for value in values),
    ]


def test_a_damaged_corpus_loses_its_damaged_lines_and_no_other(run, tmp_path):
    """With a byte order mark, and with line ends of either kind."""
    run, example = run
    if run.recipe.task.kind == "cloze":
        pytest.skip("it reads lines of text, all of which are texts")
    good, bad = json.dumps(example).encode(), damaged_lines(example)
    lines = [good, *(line for each in bad for line in (each, good))]
    spec = str(tmp_path / "damaged.jsonl")
    (tmp_path / "damaged.jsonl").write_bytes(b"\xef\xbb\xbf" + b"\r\n".join(lines) + b"\n" + good)
    problems = Problems()
    read = list(run.task.read(spec, problems))
    assert len(read) == len(bad) + 2
    assert [each.line for each in read] == [*range(1, 2 * len(bad) + 2, 2), 2 * len(bad) + 2]
    assert sum(found.count for found in problems.found[spec].values()) == len(bad)
    told = problems.report()
    assert "{" not in told
    assert "\n" not in told.strip()
    assert run.task.check(spec, learnt=True).examples == len(read)


def test_what_is_no_list_of_examples_and_no_size_of_a_batch_is_told(run):
    run, example = run
    plain = {each: example[each] for each in run.task.inputs}
    for wrong in (None, 3, "a text", b"bytes", plain):
        with pytest.raises(ValueError, match="give a list of examples"):
            run.predict(wrong)
    for size in (0, -1, "2", 1.5):
        with pytest.raises(ValueError, match=r"batch is how many .* not "):
            run.predict([plain], batch=size)
    assert run.predict([]) == run.predict([], attention=True) == []


def test_columns_that_a_run_was_trained_with_name_its_inputs(tmp_path):
    run, vectors = series_run(tmp_path), [[0.0, 1.0], [2.0, 2.0]]
    named, called, both = run.predict(
        [{"numbers": vectors}, {"days": vectors}, {"numbers": vectors, "days": "not this"}]
    )
    assert named.score == called.score == both.score
    assert run.task.given([run.task.of_line(json.dumps({"days": vectors}))])
    (record,) = look(run, json.dumps({"days": vectors})).records
    assert record.output.startswith(named.answer)
    with pytest.raises(Unanswerable, match="has no 'numbers'; it has tomorrow"):
        run.predict([{"tomorrow": 3}])


def test_several_inputs_may_come_in_their_order(tmp_path):
    run = pair_run("label", tmp_path)
    ways = [
        {"first": "a b", "second": "c"},
        ("a b", "c"),
        ["a b", "c"],
        {"left": "a b", "right": "c"},
    ]
    found = run.predict(ways)
    for one in found:
        assert one.score == pytest.approx(
            found[0].score, abs=1e-6
        )  # rows of a batch are rounded apart
    assert all(one.input == ways[0] for one in found)
    for wrong in (("a",), ("a", "b", "c"), ("a", 3)):
        with pytest.raises(Unanswerable, match="example 2"):
            run.predict([("a", "b"), wrong])


@pytest.mark.parametrize(
    ("spec", "columns"),
    [
        ("a.jsonl#days,tomorrow", {"x": "days", "y": "tomorrow"}),
        ("a.jsonl#days,tomorrow@train+b.tsv#1,0", {"x": "days", "y": "tomorrow"}),
        (["a.txt#p,q", "b.txt"], {"x": "p", "y": "q"}),
        ("a.tsv#1,label", {"y": "label"}),
        ("a.tsv", {}),
        ("a.zh,a.en", {}),
        ("a.jsonl#one", {}),
        ([], {}),
    ],
)
def test_a_spec_says_what_its_columns_are_called(spec, columns):
    assert named_columns(spec, ["x", "y"]) == columns


@pytest.mark.parametrize("kind", ["classify", "language", "masked", "pair", "document", "series"])
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_blank_line_has_a_blank_answer(kind, form, tmp_path, monkeypatch):
    made = {
        "pair": lambda: pair_run("rank", tmp_path),
        "document": lambda: document_run("label", tmp_path),
        "series": lambda: series_run(tmp_path),
    }
    run = made[kind]() if kind in made else small_run(kind, tmp_path)
    monkeypatch.setattr("regard.runs.loaded_run.load", lambda model, **_: run)
    asked = {"pair": "a b\tc", "series": "[[1, 2]]", "masked": "a <mask> b"}.get(kind, "a b c")
    for lines, blank in ((["", asked, "  "], [True, False, True]), ([""], [True])):
        given = "".join(f"{line}\n" for line in lines)
        done = CliRunner().invoke(app, ["predict", "-m", "x", *form], input=given)
        assert done.exit_code == 0, done.output
        told = done.stdout.split("\n")[:-1]
        answers = [json.loads(line)["answer"] for line in told] if form else told
        assert [answer in (None, "") for answer in answers] == blank
        told = run.predict([run.task.of_line(line) for line in lines])
        assert [one.answer is None for one in told] == blank


@pytest.mark.parametrize("kind", ["translate", "classify", "language", "masked", "document"])
def test_without_attention_nothing_is_said_of_it(kind, tmp_path):
    run = document_run("label", tmp_path) if kind == "document" else small_run(kind, tmp_path)
    (answer,) = run.predict(["a b <mask>"])
    assert (answer.attention, answer.rows, answer.columns, answer.sentences) == (None, (), (), ())


@pytest.mark.parametrize("make", [lambda to: small_run("classify", to), series_run])
def test_a_run_that_does_not_translate_says_what_it_reads_with(make, tmp_path):
    run = make(tmp_path)
    with pytest.raises(WrongTask) as told:
        _ = run.tokenizers
    assert "tokenizers are those of a translator" in str(told.value)
    named = "run.task.fields['text'].tokenizer" in told.value.hint
    assert named == (run.recipe.task.input == "text")
    assert named or told.value.hint.startswith("it has the fields numbers, label")


def test_a_table_that_begins_with_the_trained_names_has_a_header(tmp_path, monkeypatch):
    run = pair_run("rank", tmp_path)
    names = ["one", "other", *(f"more{i}" for i in range(len(run.task.fields) - 2))]
    data = run.task.recipe.data.model_copy(update={"train": f"a.tsv#{','.join(names)}"})
    run.task.recipe = run.task.recipe.model_copy(update={"data": data})
    monkeypatch.setattr("regard.runs.loaded_run.load", lambda model, **_: run)

    def answers(*lines: str) -> int:
        (tmp_path / "new.tsv").write_text("\n".join(lines))
        words = ["predict", "-m", "x", "--data", f"{tmp_path}/new.tsv"]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
        return len(done.stdout.splitlines())

    assert answers("one\tother", "a b\tc", "c\tb") == 2
    assert answers("id\tother\tone", "1\ta b\tc") == 1
    assert answers("one\tanother", "a b\tc") == 2  # two examples
