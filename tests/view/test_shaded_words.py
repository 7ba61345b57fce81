"""Words painted by their weights, in a terminal."""

from __future__ import annotations

import re

from regard.view.shaded.shaded_words import shaded_words

CODES = re.compile(r"\x1b\[[0-9;]*m")


def test_the_heaviest_words_are_named_where_there_is_no_colour():
    words = ["a", "lovely", "story", "of", "a", "dull", "film"]
    shown = shaded_words(words, [0.02, 0.5, 0.1, 0.01, 0.02, 0.3, 0.05], colour=False)
    assert shown.split("  ")[:2] == ["lovely 0.50", "dull 0.30"]
    assert len(shown.split("  ")) == 5


def test_colours_leave_the_words_as_they_are(monkeypatch):
    monkeypatch.setenv("COLUMNS", "14")
    words = ["a", "lovely", "story", "\x1b[31m", "of-course"]
    shown = shaded_words(words, [0.1, 0.6, 0.1, 0.1, 0.1], colour=True)
    plain = CODES.sub("", shown)
    assert plain == "a lovely story\n\\x1b[31m\nof-course"
    grounds = re.findall(r"\x1b\[48;5;(\d+)", shown)
    assert len(grounds) == 5
    assert grounds[0] == grounds[2] != grounds[1]


def test_nothing_has_no_weight():
    assert shaded_words([], []) == ""
    assert "a" in shaded_words(["a"], [0.0], colour=True)
