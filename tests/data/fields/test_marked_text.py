"""Candidates as markers: found as whole tokens, whatever they are called, and the same in all texts."""

from __future__ import annotations

import pytest
from lives import batch_of

from regard.data.examples import read_values
from regard.data.fields import MarkedChoice, MarkedText, Unusable
from regard.data.fields.marked_text import drawn_markers


def fields(markers: int = 3, **settings):
    cut = {"kind": "word", "lowercase": True, **settings}
    story = MarkedText("story", markers=markers, **cut)
    question = MarkedText("question", markers=markers, like=story)
    candidates = MarkedChoice("candidates", markers=markers, like=story)
    story.learn(["the cat went to New York ."])
    return [story, question, candidates]


def example(every, story: str, question: str, candidates: str):
    return read_values(every, [story, question, candidates])


def test_markers_stand_for_candidates_in_all_texts(tmp_path):
    every = fields()
    story, question, candidates = every
    first = len(story.tokenizer)
    one = example(
        every, "Zoe went to new york. New Zoe went York.", "Where is Zoe?", "New York|*Zoe|York"
    )
    (marked,) = story.marked([one])
    york, zoe, short = drawn = [first + m for m in drawn_markers(one, "candidates", 3)]
    ids = [number for number in marked.ids if number >= first]
    assert ids == [zoe, york, zoe, short]  # the longest that fits; case is not seen
    assert marked.pieces[:4] == ["Zoe", "went", "to", "new york"]
    text = one["story"]
    assert [text[slice(*offset)] for offset in marked.offsets] == marked.pieces
    batch = batch_of(tmp_path, every, [one])
    assert batch["candidates"].tolist() == [[[number] for number in drawn]]
    assert batch["candidates_answer"].tolist() == [1]
    assert zoe in batch["question"][0].tolist()
    assert story.size == question.size == candidates.size == first + 3


def test_a_name_that_was_never_seen_is_a_marker_as_good_as_any(tmp_path):
    every = fields()
    ids = [
        story.encode([example(every, f"{name} went", "?", f"{name}|*b")])[0][0]
        for name in ("cat", "Xyzzy", "New York")
        for story in every[:1]
    ]
    known = len(every[0].tokenizer)
    assert [[number >= known for number in one] for one in ids] == [[True, False]] * 3


def test_markers_are_drawn_by_the_texts_among_all():
    every = fields(markers=5)
    found = [example(every, f"a {n}", "?", "a|*b") for n in range(200)]
    drawn = [tuple(drawn_markers(one, "candidates", 5)) for one in found]
    assert len(set(drawn)) == 20  # every pair of five
    assert drawn == [tuple(drawn_markers(dict(one), "candidates", 5)) for one in found]


def test_a_candidate_of_no_tokens_marks_nothing():
    every = fields()
    one = example(every, "the cat went", "?", "cat|*\x01")
    known = len(every[0].tokenizer)
    assert [number >= known for number in every[0].marked([one])[0].ids] == [False, True, False]


def test_without_markers_they_are_words(tmp_path):
    every = fields(markers=0)
    batch = batch_of(
        tmp_path, every, [example(every, "the cat went", "cat?", "cat|*New York|to|went")]
    )
    cat = batch["story"][0, 1]
    assert batch["candidates"][0, 0, 0] == cat
    assert batch["candidates_mask"].sum(-1).tolist() == [[1, 2, 1, 1]]
    assert every[0].size == len(every[0].tokenizer)


def test_stories_are_cut_after_they_are_marked():
    every = fields(max_length=2, cut=True)
    one = example(every, "New York went to cat", "?", "New York|*cat")
    assert every[0].marked([one])[0].pieces == ["New York", "went"]
    assert len(every[0].encode([one])[0][0]) == 2


def test_more_candidates_than_markers_are_refused():
    with pytest.raises(Unusable, match="over 3 candidates"):
        example(fields(), "a", "b", "a|b|c|*d")


def test_a_choice_to_be_judged_by_has_an_answer():
    candidates = fields()[2]
    candidates.check_known(candidates.read("a|*b"))
    with pytest.raises(ValueError, match="says not which"):
        candidates.check_known(candidates.read("a|b"))


def test_one_file_holds_the_words_of_all_texts():
    story, question, candidates = fields()
    assert (story.file, question.file, candidates.file) == ("tokenizer.story.json", None, None)
    assert question.tokenizer is story.tokenizer
