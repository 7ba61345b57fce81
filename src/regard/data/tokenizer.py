"""Text ⇄ token ids, with the place of every token in the raw text.

Five kinds, all of them with the ids PAD, UNK, BOS, EOS = 0, 1, 2, 3:

    bpe         pairs of pieces joined by frequency — Sennrich et al. 2016, https://arxiv.org/abs/1508.07909
    unigram     the likeliest pieces — Kudo 2018, https://arxiv.org/abs/1804.10959
    word        whole words (Chinese only where spaces stand between its words)
    character   what a reader calls one character, emoji and combining marks included
    split       what stands between blanks: for text that is cut into words already

A piece that follows a space, or begins a text, has the mark ▁, so that decoding gives the spaces
back; scripts without spaces go unmarked. Pieces never reach over punctuation or from one script
into another, and digits stand alone. Without marks, for texts that are read and never written, a whole word
is one token wherever it stands: after a blank, a quote or a bracket. A verbatim tokenizer keeps every
blank as it is, line ends included, and marks no beginning: for language models. What `save` writes is a
plain file of the tokenizers library.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import tokenizers
from tokenizers import Regex, models, normalizers, pre_tokenizers

from regard import scripts
from regard.data.text_beginnings import beginnings
from regard.data.vocabulary import SPACE, SPECIALS, learn
from regard.layers.special_tokens import BOS, EOS, PAD, UNK
from regard.words import t

__all__ = ["BOS", "EOS", "KINDS", "MASK", "PAD", "SPECIALS", "UNK", "Tokenizer", "Tokens"]

# Set, so that the library neither starts threads that a later fork would lose, nor warns of them.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

KINDS = ("bpe", "unigram", "word", "character", "split")
MASK = "<mask>"  # in a text, of a tokenizer that has such a token

_IDEOGRAPHS = "".join(rf"\p{{{name}}}" for name in scripts.UPRIGHT) + "ー"
_WIDE_SIGNS = "".join(rf"\x{{{first:X}}}-\x{{{last:X}}}" for first, last in scripts.WIDE_SIGNS)
_SPACELESS = f"{_IDEOGRAPHS}{_WIDE_SIGNS}" + "".join(
    rf"\p{{{name}}}" for name in scripts.SCRIPTS if name not in scripts.UPRIGHT
)
_LETTERS = rf"[\p{{L}}\p{{M}}&&[^{_IDEOGRAPHS}]]+"
_BLANKS = rf"[\s\p{{Cc}}{SPACE}]+"
_WORDS = (
    rf"{SPACE}?(?:[{_IDEOGRAPHS}]+"
    rf"|{_LETTERS}(?:['’]{_LETTERS})*"  # don't, l'homme
    r"|\p{N}"
    # a sign, repeated (……) or built of several characters (👩‍👧, 👍🏽)
    rf"|([^{SPACE}\p{{L}}\p{{M}}\p{{N}}])(?:\1|\x{{200D}}\X|[\p{{M}}\x{{1F3FB}}-\x{{1F3FF}}])*)"
)
_CHARACTERS = r"\X"
_SPECIAL_WORDS = rf"(?<![^{SPACE}])<(?=(?:pad|s|/s)>(?![^{SPACE}]))"
BLANK = re.compile(rf"[\s\x00-\x1f\x7f-\x9f{SPACE}]+")
_NOT_BLANK = re.compile(rf"[^\s\x00-\x1f\x7f-\x9f{SPACE}]+")
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Tokens:
    """A text in tokens: ids without BOS and EOS, and what each of them stands for."""

    ids: list[int]
    pieces: list[str]  # as in the raw text, without the space before; ▁ for a space alone
    offsets: list[tuple[int, int]]  # pieces[i] == text[slice(*offsets[i])], unless it is ▁

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, part: slice) -> Tokens:
        return Tokens(self.ids[part], self.pieces[part], self.offsets[part])


Cut = TypeVar("Cut", Tokens, list[int])


class Tokenizer:
    """A vocabulary and the way a text is cut into it.

    >>> tokenizer = Tokenizer.train(["我是学生。", "我是老师。"], kind="character")
    >>> tokenizer.encode("我是").pieces
    ['我', '是']
    """

    def __init__(self, inner: tokenizers.Tokenizer) -> None:
        self._inner = inner
        settings = json.loads(inner.to_str())
        self.kind = _kind(settings)
        self.verbatim = "Strip" not in str(settings["normalizer"])
        self.lowercase = "Lowercase" in str(settings["normalizer"])
        self._joined_by = " " if _loses_blanks(settings) else ""
        self.mask: int | None = next(
            (added["id"] for added in settings["added_tokens"] if added["content"] == MASK), None
        )
        self._texts = [str(inner.id_to_token(i)) for i in range(inner.get_vocab_size())]
        if tuple(self._texts[:4]) != SPECIALS:
            raise ValueError(
                t(
                    "a vocabulary of regard begins with {specials}; this one with {texts}",
                    specials=", ".join(SPECIALS),
                    texts=", ".join(self._texts[:4]),
                )
            )

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        *,
        kind: str = "bpe",
        size: int = 8000,
        lowercase: bool = False,
        verbatim: bool = False,
        mask: bool = False,
        marks: bool = True,
    ) -> Tokenizer:
        """Learn at most `size` tokens, the four special ones included. The same texts, the same result.

        verbatim: every blank is kept. mask: one token more, the last, which `<mask>` in a text stands for.
        marks: whole words remember the space before them, so that they can be decoded as they stood.
        """
        if kind not in KINDS:
            raise ValueError(
                t("no tokenizer kind '{kind}': {kinds}", kind=kind, kinds=", ".join(KINDS))
            )
        if size <= len(SPECIALS):
            raise ValueError(
                t(
                    "a vocabulary has {count} special tokens, size {size} has no room",
                    count=len(SPECIALS),
                    size=size,
                )
            )
        inner = tokenizers.Tokenizer(models.BPE())
        marked = marks or kind != "word" or verbatim
        inner.normalizer = _normalizer(kind, lowercase, verbatim, marked)
        inner.pre_tokenizer = _pre_tokenizer(kind, marked)
        learnt = learn(inner, texts, kind, size)
        if mask:
            token = tokenizers.AddedToken(MASK, special=True, normalized=False, lstrip=True)
            learnt.add_special_tokens([token])
        return cls(learnt)

    @property
    def labels(self) -> list[str]:
        """The texts of all tokens but the special ones, by id."""
        return self._texts[len(SPECIALS) :]

    def encode(self, text: str) -> Tokens:
        return self.encode_many([text])[0]

    def encode_many(self, texts: Sequence[str], most: int | None = None) -> list[Tokens]:
        """most: no more than the first tokens of each; a long text is not read to its end for them."""
        if most is not None:
            return self._first(texts, most, self.encode_many)
        encodings = self._inner.encode_batch([_valid(text) for text in texts])
        cut = _verbatim_tokens if self.verbatim else _tokens
        return [cut(text, e) for text, e in zip(texts, encodings, strict=True)]

    def encode_ids(self, texts: Sequence[str], most: int | None = None) -> list[list[int]]:
        """The ids alone, faster."""
        if most is not None:
            return self._first(texts, most, self.encode_ids)
        encodings = self._inner.encode_batch_fast([_valid(text) for text in texts])
        return [encoding.ids for encoding in encodings]

    def _first(
        self, texts: Sequence[str], most: int, encode: Callable[[Sequence[str]], list[Cut]]
    ) -> list[Cut]:
        """One token more is looked for, since a token ends where the next begins."""
        tries = [beginnings(text, most, split=self.kind == "split") for text in texts]
        found = encode([next(each) for each in tries])
        for place, longer in enumerate(tries):
            while len(found[place]) <= most and (text := next(longer, None)) is not None:
                (found[place],) = encode([text])
        return [each[:most] for each in found]

    def decode(self, ids: Sequence[int], unknown: Mapping[int, str] | None = None) -> str:
        """The text of these ids up to EOS. Special tokens have none; `unknown` may give one for the
        UNK at a position, such as a word copied from the source.
        """
        parts = (part for part in self._parts(ids, unknown) if part is not None)
        text = self._joined_by.join(parts).replace(SPACE, " ")
        return text if self.verbatim else text.strip()

    def decoded_lengths(
        self, ids: Sequence[int], unknown: Mapping[int, str] | None = None
    ) -> list[int]:
        """How many characters `decode` gives for the first of these ids, the first two, and so on."""
        found: list[int] = []
        start, here, end = 0, 0, 0  # of the text without the blanks around it; here: with them
        before = ""
        for part in self._parts(ids, unknown):
            if part is not None:
                more, before = f"{before}{part}".replace(SPACE, " "), self._joined_by
                if self.verbatim:
                    end = here + len(more)
                elif more.strip():
                    start = start if end else here + len(more) - len(more.lstrip())
                    end = here + len(more.rstrip())
                here += len(more)
            found.append(end - start if end else 0)
        return [*found, *found[-1:] * (len(ids) - len(found))] if found else [0] * len(ids)

    def _parts(self, ids: Sequence[int], unknown: Mapping[int, str] | None) -> Iterator[str | None]:
        """The text of each token up to EOS; None: it has none."""
        for position, token in enumerate(ids):
            if token == EOS:
                return
            if token == UNK and unknown and position in unknown:
                yield self._spaced(unknown[position])
            else:
                yield self._texts[token] if token >= len(SPECIALS) else None

    def _spaced(self, word: str) -> str:
        """An unknown word holds its own space where whole words are tokens; one of a verbatim text has it."""
        if self.verbatim:
            return word.strip(" ") if self._joined_by else word
        if self.kind != "word" or self._joined_by or not word or scripts.stands_close(word[0]):
            return word
        return SPACE + word

    def __len__(self) -> int:
        return len(self._texts)

    def save(self, path: Path | str) -> None:
        Path(path).write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def load(cls, path: Path | str) -> Tokenizer:
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(
                t("{path} is not a tokenizer file: {error}", path=path, error=error)
            ) from error

    @classmethod
    def from_json(cls, text: str) -> Tokenizer:
        """What `to_json` gave."""
        try:
            return cls(tokenizers.Tokenizer.from_str(text))
        except Exception as error:  # the library raises nothing narrower
            raise ValueError(str(error)) from error

    def to_json(self) -> str:
        return self._inner.to_str(pretty=True)


def _normalizer(kind: str, lowercase: bool, verbatim: bool, marked: bool) -> normalizers.Normalizer:
    steps: list[normalizers.Normalizer] = [normalizers.NFC()]
    if lowercase:
        steps.append(normalizers.Lowercase())
    if verbatim:
        return normalizers.Sequence([*steps, normalizers.Replace(" ", SPACE)])
    steps += [
        normalizers.Replace(Regex(_BLANKS), " "),
        normalizers.Strip(),
        normalizers.Replace(" ", SPACE),
    ]
    if kind == "split":  # a word "</s>" of a text ends nothing: it becomes another
        steps.append(normalizers.Replace(Regex(_SPECIAL_WORDS), "＜"))
    elif kind != "character" and marked:
        steps += [
            normalizers.Prepend(SPACE),
            normalizers.Replace(Regex(rf"^{SPACE}(?=[{_SPACELESS}])"), ""),
        ]
    return normalizers.Sequence(steps)


def _pre_tokenizer(kind: str, marked: bool) -> pre_tokenizers.PreTokenizer:
    if kind == "split":
        return pre_tokenizers.Split(Regex(SPACE), "removed")
    units = pre_tokenizers.Split(Regex(_CHARACTERS if kind == "character" else _WORDS), "isolated")
    if marked:
        return units
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(SPACE), "removed"), units])


def _loses_blanks(settings: dict[str, Any]) -> bool:
    """Whether the first thing that a tokenizer does is to cut at blanks and forget them."""
    first = settings.get("pre_tokenizer") or {}
    if first.get("type") == "Sequence":
        first = next(iter(first["pretokenizers"]), {})
    return first.get("pattern", {}).get("Regex") == SPACE and first.get("behavior") == "Removed"


def _kind(settings: dict[str, Any]) -> str:
    pattern = (settings.get("pre_tokenizer") or {}).get("pattern", {}).get("Regex")
    if pattern == _CHARACTERS:
        return "character"
    if pattern == SPACE:
        return "split"
    kinds = {"BPE": "bpe", "Unigram": "unigram", "WordLevel": "word"}
    model = settings["model"]["type"]
    if model not in kinds:
        raise ValueError(
            t(
                "a tokenizer of regard is one of {kinds}; this one is {model}",
                kinds=", ".join(kinds),
                model=model,
            )
        )
    return kinds[model]


def _valid(text: str) -> str:
    """Half of a surrogate pair, as undecodable arguments of a command have, is no character."""
    return _SURROGATES.sub("\ufffd", text)


def _tokens(text: str, encoding: tokenizers.Encoding) -> Tokens:
    pieces, offsets = [], []
    places = [*encoding.offsets, (len(text), len(text))]
    for token, (start, end), (limit, _) in zip(
        encoding.tokens, places[:-1], places[1:], strict=True
    ):
        begin = _end(BLANK, text, start, end)
        if token == SPACE:
            pieces.append(SPACE)
            # before the first word, where there is no space, it has no width
            offsets.append((start, end if begin == end else start))
        else:
            # of e + ◌́ the library remembers only the e: what is skipped but no blank belongs to it
            end = _end(_NOT_BLANK, text, end, limit)
            pieces.append(text[begin:end])
            offsets.append((begin, end))
    return Tokens(encoding.ids, pieces, offsets)


def _verbatim_tokens(text: str, encoding: tokenizers.Encoding) -> Tokens:
    """Every character belongs to one token, blanks too; what the library forgot goes to the one before."""
    starts = [start for start, _ in encoding.offsets]
    ends = [*starts[1:], len(text)] if starts else []
    offsets = list(zip(starts, ends, strict=True))
    pieces = [
        SPACE if token == SPACE else text[start:end]
        for token, (start, end) in zip(encoding.tokens, offsets, strict=True)
    ]
    return Tokens(encoding.ids, pieces, offsets)


def _end(pattern: re.Pattern[str], text: str, start: int, stop: int) -> int:
    """Where the characters of this kind that begin at `start` end, at most at `stop`."""
    match = pattern.match(text, start, max(start, stop))
    return match.end() if match else start
