"""A document at two levels in still pictures and in the terminal."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import regard
from regard.records.attention_map import AttentionMap
from regard.records.levels import Levels
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord, Side
from regard.view.shaded.level_lines import NO_COLOUR, level_lines
from regard.view.shaded.shaded_sentences import shaded_sentences
from regard.view.stills.paper import THEMES, Scale, hexadecimal
from regard.view.stills.png import rasterise

SVG = "{http://www.w3.org/2000/svg}"
LENGTHS = (3, 0, 2)


def document(lengths=LENGTHS, **changes) -> AttentionRecord:
    count = sum(lengths)
    labels = [f"w{n}" for n in range(count)]
    words = Side.of_labels(labels, title="document")
    draw = np.random.default_rng(0)
    upper = draw.dirichlet(np.ones(len(lengths))).astype(np.float32)
    lower = [draw.dirichlet(np.ones(n)) for n in lengths if n]
    inside = np.concatenate(lower).astype(np.float32)
    levels = Levels("sentences", "document", tuple(lengths), upper, inside, "score: dot")
    spans = [
        (words.offsets[place.start][0], words.offsets[place.stop - 1][1])
        if place.stop > place.start
        else (0, 0)
        for place in levels.places
    ]
    numbers = range(len(lengths))
    sentences = Side.of(words.text, [f"{n + 1}" for n in numbers], spans, words=numbers)
    pooled = AttentionMap("pooling", "label", "document", levels.product[None, None, None])
    sides = {"document": words, "sentences": sentences, "label": Side.of_labels(["yes"])}
    given = {"output": "yes (0.8)", "model": "a model", "levels": levels, **changes}
    return AttentionRecord(sides, (pooled,), **given)


def test_levels_come_back_from_json():
    record = document()
    again = AttentionRecord.from_json(record.to_json())
    assert again.to_json() == record.to_json()
    assert again.levels.lengths == LENGTHS
    np.testing.assert_array_equal(again.levels.word_weights, record.levels.word_weights)
    assert AttentionRecord.from_dict(record.to_dict() | {"levels": None}).levels is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"lengths": (3, 0, 1)}, "levels of 3 sentences with 4 words need as many weights"),
        ({"lengths": (3, -1, 3)}, "need as many weights"),
        ({"words": "nowhere"}, "levels name a side 'nowhere' of 5 tokens, which there is not"),
        ({"words": "sentences"}, "levels name a side 'sentences' of 5 tokens"),
    ],
)
def test_levels_that_do_not_fit_are_refused(changes, said):
    given = vars(document().levels) | changes
    with pytest.raises(NotARecord, match=said):
        document(levels=Levels(**given))


def test_what_yang_et_al_colour_a_word_with():
    levels = document().levels
    owners = [0, 0, 0, 2, 2]
    assert levels.owners.tolist() == owners
    wanted = [
        np.sqrt(levels.sentence_weights[s]) * w
        for s, w in zip(owners, levels.word_weights, strict=True)
    ]
    np.testing.assert_allclose(levels.display, wanted, rtol=1e-6)
    shades = [shade for line in level_lines(document()) for shade in line.shades]
    np.testing.assert_allclose(shades, wanted, rtol=1e-6)
    assert levels.product.sum() == pytest.approx(1 - levels.sentence_weights[1], abs=1e-6)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_picture_shows_both_levels(theme):
    record = document()
    view = regard.look(record)
    svg = view.to_svg(theme=theme)
    tree = ET.fromstring(svg)
    texts = ["".join(each.itertext()) for each in tree.iter(f"{SVG}text")]
    assert texts[0] == "yes (0.8)"
    assert set(record.sides["document"].tokens) <= set(texts)
    shown = [float(each) for each in texts if re.fullmatch(r"0\.\d\d", each)]
    np.testing.assert_allclose(shown, record.levels.sentence_weights, atol=0.0051)
    fills = [each.get("fill") for each in tree.iter(f"{SVG}rect")]
    weights, display = record.levels.sentence_weights, record.levels.display
    for numbers in (weights, display):
        scale = Scale(float(numbers.max()), False, THEMES[theme])
        for number in numbers[numbers >= NO_COLOUR * numbers.max()]:
            assert hexadecimal(scale.colour(float(number))) in fills
    assert rasterise(svg).startswith(b"\x89PNG")
    assert view.picking(map="pooling").to_svg() != svg


def test_long_documents_are_drawn_by_their_heaviest_sentences():
    record = document((2,) * 200)
    lines = level_lines(record)
    heaviest = max(lines, key=lambda line: line.weight)
    for drawn in (regard.look(record).to_svg(), regard.look(record).to_text()):
        assert heaviest.words[0] in drawn
        assert re.search(r"… 1[46]0 sentences more, none heavier than 0\.\d+", drawn)
    beside = regard.look(document(), record)
    assert len(ET.fromstring(beside.to_svg())) == 4  # a title, the ground, and two documents


def test_the_terminal_shows_both_levels(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    record = document()
    lines = level_lines(record)
    plain = shaded_sentences(lines, colour=False).splitlines()
    assert re.match(r"[░▒▓█]{2} 0\.\d\d w0 w1 w2$", plain[0])
    assert plain[1].split()[0] == lines[0].words[int(np.argmax(lines[0].weights))]
    painted = shaded_sentences(lines, colour=True)
    assert painted.count("\x1b[48;5;") == 5 + 3  # each word, and before each sentence its weight
    unpainted = re.sub(r"\x1b\[[\d;]*m", "", painted)
    assert re.findall(r"\bw\d\b", unpainted) == ["w0", "w1", "w2", "w3", "w4"]
    assert all(len(line) <= 60 for line in unpainted.splitlines()[:-1])
    assert regard.look(record).to_text() == shaded_sentences(lines, colour=False)
    assert "w0" in regard.look(record).picking(map="pooling").to_text().splitlines()[1]
