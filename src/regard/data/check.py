"""What a corpus is like: its size and lengths, and what to look at before training on it."""

from __future__ import annotations

import hashlib
from array import array
from dataclasses import dataclass
from unicodedata import east_asian_width

import numpy as np

from regard.data.examples import read_pairs
from regard.data.problems import SHOWN, Problems
from regard.data.spec import Spec
from regard.words import t

PERCENTILES = (0, 50, 95, 99, 100)
NO_TARGET = "lines without a column 1"  # as text.py counts them
EXTREME = 4  # times the usual ratio of target to source characters


@dataclass(frozen=True)
class Lengths:
    """Of one side, in white-space separated words and in characters."""

    words: int
    characters: int
    words_percentiles: tuple[int, ...]  # at PERCENTILES
    characters_percentiles: tuple[int, ...]


@dataclass(frozen=True)
class Remarkable:
    """Pairs that can be used but deserve a look: how many, and the lines of the first."""

    count: int
    first: tuple[int, ...]

    def __str__(self) -> str:
        more = ", …" if self.count > len(self.first) else ""
        if not self.count:
            return "0"
        return t.plural(
            self.count,
            "{n} (line {lines})",
            "{n} (lines {lines})",
            n=f"{self.count:,}",
            lines=f"{', '.join(map(str, self.first))}{more}",
        )


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

    def _usable(self) -> str:
        useless = self.problems.count()
        return t(
            "{pairs} that can be used, {lines} that cannot",
            pairs=t.plural(self.pairs, "{n} pair", "{n} pairs", n=f"{self.pairs:,}"),
            lines=t.plural(useless, "{n} line", "{n} lines", n=f"{useless:,}"),
        )

    def _table(self) -> list[str]:
        names = (t("min"), t("median"), "95 %", "99 %", t("max"))
        head = "  ".join(_filled(name, -8) for name in names)
        rows = [f"{'':22}{_filled(t('total'), -12)}  {head}"]
        for name, lengths, unit in (
            (t("source words"), self.source, "words"),
            (t("source characters"), self.source, "characters"),
            (t("target words"), self.target, "words"),
            (t("target characters"), self.target, "characters"),
        ):
            values = "  ".join(f"{v:>8,}" for v in getattr(lengths, f"{unit}_percentiles"))
            rows.append(f"{_filled(name, 22)}{getattr(lengths, unit):>12,}  {values}")
        return rows

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
        duplicates=_remarkable(numbers, _repeated(np.asarray(hashes))),
        identical=_remarkable(numbers, np.array(same, bool)),
        extreme=_remarkable(
            numbers,
            _out_of_ratio(np.asarray(lengths["characters 0"]), np.asarray(lengths["characters 1"])),
        ),
        problems=problems,
    )


def _filled(text: str, cells: int) -> str:
    """With blanks at its right; at its left if the number is negative. Chinese takes two cells."""
    blanks = " " * (abs(cells) - sum(1 + (east_asian_width(c) in "WF") for c in text))
    return f"{text}{blanks}" if cells > 0 else f"{blanks}{text}"


def _lengths(words: array[int], characters: array[int]) -> Lengths:
    def at_percentiles(values: array[int]) -> tuple[int, ...]:
        if not values:
            return (0,) * len(PERCENTILES)
        return tuple(int(v) for v in np.percentile(values, PERCENTILES, method="higher"))

    return Lengths(sum(words), sum(characters), at_percentiles(words), at_percentiles(characters))


def _remarkable(lines: np.ndarray, which: np.ndarray) -> Remarkable:
    return Remarkable(int(which.sum()), tuple(lines[which][:SHOWN].tolist()))


def _repeated(hashes: np.ndarray) -> np.ndarray:
    """True at every occurrence but the first."""
    repeated = np.ones(len(hashes), bool)
    repeated[np.unique(hashes, return_index=True)[1]] = False
    return repeated


def _out_of_ratio(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    if not len(source):
        return np.zeros(0, bool)
    ratio = np.log(target / source)
    return np.abs(ratio - np.median(ratio)) > np.log(EXTREME)
