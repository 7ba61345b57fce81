"""How good a run is on one corpus."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from regard.clock import clock
from regard.statistics.bootstrap import bootstrap_interval
from regard.tasks.judged_items import NO_ITEMS, JudgedItems
from regard.tasks.simplest_answers import Baseline, baseline_of
from regard.tasks.text_doubts import unknown_answers, unknown_tokens
from regard.words import t

if TYPE_CHECKING:
    from regard.tasks.task import Task


class Evaluation(ABC):
    corpus: str

    @property
    @abstractmethod
    def text(self) -> str:
        """For people, the most important first."""

    @property
    def table(self) -> str:
        """Where it is good and where not, for a terminal; empty if there is nothing to say."""
        return ""

    @property
    def beside(self) -> str:
        """What the same answer to everything scores, to measure the scores by; empty if that is nothing."""
        return ""

    @property
    def notes(self) -> list[str]:
        """What to know of the corpus before its scores are believed."""
        return []

    @property
    def reservations(self) -> list[str]:
        """Those of the notes without which a score is misread."""
        return []

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""


@dataclass(frozen=True)
class Measured(Evaluation):
    """Answers to the examples of a task, and measures of them."""

    task: Task
    corpus: str
    examples: Sequence[Any]
    answers: Sequence[Any]  # none, where nothing was asked
    counts: tuple[float, ...]  # summed over the examples
    loss: float  # nats for each that is scored
    measures: Mapping[str, float]
    seconds: float  # of answering
    items: JudgedItems = NO_ITEMS  # what is counted of each example
    beam: int | None = None  # that answers were searched for with; None: they were not

    @cached_property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """Of each measure where 95 of 100 scores lie when as many examples are drawn again.

        A measure that is not what its counts make has none, as that of a corpus that a task counts alone.
        """
        found = {}
        for measure, counts in self.items.counts:
            told = self.measures.get(measure.name, self.loss if measure.name == "loss" else None)
            if told is None or not len(counts):
                continue
            if not math.isclose(float(measure.value(counts.sum(0))), told, rel_tol=1e-4):
                continue
            if (interval := bootstrap_interval(counts, measure.value)) is not None:
                found[measure.name] = interval
        return found

    def searched(self, name: str) -> bool:
        """Whether a measure is one of answers that were searched for."""
        return self.beam is not None and name in {one.name for one in self.task.measured_by()}

    @property
    def text(self) -> str:
        return t(
            "{measures}, loss {loss}  ({told})",
            measures=self.words,
            loss=f"{self.loss:.4f}",
            told=self.told,
        )

    @property
    def beside(self) -> str:
        if (found := self.baseline) is None:
            return ""
        measures = measures_in_words(found.simplest.measures, self.task.shares)
        said = [t("{what}: {measures}", what=found.simplest.name, measures=measures)]
        if found.one_answer is not None:
            said.append(t("the model answers {answer} to everything", answer=found.one_answer))
        elif found.explained is not None:
            share = f"{found.explained:.3f}".replace("-", "−")
            said.append(t("R² of the model {share}", share=share))
        return t("; ").join(said)

    @cached_property
    def baseline(self) -> Baseline | None:
        """What is easily reached, where answers are labels or numbers."""
        return baseline_of(self.task, self.examples, self.answers)

    @property
    def notes(self) -> list[str]:
        return unknown_tokens(self.task, self.examples) + self.reservations

    @property
    def reservations(self) -> list[str]:
        return unknown_answers(self.task, self.examples)

    @property
    def words(self) -> str:
        """The measures for people."""
        return measures_in_words(self.measures, self.task.shares)

    @property
    def measured_on(self) -> str:
        """`33 texts of FILES`: what was measured on."""
        count, noun = f"{len(self.examples):,}", self.task.called(len(self.examples))
        return t("{count} {noun} of {corpus}", count=count, noun=noun, corpus=self.corpus)

    @property
    def told(self) -> str:
        """What was measured on, and how it was answered."""
        if not self.answers:
            return self.measured_on
        known = {"told": self.measured_on, "time": clock(self.seconds)}
        if self.beam is not None:
            return t("{told}, answered with beam {beam} in {time}", beam=self.beam, **known)
        return t("{told}, answered in {time}", **known)

    def to_dict(self) -> dict[str, Any]:
        return {
            "corpus": self.corpus,
            self.task.noun: len(self.examples),
            **self.measures,
            "loss": self.loss,
            "seconds": self.seconds,
            **({"beam": self.beam} if self.beam is not None else {}),
            **({"baseline": self.baseline.to_dict()} if self.baseline else {}),
            "intervals": {name: list(ends) for name, ends in self.intervals.items()},
        }


def measure_name(name: str) -> str:
    """A measure in words: those of a task that regard does not know are called as they are."""
    known = {
        "accuracy": t("accuracy"),
        "exact_match": t("exact match"),
        "macro_f1": t("macro-F1"),
        "sentence_accuracy": t("sentence accuracy"),
        "perplexity": t("perplexity"),
        "aligned_perplexity": t("aligned perplexity"),
        "bits_per_character": t("bits per character"),
        "bleu": t("BLEU"),
        "chrf": t("chrF"),
        "loss": t("loss"),
        "reconstruction": t("reconstruction"),
        "divergence": t("divergence"),
        "estimate": t("importance-weighted estimate"),
        "precision": t("precision"),
        "recall": t("recall"),
        "rouge1": "ROUGE-1",
        "rouge2": "ROUGE-2",
        "rougeL": "ROUGE-L",
        "pearson": t("Pearson's r"),
        "spearman": t("Spearman's rho"),
        "map": "MAP",
        "mrr": "MRR",
        "recall_at_1": t("recall@1"),
        "recall_at_5": t("recall@5"),
        "recall_at_10": t("recall@10"),
        "tag_accuracy": t("tag accuracy"),
        "form": t("form"),
    }
    return known.get(name, name.replace("_", " "))


def measures_in_words(measures: Mapping[str, float], shares: Set[str]) -> str:
    """`accuracy 91.20 %, perplexity 3.456`"""
    return t(", ").join(
        f"{measure_name(name)} {100 * value:.2f} %"
        if name in shares
        else f"{measure_name(name)} {value:.4g}"
        for name, value in measures.items()
    )


def with_beam(name: str, beam: int | None) -> str:
    """`BLEU, beam 5`: what other searches find is measured otherwise."""
    return name if beam is None else t("{measure}, beam {beam}", measure=name, beam=beam)


def listed(parts: Sequence[str]) -> str:
    """Clauses as one sentence; none if there are none."""
    if not parts:
        return ""
    whole = parts[0]
    for part in parts[1:]:
        whole = t("{first} and {second}", first=whole, second=part)
    return t("{sentence}.", sentence=whole)


def on_set(name: str, measure: str) -> str:
    """`test loss`, of the part of the data that it was measured on."""
    return t("{set} {measure}", set=set_name(name), measure=measure)


def set_name(name: str) -> str:
    """dev, test or train in words."""
    return {"dev": t("dev"), "test": t("test"), "train": t("train")}.get(name, name)


def last(found: Mapping[str, Any]) -> Any:
    """The evaluation that counts most, or None."""
    return found.get("test") or found.get("dev")
