"""What a corpus is like: its size and lengths, and what to look at before training on it."""

from __future__ import annotations

import hashlib
from array import array
from dataclasses import dataclass

import numpy as np

from regard.data.examples import read_pairs
from regard.data.problems import SHOWN, Problems
from regard.data.spec import Spec

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
        noun = "line" if self.count == 1 else "lines"
        return f"{self.count:,} ({noun} {', '.join(map(str, self.first))}{more})"


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
        head = "  ".join(f"{name:>8}" for name in ("min", "median", "95 %", "99 %", "max"))
        rows = [f"{'':22}{'total':>12}  {head}"]
        for side, lengths in (("source", self.source), ("target", self.target)):
            for unit in ("words", "characters"):
                values = "  ".join(f"{v:>8,}" for v in getattr(lengths, f"{unit}_percentiles"))
                rows.append(f"{f'{side} {unit}':22}{getattr(lengths, unit):>12,}  {values}")
        usable, unusable = _counted(self.pairs, "pair"), _counted(self.problems.count(), "line")
        return "\n".join(
            [
                f"{usable} that can be used, {unusable} that cannot",
                *self.problems.report().splitlines(),
                *self._advice(),
                *rows,
                f"repeated pairs: {self.duplicates}",
                f"target the same as the source: {self.identical}",
                f"lengths {EXTREME} times out of the usual ratio: {self.extreme}",
            ]
        )

    def _advice(self) -> list[str]:
        """What to write instead where a text was read as a table."""
        if not self.pairs and not self.problems:
            return ["hint: the corpus is empty: there is not one line in it"]
        without = [corpus for corpus, kinds in self.problems.found.items() if NO_TARGET in kinds]
        if self.problems.count(NO_TARGET) <= self.pairs:
            return []
        return [
            f"hint: {without[0]} was read as source TAB target; a text and its translation are "
            "two files: a.zh a.en (or a.zh,a.en)"
        ]


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


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


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
