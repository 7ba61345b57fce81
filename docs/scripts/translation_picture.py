"""Draws docs/results/cross-attention.svg: what trained Transformers looked at while they translated.

python docs/scripts/translation_picture.py runs/multi30k-en-de-1 runs/zh-en-transformer-1
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

import regard
from svg_parts import matrix, panels, save

FOLDER = Path(__file__).parents[1] / "results"
TEXTS = ["A woman in a red jacket is riding a bicycle down the street.", "我们明天去哪里吃饭？"]
END = "end"
WIDEST = 3.8  # inches, of a grid


def draw(runs: list[str]) -> Figure:
    """A grid for each run: the translation down, the source across."""
    axes = panels(len(runs), WIDEST, WIDEST, gap=1.3)
    axes[0].set_xlabel("source")
    axes[0].set_ylabel("translation")
    for ax, run, text in zip(axes, runs, TEXTS, strict=True):
        (found,) = regard.load(run).translate([text], beam=5, attention=True)
        rows, columns = [*found.tokens.pieces, END], [*found.source_tokens.pieces, END]
        matrix(ax, found.attention, rows, columns, title=found.text, numbers=False)
    return plt.gcf()


if __name__ == "__main__":
    save({"cross-attention": lambda: draw(sys.argv[1:])}, FOLDER)
