"""Numbers: vectors, sequences of them, and a single one."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from lives import batch_of, reloaded, stored

from regard.data.examples import read_examples
from regard.data.fields import Numbers, Unusable
from regard.data.fields.number_text import number_text
from regard.data.problems import Problems, said_of_value
from regard.words import speaking


@pytest.mark.parametrize(
    "cell",
    ["0.5 2 -3", "0.5,2, -3", "[0.5, 2, -3]", [0.5, 2, -3], (0.5, 2, -3), np.array([0.5, 2, -3])],
    ids=str,
)
def test_forms_of_a_vector(cell):
    value = Numbers("x").read(cell)
    assert value.tolist() == [0.5, 2, -3]


def test_a_number_and_a_sequence():
    assert Numbers("x").read(3).tolist() == Numbers("x").read("3").tolist() == [3]
    sequence = Numbers("x", sequence=True)
    assert sequence.read([[1, 2], [3, 4]]).shape == (2, 2)
    assert sequence.read("[[1, 2], [3, 4]]").shape == (2, 2)
    assert sequence.read("1 2 3").tolist() == [[1], [2], [3]]
    assert sequence.read(np.ones((4, 2), ">f8")).tolist() == [[1, 1]] * 4


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("nan", "not finite"),
        ("1 inf", "not finite"),
        ([1e39], "beyond 3e\\+38, which 32 bits do not hold"),
        ("1e308", "beyond 3e"),
        ("[1e400]", "beyond 3e"),
        (10**30, "not numbers"),
        ("9" * 400, "beyond 3e"),
        ("a b", "not numbers"),
        ("[1, 2", "not numbers"),
        ("[" * 9000, "not numbers"),
        (None, "not numbers"),
        ({"a": 1}, "not numbers"),
        (["1", "2"], "not numbers"),
        ([[1, 2]], "not a vector"),
        ([[1, 2], [3]], "not all of one length"),
        ("", "empty"),
        ([], "empty"),
        (np.array([1 + 2j]), "not numbers"),
        ("x.npy", "cannot be read here"),
    ],
    ids=str,
)
def test_what_is_refused(cell, said):
    with pytest.raises(Unusable, match=said):
        Numbers("x").read(cell)


def test_sizes():
    with pytest.raises(Unusable, match="vectors that do not have 2 numbers"):
        Numbers("x", 2).read([1, 2, 3])
    with pytest.raises(Unusable, match="not a sequence of vectors"):
        Numbers("x", sequence=True).read([[[1]]])
    with pytest.raises(ValueError, match="holds nothing"):
        Numbers("x", 0)
    field = Numbers("x")
    with pytest.raises(ValueError, match="learnt no size yet"):
        field.size  # noqa: B018
    values = [field.read(cell) for cell in ("1 2", "3 4", "5 6 7")]
    field.learn(values)
    assert field.size == 2  # as most are
    parts = field.encode([{"x": value} for value in values])
    assert [field.too_long(each) for each in parts] == [
        *[None, None, "{}lines of vectors that do not have 2 numbers"]
    ]
    with pytest.raises(ValueError, match="over 100 sizes"):
        field.learn(np.zeros(n) for n in range(1, 300))
    with pytest.raises(ValueError, match="nothing to learn the size of x from"):
        field.learn([])


def test_a_vector_of_another_size_is_told_with_both_sizes():
    with pytest.raises(Unusable) as refused:
        Numbers("film", 10).read([1, 2])
    assert said_of_value(refused.value, "film") == "film: 2 numbers where 10 are wanted"
    with speaking("zh"):
        with pytest.raises(Unusable) as refused:
            Numbers("film", 10).read([1, 2])
        assert said_of_value(refused.value, "film") == "film：应有 10 个数，而这里有 2 个"


def test_vectors_by_hand(tmp_path):
    field = Numbers("x")
    examples = [{"x": field.read(cell)} for cell in ("1 2", "3 8")]
    field.learn(example["x"] for example in examples)
    batch = batch_of(tmp_path, [field], examples)
    assert {name: x.tolist() for name, x in batch.items()} == {"x": [[1, 2], [3, 8]]}
    assert batch["x"].dtype == torch.float32
    assert stored(tmp_path, [field], examples).lengths(field) is None


def test_sequences_by_hand(tmp_path):
    field = Numbers("x", sequence=True)
    examples = [{"x": field.read(cell)} for cell in ([[1, 2], [3, 4], [5, 6]], [[7, 8]])]
    field.learn(example["x"] for example in examples)
    batch = batch_of(tmp_path, [field], examples)
    assert batch["x"].tolist() == [[[1, 2], [3, 4], [5, 6]], [[7, 8], [0, 0], [0, 0]]]
    assert batch["x_mask"].tolist() == [[True] * 3, [True, False, False]]
    assert stored(tmp_path, [field], examples).lengths(field).tolist() == [3, 1]


def test_standardised_by_dimension_and_back(tmp_path):
    field = Numbers("x", sequence=True, standardise=True)
    rows = np.random.default_rng(0).normal([5, -100, 3], [2, 30, 0], (50, 3))
    examples = [{"x": field.read(rows[:20])}, {"x": field.read(rows[20:])}]
    field.learn(example["x"] for example in examples)
    batch = batch_of(tmp_path, [field], examples)
    real = batch["x"][batch["x_mask"]]
    torch.testing.assert_close(real.mean(0), torch.zeros(3), atol=1e-5, rtol=0)
    torch.testing.assert_close(
        real.std(0, correction=0), torch.tensor([1.0, 1, 0]), atol=1e-4, rtol=0
    )
    torch.testing.assert_close(field.original(real), torch.tensor(rows), atol=1e-5, rtol=1e-6)
    assert not batch["x"][~batch["x_mask"]].any()


def test_long_sequences_are_cut_or_left_out():
    value = {"x": Numbers("x", 2, True).read(np.ones((5, 2)))}
    field = Numbers("x", 2, True, max_length=3)
    assert field.too_long(field.encode([value])[0]) == "{}lines over 3 vectors"
    cut = Numbers("x", 2, True, max_length=3, cut=True)
    assert cut.too_long(cut.encode([value])[0]) is None
    assert cut.collate(cut.encode([value]))["x"].shape == (1, 3, 2)


def test_files_of_arrays(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(6).reshape(3, 2))
    np.savez_compressed(tmp_path / "b.npz", np.arange(4.0).reshape(2, 2))
    np.savez(tmp_path / "two.npz", np.ones(2), np.ones(2))
    np.save(tmp_path / "pickled.npy", np.array([{"a": 1}], object), allow_pickle=True)
    (tmp_path / "cut.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:-1])
    (tmp_path / "cut.npz").write_bytes((tmp_path / "b.npz").read_bytes()[:-30])
    huge = (tmp_path / "a.npy").read_bytes().replace(b"(3, 2), }", b"(9999999, 99), }")
    (tmp_path / "huge.npy").write_bytes(huge)
    names = ["a.npy", "b.npz", "two.npz", "pickled.npy", "cut.npy", "cut.npz", "huge.npy", "no.npy"]
    (tmp_path / "l.jsonl").write_text("".join(json.dumps({"x": name}) + "\n" for name in names))
    problems = Problems()
    found = list(read_examples(tmp_path / "l.jsonl", [Numbers("x", sequence=True)], problems))
    assert [example["x"].tolist() for example in found] == [
        [[0, 1], [2, 3], [4, 5]],
        [[0, 1], [2, 3]],
    ]
    assert problems.lines("lines that name files without an array of numbers") == [3, 5, 6]
    assert problems.lines("lines that are not numbers") == [4]  # never unpickled
    assert problems.lines("lines of arrays over 67,108,864 bytes") == [7]
    assert problems.lines("lines that name a missing file") == [8]


@pytest.mark.parametrize(
    "settings", [{}, {"sequence": True}, {"standardise": True}, {"size": 2}], ids=str
)
def test_what_is_learnt_is_saved(settings):
    field = Numbers("x", **settings)
    field.learn([field.read([[1, 2], [3, 4]] if field.sequence else [1, 2])])
    again = Numbers("x", **settings)
    reloaded(field, again)
    for text in ("[]", '{"size": 0}', '{"size": "2"}', "{}"):
        with pytest.raises(ValueError, match="it says no size"):
            again.load(text)
    with pytest.raises(ValueError, match="no mean and deviation"):
        Numbers("x", standardise=True).load('{"size": 2, "mean": [1, 2], "deviation": [1, 0]}')


def test_shown_and_told_apart():
    field = Numbers("x")
    assert field.show(field.read("1.5 2")) == "1.5 2"
    assert field.show(field.read(list(range(20)))).endswith("7 …")
    series = Numbers("x", sequence=True)
    assert series.show(np.ones((3, 2))) == "3 vectors of 2 numbers: 1 1 1 1 1 1"
    assert series.show(np.array([[2.5]])) == "1 vector of 1 number: 2.5"
    assert series.show(np.ones((1, 20))) == "1 vector of 20 numbers: 1 1 1 1 1 1 1 1 …"
    assert series.show(np.ones((2000, 1))).startswith("2,000 vectors of 1 number: 1 1")
    assert field.identity(field.read("1 2")) == field.identity(field.read([1, 2]))
    assert field.identity(field.read("1 2")) != field.identity(field.read("2 1"))


def test_vectors_of_another_size_than_was_learnt_are_refused_wherever_they_come_from():
    field = Numbers("series", sequence=True)
    field.learn([np.zeros((3, 2), np.float32)])
    again = Numbers("series", sequence=True)
    again.load(field.to_json())
    for known in (field, again):
        assert known.read([[0, 1], [1, 2]]).shape == (2, 2)
        for wrong in ([[0, 1, 2], [1, 2, 3]], [[0], [1]]):
            with pytest.raises(Unusable, match="do not have 2 numbers"):
                known.read(wrong)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64, torch.int8])
def test_a_tensor_is_numbers_whatever_made_it(dtype):
    numbers = torch.tensor([1, 2, 3], dtype=dtype, requires_grad=dtype.is_floating_point)
    np.testing.assert_array_equal(Numbers("n").read(numbers), [1, 2, 3])
    if numbers.requires_grad:
        with pytest.raises(Unusable, match="not numbers"):
            Numbers("n").read([numbers, numbers])


@pytest.mark.parametrize("center", [0.0, 1e-6, 1.0, 2e6, 1.7e9, -1.7e9])
def test_numbers_that_differ_are_told_apart(center):
    """By a millionth of a small one, by a hundredth of a large one."""
    step = 0.01 if abs(center) > 1 else 1e-8
    numbers = [center + step * n for n in range(20)]
    told = [number_text(number) for number in numbers]
    assert len(set(told)) == 20
    assert [float(each) for each in told] == pytest.approx(numbers, rel=1e-8, abs=1e-12)


def test_a_number_of_few_digits_is_told_in_few():
    assert [number_text(x) for x in (0.0, 0.1, -2.5, 2000042.0, 1e300)] == [
        *["0", "0.1", "-2.5", "2000042", "1e+300"]
    ]


@pytest.mark.parametrize("mean", [0.0, 1e-9, 20.0, 1.7e9, -1e12])
@pytest.mark.parametrize("spread", [1e-11, 1e-3, 29.0])
@pytest.mark.parametrize("kind", ["text", "list", "array"])
def test_a_small_spread_is_kept_whatever_the_mean(mean, spread, kind, tmp_path):
    """Digits are lost only where 64 bits have none for them."""
    column = mean + spread * np.random.default_rng(0).normal(size=200)
    if column.std() < 1e-12 * abs(mean):
        pytest.skip("64 bits do not hold it")
    field = Numbers("x", size=1, standardise=True)
    cells = {"text": map(repr, column.tolist()), "list": column.tolist(), "array": column[:, None]}
    examples = [{"x": field.read(cell)} for cell in cells[kind]]
    field.learn(example["x"] for example in examples)
    assert field.scale.mean[0] == pytest.approx(column.mean(), rel=1e-15, abs=1e-6 * spread)
    assert field.scale.deviation[0] == pytest.approx(column.std(), rel=1e-6)
    again = Numbers("x", size=1, standardise=True)
    again.load(field.to_json())
    batch = batch_of(tmp_path, [again], examples)["x"]
    wanted = torch.from_numpy((column - column.mean()) / column.std())[:, None]
    torch.testing.assert_close(batch.double(), wanted, atol=1e-3, rtol=0)
    original = again.original(batch)
    assert original.dtype == torch.float64
    off = (original[:, 0] - torch.from_numpy(column)).abs().max()
    assert off <= 1e-6 * spread + 4e-16 * abs(mean)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("number", [0.0, 0.1, -1.7e9 / 3])
def test_numbers_that_never_change_stay_apart_from_their_mean_by_nothing(number, dtype, tmp_path):
    field = Numbers("x", sequence=True, standardise=True)
    examples = [{"x": field.read(np.full((n, 1), number, dtype))} for n in (1, 1000, 37)]
    assert {example["x"].dtype for example in examples} == {np.dtype(dtype)}
    field.learn(example["x"] for example in examples)
    assert field.scale.deviation.tolist() == [1]
    assert not batch_of(tmp_path, [field], examples)["x"].any()


def test_rounding_of_32_bits_is_no_spread():
    column = (1 / 3 + 1e-8 * np.random.default_rng(0).normal(size=(99, 1))).astype(np.float32)
    assert column.std() > 0
    field = Numbers("x", standardise=True)
    field.learn([field.read(row) for row in column])
    assert field.scale.deviation.tolist() == [1]
