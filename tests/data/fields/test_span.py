"""A span: where a stretch of text stands, in characters and then in tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lives import batch_of

from regard.data.examples import read_examples, read_values
from regard.data.fields import Document, Span, Stretch, Text, Unusable
from regard.data.problems import Problems

TEXT = "Anna lives in New York. Otto lives in Rome."
PLACE = (14, 22)  # New York


def text(**settings) -> Text:
    field = Text("text", **({"kind": "word", "bos": True} | settings))
    field.learn([TEXT])
    return field


def document(**settings) -> Document:
    field = Document("text", **settings)
    field.learn([field.read(TEXT)])
    return field


@pytest.mark.parametrize(
    "cell",
    [
        list(PLACE),
        "[14, 22]",
        [13, 23 - 1],
        "New York",
        {"text": "New York"},
        {"text": "New York", "start": 14},
        {"text": "New York", "answer_start": 14},
        {"text": ["New York", "York"], "answer_start": [14, 18]},
        [{"text": "New York", "answer_start": 14}, {"text": "York", "answer_start": 18}],
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [text, document])
def test_all_forms_are_the_same(kind, cell):
    of = kind()
    span = Span("answer", of=of)
    values = read_values([of, span], [TEXT, cell])
    several = "York" in str(cell).replace("New York", "")
    assert values["answer"] == Stretch(*PLACE, "New York", ("York",) if several else ())
    assert span.show(values["answer"]) == "New York"
    assert span.check(values) == values["answer"]


@pytest.mark.parametrize(
    "cell",
    [
        None,
        3,
        [1],
        [1, 2, 3],
        [5, 5],
        [5, 2],
        [-1, 2],
        [True, 2],
        [1.0, 2.0],
        {},
        {"start": 1},
        [[1, 2]],
        {"text": 3},
        {"text": "a", "start": -1},
        {"text": "a", "start": True},
        {"text": [], "answer_start": []},
    ],
    ids=str,
)
def test_what_cannot_be_read(cell):
    with pytest.raises(Unusable, match="stretch of text"):
        Span("answer", of=text()).read(cell)


def test_what_is_not_there(tmp_path):
    (tmp_path / "t").write_text(f"{TEXT}\n" * 6)
    cells = ["Paris", "[40, 90]", " ", "[4, 5]", "Rome", f"[{10**30}, {10**31}]"]
    (tmp_path / "a").write_text("".join(f"{cell}\n" for cell in cells))
    problems = Problems()
    of = text()
    fields = [of, Span("answer", of=of)]
    found = list(read_examples(f"{tmp_path}/t,{tmp_path}/a", fields, problems))
    assert [example["answer"].text for example in found] == ["Rome"]
    assert problems.lines("answer lines that do not occur in their text") == [1, 6]
    assert problems.lines("answer lines that are not where they are said to be in their text") == [
        2
    ]
    assert problems.lines("empty answer lines") == [3, 4]
    with pytest.raises(Unusable, match="not where they are said"):
        read_values(fields, [TEXT, {"text": "Rome", "start": 3}])


@pytest.mark.parametrize("bos", [True, False])
def test_tokens_of_a_text(tmp_path, bos):
    of = text(bos=bos)
    span = Span("answer", of=of)
    examples = [
        read_values([of, span], [TEXT, cell]) for cell in ("New York", "Rome.", "nna", "Anna")
    ]
    batch = batch_of(tmp_path, [of, span], examples)
    wanted = [[3, 4], [9, 10], [0, 0], [0, 0]]
    assert batch["answer"].tolist() == [[a + bos, b + bos] for a, b in wanted]
    pieces = of.tokens([TEXT])[0].pieces
    assert pieces[3:5] == ["New", "York"]


def test_tokens_of_a_document(tmp_path):
    of = document()
    span = Span("answer", of=of)
    examples = [read_values([of, span], [TEXT, cell]) for cell in ("Rome", "York. Otto", "Anna")]
    batch = batch_of(tmp_path, [of, span], examples)
    assert batch["answer"].tolist() == [[[1, 3], [1, 3]], [[0, 4], [1, 0]], [[0, 0], [0, 0]]]
    (sentence, word), _ = batch["answer"][0].tolist()
    assert batch["text"][0, sentence, word] == of.tokenizer.encode("Rome").ids[0]


def test_what_is_cut_off_is_not_trained_on():
    for of, lost in (
        (text(max_length=4, cut=True), ["New York", "Rome"]),
        (document(sentences=1), ["Rome"]),
        (document(words=4), ["New York"]),
    ):
        span = Span("answer", of=of)
        for cell in ("Anna", "New York", "Rome"):
            (parts,) = span.encode([read_values([of, span], [TEXT, cell])])
            assert (span.too_long(parts) is not None) == (cell in lost)
            assert len(parts[0]) == (2 if isinstance(of, Text) else 4)
            assert span.collate([parts])["answer"].shape[1] == 2
    assert span.too_long([[-1] * 4]) == "{}lines beyond the end at which the text is cut off"


def test_words_that_are_cut_already():
    of = Text("text", kind="split")
    of.learn([["New York", "is", "big"]])
    span = Span("answer", of=of)
    (parts,) = span.encode([read_values([of, span], [["New York", "is", "big"], "is big"])])
    assert parts[0] == [1, 2]


@given(st.text(alphabet="ab 学。", min_size=1, max_size=20), st.data())
def test_the_tokens_hold_the_characters(whole, data):
    start = data.draw(st.integers(0, len(whole) - 1))
    end = data.draw(st.integers(start + 1, len(whole)))
    of = text(bos=False)
    span = Span("answer", of=of)
    try:
        values = read_values([of, span], [whole, [start, end]])
    except Unusable:
        assert not whole[start:end].strip()
        return
    (((first, last),),) = span.encode([values])
    places = of.tokens([whole])[0].offsets
    stretch = values["answer"]
    assert places[first][0] <= stretch.start < places[first][1]
    assert places[last][0] < stretch.end <= places[last][1]


def test_there_is_nothing_to_learn():
    span = Span("answer", of=text())
    assert (span.file, span.size) == (None, 2)
    assert span.show(Stretch(3, 5)) == "3–5"
    assert span.identity(Stretch(3, 5)) != span.identity(Stretch(3, 6))
    assert span.check({"answer": Stretch(3, 5)}) == Stretch(3, 5)  # the text is not there
