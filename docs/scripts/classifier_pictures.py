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
from svg_parts import matrix, panels, save

FOLDER = Path(__file__).parents[1] / "systems" / "pictures"
SENTENCE = "a moving , beautifully acted film , if a little too long"
# sentences as they stand in the corpus: in small letters, with blanks around signs
DOCUMENT = (
    '["a moving , beautifully acted film .", "the plot is a mess .", "i laughed and cried ."]'
)
CELL = 0.36  # inches


def draw(run: regard.LoadedRun) -> Figure:
    """A row for each time that the text was attended to: hops, or layers from the lowest to the highest."""
    (record,) = regard.look(run, SENTENCE).records
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


if __name__ == "__main__":
    runs = {str(run.recipe.model.kind): run for run in map(regard.load, sys.argv[1:])}
    if document := runs.pop("han", None):
        regard.look(document, DOCUMENT).save(FOLDER / "han.svg")
    save({kind: lambda run=run: draw(run) for kind, run in runs.items()}, FOLDER)
