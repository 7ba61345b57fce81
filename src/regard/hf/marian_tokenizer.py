"""The two tokenisers of a Marian checkpoint as tokenisers of regard.

A side is cut by its own sentencepiece model, and the pieces are numbered by a vocabulary of Marian,
which often holds the pieces of both sides. Ids are moved, since ours begin with PAD, UNK, BOS, EOS.

Texts are cut as MarianTokenizer of transformers cuts them, but for these rarities:

    </s>, <unk>, <pad> in a text         are signs like others; there they end or change the text
    >>fra<<                              a language the model knows is one token wherever it stands, there
                                         at the start only; there, an unknown one is UNK, here it is text
    characters that only the other       are cut into pieces of the other side; there they are UNK, unless
    side can spell                       the whole run of them is a piece
    a target piece without an id         is cut into smaller ones; there it is UNK
    half-width kana with a voice mark    are two characters; there they are one
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import tokenizers
from tokenizers import Regex, models, normalizers, pre_tokenizers

from regard.data.tokenizer import BOS, SPECIALS, UNK, Tokenizer
from regard.data.vocabulary import SPACE
from regard.hf.sentencepiece_file import SentencePiece

# the score of a piece that the sentencepiece model lacks: taken where nothing else fits
BEYOND = -1e4
NO_TEXT = " "  # ends the name of a token that no text is cut into: in normal text there is no blank
SPECIAL_SIGNS = r"<(?=(?:/?s|unk|pad)>)"  # cut behind, "</s>" in a text is no special token


@dataclass(frozen=True)
class SpecialRows:
    """Where Marian keeps what is PAD, UNK, BOS and EOS here; BOS is often its pad."""

    pad: int
    unk: int
    start: int
    eos: int


@dataclass(frozen=True)
class MarianVocabulary:
    """The tokens of a side by our ids, and the row of Marian's matrices that belongs to each."""

    names: list[str]
    rows: list[int]
    lost: int  # so many at the end are pieces without an id: UNK to the model, and never said

    @property
    def unsayable(self) -> list[int]:
        return [BOS, *range(len(self.rows) - self.lost, len(self.rows))]


def number_tokens(
    ids: Mapping[str, int], rows: int, special: SpecialRows, model: SentencePiece | None = None
) -> MarianVocabulary:
    """ids: a vocab.json; rows: of the embeddings; model: whose pieces are all to be known."""
    pieces = {number: piece for piece, number in ids.items()}
    plain = [row for row in range(rows) if row not in (special.pad, special.unk, special.eos)]
    names = [pieces.get(row, f"<{row}>{NO_TEXT}") for row in plain]
    names = [f"{name}{NO_TEXT}" if name in SPECIALS else name for name in names]
    lost = [] if model is None else sorted(piece for piece in model.scores if piece not in ids)
    first = [special.pad, special.unk, special.start, special.eos]
    return MarianVocabulary(
        [*SPECIALS, *names, *lost], [*first, *plain, *[special.unk] * len(lost)], len(lost)
    )


def source_tokenizer(model: SentencePiece, vocabulary: MarianVocabulary) -> Tokenizer:
    """Of the other side's pieces, only those that the model cannot spell a character of are used."""
    spelt = set("".join(model.scores))
    tags = {name for name in vocabulary.names if _is_tag(name)}
    used = {*SPECIALS, *tags, *model.scores}
    names = [
        f"{name}{NO_TEXT}" if name not in used and spelt & set(name) else name
        for name in vocabulary.names
    ]
    return _tokenizer(model, names)


def target_tokenizer(model: SentencePiece, vocabulary: MarianVocabulary) -> Tokenizer:
    """No text is cut into what is lost; all other tokens may be said, so they keep their names."""
    kept = len(vocabulary.names) - vocabulary.lost
    hidden = [f"{name}{NO_TEXT}" for name in vocabulary.names[kept:]]
    return _tokenizer(model, [*vocabulary.names[:kept], *hidden])


def _tokenizer(model: SentencePiece, names: Sequence[str]) -> Tokenizer:
    """Cuts like the sentencepiece model, with these tokens by id."""
    scored = [(name, model.scores.get(name, BEYOND)) for name in names]
    inner = tokenizers.Tokenizer(models.Unigram(scored, UNK, False))
    inner.normalizer = _normalizer(model)
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(SPECIAL_SIGNS), "merged_with_previous")
    inner.add_special_tokens(
        [
            tokenizers.AddedToken(name, special=True, normalized=False)
            for name in names
            if _is_tag(name)
        ]
    )
    return Tokenizer(inner)


def _is_tag(name: str) -> bool:
    """>>fra<<, the language to translate into"""
    return name.startswith(">>") and name.endswith("<<")


def _normalizer(model: SentencePiece) -> normalizers.Normalizer:
    steps: list[normalizers.Normalizer] = []
    if model.charsmap:
        # the library applies the map to a character and one mark at most: the rest is joined before
        steps += [normalizers.NFC(), normalizers.Precompiled(model.charsmap)]
    steps += [
        normalizers.Strip(),
        normalizers.Replace(Regex(" {2,}"), " "),
        normalizers.Replace(" ", SPACE),
    ]
    if model.dummy_prefix:
        steps.append(normalizers.Prepend(SPACE))
    return normalizers.Sequence(steps)
