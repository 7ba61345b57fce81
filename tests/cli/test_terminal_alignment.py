"""The words of a translation beside what they looked at, by weights set by hand."""

from __future__ import annotations

import pytest
import torch

from regard.cli.terminal_alignment import strong_links
from regard.data.tokenizer import Tokens
from regard.tasks.prediction import Prediction
from regard.view.terminal_cells import width

STUDENTS = "他们|都|是|大|学生|。"


def tokens(marked: str) -> Tokens:
    """Of a text in which | stands between tokens."""
    pieces = marked.split("|")
    ends = [len("".join(pieces[: n + 1])) for n in range(len(pieces))]
    places = [(end - len(piece), end) for piece, end in zip(pieces, ends, strict=True)]
    return Tokens(list(range(4, 4 + len(pieces))), pieces, places)


def looked(source: str, target: str, weights: list[list[float]] | None) -> Prediction:
    return Prediction(
        source=source.replace("|", ""),
        text=target.replace("|", ""),
        score=0.0,
        log_prob=0.0,
        log_probs=(),
        source_tokens=tokens(source),
        tokens=tokens(target),
        finished=True,
        attention=None if weights is None else torch.tensor(weights),
    )


def test_words_and_what_they_looked_at_most():
    weights = [
        [0.9, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.2, 0.2, 0.0, 0.0, 0.0, 0.0, 0.6],  # at the end more than at any word
        [0.0, 0.0, 0.0, 0.2, 0.8, 0.0, 0.0],  # two pieces of a word: their mean
        [0.0, 0.0, 0.0, 0.4, 0.6, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],  # signs are no words
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    ]
    found = strong_links(looked(STUDENTS, "They| are| stud|ents|.", weights))
    assert found == "They ↔ 他们   students ↔ 大学生"


def test_words_that_looked_at_the_same_stand_together():
    alike, other = [0.0, 0.0, 0.0, 0.5, 0.5, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    found = strong_links(looked(STUDENTS, "the| young| all", [alike, alike, other]))
    assert found == "the young ↔ 大学生   all ↔ 都"


def test_what_lies_between_is_left_out_but_for_blanks():
    assert strong_links(looked("他|不|来|吗？", "x", [[0.5, 0.0, 0.0, 0.5]])) == "x ↔ 他…吗"
    assert strong_links(looked("New| |York|!", "纽约", [[0.5, 0.0, 0.5, 0.0]])) == "纽约 ↔ New York"


@pytest.mark.parametrize("columns", [20, 21, 80])
def test_it_is_one_line_whatever_the_script(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    target = "|".join(f" 学{n}" for n in range(9))
    found = strong_links(looked("|".join("他们都是大学生了吗"), target, torch.eye(9).tolist()))
    assert found.startswith("学0 ↔ 他   学1 ↔")
    assert columns - 2 <= width(found) <= columns


def test_without_attention_or_words_there_is_nothing_to_show():
    assert strong_links(looked(STUDENTS, "a", None)) == ""
    assert strong_links(looked(STUDENTS, "。", [[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]])) == ""
    assert strong_links(looked("。", "a", [[1.0]])) == ""
