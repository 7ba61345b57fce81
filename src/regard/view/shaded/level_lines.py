"""A document at two levels, line by line: each sentence with its weight, its words with theirs."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from regard.records.levels import Levels
from regard.records.record import AttentionRecord
from regard.records.side import Side
from regard.view.picked_matrix import Pick
from regard.words import t

NO_COLOUR = 0.02  # of the largest shade: what is below is not coloured


@dataclass(frozen=True)
class LevelLine:
    """One sentence. weight: p(s), in the answer; weights: p(w) of each word in the sentence."""

    number: int  # from 1
    weight: float
    text: str
    words: tuple[str, ...]
    weights: tuple[float, ...]

    @property
    def shades(self) -> list[float]:
        """√p(s) · p(w), what Yang et al. 2016 colour a word with."""
        return [self.weight**0.5 * weight for weight in self.weights]


def shown_levels(record: AttentionRecord, pick: Pick) -> Levels | None:
    """What is drawn in the place of a matrix, unless one map of the record is asked for."""
    return None if pick.map else record.levels


def level_lines(record: AttentionRecord, *, tokens: bool = False) -> list[LevelLine]:
    """tokens: as they are; else those of a word are put together, their weights summed."""
    levels = record.levels
    assert levels is not None
    sentences, words = record.sides[levels.sentences], record.sides[levels.words]
    lines = []
    for n, place in enumerate(levels.places):
        members = [[i] for i in range(place.start, place.stop)]
        if not tokens:
            runs = groupby(range(place.start, place.stop), key=words.words.__getitem__)
            members = [list(run) for _, run in runs]
        lines.append(
            LevelLine(
                n + 1,
                float(levels.sentence_weights[n]),
                sentences.text[slice(*sentences.offsets[n])] or sentences.tokens[n],
                tuple(_label(words, one) for one in members),
                tuple(float(levels.word_weights[one].sum()) for one in members),
            )
        )
    return lines


def heaviest_lines(lines: Sequence[LevelLine], most: int) -> tuple[list[LevelLine], str]:
    """At most so many, in the order of the document, and what is said of the others."""
    if len(lines) <= most:
        return list(lines), ""
    kept = heapq.nlargest(most, lines, key=lambda line: line.weight)
    lightest = kept[-1].weight
    left_out = t.plural(
        len(lines) - most,
        "… one sentence more, no heavier than {weight}",
        "… {n} sentences more, none heavier than {weight}",
        weight=f"{lightest:.2g}",
    )
    return sorted(kept, key=lambda line: line.number), left_out


def _label(side: Side, members: Sequence[int]) -> str:
    begin, end = side.offsets[members[0]][0], side.offsets[members[-1]][1]
    whole = len(members) > 1 and side.text[begin:end].strip()
    return whole or "".join(side.tokens[one] for one in members)
