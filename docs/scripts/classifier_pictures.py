"""Draws docs/systems/pictures: what trained classifiers looked at, a picture for each kind of model.

python docs/scripts/classifier_pictures.py runs/lstm-mr runs/lin-mr runs/apcnn-mr runs/han-composed …
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.figure import Figure

import regard
from regard.records.question import Question
from regard.records.record import AttentionRecord
from svg_parts import PALE, box, matrix, panels, save

FOLDER = Path(__file__).parents[1] / "systems" / "pictures"
SENTENCE = "a moving , beautifully acted film , if a little too long"
# sentences as they stand in the corpus: in small letters, with blanks around signs
DOCUMENT = (
    '["a moving , beautifully acted film .", "the plot is a mess .", "i laughed and cried ."]'
)
CELL = 0.36  # inches


def draw(run: regard.LoadedRun) -> Figure:
    question = Question(DOCUMENT if "han" in str(run.recipe.model.kind) else SENTENCE)
    record = run.task.look(run.module, question)
    return _document(record) if "sentences" in record.sides else _sentence(record)


def _sentence(record: AttentionRecord) -> Figure:
    """A row for each time that the text was attended to: hops, or layers from the lowest to the highest."""
    maps = [each for each in record.maps if each.queries == "label"]
    rows = np.concatenate([each.weights[0, :, 0] for each in reversed(maps)])
    words = [token.strip("()") for token in record.sides["text"].tokens]
    (ax,) = panels(1, CELL * len(words), CELL * len(rows))
    names = [""] if len(rows) == 1 else [str(n + 1) for n in range(len(rows))]
    ax.set(xlabel="", ylabel="layer" if len(maps) > 1 else "hop" if len(rows) > 1 else "")
    top = float(rows.max())
    matrix(ax, torch.from_numpy(rows), names, words, title=record.output, numbers=False, top=top)
    ax.set_xlabel("")
    return plt.gcf()


def _document(record: AttentionRecord) -> Figure:
    """Yang et al. colour a word by √p(sentence) · p(word)."""
    upper = record.map("sentences").weights[0, 0, 0]
    lower = record.map("words").weights[0, 0]  # (S, W)
    tokens = record.sides["document"].tokens
    lines = [[i for i in range(len(tokens)) if row[i] > 0] for row in lower]
    wide = max(map(len, lines))
    ax = plt.figure(figsize=(1.1 * wide, 0.36 * len(lines) + 0.4)).add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set(xlim=(-1.15, wide), ylim=(len(lines) + 0.6, -0.25))
    ax.axis("off")
    ax.text(-0.62, -0.12, "sentence", ha="center", size=7, color=PALE)
    ax.text(wide / 2, -0.12, "words, coloured by √p(s) · p(w)", ha="center", size=7, color=PALE)
    shades = np.sqrt(upper)[:, None] * lower
    for s, line in enumerate(lines):
        box(ax, -1.1, s + 0.08, float(upper[s]), f"{upper[s]:.2f}")
        for w, i in enumerate(line):
            box(ax, w + 0.02, s + 0.08, float(shades[s, i] / shades.max()), tokens[i])
    ax.text(wide / 2, len(lines) + 0.4, record.output, ha="center", size=8.5, family="monospace")
    return plt.gcf()


if __name__ == "__main__":
    runs = [regard.load(folder) for folder in sys.argv[1:]]
    save({str(run.recipe.model.kind): lambda run=run: draw(run) for run in runs}, FOLDER)
