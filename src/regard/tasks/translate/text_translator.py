"""Text in, text out: translations, scores and likelihoods by a model and its two tokenisers.

Legend: B sentences, S source and T target positions, M real target tokens, V the target vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from regard.data.tokenizer import UNK, Tokenizer, Tokens
from regard.layers.contracts import Decoder, Encoded, Translator
from regard.layers.positions import TooLong
from regard.measures.likelihood import Likelihood
from regard.search import Hypothesis, Search, search
from regard.search import replace_unknown as attended_words
from regard.search.settings import coverage
from regard.tasks.decoded_tokens import spell
from regard.tasks.longest_first import BATCH
from regard.tasks.prediction import Prediction
from regard.tasks.task_module import LikelihoodModule, Unanswerable
from regard.words import t

SCORED = 1 << 14  # target tokens of a score that are read side by side: there is no beam of them
HYPOTHESES = 1 << 13  # that a GPU searches at a time: what they have read stays in its memory
LOGITS = (
    1 << 20
)  # of a score that are there at a time: 4 MB, whatever the vocabulary and the targets


class ForcedTargets(NamedTuple):
    """What a model gives for targets that are known: `project(outputs)` are the logits, M · V numbers."""

    outputs: Tensor  # (M, R), the tokens of the first sentence first
    wanted: Tensor  # (M,)
    lengths: list[int]  # tokens of each sentence, EOS included
    weights: Tensor | None  # (B, T, S)
    bonus: Tensor | None  # (M,) of a decoder that is searched by more than probabilities

    def each_bonus(self) -> Iterator[float]:
        """The sum over each sentence; 0 where there is none."""
        if self.bonus is None:
            return repeat(0.0)
        return iter([one.sum().item() for one in self.bonus.split(self.lengths)])


class TextTranslator(LikelihoodModule):
    """A source-to-target model that is asked in text and answers in text."""

    model: Translator

    def __init__(
        self, model: Translator, source_tokenizer: Tokenizer, target_tokenizer: Tokenizer
    ) -> None:
        super().__init__(cast(nn.Module, model))
        self.source_tokenizer, self.target_tokenizer = source_tokenizer, target_tokenizer

    def predict(
        self,
        texts: Sequence[str],
        settings: Search | None = None,
        *,
        prefixes: Sequence[str] | None = None,
        replace_unknown: bool = False,
        batch: int = BATCH,
    ) -> list[Prediction]:
        """The translation of every text, in their order; a blank text has an empty one.

        prefixes: what each translation must begin with. replace_unknown: an UNK becomes the source
        word it attends to most. Sentences of like lengths are searched together, `batch` at a time; on a
        GPU fewer where the beam is wide.
        """
        settings = settings or Search()
        if self.device.type == "cuda":
            batch = max(1, min(batch, HYPOTHESES // settings.width))
        looking = replace(settings, attention=settings.attention or replace_unknown)
        sources = self.read(texts)
        self._check_lengths(sources)
        firsts = None if prefixes is None else self.write(prefixes, texts, sources)
        asked = [i for i, text in enumerate(texts) if text.strip()]

        def best(places: list[int]) -> Iterator[Prediction]:
            rows = [asked[place] for place in places]
            prefix = None if firsts is None else [firsts[i] for i in rows]
            answers = self._search([sources[i] for i in rows], looking, prefix, rows)
            for i, ranked in zip(rows, answers, strict=True):
                given = texts[i], sources[i], settings, replace_unknown
                yield Prediction.best(self._prediction(one, *given) for one in ranked)

        found = iter(self.in_batches([len(sources[i]) for i in asked], batch, best))
        pairs = zip(texts, sources, strict=True)
        return [next(found) if text.strip() else _nothing(text, source) for text, source in pairs]

    def score(
        self,
        sources: Sequence[str],
        targets: Sequence[str | Tokens],
        settings: Search | None = None,
        *,
        batch: int = BATCH,
    ) -> list[Prediction]:
        """Each target as if it had been predicted with these settings: score, log-probabilities, attention.

        A text is cut by the tokeniser; `Tokens`, such as those of a Prediction, are taken as they are.
        """
        settings = settings or Search()
        if len(sources) != len(targets):
            raise ValueError(
                t(
                    "there are {count} sources but {targets} targets: one is needed for each",
                    count=f"{len(sources):,}",
                    targets=f"{len(targets):,}",
                )
            )
        read = self.read(sources)
        written = [*map(self._written, targets, sources, read)]
        self._check_lengths(read)

        def scored(rows: list[int]) -> Iterator[Prediction]:
            wanted = [written[i][1].ids for i in rows]
            forced = self._force([read[i] for i in rows], wanted, weights=settings.weighs)
            bonus = forced.each_bonus()
            for i, log_probs, weights in zip(rows, *self._by_sentence(forced), strict=True):
                weights = None if weights is None else weights[:, : len(read[i]) + 1]
                yield Prediction(
                    source=sources[i],
                    text=written[i][0],
                    score=_score(log_probs, next(bonus), weights, settings),
                    log_prob=sum(log_probs),
                    log_probs=tuple(log_probs),
                    source_tokens=read[i],
                    tokens=written[i][1],
                    finished=True,
                    attention=weights if settings.attention else None,
                )

        # both sides are padded, and either can be the long one
        pairs = zip(read, written, strict=True)
        longer = [max(len(source), len(target)) for source, (_, target) in pairs]
        return self.in_batches(longer, batch, scored, SCORED)

    def likelihoods(
        self, sources: Sequence[str], targets: Sequence[str], *, batch: int = BATCH
    ) -> list[Likelihood]:
        """How probable the model finds each of these translations."""
        read = self.read(sources)
        written = self.write(targets, sources, read)

        def of_each(rows: list[int]) -> list[Likelihood]:
            forced = self._force([read[i] for i in rows], [written[i] for i in rows])
            logits = self.model.decoder.project(forced.outputs)
            return Likelihood.of_each(logits, forced.wanted, forced.lengths)

        return self.in_batches(map(len, read), batch, of_each)

    def read(self, texts: Sequence[str]) -> list[Tokens]:
        """Sources in tokens, as the model reads them."""
        return self.source_tokenizer.encode_many(texts)

    def writer(self, text: str, source: Tokens) -> Tokenizer:
        """What the ids of a target stand for, where this is its source."""
        return self.target_tokenizer

    def write(
        self, targets: Sequence[str], texts: Sequence[str], sources: Sequence[Tokens]
    ) -> list[list[int]]:
        """The ids of targets of these sources."""
        return self.target_tokenizer.encode_ids(targets)

    def _search(
        self,
        sources: Sequence[Tokens],
        settings: Search,
        prefix: Sequence[Sequence[int]] | None,
        numbers: Sequence[int],
    ) -> list[list[Hypothesis]]:
        """The nbest hypotheses of each source, best first."""
        encoded = self.encode(sources)
        return search(self.model.decoder, encoded, settings, prefix=prefix, numbers=numbers)

    def _check_lengths(self, sources: Sequence[Tokens]) -> None:
        """Before anything is searched: which text goes beyond the positions that were learnt."""
        longest = getattr(getattr(self.model, "encoder", None), "longest", None)
        for number, tokens in enumerate(sources, 1):
            if longest is not None and len(tokens) >= longest:
                raise TooLong(
                    t(
                        "text {number} has {count} tokens, and this model has learnt positions for "
                        "{longest} and the end: cut it in two",
                        number=number,
                        count=len(tokens),
                        longest=longest - 1,
                    )
                )

    def encode(self, sources: Sequence[Tokens]) -> Encoded:
        """A batch of sources as the model reads them."""
        return self.model.encode(*self.padded([tokens.ids for tokens in sources]))

    def _force(
        self, sources: Sequence[Tokens], targets: Sequence[Sequence[int]], *, weights: bool = False
    ) -> ForcedTargets:
        target, real = self.padded(targets, bos=True)
        decoder, real, encoded = self.model.decoder, real[:, 1:], self.encode(sources)
        decoded = decoder.forward(target[:, :-1], encoded, weights=weights)
        bonus = target_bonus(decoder, target, encoded)
        return ForcedTargets(
            decoded.outputs[real],
            target[:, 1:][real],
            [len(ids) + 1 for ids in targets],
            None if decoded.attended is None else decoded.attended.weights,
            None if bonus is None else bonus[real],
        )

    def _by_sentence(
        self, forced: ForcedTargets
    ) -> tuple[list[list[float]], list[Tensor] | list[None]]:
        """log-probabilities of the tokens of each sentence, and its attention over padded sources."""
        size = max(1, LOGITS // len(self.target_tokenizer))
        pieces = zip(forced.outputs.split(size), forced.wanted.split(size), strict=True)
        each = [self._log_probs(outputs, wanted) for outputs, wanted in pieces]
        scores = [one.tolist() for one in torch.cat(each).split(forced.lengths)]
        if forced.weights is None:
            return scores, [None] * len(scores)
        weights = forced.weights.float().cpu()
        return scores, [w[:n] for w, n in zip(weights, forced.lengths, strict=True)]

    def _log_probs(self, outputs: Tensor, wanted: Tensor) -> Tensor:
        """(m, R), (m,) -> (m,)"""
        logits = self.model.decoder.project(outputs)
        log_probs = torch.log_softmax(logits, -1, dtype=torch.float32)
        return log_probs.gather(-1, wanted[:, None]).squeeze(-1)

    def _written(self, target: str | Tokens, text: str, source: Tokens) -> tuple[str, Tokens]:
        writer = self.writer(text, source)
        return (
            (target, writer.encode(target))
            if isinstance(target, str)
            else spell(writer, target.ids)
        )

    def _prediction(
        self, found: Hypothesis, text: str, source: Tokens, settings: Search, copy: bool
    ) -> Prediction:
        ids, weights = found.tokens, found.attention
        return Prediction.of(
            found,
            text,
            source,
            self.writer(text, source),
            unknown=_copied_words(ids, weights, text, source) if copy else None,
            attention=weights if settings.attention else None,
        )


def _nothing(text: str, source: Tokens) -> Prediction:
    """The translation of a blank text."""
    return Prediction(text, "", 0.0, 0.0, (), source, Tokens([], [], []), finished=True)


def _copied_words(
    ids: Sequence[int], attention: Tensor | None, text: str, source: Tokens
) -> dict[int, str]:
    """For the position of every UNK, the source piece attended to most; EOS is no word."""
    if attention is None:
        raise Unanswerable(
            t("replace_unknown needs a model that attends; this one does not"), t("leave it out")
        )
    words = [text[slice(*offset)] for offset in source.offsets]
    copied = attended_words([""] * len(ids), ids, attention[: len(ids)], words)
    return {i: word for i, word in enumerate(copied) if ids[i] == UNK}


def target_bonus(decoder: Decoder, target: Tensor, encoded: Encoded) -> Tensor | None:
    """What a search adds to the log-probabilities of targets (B, T + 1), BOS first: (B, T), if anything."""
    extractive = getattr(decoder, "extractive", None)
    if extractive is None:
        return None
    bonus: Tensor = extractive.bonus(decoder.features(target[:, :-1], target[:, 1:], encoded))  # type: ignore[attr-defined]
    return bonus


def _score(log_probs: list[float], bonus: float, weights: Tensor | None, settings: Search) -> float:
    """What a search would rank it by."""
    covered = None
    if settings.coverage_penalty:
        if weights is None:
            raise ValueError(t("coverage_penalty needs a model that attends; this one does not"))
        attended = weights.sum(0)
        covered = coverage(attended, torch.ones_like(attended, dtype=torch.bool))
    total = torch.tensor(sum(log_probs) + bonus)
    return float(settings.score(total, len(log_probs), covered))
