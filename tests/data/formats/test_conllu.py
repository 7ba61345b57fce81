"""Treebanks: a sentence is a row, its words are lists, malformed ones are counted."""

from __future__ import annotations

import lzma

import pytest

from regard.data.examples import read_examples
from regard.data.fields import Labels, Text
from regard.data.formats import conllu
from regard.data.problems import CorpusError, Problems

WORDS = Text("words", kind="split")
FIELDS = [WORDS, Labels("tags", of=WORDS)]

GOOD = """\
# sent_id = 1
# text = They didn't go
1\tThey\tthey\tPRON\tPRP\t_\t3\tnsubj\t_\t_
2-3\tdidn't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdid\tdo\tAUX\tVBD\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
3.1\tgone\tgo\tVERB\tVBN\t_\t_\t_\t_\t_
4\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_

# sent_id = 2
1\tNew York\tNew York\tPROPN\tNNP\t_\t0\troot\t_\t_
"""


def read(path, columns="form,upos", fields=FIELDS, problems=None):
    return list(read_examples(f"{path}#{columns}", fields, problems))


def test_words_and_their_labels(tmp_path):
    (tmp_path / "a.conllu").write_text(GOOD)
    (tmp_path / "b.conllu.xz").write_bytes(lzma.compress(GOOD.replace("\n", "\r\n").encode()))
    for name in ("a.conllu", "b.conllu.xz", "b.conllu"):
        problems = Problems()
        first, second = read(tmp_path / name, problems=problems)
        assert dict(first) == {
            "words": ["They", "did", "n't", "go"],
            "tags": ["PRON", "AUX", "PART", "VERB"],
        }
        assert dict(second) == {"words": ["New_York"], "tags": ["PROPN"]}
        assert [first.line, second.line] == [3, 11]  # where their words begin
        assert not problems
    assert read(tmp_path / "a.conllu", "FORM,head")[0]["tags"] == ["3", "4", "4", "0"]
    assert read(tmp_path / "a.conllu", "lemma", [WORDS])[1]["words"] == ["New_York"]


def test_malformed_sentences_are_counted_and_the_others_read(tmp_path, monkeypatch):
    monkeypatch.setattr(conllu, "LONGEST", 5)
    sentences = [
        "1\ta\ta\tX\n",
        "1 a a X\n",
        "1\ta\ta\tX\n2\tb\n3\tc\n",
        "x\ta\ta\tX\n",
        "1-\ta\ta\tX\n",
        "1\t\ta\tX\n",
        "".join(f"{i}\ta\ta\tX\n" for i in range(1, 8)),
        "1-2\tab\t_\t_\n",
        "# only a comment\n",
        "\ufeff1\ta\ta\tX\n",
        f"{'9' * 50}\ta\ta\tX\n",
    ]
    text = "\n".join(sentences).encode() + b"\n1\t\xff\ta\tX\n\n1\tz\tz\tY"
    (tmp_path / "a.conllu").write_bytes(text)
    problems = Problems()
    found = read(tmp_path / "a.conllu", problems=problems)
    assert [example["words"] for example in found] == [["a"], ["z"]]
    assert problems.count() == 10
    assert problems.lines("lines not in CoNLL-U")[:3] == [3, 6, 9]
    assert problems.count("lines not in CoNLL-U") == 7
    assert problems.count("sentences over 5 words") == 1
    assert problems.count("lines of no words") == 1
    assert problems.count("lines not in UTF-8") == 1


def test_columns_have_names(tmp_path):
    (tmp_path / "a.conllu").write_text(GOOD)
    for columns in ("form", "form,tag", "0,1", "form,upos,head"):
        with pytest.raises(CorpusError, match=r"two of the columns id, form, .*, as #form,upos"):
            read(tmp_path / "a.conllu", columns)
    with pytest.raises(CorpusError, match="two of the columns"):
        list(read_examples(tmp_path / "a.conllu", FIELDS))


def test_a_treebank_is_split_by_its_words(tmp_path):
    sentences = (f"1\tword{i % 300}\t_\t{'XY'[i % 2]}\n\n" for i in range(900))
    (tmp_path / "a.conllu").write_text("".join(sentences))
    parts = {
        part: {tuple(e["words"]) for e in read(tmp_path / "a.conllu", f"form,upos@{part}")}
        for part in ("train", "dev", "test")
    }
    assert sum(map(len, parts.values())) == 300
    assert all(parts.values())


def test_one_column_comes_and_two_come(tmp_path):
    (tmp_path / "a.conllu").write_text(GOOD)
    with pytest.raises(CorpusError, match="after # comes one of the columns"):
        list(read_examples(f"{tmp_path}/a.conllu#none", [WORDS]))
    with pytest.raises(CorpusError, match="after # come two of the columns"):
        list(read_examples(f"{tmp_path}/a.conllu", FIELDS))


def test_a_field_in_the_plural_is_quoted_before_its_lines(tmp_path):
    (tmp_path / "words.txt").write_text("a\n\nb\n")
    (tmp_path / "tags.txt").write_text("X\nX\n")
    problems = Problems()
    list(read_examples([f"{tmp_path}/words.txt", f"{tmp_path}/tags.txt"], FIELDS, problems))
    assert problems.lines("empty 'words' lines") == [2]
    assert problems.lines("'words' lines without tags") == [3]
