"""A vocabulary with the words of one source behind it: so a word can be copied that nobody has learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from regard import scripts
from regard.data.tokenizer import BLANK, UNK, Tokenizer, Tokens
from regard.data.vocabulary import SPACE


class ExtendedTokenizer(Tokenizer):
    """V + k is the word of a source that is the k-th, from 0, of those which the vocabulary V lacks

    — the extended vocabulary of See et al. 2017, https://arxiv.org/abs/1704.04368. A text is cut as the
    tokenizer cuts it; what is unknown to it, and stands in the source too, has the id of that word.
    """

    def __init__(self, tokenizer: Tokenizer, text: str, source: Tokens) -> None:
        """source: the tokens of the text, or the first of them."""
        vars(self).update(vars(tokenizer))
        self._size = len(tokenizer)
        lacking = (
            word
            for word, token in zip(self._words(text, source), source.ids, strict=True)
            if self._lacks(token)
        )
        self._ids = {word: self._size + k for k, word in enumerate(dict.fromkeys(lacking))}
        self._texts = [*tokenizer._texts, *self._ids]

    def encode_many(self, texts: Sequence[str], most: int | None = None) -> list[Tokens]:
        found = super().encode_many(texts, most)
        return [self.numbered(text, tokens) for text, tokens in zip(texts, found, strict=True)]

    def encode_ids(self, texts: Sequence[str], most: int | None = None) -> list[list[int]]:
        return [tokens.ids[:most] for tokens in self.encode_many(texts)]

    def numbered(self, text: str, tokens: Tokens) -> Tokens:
        """The tokens of a text with the ids that they have here."""
        words = zip(self._words(text, tokens), tokens.ids, strict=True)
        ids = [self._ids.get(word, UNK) if self._lacks(token) else token for word, token in words]
        return replace(tokens, ids=ids)

    def _lacks(self, token: int) -> bool:
        return token == UNK or token >= self._size

    def _words(self, text: str, tokens: Tokens) -> list[str]:
        """As the vocabulary would have them: where whole words are tokens, with the mark of a space."""
        marked = self.kind == "word" and not self._joined_by
        return [
            SPACE + piece if marked and _begins(text, start) else piece
            for piece, (start, _) in zip(
                map(self._cased, tokens.pieces), tokens.offsets, strict=True
            )
        ]

    def _cased(self, piece: str) -> str:
        return piece.lower() if self.lowercase else piece


def _begins(text: str, start: int) -> bool:
    """Whether a space stands before this place, or may be thought of there."""
    if start == 0:
        return not scripts.stands_close(text[:1] or " ")
    return BLANK.fullmatch(text[start - 1]) is not None
