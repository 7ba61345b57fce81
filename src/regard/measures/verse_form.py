"""Whether an answer in verse keeps its form: how many lines there are, and how long they are."""

from __future__ import annotations

import re
from typing import ClassVar

from regard.measures.measure import Mean

MARKS = re.compile(r"[，。！？；、,.!?;\s]+")
LENGTHS = (5, 7)  # characters of a line


def verse_lines(text: str) -> list[str]:
    """What stands between the marks."""
    return [line for line in MARKS.split(text) if line]


class VerseForm(Mean):
    """The share of answers with as many lines as the wanted one, all of five or all of seven characters

    A single line, which answers another, is as long as the wanted one. Neither tones nor rhymes are looked
    at: they were those of the Tang, and the characters do not tell them.
    """

    name: ClassVar = "form"
    share: ClassVar = True

    def score(self, wanted: str, answer: str | None) -> float:
        lines, others = verse_lines(answer or ""), verse_lines(wanted)
        lengths = {len(line) for line in lines}
        if len(lines) != len(others) or len(lengths) != 1:
            return 0.0
        if len(others) == 1:
            return float(len(lines[0]) == len(others[0]))
        return float(lengths <= set(LENGTHS))
