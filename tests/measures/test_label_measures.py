"""Macro-F1 and errors of numbers, as measures: what they count adds up."""

from __future__ import annotations

import numpy as np
import pytest

from regard.measures import Confusion
from regard.measures.errors import MeanAbsoluteError, MeanSquaredError
from regard.measures.macro_f1 import MacroF1

LABELS = ["a", "b", "c", "never"]


def test_macro_f1_is_that_of_the_confusion():
    draw = np.random.default_rng(0)
    for _ in range(20):
        wanted, answers = draw.choice(LABELS[:3], (2, 9)).tolist()
        expected = Confusion.of(wanted, answers).macro_f1
        assert MacroF1(LABELS).of(wanted, answers) == pytest.approx(expected)


def test_macro_f1_of_many_choices_of_items_at_once():
    measure = MacroF1(LABELS)
    wanted, answers = list("aabbcc"), list("abbbca")
    counts = measure.counts(wanted, answers)
    rows = np.array([[0, 1, 2], [3, 4, 5]])
    found = measure.value(counts[rows].sum(1))
    for row, value in zip(rows, found, strict=True):
        one = measure.of([wanted[i] for i in row], [answers[i] for i in row])
        assert value == pytest.approx(one)


def test_macro_f1_of_no_choice_of_items_is_none():
    # two variants that answer every item alike have no item to exchange
    assert MacroF1(LABELS).value(np.zeros((2, 0, 2 * len(LABELS)))).shape == (2, 0)


def test_errors_of_numbers():
    wanted, answers = [1.0, -2.0, 4.0], [1.5, -2.0, 1.0]
    assert MeanAbsoluteError().of(wanted, answers) == pytest.approx(3.5 / 3)
    assert MeanSquaredError().of(wanted, answers) == pytest.approx(9.25 / 3)
    assert MeanAbsoluteError.error is MeanSquaredError.error is True


def test_macro_f1_of_a_label_that_there_is_not():
    with pytest.raises(
        ValueError, match=r"no label 'nevr'. Did you mean 'never'\? There are a, b, c"
    ):
        MacroF1(LABELS).of(["a"], ["nevr"])
    with pytest.raises(ValueError, match=r"There are 0, .*, 11 …"):
        MacroF1([str(n) for n in range(30)]).of(["x"], ["1"])
