"""What is said of a corpus in the fields of a task, against counts by hand."""

from __future__ import annotations

import pytest

from regard.data.check.column_check import ColumnSummary, Spread
from regard.data.check.header_check import header_doubts
from regard.data.fields import Field, Label
from regard.data.problems import CorpusError
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe_files import recipe_for
from regard.tasks.recipe_task import task_of


def checked(task: str, spec, **how):
    return task_of(recipe_for(task)).check(spec, **how)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_sentences_and_their_tags_by_hand(here):
    rows = ["the cat\tDET NOUN", "", "a dog\tDET", "cats\tNOUN", "The cat\tDET VERB", "cats\tNOUN"]
    (here / "a.tsv").write_text("\n".join(rows))
    found = checked("tag", "a.tsv")
    assert found.examples == 4
    assert found.columns["words"].lengths["words"] == Spread(6, (1, 2, 2, 2, 2))
    assert found.columns["words"].lengths["characters"].total == 6 + 4 + 6 + 4
    assert found.columns["tags"] == ColumnSummary(3, {}, {"NOUN": 3, "DET": 2, "VERB": 1})
    assert (found.duplicates.count, found.duplicates.first) == (1, (6,))
    assert (found.contradicted.count, found.contradicted.first) == (1, (5,))
    report = str(found)
    assert "4 sentences that can be used, 2 lines that cannot" in report
    assert "1 empty line (2)" in report
    assert "tags: 3 labels: NOUN 50.0 %, DET 33.3 %, VERB 16.7 %" in report
    assert "repeated with another answer: 1 (line 5)" in report


def test_texts_and_labels_are_told_by_line(here):
    (here / "a.tsv").write_bytes(b"good film\tpos\nbad\tneg\n\xff\tneg\nonly\n \tneg\n")
    found = checked("classify", "a.tsv")
    assert found.examples == 2
    assert found.problems.lines("lines not in UTF-8") == [3]
    assert found.problems.lines("lines without a column 1") == [4]
    assert found.problems.lines("empty text lines") == [5]
    assert found.columns["label"].labels == {"neg": 1, "pos": 1}


@pytest.mark.parametrize("task", ["language", "masked"])
def test_texts_alone_have_lengths_and_nothing_is_contradicted(here, task):
    (here / "a.txt").write_text("one two\nthree\n\nthree\n")
    found = checked(task, "a.txt")
    assert found.examples == 3
    assert found.columns["text"].lengths["words"].total == 4
    assert found.duplicates.first == (4,)
    assert found.contradicted is None
    assert "another answer" not in str(found)


def test_pairs_are_told_as_pairs(here):
    (here / "a.tsv").write_text("a\tb\n")
    assert "1 pair that can be used" in str(checked("translate", "a.tsv"))
    assert "lengths 4 times out of the usual ratio: 0" in str(checked("zh-en", "a.tsv"))


def test_labels_that_the_training_set_has_not(here):
    (here / "train.tsv").write_text("a\tpositive\nb\tnegative\n")
    (here / "a.tsv").write_text("a\tpositive\nb\tnegativ\nc\tneutral\n")
    found = checked("classify", "a.tsv", train="train.tsv")
    assert found.examples == 1
    assert found.problems.lines("label lines with unknown values") == [2, 3]
    assert "the label 'negativ' is not in the data to learn from. Did you mean 'negative'?" in str(
        found
    )
    (here / "train.tsv").write_text("a\tpositive\n")
    with pytest.raises(CorpusError, match=r"train.tsv, label: the only label is 'positive'"):
        checked("classify", "a.tsv", train="train.tsv")


def test_texts_that_are_in_the_training_set_too(here):
    (here / "train.tsv").write_text("A film!\tpositive\nb\tnegative\nb\tnegative\n")
    (here / "a.tsv").write_text("c\tpositive\na film\tnegative\nb\tnegative\nd\tneutral\n")
    found = checked("classify", "a.tsv", train="train.tsv")
    assert (found.trained.count, found.trained.first) == (2, (2, 3))  # whatever their labels
    assert "in the training set too: 2 (lines 2, 3)" in str(found)
    (here / "b.tsv").write_text("c\tpositive\n")
    assert "training set too: 0" in str(checked("classify", "b.tsv", train="train.tsv"))
    assert checked("classify", "a.tsv").trained is None


def test_what_has_no_letters_is_not_the_same(here):
    (here / "a.tsv").write_text("!\tx\n?\ty\n")
    found = checked("classify", "a.tsv")
    assert found.columns["text"].different == 2
    assert (found.duplicates.count, found.contradicted.count) == (0, 0)


def test_an_empty_corpus_is_no_error(here):
    (here / "a.tsv").write_text("")
    report = str(checked("tag", "a.tsv"))
    assert "0 sentences" in report
    assert "hint: the corpus is empty" in report


def test_a_task_that_there_is_not():
    with pytest.raises(RecipeError, match=r"no task and no recipe 'tga'. Did you mean 'tag'\?"):
        checked("tga", "a.tsv")


class Stars(Field):
    """A field that says nothing of its lengths."""

    parts = ("stars",)
    size = 5
    types = ("<u1",)

    def read(self, cell, folder=None):
        return int(cell)

    def encode(self, examples):
        raise NotImplementedError

    collate = encode


def test_a_field_that_says_nothing_of_its_column_has_so_many_values(here):
    (here / "a.tsv").write_text("5\tx\n4\ty\n5\ty\n")
    task = task_of(recipe_for("classify"))
    task.fields = {"text": Stars("text"), "label": Label("label")}
    assert "text: 2 different values" in str(task.check("a.tsv"))


ROWS = ["a cat\tit sits\tyes", "a dog\tit ran\tno"] * 3
HEADER = "premise\thypothesis\tholds"


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ("a.tsv", "a.tsv#premise,hypothesis,holds"),
        ("a.tsv#1,0,2", "a.tsv#hypothesis,premise,holds"),
        ("a.tsv#0,1,2@train", "a.tsv#premise,hypothesis,holds"),
    ],
)
def test_a_header_that_is_read_as_an_example_is_told(here, spec, named):
    (here / "a.tsv").write_text("\n".join([HEADER, *ROWS]))
    (note,) = checked("match", spec).notes
    assert note == f"a.tsv: line 1 looks like a header: name its columns, {named}"
    assert checked("match", named).notes == ()
    assert checked("match", named).examples == len(ROWS)


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (" yes", ("label: 'yes' and ' yes' are read as one label, 'yes'",)),
        ("ye\u0301s", ()),
        ("yes", ()),
    ],
)
def test_labels_that_differ_by_a_blank_are_told(here, other, told):
    (here / "a.tsv").write_text("\n".join([*ROWS, f"a bird\tit flew\t{other}"]))
    assert checked("match", "a.tsv").notes == told


def test_labels_that_differ_by_how_they_are_composed_are_told(here):
    lines = ["good\tja\u0301", "fine\tj\u00e1", "bad\tno"]
    (here / "a.tsv").write_text("\n".join(lines), encoding="utf-8")
    (note,) = checked("classify", "a.tsv").notes
    assert note == "label: 'ja\\u0301' and 'j\\xe1' are read as one label, 'já'"


def test_columns_that_nobody_named_and_nobody_reads_are_told(here):
    rows = [f"{n}\t{row}\t0.{n}" for n, row in enumerate(ROWS)]
    (here / "a.tsv").write_text("\n".join([f"id\t{HEADER}\tscore", *rows]))
    told = "a.tsv has 5 columns, and the first 3 are read as first, second, label: say which, as "
    assert f"{told}a.tsv#hypothesis,holds,score" in checked("match", "a.tsv").notes
    assert checked("match", "a.tsv#premise,hypothesis,holds").notes == ()
    (here / "a.tsv").write_text("\n".join(rows))
    assert f"{told}a.tsv#0,1,2" in checked("match", "a.tsv").notes


@pytest.mark.parametrize("part", ["train", "dev", "test"])
def test_what_comes_with_regard_is_read_without_a_word(here, part):
    task, spec = task_of(recipe_for("translate")), f"tatoeba-zh-en:{part}"
    assert (
        header_doubts(task.corpora(spec), task.fields) == []
    )  # a third column says whose a pair is


def test_a_header_whose_cells_are_no_names(here):
    (here / "a.tsv").write_text("\n".join(["sentence 1\tsentence 2\tholds", *ROWS]))
    assert (
        checked("match", "a.tsv").notes[0].endswith("looks like a header, but is read: take it out")
    )


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        [*ROWS, HEADER],  # it does not stand first
        [HEADER, *ROWS, "a\tb\trare"],  # another label is as rare
        [HEADER, *ROWS, "a\tb\tholds"],
        [HEADER],
    ],
)
def test_a_first_line_that_may_be_an_example(here, rows):
    (here / "a.tsv").write_text("\n".join(rows))
    assert checked("match", "a.tsv").notes == ()
