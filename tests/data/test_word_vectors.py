"""Files of word vectors: both formats, only what is wanted, and what is wrong with one."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from regard.data.problems import CorpusError
from regard.data.tokenizer import Tokenizer
from regard.data.word_vectors import read_vectors, vector_size

GLOVE = """the 0.1 0.2 0.3
. -1 2e-1 0.5
at name@domain.com 1 2 3
cat 1 2 3
the 9 9 9
Tom 4 5 6
tom 7 8 9
学生 0 1 0
"""


@pytest.fixture
def write(tmp_path):
    def write(text: str, name: str = "vectors.txt"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
        return path

    return write


def words(*texts: str, kind: str = "word", **how) -> Tokenizer:
    return Tokenizer.train(texts, kind=kind, **how)


@pytest.mark.parametrize("name", ["v.txt", "v.txt.gz"])
@pytest.mark.parametrize("first", ["", "7 3\n"])
def test_both_formats_give_each_token_the_vector_of_its_word(write, first, name):
    path, tokenizer = write(first + GLOVE, name), words("the cat and the dog at 学生 .")
    assert vector_size(path) == 3
    found = read_vectors(path, tokenizer)
    by_word = {
        tokenizer.labels[token - 4].removeprefix("▁"): vector.tolist()
        for token, vector in zip(found.tokens, found.vectors, strict=True)
    }
    assert by_word == {
        "the": pytest.approx([0.1, 0.2, 0.3]),
        ".": pytest.approx([-1, 0.2, 0.5]),
        "cat": [1, 2, 3],
        "学生": [0, 1, 0],
    }


def test_a_word_is_taken_as_it_is_spelt_or_else_in_lower_case(write):
    path, tokenizer = write(GLOVE), words("The Tom TOM cat")
    found = read_vectors(path, tokenizer)
    named = {
        tokenizer.labels[i - 4].removeprefix("▁"): v[0]
        for i, v in zip(found.tokens, found.vectors, strict=True)
    }
    assert named == {"The": np.float32(0.1), "Tom": 4, "TOM": 7, "cat": 1}


def test_a_word_after_a_blank_and_without_one_are_two_tokens_and_one_word(write):
    tokenizer = words("cat cat-cat the", verbatim=True)
    found = read_vectors(write(GLOVE), tokenizer)
    assert sorted(tokenizer.labels[i - 4] for i in found.tokens) == ["cat", "▁cat", "▁the"]


def test_of_pieces_only_those_that_begin_a_word_have_one(write):
    tokenizer = words("the cat the cat", kind="bpe", size=40)
    found = read_vectors(write("the 1 2 3\nat 4 5 6\nt 7 8 9\n"), tokenizer)
    assert found.tokens
    assert all(tokenizer.labels[i - 4].startswith("▁") for i in found.tokens)


def test_no_word_at_all_is_an_empty_find(write):
    found = read_vectors(write("zebra 1 2 3\n"), words("the cat"))
    assert found.tokens == []
    assert found.vectors.shape == (0, 3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("a word and no numbers\n", "begins with 'a word"),
        ("alone\n", "begins with 'alone'"),
        ("dog 1 2 3\nthe 1 nan 3\n", "line 2: the vector of 'the' is not all numbers"),
        ("dog 1 2 3\nthe 1 x 3\n", "line 2: the vector of 'the'"),
        ("a 1 2 3\nthe 1 2\ndog 3 4\n", "line 2: .* a word and 3 numbers, .* 1 of the other 2"),
        ("2 3\nthe 1 2\ncat 3 4\n", "line 2: .* a word and 3 numbers"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(write, text, said):
    with pytest.raises(CorpusError, match=said):
        read_vectors(write(text), words("the cat"))


def test_lines_that_are_no_word_and_its_numbers_are_counted_and_passed_over(write):
    good = "".join(f"word{n} 1 2 3\n" for n in range(300))
    spoilt = "the 1 2\n" + good + "\n. . . 1 2 3\ncat 4 5 6\n" + "the 1 2 3 x y\n" + "do"
    found = read_vectors(write("dog 0 0 0 \n" + spoilt), words("the cat dog"))
    assert len(found.tokens) == 2
    assert list(found.malformed) == [2, 306, 307]  # neither the blank line nor the word of blanks


def test_a_file_that_is_cut_off_is_used_as_far_as_it_goes(write):
    found = read_vectors(write("the 1 2 3\ncat 4 5"), words("the cat"))
    assert (len(found.tokens), list(found.malformed)) == (1, [2])
