"""A label for every word: as many, at the same positions."""

from __future__ import annotations

import pytest
from lives import batch_of, reloaded

from regard.data.examples import read_examples
from regard.data.fields import Labels, Text, Unusable
from regard.data.problems import Problems

NONE = -100


def learnt(**settings) -> tuple[Text, Labels]:
    words = Text("words", kind="split", **settings)
    words.learn([["a", "b", "c"]])
    tags = Labels("tags", of=words)
    tags.learn([["N", "V"], ["D"]])
    return words, tags


def test_what_can_be_read():
    _, tags = learnt()
    assert tags.read("N V ") == ["N", "V"]
    assert tags.read(["N", 3]) == ["N", "3"]
    for cell in (None, 3, {}, ["N", None], [["N"]], [True], [1.5]):
        with pytest.raises(Unusable, match="list of labels"):
            tags.read(cell)
    for cell in ("", [], ["N", " "]):
        with pytest.raises(Unusable, match="empty"):
            tags.read(cell)
    with pytest.raises(ValueError, match=r"cut into bpe tokens: labels are of words, kind='split'"):
        Labels("tags", of=Text("words"))


@pytest.mark.parametrize("eos", [True, False])
@pytest.mark.parametrize("bos", [True, False])
def test_every_label_stands_where_its_word_does(tmp_path, bos, eos):
    words, tags = learnt(bos=bos, eos=eos)
    examples = [
        {"words": ["a", "b", "c"], "tags": ["N", "V", "D"]},
        {"words": ["c"], "tags": ["V"]},
    ]
    batch = batch_of(tmp_path, [words, tags], examples)
    row = [NONE] * bos + [1, 2, 0] + [NONE] * eos
    assert batch["tags"].tolist() == [row, [NONE] * bos + [2] + [NONE] * (2 + eos)]
    assert batch["tags"].shape == batch["words"].shape
    assert tags.decode(batch["tags"][0].tolist()) == ["N", "V", "D"]


def test_labels_are_cut_with_their_words(tmp_path):
    words, tags = learnt(max_length=2, cut=True)
    batch = batch_of(tmp_path, [words, tags], [{"words": ["a", "b", "c"], "tags": ["N", "V", "D"]}])
    assert batch["tags"].tolist() == [[1, 2, NONE]]
    assert batch["tags"].shape == batch["words"].shape


def test_as_many_labels_as_words(tmp_path):
    words, tags = learnt()
    (tmp_path / "w").write_text("a b\na b\na\n")
    (tmp_path / "t").write_text("N V\nN\nN V\n")
    problems = Problems()
    found = list(read_examples(f"{tmp_path}/w,{tmp_path}/t", [words, tags], problems))
    assert [dict(example) for example in found] == [{"words": ["a", "b"], "tags": ["N", "V"]}]
    assert problems.lines("'tags' lines without one label for every word") == [2, 3]
    assert tags.check({"tags": ["N"]}) == ["N"]  # the words are not there


def test_what_is_learnt_is_saved():
    words, tags = learnt()
    assert (tags.labels, tags.size) == (["D", "N", "V"], 3)
    reloaded(tags, Labels("tags", of=words))
    with pytest.raises(ValueError, match="no list of labels"):
        tags.load("{}")
    tags.check_known(["N"])
    with pytest.raises(ValueError, match="the label 'X' is not in the data"):
        tags.check_known(["N", "X"])
    assert tags.show(["N", "V"]) == "N V"
    assert tags.identity(["N", "V"]) != tags.identity(["NV"])
