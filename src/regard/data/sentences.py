"""Where the sentences of a text are, in English, Chinese and what is written like them."""

from __future__ import annotations

import re

# . ! ? with what closes a quotation, before a blank; 。！？ anywhere; ends of lines. Nothing is tried twice
_ENDS = re.compile(
    r"(?P<spaced>(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s|$))|[。！？｡]+[\"'”’」』）》】]*|…{2,}[”’」』]*|[\r\n\u2028\u2029]+"
)
_WORD = re.compile(r"[^\W\d_]+(?:\.[^\W\d_]+)*$")
_NEXT = re.compile(r"\s*[\"'“‘«(\[]*(.?)", re.DOTALL)
_ABBREVIATIONS = re.compile(
    r"mrs?|ms|dr|prof|st|jr|sr|vs|e\.g|i\.e|cf|figs?|vol|pp|inc|ltd|corp|gen|capt|lt|sgt|rev|mt|approx|dept"
    r"|jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec",
    re.IGNORECASE,
)
LONGEST_WORD = 20  # characters before a full stop that can be an abbreviation


def sentence_places(text: str) -> list[tuple[int, int]]:
    """Start and end of every sentence, in characters, without the blanks around it.

    >>> text = "Dr. Li came. “Why?” 他不知道。真的！"
    >>> [text[start:end] for start, end in sentence_places(text)]
    ['Dr. Li came.', '“Why?”', '他不知道。', '真的！']
    """
    places, start = [], 0
    for end in _ENDS.finditer(text):
        if end["spaced"] is None or _is_end(text, end):
            places.append((start, end.end()))
            start = end.end()
    stripped = (_stripped(text, *place) for place in (*places, (start, len(text))))
    return [place for place in stripped if place[0] < place[1]]


def _is_end(text: str, end: re.Match[str]) -> bool:
    following = _NEXT.match(text, end.end())
    if following is not None and following[1].islower():
        return False
    if end[0] != ".":
        return True
    before = _WORD.search(text[max(0, end.start() - LONGEST_WORD) : end.start()])
    word = before[0] if before else ""
    return not _ABBREVIATIONS.fullmatch(word) and not (
        len(word) == 1 and word.isupper() and word != "I"
    )


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + len(part.rstrip())
