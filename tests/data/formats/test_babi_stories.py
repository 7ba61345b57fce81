"""bAbI: a question is a row, its story the facts before it, its candidates all answers of the file."""

from __future__ import annotations

import lzma

import pytest

from regard.data.examples import read_examples
from regard.data.fields import MarkedChoice, MarkedText, Span
from regard.data.problems import CorpusError, Problems

STORY = MarkedText("story")
FIELDS = [STORY, MarkedText("question"), MarkedChoice("candidates", like=STORY)]
TEXT = """\
1 Mary moved to the bathroom.
2 John went to the hallway.
3 Where is Mary? \tbathroom\t1
4 Daniel took the apple.
5 What has Daniel?\tapple\t4
1 Sandra left.
2 Where is Sandra? \thallway\t1
"""


def test_questions_with_their_stories(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qa1_facts_train.txt").write_text(TEXT)
    (tmp_path / "mine.babi.xz").write_bytes(lzma.compress(TEXT.replace("\n", "\r\n").encode()))
    for name in ("qa1_facts_train.txt", "mine.babi", "mine.babi#story,question,candidates"):
        problems = Problems()
        found = list(read_examples(name, FIELDS, problems))
        assert not problems
        assert [one.line for one in found] == [3, 5, 7]
        assert found[0]["story"] == "Mary moved to the bathroom. John went to the hallway."
        assert found[1]["story"].endswith("hallway. Daniel took the apple.")
        assert found[2]["story"] == "Sandra left."
        assert [one["question"] for one in found[:2]] == ["Where is Mary?", "What has Daniel?"]
        assert all(one["candidates"].texts == ("apple", "bathroom", "hallway") for one in found)
        assert [one["candidates"].answer for one in found] == [1, 0, 2]


def test_other_text_files_stay_lines(tmp_path):
    (tmp_path / "notes.txt").write_text(TEXT)
    rows = read_examples(str(tmp_path / "notes.txt"), [MarkedText("story")])
    assert len(list(rows)) == 7


def test_lines_without_a_number_are_counted(tmp_path):
    (tmp_path / "a.babi").write_text(TEXT + "Where is John?\thallway\t2\n\n")
    problems = Problems()
    assert len(list(read_examples(str(tmp_path / "a.babi"), FIELDS, problems))) == 3
    assert "1 line without a number" in problems.report()


def test_columns_that_are_not_there_are_told(tmp_path):
    (tmp_path / "a.babi").write_text(TEXT)
    with pytest.raises(CorpusError, match="three of the columns story, question"):
        list(read_examples(f"{tmp_path}/a.babi#story,question,reply", FIELDS))


def test_the_embedded_stories_are_whole():
    counts = {}
    for part in ("train", "dev", "test"):
        found = list(read_examples(f"babi:{part}", FIELDS))
        counts[part] = len(found)
        assert {len(one["candidates"].texts) for one in found} == {6}
    assert counts == {"train": 9_000, "dev": 1_000, "test": 1_000}


def test_answers_as_spans_stand_in_the_fact_that_supports_them(tmp_path):
    text = "1 Mary went to the hall.\n2 Mary went to the hall.\n3 Where is Mary?\thall\t2\n"
    text += "4 Is Mary happy?\tyes\t2\n5 John left.\n6 Where was Mary?\thall\t1 5\n"
    (tmp_path / "a.babi").write_text(text)
    fields = [STORY, MarkedText("question"), Span("answer", of=STORY)]
    problems = Problems()
    found = list(read_examples(str(tmp_path / "a.babi"), fields, problems))
    assert [(one["answer"].start, one["answer"].text) for one in found] == [
        (40, "hall"),
        (17, "hall"),
    ]
    assert "1 line whose answer is in no supporting fact (4)" in problems.report()


def test_a_split_keeps_the_questions_of_a_story_together(tmp_path) -> None:
    stories = (
        f"1 Mary has {n} apples.\n2 Where is Mary? \tkitchen\t1\n3 John left.\n4 Where is John? \tgarden\t3\n"
        for n in range(400)
    )
    (tmp_path / "a.babi").write_text("".join(stories))
    parts = {
        part: {
            example["story"].split(".")[0]
            for example in read_examples(f"{tmp_path}/a.babi@{part}", FIELDS)
        }
        for part in ("train", "dev", "test")
    }
    assert all(parts.values())
    assert sum(map(len, parts.values())) == 400  # and no story is in two of them
