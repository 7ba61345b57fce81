"""Charts show the numbers they are given, in an SVG that any reader opens."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.measures import by_length
from regard.report.learning_curves import learning_charts, learning_table
from regard.view.charts import Axis, Chart, Line, Point, round_numbers
from regard.view.charts.length_chart import length_chart, length_table
from regard.view.terminal_cells import width

SVG = "{http://www.w3.org/2000/svg}"
SOURCES = ["a b", "a b c d e f g h i j k l", "b a"]
GOOD = ["the old cat sat", "the cat sat on the mat today", "a new dog barks"]
BAD = ["the old cat sat", "the mat", "a new dog"]


def curves(**systems):
    return {name: by_length(SOURCES, texts, GOOD, unit="words") for name, texts in systems.items()}


def drawn(chart: Chart) -> ElementTree.Element:
    return ElementTree.fromstring(chart.standalone())


def texts(chart: Chart, tag: str = "text") -> list[str]:
    return [found.text for found in drawn(chart).iter(SVG + tag)]


@given(st.floats(-1e4, 1e4), st.floats(1e-3, 1e6))
def test_ticks_are_even_and_cover_the_values(low, span):
    ticks = round_numbers(low, low + span)
    assert ticks[0] <= low + 1e-6 * span
    assert ticks[-1] >= low + span - 1e-6 * span
    assert 2 <= len(ticks) <= 9
    steps = [b - a for a, b in pairwise(ticks)]
    assert max(steps) == pytest.approx(min(steps), rel=1e-4)


@pytest.mark.parametrize("value", [0.0, 3.5, -2.0])
def test_a_single_value_still_has_an_axis(value):
    axis = Axis.of("BLEU", [value])
    assert axis.low < value < axis.high


def test_tick_labels_keep_the_digits_they_need():
    assert [text for _, (text,) in Axis.of("", [0, 0.2]).ticks] == [
        "0.00",
        "0.05",
        "0.10",
        "0.15",
        "0.20",
    ]
    assert [text for _, (text,) in Axis.of("", [0, 4000]).ticks][-1] == "4,000"


@pytest.mark.parametrize("highest", [1e-5, 0.0009, 0.5, 40, 9e6])
def test_no_label_is_cut_at_the_left(highest):
    points = [Point(0, 0, "a"), Point(1, highest, "b")]
    x, y = Axis("step", 0, 1, []), Axis.of("", [0, highest])
    root = drawn(Chart("", [Line("", points)], x, y))
    labels = [each for each in root.iter(SVG + "text") if each.get("class") == "tick"]
    assert labels
    for each in labels:
        assert float(each.get("x")) >= 7.2 * len(each.text)  # at 12 units a letter
    assert min(float(each.get("cx")) for each in root.iter(SVG + "circle")) > float(
        labels[0].get("x")
    )


def test_higher_values_are_drawn_higher():
    points = [Point(0, 1.0, "one"), Point(1, 3.0, "three"), Point(2, 2.0, "two")]
    chart = Chart("t", [Line("x", points)], Axis.of("x", [0, 2]), Axis.of("y", [1, 3]))
    heights = [float(c.get("cy")) for c in drawn(chart).iter(SVG + "circle") if c.get("r") == "7"]
    assert heights[1] < heights[2] < heights[0]


def test_every_point_says_its_numbers():
    titles = texts(length_chart(curves(attention=GOOD, fixed=BAD)), "title")
    assert "attention: 1–10: BLEU 100.0 of 2 sentences" in titles
    assert len(titles) == 4


def test_several_systems_have_a_legend_one_has_none():
    assert {"attention", "fixed"} <= set(texts(length_chart(curves(attention=GOOD, fixed=BAD))))
    assert "attention" not in texts(length_chart(curves(attention=GOOD)))


def test_names_are_escaped():
    chart = length_chart(curves(**{"<script>": GOOD, 'a"&': BAD}), title="<b>")
    assert {"<script>", 'a"&', "<b>"} <= set(texts(chart))


def test_a_file_follows_the_theme_of_its_reader():
    assert "prefers-color-scheme: dark" in length_chart(curves(a=GOOD)).standalone()


def test_the_table_is_aligned_in_any_script():
    table = length_table(curves(**{"attention": GOOD, "固定向量，没有注意力的模型": BAD}))
    lines = table.split("\n")
    assert len({width(line) for line in lines}) == 1
    assert lines[1].split() == ["words", "sentences", "mean", *["BLEU", "chrF", "hyp/ref"] * 2]
    assert lines[2].split()[:6] == ["1–10", "2", "2.0", "100.0", "100.0", "1.00"]


def two_sets():
    return {
        "dev": by_length(SOURCES, GOOD, GOOD, unit="words"),
        "test": by_length(SOURCES[:1], BAD[:1], GOOD[:1], unit="words"),
    }


def test_other_sentences_are_counted_apart():
    dev, test = two_sets().values()
    names, heads, short, long = length_table(two_sets()).split("\n")
    assert names.split() == ["dev", "test"]
    assert heads.split() == ["words", *["sentences", "mean", "BLEU", "chrF", "hyp/ref"] * 2]
    assert [short.split()[n] for n in (1, 6)] == [str(c.rows[0].sentences) for c in (dev, test)]
    assert (long.split()[1], long.split()[6:]) == ("1", ["–"] * 5)
    assert len({width(line) for line in (names, heads, short, long)}) == 1


def test_a_chart_says_whose_sentences_it_counts():
    shown = texts(length_chart(two_sets()))
    assert {"2/1", "1/0", "words in the source; n of dev/test"} <= set(shown)
    assert {"n 2", "n 1", "words in the source"} <= set(texts(length_chart(curves(a=GOOD, b=BAD))))
    assert "test: 1–10: BLEU 100.0 of 1 sentence" in texts(length_chart(two_sets()), "title")


def test_one_system_needs_no_line_of_names():
    assert length_table(curves(attention=GOOD)).split()[0] == "words"


def test_curves_in_different_units_are_refused():
    mixed = {unit: by_length(SOURCES, GOOD, GOOD, unit=unit) for unit in ("words", "characters")}
    with pytest.raises(ValueError, match="words and characters cannot share an axis"):
        length_chart(mixed)
    with pytest.raises(ValueError, match="no curve"):
        length_table({})


METRICS = [
    {"step": 1, "train_loss": 5.0, "epoch": 0},
    {"step": 2, "train_loss": 3.0},
    {"step": 2, "train_loss": None, "dev_loss": 3.5, "dev_perplexity": 33.1, "dev_bleu": 7.0},
    {"step": 3, "train_loss": float("nan")},
    {"step": 4, "dev_loss": 3.0, "dev_perplexity": 20.1, "dev_bleu": 6.0},
]


def test_a_chart_for_each_measure_with_a_line_for_each_split():
    loss, bleu = learning_charts(METRICS)
    assert (loss.title, bleu.title) == ("Loss", "BLEU on dev")
    assert [line.name for line in loss.lines] == ["train", "dev"]
    assert [(p.x, p.y) for p in loss.lines[0].points] == [(1, 5.0), (2, 3.0)]


def test_the_best_is_the_highest_bleu_and_the_lowest_loss():
    loss, bleu = learning_charts(METRICS)
    assert (bleu.lines[0].best.x, loss.lines[1].best.x) == (2, 4)
    assert "7" in texts(bleu)


def test_long_training_lines_are_averaged_and_dev_lines_are_kept():
    rows = [{"step": s, "train_loss": float(s % 2), "dev_bleu": float(s)} for s in range(1, 1001)]
    loss, bleu = learning_charts(rows)
    assert len(loss.lines[0].points) == 200
    assert loss.lines[0].points[-1].x == 1000
    assert all(0.3 < p.y < 0.7 for p in loss.lines[0].points)
    assert len(bleu.lines[0].points) == 1000


def test_the_table_joins_the_rows_of_a_step():
    table = ElementTree.fromstring(learning_table(METRICS))
    rows = [[cell.text for cell in row] for row in table.iter("tr")]
    assert rows[0] == ["step", "train Loss", "dev Loss", "dev Perplexity", "dev BLEU"]
    assert rows[1:] == [["2", "3", "3.5", "33.1", "7"], ["4", "–", "3", "20.1", "6"]]


def test_perplexity_is_drawn_where_there_is_no_loss():
    (chart,) = learning_charts([{"step": 1, "dev_perplexity": 9.0}])
    assert chart.title == "Perplexity on dev"


def test_rows_need_a_step():
    with pytest.raises(ValueError, match="has no step"):
        learning_charts([{"train_loss": 1.0}])


def test_nothing_measured_is_no_chart():
    assert learning_charts([{"step": 1, "lr": 0.1, "train_loss": None}]) == []


def test_no_number_in_a_path_is_broken():
    for chart in [*learning_charts(METRICS), length_chart(curves(a=GOOD))]:
        assert not re.search(
            r"nan|inf|None", " ".join(p.get("d") for p in drawn(chart).iter(SVG + "path"))
        )
