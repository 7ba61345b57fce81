"""Word alignments, and how far a predicted one is from one made by hand.

    AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)      — Och and Ney 2003, https://aclanthology.org/J03-1002

A: predicted links; S: sure links; P: possible links, S ⊆ P. A link is (source word, target word),
both counted from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from regard.words import t

Link = tuple[int, int]
Links = frozenset[Link]


@dataclass(frozen=True)
class Alignment:
    """The links of one sentence pair; every sure link is made a possible one."""

    sure: Links
    possible: Links = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "possible", self.possible | self.sure)


@dataclass(frozen=True)
class AlignmentScore:
    """Counts over a corpus and what follows from them."""

    sentences: int
    predicted: int  # |A|
    sure: int  # |S|
    sure_found: int  # |A ∩ S|
    possible_found: int  # |A ∩ P|

    @property
    def aer(self) -> float:
        return 1 - (self.sure_found + self.possible_found) / (self.predicted + self.sure)

    @property
    def precision(self) -> float:
        """|A ∩ P| / |A|"""
        return self.possible_found / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """|A ∩ S| / |S|"""
        return self.sure_found / self.sure if self.sure else 0.0

    @property
    def text(self) -> str:
        return t(
            "AER {aer}  precision {precision}, recall {recall} ({sentences} sentences, {links} links, "
            "{sure} sure)",
            aer=f"{self.aer:.3f}",
            precision=f"{self.precision:.3f}",
            recall=f"{self.recall:.3f}",
            sentences=f"{self.sentences:,}",
            links=f"{self.predicted:,}",
            sure=f"{self.sure:,}",
        )


def aer(predicted: Sequence[AbstractSet[Link]], gold: Sequence[Alignment]) -> AlignmentScore:
    """Alignment error rate of a corpus: links are counted over all sentences, then divided once."""
    if len(predicted) != len(gold):
        raise ValueError(
            t(
                "there are {count} predicted alignments but {gold} gold ones: one is needed "
                "for every sentence, empty ones too",
                count=f"{len(predicted):,}",
                gold=f"{len(gold):,}",
            )
        )
    pairs = list(zip(predicted, gold, strict=True))
    score = AlignmentScore(
        sentences=len(pairs),
        predicted=sum(len(links) for links, _ in pairs),
        sure=sum(len(wanted.sure) for _, wanted in pairs),
        sure_found=sum(len(links & wanted.sure) for links, wanted in pairs),
        possible_found=sum(len(links & wanted.possible) for links, wanted in pairs),
    )
    if not score.predicted + score.sure:
        raise ValueError(t("no error rate: there is neither a predicted nor a sure link"))
    return score
