"""Confusions and marked words, in a terminal and on a page."""

from __future__ import annotations

import re

from regard.measures import Confusion
from regard.report.report_page import Report, render
from regard.tasks.report_part import Drawing
from regard.view.charts.confusion_chart import confusion_section, confusion_table, confusion_text
from regard.view.samples import Sample, SampleNames
from regard.view.terminal_cells import width

FOUND = Confusion.of(["好评", "好评", "bad", "bad"], ["好评", "bad", "bad", "bad"])
NAMES = SampleNames("Wrong", "text", "label", "answer")


def test_the_columns_of_a_confusion_stand_below_each_other():
    head, *rows = confusion_text(FOUND).splitlines()
    assert len({width(line) for line in (head, *rows)}) == 1
    assert [row.split() for row in rows] == [["bad", "2", "0", "80.0"], ["好评", "1", "1", "66.7"]]


def test_right_answers_are_bold_and_labels_are_escaped():
    table = confusion_table(Confusion.of(["<b>", "c"], ["<b>", "<b>"]))
    assert table.count("<b>1</b>") == 1
    assert "&lt;b&gt;" in table


def test_words_are_marked_by_their_weight_and_the_text_stays_whole():
    sample = Sample("a <fine> film", "yes", marks=[(0, 1, 0.001), (2, 8, 0.6), (9, 13, 0.3)])
    page = render(Report(title="t", samples=(sample,), sample_names=NAMES))
    marks = re.findall(r'<mark style="--share:(\d+)%" title="[\d.]+ %">(.*?)</mark>', page)
    assert marks == [("100", "&lt;fine&gt;"), ("50", "film")]
    assert "a <mark" in page
    assert "more it weighs" in page
    assert "<h2>Wrong</h2>" in page
    assert "<dt>answer</dt>" in page


def test_each_set_has_its_confusion():
    drawn = Drawing("What is taken for what", confusion_section({"dev": FOUND, "test": FOUND}))
    page = render(Report(title="t", drawings=[drawn]))
    assert page.count("3 of 4 right") == 2
    assert "<h2>What is taken for what</h2>" in page
