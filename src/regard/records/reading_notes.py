"""What is told of an input that a model was not made for: its script, its language, its length."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache

from regard.data.tokenizer import UNK, Tokenizer, Tokens
from regard.letter_names import script_name, written_language
from regard.words import t

NAMED = 8  # pieces without a token that are written out
FOREIGN = 0.5  # of the letters are of another script: the text is in another script
ENOUGH = 20  # letters, before anything is said of the pieces that they are cut into
SHORT_PIECE = (
    2.1  # letters in the mean: hardly a word has a token of its own; of English in English, 3 to 4
)
SUBWORDS = ("bpe", "unigram")
SCRIPTS = {  # first words of the Unicode names of letters, and the languages that are written with them
    "CJK": "zh ja",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "HANGUL": "ko",
    "CYRILLIC": "ru uk be bg sr mk kk ky mn tg",
    "GREEK": "el",
    "ARABIC": "ar fa ur ps ug",
    "HEBREW": "he yi",
    "DEVANAGARI": "hi mr ne sa",
    "BENGALI": "bn as",
    "THAI": "th",
    "GEORGIAN": "ka",
    "ARMENIAN": "hy",
    "TAMIL": "ta",
    "LATIN": "en de fr es it pt nl sv da no nb nn fi is pl cs sk sl hr hu ro et lv lt tr vi id ms sw la eo "
    "ca eu gl",
}
WIDTHS = ("HALFWIDTH", "FULLWIDTH")


def reading_notes(
    text: str,
    tokens: Tokens,
    tokenizer: Tokenizer | None = None,
    *,
    language: str = "",
    longest: int | None = None,
) -> tuple[str, ...]:
    """A line for each doubt whether the model can read a text; none where it is like those it has learnt.

    language: that the model reads. longest: tokens of a text that it was trained on.
    """
    script = pieces = ""
    if tokenizer is not None:
        script = script_doubt(text, language, vocabulary_scripts(tokenizer))
        pieces = _pieces_doubt(text, tokens, tokenizer.kind)
    doubts = (unknown_doubt(text, tokens), script or pieces, length_doubt(len(tokens), longest))
    return tuple(filter(None, doubts))


def unknown_doubt(text: str, tokens: Tokens) -> str:
    """What of a text the model has no token for, and how much of the text that is."""
    pairs = zip(tokens.ids, tokens.offsets, strict=True)
    pieces = [text[slice(*offset)] for token, offset in pairs if token == UNK]
    unknown = [*dict.fromkeys(piece for piece in pieces if piece.strip())]
    if not unknown:
        return ""
    named = ", ".join(unknown[:NAMED]) + (", …" if len(unknown) > NAMED else "")
    share = f"{100 * len(pieces) / len(tokens):.0f} %"
    return t("the model has no token for {pieces}: {share} of this text", pieces=named, share=share)


def script_doubt(text: str, language: str, known: Counter[str]) -> str:
    """That most letters are of a script which the model's language is not written in.

    known: tokens of its vocabulary by their script; a language that most of them are not of was not learnt.
    """
    usual = {script for script, languages in SCRIPTS.items() if language in languages.split()}
    letters = Counter(_script(character) for character in text if character.isalpha())
    total = letters.total()
    foreign = Counter({script: n for script, n in letters.items() if script not in usual})
    learnt = sum(known[script] for script in usual) > FOREIGN * known.total()
    if not learnt or foreign.total() <= FOREIGN * total:
        return ""
    names = dict.fromkeys(script_name(script) for script, _ in foreign.most_common(2))
    return t(
        "{share} of the letters are {found}: the model reads {language}, and hardly knows these",
        share=f"{100 * foreign.total() / total:.0f} %",
        found=t(", ").join(names),
        language=written_language(language, tuple(sorted(usual, key=[*SCRIPTS].index))),
    )


@cache
def vocabulary_scripts(tokenizer: Tokenizer) -> Counter[str]:
    """How many tokens of a vocabulary begin with a letter of each script."""
    firsts = (next(filter(str.isalpha, label), "") for label in tokenizer.labels)
    return Counter(_script(letter) for letter in firsts if letter)


def length_doubt(tokens: int, longest: int | None) -> str:
    """That a text has more tokens than any that the model was trained on."""
    if longest is None or tokens <= longest:
        return ""
    return t(
        "the text has {n} tokens, and the model was trained on texts of up to {longest}",
        n=f"{tokens:,}",
        longest=f"{longest:,}",
    )


def _pieces_doubt(text: str, tokens: Tokens, kind: str) -> str:
    """That words fall into small pieces, as those of a language do that a tokenizer has not seen."""
    if kind not in SUBWORDS:
        return ""
    pieces = [text[slice(*offset)] for offset in tokens.offsets]
    letters = [sum(map(str.isalpha, piece)) for piece in pieces]
    words = [count for count in letters if count]
    if sum(words) < ENOUGH or sum(words) >= SHORT_PIECE * len(words):
        return ""
    mean = f"{sum(words) / len(words):.1f}"
    return t(
        "words fall into pieces of {mean} letters in the mean: the model has seen few like them",
        mean=mean,
    )


def _script(letter: str) -> str:
    """The first word of its name that tells it: CJK, LATIN; KATAKANA of a half-width one."""
    words = re.split("[ -]", unicodedata.name(letter, "OTHER"))
    told = [word for word in words if word not in WIDTHS]
    return "CJK" if told[0] == "IDEOGRAPHIC" else told[0]
