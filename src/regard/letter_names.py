"""What letters and languages are called, in the language of whoever reads it."""

from __future__ import annotations

from regard.words import t


def script_name(script: str) -> str:
    """script: the first word of the Unicode names of its letters; of one that is not listed, that word."""
    names = {
        "CJK": t("Chinese"),
        "HIRAGANA": t("Japanese"),
        "KATAKANA": t("Japanese"),
        "HANGUL": t("Korean"),
        "CYRILLIC": t("Cyrillic"),
        "GREEK": t("Greek"),
        "ARABIC": t("Arabic"),
        "HEBREW": t("Hebrew"),
        "DEVANAGARI": t("Devanagari"),
        "BENGALI": t("Bengali"),
        "THAI": t("Thai"),
        "GEORGIAN": t("Georgian"),
        "ARMENIAN": t("Armenian"),
        "TAMIL": t("Tamil"),
        "LATIN": t("Latin"),
    }
    return names.get(script, script.capitalize())


def language_name(code: str) -> str:
    """Those that models are most often made for; of another its code."""
    names = {
        "ar": t("Arabic"),
        "bg": t("Bulgarian"),
        "bn": t("Bengali"),
        "cs": t("Czech"),
        "da": t("Danish"),
        "de": t("German"),
        "el": t("Greek"),
        "en": t("English"),
        "es": t("Spanish"),
        "et": t("Estonian"),
        "fa": t("Persian"),
        "fi": t("Finnish"),
        "fr": t("French"),
        "he": t("Hebrew"),
        "hi": t("Hindi"),
        "hr": t("Croatian"),
        "hu": t("Hungarian"),
        "hy": t("Armenian"),
        "id": t("Indonesian"),
        "it": t("Italian"),
        "ja": t("Japanese"),
        "ka": t("Georgian"),
        "ko": t("Korean"),
        "lt": t("Lithuanian"),
        "lv": t("Latvian"),
        "nl": t("Dutch"),
        "no": t("Norwegian"),
        "pl": t("Polish"),
        "pt": t("Portuguese"),
        "ro": t("Romanian"),
        "ru": t("Russian"),
        "sk": t("Slovak"),
        "sl": t("Slovenian"),
        "sr": t("Serbian"),
        "sv": t("Swedish"),
        "ta": t("Tamil"),
        "th": t("Thai"),
        "tr": t("Turkish"),
        "uk": t("Ukrainian"),
        "vi": t("Vietnamese"),
        "zh": t("Chinese"),
    }
    return names.get(code, code)


def written_language(code: str, scripts: tuple[str, ...]) -> str:
    """ "English (Latin letters)"; of a language whose letters are called as it is, "Chinese"."""
    name = language_name(code)
    letters = [*dict.fromkeys(map(script_name, scripts))]
    if name in letters or not letters:
        return name
    return t("{language} ({script} letters)", language=name, script=t(", ").join(letters))
