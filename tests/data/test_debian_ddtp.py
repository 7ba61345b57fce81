"""Documents and sentences of translated descriptions are the same words, and a family is in one part."""

from __future__ import annotations

from pathlib import Path

from regard.data.corpora.build_debian_ddtp import (
    Described,
    Translated,
    read,
    sentences,
    split,
    write,
)

LINES = """\
foo\tFoo reads. It also writes.\tFoo lit. Il écrit aussi.
foo\ttool to read\toutil de lecture
foo-doc\tDr. No came.\tLe Dr. No est venu.
bar\tOne. Two. Three.\tUn, deux. Trois.
bar\tempty\t
bar-again\tOne. Two. Three.\tUn, deux. Trois.
"""


def packages(folder: Path) -> list[Described]:
    path = folder / "en-fr.tsv"
    path.write_text(LINES, encoding="utf-8")
    return list(read(path))


def test_a_package_is_a_document_and_an_equal_one_is_left_out(tmp_path: Path) -> None:
    found = packages(tmp_path)
    assert [each.name for each in found] == ["foo", "foo-doc", "bar"]
    assert found[0].document == Translated(
        "Foo reads. It also writes. tool to read", "Foo lit. Il écrit aussi. outil de lecture"
    )


def test_sentences_are_paired_only_where_there_are_as_many() -> None:
    assert list(sentences(Translated("Foo reads. It writes.", "Foo lit. Il écrit."))) == [
        Translated("Foo reads.", "Foo lit."),
        Translated("It writes.", "Il écrit."),
    ]
    uneven = Translated("One. Two. Three.", "Un, deux. Trois.")
    assert list(sentences(uneven)) == [uneven]


def test_both_views_are_written_and_families_stay_together(tmp_path: Path) -> None:
    parts = split(packages(tmp_path))
    home = {each.name: part for part, several in parts.items() for each in several}
    if len({home.get("foo"), home.get("foo-doc")}) > 1:
        assert home.get("foo-doc") is None  # left out of dev or test, never elsewhere
    write(parts, tmp_path / "made")
    names = sorted(path.name for path in (tmp_path / "made").iterdir())
    assert names == [
        "documents.dev.tsv",
        "documents.test.tsv",
        "documents.train.tsv",
        "sentences.dev.tsv",
        "sentences.train.tsv",
    ]
    for part in ("train", "dev"):
        views = [
            (tmp_path / "made" / f"{view}.{part}.tsv").read_text(encoding="utf-8").split()
            for view in ("documents", "sentences")
        ]
        assert sorted(views[0]) == sorted(views[1])
