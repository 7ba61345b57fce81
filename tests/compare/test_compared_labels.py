"""Macro-F1 compared: by label, and on which items."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_scores import findings

from regard.compare.cases import cases, item_weights
from regard.compare.closer_look import closer_section
from regard.compare.comparison import Comparison, ScoredVariant
from regard.compare.findings import Closer
from regard.compare.items import Item
from regard.compare.judged_run import Cost, JudgedRun
from regard.compare.slices import slices
from regard.measures import Confusion
from regard.measures.accuracy import WordAccuracy
from regard.measures.correlation import Pearson
from regard.measures.macro_f1 import MacroF1
from regard.measures.measure import Measure
from regard.measures.ranks.candidate_ranks import MeanReciprocalRank

LABELS = "DESC", "ENTY", "HUM", "LOC"
ITEMS = 160


def wanted_labels() -> list[str]:
    return [LABELS[n % 7 % 4] for n in range(ITEMS)]


def made_answers(share: float, seed: int) -> list[str]:
    """Right in this share of items, hard for all alike; else any label."""
    draw = np.random.default_rng(seed)
    hard = np.random.default_rng(1).random(ITEMS)
    any_label = draw.integers(len(LABELS), size=ITEMS)
    return [
        label if hard[n] < share + draw.normal() / 20 else LABELS[any_label[n]]
        for n, label in enumerate(wanted_labels())
    ]


ANSWERS = {
    name: {seed: made_answers(share, 10 * place + seed) for seed in (1, 2, 3)}
    for place, (name, share) in enumerate({"good": 0.8, "poor": 0.6}.items())
}


def compared(measure: Measure) -> Comparison:
    return Comparison(
        measure,
        [
            ScoredVariant(
                name,
                {seed: measure.counts(wanted_labels(), said) for seed, said in by_seed.items()},
            )
            for name, by_seed in ANSWERS.items()
        ],
    )


def labelled_items() -> list[Item]:
    return [
        Item(n + 1, f"text {n}", label, 4, None, (label,))
        for n, label in enumerate(wanted_labels())
    ]


def test_macro_f1_by_label_is_the_f1_of_each_label():
    parts = slices(compared(MacroF1(LABELS)), "good", "poor", labelled_items())
    of_labels = {part.name: part for part in parts if part.by == "label"}
    assert set(of_labels) == set(LABELS)
    for label, part in of_labels.items():
        means = [
            np.mean([Confusion.of(wanted_labels(), said).f1(label) for said in by_seed.values()])
            for by_seed in ANSWERS.values()
        ]
        assert list(part.values) == pytest.approx(means)
        assert part.difference.difference == pytest.approx(means[0] - means[1])
        assert {wanted_labels()[row] for row in part.items} == {label}


def test_a_measure_that_labels_do_not_have_has_no_part_by_label():
    draw = np.random.default_rng(1)
    pairs = {name: draw.normal(size=(3, ITEMS)) for name in ANSWERS}
    numbers = [
        ScoredVariant(name, {n: Pearson().counts(range(ITEMS), row) for n, row in enumerate(rows)})
        for name, rows in pairs.items()
    ]
    found = slices(Comparison(Pearson(), numbers), "good", "poor", labelled_items())
    assert {part.by for part in found} == {"length"}
    wanted = [(n // 4, n % 4 == 1) for n in range(ITEMS)]  # questions with four candidates each
    ranks = [
        ScoredVariant(
            name, {n: MeanReciprocalRank().counts(wanted, row) for n, row in enumerate(rows)}
        )
        for name, rows in pairs.items()
    ]
    found = slices(Comparison(MeanReciprocalRank(), ranks), "good", "poor", labelled_items())
    assert {part.by for part in found} == {"length"}


def test_no_interval_leaves_what_is_possible():
    measure = MacroF1(LABELS)
    right, wrong = wanted_labels(), ["LOC"] * ITEMS
    counts = [measure.counts(right, said) for said in (right, wrong)]
    made = Comparison(
        measure,
        [
            ScoredVariant("one", dict(enumerate(counts))),
            ScoredVariant("other", dict(enumerate(reversed(counts)))),
        ],
    )
    difference = made.pair("one", "other").difference
    assert difference.half_width(0.05) > 1
    assert difference.interval == (-1.0, 1.0)
    parts = slices(made, "one", "other", labelled_items())
    assert all(-1 <= bound <= 1 for part in parts for bound in part.difference.interval)


def test_the_items_that_make_the_difference_are_right_in_one_and_wrong_in_the_other():
    made, items = compared(MacroF1(LABELS)), labelled_items()
    judged = {
        name: {
            seed: JudgedRun(Path(name), seed, "", {}, said, Cost(1))
            for seed, said in by_seed.items()
        }
        for name, by_seed in ANSWERS.items()
    }
    picked = cases(made, "good", "poor", items, judged)
    assert len(picked) == 6
    for case in picked:
        one, other = (answer == items[case.row].wanted for answer in case.answers)
        assert (one, other) == (case.weight > 0, case.weight < 0)
    weights = item_weights(made, "good", "poor")
    for row, seed in np.argwhere(weights.T):
        one, other = (ANSWERS[name][seed + 1][row] == wanted_labels()[row] for name in ANSWERS)
        assert weights[seed, row] == one - other
    shown = replace(
        findings({"good": 1.0, "poor": 0.0}),
        comparison=made,
        items=items,
        closer=[Closer("good", "poor", slices(made, "good", "poor", items), picked)],
    )
    drawn = str(closer_section(shown))
    assert drawn.count('class="case"') == 6
    assert "by label: F1 of each" in drawn


def test_equal_answers_make_no_difference_where_items_are_of_unequal_lengths():
    wanted = [["a"] * (1 + n % 5) for n in range(40)]
    wrong = [["b"] * len(each) if n < 20 else each for n, each in enumerate(wanted)]
    measure = WordAccuracy()
    made = Comparison(
        measure,
        [
            ScoredVariant(name, {1: measure.counts(wanted, said)})
            for name, said in {"one": wanted, "other": wrong}.items()
        ],
    )
    assert item_weights(made, "one", "other").tolist() == [[1.0] * 20 + [0.0] * 20]
