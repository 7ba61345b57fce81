"""What a search found: back-pointers while it runs, whole hypotheses at the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from regard.layers.special_tokens import EOS
from regard.words import t


@dataclass(frozen=True)
class Hypothesis:
    """One answer of a search."""

    tokens: list[int]  # without BOS; with EOS if finished
    score: float  # what it was ranked by, penalties included
    log_prob: float  # sum of log_probs
    log_probs: list[float]  # of each token
    attention: Tensor | None  # (len(tokens), S) float32 on the CPU, S real source positions
    finished: bool  # it ended with EOS, not at the length limit


class Moment(NamedTuple):
    """One step of a search: the candidates of each sentence, (B, C), and which of them went on."""

    sentences: list[int]  # those still searched
    parents: Tensor  # (B, C): the open hypothesis it continues
    tokens: Tensor  # (B, C)
    log_probs: Tensor  # (B, C)
    totals: Tensor  # (B, C); -inf: an unused place
    scores: Tensor  # (B, C) of those that ended here; -inf: did not end
    kept: Tensor  # (B, w): the candidates that became the open hypotheses of the next step
    weights: Tensor | None  # (B, w before, S): what each parent attended to


class _Read(NamedTuple):
    """A moment on the CPU, in lists."""

    row: dict[int, int]  # of each sentence
    parents: list[list[int]]
    tokens: list[list[int]]
    log_probs: list[list[float]]
    kept: list[list[int]]
    weights: Tensor | None


def assemble(history: list[Moment], mask: Tensor, nbest: int) -> list[list[Hypothesis]]:
    """The nbest different hypotheses of each sentence: finished ones first, then by score."""
    moments = [_read(moment) for moment in history]
    ended: list[list[tuple[bool, float, int, int]]] = [[] for _ in range(len(mask))]
    for step, moment in enumerate(history):
        scores = moment.scores.cpu()
        said = scores.tolist()
        for row, place in (scores > -torch.inf).nonzero().tolist():
            cut = moments[step].tokens[row][place] != EOS
            ended[moment.sentences[row]].append((cut, -said[row][place], step, place))
    real = mask.cpu()
    return [
        _different(sentence, sorted(found), moments, real[sentence], nbest)
        for sentence, found in enumerate(ended)
    ]


def _read(moment: Moment) -> _Read:
    return _Read(
        {sentence: row for row, sentence in enumerate(moment.sentences)},
        moment.parents.tolist(),
        moment.tokens.tolist(),
        moment.log_probs.tolist(),
        moment.kept.tolist(),
        None if moment.weights is None else moment.weights.float().cpu(),
    )


def _different(
    sentence: int,
    found: list[tuple[bool, float, int, int]],
    moments: list[_Read],
    real: Tensor,
    nbest: int,
) -> list[Hypothesis]:
    best: dict[tuple[int, ...], Hypothesis] = {}
    for cut, score, step, place in found:
        tokens, log_probs, weights = zip(
            *reversed([*_trace(moments, sentence, step, place)]), strict=True
        )
        attention = None if weights[0] is None else torch.stack(weights)[:, real]
        best.setdefault(
            tokens,
            Hypothesis([*tokens], -score, sum(log_probs), [*log_probs], attention, not cut),
        )
        if len(best) == nbest:
            break
    if not best:
        raise ValueError(
            t(
                "nothing could be found for sentence {sentence} of the batch: the decoder's "
                "logits are NaN, or the rules of the search forbid every token",
                sentence=sentence,
            )
        )
    return [*best.values()]


def _trace(
    moments: list[_Read], sentence: int, step: int, place: int
) -> Iterator[tuple[int, float, Tensor | None]]:
    """Token, log-probability and weights, from the last token to the first."""
    while True:
        moment = moments[step]
        row = moment.row[sentence]
        parent = moment.parents[row][place]
        weights = None if moment.weights is None else moment.weights[row, parent]
        yield moment.tokens[row][place], moment.log_probs[row][place], weights
        if step == 0:
            return
        step -= 1
        place = moments[step].kept[moments[step].row[sentence]][parent]
