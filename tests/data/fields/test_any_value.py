"""Whatever is given, a field reads it or says why not; what it reads becomes tensors."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.batch import collate
from regard.data.examples import read_values
from regard.data.fields import (
    Choice,
    Document,
    Field,
    Image,
    Label,
    Labels,
    Numbers,
    Span,
    Text,
    Unusable,
)

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(0, 9)
    | st.floats()
    | st.text(alphabet='ab学。. \n|*[]{}":,0\x00\ud800', max_size=9)
    | st.text(max_size=9)
)
KEYS = st.sampled_from(["text", "start", "answer_start", "candidates", "answer", "other"])
CELLS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
WORDS = ["a", "b"]


def families() -> dict[str, list[Field]]:
    text, words = Text("text"), Text("words", kind="split")
    story, split = Document("story"), Document("story", kind="split")
    text.learn(["a b 学"])
    words.learn([WORDS])
    for document in (story, split):
        document.learn([document.read("a b. 学。")])
    choice, label, labels = Choice("city"), Label("label"), Labels("tags", of=words)
    choice.learn([choice.read("a|b")])
    return {
        "text": [text],
        "words": [words, labels],
        "story": [story, Span("answer", of=story)],
        "split": [split, Span("answer", of=split)],
        "answer": [text, Span("answer", of=text)],
        "choice": [choice],
        "label": [label],
        "grey": [Image("image")],
        "colours": [Image("image", channels=3, size=(2, 3))],
        "vector": [Numbers("x")],
        "sequence": [Numbers("x", sequence=True, standardise=True)],
    }


FAMILIES = families()


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_value_is_read_or_refused_in_words(family, data):
    fields = FAMILIES[family]
    cells = [data.draw(CELLS) for _ in fields]
    if family in ("words", "story", "split", "answer") and data.draw(st.booleans()):
        cells[0] = "a b"
    try:
        values = read_values(fields, cells)
    except Unusable as error:
        assert "lines" in str(error)  # noqa: PT017
        assert "{" not in str(error)  # noqa: PT017
        return
    for field in fields:
        if isinstance(field, Label):
            field.learn([values[field.name], "another"])
        elif isinstance(field, Labels):
            field.learn([values[field.name], ["one", "another"]])
        elif isinstance(field, Image | Numbers):
            field.learn([values[field.name]])
        assert "\n" not in field.show(values[field.name])
        field.identity(values[field.name]).encode("utf-8", "surrogatepass")
    encoded = {field.name: field.encode([values])[0] for field in fields}
    for tensor in collate(fields, [encoded, encoded]).values():
        assert len(tensor) == 2
        assert bool((tensor[0] == tensor[1]).all())
