"""BLEU by the length of the source: does the model still translate long sentences?

    curve = by_length(sources, hypotheses, references, unit="words")
    for row in curve.rows:
        row.bucket.label, row.sentences, row.bleu

`regard.view.charts.length_chart` draws it as a table and as a plot. — Cho et al. 2014; Bahdanau et al. 2015
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from regard.measures.translation import bleu, check_parallel, chrf
from regard.words import t

Unit = Literal["words", "characters"]
EDGES = (10, 20, 30, 40, 50, 60)


@dataclass(frozen=True)
class Bucket:
    """Lengths from `low` to `high`, both included."""

    low: int
    high: int | None = None  # None: no end

    @property
    def label(self) -> str:
        if self.high is None:
            return f"{self.low}+"
        return f"{self.low}–{self.high}" if self.high > self.low else f"{self.low}"


@dataclass(frozen=True)
class LengthRow:
    """The sentences of one bucket, scored as a corpus of their own."""

    bucket: Bucket
    sentences: int
    mean_length: float
    bleu: float
    chrf: float
    length_ratio: float  # hypothesis / reference, in tokens


@dataclass(frozen=True)
class LengthCurve:
    """One system: a row for every bucket that has sentences, shortest first."""

    rows: tuple[LengthRow, ...]
    unit: Unit
    signature: str  # of the BLEU of every row


def by_length(
    sources: Sequence[str],
    hypotheses: Sequence[str],
    *references: Sequence[str],
    unit: Unit,
    tokenize: str = "13a",
    edges: Sequence[int] = EDGES,
) -> LengthCurve:
    """Corpus BLEU of the sentences of each source length.

    unit: "words" between blanks, or "characters" without blanks (Chinese, Japanese, Thai sources).
    edges: the last length of each bucket; what is longer comes in a bucket without end.
    """
    check_parallel(hypotheses, references)
    if len(sources) != len(hypotheses):
        raise ValueError(
            t(
                "there are {count} sources but {hypotheses} hypotheses",
                count=f"{len(sources):,}",
                hypotheses=f"{len(hypotheses):,}",
            )
        )
    lengths = [source_length(source, unit) for source in sources]
    rows, signature = [], ""
    for bucket in buckets(edges):
        high = bucket.high if bucket.high is not None else max(lengths)
        inside = [i for i, length in enumerate(lengths) if bucket.low <= length <= high]
        if not inside:
            continue
        texts = [hypotheses[i] for i in inside]
        wanted = [[lines[i] for i in inside] for lines in references]
        score = bleu(texts, *wanted, tokenize=tokenize)
        signature = score.signature
        rows.append(
            LengthRow(
                bucket=bucket,
                sentences=len(inside),
                mean_length=sum(lengths[i] for i in inside) / len(inside),
                bleu=score.value,
                chrf=chrf(texts, *wanted).value,
                length_ratio=score.length_ratio,
            )
        )
    return LengthCurve(tuple(rows), unit, signature)


def buckets(edges: Sequence[int]) -> list[Bucket]:
    """1 … e₁, e₁+1 … e₂, …, and what is longer; empty sources are a bucket of their own."""
    if not edges or edges[0] < 1 or list(edges) != sorted(set(edges)):
        raise ValueError(
            t(
                "the edges of the buckets must be positive and rise, as in 10, 20, 30; given "
                "{edges}",
                edges=edges,
            )
        )
    lows = [1, *(edge + 1 for edge in edges)]
    return [Bucket(0, 0), *map(Bucket, lows, edges), Bucket(lows[-1])]


def source_length(source: str, unit: Unit) -> int:
    if unit == "words":
        return len(source.split())
    if unit == "characters":
        return sum(not c.isspace() for c in source)
    raise ValueError(t("no unit of length {unit}: choose 'words' or 'characters'", unit=repr(unit)))
