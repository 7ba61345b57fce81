"""Draws docs/systems/pictures/cloze.svg: where a recurrent language model looks for a name to tell again.

python docs/scripts/cloze_picture.py runs/elman-attention      # trained as docs/systems/cloze.md says
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from matplotlib.figure import Figure

import regard
from svg_parts import matrix, panels, save

FOLDER = Path(__file__).parents[1] / "systems" / "pictures"
TEXT = "i saw a dog near the ⑫ . it was very big , and i ran home"
CELL = 0.3  # inches


def draw(run: str) -> Figure:
    """Each word, down, and what its state looks at among the words up to it; the last one tells the name."""
    (record,) = regard.look(regard.load(run), TEXT).records
    seen = record.map("encoder")
    words = [token.strip("()") for token in record.sides[seen.keys].tokens]
    weights = torch.from_numpy(seen.weights[0, 0])
    (ax,) = panels(1, CELL * len(words), CELL * len(words))
    ax.set(xlabel="", ylabel="")
    allowed = torch.ones_like(weights).tril().bool()
    title = f"told after the last word: {record.output}"
    matrix(ax, weights, words, words, title=title, numbers=False, allowed=allowed)
    ax.set_xlabel("")
    return plt.gcf()


if __name__ == "__main__":
    save({"cloze": lambda: draw(sys.argv[1])}, FOLDER)
