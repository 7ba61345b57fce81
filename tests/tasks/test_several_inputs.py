"""A task of several texts, of somebody else's: how it is asked, and what is shown of its model."""

from __future__ import annotations

import json

import numpy as np
import pytest
from two_texts import opinion_run
from typer.testing import CliRunner

from regard.cli.app import app
from regard.looking.look import look
from regard.records.question import BadQuestion
from regard.tasks.attended_sides import _further_readings
from regard.tasks.task_module import Unanswerable
from regard.view.picked_matrix import Pick, picked

EVEN = {"product": "the old lamp", "review": "so very bright"}
LONGER = {"product": "the old lamp", "review": "i like it so very much"}
SHORTER = {"product": "the new phone is so slow", "review": "i like it"}

PADDED = "the columns of made.padded may be any text, padded to the longest: it is not shown"


@pytest.fixture
def asked(request, tmp_path, monkeypatch):
    """A command, answered by a run of two texts that attends as `param` says."""
    run = opinion_run(tmp_path, *getattr(request, "param", ()))
    monkeypatch.setattr("regard.runs.loaded_run.load", lambda *_, **__: run)

    def ask(*words: str, given: str = ""):
        return CliRunner().invoke(app, [*words], input=given)

    return ask


def line_of(example: dict[str, str]) -> str:
    return "\t".join(example.values())


def test_texts_with_a_tab_between_them_are_an_example(asked):
    whole = asked("predict", "-m", "x", json.dumps(EVEN), json.dumps(LONGER))
    assert whole.exit_code == 0, whole.output
    parted = asked("predict", "-m", "x", line_of(EVEN), line_of(LONGER))
    assert parted.stdout == whole.stdout
    lines = asked("predict", "-m", "x", "--json", given=f"{line_of(EVEN)}\n\n{line_of(LONGER)}\n")
    answers = [json.loads(line) for line in lines.stdout.splitlines()]
    assert [one["input"] for one in answers] == [EVEN, "", LONGER]
    assert answers[1]["answer"] is None


def test_a_corpus_of_two_columns_is_answered(asked, tmp_path):
    (tmp_path / "two.tsv").write_text(f"{line_of(EVEN)}\n{line_of(LONGER)}\n")
    done = asked("predict", "-m", "x", "--data", f"{tmp_path}/two.tsv", "--json")
    assert [json.loads(line)["input"] for line in done.stdout.splitlines()] == [EVEN, LONGER]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("one text", "is 'one text': there are 2 inputs, and 1 was given"),
        ("a\tb\tc", "there are 2 inputs, and 3 were given"),
        ('{"product": "a"}', "has no 'review'; it has product"),
        ('{"product": "a", "review": 3}', ": 3 is no text, as 'review' must be"),
    ],
)
def test_what_is_no_example_is_told_with_its_place(asked, wrong, said):
    told = asked("predict", "-m", "x", wrong)
    assert told.exit_code == 2
    here = told.stderr.splitlines()[0]
    assert here.startswith("error: argument 1"), here
    assert said in here
    told = asked("predict", "-m", "x", given=f"{line_of(EVEN)}\n{wrong}\n")
    there = told.stderr.splitlines()[0]
    assert there.startswith("error: line 2"), there
    assert here.removeprefix("error: argument 1") == there.removeprefix("error: line 2")
    assert [bool(line) for line in told.stdout.splitlines()] == [True, False]


def test_a_look_takes_what_predict_takes(tmp_path):
    run = opinion_run(tmp_path)
    ways = [LONGER, tuple(LONGER.values()), list(LONGER.values()), line_of(LONGER)]
    views = [look(run, way) for way in (*ways, json.dumps(LONGER))]
    shown = [view.records[0].maps[0].weights for view in views]
    assert all(np.array_equal(each, shown[0]) for each in shown)
    assert {view.records[0].output for view in views} == {run.predict([LONGER])[0].answer}
    with pytest.raises(Unanswerable, match="the example has no 'review'; it has product"):
        look(run, {"product": "a lamp"})
    with pytest.raises(Unanswerable, match="the example is 3: there are 2 inputs"):
        look(run, 3)


def shown(run, example):
    """The sides of every map by its name."""
    (record,) = look(run, example).records
    return {each.name: (each.queries, each.keys) for each in record.maps}, record


@pytest.mark.parametrize("example", [EVEN, LONGER, {"product": "lamp", "review": "bright"}])
def test_an_attention_from_one_text_to_another_is_shown_as_that(tmp_path, example):
    run = opinion_run(tmp_path)
    maps, record = shown(run, example)
    assert maps == {"cross": ("review", "product")}
    lengths = {name: len(text.split()) for name, text in example.items()}
    (each,) = record.maps
    assert each.weights.shape == (1, 2, lengths["review"], lengths["product"])
    assert {n: side.tokens for n, side in record.sides.items()} == {
        n: tuple(text.split()) for n, text in example.items()
    }
    assert record.title == " ⟷ ".join(example.values())
    (answer,) = run.predict([example], attention=True)
    assert (answer.rows, answer.columns) == (example["review"].split(), example["product"].split())
    np.testing.assert_allclose(answer.attention, each.weights[0].mean(0), atol=1e-6)


@pytest.mark.parametrize("example", [EVEN, LONGER])
def test_every_attention_of_two_texts_has_its_sides(tmp_path, example):
    run = opinion_run(tmp_path, "itself", "once", "over", "pooled")
    maps, record = shown(run, example)
    assert maps == {
        "cross": ("whole answer", "product"),
        "cross 2": ("review", "product"),
        "encoder product": ("product", "product"),
        "encoder review": ("review", "review"),
        "pooling review": ("whole answer", "review"),
    }
    assert record.notes == ()
    assert record.from_json(record.to_json()).to_json() == record.to_json()


@pytest.mark.parametrize("example", [EVEN, LONGER, SHORTER])
def test_queries_of_the_model_itself_are_rows(tmp_path, example):
    run = opinion_run(tmp_path, "slots", "over")
    maps, record = shown(run, example)  # as many as words in a text
    assert maps == {"cross": ("3 queries", "review"), "cross 2": ("review", "product")}
    assert record.sides["3 queries"].tokens == ("query 1", "query 2", "query 3")
    assert record.map("cross").weights.shape == (1, 1, 3, len(example["review"].split()))
    assert record.notes == ()
    alone = opinion_run(tmp_path, "slots")
    for answer in alone.predict([example, EVEN], attention=True):
        assert answer.rows == ["query 1", "query 2", "query 3"]
        assert answer.attention.shape == (3, len(answer.columns))
        np.testing.assert_allclose(answer.attention.sum(-1), 1, atol=1e-6)


def test_one_call_with_other_rows_is_told_and_the_other_is_shown(tmp_path):
    maps, record = shown(opinion_run(tmp_path, "joined"), EVEN)
    assert maps == {"cross": ("review", "product")}
    assert record.notes == ("the rows of made.joined are no text and no answer: it is not shown",)


def test_what_is_no_text_is_not_taken_for_one_that_is_as_long(tmp_path):
    run = opinion_run(tmp_path, "read", "over")
    maps, record = shown(run, EVEN)  # there are as many slots as words in either text
    assert maps == {"cross": ("review", "product")}
    assert record.notes == (
        "1 attention is not over the tokens of the product or review, and not shown",
    )
    alone = opinion_run(tmp_path, "read")
    with pytest.raises(BadQuestion, match="1 attention is not over the tokens of"):
        look(alone, EVEN)
    assert alone.predict([EVEN], attention=True)[0].attention is None


@pytest.mark.parametrize("example", [EVEN, LONGER, SHORTER])
def test_texts_padded_to_the_longer_are_not_taken_for_it(tmp_path, example):
    run = opinion_run(tmp_path, "padded", "over")
    maps, record = shown(run, example)
    assert maps == {"cross": ("review", "product")}
    (each,) = record.maps
    assert len(each.weights) == 1  # layer
    assert record.notes == (PADDED,)


def test_texts_padded_to_the_longer_are_not_taken_for_it_in_one_reading(tmp_path, monkeypatch):
    run = opinion_run(tmp_path, "padded", "over")
    forward = type(run.model).forward

    def only_these(model, product, product_mask, review, review_mask):
        if product.shape[1] != 3:
            raise RuntimeError("no")
        return forward(model, product, product_mask, review, review_mask)

    monkeypatch.setattr(type(run.model), "forward", only_these)
    assert shown(run, LONGER)[0] == {"cross": ("review", "product")}


def test_a_padded_text_that_asks_is_not_taken_for_queries_of_the_model(tmp_path):
    for example in (EVEN, LONGER, SHORTER):
        maps, record = shown(opinion_run(tmp_path, "wide", "over"), example)
        assert maps == {"cross": ("review", "product")}
        assert record.notes == ("the rows of made.wide are no text and no answer: it is not shown",)


def test_each_text_is_the_longest_in_a_further_reading(tmp_path):
    run = opinion_run(tmp_path)
    for product, review in ((3, 3), (5, 6), (6, 5), (1, 2)):
        lengths = {"product": product, "review": review}
        first, second = _further_readings(run.task, run.module, EVEN, lengths)
        assert first.lengths["product"] < first.lengths["review"]
        assert second.lengths["review"] < second.lengths["product"]
        for further in (first, second):
            assert all(further.lengths[name] != length for name, length in lengths.items())
        for of in (max, min):  # none is always as long
            every = [of(one.lengths[name] for name in lengths) for one in (first, second)]
            assert len(set(every)) == 2


def test_sides_that_are_not_sure_are_told_and_not_shown(tmp_path, monkeypatch):
    """A model that does not take any other example."""
    run = opinion_run(tmp_path, "over", "pooled")
    forward = type(run.model).forward

    def only_these(model, product, product_mask, review, review_mask):
        if product.shape[1] not in (1, 3):
            raise RuntimeError("no")
        return forward(model, product, product_mask, review, review_mask)

    monkeypatch.setattr(type(run.model), "forward", only_these)
    with pytest.raises(
        BadQuestion, match=r"rows of made\.over may be product or review: it is not"
    ):
        look(run, EVEN)
    assert run.predict([EVEN], attention=True)[0].attention is None
    maps, _ = shown(run, LONGER)
    assert maps["cross"] == ("review", "product")
    assert maps["pooling review"] == ("whole answer", "review")


def test_answers_of_two_texts_have_what_they_came_from_in_any_batch(tmp_path):
    examples = [EVEN, LONGER, {"product": "the new phone is slow", "review": "so"}]
    for parts in (("over",), ("itself",), ("over", "pooled"), ("once",)):
        run = opinion_run(tmp_path, *parts)
        for together, example in zip(run.predict(examples, attention=True), examples, strict=True):
            (alone,) = run.predict([example], attention=True)
            assert (together.rows, together.columns) == (alone.rows, alone.columns)
            np.testing.assert_allclose(together.attention, alone.attention, atol=1e-6)
            assert together.attention.shape == (len(together.rows), len(together.columns))


@pytest.mark.parametrize("example", [EVEN, LONGER])
def test_the_texts_of_a_look_are_named_wherever_it_is_drawn(asked, tmp_path, example):
    pairs = [tmp_path / f"pair.{suffix}" for suffix in ("json", "html", "svg", "png")]
    words = [w for path in pairs for w in (f"--{path.suffix[1:]}", str(path))]
    done = asked("look", "-m", "x", line_of(example), *words)
    assert done.exit_code == 0, done.output
    record = json.loads(pairs[0].read_text())
    (shown,) = record["maps"]
    assert (shown["name"], shown["queries"], shown["keys"]) == ("cross", "review", "product")
    assert record["sides"]["review"]["tokens"] == example["review"].split()
    for path in pairs[1:3]:
        assert all(word in path.read_text() for word in line_of(example).split()), path
    drawn = asked("look", "-m", "x", line_of(example), "--terminal").stdout
    assert all(word in drawn for word in line_of(example).split())
    done = asked("predict", "-m", "x", line_of(example), "--json")
    answer = json.loads(done.stdout)
    assert answer["rows"] == example["review"].split()
    assert answer["columns"] == example["product"].split()


@pytest.mark.parametrize("asked", [("padded", "itself", "over")], indirect=True)
def test_a_terminal_has_the_notes_and_names_the_other_maps(asked):
    done = asked("look", "-m", "x", line_of(LONGER), "--terminal")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines().count(PADDED) == 1
    assert "also there: encoder product, encoder review; see one with --map NAME" in done.stderr
    other = asked("look", "-m", "x", line_of(LONGER), "--terminal", "--map", "encoder review")
    assert "also there: cross, encoder product;" in other.stderr


def test_a_terminal_names_no_map_where_there_is_one_and_says_once_what_is_not_measured(asked):
    done = asked("look", "-m", "x", line_of(LONGER), "--terminal", "--explain")
    assert done.exit_code == 0, done.output
    assert "also there" not in done.stderr
    assert done.stdout.count("is not measured for this") == 1


def test_a_text_that_is_cut_is_told(tmp_path):
    run = opinion_run(tmp_path, longest=4)
    maps, record = shown(run, LONGER)
    assert maps == {"cross": ("review", "product")}
    assert record.maps[0].weights.shape[-2:] == (4, 3)
    assert record.notes == ("the first 4 of 6 tokens of the review were read",)
    _, whole = shown(run, EVEN)
    assert whole.notes == ()


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("once", "attention over the product"),
        ("slots", "attention over the review"),
        ("over", "cross-attention · mean over 2 heads"),
    ],
)
def test_what_no_text_asks_is_no_cross_attention(tmp_path, part, said):
    _, record = shown(opinion_run(tmp_path, part), LONGER)
    assert picked(record, Pick("cross")).aggregation == said
