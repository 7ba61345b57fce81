"""A word that is nearly right leads to the right one."""

from __future__ import annotations

from regard.suggestions import meant, nearest, spelt_alike

KNOWN = ["hidden", "heads", "Layers"]


def test_the_nearest_word_whatever_its_case() -> None:
    assert nearest("hiden", KNOWN) == "hidden"
    assert nearest("layer", KNOWN) == "Layers"
    assert nearest("HEADS", KNOWN) == "heads"
    assert nearest("temperature", KNOWN) is None
    assert nearest("hidden", []) is None


def test_what_is_said_of_it() -> None:
    assert meant("hiden", KNOWN) == " Did you mean 'hidden'?"
    assert meant("temperature", KNOWN) == ""
    near = meant("corpus.en", ["corpus.zh", "corpus.fr.en", "readme"], most=3)
    assert near == " Did you mean 'corpus.fr.en' or 'corpus.zh'?"


def test_how_alike_words_have_to_be() -> None:
    assert spelt_alike("zn", ["zh"], cutoff=0.6) == []
    assert spelt_alike("zn", ["zh"], cutoff=0.5) == ["zh"]
