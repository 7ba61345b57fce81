"""The embedded pairs of sentences are as their README says, and nothing held out is in training."""

from __future__ import annotations

import re

from regard.data.byte_lines import byte_lines
from regard.data.corpora.build_answer_sentences import beside, neighbours, paragraphs, plain
from regard.data.corpora.build_paraphrase import Neighbours, Sentence, examples, part, read
from regard.data.corpora.build_tatoeba import bare
from regard.data.spec import EMBEDDED_FOLDER

PARTS = ("train", "dev", "test")
FOLDER = EMBEDDED_FOLDER / "paraphrase"


def rows(name: str) -> list[list[str]]:
    return [line.decode().split("\t") for line in byte_lines(FOLDER / f"paraphrase.{name}.tsv.xz")]


def test_counts_and_licence_are_as_the_readme_says():
    readme = (FOLDER / "README.md").read_text("utf-8")
    assert "CC-BY 2.0 France" in readme
    for name in PARTS:
        found = rows(name)
        assert {row[2] for row in found} == {"same", "other"}
        assert all(re.fullmatch(r"#\d+ \(.+\) & #\d+ \(.+\)", row[3]) for row in found)
        same = sum(row[2] == "same" for row in found)
        assert f"| {name} | {len(found):,} | {same:,} |" in readme


def test_no_sentence_is_in_two_parts():
    seen = [{bare(text) for row in rows(name) for text in row[:2]} for name in PARTS]
    assert not seen[0] & seen[1]
    assert not seen[0] & seen[2]
    assert not seen[1] & seen[2]


def test_it_is_made_again_to_the_letter():
    every = read(EMBEDDED_FOLDER / "tatoeba-zh-en.train.tsv.xz")
    held = [row for row in every if part(row[1].group) == "test"]
    assert [list(row) for row in examples(held)] == rows("test")


def test_a_near_miss_shares_most_words_and_no_group():
    sentences = [
        Sentence("I read a book.", "a", "#1 (x)"),
        Sentence("I read books.", "a", "#2 (x)"),
        Sentence("I bought a book.", "b", "#3 (x)"),
        Sentence("It rains.", "c", "#4 (x)"),
    ]
    near = Neighbours(sentences)
    assert near.nearest(sentences[0], besides=set()) == sentences[2]
    assert near.nearest(sentences[0], besides={sentences[2].text}) is None
    assert near.nearest(sentences[3], besides=set()) is None


def test_candidates_of_a_question_stand_beside_its_sentence():
    sentences = ["a", "a", "b", "c", "d", "e", "a"]
    assert list(beside(sentences, 3)) == ["b", "a", "d", "e"]
    assert list(beside(sentences, 1)) == ["b", "c"]
    found = list(neighbours(["a", "b"], ["what?", "who?"]))
    assert found == [("what?", "a", 1), ("what?", "b", 0), ("who?", "b", 1), ("who?", "a", 0)]
    assert plain("`` so '' -lrb- he said -rrb-") == '" so " ( he said )'


def test_of_a_paragraph_every_sentence_is_a_candidate():
    squad = (
        '{"data": [{"paragraphs": [{"context": "It rains. Li is 20. He sleeps.", "qas": '
        '[{"question": "How old?", "answers": [{"text": "20", "answer_start": 16}]}]}]}]}'
    )
    assert list(paragraphs(squad)) == [
        ("How old?", "It rains.", 0),
        ("How old?", "Li is 20.", 1),
        ("How old?", "He sleeps.", 0),
    ]
