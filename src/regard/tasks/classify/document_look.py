"""Looking at a document: what each sentence weighs in the answer, and each word in its sentence.

Legend: S sentences, W words of all of them, L words of the longest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor, nn

from regard.attention.pooling import AttentionPooling, Pooled
from regard.data.fields.document import Document, Sentences
from regard.data.tokenizer import Tokens
from regard.models.summary import Summary
from regard.records.attention_map import AttentionMap
from regard.records.levels import Levels
from regard.records.question import BadQuestion
from regard.records.side import Side
from regard.words import t

SENTENCE_LABEL = 5  # words of a sentence that it is called by
MOST_CELLS = 2**18  # of the map of sentences × words
MECHANISMS = {
    "attention": "score: u · tanh(W h) · normalize: softmax",
    "mean": "mean: every state alike",
    "max": "max: the share of the features that each state gave",
}
UNATTENDED = {"mean": "mean pooling", "max": "max pooling"}  # what their maps are called


class Shares(NamedTuple):
    """How much of a vector each of the states is that it was made of."""

    kind: str  # "attention", "mean", "max"
    weights: Tensor  # (vectors, states)


@contextmanager
def recording_shares(network: nn.Module) -> Iterator[list[Shares]]:
    """Inside the block, keep what vectors are made of: those of sentences, then that of the document."""
    kept: list[Shares] = []

    def summed(summary: Summary, args: tuple[Any, ...], _: Tensor) -> None:
        if (shares := summary.shares(args[0])) is not None:
            kept.append(Shares(summary.kind, shares))

    def attended(_: AttentionPooling, __: tuple[Any, ...], pooled: Pooled) -> None:
        kept.append(Shares("attention", pooled.weights))

    handles = [
        part.register_forward_hook(summed if isinstance(part, Summary) else attended)
        for part in network.modules()
        if isinstance(part, Summary | AttentionPooling)
    ]
    try:
        yield kept
    finally:
        for handle in handles:
            handle.remove()


def document_levels(
    shares: Sequence[Shares], sentences: Sequence[Tokens], words: str
) -> Levels | None:
    """None: the model makes no vector of sentences by one of these ways. words: the name of their side.

    shares: of words (S, L), then of sentences (1, S), as they were recorded.
    """
    if not sentences:
        raise BadQuestion(t("there is nothing to look at: the document has no words"))
    if len(shares) != 2:
        return None
    lengths = tuple(len(each) for each in sentences)
    inside, among = (each.weights.float().cpu().numpy() for each in shares)
    weights = [row[:length] for row, length in zip(inside, lengths, strict=True)]
    upper, lower = among[0, : len(lengths)], np.concatenate(weights)
    return Levels("sentences", words, lengths, upper, lower, MECHANISMS[shares[1].kind])


def cut_note(field: Document, value: Sentences, read: Sequence[Tokens]) -> tuple[str, ...]:
    """What of a document is too long to be read."""
    whole = [len(each) for each in field.tokenizer.encode_many(list(value)) if each.ids]
    notes = []
    if len(whole) > len(read):
        notes.append(f"the first {len(read):,} of {len(whole):,} sentences were read")
    if cut := sum(length > field.words for length in whole[: len(read)]):
        several = "one sentence" if cut == 1 else f"{cut:,} sentences"
        notes.append(f"of {several} only the first {field.words:,} words were read")
    return tuple(notes)


def level_maps(levels: Levels) -> tuple[list[AttentionMap], tuple[str, ...]]:
    """Both levels in one, the sentences, and the words, a row for every sentence; and what was left out."""
    upper, lower = levels.sentence_weights, levels.word_weights
    cells = len(upper) * len(lower)
    maps = [
        _map("pooling", "label", levels.words, levels.product[None], "sentence × word"),
        _map("sentences", "label", levels.sentences, upper[None], levels.mechanism),
    ]
    if cells > MOST_CELLS:
        note = f"the map of words is left out: {len(upper):,} sentences × {len(lower):,} words"
        return maps, (note,)
    own = levels.owners == np.arange(len(upper))[:, None]  # (S, W)
    rows = np.where(own, lower, 0.0)
    maps.append(_map("words", levels.sentences, levels.words, rows, levels.mechanism, own))
    return maps, ()


def share_maps(shares: Sequence[Shares], positions: int, keys: str) -> list[AttentionMap]:
    """What the positions of a text are of the vector that was judged, which was made without attention."""
    return [
        _map(UNATTENDED[each.kind], "label", keys, each.weights.cpu().numpy(), "")
        for each in shares[-1:]
        if each.kind in UNATTENDED and each.weights.shape == (1, positions)
    ]


def sentence_side(text: str, sentences: Sequence[Tokens], language: str) -> Side:
    """A position for every sentence, called by its number and its first words."""
    labels, places = [], []
    for number, each in enumerate(sentences, 1):
        last = min(len(each), SENTENCE_LABEL) - 1
        begin, end = each.offsets[0][0], each.offsets[-1][1]
        more = " …" if len(each) > SENTENCE_LABEL else ""
        labels.append(f"{number} {text[begin : each.offsets[last][1]]}{more}")
        places.append((begin, end))
    words = range(len(labels))
    return Side.of(text, labels, places, words=words, title="sentences", language=language)


def _map(
    name: str, queries: str, keys: str, weights: Any, mechanism: str, allowed: Any = None
) -> AttentionMap:
    return AttentionMap(
        name,
        queries,
        keys,
        weights[None, None].astype(np.float32),
        mechanism=mechanism,
        allowed=None if allowed is None else allowed[None, None],
    )
