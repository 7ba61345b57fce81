"""Clozes: the name stands exactly as many words back as asked, and nothing but memory tells it."""

from __future__ import annotations

import pytest

from regard.data.cloze import LEAD, NAMES, clozes, words_of
from regard.data.examples import Example


def lines(*texts: str) -> list[Example]:
    return [Example(number, {"text": text}, "a") for number, text in enumerate(texts, 1)]


BOOK = lines(*(" ".join(f"w{line}.{i}" for i in range(line % 5)) for line in range(200)))


@pytest.mark.parametrize("distances", [[1], [7], [3, 20]])
def test_the_name_stands_at_its_distance_from_where_it_is_told(distances):
    found = list(clozes(BOOK, distances, NAMES[:6]))
    assert [one["distance"] for one in found] == [
        distances[i % len(distances)] for i in range(len(found))
    ]
    for one in found:
        assert len(one["text"]) - one["text"].index(one["name"]) == one["distance"]
        assert sum(word in NAMES for word in one["text"]) == 1


def test_without_the_name_it_is_the_running_text():
    every = [word for line in BOOK for word in words_of(line["text"])]
    for one in clozes(BOOK, [20], NAMES[:6]):
        plain = [word for word in one["text"] if word not in NAMES]
        start = every.index(plain[0]) if plain else 0
        assert every[start : start + len(plain)] == plain


def test_names_and_places_are_drawn_anew_and_always_alike():
    first, again = (list(clozes(BOOK, [9], NAMES[:6])) for _ in range(2))
    assert first == again
    assert {one["name"] for one in first} == set(NAMES[:6])
    assert {one["text"].index(one["name"]) for one in first} == set(range(LEAD))


def test_a_name_of_the_text_itself_is_left_out():
    words = " ".join(f"w{i}" for i in range(30))
    (one, *_) = clozes(lines(f"① {words} ①", words), [5], NAMES)
    assert sum(word in NAMES for word in one["text"]) == 1


def test_lines_that_too_little_follows_begin_nothing():
    assert list(clozes(lines("a b c"), [40], NAMES)) == []
    assert list(clozes([], [1], NAMES)) == []


def test_words_are_characters_where_no_spaces_are_written():
    assert words_of("I don't like it.") == ["I", "don't", "like", "it", "."]
    assert words_of("我是学生。") == ["我", "是", "学", "生", "。"]


def test_there_are_fifty_different_names():
    assert len(set(NAMES)) == 50
    assert all(words_of(name) == [name] for name in NAMES)
