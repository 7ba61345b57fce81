"""Intervals of scores, by drawing items again."""

import numpy as np
import pytest

from regard.measures.translation_measures import CorpusBleu
from regard.statistics import bootstrap_interval


def mean(sums):
    return sums[..., 0] / sums[..., 1]


def test_the_interval_of_a_mean_is_that_of_theory():
    draw = np.random.default_rng(0)
    values = draw.normal(3.0, 2.0, 400)
    counts = np.stack([values, np.ones(400)], -1)
    low, high = bootstrap_interval(counts, mean, draws=4000)
    half = 1.96 * values.std() / np.sqrt(400)
    assert low == pytest.approx(values.mean() - half, abs=0.03)
    assert high == pytest.approx(values.mean() + half, abs=0.03)


def test_it_covers_the_truth_about_as_often_as_it_says():
    draw, covered = np.random.default_rng(1), 0
    for _ in range(200):
        right = (draw.random(150) < 0.7).astype(float)
        low, high = bootstrap_interval(np.stack([right, np.ones(150)], -1), mean, draws=400)
        covered += low <= 0.7 <= high
    assert 0.89 <= covered / 200 <= 0.99


def test_it_is_the_same_every_time_and_however_it_is_cut(monkeypatch):
    counts = np.stack([np.arange(50.0) % 7, np.ones(50)], -1)
    whole = bootstrap_interval(counts, mean)
    assert bootstrap_interval(counts, mean) == whole
    monkeypatch.setattr("regard.statistics.bootstrap.CHUNK", 50 * 50)
    assert bootstrap_interval(counts, mean) == whole


def test_a_wider_level_is_a_wider_interval():
    counts = np.stack([np.arange(50.0) % 7, np.ones(50)], -1)
    wide, narrow = (bootstrap_interval(counts, mean, level=level) for level in (0.99, 0.5))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@pytest.mark.parametrize("rows", [[], [[1.0, 1.0]], [[1.0, 1.0]] * 30])
def test_there_is_none_where_drawing_tells_nothing(rows):
    assert bootstrap_interval(np.array(rows).reshape(-1, 2), mean) is None


def test_a_measure_of_a_corpus_is_drawn_as_a_whole():
    wanted = [f"the cat number {n} sat on mat {n % 7}" for n in range(60)]
    answers = [text if n % 3 else text.replace("sat", "stood") for n, text in enumerate(wanted)]
    measure = CorpusBleu()
    counts = measure.counts(wanted, answers)
    low, high = bootstrap_interval(counts, measure.value)
    assert low < float(measure.value(counts.sum(0))) < high
