"""Draws docs/systems/pictures/summaries.svg: what each word of a summary looks at, and how far it is a copy.

python docs/scripts/summary_picture.py runs/pointer      # trained as docs/systems/summaries.md says
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
TEXT = "A small six in red by Tirola stands at the top. Ninaku has painted a huge blue two on the left."
CELL = 0.3  # inches


def draw(run: str) -> Figure:
    """The words of the summary, down, with p_gen behind each; the words of the source, across."""
    (record,) = regard.look(regard.load(run), TEXT).records
    seen = record.map("cross")
    across = [token.strip("()") for token in record.sides[seen.keys].tokens]
    words = [token.strip("()") for token in record.sides[seen.queries].tokens]
    (shares,) = (each.rows["p_gen"] for each in record.explanations if each.name == "p_gen")
    down = [f"{word}  {share:.2f}" for word, share in zip(words, shares, strict=True)]
    (ax,) = panels(1, CELL * len(across), CELL * len(down))
    weights = torch.from_numpy(seen.weights[0, 0])
    matrix(ax, weights, down, across, title="summary, p_gen", numbers=False)
    ax.set(xlabel="", ylabel="")
    return plt.gcf()


if __name__ == "__main__":
    save({"summaries": lambda: draw(sys.argv[1])}, FOLDER)
