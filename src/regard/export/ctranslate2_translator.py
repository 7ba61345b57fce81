"""Text in, text out, searched by CTranslate2.

Its search is ours (2 · beam candidates a step, an EOS among the first `beam` ends a hypothesis, `beam`
ended ones end the sentence), but for three things that are made good here: it ranks by
log_prob / length^α, so the ended hypotheses are asked for and ranked again, and where one that it dropped
could be the best, all of them; where the most probable is the best (α = 0), nothing of that is needed, and
it stops as ours does; it has one length limit for all, so a sentence that ran over its own is
searched again; it excludes PAD and BOS before the softmax, so where a model gives these a share of the
probability (`exact` is False), the log-probabilities of what was found are asked for once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, cast

import torch
from torch import Tensor, nn

from regard.data.tokenizer import BOS, EOS, PAD, SPECIALS, Tokenizer, Tokens
from regard.export.ctranslate2 import vocabulary
from regard.export.unsupported import CannotExport, need
from regard.layers.contracts import Translator
from regard.layers.positions import TooLong
from regard.runs.devices import find_device
from regard.search import Hypothesis, Search
from regard.search.settings import coverage
from regard.tasks.longest_first import BATCH
from regard.tasks.prediction import Prediction
from regard.tasks.translate.text_translator import TextTranslator
from regard.words import t

TOGETHER = 1024  # sentences that are handed over at once
NO_EARLY_EXIT = 1e-9  # length^α is 1 in float32, yet the engine does not stop at a first end


class CTranslate2Translator(TextTranslator):
    """A folder of CTranslate2 that is asked in text; `predict` only, with a beam only."""

    def __init__(
        self,
        folder: Path,
        tokenizers: tuple[Tokenizer, Tokenizer],
        longest: tuple[int | None, int | None],
        *,
        exact: bool = True,
        device: str | None = None,
    ) -> None:
        super().__init__(cast(Translator, nn.Module()), *tokenizers)  # the engine has the weights
        self.longest, self.exact = longest, exact
        self._engine = _open(folder, device)
        self._source, self._target = map(vocabulary, tokenizers)
        self._ids = {token: number for number, token in enumerate(self._target)}

    def predict(
        self,
        texts: Sequence[str],
        settings: Search | None = None,
        *,
        prefixes: Sequence[str] | None = None,
        replace_unknown: bool = False,
        batch: int = BATCH,
    ) -> list[Prediction]:
        """As `TextTranslator.predict`; the engine is given many at a time and makes its batches of 64."""
        return super().predict(
            texts,
            settings,
            prefixes=prefixes,
            replace_unknown=replace_unknown,
            batch=max(batch, TOGETHER),
        )

    def _force(self, *_: Any, **__: Any) -> NoReturn:
        raise CannotExport(
            t("this engine translates only: targets that are given are scored by the run itself"),
            t("leave the engine out"),
        )

    def _search(
        self,
        sources: Sequence[Tokens],
        settings: Search,
        prefix: Sequence[Sequence[int]] | None,
        numbers: Sequence[int],
    ) -> list[list[Hypothesis]]:
        _check_settings(settings, prefix)
        read = [[self._source[i] for i in tokens.ids] + [SPECIALS[EOS]] for tokens in sources]
        lengths = torch.tensor([len(tokens) for tokens in read])
        limits: list[int] = (
            settings.limits(lengths).clamp(max=self.longest[1] or settings.max_length).tolist()
        )
        alpha = _engine_penalty(settings, float(lengths.float().mean()))
        found = self._ask(read, settings, alpha, max(limits))
        wide_alpha = alpha or NO_EARLY_EXIT
        for limit, rows in _again(found, limits, settings, alpha).items():
            wide = self._ask([read[i] for i in rows], settings, wide_alpha, limit, all_of_them=True)
            for i, hypotheses in zip(rows, wide, strict=True):
                found[i] = _until_full(hypotheses, settings.beam)
        best = [_ranked(hypotheses, settings) for hypotheses in found]
        # whoever looks at the attention wants the tokens' own numbers, which cost a second reading
        again = settings.attention or not self.exact
        return self._scored(read, best, settings) if again else best

    def _ask(
        self,
        read: list[list[str]],
        settings: Search,
        alpha: float,
        limit: int,
        *,
        all_of_them: bool = False,
    ) -> list[list[Hypothesis]]:
        """The `beam` best that ended, by the engine's ranking, or all that end until the limit.

        Just the best where that is asked for, and probable ones are: no continuation of a less probable
        beginning can overtake it, so the engine stops when its first beam ends.
        """
        beam = settings.beam
        patience = limit + 1 if all_of_them and beam > 1 else 1
        wanted = beam * patience if alpha else 1
        options = {
            "max_batch_size": BATCH,
            "max_decoding_length": limit,
            "min_decoding_length": 0,
            "max_input_length": 0,
            "return_attention": settings.weighs,
            "return_end_token": True,
            "suppress_sequences": [[SPECIALS[PAD]], [SPECIALS[BOS]]],
        }
        results = self._engine.translate_batch(
            read,
            beam_size=beam,
            patience=patience,
            num_hypotheses=wanted,
            length_penalty=alpha,
            return_scores=True,
            **options,
        )
        firsts = [None] * len(read)
        if settings.weighs and settings.beam > 1:
            # the beam search reports another sentence's weights for the first token (seen in 4.8.4)
            one = self._engine.translate_batch(
                read, beam_size=1, **options | {"max_decoding_length": 1}
            )
            firsts = [result.attention[0][0] for result in one]
        return [
            [*self._hypotheses(result, alpha, first)]
            for result, first in zip(results, firsts, strict=True)
        ]

    def _hypotheses(
        self, result: Any, alpha: float, first: list[float] | None
    ) -> Iterable[Hypothesis]:
        weights = result.attention or [None] * len(result.hypotheses)
        for pieces, score, seen in zip(result.hypotheses, result.scores, weights, strict=True):
            tokens = [self._ids[piece] for piece in pieces]
            if seen is not None and first is not None:
                seen = [first, *seen[1:]]
            log_prob = score * len(tokens) ** alpha
            attention = None if seen is None else torch.tensor(seen)
            yield Hypothesis(tokens, log_prob, log_prob, [], attention, tokens[-1] == EOS)

    def _scored(
        self, read: list[list[str]], found: list[list[Hypothesis]], settings: Search
    ) -> list[list[Hypothesis]]:
        """With the log-probability of every token, and the score that the sum of them has."""
        flat = [(source, h) for source, answer in zip(read, found, strict=True) for h in answer]
        results = self._engine.score_batch(
            [source for source, _ in flat],
            [[self._target[i] for i in self._before_end(h)] for _, h in flat],
            max_input_length=0,
        )
        scored = iter(
            _with_log_probs(h, result.log_probs, settings)
            for (_, h), result in zip(flat, results, strict=True)
        )
        return [[next(scored) for _ in answer] for answer in found]

    def _before_end(self, found: Hypothesis) -> list[int]:
        """The tokens to be scored, to which the engine adds EOS, if there is a position for it."""
        full = found.finished or len(found.tokens) == self.longest[1]
        return found.tokens[:-1] if full else found.tokens

    def _check_lengths(self, sources: Sequence[Tokens]) -> None:
        length, most = max(map(len, sources), default=0) + 1, self.longest[0]
        if most is not None and length > most:
            raise TooLong(
                t(
                    "a source of {length} tokens (its end counted) is longer than the {most} "
                    "positions that were exported: shorten it",
                    length=length,
                    most=most,
                )
            )


def _open(folder: Path, device: str | None) -> Any:
    engine = need("ctranslate2")
    kind, index = "cuda" if engine.get_cuda_device_count() else "cpu", 0
    if device is not None and device != "auto":
        place = find_device(device)
        kind, index = place.type, place.index or 0
    if kind not in ("cpu", "cuda"):
        raise CannotExport(
            t("CTranslate2 runs on cpu and cuda, not on {kind}", kind=kind), "--device cpu"
        )
    return engine.Translator(
        str(folder), device=kind, device_index=index, intra_threads=torch.get_num_threads()
    )


def _check_settings(settings: Search, prefix: Sequence[Sequence[int]] | None) -> None:
    """CannotExport for what the engine does in another way than `regard.search`."""
    refused = {
        "draws (--sample)": settings.method != "beam",
        "prefixes": prefix is not None,
        "min_length": settings.min_length > 0,
        "no_repeat_ngram": settings.no_repeat_ngram > 0,
    }
    for what, asked in refused.items():
        if asked:
            raise CannotExport(
                t("CTranslate2's {what} differ from those of regard's search", what=what)
            )


def _engine_penalty(settings: Search, length: float) -> float:
    """An α of log_prob / length^α by which the engine drops nothing that could be our best.

    α · l / (5 + l) ranks as ours does among lengths about l. A smaller one drops long hypotheses first,
    which end last and are ranked alike: with 0.4 of the source's length no sentence of the test set of the
    embedded corpus has to be searched again, with all of it one in seven. 0: the best by probability alone.
    """
    if settings.length_penalty == settings.coverage_penalty == 0 and settings.nbest == 1:
        return 0.0
    return settings.length_penalty * 0.4 * length / (5 + 0.4 * length) or NO_EARLY_EXIT


def _again(
    found: list[list[Hypothesis]], limits: list[int], settings: Search, alpha: float
) -> dict[int, list[int]]:
    """Which are searched again, by the limit of that search: their own where they ran over it."""
    again: dict[int, list[int]] = {}
    doubtful = []
    for i, (hypotheses, limit) in enumerate(zip(found, limits, strict=True)):
        if any(not h.finished or len(h.tokens) > limit for h in hypotheses):
            again.setdefault(limit, []).append(i)
        elif not _certain(hypotheses, settings, alpha):
            doubtful.append(i)
    if doubtful:
        last = max(len(h.tokens) for i in doubtful for h in found[i])
        again.setdefault(last, []).extend(doubtful)
    return again


def _certain(found: list[Hypothesis], settings: Search, alpha: float) -> bool:
    """Whether the best is among these, which all ended: what the engine dropped is no better.

    Dropped is what it ranks below all of these, log_prob <= worst · length^α. It ended with the last of
    them, or before if fewer than beam - 1 of them did. (An empty one would be better only if the model
    thinks next to nothing of all others: such a model is not worth a second search.)
    """
    if len(found) < settings.beam or settings.beam == 1 or not alpha:
        return True
    worst = min(h.log_prob / len(h.tokens) ** alpha for h in found)
    ends = [len(h.tokens) for h in found]
    earlier = sum(end < max(ends) for end in ends) < settings.beam - 1
    lengths = torch.arange(2.0 if earlier else max(ends), max(ends) + 1)
    possible = (worst * lengths**alpha / settings.penalty(lengths)).max()
    return float(possible) <= max(_score(h, settings) for h in found)


def _until_full(found: list[Hypothesis], beam: int) -> list[Hypothesis]:
    """Those that had ended when `beam` had."""
    ends = sorted(len(h.tokens) for h in found if h.finished)
    if len(ends) < beam:
        return found
    return [h for h in found if h.finished and len(h.tokens) <= ends[beam - 1]]


def _ranked(found: list[Hypothesis], settings: Search) -> list[Hypothesis]:
    """The nbest, finished ones first."""
    scored = [replace(h, score=_score(h, settings)) for h in found]
    return sorted(scored, key=lambda h: (not h.finished, -h.score))[: settings.nbest]


def _score(found: Hypothesis, settings: Search) -> float:
    if not settings.coverage_penalty:
        return found.log_prob / settings.penalty(float(len(found.tokens)))
    assert found.attention is not None
    attended: Tensor = found.attention.sum(0)
    covered = coverage(attended, torch.ones_like(attended, dtype=torch.bool))
    return float(settings.score(torch.tensor(found.log_prob), len(found.tokens), covered))


def _with_log_probs(found: Hypothesis, scored: list[float], settings: Search) -> Hypothesis:
    """scored: of the tokens, but for the last where EOS stands in its place; that is what is left."""
    log_probs = scored[: len(found.tokens)]
    if not found.finished and len(scored) == len(found.tokens):
        log_probs = [*scored[:-1], found.log_prob - sum(scored[:-1])]
    known = replace(found, log_probs=log_probs, log_prob=sum(log_probs))
    return replace(known, score=_score(known, settings))
