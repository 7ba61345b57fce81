"""A record survives JSON, says what is wrong with it, and keeps its numbers as near as it promises."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from regard.records.attention_map import AttentionMap
from regard.records.beam_tree import Beam, BeamNode
from regard.records.explanation import Explanation
from regard.records.packed_arrays import MIDDLE, SMALL, pack, pack_bits, unpack
from regard.records.png_image import PngImage
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord, Picture, Side
from regard.records.token_words import merge_words, word_numbers


def softmax(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    powers = np.exp(np.random.default_rng(seed).normal(size=shape) * 2)
    return (powers / powers.sum(-1, keepdims=True)).astype(np.float32)


def whole_record() -> AttentionRecord:
    """With every field that a record may have."""
    source = Side.of("我是。", ["我", "是", "。"], [(0, 1), (1, 2), (2, 3)], language="zh")
    picture = Picture(PngImage.of(np.zeros((1, 3))).source, 1, 3)
    image = Side.of("", ["1", "2", "3"], [(0, 0)] * 3, words=range(3), picture=picture)
    target = Side.of("I am", ["I", "am", "(end)"], [(0, 1), (2, 4), (4, 4)], special=[0, 0, 1])
    causal = np.tril(np.ones((3, 3), bool))
    cross = AttentionMap(
        "cross",
        "target",
        "source",
        softmax((2, 2, 3, 3)),
        ("one", "two"),
        "score: dot",
        "softmax",
        "layer 1",
        scores=softmax((2, 2, 3, 3), 1),
        allowed=causal[None, None],
        factor=softmax((2, 2, 3, 3), 2),
        values=softmax((2, 2, 3, 5), 3),
    )
    over = AttentionMap("image", "target", "image", softmax((1, 1, 3, 3)))
    nodes = (BeamNode(-1, "I", -0.5, -0.5, "open"), BeamNode(0, "am", -1, -1.5, "ended", -0.7, 0))
    told = Explanation(
        "gradient",
        "a title",
        "a reading",
        "cross",
        softmax((3, 3)),
        {"τ": [0.5, np.nan, 1.0]},
        True,
    )
    return AttentionRecord(
        {"source": source, "target": target, "image": image},
        (cross, over),
        title="我是。",
        model="a model",
        output="I am",
        notes=("something was forced",),
        beam=Beam(nodes, softmax((2, 3))),
        explanations=(told,),
        glimpses=(((0.1, 0.2, 0.3, 0.4),), (), ()),
        question={"text": "我是。", "beam": 2},
    )


def test_a_record_is_the_same_after_json():
    record = whole_record()
    again = AttentionRecord.from_json(record.to_json())
    assert again.to_json() == record.to_json()
    assert again.sides == record.sides
    assert (again.beam.nodes, again.glimpses) == (record.beam.nodes, record.glimpses)
    for one, other in zip(again.maps, record.maps, strict=True):
        for name in ("weights", "scores", "factor", "values"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(
        again.maps[0].allowed, np.broadcast_to(record.maps[0].allowed, (2, 2, 3, 3))
    )
    np.testing.assert_array_equal(again.explanations[0].rows["τ"], [0.5, np.nan, 1.0])


def test_json_is_plain_and_strict():
    """No NaN, which is no JSON; nothing that is not JSON's own."""
    plain = json.loads(whole_record().to_json(), parse_constant=lambda name: pytest.fail(name))
    assert plain["format"] == "regard.attention/1"
    assert plain["explanations"][0]["rows"]["τ"] == [0.5, None, 1.0]
    assert plain["maps"][1]["layers"] == ["1"]
    assert plain["maps"][0]["weights"]["shape"] == [2, 2, 3, 3]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "regard.attention/9"}, "regard.attention/9"),
        ({"sides": {}}, "names a side 'target' that there is not"),
        ({"maps": [{}]}, "missing or of another kind"),
        ({"maps": 7}, "missing or of another kind"),
    ],
)
def test_what_is_no_record_is_refused(change, said):
    given_ = {**whole_record().to_dict(), **change}
    with pytest.raises(NotARecord, match=said):
        AttentionRecord.from_dict(given_)


@pytest.mark.parametrize(("text", "said"), [("{", "no JSON"), ("[1]", "a JSON object, not list")])
def test_what_is_no_json_object_is_refused(text, said):
    with pytest.raises(NotARecord, match=said):
        AttentionRecord.from_json(text)


def test_labels_must_fit_the_weights():
    with pytest.raises(NotARecord, match=r"'attention' has 3 keys, but its side 'keys' has 2"):
        AttentionRecord.of(softmax((2, 3)), ["a", "b"], ["x", "y"])
    with pytest.raises(NotARecord, match="given \\(3,\\)"):
        AttentionRecord.of([0.1, 0.2, 0.7], ["a"], ["x", "y", "z"])
    with pytest.raises(NotARecord, match="no map 'crss'"):
        whole_record().map("crss")


@pytest.mark.parametrize("shape", [(2, 3), (4, 2, 3), (5, 4, 2, 3)])
def test_weights_may_lack_layers_and_heads(shape):
    record = AttentionRecord.of(softmax(shape), ["a", "b"], "xyz")
    assert record.map().weights.shape == (1,) * (4 - len(shape)) + shape


@given(arrays.arrays(np.float32, (7, 5), elements=st.floats(0, 1, width=32)))
def test_few_numbers_are_exact(array):
    np.testing.assert_array_equal(unpack(pack(array)), array)


@pytest.mark.parametrize(
    ("size", "kind", "near_zero", "everywhere"),
    [(SMALL + 1, "float16", 1e-6, 5e-4), (MIDDLE + 1, "sqrt8", 2e-5, 4e-3)],
)
def test_many_weights_are_as_near_as_promised(size, kind, near_zero, everywhere):
    weights = np.linspace(0, 1, size, dtype=np.float32) ** 2
    packed = pack(weights)
    assert packed["type"] == kind
    error = np.abs(unpack(packed) - weights)
    assert error.max() <= everywhere
    assert error[weights < 1e-5].max() <= near_zero
    assert unpack(packed)[[0, -1]].tolist() == [0, 1]


def test_what_is_no_weight_keeps_its_size_and_sign():
    scores = np.linspace(-40, 40, MIDDLE + 1, dtype=np.float32)
    packed = pack(scores, weights=False)
    assert packed["type"] == "float16"
    np.testing.assert_allclose(unpack(packed), scores, rtol=1e-3, atol=1e-6)
    huge = scores * 1e4
    np.testing.assert_array_equal(unpack(pack(huge, weights=False)), huge)


def test_weights_that_are_no_shares_are_not_cut_off():
    raw = np.linspace(-3, 12, MIDDLE + 1, dtype=np.float32)
    np.testing.assert_allclose(unpack(pack(raw)), raw, rtol=1e-3, atol=1e-6)
    some = np.full(MIDDLE + 1, 0.25, np.float32)
    for odd in (np.nan, np.inf, -np.inf, 2.0):
        some[7] = odd
        np.testing.assert_array_equal(unpack(pack(some)), some)
    assert pack(np.full(MIDDLE + 1, np.nan, np.float32))["type"] == "float16"
    rounded = np.full(MIDDLE + 1, 1.0005, np.float32)  # of half precision
    assert pack(rounded)["type"] == "sqrt8"


@given(arrays.arrays(np.bool_, st.tuples(st.integers(1, 3), st.integers(1, 11))))
def test_bits_are_exact(array):
    np.testing.assert_array_equal(unpack(pack_bits(array)), array)


def test_an_array_of_an_unknown_type_is_refused():
    with pytest.raises(ValueError, match="no array of type 'float8'"):
        unpack({"type": "float8", "shape": [1], "data": ""})


@pytest.mark.parametrize(
    ("text", "cut", "words"),
    [
        ("unreadable books", ["un", "read", "able", "book", "s"], [0, 0, 0, 1, 1]),
        ("don't, l’homme", ["don", "'t", ",", "l’", "homme"], [0, 0, 1, 2, 2]),
        ("我是学生", ["我", "是", "学生"], [0, 1, 2]),
        ("GPT4学", ["GPT", "4", "学"], [0, 0, 1]),
        ("a  b", ["a", "b"], [0, 1]),
        ("می‌روم", ["می", "‌روم"], [0, 0]),
    ],
)
def test_tokens_of_one_word(text, cut, words):
    offsets, end = [], 0
    for piece in cut:
        start = text.index(piece, end)
        end = start + len(piece)
        offsets.append((start, end))
    assert word_numbers(text, offsets, [False] * len(cut)) == words


def test_parts_of_one_character_are_one_word_and_special_tokens_are_alone():
    spaced = "a b  c "
    cut = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 7)]
    marks = [False] * 7 + [True]
    assert word_numbers(spaced, cut, marks) == [0, 1, 1, 2, 2, 2, 2, 3]  # spaces are no words
    assert word_numbers("a\nb", [(0, 1), (1, 2), (2, 3)], [False] * 3) == [
        0,
        1,
        2,
    ]  # a line is more
    assert word_numbers(" ", [(0, 1)], [False]) == [0]
    assert word_numbers("ab", [(0, 0), (0, 1), (1, 2)], [False] * 3) == [0, 0, 0]
    assert word_numbers("我a", [(0, 1), (0, 1), (0, 1), (1, 2)], [False] * 4) == [0, 0, 0, 1]
    assert word_numbers("ab", [(0, 1), (1, 2), (2, 2)], [False, True, False]) == [0, 1, 2]


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 99))
def test_rows_of_words_sum_to_what_they_did(queries, keys, seed):
    weights = softmax((2, queries, keys), seed)
    chance = np.random.default_rng(seed)
    rows = np.cumsum(chance.integers(0, 2, queries)) * (queries > 1)
    rows -= rows[0]
    columns = np.cumsum(chance.integers(0, 2, keys))
    columns -= columns[0]
    merged = merge_words(weights, rows.tolist(), columns.tolist())
    assert merged.shape == (2, rows[-1] + 1, columns[-1] + 1)
    np.testing.assert_allclose(merged.sum(-1), 1, atol=1e-5)


def test_keys_of_a_word_are_summed_and_its_queries_averaged():
    weights = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]], np.float32)
    np.testing.assert_allclose(merge_words(weights, [0, 0], [0, 0, 1]), [[0.5, 0.5]], atol=1e-6)


def test_words_can_be_corrected_and_json_keeps_that():
    record = whole_record()
    corrected = record.with_words("source", [0, 0, 1])
    side = corrected.sides["source"]
    assert side.words == (0, 0, 1)
    assert side.corrected
    assert AttentionRecord.from_json(corrected.to_json()).sides["source"] == side
    assert not record.sides["source"].corrected
    assert "corrected" not in record.sides["source"].to_dict()


@pytest.mark.parametrize("words", [[], [0, 1], [1, 1, 2], [0, 2, 3], [0, 1, 0], [0, 0, 0, 1]])
def test_words_with_gaps_or_of_other_tokens_are_refused(words):
    with pytest.raises(NotARecord, match="a number for each of the 3 tokens"):
        whole_record().with_words("source", words)
    with pytest.raises(NotARecord, match="no side 'sauce'"):
        whole_record().with_words("sauce", [0])
