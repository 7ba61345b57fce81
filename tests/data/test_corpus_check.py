"""What `check` says of a corpus, against counts by hand."""

from __future__ import annotations

import pytest

from regard.data.check import check


def test_a_small_corpus_by_hand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        "我是学生。\tI am a student.",
        "嗨。\tHi.",
        "我是学生。\tI am a student.",
        "same\tsame",
        "\tempty",
        "嗨。\tHi there, how are you all doing today?",
        "嗨。\tHi.",
    ]
    (tmp_path / "a.tsv").write_text("\n".join(rows), encoding="utf-8")
    summary = check("a.tsv")
    assert summary.pairs == 6
    assert (summary.source.words, summary.target.words) == (6, 4 + 1 + 4 + 1 + 8 + 1)
    assert summary.source.characters == 5 + 2 + 5 + 4 + 2 + 2
    assert summary.source.characters_percentiles == (2, 4, 5, 5, 5)
    assert (summary.duplicates.count, summary.duplicates.first) == (2, (3, 7))
    assert (summary.identical.count, summary.identical.first) == (1, (4,))
    assert summary.extreme.first == (6,)
    assert summary.problems.lines("empty source lines") == [5]
    report = str(summary)
    assert "6 pairs that can be used, 1 line that cannot" in report
    assert "a.tsv: 1 empty source line (5)" in report
    assert "repeated pairs: 2 (lines 3, 7)" in report


def test_an_empty_corpus_is_no_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.tsv").write_text("")
    assert check("a.tsv").pairs == 0
    assert "0 pairs" in str(check("a.tsv"))


def test_one_is_one(tmp_path):
    (tmp_path / "a.tsv").write_text("a\tb\n")
    assert str(check(tmp_path / "a.tsv")).startswith("1 pair that can be used, 0 lines that cannot")


def test_a_text_without_its_translation_is_told_from_a_table(tmp_path):
    (tmp_path / "a.zh").write_text("a\tb\n" + 9 * "c\n")
    (tmp_path / "a.tsv").write_text("c\n" + 9 * "a\tb\n")
    (tmp_path / "third.tsv").write_text(9 * "a\tb\n")
    hint = "a.zh was read as source TAB target; a text and its translation are two files: a.zh a.en"
    assert hint in str(check(tmp_path / "a.zh"))
    assert "hint:" not in str(check(tmp_path / "a.tsv"))
    assert "hint:" not in str(check(f"{tmp_path / 'third.tsv'}#0,2"))


@pytest.mark.parametrize(
    "inside", [str, lambda folder: [folder], lambda folder: [__file__, folder]]
)
def test_a_folder_is_called_a_folder(tmp_path, inside):
    with pytest.raises(IsADirectoryError, match=f"'{tmp_path}' is a folder"):
        check(inside(tmp_path))
