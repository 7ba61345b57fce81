"""MAP, MRR and correlations: known answers, ties, and what cannot be measured."""

from __future__ import annotations

import numpy as np
import pytest

from regard.measures.correlation import Pearson, Spearman, ranks
from regard.measures.ranks.candidate_ranks import MeanAveragePrecision, MeanReciprocalRank

QUESTIONS = [("a", False), ("a", True), ("a", True), ("b", True), ("b", False), ("c", False)]
SCORES = [0.9, 0.8, 0.1, 0.3, 0.4, 0.5]


def test_questions_are_ranked_apart_and_those_without_an_answer_are_left_out():
    # a: right at 2 and 3, b: at 2; c has no right candidate
    assert MeanAveragePrecision().of(QUESTIONS, SCORES) == pytest.approx(
        ((1 / 2 + 2 / 3) / 2 + 1 / 2) / 2
    )
    assert MeanReciprocalRank().of(QUESTIONS, SCORES) == pytest.approx(1 / 2)
    order = np.random.default_rng(1).permutation(len(SCORES))
    shuffled = [QUESTIONS[i] for i in order], [SCORES[i] for i in order]
    for measure in (MeanAveragePrecision(), MeanReciprocalRank()):
        assert measure.of(*shuffled) == pytest.approx(measure.of(QUESTIONS, SCORES))
        assert measure.counts(QUESTIONS, SCORES)[:, 1].sum() == 2  # what is counted are questions


def test_scores_that_are_all_alike_gain_nothing():
    wanted = [("a", True), ("a", False), ("a", False)]
    assert MeanReciprocalRank().of(wanted, [0.5] * 3) == pytest.approx(1 / 3)
    assert MeanAveragePrecision().of(wanted, [0.5] * 3) == pytest.approx(1 / 3)


def test_without_a_right_candidate_nothing_can_be_ranked():
    with pytest.raises(ValueError, match="right candidate"):
        MeanAveragePrecision().of([("a", False)], [0.1])
    with pytest.raises(ValueError, match="nothing to measure"):
        MeanAveragePrecision().of([], [])


def test_correlations_are_those_of_numpy():
    draw = np.random.default_rng(2)
    x = draw.normal(size=50).round(1)
    y = x + draw.normal(size=50).round(1)
    assert Pearson().of(x, y) == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-12)
    assert Spearman().of(x, y) == pytest.approx(np.corrcoef(ranks(x), ranks(y))[0, 1], abs=1e-12)
    assert Spearman().of(x, np.exp(x)) == pytest.approx(1.0)
    assert Spearman().of(x, -x) == pytest.approx(-1.0)


def test_equal_numbers_share_their_ranks():
    assert ranks([10, 20, 20, 5]).tolist() == [2.0, 3.5, 3.5, 1.0]


@pytest.mark.parametrize("measure", [Pearson(), Spearman()])
def test_what_never_changes_follows_nothing(measure):
    assert measure.of([1.0, 2.0, 3.0], [0.1, 0.1, 0.1]) == 0.0
    assert measure.of([1e6 + 0.1] * 3, [1.0, 2.0, 3.0]) == 0.0
    assert measure.of([1.0], [2.0]) == 0.0


def test_sums_of_any_choice_of_items_can_be_measured():
    """What a bootstrap does: items drawn again, many times at once."""
    x, y = np.arange(6.0), np.array([1.0, 0.0, 3.0, 2.0, 5.0, 4.0])
    counts = Pearson().counts(x, y)
    chosen = np.array([[0, 1, 2, 2], [5, 5, 1, 0]])
    found = Pearson().value(counts[chosen].sum(1))
    for row, value in zip(chosen, found, strict=True):
        assert value == pytest.approx(np.corrcoef(x[row], y[row])[0, 1])


@pytest.mark.parametrize(("shift", "scale"), [(1e6, 0.1), (1e9, 1.0), (0.0, 1e-200), (0.0, 1e200)])
def test_a_correlation_does_not_depend_on_where_numbers_stand_or_how_large_they_are(shift, scale):
    x = [shift + scale * i for i in (1, 2, 3, 5)]
    assert Pearson().of(x, [1, 2, 3, 5]) == pytest.approx(1.0, abs=1e-6)
    assert Pearson().of([shift] * 4, [1, 2, 3, 5]) == 0.0


def test_what_is_no_number_is_not_measured():
    nan = float("nan")
    with pytest.raises(ValueError, match="finite"):
        Pearson().of([nan, 1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="not a number"):
        MeanAveragePrecision().of([("a", True), ("a", False)], [0.1, nan])


def test_counts_of_ranks_stand_beside_their_candidates():
    wanted = [("a", False), ("b", True), ("a", True), ("c", False)]
    counts = MeanReciprocalRank().counts(wanted, [0.9, 0.5, 0.1, 0.3])
    assert counts.tolist() == [[0.5, 1.0], [1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]


def test_numbers_that_are_near_one_another_for_their_size_are_told_apart():
    x = [1e9, 1e9 + 0.001, 1e9 + 0.002, 1e9 + 0.004]
    assert Pearson().of(x, [0.0, 1.0, 2.0, 4.0]) == pytest.approx(1.0, abs=1e-6)
    assert Pearson().of([1e308, -1e308, 0.0], [1.0, -1.0, 0.0]) == pytest.approx(1.0)
    assert Pearson().of([5e-324, 0.0], [1.0, 0.0]) == pytest.approx(1.0)
    assert Pearson().of([1e9, 1e9], [1.0, 0.0]) == 0.0


def test_what_is_no_number_has_no_rank():
    with pytest.raises(ValueError, match="NaN"):
        Spearman().of([float("nan"), 1.0, 2.0], [1.0, 2.0, 3.0])
