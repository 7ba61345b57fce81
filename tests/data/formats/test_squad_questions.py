"""The layout of SQuAD: a question is a row, with the paragraph it is about and all its answers."""

from __future__ import annotations

import json
import lzma

import pytest

from regard.data.examples import read_examples
from regard.data.fields import MarkedText, Span, Stretch
from regard.data.problems import CorpusError, Problems

STORY = MarkedText("story")
FIELDS = [STORY, MarkedText("question"), Span("answer", of=STORY)]
ANSWERS = [{"text": "Rome", "answer_start": 14}, {"text": "in Rome", "answer_start": 11}]
PARAGRAPH = {
    "context": "Otto lives in Rome.",
    "qas": [
        {"id": "1", "question": "Where?", "answers": ANSWERS},
        {"id": "2", "question": "Who?", "answers": []},
        {"id": "3", "question": "Which?", "answers": [{"text": "Rome", "answer_start": 3}]},
    ],
}


def write(path, value) -> str:
    path.write_bytes(lzma.compress(json.dumps(value).encode()))
    return str(path.with_suffix(""))


def test_questions_with_their_answers(tmp_path):
    problems = Problems()
    name = write(tmp_path / "a.json.xz", {"data": [{"paragraphs": [PARAGRAPH, {"qas": []}]}]})
    (found,) = read_examples(name, FIELDS, problems)
    assert (found["story"], found["question"]) == ("Otto lives in Rome.", "Where?")
    assert found["answer"] == Stretch(14, 18, "Rome", ("in Rome",))
    report = problems.report()
    assert "line without an answer" in report
    assert "not where" in report
    assert "line without a context" in report


@pytest.mark.parametrize("text", ["[1, 2", "[1, 2]", '{"data": 3}', '"data"'])
def test_another_layout_is_told(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(CorpusError) as told:
        list(read_examples(str(tmp_path / "a.json"), FIELDS))
    assert ".jsonl" in told.value.hint


def test_a_file_that_is_cut_off_is_told(tmp_path):
    name = write(tmp_path / "a.json.xz", {"data": [{"paragraphs": [PARAGRAPH]}]})
    (tmp_path / "a.json.xz").write_bytes((tmp_path / "a.json.xz").read_bytes()[:-20])
    with pytest.raises(CorpusError, match="damaged or cut off"):
        list(read_examples(name, FIELDS))
