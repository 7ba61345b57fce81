"""What a corpus of pairs is like: its size and lengths, and what to look at before training on it."""

from __future__ import annotations

import hashlib
from array import array
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from regard.data.check.check_lines import (
    Remarkable,
    at_percentiles,
    length_table,
    remarkable,
    repeated,
)
from regard.data.examples import read_pairs
from regard.data.problems import Problems
from regard.data.spec import Spec
from regard.words import t

NO_TARGET = "lines without a column 1"  # as formats/tables.py counts them
EXTREME = 4  # times the usual ratio of target to source characters


@dataclass(frozen=True)
class Lengths:
    """Of one side, in white-space separated words and in characters."""

    words: int
    characters: int
    words_percentiles: tuple[int, ...]  # at PERCENTILES
    characters_percentiles: tuple[int, ...]


@dataclass(frozen=True)
class CorpusSummary:
    """What `check` found. `str()` is the report."""

    pairs: int
    source: Lengths
    target: Lengths
    duplicates: Remarkable  # pairs that occurred before
    identical: Remarkable  # the target is the source
    extreme: Remarkable  # one side unusually long for the other
    problems: Problems

    def __str__(self) -> str:
        return "\n".join(
            [
                self._usable(),
                *self.problems.report().splitlines(),
                *self._advice(),
                *self._table(),
                t("repeated pairs: {lines}", lines=self.duplicates),
                t("target the same as the source: {lines}", lines=self.identical),
                t(
                    "lengths {times} times out of the usual ratio: {lines}",
                    times=EXTREME,
                    lines=self.extreme,
                ),
            ]
        )

    @property
    def examples(self) -> int:
        return self.pairs

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"problems": self.problems.to_json()}

    def _usable(self) -> str:
        useless = self.problems.count()
        return t(
            "{pairs} that can be used, {lines} that cannot",
            pairs=t.plural(self.pairs, "{n} pair", "{n} pairs", n=f"{self.pairs:,}"),
            lines=t.plural(useless, "{n} line", "{n} lines", n=f"{useless:,}"),
        )

    def _table(self) -> list[str]:
        source, target = self.source, self.target
        return length_table(
            [
                (t("source words"), source.words, source.words_percentiles),
                (t("source characters"), source.characters, source.characters_percentiles),
                (t("target words"), target.words, target.words_percentiles),
                (t("target characters"), target.characters, target.characters_percentiles),
            ]
        )

    def _advice(self) -> list[str]:
        """What to write instead where a text was read as a table."""
        if not self.pairs and not self.problems:
            empty = t("the corpus is empty: there is not one line in it")
            return [t("hint: {hint}", hint=empty)]
        without = [corpus for corpus, kinds in self.problems.found.items() if NO_TARGET in kinds]
        if self.problems.count(NO_TARGET) <= self.pairs:
            return []
        two_files = t(
            "{corpus} was read as source TAB target; a text and its translation are two files: "
            "a.zh a.en (or a.zh,a.en)",
            corpus=without[0],
        )
        return [t("hint: {hint}", hint=two_files)]


def check(spec: Spec) -> CorpusSummary:
    """Read a corpus once and say what it is like. Some 50 bytes a pair are kept, not the text."""
    problems = Problems()
    lines, hashes = array("q"), array("Q")
    lengths = {name: array("q") for name in ("words 0", "words 1", "characters 0", "characters 1")}
    same = []
    for pair in read_pairs(spec, problems):
        lines.append(pair.line)
        text = f"{pair.source}\t{pair.target}".encode()
        hashes.append(int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()))
        same.append(pair.source.strip() == pair.target.strip())
        for side, sentence in enumerate((pair.source, pair.target)):
            lengths[f"words {side}"].append(len(sentence.split()))
            lengths[f"characters {side}"].append(len(sentence.strip()))
    numbers = np.asarray(lines)
    return CorpusSummary(
        pairs=len(lines),
        source=_lengths(lengths["words 0"], lengths["characters 0"]),
        target=_lengths(lengths["words 1"], lengths["characters 1"]),
        duplicates=remarkable(numbers, repeated(np.asarray(hashes))),
        identical=remarkable(numbers, np.array(same, bool)),
        extreme=remarkable(
            numbers,
            _out_of_ratio(np.asarray(lengths["characters 0"]), np.asarray(lengths["characters 1"])),
        ),
        problems=problems,
    )


def _lengths(words: array[int], characters: array[int]) -> Lengths:
    return Lengths(sum(words), sum(characters), at_percentiles(words), at_percentiles(characters))


def _out_of_ratio(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    if not len(source):
        return np.zeros(0, bool)
    ratio = np.log(target / source)
    return np.abs(ratio - np.median(ratio)) > np.log(EXTREME)
