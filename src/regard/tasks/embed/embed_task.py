"""Word vectors: texts to learn from, the nearest words as an answer, and probes of what vectors know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import torch
from torch import nn

from regard.data.batch import Batch
from regard.data.examples import Example
from regard.data.fields import Field
from regard.data.fields.counted_text import CountedText
from regard.data.tokenizer import SPECIALS, UNK
from regard.measures import Likelihood
from regard.measures.likelihood_measures import TokenAccuracy, TokenLoss
from regard.models.embedding.word_vectors_model import CbowModel, WordVectorsModel
from regard.tasks.embed.embed_module import Embed
from regard.tasks.embed.embed_options import EmbedOptions
from regard.tasks.embed.word_probes import Probed, UnitVectors, probe_name, probed
from regard.tasks.likelihood_task import LikelihoodEvaluation, LikelihoodTask
from regard.tasks.report_part import Drawing, NextStep
from regard.tasks.task import Tally, Validation
from regard.view.charts import Axis, Chart, Line, Point
from regard.view.samples import Sample, SampleNames
from regard.words import t

NEAREST = 8  # words of an answer
NAMED = 5  # unknown words that a note names
SHOWN = 200_000  # words of a corpus that the mean weights are made of


@dataclass(frozen=True)
class EmbedEvaluation(LikelihoodEvaluation):
    """How well words are told from those around them, and what the probes found."""

    probes: Mapping[str, Probed] = field(default_factory=dict)
    by_distance: Sequence[float] = ()  # the mean weight of each place around a word

    def to_dict(self) -> dict[str, Any]:
        probes = {name: one._asdict() for name, one in self.probes.items()}
        return {**super().to_dict(), "probes": probes, "weight_by_place": list(self.by_distance)}


class EmbedTask(LikelihoodTask):
    columns: ClassVar = ("accuracy",)
    likely: ClassVar = (TokenLoss(), TokenAccuracy())
    inputs: ClassVar = ("text",)
    noun: ClassVar = "texts"
    scored: ClassVar = "words"
    learns: ClassVar = "words and their counts"
    kept_input: ClassVar = "standard-input.txt"
    verb: ClassVar = "find the nearest words"
    evaluation: ClassVar = EmbedEvaluation

    text: CountedText

    @property
    def options(self) -> EmbedOptions:
        return cast(EmbedOptions, self.recipe.task)

    @property
    def shares(self) -> Set[str]:
        """That of words, and what the probes are right about."""
        return super().shares | {"tag_accuracy", *map(probe_name, self.options.analogies)}

    def make_fields(self) -> Sequence[Field]:
        given, longest = self.recipe.tokenizer.source, self.recipe.data.max_length
        self.text = CountedText(
            "text", **given.model_dump(), marks=False, max_length=longest, cut=True
        )
        return (self.text,)

    def for_training(self, model: nn.Module) -> Embed:
        chosen = self.options
        return Embed(
            cast(WordVectorsModel, model),
            self.text.counts,
            negatives=chosen.negatives,
            subsample=chosen.subsample,
            shrink=chosen.shrink,
        )

    def answers(self, module: Embed, batch: Batch) -> Iterator[tuple[list[str], float]]:
        """The words that are nearest to the mean of those of the text that are known, none of its own; a
        score is the first's cosine. Nothing is near a text without a known word.
        """
        unit = torch.nn.functional.normalize(module.model.vectors.float(), dim=-1)
        for ids, real in zip(batch["text"], batch["text_mask"], strict=True):
            own = ids[real & (ids != UNK)]
            if not len(own):
                yield [], 0.0
                continue
            middle = torch.nn.functional.normalize(unit[own].sum(0), dim=0)
            near = unit @ middle
            near[: len(SPECIALS)] = near[own] = -2.0
            best = near.topk(min(NEAREST, max(len(near) - len(SPECIALS) - len(own), 1)))
            yield [self.word(i) for i in best.indices.tolist()], float(best.values[0])

    def input_doubts(self, examples: Sequence[Any], *, asked: bool = False) -> list[str]:
        """Words that are asked about and have no vector of their own."""
        found = super().input_doubts(examples, asked=asked)
        if not asked:
            return found
        texts = [one["text"] for one in examples]
        unknown = {
            text[start:end]
            for text, tokens in zip(texts, self.text.tokens(texts), strict=True)
            for number, (start, end) in zip(tokens.ids, tokens.offsets, strict=True)
            if number == UNK
        }
        if unknown:
            some = sorted(unknown)
            more = ", …" if len(some) > NAMED else ""
            said = t(
                "{words}: no text to learn from has it often enough, and a word without a vector of its own "
                "has no neighbours",
                words=", ".join(map(repr, some[:NAMED])) + more,
            )
            found.append(said)
        return found

    def word(self, number: int) -> str:
        """As the text spells it."""
        return self.text.tokenizer.decode([number]).strip()

    def word_vectors(self, module: Embed) -> tuple[list[str], np.ndarray]:
        """All words but the special tokens, each once, and their vectors (V, D)."""
        vectors = module.model.vectors.detach().float().cpu().numpy()
        rows = self.rows_of_words()
        return list(rows), vectors[list(rows.values())]

    def rows_of_words(self) -> dict[str, int]:
        """The token of each word; where pieces or an older run have several, the one met most."""
        rows: dict[str, int] = {}
        for number in range(len(SPECIALS), self.text.size):
            word = self.word(number)
            if not word or " " in word:
                continue
            other = rows.setdefault(word, number)
            if self.text.counts[number] > self.text.counts[other]:
                rows[word] = number
        return rows

    @property
    def merged(self) -> int:
        """How many tokens have no row of their own, since another is the same word."""
        spelt = [self.word(number) for number in range(len(SPECIALS), self.text.size)]
        return sum(bool(word) and " " not in word for word in spelt) - len(self.rows_of_words())

    # how good it is

    def likelihoods(self, module: Embed, examples: Sequence[Example]) -> list[Likelihood]:
        return module.likelihoods(self._ids(examples))

    def _ids(self, examples: Sequence[Any]) -> list[torch.Tensor]:
        longest = self.recipe.data.max_length
        every = (parts[0][:longest] for parts in self.text.encode(examples))
        return [torch.from_numpy(np.asarray(ids, np.int64)) for ids in every]

    def validation(self, found: Tally, examples: Sequence[Any]) -> Validation:
        total = Likelihood.summed(found.counts)
        return Validation(total.loss, {"accuracy": total.accuracy})

    def evaluate(
        self, module: Embed, corpus: str, examples: Sequence[Any], *, beam: int | None = None
    ) -> EmbedEvaluation:
        one = cast(EmbedEvaluation, super().evaluate(module, corpus, examples, beam=beam))
        chosen = self.options
        words, vectors = self.word_vectors(module)
        found = UnitVectors(words, vectors.astype(np.float64))
        probes = probed(found, chosen.similarity, chosen.analogies, chosen.tags)
        return replace(
            one,
            measures={**one.measures, **{name: each.value for name, each in probes.items()}},
            probes=probes,
            by_distance=self.weights_by_place(module, examples),
        )

    def weights_by_place(self, module: Embed, examples: Sequence[Any]) -> list[float]:
        """The mean weight of each place around a word, of words that have all of them."""
        if not isinstance(module.model, CbowModel):
            return []
        sums, count, seen = torch.zeros(2 * module.model.options.window), 0, 0
        with module.inference():
            for ids in self._ids(examples):
                found = module.windows(ids.to(module.device), torch.zeros_like(ids))
                whole = found.mask.all(-1)
                weights = module.model.weights(found.words[whole], found.mask[whole])
                sums, count, seen = (
                    sums + weights.sum(0).cpu(),
                    count + len(weights),
                    seen + len(ids),
                )
                if seen > SHOWN:
                    break
        return (sums / count).tolist() if count else []

    def facts(self, one: EmbedEvaluation) -> Mapping[str, str]:
        said = {
            name: t("{judged} of {items} items", judged=f"{each.judged:,}", items=f"{each.items:,}")
            for name, each in one.probes.items()
        }
        return {**super().facts(one), **said}

    def drawings(self, found: Mapping[str, Any]) -> Sequence[Drawing]:
        lines = [(name, one.by_distance) for name, one in found.items() if one.by_distance]
        if not lines:
            return ()
        return [Drawing(t("Weight by distance"), distance_chart(dict(lines)).inline())]

    def samples(self, module: Embed, one: EmbedEvaluation) -> list[Sample]:
        """Words from all over the vocabulary, and the nearest to each."""
        ranked = np.argsort(-self.text.counts[len(SPECIALS) :], kind="stable") + len(SPECIALS)
        chosen = [int(n) for n in ranked[50:2000:250] if self.word(int(n)).isalpha()]
        asked = [{"text": self.word(number)} for number in chosen]
        found = self.predict(module, asked, batch=len(asked) or 1)
        return [Sample(one.input, " ".join(one.answer), "") for one in found]

    def sample_names(self) -> SampleNames:
        return SampleNames(t("Nearest words"), t("word"), t("wanted"), t("nearest"))

    def next_steps(self, folder: Path) -> list[NextStep]:
        near = f"regard predict -m {folder} WORD", t("The words nearest to a word.")
        out = f"regard export -m {folder} --to word2vec", t("Vectors in word2vec's text format.")
        return [NextStep(*near), NextStep(*out)]


def distance_chart(curves: Mapping[str, Sequence[float]]) -> Chart:
    """The mean weight of each place around a word: -b … -1, 1 … b."""
    lines = []
    for name, weights in curves.items():
        half = len(weights) // 2
        places = [*range(-half, 0), *range(1, half + 1)]
        points = [
            Point(place, weight, f"{place:+d}: {weight:.4f}")
            for place, weight in zip(places, weights, strict=True)
        ]
        lines.append(Line(name, points))
    every = [point for line in lines for point in line.points]
    return Chart(
        t("Mean weight of the words around a word"),
        lines,
        Axis.of(t("place, counted from the word"), [point.x for point in every]),
        Axis.of(t("weight"), [point.y for point in every], zero=True),
    )
