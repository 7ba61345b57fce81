"""BLEU and chrF of a whole corpus, by sacreBLEU, each with the signature that makes it comparable.

    score = bleu(hypotheses, references, tokenize="13a")
    print(score.text)    # BLEU 27.31  nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0

Counts are summed over the corpus before anything is divided; an average of the BLEU of sentences is
another number and is not offered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from regard.suggestions import meant
from regard.words import t

TOKENIZERS = ("13a", "intl", "zh", "char", "none")  # those that need no download


@dataclass(frozen=True)
class MeasuredScore:
    """A number, what it is called, and how it was computed."""

    name: str
    value: float  # 0 to 100
    signature: str

    @property
    def text(self) -> str:
        return f"{self.name} {self.value:.2f}  {self.signature}"


@dataclass(frozen=True)
class BleuScore(MeasuredScore):
    """BLEU = brevity · (p₁ p₂ p₃ p₄)^¼"""

    precisions: tuple[float, ...]  # p₁ … p₄, in per cent
    brevity: float
    hypothesis_length: int  # in tokens of the signature's tokeniser
    reference_length: int

    @property
    def length_ratio(self) -> float:
        return self.hypothesis_length / self.reference_length if self.reference_length else 0.0


def bleu(
    hypotheses: Sequence[str],
    *references: Sequence[str],
    tokenize: str = "13a",
    lowercase: bool = False,
) -> BleuScore:
    """Corpus BLEU-4 — Papineni et al. 2002; Post 2018, https://aclanthology.org/W18-6319

    references: one line for each hypothesis; further translations are further arguments.
    tokenize: "13a" for languages with spaces, "zh" for Chinese, "char" for other scripts without
    spaces, "intl" by Unicode classes, "none" for text that is tokenised already.
    """
    if tokenize not in TOKENIZERS:
        hint = meant(tokenize, TOKENIZERS, cutoff=0.3)
        raise ValueError(
            t(
                "no BLEU tokenizer {tokenize}.{hint} There are {tokenizers}.",
                tokenize=repr(tokenize),
                hint=hint,
                tokenizers=", ".join(TOKENIZERS),
            )
        )
    check_parallel(hypotheses, references)
    # force: whether the text was tokenised before is the caller's choice, not a warning in a log
    metric = BLEU(tokenize=tokenize, lowercase=lowercase, force=True)
    result = metric.corpus_score(list(hypotheses), [list(lines) for lines in references])
    return BleuScore(
        name="BLEU",
        value=result.score,
        signature=str(metric.get_signature()),
        precisions=tuple(result.precisions),
        brevity=result.bp,
        hypothesis_length=result.sys_len,
        reference_length=result.ref_len,
    )


def chrf(hypotheses: Sequence[str], *references: Sequence[str], words: int = 0) -> MeasuredScore:
    """Corpus chrF2 (chrF2++ with words=2) — Popović 2015, https://aclanthology.org/W15-3049"""
    check_parallel(hypotheses, references)
    metric = CHRF(word_order=words)
    result = metric.corpus_score(list(hypotheses), [list(lines) for lines in references])
    return MeasuredScore(result.name, result.score, str(metric.get_signature()))


def check_parallel(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Every text must be a list of lines, and all lists equally long."""
    if not references:
        raise ValueError(t("no references: give at least one list of them, one line a hypothesis"))
    for name, lines in (("hypotheses", hypotheses), *(("references", r) for r in references)):
        if isinstance(lines, str):
            raise ValueError(
                t(
                    "the {name} are one string; give a list of lines, as in [{lines}]",
                    name=name,
                    lines=repr(lines),
                )
            )
        wrong = next((line for line in lines if not isinstance(line, str)), None)
        if wrong is not None:
            raise ValueError(
                t(
                    "the {name} hold a {kind}, not text; several references of a sentence are "
                    "given as several lists: bleu(hypotheses, first, second)",
                    name=name,
                    kind=type(wrong).__name__,
                )
            )
        if len(lines) != len(hypotheses):
            raise ValueError(
                t(
                    "there are {count} hypotheses but {lines} references: line n of one must "
                    "translate line n of the other",
                    count=f"{len(hypotheses):,}",
                    lines=f"{len(lines):,}",
                )
            )
    if not hypotheses:
        raise ValueError(t("nothing to score: there are no hypotheses"))
