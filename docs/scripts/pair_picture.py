"""Draws docs/systems/pictures/pair-attention.svg: what ABCNN-3 has between the words of two sentences.

python docs/scripts/pair_picture.py runs/abcnn-paraphrase
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

import regard
from svg_parts import matrix, panels, save

FOLDER = Path(__file__).parents[1] / "systems" / "pictures"
PAIR = "I like that singer a lot.\tI really like this singer."  # of paraphrase:test
WIDEST = 3.8  # inches, of a grid


def draw(run: str) -> Figure:
    """A grid for each map of the first block: the first sentence down, the second across."""
    (record,) = regard.look(regard.load(run), PAIR).records
    axes = panels(len(record.maps), WIDEST, WIDEST, gap=1.6)
    axes[0].set_xlabel("second")
    axes[0].set_ylabel("first")
    for ax, each in zip(axes, record.maps, strict=True):
        rows, columns = (list(record.sides[name].tokens) for name in (each.queries, each.keys))
        title = "between words" if each.name == "pair" else "between windows of words"
        matrix(ax, each.weights[0, 0], rows, columns, title=title, numbers=False)
    return plt.gcf()


if __name__ == "__main__":
    save({"pair-attention": lambda: draw(sys.argv[1])}, FOLDER)
