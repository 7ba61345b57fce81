"""Words and their spelling: what is stored and collated, and what is unknown."""

from __future__ import annotations

import json

import pytest

from regard.data.fields import Words
from regard.data.store import Stored, make_store

EXAMPLES = [{"words": ["the", "cat", "sat"]}, {"words": ["a", "cat"]}, {"words": ["the", "ox"]}]


@pytest.fixture
def words() -> Words:
    field = Words("words", size=50)
    field.learn(example["words"] for example in EXAMPLES)
    return field


def spelt(field: Words, row) -> list[str]:
    names = dict(enumerate(field.characters, start=2))
    return ["".join(names.get(int(n), "?") for n in word if n) for word in row]


def test_every_word_is_one_position_without_an_end(words):
    batch = words.collate(words.encode(EXAMPLES))
    assert batch["words"].shape == (3, 3)
    assert batch["words_mask"].tolist() == [[True] * 3, [True, True, False], [True, True, False]]
    assert batch["words_characters"].shape == (3, 3, 3)
    assert spelt(words, batch["words_characters"][0]) == ["the", "cat", "?at"]  # s occurs once
    assert spelt(words, batch["words_characters"][1]) == ["a", "cat", ""]


def test_unknown_words_and_characters_are_numbers_of_their_own(words):
    batch = words.collate(words.encode([{"words": ["Ω", "cat"]}]))
    known = words.collate(words.encode([{"words": ["cat"]}]))
    assert batch["words"][0, 0] == 1
    assert batch["words_characters"][0, 0, 0] == 1
    assert batch["words"][0, 1] == known["words"][0, 0]


def test_a_row_of_a_batch_is_the_example_alone(words):
    together = words.collate(words.encode(EXAMPLES))
    for row, example in enumerate(EXAMPLES):
        alone = words.collate(words.encode([example]))
        length = alone["words"].shape[1]
        assert together["words"][row, :length].equal(alone["words"][0])
        width = alone["words_characters"].shape[2]
        assert together["words_characters"][row, :length, :width].equal(
            alone["words_characters"][0]
        )


def test_what_was_learnt_comes_back_from_its_file(words):
    again = Words("words", size=50)
    again.load(words.to_json())
    assert again.size == words.size
    assert again.encode(EXAMPLES) == words.encode(EXAMPLES)
    with pytest.raises(ValueError, match="no words"):
        again.load(json.dumps({"labels": ["a"]}))


def test_it_goes_through_a_store(words, tmp_path):
    def rows(problems):
        for line, parts in enumerate(words.encode(EXAMPLES), 1):
            yield Stored(line, {"words": parts})

    store = make_store(tmp_path / "store", rows, [], [words], [], "sentence")
    back = words.collate([store.example(row)["words"] for row in range(3)])
    for name, tensor in words.collate(words.encode(EXAMPLES)).items():
        assert back[name].equal(tensor)
    assert store.lengths(words).tolist() == [3, 2, 2]


@pytest.mark.parametrize("value", ["", [], ["a", ""], 3, [1], None])
def test_what_are_no_words_is_refused(words, value):
    with pytest.raises(ValueError, match=r"lines"):
        words.read(value)


def test_a_text_is_cut_at_its_blanks(words):
    assert words.read(" the  cat\tsat ") == ["the", "cat", "sat"]
    assert words.show(["the", "cat"]) == "the cat"


def test_a_word_is_spelt_the_same_however_it_was_typed(words):
    words.learn([["café", "cafe\u0301"], ["été", "e\u0301te\u0301"]])
    composed, taken_apart = words.encode([{"words": ["café"]}, {"words": ["cafe\u0301"]}])
    assert composed == taken_apart
