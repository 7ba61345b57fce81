"""The keys of a matrix as a text that runs on: each word, and what stands before it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from regard.records.side import Side
from regard.view.picked_matrix import Matrix
from regard.view.stills.drawn_cells import Grid
from regard.view.stills.paper import label

FEW, SEVERAL = 6, 16  # rows of a text that is drawn once for each
MANY = 32  # keys: more than these are a text rather than columns
BLANK, BREAK = " ", "\n"

Stretches = Sequence[tuple[int, int]]


class RunningWord(NamedTuple):
    """before: "", a blank or a line break. answered: whether it is a part of the answer."""

    text: str
    before: str
    answered: bool


def runs_on(matrix: Matrix) -> bool:
    """Whether the keys are best read as a text: many for few rows, or too many for a label each."""
    rows, keys = len(matrix.queries), len(matrix.keys)
    if matrix.columns.picture is not None or not any(map(str.isalpha, matrix.columns.text)):
        return False
    if keys <= MANY or rows > SEVERAL:
        return False
    grid = Grid.around([label(q) for q in matrix.queries], [label(k) for k in matrix.keys])
    return rows <= FEW or grid.step > 1


def running_words(matrix: Matrix, answers: Stretches = ()) -> list[RunningWord]:
    """A word for every key. answers: where in the text of the keys the answer stands."""
    side, reached = matrix.columns, 0
    found: list[RunningWord] = []
    for text, members in zip(matrix.keys, _members(side, len(matrix.keys)), strict=True):
        start, end = side.offsets[members[0]][0], side.offsets[members[-1]][1]
        between = side.text[reached:start]
        before = BREAK if "\n" in between else BLANK if between or start == end else ""
        inside = any(start < last and first < end for first, last in answers)
        found.append(RunningWord(text, before if found else "", inside))
        reached = max(reached, end)
    return found


def is_cut_off(matrix: Matrix) -> bool:
    """Whether the text goes on behind the last key."""
    side = matrix.columns
    read = [end for (_, end), mark in zip(side.offsets, side.special, strict=True) if not mark]
    return bool(side.text[max(read, default=0) :].strip())


def _members(side: Side, count: int) -> list[list[int]]:
    """The tokens of each key: of a word, where keys are words."""
    if count == len(side):
        return [[place] for place in range(count)]
    return [list(run) for _, run in groupby(range(len(side)), key=side.words.__getitem__)]
