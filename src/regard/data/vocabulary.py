"""Learning the vocabulary of a tokenizer from texts, the same one each time.

The library's trainers run over a sample that fits in memory, cut at characters too rare to learn,
so that the model meets UNK in training as it will afterwards.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import tokenizers
from tokenizers import models, trainers

from regard.words import t

SPACE = "▁"
SPECIALS = ("<pad>", "<unk>", "<s>", "</s>")
SAMPLE = 1_000_000  # texts; more teach no better pieces
RARE = 2  # a character seen so often, or less, may be left out
UNSEEN = 0.0005  # of the running characters may be left out, so none of a small corpus is
LONGEST_PIECE = 16  # of unigram models, in characters


def learn(
    inner: tokenizers.Tokenizer, texts: Iterable[str], kind: str, size: int
) -> tokenizers.Tokenizer:
    """`inner`, whose normaliser and pre-tokeniser are set, with a model of this kind."""
    normal = [inner.normalizer.normalize_str(text) for text in sample(texts)]
    if not any(normal):
        raise ValueError(t("there is no text to learn a vocabulary from"))
    if kind in ("bpe", "unigram"):
        return _train_pieces(inner, normal, kind, size)
    counts = Counter(unit for text in normal for unit in _units(inner, text))
    counts.pop(SPECIALS[1], None)  # a word "<unk>" is one
    if kind == "character":
        counts[SPACE] += 1  # always known, as it is where pieces are tokens
    units = _most_frequent(counts, size - len(SPECIALS))
    vocabulary = {unit: i for i, unit in enumerate((*SPECIALS, *units))}
    inner.model = models.WordLevel(vocabulary, unk_token=SPECIALS[1])
    return inner


def sample(texts: Iterable[str]) -> list[str]:
    """All texts, or SAMPLE of them, each as likely as any other, if there are more."""
    draw = random.Random(0)
    kept: list[str] = []
    for number, text in enumerate(texts):
        if number < SAMPLE:
            kept.append(text)
        elif (place := draw.randrange(number + 1)) < SAMPLE:
            kept[place] = text
    return kept


def _units(inner: tokenizers.Tokenizer, normal: str) -> Iterator[str]:
    return (unit for unit, _ in inner.pre_tokenizer.pre_tokenize_str(normal))


def _most_frequent(counts: Counter[str], most: int) -> list[str]:
    """Ties in the order of the characters, not of the texts or of a hash."""
    return sorted(counts, key=lambda unit: (-counts[unit], unit))[:most]


def _alphabet(normal: list[str], size: int) -> tuple[list[str], list[str]]:
    """The characters to know, and those too rare."""
    counts = Counter(character for text in normal for character in text)
    room = UNSEEN * counts.total()
    counts[SPACE] += counts.total() + 1  # first, so that UNK never hides a space
    known = _most_frequent(counts, size - len(SPECIALS))
    while counts[known[-1]] <= min(RARE, room):
        room -= counts[known.pop()]
    return known, sorted(set(counts) - set(known))


def _known_parts(normal: list[str], rare: list[str]) -> list[str]:
    if not rare:
        return normal
    cut = re.compile(f"[{re.escape(''.join(rare))}]+")
    return [part for text in normal for part in cut.split(text) if part]


def _train_pieces(
    inner: tokenizers.Tokenizer, normal: list[str], kind: str, size: int
) -> tokenizers.Tokenizer:
    alphabet, rare = _alphabet(normal, size)
    common: dict[str, Any] = {
        "vocab_size": size,
        "special_tokens": list(SPECIALS),
        "initial_alphabet": alphabet,
        "show_progress": False,
    }
    if kind == "bpe":
        # unknown characters side by side are one UNK, so that a rare name is one thing to look at
        inner.model = models.BPE(unk_token=SPECIALS[1], fuse_unk=True)
        trainer: trainers.Trainer = trainers.BpeTrainer(min_frequency=2, **common)
    else:
        inner.model = models.Unigram()
        trainer = trainers.UnigramTrainer(
            unk_token=SPECIALS[1], max_piece_length=LONGEST_PIECE, **common
        )
    inner.train_from_iterator(_known_parts(normal, rare), trainer)
    settings = json.loads(inner.to_str())
    # the special tokens keep their ids, but "</s>" in a text is just four signs
    settings["added_tokens"] = []
    if kind == "unigram":
        settings["model"]["vocab"] = _settled(settings["model"]["vocab"], size)
    return tokenizers.Tokenizer.from_str(json.dumps(settings))


def _settled(scored: list[tuple[str, float | None]], size: int) -> list[tuple[str, float | None]]:
    """The pieces of a unigram model and their scores without what changes from run to run.

    The library takes characters in the order of a random hash: that moves the last digits of all
    scores, and spreads characters that are no piece by themselves just above the lowest score.
    """
    specials = scored[: len(SPECIALS)]
    pieces = [
        (piece, score or 0.0) for piece, score in scored[len(SPECIALS) :]
    ]  # None: the only one
    characters = sum(len(piece) == 1 for piece, _ in pieces)
    floor = min(score for _, score in pieces) + 1e-4 * characters
    settled = sorted((-round(max(score, floor), 4), piece) for piece, score in pieces)
    room = size - len(SPECIALS) - characters  # a small vocabulary comes out larger than asked for
    longer = [entry for entry in settled if len(entry[1]) > 1][:room]
    kept = sorted(longer + [entry for entry in settled if len(entry[1]) == 1])
    return [*specials, *((piece, -cost) for cost, piece in kept)]
